/* SPDX-License-Identifier: MIT */
/*
 * Tag pairs: `[Name "value"]`, with blanks anywhere, several on a line, quotes inside the value
 * with a backslash or without, the end missing. Internal to the PGN reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/pgn/game.h"

/* What a line says, not yet converted; pointers into the line. */
struct chi_pgn_pair {
	enum chi_pgn_tag tag; /* CHI_PGN_TAGS: a name that is not kept */
	const char *name;     /* of a kept one as it is written by the book, else as it is there */
	size_t name_len;
	const char *value;
	size_t value_len;
	size_t len; /* bytes of the line that the pair takes */
};

/* True if the reader takes such a name as one: a letter, and then letters, digits and any of
 * "_-+#=:/.". */
bool chi_pgn_tag_is_name(const char *text, size_t len);

/*
 * True if the text, which starts with '[', is a tag: a name and a quote after it. Without the
 * quote only a name of enum chi_pgn_tag is one. `len` bytes up to the line's end are looked at.
 */
bool chi_pgn_tag_is(const char *text, size_t len);

/*
 * Reads a pair that chi_pgn_tag_is accepts. The value ends at the first quote that only blanks
 * and ']' follow; if there is none, at the line's last quote, or at the line's end.
 */
void chi_pgn_tag_read(const char *text, size_t len, struct chi_pgn_pair *out);

/* The values of one game. */
struct chi_pgn_values {
	struct chi_pgn_span spans[CHI_PGN_TAGS]; /* into text */
	uint32_t cut;				 /* bit `tag`: its value was longer */
	size_t used;
	char text[CHI_PGN_TAGS * (CHI_PGN_VALUE_MAX + 1)];
};

void chi_pgn_values_reset(struct chi_pgn_values *values);

/* Keeps a value; `tag` must be below CHI_PGN_TAGS and not yet there. */
void chi_pgn_values_add(struct chi_pgn_values *values, enum chi_pgn_tag tag, const char *value,
			size_t len);

/* The first tag of those that tell one game from another whose value was cut, by its name, or NULL.
 */
const char *chi_pgn_values_cut(const struct chi_pgn_values *values);

/* What the Variant tag says. */
enum chi_pgn_rules {
	CHI_PGN_RULES_CHESS,	/* no tag, or any name of chess */
	CHI_PGN_RULES_CHESS960, /* chess from a start position that only the FEN tag tells */
	CHI_PGN_RULES_OTHER,
};
enum chi_pgn_rules chi_pgn_rules_of(const struct chi_pgn_span *variant);
