/* SPDX-License-Identifier: MIT */
/* A thread that reads records: good ones are kept, of the others it is told why. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/lines/lines.h"
#include "store/store.h"

/* What a record's lists and texts take. */
#define ARENA_BUDGET ((size_t)64 << 20)

struct work {
	struct chi_lining *lining;
	struct chi_puts_writer puts;
	struct chi_lines lines; /* of the stream */
	struct chi_arena arena; /* of one record */
	struct chi_line_splitter splitter;
	struct chi_buffer record; /* of several lines, while `open` */
	bool open;
	size_t end;	 /* bytes of the end of its last line */
	uint32_t number; /* of the line, from 1 */
	uint32_t begins; /* line of the record */
	struct chi_import_stream *stream;
	struct chi_lined *told;
	struct chi_fault fault;
};

static int reject(struct work *work, const char *why)
{
	work->told->bad++;
	int rc = chi_notes_add_text(&work->stream->notes, work->begins, why);
	return rc == CHI_OK ? CHI_OK : chi_fault_plain(&work->fault, rc);
}

/* In a store that computes its statistic a file's own cannot be kept. */
static void drop_statistic(struct work *work, struct chi_put_entry *put)
{
	if ((put->parts & CHI_PUT_CHI2) != 0 &&
	    work->lining->importer->statistic != CHI_STATISTIC_EXTERNAL) {
		put->parts &= ~(uint32_t)CHI_PUT_CHI2;
		put->record.chi2 = CHI_CHI2_UNKNOWN;
		work->told->dropped = true;
	}
}

/* A reader's put would pass chi_put_check, to which the fuzz targets of the formats hold it: moves
 * were found among the legal ones when they were read, and finding them again takes as long. */
static int keep_put(struct work *work, struct chi_put_entry *put)
{
	struct chi_fault why = {.text = ""};
	drop_statistic(work, put);
	int rc = chi_puts_keep(&work->puts, put, work->stream->number, work->begins, &why);
	if (rc == -CHI_EINVAL || rc == -CHI_ETOOBIG) {
		return reject(work, why.text);
	}
	work->fault = rc < 0 ? why : work->fault;
	return rc;
}

static int take_record(struct work *work, const char *record, size_t len)
{
	struct chi_put_entry put;
	struct chi_fault why = {.text = ""};
	chi_arena_reset(&work->arena);
	int rc = chi_lines_read(&work->lines, record, len, &work->arena, &put, &why);
	if (rc == CHI_NONE) {
		return CHI_OK;
	}
	work->told->read++;
	if (rc == -CHI_ENOMEM) {
		return chi_fault_plain(&work->fault, rc);
	}
	return rc < 0 ? reject(work, why.text) : keep_put(work, &put);
}

/* Ends the record of several lines with what is wrong with it. */
static int drop_record(struct work *work, int status)
{
	struct chi_fault why;
	work->open = false;
	if (status != -CHI_ETOOBIG) {
		return chi_fault_plain(&work->fault, status);
	}
	work->told->read++;
	(void)chi_fail(&why, status, "a quoted field is not closed within %u bytes", CHI_LINES_MAX);
	return reject(work, why.text);
}

static int end_record(struct work *work)
{
	work->open = false;
	return take_record(work, (const char *)chi_buffer_bytes(&work->record),
			   work->record.len - work->end);
}

/* Appends a line with its end, which belongs to the cell; the record may end with it. */
static int add_line(struct work *work, const char *line, size_t len, bool returned)
{
	bool was_open = work->open;
	work->open = chi_lines_open(&work->lines, line, len, was_open);
	if (!was_open) {
		chi_buffer_consume(&work->record, work->record.len);
	}
	work->end = returned ? 2 : 1;
	int rc = chi_buffer_append(&work->record, line, len);
	if (rc == CHI_OK) {
		rc = chi_buffer_append(&work->record, returned ? "\r\n" : "\n", work->end);
	}
	if (rc != CHI_OK) {
		return drop_record(work, rc);
	}
	return work->open ? CHI_OK : end_record(work);
}

/* A record with it is over, too. */
static int drop_line(struct work *work)
{
	struct chi_fault why;
	work->open = false;
	work->told->read++;
	(void)chi_fail(&why, -CHI_ETOOBIG, "line is longer than %u bytes", CHI_LINES_MAX);
	return reject(work, why.text);
}

static int take_line(void *context, const char *line, size_t len, bool longer)
{
	struct work *work = context;
	bool returned = len > 0 && line[len - 1] == '\r';
	len -= returned;
	work->number++;
	if (!work->open) {
		work->begins = work->number;
	}
	if (longer || len > CHI_LINES_MAX) {
		return drop_line(work);
	}
	if (!work->open && chi_line_is_blank(line, len)) {
		return CHI_OK;
	}
	return work->open || chi_lines_open(&work->lines, line, len, false)
		       ? add_line(work, line, len, returned)
		       : take_record(work, line, len);
}

static int begin_stream(struct work *work, const struct chi_piece *piece)
{
	struct chi_lined *told = calloc(1, sizeof(*told));
	work->stream->told = told;
	work->told = told;
	if (told == NULL || work->stream->number > CHI_PUTS_STREAM_MAX) {
		return chi_fault_plain(&work->fault, -CHI_ENOMEM);
	}
	told->file = piece->of;
	told->line = piece->line;
	work->lines = told->file->lines;
	work->number = 0;
	return CHI_OK;
}

static int end_stream(struct work *work)
{
	int rc = chi_line_splitter_end(&work->splitter);
	if (rc == CHI_OK && work->open) {
		rc = end_record(work); /* the parser says that the mark is not closed */
	}
	work->told->clamped = chi_lines_clamped(&work->lines);
	memcpy(work->told->ignored, chi_lines_ignored(&work->lines),
	       strlen(chi_lines_ignored(&work->lines)) + 1);
	return rc == CHI_OK ? chi_puts_end_stream(&work->puts, &work->told->place, &work->fault)
			    : rc;
}

static int read_stream(void *context, struct chi_import_stream *stream)
{
	struct work *work = context;
	struct chi_queue *queue = &work->lining->reading.queue;
	struct chi_piece *piece = NULL;
	int rc = CHI_OK;
	work->stream = stream;
	work->told = NULL;
	while ((piece = chi_queue_next(queue, work->stream, piece)) != NULL) {
		if (work->told == NULL) {
			rc = begin_stream(work, piece);
		}
		rc = rc == CHI_OK ? chi_line_splitter_piece(&work->splitter, piece) : rc;
		if (rc != CHI_OK) {
			free(piece);
			return rc;
		}
	}
	/* Nothing came: the import was given up. */
	return work->told != NULL ? end_stream(work) : CHI_OK;
}

static int read_all(struct work *work)
{
	int rc = chi_reading_streams(&work->lining->reading, read_stream, work);
	return rc == CHI_OK ? chi_puts_end(&work->puts, &work->fault) : rc;
}

void *chi_lines_work(void *argument)
{
	struct chi_lining *lining = argument;
	struct work work = {.lining = lining};
	chi_puts_writer_init(&work.puts, &lining->puts);
	chi_arena_init(&work.arena, ARENA_BUDGET);
	/* The longest line may end with a carriage return. */
	chi_line_splitter_init(&work.splitter, CHI_LINES_MAX + 1, take_line, &work);
	chi_buffer_init(&work.record, CHI_LINES_MAX);
	int rc = read_all(&work);
	if (rc != CHI_OK) {
		rc = work.fault.text[0] != '\0' ? rc : chi_fault_plain(&work.fault, rc);
		chi_queue_fail(&lining->reading.queue, rc, &work.fault);
	}
	chi_puts_writer_deinit(&work.puts);
	chi_line_splitter_deinit(&work.splitter);
	chi_buffer_deinit(&work.record);
	chi_arena_deinit(&work.arena);
	return NULL;
}
