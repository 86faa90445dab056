/* SPDX-License-Identifier: MIT */
#include "search/filter/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/wire.h"
#include "chess/bitboard.h"

#define NO_MORE UINT64_MAX

/* Number i is bit i % 64 of word i / 64; so many words are a page. */
#define PAGE_WORDS   64
#define PAGE_NUMBERS (64 * PAGE_WORDS)

/* Numbers of a page that is stored as a list; with more its bits are as short. */
#define LIST_MAX (PAGE_NUMBERS / 8 / 2)

struct chi_numbers {
	uint64_t **pages; /* NULL: none of that page's numbers are in the set */
	size_t n_pages;
	size_t n_made; /* pages that are there */
	uint64_t count;
};

static uint64_t word_of(const struct chi_numbers *numbers, uint64_t word)
{
	size_t i = (size_t)(word / PAGE_WORDS);
	const uint64_t *page = i < numbers->n_pages ? numbers->pages[i] : NULL;
	return page != NULL ? page[word % PAGE_WORDS] : 0;
}

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
	size_t before = numbers->n_pages;
	int rc = chi_grow(&numbers->pages, &numbers->n_pages, i + 1, sizeof(*numbers->pages));
	for (size_t k = before; k < numbers->n_pages; k++) {
		numbers->pages[k] = NULL;
	}
	return rc;
}

/* -CHI_ENOMEM: the set is as it was. */
static int add_word(struct chi_numbers *numbers, uint64_t word, uint64_t bits)
{
	size_t i = (size_t)(word / PAGE_WORDS);
	if (bits == 0) {
		return CHI_OK;
	}
	if (i >= numbers->n_pages && reach(numbers, i) != CHI_OK) {
		return -CHI_ENOMEM;
	}
	if (numbers->pages[i] == NULL) {
		numbers->pages[i] = calloc(PAGE_WORDS, sizeof(uint64_t));
		if (numbers->pages[i] == NULL) {
			return -CHI_ENOMEM;
		}
		numbers->n_made++;
	}
	uint64_t *at = &numbers->pages[i][word % PAGE_WORDS];
	numbers->count += (unsigned)chi_popcount(bits & ~*at);
	*at |= bits;
	return CHI_OK;
}

int chi_numbers_add(struct chi_numbers *numbers, uint32_t number)
{
	return add_word(numbers, number / 64, UINT64_C(1) << (number % 64));
}

int chi_numbers_add_hits(struct chi_numbers *numbers, uint32_t first, const struct chi_hits *hits)
{
	unsigned shift = first % 64;
	uint64_t rest = 0; /* of the word before */
	int rc = CHI_OK;
	for (uint64_t w = 0; w <= CHI_HIT_WORDS && rc == CHI_OK; w++) {
		uint64_t bits = w < CHI_HIT_WORDS ? hits->words[w] : 0;
		rc = add_word(numbers, first / 64 + w, bits << shift | rest);
		rest = shift > 0 ? bits >> (64 - shift) : 0;
	}
	return rc;
}

int chi_numbers_join(struct chi_numbers *numbers, const struct chi_numbers *other)
{
	int rc = CHI_OK;
	for (uint64_t i = 0; rc == CHI_OK && i < other->n_pages; i++) {
		for (uint64_t w = 0; rc == CHI_OK && other->pages[i] != NULL && w < PAGE_WORDS;
		     w++) {
			rc = add_word(numbers, i * PAGE_WORDS + w, other->pages[i][w]);
		}
	}
	return rc;
}

void chi_numbers_keep(struct chi_numbers *numbers, const struct chi_numbers *other)
{
	numbers->count = 0;
	for (size_t i = 0; i < numbers->n_pages; i++) {
		for (size_t w = 0; numbers->pages[i] != NULL && w < PAGE_WORDS; w++) {
			uint64_t *at = &numbers->pages[i][w];
			*at &= word_of(other, i * PAGE_WORDS + w);
			numbers->count += (unsigned)chi_popcount(*at);
		}
	}
}

/* ---- Asking ------------------------------------------------------------------------------- */

bool chi_numbers_has(const struct chi_numbers *numbers, uint32_t number)
{
	return (word_of(numbers, number / 64) >> (number % 64) & 1) != 0;
}

uint64_t chi_numbers_count(const struct chi_numbers *numbers)
{
	return numbers->count;
}

/* The first word from `word` on that has a number, pages that are not there passed over. */
static uint64_t next_word(const struct chi_numbers *numbers, uint64_t word)
{
	while (word < (uint64_t)numbers->n_pages * PAGE_WORDS) {
		const uint64_t *page = numbers->pages[word / PAGE_WORDS];
		if (page == NULL) {
			word = (word / PAGE_WORDS + 1) * PAGE_WORDS;
		} else if (page[word % PAGE_WORDS] != 0) {
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
	uint64_t bits = word_of(numbers, word) & UINT64_MAX << (from % 64);
	if (bits == 0) {
		word = next_word(numbers, word + 1);
		if (word == NO_MORE) {
			return false;
		}
		bits = word_of(numbers, word);
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
		uint64_t bits = word_of(numbers, word) >> shift;
		if (shift > 0) {
			bits |= word_of(numbers, word + 1) << (64 - shift);
		}
		hits->words[w] = n - 64 * w < 64 ? bits & ~(UINT64_MAX << (n % 64)) : bits;
	}
}

size_t chi_numbers_memory(const struct chi_numbers *numbers)
{
	return sizeof(*numbers) + numbers->n_pages * sizeof(numbers->pages[0]) +
	       numbers->n_made * PAGE_WORDS * sizeof(uint64_t);
}

/* ---- Stored -------------------------------------------------------------------------------- */

/* How many pages begin after the one before, how many numbers the page has, and these: a list, each
 * as how many come after the one before, or the page's bits. */
size_t chi_numbers_room(const struct chi_numbers *numbers)
{
	return numbers->n_made * (5 + 2 + PAGE_NUMBERS / 8);
}

static void write_page(const uint64_t *page, struct chi_writer *to)
{
	uint32_t n = 0;
	uint32_t next = 0;
	for (uint32_t w = 0; w < PAGE_WORDS; w++) {
		n += (unsigned)chi_popcount(page[w]);
	}
	chi_write_varint(to, n);
	for (uint32_t w = 0; w < PAGE_WORDS; w++) {
		uint64_t bits = page[w];
		if (n > LIST_MAX) {
			chi_write_le(to, bits, 8);
		}
		for (; n <= LIST_MAX && bits != 0; bits &= bits - 1) {
			uint32_t lower = 64 * w + (unsigned)__builtin_ctzll(bits);
			chi_write_varint(to, lower - next);
			next = lower + 1;
		}
	}
}

size_t chi_numbers_write(const struct chi_numbers *numbers, uint8_t *out)
{
	struct chi_writer to = chi_writer_of(out, chi_numbers_room(numbers));
	size_t next = 0;
	for (size_t i = 0; i < numbers->n_pages; i++) {
		if (numbers->pages[i] != NULL) {
			chi_write_varint(&to, i - next);
			write_page(numbers->pages[i], &to);
			next = i + 1;
		}
	}
	return (size_t)(to.at - out);
}

static int read_page(struct chi_reader *from, struct chi_numbers *numbers, uint64_t page)
{
	uint64_t before = numbers->count;
	uint64_t n = chi_read_varint(from);
	bool listed = n <= LIST_MAX;
	uint64_t lower = 0;
	int rc = CHI_OK;
	for (uint64_t w = 0; rc == CHI_OK && !listed && w < PAGE_WORDS; w++) {
		rc = add_word(numbers, page * PAGE_WORDS + w, chi_read_le(from, 8));
	}
	for (uint64_t i = 0; rc == CHI_OK && listed && i < n; i++, lower++) {
		uint64_t ahead = chi_read_varint(from);
		lower += ahead;
		rc = from->bad || ahead >= PAGE_NUMBERS || lower >= PAGE_NUMBERS
			     ? -CHI_ECORRUPT
			     : chi_numbers_add(numbers, (uint32_t)(page * PAGE_NUMBERS + lower));
	}
	bool whole = !from->bad && n > 0 && numbers->count - before == n;
	return rc == CHI_OK && !whole ? -CHI_ECORRUPT : rc;
}

int chi_numbers_read(const uint8_t *bytes, size_t len, uint32_t last, struct chi_numbers **out)
{
	struct chi_reader from = chi_reader_of(bytes, len);
	struct chi_numbers *numbers;
	uint64_t page = 0;
	uint32_t above;
	int rc = chi_numbers_new(&numbers);
	for (; rc == CHI_OK && chi_reader_left(&from) > 0; page++) {
		uint64_t gap = chi_read_varint(&from);
		page += gap;
		rc = gap > last || page > last / PAGE_NUMBERS ? -CHI_ECORRUPT
							      : read_page(&from, numbers, page);
	}
	if (rc == CHI_OK && last < UINT32_MAX && chi_numbers_next(numbers, last + 1, &above)) {
		rc = -CHI_ECORRUPT;
	}
	if (rc < 0) {
		chi_numbers_free(numbers);
		return rc;
	}
	*out = numbers;
	return CHI_OK;
}
