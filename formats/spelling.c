/* SPDX-License-Identifier: MIT */
/* A line's first character says what it is. */
#include "formats/spelling.h"

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/pgn/text.h"

#define FIDE_MARK "%Bio FIDEID "

static int refuse_line(const struct chi_spelling_reader *reader, struct chi_fault *fault,
		       const char *why)
{
	return chi_fail(fault, -CHI_EINVAL, "line %llu: %s", (unsigned long long)reader->line, why);
}

static bool is_spelling_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Without blanks at the ends, and without a remark. */
static void trim(const char **line, size_t *len)
{
	const char *remark = memchr(*line, '#', *len);
	*len = remark != NULL ? (size_t)(remark - *line) : *len;
	while (*len > 0 && is_spelling_blank(**line)) {
		(*line)++;
		(*len)--;
	}
	while (*len > 0 && is_spelling_blank((*line)[*len - 1])) {
		(*len)--;
	}
}

static int begin_section(struct chi_spelling_reader *reader, const char *line, size_t len,
			 struct chi_fault *fault)
{
	static const struct {
		const char *word;
		enum chi_spelling_kind kind;
	} sections[] = {
		{"PLAYER", CHI_SPELLING_PLAYER},
		{"EVENT", CHI_SPELLING_EVENT},
		{"SITE", CHI_SPELLING_SITE},
		{"ROUND", CHI_SPELLING_ROUND},
	};
	reader->kind = CHI_SPELLING_NONE;
	reader->name[0] = '\0';
	for (size_t i = 0; i < CHI_COUNT(sections); i++) {
		size_t n = strlen(sections[i].word);
		if (len >= n && memcmp(line, sections[i].word, n) == 0 &&
		    (len == n || is_spelling_blank(line[n]))) {
			reader->kind = sections[i].kind;
			return CHI_NONE;
		}
	}
	return refuse_line(reader, fault, "a section is @PLAYER, @EVENT, @SITE or @ROUND");
}

/* A name as a tag would give it. */
static int read_name(const struct chi_spelling_reader *reader, const char *line, size_t len,
		     char out[CHI_NAME_MAX + 1], struct chi_fault *fault)
{
	if (reader->kind == CHI_SPELLING_NONE) {
		return refuse_line(reader, fault, "a name before the first section");
	}
	bool cut = false;
	if (chi_pgn_value(line, len, out, CHI_NAME_MAX, &cut) == 0) {
		return refuse_line(reader, fault, "no name");
	}
	return cut ? refuse_line(reader, fault, "the name is too long") : CHI_OK;
}

static int read_alias(struct chi_spelling_reader *reader, const char *line, size_t len,
		      struct chi_spelling *out, struct chi_fault *fault)
{
	if (reader->name[0] == '\0') {
		return refuse_line(reader, fault, "an alias without a name");
	}
	trim(&line, &len);
	int rc = read_name(reader, line, len, reader->alias, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	*out = (struct chi_spelling){
		.kind = reader->kind, .name = reader->name, .alias = reader->alias};
	bool wanted = reader->kind != CHI_SPELLING_ROUND;
	return wanted && strcmp(reader->name, reader->alias) != 0 ? CHI_OK : CHI_NONE;
}

/* What is of a player's life, only the FIDE id is wanted. */
static int read_fide(const struct chi_spelling_reader *reader, const char *line, size_t len,
		     struct chi_spelling *out, struct chi_fault *fault)
{
	uint64_t fide = 0;
	size_t mark = strlen(FIDE_MARK);
	if (len <= mark || memcmp(line, FIDE_MARK, mark) != 0) {
		return CHI_NONE;
	}
	if (reader->kind != CHI_SPELLING_PLAYER || reader->name[0] == '\0') {
		return refuse_line(reader, fault, "a FIDE id without a player");
	}
	line += mark;
	len -= mark;
	trim(&line, &len);
	if (chi_num_u64(line, len, UINT32_MAX, &fide) != CHI_OK || fide == 0) {
		return refuse_line(reader, fault, "the FIDE id is not a number");
	}
	*out = (struct chi_spelling){
		.kind = reader->kind, .name = reader->name, .fide = (uint32_t)fide};
	return CHI_OK;
}

int chi_spelling_line(struct chi_spelling_reader *reader, const char *line, size_t len,
		      struct chi_spelling *out, struct chi_fault *fault)
{
	if (reader->line++ == 0 && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
		line += 3;
		len -= 3;
	}
	trim(&line, &len);
	if (len == 0 || *line == '>') {
		return CHI_NONE;
	}
	switch (*line) {
	case '@':
		return begin_section(reader, line + 1, len - 1, fault);
	case '=':
		return read_alias(reader, line + 1, len - 1, out, fault);
	case '%':
		return read_fide(reader, line, len, out, fault);
	default:
		break;
	}
	/* A name that is refused takes no aliases of the one before. */
	reader->name[0] = '\0';
	int rc = read_name(reader, line, len, reader->name, fault);
	return rc == CHI_OK ? CHI_NONE : rc;
}
