/* SPDX-License-Identifier: MIT */
/*
 * What marks a write, so that it happens at most once however often it is sent: who wrote it, and
 * the number that it has among the writer's. Both the protocol and the store carry it
 * (store/FORMAT.md, "Clients tree").
 */
#pragma once

#include <stdint.h>

#define CHI_IDEMPOTENCY_CLIENT 16 /* bytes of an identity */
#define CHI_IDEMPOTENCY_STORE  16 /* bytes of a store's UUID */

struct chi_idempotency_key {
	uint8_t client[CHI_IDEMPOTENCY_CLIENT]; /* random bytes */
	uint64_t since;	   /* a sequence number that the store had before the client first wrote
			      under these bytes */
	uint64_t sequence; /* of the write, 1 or more, ascending; 0: the write is not marked */
	uint8_t store[CHI_IDEMPOTENCY_STORE]; /* UUID of the one store that it is for; all 0:
						 whichever */
	uint64_t unanswered; /* the client will not send again what has a lower number than this;
				1..sequence */
	uint32_t peer;	     /* not sent: whose share of what is remembered it takes, as the server
				knows its users; 0 in-process */
};
