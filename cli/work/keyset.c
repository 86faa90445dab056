/* SPDX-License-Identifier: MIT */
/* A list, and a table of hashes with open addressing, at most two thirds full. */
#include "cli/work/keyset.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/buffer.h"

#define ROOM_FIRST 256

void keyset_init(struct keyset *set)
{
	*set = (struct keyset){.n = 0};
}

void keyset_deinit(struct keyset *set)
{
	free(set->keys);
	free(set->slots);
	keyset_init(set);
}

/* Where the position is, or the free slot where it belongs. */
static size_t find_slot(const struct keyset *set, const struct chi_key *key)
{
	size_t at = XXH3_64bits(key->bytes, key->len) & (set->n_slots - 1);
	while (set->slots[at] != 0) {
		const struct chi_key *other = &set->keys[set->slots[at] - 1];
		if (other->len == key->len && memcmp(other->bytes, key->bytes, key->len) == 0) {
			break;
		}
		at = (at + 1) & (set->n_slots - 1);
	}
	return at;
}

static int grow_slots(struct keyset *set)
{
	size_t n_slots = set->n_slots > 0 ? 2 * set->n_slots : 2 * ROOM_FIRST;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));
	if (slots == NULL) {
		return -CHI_ENOMEM;
	}
	free(set->slots);
	set->slots = slots;
	set->n_slots = n_slots;
	for (size_t i = 0; i < set->n; i++) {
		set->slots[find_slot(set, &set->keys[i])] = (uint32_t)i + 1;
	}
	return CHI_OK;
}

int keyset_add(struct keyset *set, const struct chi_key *key, uint32_t *number, bool *added)
{
	if (set->n == UINT32_MAX - 1 ||
	    chi_grow(&set->keys, &set->room, set->n + (size_t)1, sizeof(*set->keys)) < 0 ||
	    (3 * (set->n + 1) > 2 * set->n_slots && grow_slots(set) != CHI_OK)) {
		return -CHI_ENOMEM;
	}
	size_t at = find_slot(set, key);
	bool fresh = set->slots[at] == 0;
	if (fresh) {
		set->keys[set->n] = *key;
		set->slots[at] = (uint32_t)++set->n;
	}
	*number = set->slots[at] - 1;
	if (added != NULL) {
		*added = fresh;
	}
	return CHI_OK;
}

bool keyset_find(const struct keyset *set, const struct chi_key *key, uint32_t *number)
{
	size_t at = set->n_slots > 0 ? find_slot(set, key) : 0;
	bool found = set->n_slots > 0 && set->slots[at] != 0;
	*number = found ? set->slots[at] - 1 : 0;
	return found;
}
