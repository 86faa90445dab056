/* SPDX-License-Identifier: MIT */
/*
 * Work for an answer that cannot be done by halves: a thread does it on a snapshot of its own, and
 * when it has ended a run sends what it found.
 *
 *          thread ends                all is sent
 *   waiting ---------> run on its way ---------> freed
 *      | client gone, Cancel: freed when the thread ends
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "daemon/net/mailbox.h"
#include "daemon/net/net.h"

struct chi_aside;
struct chi_read;
struct chi_run;
struct chi_task;

struct chi_aside_ops {
	/* By the thread; ends soon with any status once aside->stop is set. */
	int (*work)(struct chi_aside *aside, struct chi_read *read);
	/* After a `work` that ended with CHI_OK: starts the run, which frees it. Negative: it is
	 * not started. */
	int (*send)(struct chi_aside *aside, const struct chi_task *task, uint32_t credits,
		    struct chi_run **run);
	void (*free)(struct chi_aside *aside);
};

/* At the beginning of each kind's own struct, zeroed. */
struct chi_aside {
	struct chi_call call; /* while the thread runs; conn NULL: no one waits for it */
	struct chi_mail mail; /* posted by the thread as its last act */
	const struct chi_aside_ops *ops;
	struct chi_worker *worker;
	struct chi_served *served;
	pthread_t thread;
	atomic_bool stop;
	int status;
	struct chi_fault fault; /* of `work` */
};

/* Takes it, and frees it on failure too. `window` as the request has it. -CHI_EBUSY: as many as may
 * be are on their way. */
CHI_MUSTUSE int chi_aside_start(struct chi_aside *aside, const struct chi_aside_ops *ops,
				struct chi_task *task, uint32_t window);
