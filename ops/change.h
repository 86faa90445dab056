/* SPDX-License-Identifier: MIT */
/*
 * Operations that change a store. What one does is its struct chi_change_ops (put.c, queue.c,
 * names.c, gamesets.c); the transaction is a driver's: a server's writer has one for many of them
 * (daemon/write/job.c), a call in this process one for each (client/local/query.c).
 *
 *    check -> [open -> step ... step] -> write -> close
 *
 * That one with a mark is done at most once is the driver's part, too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "ops/answer.h"
#include "proto/types.h"

struct chi_write;

/* What takes long to find is made on a snapshot, ask->read, before the transaction. */
struct chi_making {
	/* Begins; ask->made is to be closed, also after a failure if it is not NULL. */
	int (*open)(struct chi_ask *ask, const void *request);
	int (*step)(void *made, uint64_t steps); /* CHI_OK: call again; CHI_NONE: it is made */
	void (*close)(void *made);
};

struct chi_change_ops {
	/* Under a mark it is remembered as this, with the counts, all uint64_t, that its result
	 * begins with. */
	enum chi_idempotency_kind kind;
	size_t n_counts;

	/* Looks at the request without a store, and completes it. NULL: there is nothing to see. */
	int (*check)(struct chi_ask *ask, void *request);
	/* Of all that wait to be written: positions, or what takes as long. NULL: as one. */
	size_t (*records)(const void *request);
	/* NULL: CHI_SYNC. One that may be CHI_ASYNC has a result without pointers. */
	enum chi_durability (*durability)(const void *request);
	/* Nothing of it is to stay. NULL: it is never so. */
	bool (*is_trial)(const void *request);
	const struct chi_making *making; /* or NULL */
	/* In the transaction; `result` is zeroed. After a failure a part of it may be done. */
	int (*write)(struct chi_ask *ask, struct chi_write *write, const void *request,
		     void *result);
	/* It was done before: the result has its counts. NULL: there is nothing else in it. */
	int (*recall)(struct chi_ask *ask, struct chi_write *write, void *result);
};

extern const struct chi_change_ops chi_put_ops, chi_delete_ops;		  /* put.c */
extern const struct chi_change_ops chi_rescore_ops;			  /* put.c */
extern const struct chi_change_ops chi_queue_add_ops, chi_queue_take_ops; /* queue.c */
extern const struct chi_change_ops chi_queue_settle_ops;		  /* queue.c */
extern const struct chi_change_ops chi_change_names_ops;		  /* names.c */
extern const struct chi_change_ops chi_make_gameset_ops;		  /* gamesets.c */
extern const struct chi_change_ops chi_drop_gameset_ops;		  /* gamesets.c */

CHI_MUSTUSE int chi_change_check(const struct chi_change_ops *ops, struct chi_ask *ask,
				 void *request);
bool chi_change_is_trial(const struct chi_change_ops *ops, const void *request);

/* Why it failed, before its transaction ends, in the most telling words there are. Returns
 * `status`.
 */
int chi_change_explain(const struct chi_write *write, int status, struct chi_fault *fault);
