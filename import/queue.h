/* SPDX-License-Identifier: MIT */
/*
 * The way of the text from the thread that feeds to those that read. Text comes in pieces. Pieces
 * belong to streams: a stream begins and ends where the text may be cut, and is read by one thread
 * from its first byte to its last. Most streams are one piece; text without a place to cut becomes
 * a stream of many, so that memory stays bounded for any text.
 *
 * Streams are done in any order and collected in that of the input. How many wait to be collected
 * is bounded: each holds its notes.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/notes.h"
#include "chistore/types.h"

struct chi_piece {
	struct chi_piece *next;
	size_t len;
	uint64_t line; /* where its first byte is, from 1, */
	void *of;      /* and of what; both set by who wants to know */
	char bytes[];  /* as many as the queue's piece_size */
};

struct chi_import_stream {
	struct chi_import_stream *next; /* in the order of the input */
	struct chi_piece *first;	/* not read yet */
	struct chi_piece *last;
	uint32_t number; /* of all streams, from 0 */
	char *name;	 /* of the file that begins with it, owned; NULL: the file goes on */
	bool closed;	 /* no piece comes after the last */
	bool done;
	/* Told by the thread that read it. */
	uint64_t games;
	uint64_t lines;
	struct chi_notes notes;
	void *told; /* whatever else; owned, in one piece of memory */
};

struct chi_queue {
	pthread_mutex_t mutex;
	pthread_cond_t work; /* a piece, the end of a stream or of all */
	pthread_cond_t room; /* a piece was read */
	size_t piece_size;
	size_t pieces_max;
	size_t pieces;	/* put and not yet given back */
	size_t waiting; /* streams not yet collected */
	struct chi_piece *spare;
	struct chi_import_stream *oldest; /* not yet collected */
	struct chi_import_stream *newest;
	struct chi_import_stream *unclaimed;
	uint32_t streams;
	bool ended;
	int status; /* the first failure of any thread */
	struct chi_fault fault;
};

void chi_queue_init(struct chi_queue *queue, size_t piece_size, size_t pieces_max);
void chi_queue_deinit(struct chi_queue *queue);

/* ---- The thread that feeds --------------------------------------------------------------- */

/* An empty piece, when there is room for one more. Streams that are done must have been collected.
 * -CHI_ENOMEM, or what failed elsewhere. */
CHI_MUSTUSE int chi_queue_piece(struct chi_queue *queue, struct chi_piece **out);

/*
 * Hands a piece over; it goes on with the newest stream if that is open, else a new one begins and
 * takes *name, which is NULL then. `closes`: it is the last of its stream. Takes the piece in every
 * case.
 */
CHI_MUSTUSE int chi_queue_put(struct chi_queue *queue, struct chi_piece *piece, char **name,
			      bool closes);

/* The newest stream waits for more pieces. */
bool chi_queue_open(struct chi_queue *queue);

/* No more text comes. All streams must be closed. */
void chi_queue_end(struct chi_queue *queue);

/* The oldest stream if it is done, now the caller's to free; NULL if it is not. */
struct chi_import_stream *chi_queue_collect(struct chi_queue *queue);
void chi_stream_free(struct chi_import_stream *stream);

/* ---- The threads that read --------------------------------------------------------------- */

/* The next stream that no thread reads; waits for one. NULL: there are no more, or something
 * failed. */
struct chi_import_stream *chi_queue_claim(struct chi_queue *queue);

/* The next piece of a stream; waits for it. NULL at its end, or if something failed. The
 * piece is given back by the next call, as `last`. */
struct chi_piece *chi_queue_next(struct chi_queue *queue, struct chi_import_stream *stream,
				 struct chi_piece *last);
void chi_queue_done(struct chi_queue *queue, struct chi_import_stream *stream);

/* Stops all threads; the first failure is the one that is kept. */
void chi_queue_fail(struct chi_queue *queue, int status, const struct chi_fault *fault);

/* CHI_OK, or the first failure and its text. */
CHI_MUSTUSE int chi_queue_status(struct chi_queue *queue, struct chi_fault *fault);
