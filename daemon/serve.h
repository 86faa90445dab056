/* SPDX-License-Identifier: MIT */
/*
 * The whole daemon: stores, workers, listeners, and the order in which they start and stop.
 *
 * THREADS
 *  - main: listeners, signals, the reader check. Owns struct chi_server.
 *  - workers (--threads): each an event loop with its own connections, requests, and
 *    scans. Nothing of a worker is touched by another thread, except its loop's mailbox.
 *  - a writer for each writable store: applies batches, rescores, compacts.
 *  - a thread for each store that reads its disk past the page cache (write/disk.h), and, of a
 *    server that only reads, one that moves it to newer copies (write/follow.h).
 *  - a thread for each running backup, which copies the store into a pipe.
 *  - one for each running verification, which writes what it finds into a pipe, and for each store
 *    whose compaction waits for one.
 *  - a thread for each import (--imports), and those it starts, with a lower priority; at the end
 *    it commits what it has read, in its turn: the store lets one thread write at a time.
 * Threads meet only in: the guard, mailboxes (to a worker), writers' queues (to a writer), the
 * counters of struct chi_server (atomic), a gate (one thread waits for the workers), intakes (a
 * worker gives data).
 *
 * LOCKS, in the order in which they may be taken; a thread holding one takes only later ones:
 *  1. server.compact_lock  one compaction or move at a time, by writers, threads that follow
 *                          or read disks, the reader check and the stop
 *  2. gate.lock            never held while waiting for anything but its own condition
 *  3. writer.lock          the queue; of a disk's watch the same
 *  4. intake.lock          its queue, its notes, its result
 *  5. a loop's lock        its mailbox
 *  6. guard.lock           while a client is judged
 *  7. the log's own        while lines of an event are counted
 * No lock is held during a store call or a system call on a client, except compact_lock.
 *
 * STOPPING: listeners close; every worker answers the requests it has received, ends its streams
 * and says so; the writers commit what is queued and end; the workers send the last answers and
 * end; the stores close.
 */
#pragma once

#include "chistore/types.h"

struct chi_config;
struct chi_server;

/* Binds, becomes its user, opens the stores, starts the threads, listens. On failure all is
 * undone by deinit. */
CHI_MUSTUSE int chi_server_init(struct chi_server *server, const struct chi_config *config,
				struct chi_fault *fault);

/* Serves until SIGTERM or SIGINT, then stops in the order above. Fails only if it cannot begin. */
CHI_MUSTUSE int chi_server_run(struct chi_server *server, struct chi_fault *fault);

/* Harmless on a server whose init failed half-way. */
void chi_server_deinit(struct chi_server *server);
