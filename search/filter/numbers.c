/* SPDX-License-Identifier: MIT */
#include "search/filter/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "search/filter/numbers_priv.h"

#define NO_MORE UINT64_MAX

int chi_numbers_new(struct chi_numbers **out)
{
	*out = calloc(1, sizeof(**out));
	return *out != NULL ? CHI_OK : -CHI_ENOMEM;
}

void chi_numbers_free(struct chi_numbers *numbers)
{
	if (numbers != NULL) {
		for (size_t i = 0; i < numbers->n_pages; i++) {
			free(numbers->pages[i]);
		}
		free(numbers->pages);
		free(numbers);
	}
}

/* ---- Adding ------------------------------------------------------------------------------- */

/* Makes the directory long enough for page `i`. */
static int reach(struct chi_numbers *numbers, size_t i)
{
	size_t n = 2 * numbers->n_pages > i ? 2 * numbers->n_pages : i + 1;
	uint64_t **pages = realloc(numbers->pages, n * sizeof(pages[0]));
	if (pages == NULL) {
		return -CHI_ENOMEM;
	}
	memset(pages + numbers->n_pages, 0, (n - numbers->n_pages) * sizeof(pages[0]));
	numbers->pages = pages;
	numbers->n_pages = n;
	return CHI_OK;
}

int chi_numbers_add_word(struct chi_numbers *numbers, uint64_t word, uint64_t bits)
{
	size_t i = (size_t)(word / CHI_NUMBERS_WORDS);
	if (bits == 0) {
		return CHI_OK;
	}
	if (i >= numbers->n_pages && reach(numbers, i) != CHI_OK) {
		return -CHI_ENOMEM;
	}
	if (numbers->pages[i] == NULL) {
		numbers->pages[i] = calloc(CHI_NUMBERS_WORDS, sizeof(uint64_t));
		if (numbers->pages[i] == NULL) {
			return -CHI_ENOMEM;
		}
		numbers->n_made++;
	}
	uint64_t *at = &numbers->pages[i][word % CHI_NUMBERS_WORDS];
	numbers->count += (unsigned)__builtin_popcountll(bits & ~*at);
	*at |= bits;
	return CHI_OK;
}

int chi_numbers_add(struct chi_numbers *numbers, uint32_t number)
{
	return chi_numbers_add_word(numbers, number / 64, UINT64_C(1) << (number % 64));
}

int chi_numbers_add_hits(struct chi_numbers *numbers, uint32_t first, const struct chi_hits *hits)
{
	unsigned shift = first % 64;
	uint64_t rest = 0; /* of the word before */
	int rc = CHI_OK;
	for (uint64_t w = 0; w <= CHI_HIT_WORDS && rc == CHI_OK; w++) {
		uint64_t bits = w < CHI_HIT_WORDS ? hits->words[w] : 0;
		rc = chi_numbers_add_word(numbers, first / 64 + w, bits << shift | rest);
		rest = shift > 0 ? bits >> (64 - shift) : 0;
	}
	return rc;
}

/* ---- Asking ------------------------------------------------------------------------------- */

bool chi_numbers_has(const struct chi_numbers *numbers, uint32_t number)
{
	return (chi_numbers_word(numbers, number / 64) >> (number % 64) & 1) != 0;
}

uint64_t chi_numbers_count(const struct chi_numbers *numbers)
{
	return numbers->count;
}

/* The first word from `word` on that has a number, pages that are not there passed over. */
static uint64_t next_word(const struct chi_numbers *numbers, uint64_t word)
{
	while (word < (uint64_t)numbers->n_pages * CHI_NUMBERS_WORDS) {
		const uint64_t *page = numbers->pages[word / CHI_NUMBERS_WORDS];
		if (page == NULL) {
			word = (word / CHI_NUMBERS_WORDS + 1) * CHI_NUMBERS_WORDS;
		} else if (page[word % CHI_NUMBERS_WORDS] != 0) {
			return word;
		} else {
			word++;
		}
	}
	return NO_MORE;
}

bool chi_numbers_next(const struct chi_numbers *numbers, uint32_t from, uint32_t *out)
{
	uint64_t word = from / 64;
	uint64_t bits = chi_numbers_word(numbers, word) & UINT64_MAX << (from % 64);
	if (bits == 0) {
		word = next_word(numbers, word + 1);
		if (word == NO_MORE) {
			return false;
		}
		bits = chi_numbers_word(numbers, word);
	}
	*out = (uint32_t)(64 * word + (unsigned)__builtin_ctzll(bits));
	return true;
}

void chi_numbers_hits(const struct chi_numbers *numbers, uint32_t first, uint32_t n,
		      struct chi_hits *hits)
{
	unsigned shift = first % 64;
	memset(hits, 0, sizeof(*hits));
	for (uint32_t w = 0; 64 * w < n; w++) {
		uint64_t word = (uint64_t)first / 64 + w;
		uint64_t bits = chi_numbers_word(numbers, word) >> shift;
		if (shift > 0) {
			bits |= chi_numbers_word(numbers, word + 1) << (64 - shift);
		}
		hits->words[w] = n - 64 * w < 64 ? bits & ~(UINT64_MAX << (n % 64)) : bits;
	}
}

size_t chi_numbers_memory(const struct chi_numbers *numbers)
{
	return sizeof(*numbers) + numbers->n_pages * sizeof(numbers->pages[0]) +
	       numbers->n_made * CHI_NUMBERS_WORDS * sizeof(uint64_t);
}
