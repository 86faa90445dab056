/* SPDX-License-Identifier: MIT */
/* Positions, each once and with a number: 0 for the first, 1 for the next. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct keyset {
	struct chi_key *keys; /* by number */
	size_t n;
	size_t room;
	uint32_t *slots; /* numbers and one, by hash; 0: free */
	size_t n_slots;	 /* a power of two, or 0 */
};

void keyset_init(struct keyset *set);
void keyset_deinit(struct keyset *set);

/* The position's number; *added (may be NULL): it was not there yet. -CHI_ENOMEM. */
CHI_MUSTUSE int keyset_add(struct keyset *set, const struct chi_key *key, uint32_t *number,
			   bool *added);

/* Whether it is there, and then its number. */
bool keyset_find(const struct keyset *set, const struct chi_key *key, uint32_t *number);
