/* SPDX-License-Identifier: MIT */
/* Names of openings: a binary search, twelve comparisons. */
#include "chess/openings/openings.h"

#include <string.h>

#include "chess/key.h"
#include "chess/openings/openings_priv.h"

int chi_opening_find(const struct chi_key *key, const char **eco, const char **name)
{
	size_t low = 0;
	size_t high = chi_openings_count;
	*eco = NULL;
	*name = NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct chi_opening *opening = &chi_openings[middle];
		/* Bytes after the key are zero in both, so that all of them can be compared. */
		int order = memcmp(key->bytes, opening->key, CHI_KEY_MAX);
		if (order == 0) {
			*eco = opening->eco;
			*name = chi_opening_names + opening->name;
			return CHI_OK;
		}
		if (order < 0) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return CHI_NONE;
}

static bool may_have_name(const struct chi_position *position)
{
	uint64_t bits;
	size_t word = chi_opening_bits(chi_position_occupied(position), &bits);
	return (chi_opening_filter[word] & bits) == bits;
}

int chi_opening_of_game(const struct chi_position *positions, size_t n, const char **eco,
			const char **name)
{
	struct chi_key key;
	*eco = NULL;
	*name = NULL;
	while (n-- > 0) {
		if (may_have_name(&positions[n])) {
			chi_key_encode(&positions[n], &key);
			if (chi_opening_find(&key, eco, name) == CHI_OK) {
				return CHI_OK;
			}
		}
	}
	return CHI_NONE;
}
