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
#include "base/buffer.h"
#include "base/fault.h"
#include "store/load/load.h"

/* Sixteenths of the memory: for sorting the puts, then the strength tree's entries. */
#define PUTS_SHARE     10
#define STRENGTH_SHARE 5

/* ---- What the threads tell ------------------------------------------------------------------ */

/* Of a line, or with line 0 of a file. */
static void tell_line(const struct chi_lining *lining, const struct chi_lines_file *file,
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
		tell_line(lining, file, 0, "no position was found");
		return;
	}
	if (file->ignored[0] != '\0') {
		(void)snprintf(text, sizeof(text), "ignored: %s", file->ignored);
		tell_line(lining, file, 0, text);
	}
	if (file->clamped > 0 && lining->importer->statistic == CHI_STATISTIC_EXTERNAL) {
		(void)snprintf(text, sizeof(text),
			       "%" PRIu64 " statistics beyond the scale, stored as 0.01 or 255.99",
			       file->clamped);
		tell_line(lining, file, 0, text);
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
	if (chi_grow(&lining->places, &lining->room, lining->n_places + 1,
		     sizeof(*lining->places)) < 0) {
		return -CHI_ENOMEM;
	}
	lining->places[lining->n_places++] = (struct chi_lines_place){told->file, told->line};
	return chi_puts_place(&lining->puts, told->place);
}

/* The first names that are ignored are told. */
static int add_stream(void *state, struct chi_import_stream *stream, struct chi_fault *fault)
{
	struct chi_lining *lining = state;
	const struct chi_lined *told = stream->told;
	(void)fault;
	if (told == NULL) {
		return CHI_OK; /* nothing came: the import was given up */
	}
	struct chi_lines_file *file = told->file;
	tell_files(lining, file);
	chi_notes_tell(&stream->notes, &lining->importer->options, file->name, 0, told->line - 1);
	if (told->dropped && !lining->told_dropped) {
		lining->told_dropped = true;
		tell_line(lining, file, 0,
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

/* A record that is longer than a piece goes on. */
static size_t cut_piece(void *state, const struct chi_piece *piece, bool *closes)
{
	size_t cut = records_of(state, piece->bytes, piece->len);
	*closes = cut > 0;
	return cut > 0 ? cut : piece->len;
}

static const struct chi_reading_kind lines_reading = {
	.cut = cut_piece, .collect = add_stream, .counts_lines = true};

/* ---- The first line ------------------------------------------------------------------------ */

/* A line that may be the first that is not blank. What is the first record, too, goes on its way,
 * with its end. */
static int begin_file(struct chi_lining *lining, const char *line, size_t len)
{
	struct chi_lines_file *file = lining->file;
	struct chi_reading *reading = &lining->reading;
	struct chi_fault why = {.text = ""};
	reading->lines++;
	if (chi_line_is_blank(line, len)) {
		return CHI_OK;
	}
	chi_arena_reset(&lining->arena);
	int rc = chi_lines_begin(&file->lines, line, len, &lining->arena, &why);
	if (rc < 0) {
		return chi_fail(lining->fault, rc, "%.200s:%" PRIu64 ": %s", file->name,
				reading->lines, why.text);
	}
	lining->begun = true;
	if (rc == CHI_NONE) {
		reading->lines--;
		rc = chi_reading_feed(reading, line, len, lining->fault);
		rc = rc == CHI_OK ? chi_reading_feed(reading, "\n", 1, lining->fault) : rc;
	}
	return rc;
}

static int take_head(void *context, const char *line, size_t len, bool longer)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct chi_lining *lining = context;
	if (lining->reading.lines == 0 && len >= 3 && memcmp(line, mark, 3) == 0) {
		line += 3;
		len -= 3;
	}
	len -= len > 0 && line[len - 1] == '\r';
	if (longer || len > CHI_LINES_MAX) {
		char text[64];
		(void)snprintf(text, sizeof(text), "line is longer than %u bytes", CHI_LINES_MAX);
		lining->n_read++;
		lining->n_bad++;
		tell_line(lining, lining->file, ++lining->reading.lines, text);
		return CHI_OK;
	}
	return begin_file(lining, line, len);
}

/* ---- Files --------------------------------------------------------------------------------- */

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
	/* A byte order mark and a carriage return more. */
	chi_line_splitter_init(&lining->head, CHI_LINES_MAX + 4, take_head, lining);
	chi_reading_init(&lining->reading, &lines_reading, importer);
	int rc = chi_puts_init(&lining->puts, importer, options->memory / 16 * PUTS_SHARE, fault);
	return rc == CHI_OK ? chi_reading_start(&lining->reading, options->threads, chi_lines_work,
						lining, 0, fault)
			    : rc;
}

/* All of the file goes to the threads. */
static int end_file(struct chi_lining *lining, struct chi_fault *fault)
{
	lining->fault = fault;
	int rc = lining->begun ? CHI_OK : chi_line_splitter_end(&lining->head);
	rc = rc == CHI_OK ? chi_reading_close(&lining->reading, fault) : rc;
	return rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
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
	lining->reading.lines = 0;
	lining->reading.of = next;
	lining->state = CHI_LINES_FIELD;
	lining->record = 0;
	enum chi_format format =
		options->format != CHI_FORMAT_AUTO ? options->format : chi_format_of_path(name);
	struct chi_fault why;
	rc = chi_lines_init(&next->lines, format,
			    options->engine[0] != '\0' ? options->engine : NULL, options->add,
			    &why);
	return rc == CHI_OK ? CHI_OK : chi_fail(fault, rc, "%.200s: %s", name, why.text);
}

static int feed_lines(struct chi_importer *importer, const void *bytes, size_t len,
		      struct chi_fault *fault)
{
	struct chi_lining *lining = importer->state;
	const char *at = bytes;
	int rc = lining->file == NULL ? file(importer, "", fault) : CHI_OK;
	lining->fault = fault;
	while (rc == CHI_OK && len > 0 && !lining->begun) {
		rc = chi_line_splitter_line(&lining->head, &at, &len);
		rc = rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
	}
	return rc == CHI_OK ? chi_reading_feed(&lining->reading, at, len, fault) : rc;
}

/* ---- The end ----------------------------------------------------------------------------- */

static void refused(void *context, uint32_t stream, uint32_t line, const char *why)
{
	struct chi_lining *lining = context;
	const struct chi_lines_place *place = &lining->places[stream];
	lining->n_bad++;
	tell_line(lining, place->file, place->line + line - 1, why);
}

/* Positions are put by ascending key, in the order of the input where the keys are equal. */
static int fill(void *context, struct chi_load *load, struct chi_fault *fault)
{
	struct chi_lining *lining = context;
	struct chi_load_spec spec;
	int rc = chi_importer_start(lining->importer, load, chi_sorter_count(lining->puts.sorter),
				    STRENGTH_SHARE, &spec, fault);
	if (rc == CHI_OK) {
		rc = chi_puts_fold(&lining->puts, load, refused, NULL, lining, fault);
	}
	lining->result->skipped = lining->n_bad;
	lining->result->taken = lining->n_read - lining->n_bad;
	return rc;
}

/* A store is not touched, or made, for nothing. */
static int commit_lines(struct chi_importer *importer, struct chi_import_result *result,
			struct chi_fault *fault)
{
	struct chi_lining *lining = importer->state;
	int rc = end_file(lining, fault);
	rc = rc == CHI_OK ? chi_reading_finish(&lining->reading, fault) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	tell_files(lining, NULL);
	result->games = lining->n_read;
	result->skipped = lining->n_bad;
	result->empty = lining->n_empty;
	lining->result = result;
	return chi_sorter_count(lining->puts.sorter) > 0
		       ? chi_importer_apply(importer, fill, lining, result, fault)
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
	chi_line_splitter_deinit(&lining->head);
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
