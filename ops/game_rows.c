/* SPDX-License-Identifier: MIT */
#include "ops/game_rows.h"

#include <string.h>

#include "base/fault.h"
#include "proto/msg.h"
#include "search/texts.h"

/* Games taken between two looks at the clock. */
#define GAMES_A_HELPING 16

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
static int copy_texts(struct chi_page *page, const struct chi_game_row *row,
		      struct chi_game_row *kept)
{
	struct chi_arena *arena = &page->arena;
	if (row->white != NULL &&
	    !(keep_text(arena, &kept->white) && keep_text(arena, &kept->black) &&
	      keep_text(arena, &kept->event) && keep_text(arena, &kept->site) &&
	      keep_text(arena, &kept->round) && keep_text(arena, &kept->source))) {
		return -CHI_ENOMEM;
	}
	kept->pgn = row->pgn_len > 0 ? chi_arena_text(arena, row->pgn, row->pgn_len) : NULL;
	return row->pgn_len > 0 && kept->pgn == NULL ? -CHI_ENOMEM : CHI_OK;
}

static int keep_row(struct chi_page *page, const struct chi_game_row *row, size_t size)
{
	int status = chi_page_grow(page);
	if (status < 0) {
		return status;
	}
	struct chi_game_row *kept = &page->game_rows[page->n];
	*kept = *row;
	status = copy_texts(page, row, kept);
	if (status == CHI_OK) {
		chi_page_added_one(page, size);
	}
	return status;
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
		return chi_fail(fault, status, "cannot read game %u (%s)", rows->held.head.number,
				chi_strerror(status));
	}
	/* No response has to hold it in this process; of a large one nearly all is the game. */
	size_t size = page->bytes_most < SIZE_MAX ? chi_game_row_size(&row) : row.pgn_len;
	if (page->bytes + size > page->bytes_most) {
		page->is_closed = page->n > 0;
		return page->is_closed ? CHI_OK
				       : chi_fail(fault, -CHI_ETOOBIG, CHI_GAME_TOO_LARGE,
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
