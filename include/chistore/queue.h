/* SPDX-License-Identifier: MIT */
/*
 * The queue of positions that someone wants analysed. Clients add positions; analysers on
 * any number of machines take some at a time, each for a limited time, its lease: what is not
 * finished by then, as the analyser was killed, comes back and is given to another.
 *
 * Over a socket changes happen at most once, as other writes do. Times are of the clock of who
 * writes the store: the server, or this process. The calls are used as the header chistore.h says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chi_client;

#define CHI_QUEUE_MAX	     1000000 /* positions of a queue */
#define CHI_QUEUE_BATCH_MAX  4096    /* positions of one call */
#define CHI_QUEUE_HOLDER_MAX 64	     /* bytes of a holder's name, 1 or more */
#define CHI_QUEUE_TRIES	     5	     /* leases that a position gets before it is given up */
#define CHI_QUEUE_LEASE_MAX  UINT32_C(604800000) /* milliseconds of a lease: a week */

enum chi_queue_state {
	CHI_QUEUE_WAITING = 1,
	CHI_QUEUE_LEASED = 2,
	CHI_QUEUE_FAILED = 3, /* given up: it is not given to anyone until it is added again */
};

struct chi_queue_row {
	struct chi_key key;
	uint8_t state;	   /* enum chi_queue_state */
	bool claimed;	   /* was not in the queue when it was taken: goes when its lease ends */
	uint32_t priority; /* the highest is taken first, of equal ones the one that came first */
	uint32_t tries;	   /* leases that it has had */
	uint64_t asked;	   /* when it was first added; milliseconds since 1970-01-01 UTC */
	uint64_t number;   /* ascending in order of arrival */
	uint64_t lease;	   /* 0 unless it is leased; so are the next two */
	uint64_t expires;  /* as `asked`. After that, and if it is later than CHI_QUEUE_LEASE_MAX
			      from now, it is leased until someone takes positions */
	const char *holder;
};

struct chi_queue_counts {
	uint64_t waiting;
	uint64_t leased;
	uint64_t failed;
};

struct chi_queue_added {
	uint64_t added;
	uint64_t raised;  /* were there: their priority became one more, or the one given if that
			     is higher; those given up are waiting again */
	uint64_t refused; /* the queue is full */
};

/* Adds `n` positions, at most CHI_QUEUE_BATCH_MAX, durable when it returns; `result` may be NULL.
 * -CHI_EKEY, -CHI_ETOOBIG, -CHI_EREADONLY, -CHI_EBUSY, -CHI_EFULL, as all changes here. */
CHI_MUSTUSE int chi_queue_add(struct chi_client *client, const struct chi_key *keys, size_t n,
			      uint32_t priority, struct chi_queue_added *result);

struct chi_queue_take_spec {
	size_t size;
	const char *holder; /* who takes them, for lists: UTF-8, no control characters */
	uint32_t lease_ms;  /* 1..CHI_QUEUE_LEASE_MAX */
	uint32_t limit;	    /* positions, 1..CHI_QUEUE_BATCH_MAX; with `keys` it is not looked at */
	/* Not NULL: takes those of these positions, whether they are queued or not, that no one
	 * holds or has given up. So analysers with the same list share it. */
	const struct chi_key *keys;
	size_t n_keys;
};
#define CHI_QUEUE_TAKE_SPEC_INIT .size = sizeof(struct chi_queue_take_spec)

struct chi_queue_lease {
	uint64_t lease;	  /* 0: there was nothing to take */
	uint64_t expires; /* milliseconds since 1970-01-01 UTC */
	const struct chi_queue_row *rows;
	size_t n;
};

/* Takes positions; gives back first what has expired. CHI_OK also if there were none.
 * -CHI_EINVAL (a member of `spec`). */
CHI_MUSTUSE int chi_queue_take(struct chi_client *client, const struct chi_queue_take_spec *spec,
			       struct chi_queue_lease *out);

enum chi_queue_action {
	CHI_QUEUE_DONE = 1,    /* analysed: it leaves the queue */
	CHI_QUEUE_RELEASE = 2, /* not tried: it waits again, and this was no try */
	CHI_QUEUE_FAIL = 3,    /* tried in vain: it waits again, or is given up after
				  CHI_QUEUE_TRIES; one that was not in the queue at once */
	CHI_QUEUE_EXTEND = 4,  /* the lease ends `lease_ms` from now */
	CHI_QUEUE_DROP = 5,    /* it leaves the queue, held by anyone or not */
};

/* Does that to positions that are held under the lease; *done (may be NULL): how many of them
 * still were. Others are left alone. DROP looks at no lease; without
 * keys (NULL, 0) it takes out all there are, in many transactions. -CHI_EINVAL, -CHI_EKEY,
 * -CHI_ETOOBIG. */
CHI_MUSTUSE int chi_queue_settle(struct chi_client *client, uint64_t lease,
				 enum chi_queue_action action, const struct chi_key *keys, size_t n,
				 uint32_t lease_ms, uint64_t *done);

struct chi_queue_page {
	const struct chi_queue_row *rows;
	size_t n;
	bool more; /* there are others after the last */
	struct chi_queue_counts counts;
};

/* The positions in that state in the order in which they are taken, come back or arrived; at
 * most `limit` (0..CHI_QUEUE_BATCH_MAX), after the row `after` of an earlier list (NULL: from the
 * first), which need not be there any more. */
CHI_MUSTUSE int chi_queue_list(struct chi_client *client, enum chi_queue_state state,
			       const struct chi_queue_row *after, uint32_t limit,
			       struct chi_queue_page *out);

/* "waiting", "leased", "failed"; NULL for another number. */
const char *chi_queue_state_name(int state);

#ifdef __cplusplus
}
#endif
