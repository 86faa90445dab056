/* SPDX-License-Identifier: MIT */
/*
 * Positions made up for a run of puts, which a store cannot have: each is drawn with 128 bits from
 * the operating system, so that one is as likely stored already as two random UUIDs are equal.
 * They are numbered, so that they can be named again without a list.
 */
#pragma once

#include "chistore/types.h"

#define SYNTHETIC_EVALS 16

struct synthetic {
	uint64_t salt[2];
	enum chi_statistic statistic; /* of the store */
	char note[40];		      /* what all of them carry, "chistore bench " and 16 digits */
	struct chi_eval evals[SYNTHETIC_EVALS];
};

/* -CHI_EIO: the operating system gives no random numbers. */
CHI_MUSTUSE int synthetic_init(struct synthetic *synthetic, enum chi_statistic statistic);

/* The position `number` of client `client`: 20 to 32 men or so, the side not to move not in
 * check. */
void synthetic_key(const struct synthetic *synthetic, uint32_t client, uint64_t number,
		   struct chi_key *out);

/* The same with its note, and with what its statistic is made from where the position alone does
 * not give it. Points into `invent`. */
void synthetic_put(const struct synthetic *synthetic, uint32_t client, uint64_t number,
		   struct chi_put_entry *out);
