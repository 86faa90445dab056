/* SPDX-License-Identifier: MIT */
/*
 * A write on its way: what a worker hands to a writer, and the answer that comes back. A job owns
 * copies of everything it needs; the connection it came from may vanish at any time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/types.h"
#include "daemon/net/mailbox.h"
#include "daemon/net/net.h"
#include "proto/msg.h"
#include "store/store.h"

/* Goes to the worker that the request came from, and from there to the client. Made together
 * with the job, so that answering never fails for lack of memory. */
struct chi_job_answer {
	struct chi_mail mail;
	struct chi_conn_ref to;
	uint64_t id;
	enum chi_op op;
	int status;
	size_t at;    /* entry at fault, or SIZE_MAX */
	bool is_mark; /* the mark is at fault */
	struct chi_fault fault;
	struct chi_outcome outcome;	  /* of the job itself; OUTCOME: of what it asks for */
	struct chi_arena arena;		  /* owns these: */
	struct chi_name_refusal *refused; /* CHANGE_NAMES */
	size_t n_refused;
	const struct chi_queue_row *taken; /* QUEUE_TAKE */
	size_t n_taken;
};

/* NULL is fine. */
void chi_job_answer_free(struct chi_job_answer *answer);

/* Follows the answer of an ASYNC batch whose commit has failed. */
struct chi_job_loss {
	struct chi_mail mail;
	struct chi_conn_ref to;
};

struct chi_gameset_job;

/* QUEUE_ADD, QUEUE_TAKE, QUEUE_SETTLE: what goes with the keys. */
struct chi_queue_job {
	uint32_t priority;
	uint32_t lease_ms;
	uint32_t limit;
	uint32_t action;
	uint64_t lease;
	char holder[CHI_QUEUE_HOLDER_MAX + 1];
};

struct chi_job {
	struct chi_job *next;
	enum chi_op op; /* PUT, DELETE, COMPACT, RESCORE, OUTCOME, CHANGE_NAMES, MAKE_GAMESET,
			   DROP_GAMESET, QUEUE_ADD, QUEUE_TAKE, QUEUE_SETTLE */
	enum chi_durability durability;
	struct chi_arena arena; /* owns puts, keys and all they point to */
	struct chi_put *puts;	/* PUT */
	struct chi_key *keys;	/* DELETE, and those of the queue */
	struct chi_queue_job queue;
	struct chi_name_change *changes;	/* CHANGE_NAMES */
	size_t n;				/* of these three */
	bool dry_run;				/* CHANGE_NAMES: nothing is to be written */
	char gameset[CHI_GAMESET_TEXT_MAX + 1]; /* MAKE_GAMESET, DROP_GAMESET: its name */
	struct chi_gameset_job *bitmap;		/* MAKE_GAMESET; NULL: it could not be made: */
	int unmade;
	struct chi_fault why_unmade;
	size_t records;		   /* what it counts in the queue: of both, and of the games */
	struct chi_game_id *games; /* PUT */
	size_t n_games;
	struct chi_idempotency_key idempotency_key; /* as in the request; sequence 0: not marked */
	int refused;		    /* for its mark's sake: the status, its text is the answer's */
	size_t at;		    /* entry at fault, or SIZE_MAX */
	struct chi_outcome outcome; /* so far */
	bool has_base;		    /* PUT, RESCORE */
	struct chi_counts base;
	size_t bytes; /* what it counts in the queue */
	bool counted; /* there, at this time */
	const struct chi_job_delivery *delivery;
	struct chi_job_answer *answer; /* NULL once posted */
	struct chi_job_loss *loss;     /* of a batch answered before its commit */
};

/* What the worker does with an answer, and with word of a batch that was answered and then lost. */
struct chi_job_delivery {
	chi_deliver *answer;
	chi_deliver *loss;
};

/* An empty job for a request; `delivery` outlives it. NULL without memory. */
struct chi_job *chi_job_new(const struct chi_conn_ref *to, uint64_t id, enum chi_op op,
			    const struct chi_job_delivery *delivery);

/* With its answer, if that was not posted. NULL is fine. */
void chi_job_free(struct chi_job *job);

/* Copies in. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_job_copy_puts(struct chi_job *job, const struct chi_put *puts, size_t n);
CHI_MUSTUSE int chi_job_copy_keys(struct chi_job *job, const struct chi_key *keys, size_t n);
CHI_MUSTUSE int chi_job_copy_game_ids(struct chi_job *job, const struct chi_game_id *games,
				      size_t n);
CHI_MUSTUSE int chi_job_copy_changes(struct chi_job *job, const struct chi_name_change *changes,
				     size_t n);
void chi_job_set_base(struct chi_job *job, const struct chi_counts *base);

/* A gameset's name, of at most CHI_GAMESET_TEXT_MAX bytes. */
void chi_job_set_gameset(struct chi_job *job, const char *name);

/* What goes with the keys of an operation on the queue; the holder is copied. */
void chi_job_set_queue(struct chi_job *job, const struct chi_queue_job *queue, const char *holder);

/* After its keys were copied: one that names none counts as the positions that it may change; one
 * that drops all, of which that is not known, as a group of its own. */
void chi_job_count_queue(struct chi_job *job);

/* Posts the answer to its worker. Once a job. */
void chi_job_post(struct chi_job *job);

/* The same before the commit. Without memory for what a failure would take nothing is posted yet.
 */
void chi_job_post_early(struct chi_job *job);

/* The commit of a batch answered early has failed: its worker is told. Once a job. */
void chi_job_post_loss(struct chi_job *job);

/*
 * Does any job but a COMPACT in the transaction, unless it is marked and was done
 * before, and sets its outcome. A job that is refused for its mark's
 * sake is CHI_OK with job->refused set. On failure the fault says why, and the transaction holds a
 * part of the job: it is to be rolled back or aborted. The writer's thread only.
 */
CHI_MUSTUSE int chi_job_perform(struct chi_job *job, struct chi_write *write,
				struct chi_fault *fault);

/* The part of it that changes names and gamesets (job_names.c). */
CHI_MUSTUSE int chi_job_apply_names(struct chi_job *job, struct chi_write *write);
CHI_MUSTUSE int chi_job_apply_gameset(struct chi_job *job, struct chi_write *write,
				      struct chi_fault *fault);

/* The part of it that changes the queue, and the positions of a QUEUE_TAKE that was done before
 * (job_queue.c). */
CHI_MUSTUSE int chi_job_apply_queue(struct chi_job *job, struct chi_write *write);
CHI_MUSTUSE int chi_job_recall_queue(struct chi_job *job, struct chi_write *write);
