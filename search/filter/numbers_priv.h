/* SPDX-License-Identifier: MIT */
/* The bits of a set of numbers, for the set itself and for its stored form. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "search/filter/numbers.h"

/* Number i is bit i % 64 of word i / 64; so many words are a page. */
#define CHI_NUMBERS_WORDS 64

struct chi_numbers {
	uint64_t **pages; /* NULL: none of that page's numbers are in the set */
	size_t n_pages;
	size_t n_made; /* pages that are there */
	uint64_t count;
};

static inline uint64_t chi_numbers_word(const struct chi_numbers *numbers, uint64_t word)
{
	size_t i = (size_t)(word / CHI_NUMBERS_WORDS);
	const uint64_t *page = i < numbers->n_pages ? numbers->pages[i] : NULL;
	return page != NULL ? page[word % CHI_NUMBERS_WORDS] : 0;
}

/* -CHI_ENOMEM: the set is as it was. */
CHI_MUSTUSE int chi_numbers_add_word(struct chi_numbers *numbers, uint64_t word, uint64_t bits);
