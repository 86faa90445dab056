/* SPDX-License-Identifier: MIT */
/* Names of openings: a binary search, twelve comparisons. */
#include "chess/openings/openings.h"

#include <string.h>

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
