/* SPDX-License-Identifier: MIT */
/* What the reading of a dump's positions and of its games share: a line, its fields, and how one is
 * refused. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "chess/position.h"
#include "store/text/dump.h"

/* One line being read. */
struct parse {
	const struct chi_dump_reader *reader;
	const char *line;
	struct chi_arena *arena;
	struct chi_fault *fault;
	struct chi_position position;
};

/* Refuses the line at `at`. */
static inline int refuse_line(const struct parse *p, int rc, const char *at, const char *why)
{
	return chi_fail(p->fault, rc, "line %" PRIu64 ", column %zu: %s", p->reader->line,
			(size_t)(at - p->line) + 1, why);
}

/* Cuts off the text up to `separator` or the end. False if nothing is left to cut. */
static inline bool cut(struct chi_dump_text *rest, char separator, struct chi_dump_text *out)
{
	if (rest->at == NULL) {
		return false;
	}
	const char *end = memchr(rest->at, separator, rest->len);
	*out = *rest;
	if (end == NULL) {
		*rest = (struct chi_dump_text){0};
		return true;
	}
	out->len = (size_t)(end - rest->at);
	rest->at = end + 1;
	rest->len -= out->len + 1;
	return true;
}

/* Splits into exactly `n` fields. */
static inline bool split(struct chi_dump_text text, char separator, struct chi_dump_text *fields,
			 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!cut(&text, separator, &fields[i])) {
			return false;
		}
	}
	return text.at == NULL;
}

/* True if the text is that word. */
static inline bool equals(struct chi_dump_text text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

static inline int read_u64(const struct parse *p, struct chi_dump_text text, uint64_t max,
			   uint64_t *out)
{
	return chi_num_u64(text.at, text.len, max, out) < 0
		       ? refuse_line(p, -CHI_ESYNTAX, text.at, "not a number, or too large")
		       : CHI_OK;
}

static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes the escapes out, into memory of the arena; must be UTF-8. */
CHI_MUSTUSE int chi_dump_unescape(const struct parse *p, struct chi_dump_text text,
				  const char **out, size_t *out_len);

/* The lines after the positions, into the reader. Games come each once: their order tells. */
CHI_MUSTUSE int chi_dump_read_game(const struct parse *p, struct chi_dump_reader *reader,
				   struct chi_dump_text line);
CHI_MUSTUSE int chi_dump_read_name(const struct parse *p, struct chi_dump_reader *reader,
				   struct chi_dump_text line);
CHI_MUSTUSE int chi_dump_read_kept(const struct parse *p, struct chi_dump_reader *reader,
				   struct chi_dump_text line);
CHI_MUSTUSE int chi_dump_read_gameset(const struct parse *p, struct chi_dump_reader *reader,
				      struct chi_dump_text line);
CHI_MUSTUSE int chi_dump_read_tail(const struct parse *p, struct chi_dump_reader *reader,
				   struct chi_dump_text line);
