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
#include "daemon/net/net.h"
#include "ops/answer.h"
#include "proto/msg.h"
#include "store/store.h"

/* Room for any result of a job. */
#define CHI_JOB_RESULT_SIZE sizeof(struct chi_outcome)

/* Goes to the worker that the request came from, and from there to the client. Made together
 * with the job, so that answering never fails for lack of memory. */
struct chi_job_answer {
	struct chi_mail mail;
	struct chi_call call; /* the worker's: conn NULL, the client has gone */
	struct chi_conn_ref to;
	int status;
	bool is_mark;		    /* the mark is at fault */
	char field[CHI_FIELD_SIZE]; /* of the operation, at fault; "": none is named */
	struct chi_fault fault;
	_Alignas(max_align_t) uint8_t result[CHI_JOB_RESULT_SIZE];
	struct chi_arena arena; /* owns what the result leads to */
};

/* NULL is fine. */
void chi_job_answer_free(struct chi_job_answer *answer);

/* Follows the answer of an ASYNC batch whose commit has failed. */
struct chi_job_loss {
	struct chi_mail mail;
	struct chi_conn_ref to;
};

struct chi_change_ops;

struct chi_job {
	struct chi_job *next;
	enum chi_op op;
	const struct chi_change_ops *change; /* NULL: COMPACT, OUTCOME */
	enum chi_durability durability;
	struct chi_arena arena; /* owns all that is asked for */
	void *request;		/* the operation's own struct; NULL: it has none */
	void *made;		/* what it needs (ops/change.h); or that could not be made: */
	int unmade;
	struct chi_fault why_unmade;
	bool is_trial;				    /* nothing is to be written */
	size_t records;				    /* what it counts in the queue */
	struct chi_idempotency_key idempotency_key; /* as in the request; sequence 0: not marked */
	int refused;		    /* for its mark's sake: the status, its text is the answer's */
	char field[CHI_FIELD_SIZE]; /* as the answer's, and so is the result */
	_Alignas(max_align_t) uint8_t result[CHI_JOB_RESULT_SIZE];
	struct chi_outcome outcome; /* what is remembered under its mark */
	size_t bytes;		    /* what it counts in the queue */
	bool counted;		    /* there, at this time */
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

/* Of an operation that its row drives: takes the request's struct, and the contents of the arena in
 * which all of it is. */
void chi_job_take_request(struct chi_job *job, void *request, struct chi_arena *arena);

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
