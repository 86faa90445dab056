/* SPDX-License-Identifier: MIT */
/* Games that were found, as rows of a page, with the texts and the PGN that are wanted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "chistore/types.h"
#include "ops/page.h"
#include "search/games.h"

struct chi_game_texts;

/* A member of a run, zeroed at first but for these two. */
struct chi_game_rows {
	uint8_t want; /* enum chi_games_want */
	struct chi_arena *passing;
	struct chi_game_texts *texts;
	struct chi_games_row held; /* found, but not in a page so far */
	bool has_held;
	bool is_stale; /* in an earlier snapshot */
	int status;    /* CHI_NONE: all are found */
};

/* The next game; as chi_game_walk_next. */
typedef int chi_game_rows_next(void *context, struct chi_games_row *row, size_t *n);

/* With -CHI_ETOOBIG, of a game's number. */
#define CHI_GAME_TOO_LARGE "game %u does not fit a response: ask for it in the store's directory"

/* Between these it reads a snapshot. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_game_rows_begin(struct chi_game_rows *rows, struct chi_read *read);
void chi_game_rows_end(struct chi_game_rows *rows);
void chi_game_rows_deinit(struct chi_game_rows *rows);

/* Bytes that it takes, about. */
size_t chi_game_rows_memory(const struct chi_game_rows *rows);

/* What was found is to be found again. */
void chi_game_rows_forget(struct chi_game_rows *rows);

/* A helping of games into the page: as a run's step. -CHI_ETOOBIG: one fits no response. */
CHI_MUSTUSE int chi_game_rows_step(struct chi_game_rows *rows, struct chi_page *page,
				   chi_game_rows_next *next, void *context,
				   struct chi_fault *fault);
