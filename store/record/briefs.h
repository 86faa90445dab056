/* SPDX-License-Identifier: MIT */
/*
 * Result, date and ratings of games by number, 8 bytes a game, as far as they were read: what a
 * list of games asks of each, without its chunk of columns.
 *
 * A number is given once, and the columns of its game never change but for the mark of one that was
 * removed. So what is known of a number is right in each snapshot that has the game, the older ones
 * too; whether it has it the list says. A number whose row was marked is not known.
 *
 * Any thread may call these at any time, but for deinit. Zeroed is empty.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "chistore/games.h"

#define CHI_BRIEFS_BLOCK_GAMES 65536 /* their 512 KiB are taken when the first is added */
/* Games with higher numbers are never known; nor are others once all tables of the process have so
 * many blocks together, 128 MiB. */
#define CHI_BRIEFS_BLOCKS 256

struct chi_briefs_block {
	_Atomic uint64_t games[CHI_BRIEFS_BLOCK_GAMES];
};

struct chi_briefs {
	_Atomic(struct chi_briefs_block *) blocks[CHI_BRIEFS_BLOCKS];
};

/* Forgets all. No other thread may be at it. */
void chi_briefs_deinit(struct chi_briefs *briefs);

/* Adds a game of a committed snapshot. Without memory it stays unknown. */
void chi_briefs_add(struct chi_briefs *briefs, const struct chi_game_head *head);

/* A head with what is known: number, result, date and ratings; the rest is 0. False: it is not. */
bool chi_briefs_get(const struct chi_briefs *briefs, uint32_t number, struct chi_game_head *out);
