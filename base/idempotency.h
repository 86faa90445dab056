/* SPDX-License-Identifier: MIT */
/*
 * What marks a write, so that it happens at most once however often it is sent: who wrote it, and
 * the number that it has among the writer's. Both the protocol and the store carry it
 * (store/FORMAT.md, "Clients tree").
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chistore/names.h"
#include "chistore/queue.h"
#include "chistore/types.h"

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

enum chi_idempotency_kind {
	CHI_IDEMPOTENCY_PUT = 1,
	CHI_IDEMPOTENCY_DELETE,
	CHI_IDEMPOTENCY_IMPORT,
	CHI_IDEMPOTENCY_NEVER, /* was not done, and never will be */
	CHI_IDEMPOTENCY_NAMES,
	CHI_IDEMPOTENCY_MAKE_GAMESET,
	CHI_IDEMPOTENCY_DROP_GAMESET,
	CHI_IDEMPOTENCY_QUEUE_ADD,
	CHI_IDEMPOTENCY_QUEUE_TAKE,
	CHI_IDEMPOTENCY_QUEUE_SETTLE,
	CHI_IDEMPOTENCY_KINDS /* number of kinds, plus one */
};

#define CHI_OUTCOME_COUNTS 15

/* How a write was answered, on its way from the transaction that did it to the client. */
struct chi_outcome {
	enum chi_idempotency_kind kind; /* 0: of a write that carries no mark */
	bool running; /* only in the answer to an Outcome: an import that is not done yet */
	union {
		uint64_t counts[CHI_OUTCOME_COUNTS]; /* as the store keeps them */
		struct chi_put_result put;
		uint64_t deleted;
		uint64_t changed; /* of a Rescore */
		struct chi_import_result import;
		struct chi_names_changed names;
		uint64_t games;	  /* of a gameset that was made */
		uint64_t dropped; /* gamesets: 1, or none was there */
		struct chi_queue_added queue_added;
		struct {
			uint64_t lease;
			uint64_t expires;
		} leased;
		uint64_t settled; /* positions of the queue */
		struct {
			uint64_t before; /* bytes, of a Compact */
			uint64_t after;
		};
	};
};
_Static_assert(sizeof(struct chi_import_result) == CHI_OUTCOME_COUNTS * sizeof(uint64_t),
	       "the counts of an import are all that it has");
