/* SPDX-License-Identifier: MIT */
/*
 * What analysers share, and one of them: a thread with a connection and an engine of its own. It
 * takes one position under a lease, has it searched, stores the evaluation, and only then says
 * that it is done. A worker that is killed anywhere before leaves a lease that ends, and another
 * takes the position.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "cli/cli.h"
#include "cli/work/engine.h"
#include "cli/work/source.h"
#include "cli/work/tree.h"

struct analysis_work {
	struct cli *cli;
	uint64_t lease; /* milliseconds */
	struct key_source source;
	pthread_mutex_t mutex; /* of the next three */
	struct tree tree;
	uint64_t grow_to;  /* positions of the tree */
	int64_t load_at;   /* when the tree is to be read again; chi_now_ms */
	atomic_bool stops; /* a worker failed, or the user wants it */
	atomic_int code;   /* the worst exit code */
	_Atomic uint64_t analysed;
	_Atomic uint64_t stored_before;
	_Atomic uint64_t failed;
	_Atomic uint64_t left; /* as far as is known: of the queue, or of the tree */
	atomic_uint running;
};

struct worker {
	struct analysis_work *work;
	pthread_t thread;
	struct chi_client *client;
	struct engine engine;
	char holder[CHI_QUEUE_HOLDER_MAX + 1];
	struct chi_key key; /* the position at hand, */
	uint64_t lease;	    /* its lease, */
	int64_t extend_at;  /* and when that is to be made longer; chi_now_ms */
	/* Of a position that was searched, or is known: its lines, the best first. */
	struct tree_line lines[ENGINE_LINES_MAX];
	size_t n_lines; /* 0: it has no legal move */
};

bool worker_stops(const struct analysis_work *work);

/* A call on the worker's client failed: says so, once, and ends the work. */
void worker_fail(struct worker *worker, int status);

/* Waits a moment, when there is nothing to take. */
void worker_idle(void);

/* An engine that is ready; false: there is none, and that was said. */
bool worker_need_engine(struct worker *worker);

/* Opens the store for programs that wait for each other's writes. Returns an exit code. */
int worker_open(const struct cli *cli, struct chi_client **out);

/* CHI_OK: this engine has looked at it as far as is wanted, or it has no legal move; CHI_NONE. */
CHI_MUSTUSE int worker_known(struct worker *worker, const struct chi_key *key);

/* The same of a record, NULL for none. */
bool worker_reads(struct worker *worker, const struct chi_record *record, size_t n_moves);

/* Takes the next of the queue (`key` NULL), or that one, under a lease: the position at hand.
 * CHI_NONE: it could not be had. */
CHI_MUSTUSE int worker_lease(struct worker *worker, const struct chi_key *key);

enum worker_end {
	WORKER_FOUND, /* its lines are there, as they were or as they were found */
	WORKER_FAILED,
	WORKER_STOPPED, /* and what stopped it was said */
};

/* The position at hand, up to what became of it. */
enum worker_end worker_analyse(struct worker *worker);

/* CHI_OK: the queue has given it up, and that was counted; CHI_NONE: another holds it. */
CHI_MUSTUSE int worker_given_up(struct worker *worker, const struct chi_key *key);
