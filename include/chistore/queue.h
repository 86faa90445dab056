/* SPDX-License-Identifier: MIT */
/*
 * The queue of positions to be analysed. Clients add positions; analysers on any number of machines
 * lease some at a time: a position that is not finished when its lease ends, for instance because
 * the analyser was killed, waits again for another analyser.
 *
 * Over a socket changes happen at most once, like other writes. Times are of the clock of the
 * process that writes the store: the server, or this one. The rules of chistore.h apply.
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

#define CHI_QUEUE_MAX	     1000000		 /* positions of a queue */
#define CHI_QUEUE_BATCH_MAX  4096		 /* positions of one call */
#define CHI_QUEUE_HOLDER_MAX 64			 /* bytes of a holder's name, 1 or more */
#define CHI_QUEUE_TRIES	     5			 /* leases of a position before it has failed */
#define CHI_QUEUE_LEASE_MAX  UINT32_C(604800000) /* milliseconds of a lease: a week */

enum chi_queue_state {
	CHI_QUEUE_WAITING = 1,
	CHI_QUEUE_LEASED = 2,
	CHI_QUEUE_FAILED = 3, /* not leased until it is added again */
};

struct chi_queue_row {
	struct chi_key key;
	uint8_t state;	   /* enum chi_queue_state */
	bool claimed;	   /* was not in the queue when leased: leaves when its lease ends */
	uint32_t priority; /* the highest is leased first, on a tie the first to arrive */
	uint32_t tries;	   /* leases so far */
	uint64_t asked;	   /* when it was first added; milliseconds since 1970-01-01 UTC */
	uint64_t number;   /* ascending in order of arrival */
	uint64_t lease;	   /* 0 unless it is leased; so are the next two */
	uint64_t expires;  /* as `asked`. After that, and if it is later than CHI_QUEUE_LEASE_MAX
			      from now, it stays leased until the next chi_queue_take */
	const char *holder;
};

struct chi_queue_counts {
	uint64_t waiting;
	uint64_t leased;
	uint64_t failed;
};

struct chi_queue_added {
	uint64_t added;
	uint64_t raised;  /* were queued: their priority became one more, or the given one if that
			     is higher; failed ones are waiting again */
	uint64_t refused; /* the queue is full */
};

/* Adds `n` positions, at most CHI_QUEUE_BATCH_MAX, durable when it returns; `result` may be NULL.
 * -CHI_EKEY, -CHI_ETOOBIG, -CHI_EREADONLY, -CHI_EBUSY, -CHI_EFULL, as all changes here. */
CHI_MUSTUSE int chi_queue_add(struct chi_client *client, const struct chi_key *keys, size_t n,
			      uint32_t priority, struct chi_queue_added *result);

struct chi_queue_take_spec {
	size_t size;
	const char *holder; /* name of the analyser, for lists: UTF-8, no control characters */
	uint32_t lease_ms;  /* 1..CHI_QUEUE_LEASE_MAX */
	uint32_t limit;	    /* positions, 1..CHI_QUEUE_BATCH_MAX; ignored with `keys` */
	/* Not NULL: leases those of these positions, queued or not, that are neither leased nor
	 * failed. So analysers with the same list share it. */
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

/* Leases positions, after ending expired leases. CHI_OK also if there were none. -CHI_EINVAL (a
 * member of `spec`). */
CHI_MUSTUSE int chi_queue_take(struct chi_client *client, const struct chi_queue_take_spec *spec,
			       struct chi_queue_lease *out);

enum chi_queue_action {
	CHI_QUEUE_DONE = 1,    /* analysed: it leaves the queue */
	CHI_QUEUE_RELEASE = 2, /* not tried: it waits again, and this was no try */
	CHI_QUEUE_FAIL = 3,    /* the attempt failed: it waits again; after CHI_QUEUE_TRIES it
				  has failed, one that was claimed immediately */
	CHI_QUEUE_EXTEND = 4,  /* the lease ends `lease_ms` from now */
	CHI_QUEUE_DROP = 5,    /* it leaves the queue, leased or not */
};

/* Applies the action to positions under the lease; *done (may be NULL): how many
 * still were. Others are unchanged. DROP ignores leases; without keys (NULL, 0) it
 * removes all positions, in many transactions. -CHI_EINVAL, -CHI_EKEY,
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

/* The positions in that state in the order of being leased, end of lease or arrival; at most
 * `limit` (0..CHI_QUEUE_BATCH_MAX), after the row `after` of an earlier list (NULL: from the
 * first), which may be gone. */
CHI_MUSTUSE int chi_queue_list(struct chi_client *client, enum chi_queue_state state,
			       const struct chi_queue_row *after, uint32_t limit,
			       struct chi_queue_page *out);

/* "waiting", "leased", "failed"; NULL for another number. */
const char *chi_queue_state_name(int state);

#ifdef __cplusplus
}
#endif
