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
#include "import/importer_priv.h"
#include "import/queue.h"

/* What is peculiar to a kind of text, done by the thread that feeds. `state` is the importer's. */
struct chi_reading_kind {
	/* The bytes of a full piece that go to the threads, at least one; *closes, which is true
	 * at first: the stream ends with them. */
	size_t (*cut)(void *state, const struct chi_piece *piece, bool *closes);
	/* Takes what was told of a stream, the oldest first; the stream is freed afterwards. */
	int (*collect)(void *state, struct chi_import_stream *stream, struct chi_fault *fault);
	bool counts_lines; /* pieces know which line they begin with */
};

struct chi_reading {
	const struct chi_reading_kind *kind;
	struct chi_importer *importer;
	struct chi_queue queue;
	pthread_t *threads;
	unsigned n_threads;	 /* that run */
	struct chi_piece *piece; /* filled now; NULL: none */
	uint64_t lines;		 /* before it, if they are counted */
	void *of;		 /* what pieces are of that begin now */
	char *name;		 /* owned: of a file whose first stream has not begun, or NULL */
};

/* How large pieces are, and how many, the importer's memory and threads decide. */
void chi_reading_init(struct chi_reading *reading, const struct chi_reading_kind *kind,
		      struct chi_importer *importer);

/* Starts the threads; the argument of each is `size` bytes after that of the one before. If it
 * fails some may run. */
CHI_MUSTUSE int chi_reading_start(struct chi_reading *reading, unsigned n, void *(*read)(void *),
				  void *arguments, size_t size, struct chi_fault *fault);

/* Stops the threads; frees. Harmless on one that is zeroed. */
void chi_reading_deinit(struct chi_reading *reading);

/* ---- The thread that feeds: CHI_OK, or the first failure, of any thread or of `collect` ------ */

/* More text, cut anywhere. Waits while the threads are behind. */
CHI_MUSTUSE int chi_reading_feed(struct chi_reading *reading, const char *bytes, size_t len,
				 struct chi_fault *fault);

/* The text that has come ends its stream. */
CHI_MUSTUSE int chi_reading_close(struct chi_reading *reading, struct chi_fault *fault);

/* All text has come: waits for the threads. */
CHI_MUSTUSE int chi_reading_finish(struct chi_reading *reading, struct chi_fault *fault);

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

/* Takes bytes up to the end of a line, or all; *bytes and *len are what is left. What `take`
 * returns other than CHI_OK ends it; -CHI_ENOMEM. */
CHI_MUSTUSE int chi_line_splitter_line(struct chi_line_splitter *splitter, const char **bytes,
				       size_t *len);

/* The same, to the end of the piece. */
CHI_MUSTUSE int chi_line_splitter_piece(struct chi_line_splitter *splitter,
					const struct chi_piece *piece);

/* The text is over: a line that has begun ends, unless it is dropped. */
CHI_MUSTUSE int chi_line_splitter_end(struct chi_line_splitter *splitter);
void chi_line_splitter_drop(struct chi_line_splitter *splitter);
