/* SPDX-License-Identifier: MIT */
/* Reading a whole text of games for the tests, in pieces of any size, into copies to look at. */
#pragma once

#include "tests/chess/support.h"

#include "chess/pgn/pgn.h"

/* A copy of a game. */
struct read_game {
	struct chi_pgn_game game; /* its pointers are into the copies below */
	char *tags[CHI_PGN_TAGS]; /* NULL where there is none */
	chi_move *moves;
	char *whole; /* its tags, notes and rest, to compare; game.whole is NULL */
	size_t whole_len;
	struct chi_position last;
};

struct read_games {
	size_t n;
	struct read_game *games;
	uint64_t lines;
};

/*
 * Reads `len` bytes, fed in pieces of `piece` bytes; 0: random pieces by `seed`, which may be NULL
 * otherwise. Checks of every game that its moves are legal one after the other and that its
 * positions are theirs.
 */
struct read_games read_games(const char *text, size_t len, size_t piece, struct seed *seed);

void free_games(struct read_games *games);

/* The same games; `shifted`: numbers, offsets and lines are left out. */
void assert_same_games(const struct read_games *a, const struct read_games *b, bool shifted);

/* A file of CHISTORE_TEST_DATA; the caller frees it. */
char *read_data(const char *name, size_t *len);

/* The moves as UCI with blanks between, in static storage. */
const char *moves_of(const struct read_game *game);

/* A text of random pieces that tempt a reader to disagree with itself, with a NUL now and then; the
 * caller frees it. */
char *random_games(struct seed *seed, size_t *len);
