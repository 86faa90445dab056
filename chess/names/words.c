/* SPDX-License-Identifier: MIT */
/* A word is never longer than what it was made of, so that all words of a name fit its length. */
#include "chess/names/words.h"

#include "base/attr.h"

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
	{0x218, 's'}, {0x21a, 't'}, {0x21c, 1},	  {0x2000, 0},	{0x2070, 1},  {0x3000, 0},
	{0x3003, 1},
};
#define OTHER_LETTER 1 /* of another script */

static char plain_of(uint32_t point)
{
	char letter = 0;
	for (size_t i = 0; i < CHI_COUNT(runs) && runs[i].first <= point; i++) {
		letter = runs[i].letter;
	}
	return letter;
}

/* The code point at *at if UTF-8 is there, else some value. */
static uint32_t next_point(const char **at, const char *end)
{
	const unsigned char *byte = (const unsigned char *)*at;
	size_t left = (size_t)(end - *at);
	uint32_t point = *byte;
	size_t more = point < 0x80 ? 0 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
	size_t n = 1;
	while (n <= more && n < left && (byte[n] & 0xc0) == 0x80) {
		point = (n == 1 ? point & (0x3fu >> more) : point) << 6 | (byte[n] & 0x3fu);
		n++;
	}
	*at += n;
	return point;
}

static void append_word(struct chi_name_words *words, const char *bytes, size_t len)
{
	memcpy(words->text + words->len, bytes, len);
	words->len += len;
}

/* A letter of another script, in lower case where that is two bytes as the upper case is. */
static void append_other(struct chi_name_words *words, uint32_t point, const char *bytes,
			 size_t len)
{
	bool greek = point >= 0x391 && point <= 0x3a9;
	bool cyrillic = point >= 0x410 && point <= 0x42f;
	uint32_t low = greek || cyrillic		  ? point + 0x20
		       : point >= 0x400 && point <= 0x40f ? point + 0x50
							  : 0;
	const char lower[2] = {(char)(0xc0 | low >> 6), (char)(0x80 | (low & 0x3f))};
	append_word(words, low != 0 && len == 2 ? lower : bytes, len);
}

static bool is_apostrophe(uint32_t point)
{
	return point == '\'' || point == 0x2018 || point == 0x2019 || point == 0x2bc;
}

/* The word that began at `start`, if it has a letter. */
static void end_word(struct chi_name_words *words, size_t start)
{
	if (words->len > start) {
		words->word[words->n++] = (struct chi_name_word){
			.start = (uint16_t)start, .len = (uint16_t)(words->len - start)};
	}
}

static void mark_surname(struct chi_name_words *words, size_t before_comma)
{
	for (size_t i = 0; i < before_comma; i++) {
		words->word[i].surname = true;
	}
	size_t i = words->n;
	while (before_comma == 0 && i > 0) {
		i--;
		if (!chi_name_word_is_letter(words, i)) {
			words->word[i].surname = true;
			return;
		}
	}
}

void chi_name_split(const char *text, size_t len, struct chi_name_words *out)
{
	const char *end = text + (len < CHI_NAME_MAX ? len : CHI_NAME_MAX);
	size_t before_comma = 0;
	size_t start = 0;
	out->n = 0;
	out->len = 0;
	while (text < end) {
		const char *from = text;
		uint32_t point = next_point(&text, end);
		char c = point < 0x80 ? (char)(point | 0x20) : plain_of(point);
		if (is_apostrophe(point) || (point >= 0x300 && point < 0x370)) {
			continue;
		}
		if (point >= 0x80 && c == OTHER_LETTER) {
			append_other(out, point, from, (size_t)(text - from));
		} else if ((c >= 'a' && c <= 'z') || (point >= '0' && point <= '9')) {
			append_word(out, &c, 1);
		} else {
			end_word(out, start);
			start = out->len;
			before_comma = point == ',' && before_comma == 0 ? out->n : before_comma;
		}
	}
	end_word(out, start);
	out->comma = before_comma > 0;
	mark_surname(out, before_comma);
}
