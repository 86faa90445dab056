/* SPDX-License-Identifier: MIT */
/* A name becomes its words in plain lower-case letters; words are compared, not texts. */
#include "chess/pgn/player.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

/* What is more of a name is not looked at. */
#define WORDS_MAX 12
#define WORD_SIZE 48

struct word {
	char text[WORD_SIZE];
	size_t len;
	bool surname;
	bool used;
};

struct words {
	size_t n;
	struct word word[WORDS_MAX];
};

/* Letters with accents and the like, by the first of each run of code points that mean the same
 * plain letter; 0: they separate words. */
static const struct {
	uint16_t first;
	char letter;
} runs[] = {
	{0x80, 0},    {0xc0, 'a'},  {0xc7, 'c'},  {0xc8, 'e'},	{0xcc, 'i'},  {0xd0, 'd'},
	{0xd1, 'n'},  {0xd2, 'o'},  {0xd7, 0},	  {0xd8, 'o'},	{0xd9, 'u'},  {0xdd, 'y'},
	{0xde, 't'},  {0xdf, 's'},  {0xe0, 'a'},  {0xe7, 'c'},	{0xe8, 'e'},  {0xec, 'i'},
	{0xf0, 'd'},  {0xf1, 'n'},  {0xf2, 'o'},  {0xf7, 0},	{0xf8, 'o'},  {0xf9, 'u'},
	{0xfd, 'y'},  {0xfe, 't'},  {0xff, 'y'},  {0x100, 'a'}, {0x106, 'c'}, {0x10e, 'd'},
	{0x112, 'e'}, {0x11c, 'g'}, {0x124, 'h'}, {0x128, 'i'}, {0x134, 'j'}, {0x136, 'k'},
	{0x139, 'l'}, {0x143, 'n'}, {0x14c, 'o'}, {0x154, 'r'}, {0x15a, 's'}, {0x162, 't'},
	{0x168, 'u'}, {0x174, 'w'}, {0x176, 'y'}, {0x179, 'z'}, {0x17f, 's'}, {0x180, 1},
	{0x218, 's'}, {0x21a, 't'}, {0x21c, 1},
};
#define OTHER_LETTER 1 /* of another script: compared as it is written */

static char plain_of(uint32_t point)
{
	char letter = 0;
	for (size_t i = 0; i < CHI_COUNT(runs) && runs[i].first <= point; i++) {
		letter = runs[i].letter;
	}
	return letter;
}

/* The code point at *at, which well-formed UTF-8 has there, of at most three bytes; else some value
 * of another script. */
static uint32_t next_point(const char **at)
{
	const unsigned char *byte = (const unsigned char *)*at;
	uint32_t point = *byte;
	size_t more = point < 0x80 ? 0 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
	size_t n = 1;
	while (n <= more && (byte[n] & 0xc0) == 0x80) {
		point = (n == 1 ? point & (0x3fu >> more) : point) << 6 | (byte[n] & 0x3fu);
		n++;
	}
	*at += n;
	return point;
}

/* Appends to the last word; what does not fit is left out. */
static void append(struct words *words, const char *bytes, size_t len)
{
	struct word *word = &words->word[words->n];
	if (words->n < WORDS_MAX && word->len + len < WORD_SIZE) {
		memcpy(word->text + word->len, bytes, len);
		word->len += len;
	}
}

static void end_word(struct words *words)
{
	words->n += words->n < WORDS_MAX && words->word[words->n].len > 0;
}

/* What is before the first comma, else the last word of several letters. */
static void mark_surname(struct words *words, size_t before_comma)
{
	for (size_t i = 0; i < before_comma; i++) {
		words->word[i].surname = true;
	}
	size_t i = words->n;
	while (before_comma == 0 && i > 0) {
		i--;
		if (words->word[i].len > 1) {
			words->word[i].surname = true;
			return;
		}
	}
}

static void split(const char *text, struct words *out)
{
	size_t before_comma = 0;
	memset(out, 0, sizeof(*out));
	while (*text != '\0') {
		const char *start = text;
		uint32_t point = next_point(&text);
		char c = (char)(point < 0x80 ? point | 0x20 : 0);
		if (point >= 0x80) {
			c = plain_of(point);
			bool accent = point >= 0x300 && point < 0x370;
			if (c == OTHER_LETTER && !accent) {
				append(out, start, (size_t)(text - start));
			}
			if (c == OTHER_LETTER || accent) {
				continue;
			}
		}
		if ((c >= 'a' && c <= 'z') || (point >= '0' && point <= '9')) {
			append(out, &c, 1);
		} else if (point != '\'') {
			end_word(out);
			before_comma = point == ',' && before_comma == 0 ? out->n : before_comma;
		}
	}
	end_word(out);
	mark_surname(out, before_comma);
}

static bool is_initial(const struct word *one, const struct word *of)
{
	return one->len == 1 && one->text[0] >= 'a' && one->text[0] == of->text[0];
}

/* A word of the name that no other word has been found in; `initials` are enough. */
static bool find(struct words *name, const struct word *wanted, bool initials)
{
	for (size_t i = 0; i < name->n; i++) {
		struct word *word = &name->word[i];
		bool equal = word->len == wanted->len &&
			     memcmp(word->text, wanted->text, word->len) == 0;
		if (!word->used && (equal || (initials && (is_initial(word, wanted) ||
							   is_initial(wanted, word))))) {
			word->used = true;
			return true;
		}
	}
	return false;
}

bool chi_player_fits(const char *wanted, const char *name)
{
	struct words want;
	struct words have;
	split(wanted, &want);
	split(name, &have);
	/* Whole words first, so that no initial takes the place of one. */
	for (size_t i = 0; i < want.n; i++) {
		want.word[i].used = find(&have, &want.word[i], false);
	}
	for (size_t i = 0; i < want.n; i++) {
		const struct word *word = &want.word[i];
		if (!word->used && (word->surname || !find(&have, word, true))) {
			return false;
		}
	}
	return want.n > 0;
}
