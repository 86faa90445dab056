/* SPDX-License-Identifier: MIT */
/*
 * Work for an answer that cannot be done by halves: a thread does it on a snapshot of its own, and
 * when it has ended a run sends what it found, in pages.
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
struct chi_run_ops;
struct chi_task;

struct chi_aside_ops {
	/* By the thread; ends soon with any status once aside->stop is set. */
	int (*work)(struct chi_aside *aside, struct chi_read *read);

	/* After a `work` that ended with CHI_OK: the run that sends what was found, which takes it
	 * over. NULL: no memory. */
	struct chi_run *(*make_run)(struct chi_aside *aside);
	const struct chi_run_ops *run_ops;

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
	size_t held; /* bytes of the thread's that count among the server's buffers */
	int status;
	struct chi_fault fault; /* of `work` */
};

/* By the thread, whenever that has changed: it holds so many bytes. -CHI_EBUSY: they are more than
 * before, and the server's buffers are full. */
CHI_MUSTUSE int chi_aside_hold(struct chi_aside *aside, size_t bytes);

/* Takes it, and frees it on failure too. `window` as the request has it. -CHI_EBUSY: as many as may
 * be are on their way. */
CHI_MUSTUSE int chi_aside_start(struct chi_aside *aside, const struct chi_aside_ops *ops,
				struct chi_task *task, uint32_t window);
