/* SPDX-License-Identifier: MIT */
/*
 * The feeding side: the first line of a file decides its format, and pieces of what follows go to
 * the threads up to the end of a record. Between quotation marks of CSV a line's end is none.
 */
#include "import/lines/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"

/* Sixteenths of the memory; what is left sorts the strength tree. */
#define PUTS_SHARE 10

static int begin_lines(struct chi_importer *importer, struct chi_fault *fault)
{
	const struct chi_import_options *options = &importer->options;
	struct chi_lining *lining = calloc(1, sizeof(*lining));
	if (lining == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	importer->state = lining;
	lining->importer = importer;
	lining->puts.file = -1;
	chi_arena_init(&lining->arena, 2 * (size_t)CHI_LINES_MAX);
	chi_buffer_init(&lining->head, CHI_LINES_MAX + 2);
	chi_reading_init(&lining->reading, options);
	int rc = chi_puts_init(&lining->puts, importer, options->memory / 16 * PUTS_SHARE, fault);
	return rc == CHI_OK ? chi_reading_start(&lining->reading, options->threads, chi_lines_work,
						lining, 0, fault)
			    : rc;
}

/* ---- What the threads tell ------------------------------------------------------------------ */

void chi_lines_tell(const struct chi_lining *lining, const struct chi_lines_file *file,
		    uint64_t line, const char *text)
{
	const struct chi_import_options *options = &lining->importer->options;
	const struct chi_import_note note = {.file = file->name, .line = line, .text = text};
	if (options->report != NULL) {
		options->report(options->context, &note);
	}
}

/* What was not taken as it is, said at the end of a file. */
static void tell_file(struct chi_lining *lining, const struct chi_lines_file *file)
{
	char text[CHI_FAULT_SIZE + 16];
	if (file->good == 0) {
		lining->n_empty++;
		chi_lines_tell(lining, file, 0, "no position was found");
		return;
	}
	if (file->ignored[0] != '\0') {
		(void)snprintf(text, sizeof(text), "ignored: %s", file->ignored);
		chi_lines_tell(lining, file, 0, text);
	}
	if (file->clamped > 0 && lining->importer->statistic == CHI_STATISTIC_EXTERNAL) {
		(void)snprintf(text, sizeof(text),
			       "%" PRIu64 " statistics beyond the scale, stored as 0.01 or 255.99",
			       file->clamped);
		chi_lines_tell(lining, file, 0, text);
	}
}

/* Of the files before `next`, of which all is collected; NULL: of all. */
static void tell_files(struct chi_lining *lining, const struct chi_lines_file *next)
{
	for (; lining->telling != NULL && lining->telling != next;
	     lining->telling = lining->telling->next) {
		tell_file(lining, lining->telling);
	}
}

static int keep_place(struct chi_lining *lining, const struct chi_lined *told)
{
	/* The array doubles whenever the number is a power of two. */
	size_t n = lining->n_places;
	if ((n & (n - 1)) == 0) {
		struct chi_lines_place *places =
			realloc(lining->places, (n == 0 ? 1 : 2 * n) * sizeof(*places));
		if (places == NULL) {
			return -CHI_ENOMEM;
		}
		lining->places = places;
	}
	lining->places[lining->n_places++] = (struct chi_lines_place){told->file, told->line};
	return chi_puts_place(&lining->puts, told->place);
}

/* The first names that are ignored are told. */
static int add_stream(struct chi_lining *lining, const struct chi_import_stream *stream)
{
	const struct chi_lined *told = stream->told;
	struct chi_lines_file *file = told->file;
	tell_files(lining, file);
	chi_notes_tell(&stream->notes, &lining->importer->options, file->name, 0, told->line - 1);
	if (told->dropped && !lining->told_dropped) {
		lining->told_dropped = true;
		chi_lines_tell(lining, file, 0,
			       "the chi2 column is ignored: this store computes its statistic");
	}
	if (file->ignored[0] == '\0') {
		memcpy(file->ignored, told->ignored, sizeof(file->ignored));
	}
	file->good += told->read - told->bad;
	file->clamped += told->clamped;
	lining->n_read += told->read;
	lining->n_bad += told->bad;
	return keep_place(lining, told);
}

/* The streams that are done, the oldest first, up to one that is not. */
static int collect(struct chi_lining *lining, struct chi_fault *fault)
{
	struct chi_import_stream *stream;
	int rc = CHI_OK;
	while (rc == CHI_OK && (stream = chi_queue_collect(&lining->reading.queue)) != NULL) {
		rc = add_stream(lining, stream);
		chi_stream_free(stream);
	}
	return rc == CHI_OK ? CHI_OK : chi_fault_plain(fault, rc);
}

/* ---- Where records end ----------------------------------------------------------------------- */

/* The state after a byte that ends no line. */
static enum chi_lines_state after(enum chi_lines_state state, char c, char separator)
{
	if (state == CHI_LINES_OPEN) {
		return c == '"' ? CHI_LINES_MARK : CHI_LINES_OPEN;
	}
	if (c == '"' && state != CHI_LINES_PLAIN) {
		return CHI_LINES_OPEN; /* the first one of a field, or the second of two */
	}
	return c == separator ? CHI_LINES_FIELD : CHI_LINES_PLAIN;
}

/* The bytes up to the end of the last record, 0 if none ends; goes on from the state, which is that
 * of what is left. A record that is too long ends with the line, where the reader gives it up. */
static size_t scan_records(struct chi_lining *lining, const char *text, size_t len)
{
	char separator = lining->file->lines.csv.separator;
	size_t end = 0;
	for (size_t i = 0; i < len; i++) {
		lining->record++;
		if (text[i] != '\n') {
			lining->state = after(lining->state, text[i], separator);
		} else if (lining->state != CHI_LINES_OPEN || lining->record > CHI_LINES_MAX) {
			end = i + 1;
			lining->state = CHI_LINES_FIELD;
			lining->record = 0;
		}
	}
	return end;
}

/* What follows the end comes again, at the front of the next piece. */
static size_t records_of(struct chi_lining *lining, const char *text, size_t len)
{
	bool simple = !chi_lines_span(&lining->file->lines) ||
		      (lining->record == 0 && memchr(text, '"', len) == NULL);
	const char *last = simple ? memrchr(text, '\n', len) : NULL;
	size_t end = last != NULL ? (size_t)(last - text) + 1 : scan_records(lining, text, len);
	if (end > 0) {
		lining->state = CHI_LINES_FIELD;
		lining->record = 0;
	}
	return end;
}

/* ---- Feeding ----------------------------------------------------------------------------- */

/* Says where the piece that is filled begins. */
static void place_piece(struct chi_lining *lining)
{
	if (lining->reading.piece != NULL) {
		lining->reading.piece->line = lining->lines + 1;
		lining->reading.piece->of = lining->file;
	}
}

static int take_piece(struct chi_lining *lining, struct chi_fault *fault)
{
	int rc = chi_reading_take(&lining->reading, fault);
	place_piece(lining);
	return rc;
}

/* The piece goes to the threads up to its last record's end; a record that is longer goes on.
 * `last`: of the file. */
static int hand_over(struct chi_lining *lining, bool last, struct chi_fault *fault)
{
	const struct chi_piece *piece = lining->reading.piece;
	size_t end = last ? piece->len : records_of(lining, piece->bytes, piece->len);
	size_t cut = end > 0 ? end : piece->len;
	char *name = NULL;
	lining->lines += chi_count_lines(piece->bytes, cut);
	int rc = chi_reading_pass(&lining->reading, cut, &name, last || end > 0, fault);
	place_piece(lining);
	return rc == CHI_OK ? collect(lining, fault) : rc;
}

static int feed_pieces(struct chi_lining *lining, const char *bytes, size_t len,
		       struct chi_fault *fault)
{
	while (len > 0) {
		int rc = lining->reading.piece == NULL ? take_piece(lining, fault) : CHI_OK;
		if (rc != CHI_OK) {
			return rc;
		}
		size_t some = chi_reading_fill(&lining->reading, bytes, len);
		bytes += some;
		len -= some;
		if (chi_reading_full(&lining->reading)) {
			rc = hand_over(lining, false, fault);
		}
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return CHI_OK;
}

/* ---- The first line ------------------------------------------------------------------------ */

/* A line that may be the first that is not blank, without its end; `all` of the text, with it. What
 * is the first record, too, goes on its way. */
static int begin_file(struct chi_lining *lining, const char *line, size_t len, size_t all,
		      struct chi_fault *fault)
{
	struct chi_lines_file *file = lining->file;
	struct chi_fault why = {.text = ""};
	lining->lines++;
	if (chi_line_is_blank(line, len)) {
		return CHI_OK;
	}
	chi_arena_reset(&lining->arena);
	int rc = chi_lines_begin(&file->lines, line, len, &lining->arena, &why);
	if (rc < 0) {
		return chi_fault(fault, rc, "%.200s:%" PRIu64 ": %s", file->name, lining->lines,
				 why.text);
	}
	lining->begun = true;
	if (rc == CHI_NONE) {
		lining->lines--;
		rc = feed_pieces(lining, line, all, fault);
	}
	return rc;
}

/* The line is whole. */
static int end_head(struct chi_lining *lining, struct chi_fault *fault)
{
	static const char mark[] = "\xef\xbb\xbf";
	const char *line = (const char *)chi_buffer_bytes(&lining->head);
	size_t all = lining->head.len;
	if (lining->lines == 0 && all >= 3 && memcmp(line, mark, 3) == 0) {
		line += 3;
		all -= 3;
	}
	size_t len = all;
	len -= len > 0 && line[len - 1] == '\n';
	len -= len > 0 && line[len - 1] == '\r';
	int rc = CHI_OK;
	if (lining->head_long || len > CHI_LINES_MAX) {
		char text[64];
		(void)snprintf(text, sizeof(text), "line is longer than %u bytes", CHI_LINES_MAX);
		lining->n_read++;
		lining->n_bad++;
		chi_lines_tell(lining, lining->file, ++lining->lines, text);
	} else {
		rc = begin_file(lining, line, len, all, fault);
	}
	chi_buffer_consume(&lining->head, lining->head.len);
	lining->head_long = false;
	return rc;
}

/* Takes what belongs to the first line; *len is what of it was taken. */
static int feed_head(struct chi_lining *lining, const char *bytes, size_t *len,
		     struct chi_fault *fault)
{
	const char *stop = memchr(bytes, '\n', *len);
	*len = stop != NULL ? (size_t)(stop - bytes) + 1 : *len;
	int rc = lining->head_long ? CHI_OK : chi_buffer_append(&lining->head, bytes, *len);
	lining->head_long = lining->head_long || rc == -CHI_ETOOBIG;
	if (rc < 0 && rc != -CHI_ETOOBIG) {
		return chi_fault_plain(fault, rc);
	}
	return stop != NULL ? end_head(lining, fault) : CHI_OK;
}

/* ---- Files --------------------------------------------------------------------------------- */

/* All of the file goes to the threads. */
static int end_file(struct chi_lining *lining, struct chi_fault *fault)
{
	int rc = CHI_OK;
	if (lining->file == NULL) {
		return CHI_OK;
	}
	if (!lining->begun && (lining->head.len > 0 || lining->head_long)) {
		rc = end_head(lining, fault);
	}
	if (rc == CHI_OK && lining->reading.piece == NULL &&
	    chi_queue_open(&lining->reading.queue)) {
		rc = take_piece(lining, fault);
	}
	if (rc == CHI_OK && lining->reading.piece != NULL) {
		rc = hand_over(lining, true, fault);
	}
	return rc;
}

static int file(struct chi_importer *importer, const char *name, struct chi_fault *fault)
{
	struct chi_lining *lining = importer->state;
	const struct chi_import_options *options = &importer->options;
	int rc = end_file(lining, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	struct chi_lines_file *next = calloc(1, sizeof(*next));
	struct chi_lines_file **link = lining->file != NULL ? &lining->file->next : &lining->first;
	if (next == NULL || (next->name = strdup(name)) == NULL) {
		free(next);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	*link = next;
	lining->file = next;
	lining->telling = lining->telling != NULL ? lining->telling : next;
	lining->begun = false;
	lining->lines = 0;
	lining->state = CHI_LINES_FIELD;
	lining->record = 0;
	enum chi_format format =
		options->format != CHI_FORMAT_AUTO ? options->format : chi_format_of_path(name);
	struct chi_fault why;
	rc = chi_lines_init(&next->lines, format,
			    options->engine[0] != '\0' ? options->engine : NULL, options->add,
			    &why);
	return rc == CHI_OK ? CHI_OK : chi_fault(fault, rc, "%.200s: %s", name, why.text);
}

static int feed_lines(struct chi_importer *importer, const void *bytes, size_t len,
		      struct chi_fault *fault)
{
	struct chi_lining *lining = importer->state;
	const char *at = bytes;
	int rc = lining->file == NULL ? file(importer, "", fault) : CHI_OK;
	while (rc == CHI_OK && len > 0) {
		size_t some = len;
		rc = chi_importer_canceled(importer) ? chi_fault_plain(fault, -CHI_ECANCELED)
		     : !lining->begun		     ? feed_head(lining, at, &some, fault)
						     : feed_pieces(lining, at, some, fault);
		at += some;
		len -= some;
	}
	return rc;
}

/* ---- The end ----------------------------------------------------------------------------- */

/* A store is not touched, or made, for nothing. */
static int commit_lines(struct chi_importer *importer, struct chi_import_result *result,
			struct chi_fault *fault)
{
	struct chi_lining *lining = importer->state;
	int rc = end_file(lining, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_reading_finish(&lining->reading, fault);
	rc = rc == CHI_OK ? collect(lining, fault) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	tell_files(lining, NULL);
	result->games = lining->n_read;
	result->skipped = lining->n_bad;
	result->empty = lining->n_empty;
	return chi_sorter_count(lining->puts.sorter) > 0 ? chi_lining_apply(lining, result, fault)
							 : CHI_OK;
}

static void end_lines(struct chi_importer *importer)
{
	struct chi_lining *lining = importer->state;
	if (lining == NULL) {
		return;
	}
	chi_reading_deinit(&lining->reading);
	chi_puts_deinit(&lining->puts);
	while (lining->first != NULL) {
		struct chi_lines_file *next = lining->first->next;
		free(lining->first->name);
		free(lining->first);
		lining->first = next;
	}
	chi_arena_deinit(&lining->arena);
	chi_buffer_deinit(&lining->head);
	free(lining->places);
	free(lining);
	importer->state = NULL;
}

const struct chi_importer_kind chi_importer_lines = {
	.begin = begin_lines,
	.file = file,
	.feed = feed_lines,
	.commit = commit_lines,
	.end = end_lines,
};
