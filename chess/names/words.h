/* SPDX-License-Identifier: MIT */
/* Words of a name: plain lower-case letters, whatever the case, accents and punctuation. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of a name, in UTF-8: what a tag's value may have. What is more is not looked at. */
#define CHI_NAME_MAX 1023

/* Words are separated by at least one byte. */
#define CHI_NAME_WORDS ((CHI_NAME_MAX + 1) / 2)

struct chi_name_word {
	uint16_t start; /* in the text of chi_name_words */
	uint16_t len;	/* bytes, at least 1 */
	bool surname;	/* before the first comma, else the last word of several letters */
};

/* Letters of Latin scripts without accents; Greek and Cyrillic in lower case; others as they are.
 * An apostrophe is no part of a word and separates none. */
struct chi_name_words {
	size_t n;
	bool comma; /* words are before one: the surname is known */
	struct chi_name_word word[CHI_NAME_WORDS];
	size_t len;
	char text[CHI_NAME_MAX]; /* the words one after the other, without anything between them */
};

/* Any bytes may be given; those that are not UTF-8 give some words. */
void chi_name_split(const char *text, size_t len, struct chi_name_words *out);

static inline const char *chi_name_word_text(const struct chi_name_words *words, size_t i)
{
	return words->text + words->word[i].start;
}

/* Whether word i of the one is word k of the other. */
static inline bool chi_name_word_equal(const struct chi_name_words *a, size_t i,
				       const struct chi_name_words *b, size_t k)
{
	return a->word[i].len == b->word[k].len &&
	       memcmp(chi_name_word_text(a, i), chi_name_word_text(b, k), a->word[i].len) == 0;
}

/* Whether word i is a single letter, or digit, of whatever script. */
static inline bool chi_name_word_is_letter(const struct chi_name_words *words, size_t i)
{
	const char *text = chi_name_word_text(words, i);
	size_t at = 1;
	while (at < words->word[i].len && (text[at] & 0xc0) == 0x80) {
		at++;
	}
	return at == words->word[i].len;
}

/* Whether word i of the one is the initial of word k of the other, or the same single letter. */
static inline bool chi_name_word_initial(const struct chi_name_words *one, size_t i,
					 const struct chi_name_words *of, size_t k)
{
	const char *letter = chi_name_word_text(one, i);
	size_t len = one->word[i].len;
	bool digit = *letter >= '0' && *letter <= '9';
	return !digit && chi_name_word_is_letter(one, i) && of->word[k].len >= len &&
	       memcmp(letter, chi_name_word_text(of, k), len) == 0;
}
