/* SPDX-License-Identifier: MIT */
/* CRoaring, as far as it is needed. */
#include "search/filter/numbers.h"

#include <roaring/roaring.h>
#include <stdlib.h>
#include <string.h>

struct chi_numbers {
	roaring_bitmap_t *bitmap;
};

static int wrap(roaring_bitmap_t *bitmap, int rc, struct chi_numbers **out)
{
	struct chi_numbers *numbers = malloc(sizeof(*numbers));
	if (bitmap == NULL || numbers == NULL) {
		if (bitmap != NULL) {
			roaring_bitmap_free(bitmap);
		}
		free(numbers);
		return bitmap == NULL ? rc : -CHI_ENOMEM;
	}
	numbers->bitmap = bitmap;
	*out = numbers;
	return CHI_OK;
}

int chi_numbers_new(struct chi_numbers **out)
{
	return wrap(roaring_bitmap_create(), -CHI_ENOMEM, out);
}

void chi_numbers_free(struct chi_numbers *numbers)
{
	if (numbers != NULL) {
		roaring_bitmap_free(numbers->bitmap);
		free(numbers);
	}
}

void chi_numbers_add(struct chi_numbers *numbers, uint32_t number)
{
	roaring_bitmap_add(numbers->bitmap, number);
}

void chi_numbers_add_hits(struct chi_numbers *numbers, uint32_t first, const struct chi_hits *hits)
{
	uint32_t some[CHI_COLUMNS_ROWS];
	size_t n = 0;
	for (uint32_t w = 0; w < CHI_HIT_WORDS; w++) {
		for (uint64_t left = hits->words[w]; left != 0; left &= left - 1) {
			some[n++] = first + 64 * w + (uint32_t)__builtin_ctzll(left);
		}
	}
	roaring_bitmap_add_many(numbers->bitmap, n, some);
}

bool chi_numbers_has(const struct chi_numbers *numbers, uint32_t number)
{
	return roaring_bitmap_contains(numbers->bitmap, number);
}

uint64_t chi_numbers_count(const struct chi_numbers *numbers)
{
	return roaring_bitmap_get_cardinality(numbers->bitmap);
}

bool chi_numbers_next(const struct chi_numbers *numbers, uint32_t from, uint32_t *out)
{
	roaring_uint32_iterator_t at;
	roaring_init_iterator(numbers->bitmap, &at);
	if (!roaring_move_uint32_iterator_equalorlarger(&at, from)) {
		return false;
	}
	*out = at.current_value;
	return true;
}

void chi_numbers_hits(const struct chi_numbers *numbers, uint32_t first, uint32_t n,
		      struct chi_hits *hits)
{
	roaring_uint32_iterator_t at;
	memset(hits, 0, sizeof(*hits));
	roaring_init_iterator(numbers->bitmap, &at);
	bool more = roaring_move_uint32_iterator_equalorlarger(&at, first);
	while (more && at.current_value - first < n) {
		uint32_t row = at.current_value - first;
		hits->words[row / 64] |= UINT64_C(1) << (row % 64);
		more = roaring_advance_uint32_iterator(&at);
	}
}

size_t chi_numbers_size(const struct chi_numbers *numbers)
{
	return roaring_bitmap_portable_size_in_bytes(numbers->bitmap);
}

void chi_numbers_write(struct chi_numbers *numbers, uint8_t *out)
{
	(void)roaring_bitmap_portable_serialize(numbers->bitmap, (char *)out);
}

int chi_numbers_read(const uint8_t *bytes, size_t len, struct chi_numbers **out)
{
	const char *text = (const char *)bytes;
	if (roaring_bitmap_portable_deserialize_size(text, len) != len) {
		return -CHI_ECORRUPT;
	}
	return wrap(roaring_bitmap_portable_deserialize_safe(text, len), -CHI_ECORRUPT, out);
}
