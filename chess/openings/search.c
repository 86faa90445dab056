/* SPDX-License-Identifier: MIT */
/*
 * Openings by what people call them. The table is small: every name is brought into a plain form
 * (words of ASCII letters and digits in lower case) and compared with the plain form of the text.
 */
#include "chess/openings/openings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/openings/openings_priv.h"

#define PLAIN_SIZE 256 /* the longest name has less than half of it */
#define PREFIX_MIN 4   /* letters of a word that may stand for a longer one */

/* How well a name fits, the best first. */
enum rank {
	RANK_NONE = 0,
	RANK_CODE,
	RANK_WHOLE,
	RANK_BEGINNING,
	RANK_VARIATION, /* what follows the colon begins with it */
	RANK_PART,	/* what follows a comma */
	RANK_WORDS,	/* each word of the text is one of the name */
	RANK_PREFIX,	/* ... or, if it is not short, begins one */
};

/* The ASCII letter below an accent, or 0: U+00E0 to U+00FF and the one other letter of the tables.
 * The capitals U+00C0 to U+00DF have the same last five bits. */
static char base_letter(unsigned char lead, unsigned char next)
{
	static const char latin1[] = "aaaaaaaceeeeiiiidnooooo\0ouuuuyty";
	if (lead == 0xc3) {
		return latin1[next & 0x1f];
	}
	return lead == 0xc4 && (next & 0xfe) == 0x86 ? 'c' : '\0';
}

/* A genitive or plural counts as the word itself: "Petrov's", "Petrov". */
static size_t end_word(const char *out, size_t begin, size_t n)
{
	return n - begin > 3 && out[n - 1] == 's' ? n - 1 : n;
}

/* Words with one blank between them; where a part begins, the colon or comma stands for the blank.
 * Apostrophes and full stops vanish, other punctuation parts words. False: too long. */
static bool make_plain(const char *text, char out[PLAIN_SIZE])
{
	size_t n = 0;
	size_t begin = 0; /* of the word */
	char gap = '\0';
	for (const char *at = text; *at != '\0'; at++) {
		unsigned char c = (unsigned char)*at;
		char letter = isalnum(c) ? (char)tolower(c) : '\0';
		if (c == 0xe2 && strncmp(at, "\u2019", 3) == 0) {
			at += 2;
			continue;
		}
		if (c >= 0xc3 && at[1] != '\0') {
			letter = base_letter(c, (unsigned char)*++at);
		} else if (c == '\'' || c == '.') {
			continue;
		}
		if (letter == '\0') {
			gap = c == ':' || c == ',' ? (char)c : gap != '\0' ? gap : ' ';
			continue;
		}
		if (n + 2 >= PLAIN_SIZE) {
			return false;
		}
		if (gap != '\0' && n > 0) {
			n = end_word(out, begin, n);
			out[n++] = gap;
			begin = n;
		}
		gap = '\0';
		out[n++] = letter;
	}
	out[end_word(out, begin, n)] = '\0';
	return true;
}

/* What the tables call otherwise; both as make_plain leaves them. */
static const char *common_name(const char *plain)
{
	static const char *const names[][2] = {
		{"spanish", "ruy lopez"},	   {"petroff", "petrov defense"},
		{"russian", "petrov defense"},	   {"kid", "king indian defense"},
		{"kia", "king indian attack"},	   {"qgd", "queen gambit declined"},
		{"qga", "queen gambit accepted"},  {"nimzo", "nimzo indian defense"},
		{"gruenfeld", "grunfeld defense"}, {"reti", "reti opening"},
	};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		if (strcmp(plain, names[i][0]) == 0) {
			return names[i][1];
		}
	}
	return plain;
}

#define GAPS " :,"

static bool is_end(char c)
{
	return c == ' ' || c == ':' || c == ',' || c == '\0';
}

/* Whether `at` begins with the `len` bytes of a text, whose gaps are of any kind. */
static bool begins(const char *at, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool same = is_end(text[i]) ? at[i] != '\0' && is_end(at[i]) : at[i] == text[i];
		if (!same) {
			return false;
		}
	}
	return true;
}

/* Whether the name has a word that is the first `len` bytes of `word`, or begins with them. */
static bool has_word(const char *name, const char *word, size_t len, bool prefix)
{
	for (const char *at = name; *at != '\0'; at += *at != '\0') {
		if (begins(at, word, len) && (is_end(at[len]) || (prefix && len >= PREFIX_MIN))) {
			return true;
		}
		at += strcspn(at, GAPS);
	}
	return false;
}

static bool has_words(const char *name, const char *text, bool prefix)
{
	for (const char *at = text; *at != '\0'; at += *at != '\0') {
		size_t len = strcspn(at, GAPS);
		if (!has_word(name, at, len, prefix)) {
			return false;
		}
		at += len;
	}
	return true;
}

/* A rank worse than `best` need not be told from none. */
static enum rank rank_of(const char *name, const char *text, enum rank best)
{
	size_t len = strlen(text);
	if (begins(name, text, len) && is_end(name[len])) {
		return name[len] == '\0' ? RANK_WHOLE : RANK_BEGINNING;
	}
	for (const char *part = strpbrk(name, ":,"); part != NULL; part = strpbrk(part + 1, ":,")) {
		if (begins(part + 1, text, len) && is_end(part[1 + len])) {
			return *part == ':' ? RANK_VARIATION : RANK_PART;
		}
	}
	if (best != RANK_NONE && best < RANK_WORDS) {
		return RANK_NONE;
	}
	return has_words(name, text, false)  ? RANK_WORDS
	       : has_words(name, text, true) ? RANK_PREFIX
					     : RANK_NONE;
}

static const char *name_of(const struct chi_opening *opening)
{
	return chi_opening_names + opening->name;
}

/* "Sicilian Defense: Najdorf Variation" is a variation of "Sicilian Defense", and a gambit accepted
 * one of the gambit. */
static bool is_variation(const struct chi_opening *opening, const struct chi_opening *of)
{
	size_t len = strlen(name_of(of));
	const char *name = name_of(opening);
	if (strncmp(name, name_of(of), len) != 0) {
		return false;
	}
	name += len;
	return *name == ':' || *name == ',' || strncmp(name, " Accepted", 9) == 0 ||
	       strncmp(name, " Declined", 9) == 0;
}

/* Whether another of the best says as much: the same name, or code, by a shorter line (of equal
 * ones of a name the first in the table), or the opening that this is a variation of. */
static bool is_covered(size_t at, const uint8_t *ranks, uint8_t best)
{
	const struct chi_opening *opening = &chi_openings[at];
	for (size_t i = 0; i < chi_openings_count; i++) {
		const struct chi_opening *other = &chi_openings[i];
		if (i == at || ranks[i] != best) {
			continue;
		}
		bool shorter = other->plies < opening->plies;
		bool same = other->name == opening->name;
		if (best == RANK_CODE ? shorter
		    : same	      ? shorter || (other->plies == opening->plies && i < at)
				      : is_variation(opening, other)) {
			return true;
		}
	}
	return false;
}

/* Fills in the rank of every opening; returns the best. */
static uint8_t rank_all(const char *text, uint8_t *ranks)
{
	char plain[PLAIN_SIZE];
	char name[PLAIN_SIZE];
	enum rank best = RANK_NONE;
	if (!make_plain(text, plain) || plain[0] == '\0') {
		return RANK_NONE;
	}
	const char *wanted = common_name(plain);
	for (size_t i = 0; i < chi_openings_count; i++) {
		const struct chi_opening *opening = &chi_openings[i];
		char eco[] = {(char)tolower((unsigned char)opening->eco[0]), opening->eco[1],
			      opening->eco[2], '\0'};
		if (strcmp(plain, eco) == 0) {
			ranks[i] = RANK_CODE;
		} else if (make_plain(name_of(opening), name)) {
			ranks[i] = (uint8_t)rank_of(name, wanted, best);
		}
		if (ranks[i] != RANK_NONE && (best == RANK_NONE || ranks[i] < best)) {
			best = (enum rank)ranks[i];
		}
	}
	return (uint8_t)best;
}

static void to_match(const struct chi_opening *opening, struct chi_opening_match *match)
{
	*match = (struct chi_opening_match){.eco = opening->eco, .name = name_of(opening)};
	match->key.len = (uint8_t)chi_key_length(opening->key);
	memcpy(match->key.bytes, opening->key, match->key.len);
}

/* Takes it to its place by name; what comes after the last place is dropped. */
static void insert(const struct chi_opening *opening, struct chi_opening_match *out, size_t max,
		   size_t n)
{
	size_t at = n < max ? n : max;
	while (at > 0 && strcmp(out[at - 1].name, name_of(opening)) > 0) {
		if (at < max) {
			out[at] = out[at - 1];
		}
		at--;
	}
	if (at < max) {
		to_match(opening, &out[at]);
	}
}

int chi_opening_search(const char *text, struct chi_opening_match *out, size_t max, size_t *n)
{
	_cleanup_(chi_freep) uint8_t *ranks = calloc(chi_openings_count, sizeof(*ranks));
	*n = 0;
	if (ranks == NULL) {
		return -CHI_ENOMEM;
	}
	uint8_t best = rank_all(text, ranks);
	for (size_t i = 0; best != RANK_NONE && i < chi_openings_count; i++) {
		if (ranks[i] == best && !is_covered(i, ranks, best)) {
			insert(&chi_openings[i], out, max, *n);
			(*n)++;
		}
	}
	return *n > 0 ? CHI_OK : CHI_NONE;
}
