/* SPDX-License-Identifier: MIT */
/* A thread that reads lines of a dump: puts are checked and kept, games become items. */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/fault.h"
#include "base/file.h"
#include "import/fill.h"
#include "import/dump/load.h"
#include "store/load/load.h"
#include "store/store.h"

/* A line's fields take less than some times its text. */
#define ARENA_BUDGET (8 * (size_t)CHI_DUMP_LINE_MAX)

/* Room for what a stream keeps; it grows. */
#define KEPT_FIRST ((size_t)1 << 20)

struct work {
	struct chi_loading *loading;
	struct chi_filler positions;
	struct chi_filler games;
	struct chi_dump_reader reader;
	struct chi_arena arena; /* of one line */
	struct chi_buffer line; /* one that spans pieces */
	uint8_t *kept;		/* what the stream keeps */
	size_t n_kept;
	size_t capacity;
	struct chi_stream *stream;
	struct chi_loaded *told;
	struct chi_fault fault;
};

/* Room for any put with its length. */
static int reserve(struct work *work)
{
	size_t capacity = work->capacity == 0 ? KEPT_FIRST : work->capacity;
	while (capacity - work->n_kept < sizeof(uint32_t) + CHI_LOAD_KEPT_MAX) {
		capacity *= 2;
	}
	uint8_t *kept = capacity > work->capacity ? realloc(work->kept, capacity) : work->kept;
	if (kept == NULL) {
		return chi_fault_plain(&work->fault, -CHI_ENOMEM);
	}
	work->kept = kept;
	work->capacity = capacity;
	return CHI_OK;
}

static int take_position(struct work *work, const struct chi_put *put)
{
	struct chi_fault detail = {.text = ""};
	struct chi_sort_item item = {{0}};
	size_t len = 0;
	work->told->positions++;
	if (work->told->first == 0) {
		work->told->first = work->reader.line;
	}
	int rc = chi_put_check(put, work->loading->importer->statistic, &detail);
	if (rc < 0) {
		return chi_fault(&work->fault, rc, "line %" PRIu64 ": %s", work->reader.line,
				 detail.text);
	}
	rc = reserve(work);
	if (rc == CHI_OK) {
		uint8_t *at = work->kept + work->n_kept;
		rc = chi_load_keep(put, at + sizeof(uint32_t),
				   work->capacity - work->n_kept - sizeof(uint32_t), &len);
		memcpy(at, &(uint32_t){(uint32_t)len}, sizeof(uint32_t));
	}
	if (rc < 0) {
		return work->fault.text[0] != '\0' ? rc : chi_fault_plain(&work->fault, rc);
	}
	uint64_t place =
		htobe64((uint64_t)work->stream->number << CHI_LOADED_PLACE_BITS | work->n_kept);
	work->n_kept += sizeof(uint32_t) + len;
	memcpy(item.bytes, put->key.bytes, put->key.len);
	memcpy(item.bytes + CHI_SORT_GROUP, &place, sizeof(place));
	return chi_filler_add(&work->positions, &item, 1, &work->fault);
}

static int take_game(struct work *work)
{
	const struct chi_game_id *game = &work->reader.game;
	struct chi_sort_item item = {{0}};
	uint64_t rest = (uint64_t)game->max_ply << 16 | (uint64_t)game->pruned << 8 | game->result;
	if (work->told->games++ == 0) {
		work->told->game_line = work->reader.line;
		memcpy(work->told->first_game, game->id, CHI_GAME_ID_SIZE);
	}
	memcpy(work->told->last_game, game->id, CHI_GAME_ID_SIZE);
	memcpy(item.bytes, game->id, CHI_GAME_ID_SIZE);
	memcpy(item.bytes + CHI_SORT_GROUP, &rest, sizeof(rest));
	return chi_filler_add(&work->games, &item, 1, &work->fault);
}

static int take_line(struct work *work, const char *line, size_t len)
{
	enum chi_dump_line kind = CHI_DUMP_HEAD;
	struct chi_put put;
	chi_arena_reset(&work->arena);
	len -= len > 0 && line[len - 1] == '\r';
	if (work->told->begins == 0) {
		work->told->begins = work->reader.line + 1;
	}
	int rc = chi_dump_read(&work->reader, line, len, &work->arena, &kind, &put, &work->fault);
	if (rc == CHI_OK && kind == CHI_DUMP_TAIL) {
		work->told->over = true;
		work->told->said_positions = work->reader.positions;
		work->told->said_games = work->reader.games;
	}
	return rc != CHI_OK		   ? rc
	       : kind == CHI_DUMP_POSITION ? take_position(work, &put)
	       : kind == CHI_DUMP_GAME	   ? take_game(work)
					   : CHI_OK;
}

/* More of a line that has no end yet. */
static int join_line(struct work *work, const char *bytes, size_t len)
{
	int rc = chi_buffer_append(&work->line, bytes, len);
	return rc == CHI_OK	    ? CHI_OK
	       : rc == -CHI_ETOOBIG ? chi_fault(&work->fault, -CHI_ESYNTAX,
						"line %" PRIu64 ": longer than %u bytes",
						work->reader.line + 1, CHI_DUMP_LINE_MAX)
				    : chi_fault_plain(&work->fault, rc);
}

static int end_line(struct work *work)
{
	size_t len = work->line.len;
	int rc = take_line(work, (const char *)chi_buffer_bytes(&work->line), len);
	chi_buffer_consume(&work->line, len);
	return rc;
}

static int read_piece(struct work *work, const struct chi_piece *piece)
{
	const char *at = piece->bytes;
	const char *end = at + piece->len;
	int rc = CHI_OK;
	while (at < end && rc == CHI_OK) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop != NULL ? stop : end) - at);
		bool joined = stop == NULL || work->line.len > 0;
		rc = joined ? join_line(work, at, len) : take_line(work, at, len);
		if (rc == CHI_OK && joined && stop != NULL) {
			rc = end_line(work);
		}
		at += len + (stop != NULL);
	}
	return rc;
}

/* What a stream keeps is in one place. */
static int write_kept(struct work *work)
{
	struct chi_loading *loading = work->loading;
	errno = ENOSPC; /* what a short write means */
	work->told->place = atomic_fetch_add(&loading->kept_end, work->n_kept);
	int rc = chi_file_pwrite(loading->kept, work->kept, work->n_kept, work->told->place);
	work->n_kept = 0;
	return rc == CHI_OK ? CHI_OK
			    : chi_fault(&work->fault, rc, "cannot keep positions in '%s' (%s)",
					loading->importer->spill, strerror(errno));
}

/* A bad line is told by the stream: another thread may have found one that comes later. */
static int read_stream(struct work *work)
{
	struct chi_queue *queue = &work->loading->queue;
	struct chi_piece *piece = NULL;
	int rc = CHI_OK;
	work->told = calloc(1, sizeof(*work->told));
	work->stream->told = work->told;
	if (work->told == NULL || work->stream->number > CHI_LOADED_STREAM_MAX) {
		return chi_fault_plain(&work->fault, -CHI_ENOMEM);
	}
	while ((piece = chi_queue_next(queue, work->stream, piece)) != NULL) {
		if (work->told->begins == 0 && work->line.len == 0) {
			chi_dump_reader_part(&work->reader, &work->loading->head.head,
					     piece->line - 1);
		}
		rc = rc == CHI_OK ? read_piece(work, piece) : rc;
	}
	if (rc == CHI_OK && work->line.len > 0) {
		rc = end_line(work);
	}
	chi_buffer_consume(&work->line, work->line.len);
	work->told->status = rc;
	work->told->fault = work->fault;
	return write_kept(work);
}

static int read_all(struct work *work)
{
	struct chi_queue *queue = &work->loading->queue;
	while ((work->stream = chi_queue_claim(queue)) != NULL) {
		int rc = read_stream(work);
		if (rc != CHI_OK) {
			return rc;
		}
		chi_queue_done(queue, work->stream);
	}
	int rc = chi_filler_end(&work->positions, &work->fault);
	int other = chi_filler_end(&work->games, &work->fault);
	return rc != CHI_OK ? rc : other;
}

void *chi_load_read(void *argument)
{
	struct chi_loading *loading = argument;
	struct work work = {.loading = loading,
			    .positions = {.sorter = loading->positions},
			    .games = {.sorter = loading->games}};
	chi_arena_init(&work.arena, ARENA_BUDGET);
	chi_buffer_init(&work.line, CHI_DUMP_LINE_MAX);
	int rc = read_all(&work);
	if (rc != CHI_OK) {
		chi_queue_fail(&loading->queue, rc, &work.fault);
	}
	chi_filler_drop(&work.positions);
	chi_filler_drop(&work.games);
	free(work.kept);
	chi_buffer_deinit(&work.line);
	chi_arena_deinit(&work.arena);
	return NULL;
}
