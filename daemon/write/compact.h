/* SPDX-License-Identifier: MIT */
/* Compaction under clients: verified first, then copied beside the workers, then exchanged while
 * they stand still. All by the store's writer, without an open transaction. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "chistore/types.h"

struct chi_job;
struct chi_store_writer;

/* The verification, by a thread of its own. */
struct chi_compact_check {
	bool running; /* the thread is still to be joined */
	atomic_bool stop;
	pthread_t thread;
	int status; /* its verdict */
	struct chi_fault fault;
};

/* Puts a compaction aside, which is the writer's, until the store has been verified;
 * writer->checked, under the lock, tells when. Ended at once if that cannot be begun. */
void chi_compact_park(struct chi_store_writer *writer, struct chi_job *job);

/* There is a verdict: those that were put aside are done and answered, or refused. */
void chi_compact_unpark(struct chi_store_writer *writer);

/* The server stops, which is not to wait for a verification. Harmless if nothing was put aside. */
void chi_compact_give_up(struct chi_store_writer *writer);
