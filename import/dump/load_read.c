/* SPDX-License-Identifier: MIT */
/* A thread that reads lines of a dump: puts are checked and kept, games become items. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/fault.h"
#include "import/dump/load.h"
#include "store/load/load.h"
#include "store/store.h"

/* A line's fields take less than some times its text. */
#define ARENA_BUDGET (8 * (size_t)CHI_DUMP_LINE_MAX)

struct work {
	struct chi_loading *loading;
	struct chi_puts_writer positions;
	struct chi_carrier archive;
	struct chi_dump_reader reader;
	struct chi_arena arena; /* of one line */
	struct chi_line_splitter lines;
	struct chi_import_stream *stream;
	struct chi_loaded *told;
	struct chi_fault fault;
};

static int take_position(struct work *work, const struct chi_put_entry *put)
{
	struct chi_fault detail = {.text = ""};
	int rc = chi_put_check(put, work->loading->importer->statistic, &detail);
	if (rc < 0) {
		return chi_fail(&work->fault, rc, "line %" PRIu64 ": %s", work->reader.line,
				detail.text);
	}
	return chi_puts_keep(&work->positions, put, work->stream->number, 0, &work->fault);
}

/* Where the identities of games begin and end, whose order is that of the whole. */
static void note_game(struct work *work)
{
	const struct chi_game_id *game = &work->reader.game;
	if (work->reader.n.games == 1) {
		work->told->game_line = work->reader.line;
		memcpy(work->told->first_game, game->id, CHI_GAME_ID_SIZE);
	}
	memcpy(work->told->last_game, game->id, CHI_GAME_ID_SIZE);
}

static int take_dump_line(void *context, const char *line, size_t len, bool longer)
{
	struct work *work = context;
	enum chi_dump_line kind = CHI_DUMP_HEAD;
	struct chi_put_entry put;
	if (longer) {
		return chi_fail(&work->fault, -CHI_ESYNTAX,
				"line %" PRIu64 ": longer than %u bytes", work->reader.line + 1,
				CHI_DUMP_LINE_MAX);
	}
	chi_arena_reset(&work->arena);
	int rc = chi_dump_read(&work->reader, line, len, &work->arena, &kind, &put, &work->fault);
	if (kind == CHI_DUMP_SUMMED) {
		return rc;
	}
	if (work->told->begins == 0) {
		work->told->begins = work->reader.line;
		work->told->from = kind != CHI_DUMP_HEAD ? kind : CHI_DUMP_TAIL;
	}
	/* Lines of PGN are part of their game. */
	work->told->to = kind != CHI_DUMP_PGN ? kind : CHI_DUMP_KEPT;
	if (rc != CHI_OK) {
		return rc;
	}
	if (kind == CHI_DUMP_TAIL) {
		work->told->over = true;
		work->told->said = work->reader.n;
		return CHI_OK;
	}
	work->told->n = work->reader.n;
	if (kind == CHI_DUMP_GAME) {
		note_game(work);
	}
	const struct chi_dump_text text = {line, len};
	return kind == CHI_DUMP_POSITION
		       ? take_position(work, &put)
		       : chi_carrier_line(&work->archive, &work->reader, &text, kind,
					  work->stream->number, &work->fault);
}

/* A bad line is told by the stream: another thread may have found one that comes later. */
static int read_stream(void *context, struct chi_import_stream *stream)
{
	struct work *work = context;
	struct chi_queue *queue = &work->loading->reading.queue;
	struct chi_piece *piece = NULL;
	int rc = CHI_OK;
	work->told = calloc(1, sizeof(*work->told));
	work->stream = stream;
	stream->told = work->told;
	if (work->told == NULL || work->stream->number > CHI_PUTS_STREAM_MAX) {
		return chi_fault_plain(&work->fault, -CHI_ENOMEM);
	}
	while ((piece = chi_queue_next(queue, work->stream, piece)) != NULL) {
		if (work->told->begins == 0 && !chi_line_splitter_inside(&work->lines)) {
			chi_dump_reader_part(&work->reader, &work->loading->head.head,
					     piece->line - 1);
		}
		rc = rc == CHI_OK ? chi_line_splitter_piece(&work->lines, piece) : rc;
	}
	rc = rc == CHI_OK ? chi_line_splitter_end(&work->lines) : rc;
	rc = rc == CHI_OK ? chi_carrier_pause(&work->archive, &work->fault) : rc;
	chi_line_splitter_drop(&work->lines);
	work->told->status = rc;
	work->told->fault = work->fault;
	return chi_puts_end_stream(&work->positions, &work->told->place, &work->fault);
}

static int read_all(struct work *work)
{
	int rc = chi_reading_streams(&work->loading->reading, read_stream, work);
	rc = rc == CHI_OK ? chi_puts_end(&work->positions, &work->fault) : rc;
	return rc == CHI_OK ? chi_carrier_end(&work->archive, &work->fault) : rc;
}

void *chi_load_read(void *argument)
{
	struct chi_loading *loading = argument;
	struct work work = {.loading = loading};
	chi_carrier_init(&work.archive, &loading->archive);
	chi_puts_writer_init(&work.positions, &loading->positions);
	chi_arena_init(&work.arena, ARENA_BUDGET);
	chi_line_splitter_init(&work.lines, CHI_DUMP_LINE_MAX, take_dump_line, &work);
	int rc = read_all(&work);
	if (rc != CHI_OK) {
		chi_queue_fail(&loading->reading.queue, rc, &work.fault);
	}
	chi_puts_writer_deinit(&work.positions);
	chi_carrier_deinit(&work.archive);
	chi_line_splitter_deinit(&work.lines);
	chi_arena_deinit(&work.arena);
	return NULL;
}
