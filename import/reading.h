/* SPDX-License-Identifier: MIT */
/*
 * What every kind of input has that is text: a queue, the threads that read its streams, and the
 * piece that is being filled. Text that is cut at line ends comes to the threads line by line.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "import/queue.h"
#include "chistore/types.h"

struct chi_reading {
	struct chi_queue queue;
	pthread_t *threads;
	unsigned n_threads;	 /* that run */
	struct chi_piece *piece; /* filled now; NULL: none */
};

/* How large pieces are, and how many, the memory and the threads decide. */
void chi_reading_init(struct chi_reading *reading, const struct chi_import_options *options);

/* Starts the threads; the argument of each is `size` bytes after that of the one before. If it
 * fails some may run. */
CHI_MUSTUSE int chi_reading_start(struct chi_reading *reading, unsigned n, void *(*read)(void *),
				  void *arguments, size_t size, struct chi_fault *fault);

/* All text has come: waits for the threads. CHI_OK, or the first failure. */
CHI_MUSTUSE int chi_reading_finish(struct chi_reading *reading, struct chi_fault *fault);

/* Stops the threads; frees. Harmless on one that is zeroed. */
void chi_reading_deinit(struct chi_reading *reading);

/* ---- The thread that feeds --------------------------------------------------------------- */

/* Begins a piece, if none is filled now. */
CHI_MUSTUSE int chi_reading_take(struct chi_reading *reading, struct chi_fault *fault);

/* Takes what the piece has room for; returns how much. */
size_t chi_reading_fill(struct chi_reading *reading, const char *bytes, size_t len);

static inline bool chi_reading_full(const struct chi_reading *reading)
{
	return reading->piece->len == reading->queue.piece_size;
}

/* The piece goes to the threads up to `cut`, as by chi_queue_put. With what follows the next one
 * begins; without anything, none does if it closes its stream. */
CHI_MUSTUSE int chi_reading_pass(struct chi_reading *reading, size_t cut, char **name, bool closes,
				 struct chi_fault *fault);

uint64_t chi_count_lines(const char *text, size_t len);

/* ---- The threads that read --------------------------------------------------------------- */

/* Reads streams until there are no more, or one fails. */
typedef int chi_read_stream(void *context, struct chi_import_stream *stream);
CHI_MUSTUSE int chi_reading_streams(struct chi_reading *reading, chi_read_stream *read,
				    void *context);

/* Lines of pieces, which may go on in the next one. */
struct chi_line_splitter {
	/* A line without its end; `longer`: only its beginning, it is longer than any may be. */
	int (*take)(void *context, const char *line, size_t len, bool longer);
	void *context;
	struct chi_buffer line; /* what has come of it; its limit is the longest line's length */
	bool longer;
};

void chi_line_splitter_init(struct chi_line_splitter *splitter, size_t most,
			    int (*take)(void *context, const char *line, size_t len, bool longer),
			    void *context);
void chi_line_splitter_deinit(struct chi_line_splitter *splitter);

/* True if a line has begun. */
static inline bool chi_line_splitter_inside(const struct chi_line_splitter *splitter)
{
	return splitter->line.len > 0 || splitter->longer;
}

/* All lines that end in the piece. What `take` returns other than CHI_OK ends it; -CHI_ENOMEM. */
CHI_MUSTUSE int chi_line_splitter_piece(struct chi_line_splitter *splitter,
					const struct chi_piece *piece);

/* The text is over: a line that has begun ends, unless it is dropped. */
CHI_MUSTUSE int chi_line_splitter_end(struct chi_line_splitter *splitter);
void chi_line_splitter_drop(struct chi_line_splitter *splitter);
