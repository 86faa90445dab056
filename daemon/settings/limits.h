/* SPDX-License-Identifier: MIT */
/*
 * The bounds that keep one client, or many, from taking the daemon's memory or threads. Those an
 * operator may set are fields here, with their option's name in chistored(8); the others are
 * constants below or, where the protocol promises them, in proto/msg.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/msg.h"

#define CHI_STORES_MAX	64
#define CHI_THREADS_MAX 256
#define CHI_SPIN_MAX	1000000 /* us */

/* Requests served for one client before the others have their turn. */
#define CHI_FRAMES_PER_WAKEUP 32

/* Handshakes that a worker goes on with before it serves those who have done theirs: each takes as
 * long as hundreds of probes. */
#define CHI_SHAKES_A_TURN 8

/* Answers that are sent although more of the same client are about to follow. */
#define CHI_SEND_BYTES ((size_t)8 << 10)

/* What a read asks the kernel for, and the size of the buffers a worker lends to its clients. */
#define CHI_READ_CHUNK ((size_t)64 << 10)

/* A scan looks at so many entries between two looks at the clock, and at so many in a slice. Of all
 * runs that can go on those that fit into so many microseconds have a slice each, then other
 * requests have their turn. */
#define CHI_HELPING_STEPS  500
#define CHI_SLICE_HELPINGS 40
#define CHI_SLICE_STEPS	   (CHI_SLICE_HELPINGS * CHI_HELPING_STEPS)
#define CHI_SLICE_US	   1000

/* A response of a scan is sent when it has waited so long for more rows. */
#define CHI_PAGE_AGE_MS 20

/* A scan or backup sends nothing more while this much of the client's output is unread. */
#define CHI_STREAM_MARK (256u << 10)

/* One commit takes at most so many records, so that its answers do not wait for ever. */
#define CHI_GROUP_RECORDS 20000

/* Those who were just answered mostly write again at once: the next group waits for them, at most
 * this part of the time that the last commit took, and never longer than so much. */
#define CHI_CROWD_PART 8
#define CHI_CROWD_US   5000

/* ASYNC batches share a transaction that stays open for more of them: until none has come for so
 * long, or it is so old, or holds so much. */
#define CHI_OPEN_IDLE_MS 20
#define CHI_OPEN_AGE_MS	 500
#define CHI_OPEN_RECORDS 50000
#define CHI_OPEN_BYTES	 ((size_t)32 << 20)

/* When so many batches in a row have been refused by the disk, each in a transaction of its own,
 * the others that they shared one with are no longer tried. */
#define CHI_AGAIN_MAX 8

/* Clients that wait at once for the next read of one disk. */
#define CHI_DISK_CHECKS_MAX 1024

/* Backups, verifications, compactions and searches for suspects, twins and insight, at once; most
 * hold a snapshot for their whole time. Any reader may ask for searches: they leave one place to
 * the administrator. */
#define CHI_TASKS_MAX	 4
#define CHI_SEARCHES_MAX (CHI_TASKS_MAX - 1)

/* Imports that may be allowed at once, and what each client may send ahead of the reading. */
#define CHI_IMPORTS_MAX	  64
#define CHI_IMPORT_CREDIT (UINT64_C(4) << 20)

/* Descriptors kept free of clients: files of the stores, pipes, the log, the spare one. */
#define CHI_RESERVED_FDS 64

/* Bytes of what waits that a client reads at least in output_ms. */
#define CHI_PROGRESS ((size_t)64 << 10)

/* How long an answer sent before closing may take to be read by a peer that is still sending. */
#define CHI_LINGER_MS 2000

/* The page of counters: connections at once, how long each may live. */
#define CHI_HTTP_CONNECTIONS 8
#define CHI_HTTP_MS	     5000

struct chi_limits {
	uint64_t connections;	/* clients at once */
	uint64_t handshakes;	/* of them, over TLS without a hello so far */
	uint64_t in_flight;	/* unanswered requests of a connection */
	uint64_t request_bytes; /* body of a request's frame */
	uint64_t frame_ms;	/* a begun frame must be whole by then */
	uint64_t output_pause;	/* unread bytes above which a client is not read */
	uint64_t output_close;	/* unread bytes above which it is cut off */
	uint64_t output_ms;	/* it must read all or CHI_PROGRESS by then, or is cut off */
	uint64_t buffer_bytes;	/* all buffers together; above it requests are refused */
	uint64_t queue_bytes;	/* write queue of a store */
	uint64_t queue_records; /* the same in positions */
	uint64_t query_ms;	/* of work for a query; 0: no end */
	uint64_t snapshot_ms;	/* longest life of a scan's read transaction */
	uint64_t imports;	/* running at once, of all stores */
	uint64_t import_memory; /* of each, for sorting */
	uint64_t import_ms;	/* without data, after which one is given up */
	uint64_t crashes;	/* after which a store is served read-only; 0: never */
	uint64_t crash_ms;	/* they count if the last one is younger */
	uint64_t disk_ms;	/* for a read of the disk; 0: any time */
	uint64_t stop_ms;	/* for clients to read their last answers at the end */
};
