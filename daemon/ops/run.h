/* SPDX-License-Identifier: MIT */
/*
 * Requests that take long, on their way. A worker runs them in slices of a millisecond, one slice a
 * turn of its loop, so that a probe never waits for more than that; the snapshot of one is given up
 * after a second, and it goes on with a new one. What each kind of them does is its
 * struct chi_run_ops (scan.c, query.c, ...), which begins with chi_run_start.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "daemon/net/net.h"
#include "ops/page.h"
#include "proto/msg.h"

struct chi_served_copy;
struct chi_read;
struct chi_run;
struct chi_served;
struct chi_task;

struct chi_run_ops {
	/* Rows are sent as they come; else there is one response at the end. */
	bool pages;
	bool bounded; /* only so much work is done for it (limits.query_ms) */
	/* Begins, or goes on where it was, on the snapshot run->read. */
	int (*open)(struct chi_run *run, struct chi_fault *fault);
	/* Lets go of that snapshot, and remembers where it was; also after a failed `open`. */
	void (*release)(struct chi_run *run);
	/* A helping of work, some tens of microseconds: rows into the page. CHI_OK: there is more
	 * to do; CHI_NONE: it is over. */
	int (*step)(struct chi_run *run, struct chi_fault *fault);
	/* The result of the next response; `last` is set in it. */
	void (*fill)(struct chi_run *run, struct chi_response *response);
	/* False while another snapshot would mean to begin again. NULL: it never would. */
	bool (*may_move)(const struct chi_run *run);
	/* Gives up the rows that are not sent, and finds them again later; false if it cannot. May
	 * be NULL without pages. */
	bool (*forget)(struct chi_run *run);
	/*
	 * Instead of the last response, `status` CHI_NONE, or of a failure: hands the request on,
	 * with a call of its own on `conn`, from which the run has been taken off; it is freed
	 * then. A failure is answered. NULL: it answers itself.
	 */
	int (*hand_on)(struct chi_run *run, struct chi_conn *conn, int status,
		       struct chi_fault *fault);
	/* How it is being answered, as lines, to be freed. NULL, and what it returns too: it does
	 * not say. */
	char *(*describe)(const struct chi_run *run);
	/* Bytes that it takes beside its page. */
	size_t (*memory)(const struct chi_run *run);
	/* Released before. */
	void (*free)(struct chi_run *run);
};

/* At the beginning of each kind's own struct. */
struct chi_run {
	struct chi_call call;
	TAILQ_ENTRY(chi_run) all_link;
	TAILQ_ENTRY(chi_run) run_link;
	const struct chi_run_ops *ops;
	struct chi_worker *worker;
	struct chi_served *served;
	struct chi_served_copy *copy; /* kept */
	struct chi_read *read;	      /* NULL between two snapshots */
	int64_t read_since;	      /* ms */
	bool is_open;		      /* on that snapshot */
	bool is_runnable;	      /* on the worker's list */
	bool was_open;		      /* once */
	bool tells;		      /* now and then how far it is, although no row has come */
	int64_t told_at;	      /* ms: of the last response */
	int64_t worked_us;	      /* for it, without waiting for the client */
	char *plan; /* how it was being answered when it gave up a snapshot, or NULL */
	struct chi_page page;
	size_t accounted; /* bytes counted in server->buffered */
};

/* Puts the run, which is zeroed but for its own fields and its page, on its connection. It belongs
 * to the worker then. `credits`: responses that it may send. */
void chi_run_start(struct chi_run *run, const struct chi_run_ops *ops, const struct chi_task *task,
		   uint32_t credits);

/* Tells of a name in the filter of games, valid for as long as the response is packed, that no name
 * in the store fits. Without memory it is not told. */
void chi_run_tell_unknown(struct chi_run *run, struct chi_response *response, const char *name);

/* Work for a query, so much so far: -CHI_ETIMEOUT if that is more than the server allows. */
CHI_MUSTUSE int chi_run_check_work(const struct chi_worker *worker, int64_t worked_us,
				   struct chi_fault *fault);

/* The log's line of a query that has taken long, or as long as is allowed. `plan`: how it was
 * answered, as lines, of which it makes one; NULL: not known. */
void chi_run_log_slow(enum chi_op op, int64_t worked_us, char *plan, const struct chi_conn *conn);

/* Runs a slice of each whose turn it is. */
void chi_run_slice(struct chi_worker *worker);

/* Ends runs on copies older than the one before the newest with -CHI_ESTALE, and snapshots that
 * have grown old while their run stood still, and when memory is short, lets paused ones forget
 * what they have collected. True if there is any to be looked at again. */
bool chi_run_tick(struct chi_worker *worker, int64_t now);

/* Ends all snapshots of the worker's runs. */
void chi_run_release(struct chi_worker *worker);
