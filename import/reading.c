/* SPDX-License-Identifier: MIT */
/* The frame of those who feed and of those who read. */
#include "import/reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"

/* A piece of text is so much of the memory, within these bounds. */
#define PIECE_SHARE 256u
#define PIECE_MIN   ((uint64_t)64 << 10)
#define PIECE_MAX   ((uint64_t)1 << 20)

void chi_reading_init(struct chi_reading *reading, const struct chi_reading_kind *kind,
		      struct chi_importer *importer)
{
	const struct chi_import_options *options = &importer->options;
	uint64_t size = options->memory / PIECE_SHARE;
	size = size < PIECE_MIN ? PIECE_MIN : size > PIECE_MAX ? PIECE_MAX : size;
	*reading = (struct chi_reading){.kind = kind, .importer = importer};
	chi_queue_init(&reading->queue, (size_t)size, options->threads + 2);
}

int chi_reading_start(struct chi_reading *reading, unsigned n, void *(*read)(void *),
		      void *arguments, size_t size, struct chi_fault *fault)
{
	reading->threads = calloc(n, sizeof(*reading->threads));
	if (reading->threads == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	for (unsigned i = 0; i < n; i++) {
		void *argument = (char *)arguments + i * size;
		if (pthread_create(&reading->threads[i], NULL, read, argument) != 0) {
			return chi_fail(fault, -CHI_ENOMEM, "cannot start %u threads", n);
		}
		reading->n_threads++;
	}
	return CHI_OK;
}

static void join_readers(struct chi_reading *reading)
{
	for (unsigned i = 0; i < reading->n_threads; i++) {
		pthread_join(reading->threads[i], NULL);
	}
	reading->n_threads = 0;
}

void chi_reading_deinit(struct chi_reading *reading)
{
	struct chi_fault fault;
	(void)chi_fault_plain(&fault, -CHI_ECANCELED);
	chi_queue_fail(&reading->queue, -CHI_ECANCELED, &fault);
	join_readers(reading);
	free(reading->piece);
	free(reading->name);
	chi_queue_deinit(&reading->queue);
	free(reading->threads);
}

/* ---- The thread that feeds --------------------------------------------------------------- */

/* The text of a failure, of a thread or of this one. */
static int failed(struct chi_reading *reading, int rc, struct chi_fault *fault)
{
	int other = chi_queue_status(&reading->queue, fault);
	return other != CHI_OK ? other : chi_fault_plain(fault, rc);
}

static int take_piece(struct chi_reading *reading, struct chi_fault *fault)
{
	if (reading->piece != NULL) {
		return CHI_OK;
	}
	int rc = chi_queue_piece(&reading->queue, &reading->piece);
	if (rc != CHI_OK) {
		return failed(reading, rc, fault);
	}
	reading->piece->line = reading->lines + 1;
	reading->piece->of = reading->of;
	return CHI_OK;
}

/* The streams that are done, up to one that is not. */
static int collect_streams(struct chi_reading *reading, struct chi_fault *fault)
{
	struct chi_import_stream *stream;
	int rc = CHI_OK;
	while (rc == CHI_OK && (stream = chi_queue_collect(&reading->queue)) != NULL) {
		rc = reading->kind->collect(reading->importer->state, stream, fault);
		chi_stream_free(stream);
	}
	return rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
}

static uint64_t count_lines(const char *text, size_t len)
{
	uint64_t n = 0;
	for (size_t i = 0; i < len; i++) {
		n += text[i] == '\n';
	}
	return n;
}

/* The piece goes to the threads up to `cut`. With what follows the next one begins; without
 * anything, none does if it closes its stream. */
static int pass_piece(struct chi_reading *reading, size_t cut, bool closes, struct chi_fault *fault)
{
	struct chi_piece *piece = reading->piece;
	size_t left = piece->len - cut;
	reading->lines += reading->kind->counts_lines ? count_lines(piece->bytes, cut) : 0;
	reading->piece = NULL;
	if (left > 0 || !closes) {
		int rc = take_piece(reading, fault);
		if (rc != CHI_OK) {
			free(piece);
			return rc;
		}
		memcpy(reading->piece->bytes, piece->bytes + cut, left);
		reading->piece->len = left;
		piece->len = cut;
	}
	int rc = chi_queue_put(&reading->queue, piece, &reading->name, closes);
	int told = collect_streams(reading, fault);
	return rc == CHI_OK ? told : failed(reading, rc, fault);
}

int chi_reading_feed(struct chi_reading *reading, const char *bytes, size_t len,
		     struct chi_fault *fault)
{
	int rc = CHI_OK;
	while (rc == CHI_OK && len > 0) {
		rc = chi_importer_check(reading->importer, NULL, 0, 0, fault);
		rc = rc == CHI_OK ? take_piece(reading, fault) : rc;
		if (rc != CHI_OK) {
			return rc;
		}
		struct chi_piece *piece = reading->piece;
		size_t room = reading->queue.piece_size - piece->len;
		size_t some = len < room ? len : room;
		memcpy(piece->bytes + piece->len, bytes, some);
		piece->len += some;
		bytes += some;
		len -= some;
		if (some == room) {
			bool closes = true;
			size_t cut = reading->kind->cut(reading->importer->state, piece, &closes);
			rc = pass_piece(reading, cut, closes, fault);
		}
	}
	return rc;
}

int chi_reading_close(struct chi_reading *reading, struct chi_fault *fault)
{
	if (reading->piece == NULL && !chi_queue_open(&reading->queue)) {
		return CHI_OK;
	}
	int rc = take_piece(reading, fault);
	return rc == CHI_OK ? pass_piece(reading, reading->piece->len, true, fault) : rc;
}

int chi_reading_finish(struct chi_reading *reading, struct chi_fault *fault)
{
	int rc = chi_reading_close(reading, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_queue_end(&reading->queue);
	join_readers(reading);
	rc = collect_streams(reading, fault);
	int status = chi_queue_status(&reading->queue, fault);
	return status != CHI_OK ? status : rc;
}

/* ---- The threads that read --------------------------------------------------------------- */

int chi_reading_streams(struct chi_reading *reading, chi_read_stream *read, void *context)
{
	struct chi_import_stream *stream;
	while ((stream = chi_queue_claim(&reading->queue)) != NULL) {
		int rc = read(context, stream);
		if (rc != CHI_OK) {
			return rc;
		}
		chi_queue_done(&reading->queue, stream);
	}
	return CHI_OK;
}

void chi_line_splitter_init(struct chi_line_splitter *splitter, size_t most,
			    int (*take)(void *context, const char *line, size_t len, bool longer),
			    void *context)
{
	*splitter = (struct chi_line_splitter){.take = take, .context = context};
	chi_buffer_init(&splitter->line, most);
}

void chi_line_splitter_deinit(struct chi_line_splitter *splitter)
{
	chi_buffer_deinit(&splitter->line);
}

void chi_line_splitter_drop(struct chi_line_splitter *splitter)
{
	chi_buffer_consume(&splitter->line, splitter->line.len);
	splitter->longer = false;
}

/* More of a line that has no end yet. */
static int join_line(struct chi_line_splitter *splitter, const char *bytes, size_t len)
{
	int rc = splitter->longer ? CHI_OK : chi_buffer_append(&splitter->line, bytes, len);
	splitter->longer = splitter->longer || rc == -CHI_ETOOBIG;
	return rc == -CHI_ETOOBIG ? CHI_OK : rc;
}

static int end_line(struct chi_line_splitter *splitter)
{
	int rc = splitter->take(splitter->context, (const char *)chi_buffer_bytes(&splitter->line),
				splitter->line.len, splitter->longer);
	chi_line_splitter_drop(splitter);
	return rc;
}

int chi_line_splitter_line(struct chi_line_splitter *splitter, const char **bytes, size_t *len)
{
	const char *stop = memchr(*bytes, '\n', *len);
	size_t some = stop != NULL ? (size_t)(stop - *bytes) : *len;
	int rc;
	if (stop != NULL && !chi_line_splitter_inside(splitter)) {
		rc = splitter->take(splitter->context, *bytes, some, some > splitter->line.limit);
	} else {
		rc = join_line(splitter, *bytes, some);
		rc = rc == CHI_OK && stop != NULL ? end_line(splitter) : rc;
	}
	some += stop != NULL;
	*bytes += some;
	*len -= some;
	return rc;
}

int chi_line_splitter_piece(struct chi_line_splitter *splitter, const struct chi_piece *piece)
{
	const char *at = piece->bytes;
	size_t len = piece->len;
	int rc = CHI_OK;
	while (len > 0 && rc == CHI_OK) {
		rc = chi_line_splitter_line(splitter, &at, &len);
	}
	return rc;
}

int chi_line_splitter_end(struct chi_line_splitter *splitter)
{
	return chi_line_splitter_inside(splitter) ? end_line(splitter) : CHI_OK;
}
