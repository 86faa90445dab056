/* SPDX-License-Identifier: MIT */
/*
 * Sets of numbers in the portable format of Roaring bitmaps, all integers little-endian:
 *
 *	cookie (4)  [number of containers (4)]  [which are runs, a bit each]
 *	{ upper 16 bits (2)  numbers - 1 (2) } ...   [offset of each container (4) ...]  containers
 *
 * A container has the numbers with the same upper 16 bits: up to 4,096 as a list of their lower
 * halves, more as 65,536 bits, or as runs { first (2)  numbers after it (2) }. Runs are read and
 * never written. Without runs the cookie is 12,346 and the number follows; with them the cookie's
 * lower half is 12,347, its upper half the number minus 1, and offsets are left out below four
 * containers.
 */
#include <stdlib.h>

#include "base/wire.h"
#include "search/filter/numbers_priv.h"

#define COOKIE		12346
#define COOKIE_RUNS	12347
#define OFFSETS_FROM	4    /* containers, where there are runs */
#define LIST_MAX	4096 /* numbers of a container that is a list */
#define CONTAINER_WORDS 1024
#define CONTAINERS_MAX	65536

/* ---- Writing ------------------------------------------------------------------------------ */

static size_t containers_of(const struct chi_numbers *numbers)
{
	return (numbers->n_pages * CHI_NUMBERS_WORDS + CONTAINER_WORDS - 1) / CONTAINER_WORDS;
}

/* Numbers in a container. */
static size_t count_in(const struct chi_numbers *numbers, size_t i)
{
	size_t n = 0;
	for (size_t w = 0; w < CONTAINER_WORDS; w++) {
		n += (unsigned)__builtin_popcountll(
			chi_numbers_word(numbers, i * CONTAINER_WORDS + w));
	}
	return n;
}

static size_t bytes_of(size_t n)
{
	return n <= LIST_MAX ? 2 * n : CONTAINER_WORDS * sizeof(uint64_t);
}

size_t chi_numbers_size(const struct chi_numbers *numbers)
{
	size_t bytes = 8;
	for (size_t i = 0; i < containers_of(numbers); i++) {
		size_t n = count_in(numbers, i);
		bytes += n > 0 ? 8 + bytes_of(n) : 0;
	}
	return bytes;
}

static void write_container(const struct chi_numbers *numbers, size_t i, struct chi_writer *to)
{
	bool listed = count_in(numbers, i) <= LIST_MAX;
	for (size_t w = 0; w < CONTAINER_WORDS; w++) {
		uint64_t bits = chi_numbers_word(numbers, i * CONTAINER_WORDS + w);
		if (!listed) {
			chi_write_le(to, bits, 8);
		}
		for (; listed && bits != 0; bits &= bits - 1) {
			chi_write_le(to, 64 * w + (unsigned)__builtin_ctzll(bits), 2);
		}
	}
}

void chi_numbers_write(const struct chi_numbers *numbers, uint8_t *out, size_t len)
{
	struct chi_writer to = chi_writer_of(out, len);
	size_t most = containers_of(numbers);
	size_t n = 0;
	for (size_t i = 0; i < most; i++) {
		n += count_in(numbers, i) > 0;
	}
	chi_write_le(&to, COOKIE, 4);
	chi_write_le(&to, n, 4);
	for (size_t i = 0; i < most; i++) {
		size_t some = count_in(numbers, i);
		if (some > 0) {
			chi_write_le(&to, i, 2);
			chi_write_le(&to, some - 1, 2);
		}
	}
	size_t offset = 8 + 8 * n;
	for (size_t i = 0; i < most; i++) {
		size_t some = count_in(numbers, i);
		if (some > 0) {
			chi_write_le(&to, offset, 4);
			offset += bytes_of(some);
		}
	}
	for (size_t i = 0; i < most; i++) {
		write_container(numbers, i, &to);
	}
}

/* ---- Reading ------------------------------------------------------------------------------ */

struct source {
	struct chi_reader from;
	struct chi_numbers *numbers;
	uint64_t n_containers;
	const uint8_t *runs; /* NULL: none */
};

/* A list: the numbers ascend. */
static int read_list(struct source *source, uint32_t upper, uint32_t n)
{
	uint32_t least = 0;
	int rc = CHI_OK;
	for (uint32_t i = 0; i < n && rc == CHI_OK; i++) {
		uint32_t lower = (uint32_t)chi_read_le(&source->from, 2);
		if (source->from.bad || lower < least) {
			return -CHI_ECORRUPT;
		}
		least = lower + 1;
		rc = chi_numbers_add(source->numbers, upper << 16 | lower);
	}
	return rc;
}

static int read_bits(struct source *source, uint32_t upper)
{
	int rc = CHI_OK;
	for (uint64_t w = 0; w < CONTAINER_WORDS && rc == CHI_OK; w++) {
		uint64_t bits = chi_read_le(&source->from, 8);
		rc = chi_numbers_add_word(source->numbers, upper * CONTAINER_WORDS + w, bits);
	}
	return rc;
}

/* Runs: they ascend, and do not overlap. */
static int read_runs(struct source *source, uint32_t upper)
{
	uint32_t n = (uint32_t)chi_read_le(&source->from, 2);
	uint32_t least = 0;
	int rc = CHI_OK;
	for (uint32_t i = 0; i < n && rc == CHI_OK; i++) {
		uint32_t lower = (uint32_t)chi_read_le(&source->from, 2);
		uint32_t end = lower + (uint32_t)chi_read_le(&source->from, 2);
		if (source->from.bad || lower < least || end > UINT16_MAX) {
			return -CHI_ECORRUPT;
		}
		for (least = end + 1; lower < least && rc == CHI_OK; lower++) {
			rc = chi_numbers_add(source->numbers, upper << 16 | lower);
		}
	}
	return rc;
}

/* The cookie, and what depends on it. */
static bool read_cookie(struct source *source)
{
	uint64_t cookie = chi_read_le(&source->from, 4);
	if ((cookie & UINT16_MAX) == COOKIE_RUNS) {
		source->n_containers = (cookie >> 16) + 1;
		source->runs = chi_read_bytes(&source->from, (source->n_containers + 7) / 8);
	} else {
		source->n_containers = chi_read_le(&source->from, 4);
		source->from.bad |= cookie != COOKIE || source->n_containers > CONTAINERS_MAX;
	}
	return !source->from.bad;
}

static bool is_runs(const struct source *source, uint64_t i)
{
	return source->runs != NULL && (source->runs[i / 8] >> (i % 8) & 1) != 0;
}

/* As the header tells: its numbers, where its bytes are, and how many numbers it has. */
static int read_container(struct source *source, uint64_t i, uint32_t upper, uint32_t n)
{
	uint64_t before = source->numbers->count;
	int rc = is_runs(source, i) ? read_runs(source, upper)
		 : n <= LIST_MAX    ? read_list(source, upper, n)
				    : read_bits(source, upper);
	bool is_whole = !source->from.bad && source->numbers->count - before == n;
	return rc == CHI_OK && !is_whole ? -CHI_ECORRUPT : rc;
}

static int read_containers(struct source *source, const uint8_t *start, uint32_t last)
{
	struct chi_reader heads = source->from;
	uint64_t n = source->n_containers;
	(void)chi_read_bytes(&source->from, 4 * n);
	struct chi_reader offsets = source->from;
	bool has_offsets = source->runs == NULL || n >= OFFSETS_FROM;
	(void)chi_read_bytes(&source->from, has_offsets ? 4 * n : 0);
	uint64_t least = 0;
	int rc = CHI_OK;
	for (uint64_t i = 0; i < n && rc == CHI_OK; i++) {
		uint32_t upper = (uint32_t)chi_read_le(&heads, 2);
		uint32_t some = (uint32_t)chi_read_le(&heads, 2) + 1;
		size_t at = source->from.bad ? 0 : (size_t)(source->from.at - start);
		if (source->from.bad || upper < least || upper > last >> 16 ||
		    (has_offsets && chi_read_le(&offsets, 4) != at)) {
			return -CHI_ECORRUPT;
		}
		least = (uint64_t)upper + 1;
		rc = read_container(source, i, upper, some);
	}
	return rc == CHI_OK && (source->from.bad || chi_reader_left(&source->from) > 0)
		       ? -CHI_ECORRUPT
		       : rc;
}

int chi_numbers_read(const uint8_t *bytes, size_t len, uint32_t last, struct chi_numbers **out)
{
	struct source source = {.from = chi_reader_of(bytes, len)};
	uint32_t above;
	int rc = chi_numbers_new(&source.numbers);
	if (rc == CHI_OK) {
		rc = read_cookie(&source) ? read_containers(&source, bytes, last) : -CHI_ECORRUPT;
	}
	if (rc == CHI_OK && last < UINT32_MAX &&
	    chi_numbers_next(source.numbers, last + 1, &above)) {
		rc = -CHI_ECORRUPT;
	}
	if (rc < 0) {
		chi_numbers_free(source.numbers);
		return rc;
	}
	*out = source.numbers;
	return CHI_OK;
}
