/* SPDX-License-Identifier: MIT */
/*
 * The queue of positions to be analysed (chistore/queue.h) in a snapshot and in a write
 * transaction. Arguments that came from outside are checked by the first three functions; keys are
 * sound, and times are milliseconds since 1970 of the caller's clock.
 */
#pragma once

#include "base/arena.h"
#include "chistore/queue.h"
#include "store/store.h"

/* -CHI_EINVAL, -CHI_ETOOBIG. */
CHI_MUSTUSE int chi_queue_batch_check(size_t n, struct chi_fault *fault);
CHI_MUSTUSE int chi_queue_take_check(const struct chi_queue_take_spec *take,
				     struct chi_fault *fault);
/* `action` is an enum chi_queue_action, which as a number may be another. */
CHI_MUSTUSE int chi_queue_settle_check(unsigned action, size_t n, uint32_t lease_ms,
				       struct chi_fault *fault);

/* Now, of the system's clock. */
uint64_t chi_queue_clock(void);

/* As the calls of chistore/queue.h. All failures stick: -CHI_ECORRUPT, -CHI_ENOMEM, -CHI_EIO, ...
 */
CHI_MUSTUSE int chi_write_queue_add(struct chi_write *write, const struct chi_key *keys, size_t n,
				    uint32_t priority, uint64_t now,
				    struct chi_queue_added *result);
CHI_MUSTUSE int chi_write_queue_take(struct chi_write *write,
				     const struct chi_queue_take_spec *take, uint64_t now,
				     struct chi_arena *arena, struct chi_queue_lease *out);
CHI_MUSTUSE int chi_write_queue_settle(struct chi_write *write, uint64_t lease,
				       enum chi_queue_action action, const struct chi_key *keys,
				       size_t n, uint64_t until, uint64_t *done);

/* Of these; with keys NULL of the first CHI_QUEUE_BATCH_MAX that there are. */
CHI_MUSTUSE int chi_write_queue_drop(struct chi_write *write, const struct chi_key *keys, size_t n,
				     uint64_t *dropped);

/* What is held under a lease that ends then, for an answer that is to be given again. */
CHI_MUSTUSE int chi_write_queue_held(struct chi_write *write, uint64_t lease, uint64_t expires,
				     struct chi_arena *arena, struct chi_queue_lease *out);

/* Rows in memory of `arena`. Of `after` state, numbers, priority and key are looked at. */
CHI_MUSTUSE int chi_read_queue(struct chi_read *read, enum chi_queue_state state,
			       const struct chi_queue_row *after, uint32_t limit,
			       struct chi_arena *arena, struct chi_queue_page *out);
