/* SPDX-License-Identifier: MIT */
/* A game's tags: which are kept, what room they have, and what the rules of the game follow from.
 */
#include "chess/pgn/tags.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "chess/pgn/text.h"

/* In the order of enum chi_pgn_tag. */
static const struct {
	const char *name;
	size_t len;
} names[CHI_PGN_TAGS] = {
#define NAME(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
	NAME("Event"),	     NAME("Site"),	  NAME("Date"),	      NAME("Round"),
	NAME("White"),	     NAME("Black"),	  NAME("Result"),     NAME("ECO"),
	NAME("WhiteElo"),    NAME("BlackElo"),	  NAME("WhiteTitle"), NAME("BlackTitle"),
	NAME("TimeControl"), NAME("Termination"), NAME("UTCDate"),    NAME("UTCTime"),
	NAME("Link"),	     NAME("GameId"),	  NAME("Annotator"),  NAME("SetUp"),
	NAME("FEN"),	     NAME("Variant"),
#undef NAME
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Names are letters, digits and _ by the book; what else writers use makes no harm. */
static bool is_name(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || memchr("_-+#=:/.", c, 8) != NULL;
}

/* Compared without regard to case: "Whiteelo" is meant as "WhiteElo". */
static enum chi_pgn_tag tag_of(const char *name, size_t len)
{
	for (size_t i = 0; i < CHI_PGN_TAGS; i++) {
		if (names[i].len == len && (name[0] | 0x20) == (names[i].name[0] | 0x20) &&
		    (memcmp(names[i].name, name, len) == 0 ||
		     strncasecmp(names[i].name, name, len) == 0)) {
			return (enum chi_pgn_tag)i;
		}
	}
	return CHI_PGN_TAGS;
}

static size_t skip_blanks(const char *text, size_t len, size_t i)
{
	while (i < len && is_blank(text[i])) {
		i++;
	}
	return i;
}

/* Finds the name; false if there is none. `i` comes out after it and the blanks. */
static bool find_name(const char *text, size_t len, size_t *start, size_t *name_len, size_t *i)
{
	*start = skip_blanks(text, len, 1);
	size_t end = *start;
	while (end < len && is_name(text[end])) {
		end++;
	}
	*name_len = end - *start;
	*i = skip_blanks(text, len, end);
	return *name_len > 0 && is_letter(text[*start]);
}

bool chi_pgn_tag_is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!is_name(text[i])) {
			return false;
		}
	}
	return len > 0 && len <= CHI_PGN_NAME_MAX && is_letter(text[0]);
}

bool chi_pgn_tag_is(const char *text, size_t len)
{
	size_t start = 0;
	size_t name_len = 0;
	size_t i = 0;
	if (!find_name(text, len, &start, &name_len, &i)) {
		return false;
	}
	return (i < len && text[i] == '"') || tag_of(text + start, name_len) != CHI_PGN_TAGS;
}

/* The quote that ends the value starting at `i`, or `len`; `after` is after the bracket. */
static size_t find_end(const char *text, size_t len, size_t i, size_t *after)
{
	size_t last = len;
	for (; i < len; i++) {
		if (text[i] == '\\' && i + 1 < len && (text[i + 1] == '"' || text[i + 1] == '\\')) {
			/* After it may be the end all the same: [Site "C:\"]. */
			i++;
			last = text[i] == '"' ? i : last;
			continue;
		}
		if (text[i] != '"') {
			continue;
		}
		last = i;
		size_t next = skip_blanks(text, len, i + 1);
		if (next < len && text[next] == ']') {
			*after = next + 1;
			return i;
		}
	}
	*after = len;
	return last;
}

void chi_pgn_tag_read(const char *text, size_t len, struct chi_pgn_pair *out)
{
	size_t start = 0;
	size_t name_len = 0;
	size_t i = 0;
	size_t after = len;
	find_name(text, len, &start, &name_len, &i);
	out->tag = tag_of(text + start, name_len);
	/* What is meant as one is kept as one, so that all who look for it find it. */
	out->name = out->tag != CHI_PGN_TAGS ? names[out->tag].name : text + start;
	out->name_len = name_len;
	size_t end = 0;
	if (i < len && text[i] == '"') {
		i++;
		end = find_end(text, len, i, &after);
	} else {
		const char *bracket = memchr(text + i, ']', len - i);
		end = bracket != NULL ? (size_t)(bracket - text) : len;
		after = end < len ? end + 1 : len;
	}
	out->value = text + i;
	out->value_len = end - i;
	out->len = after;
}

void chi_pgn_values_reset(struct chi_pgn_values *values)
{
	memset(values->spans, 0, sizeof(values->spans));
	values->used = 0;
	values->cut = 0;
}

void chi_pgn_values_add(struct chi_pgn_values *values, enum chi_pgn_tag tag, const char *value,
			size_t len)
{
	/* Each kind is added once, so that the text always has room for the longest value. */
	char *at = values->text + values->used;
	bool cut = false;
	size_t n = chi_pgn_value(value, len, at, CHI_PGN_VALUE_MAX, &cut);
	values->cut |= (uint32_t)cut << tag;
	values->spans[tag] = (struct chi_pgn_span){.text = at, .len = n};
	values->used += n + 1;
}

const char *chi_pgn_values_cut(const struct chi_pgn_values *values)
{
	static const uint8_t telling[] = {CHI_PGN_WHITE,   CHI_PGN_BLACK, CHI_PGN_DATE,
					  CHI_PGN_SITE,	   CHI_PGN_LINK,  CHI_PGN_GAME_ID,
					  CHI_PGN_UTC_TIME};
	for (size_t i = 0; values->cut != 0 && i < CHI_COUNT(telling); i++) {
		if ((values->cut >> telling[i] & 1) != 0) {
			return names[telling[i]].name;
		}
	}
	return NULL;
}

static bool is_one_of(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(text, list[i]) == 0) {
			return true;
		}
	}
	return false;
}

enum chi_pgn_rules chi_pgn_rules_of(const struct chi_pgn_span *variant)
{
	/* As servers, engines' referees and databases write them; blanks and dashes left out. */
	static const char *const chess[] = {
		"",	   "?",	       "standard",  "chess",   "standardchess", "normal",
		"regular", "orthodox", "classical", "classic", "fromposition",
	};
	static const char *const chess960[] = {
		"chess960",
		"960",
		"frc",
		"freestyle",
		"fischerandom",
		"fischerrandom",
		"fischerrandomchess",
		"chess960/fischer",
	};
	char plain[32];
	size_t n = 0;
	for (size_t i = 0; i < variant->len; i++) {
		char c = variant->text[i];
		if (c != ' ' && c != '-' && c != '_' && n < sizeof(plain) - 1) {
			plain[n++] = is_letter(c) ? (char)(c | 0x20) : c;
		}
	}
	plain[n] = '\0';
	if (is_one_of(plain, chess, CHI_COUNT(chess))) {
		return CHI_PGN_RULES_CHESS;
	}
	return is_one_of(plain, chess960, CHI_COUNT(chess960)) ? CHI_PGN_RULES_CHESS960
							       : CHI_PGN_RULES_OTHER;
}
