/* SPDX-License-Identifier: MIT */
/*
 * What a query's rows are made of beside their heads: names as texts, and whole games as PGN. From
 * one snapshot at a time, used by the thread that uses that.
 */
#pragma once

#include "base/arena.h"
#include "chistore/games.h"
#include "search/games.h"
#include "store/store.h"

struct chi_archive_reader;
struct chi_game_texts;

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_game_texts_new(struct chi_game_texts **out);
/* NULL is fine. */
void chi_game_texts_free(struct chi_game_texts *texts);

/* Bytes that it takes, about. */
size_t chi_game_texts_memory(const struct chi_game_texts *texts);

/* Between these it reads a snapshot; what it remembers of another is dropped. */
CHI_MUSTUSE int chi_game_texts_begin(struct chi_game_texts *texts, struct chi_read *read);
void chi_game_texts_end(struct chi_game_texts *texts);

/* What it reads games with, while it is begun. */
struct chi_archive_reader *chi_game_texts_reader(struct chi_game_texts *texts);

/* A row with what is wanted, enum chi_games_want; texts are the arena's, the PGN is valid until the
 * next call. CHI_NONE: there is no such game in this snapshot. -CHI_ECORRUPT, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_game_texts_row(struct chi_game_texts *texts, const struct chi_games_row *row,
				   uint8_t want, struct chi_arena *arena, struct chi_game_row *out);

/* A game's head and names, without its body: names are spelled as the store does, the round is not
 * known. Texts are the arena's. CHI_NONE: there is no game of that number. */
CHI_MUSTUSE int chi_game_texts_head(struct chi_game_texts *texts, uint32_t number,
				    struct chi_arena *arena, struct chi_game_row *row);

/* A whole game, and the same as a row with its PGN; valid until the next call. CHI_NONE: there is
 * no game of that number. */
CHI_MUSTUSE int chi_game_texts_game(struct chi_game_texts *texts, uint32_t number,
				    struct chi_arena *arena, struct chi_game_row *row,
				    struct chi_game *game);
