/* SPDX-License-Identifier: MIT */
#include "daemon/ops/game_rows.h"

#include <string.h>

#include "base/fault.h"
#include "daemon/ops/handler.h"
#include "proto/wire/frame.h"
#include "search/texts.h"

/* Games taken between two looks at the clock. */
#define GAMES_A_HELPING 16

/* What a response takes beside its games. */
#define RESPONSE_OVERHEAD ((size_t)8 << 10)

int chi_game_rows_begin(struct chi_game_rows *rows, struct chi_read *read)
{
	rows->is_stale = rows->has_held;
	if (rows->want == CHI_GAMES_HEADS) {
		return CHI_OK;
	}
	int status = rows->texts == NULL ? chi_game_texts_new(&rows->texts) : CHI_OK;
	return status == CHI_OK ? chi_game_texts_begin(rows->texts, read) : status;
}

void chi_game_rows_end(struct chi_game_rows *rows)
{
	if (rows->texts != NULL) {
		chi_game_texts_end(rows->texts);
	}
}

void chi_game_rows_deinit(struct chi_game_rows *rows)
{
	chi_game_texts_free(rows->texts);
	rows->texts = NULL;
}

size_t chi_game_rows_memory(const struct chi_game_rows *rows)
{
	return rows->texts != NULL ? chi_game_texts_memory(rows->texts) : 0;
}

void chi_game_rows_forget(struct chi_game_rows *rows)
{
	rows->has_held = false;
	rows->status = CHI_OK;
}

static bool keep_text(struct chi_arena *arena, const char **text)
{
	*text = chi_arena_text(arena, *text, strlen(*text));
	return *text != NULL;
}

/* A row is made in passing memory, as far more is unpacked of a game than is sent. */
static int make_row(const struct chi_game_rows *rows, struct chi_game_row *out)
{
	if (rows->want == CHI_GAMES_HEADS) {
		*out = (struct chi_game_row){
			.head = rows->held.head, .ply = rows->held.ply, .move = rows->held.move};
		return CHI_OK;
	}
	chi_arena_reset(rows->passing);
	return chi_game_texts_row(rows->texts, &rows->held, rows->want, rows->passing, out);
}

/* NULL texts are those of a row without them. */
static int keep_row(struct chi_page *page, const struct chi_game_row *row, size_t size)
{
	struct chi_arena *arena = &page->arena;
	int status = chi_page_grow(page);
	struct chi_game_row *kept = &page->game_rows[page->n];
	if (status < 0) {
		return status;
	}
	*kept = *row;
	if (row->white != NULL &&
	    !(keep_text(arena, &kept->white) && keep_text(arena, &kept->black) &&
	      keep_text(arena, &kept->event) && keep_text(arena, &kept->site) &&
	      keep_text(arena, &kept->round) && keep_text(arena, &kept->source))) {
		return -CHI_ENOMEM;
	}
	kept->pgn = row->pgn_len > 0 ? chi_arena_text(arena, row->pgn, row->pgn_len) : NULL;
	if (row->pgn_len > 0 && kept->pgn == NULL) {
		return -CHI_ENOMEM;
	}
	page->bytes += size;
	chi_page_added(page, 1);
	return CHI_OK;
}

/* Puts the row that was found into the page, unless it has gone since; one for which there is no
 * room waits for the next. */
static int take_held(struct chi_game_rows *rows, struct chi_page *page, struct chi_fault *fault)
{
	struct chi_game_row row;
	int status = make_row(rows, &row);
	if (status == CHI_NONE && rows->is_stale) {
		rows->has_held = false;
		return CHI_OK;
	}
	status = status == CHI_NONE ? -CHI_ECORRUPT : status;
	if (status < 0) {
		return chi_fault(fault, status, "cannot read game %u (%s)", rows->held.head.number,
				 chi_strerror(status));
	}
	size_t size = chi_game_row_size(&row);
	if (page->bytes + size > CHI_FRAME_RESPONSE_MAX - RESPONSE_OVERHEAD) {
		page->is_closed = page->n > 0;
		return page->is_closed ? CHI_OK
				       : chi_fault(fault, -CHI_ETOOBIG, CHI_GAME_TOO_LARGE,
						   rows->held.head.number);
	}
	rows->has_held = false;
	return keep_row(page, &row, size);
}

int chi_game_rows_step(struct chi_game_rows *rows, struct chi_page *page, chi_game_rows_next *next,
		       void *context, struct chi_fault *fault)
{
	int status = CHI_OK;
	for (unsigned i = 0; status == CHI_OK && i < GAMES_A_HELPING && !chi_page_full(page); i++) {
		size_t n = rows->has_held;
		if (!rows->has_held && rows->status == CHI_OK) {
			rows->status = next(context, &rows->held, &n);
			rows->has_held = n > 0;
		}
		if (n == 0) {
			return rows->status;
		}
		status = take_held(rows, page, fault);
	}
	return status;
}
