/* SPDX-License-Identifier: MIT */
/*
 * The games that fit a filter (search/terms.h), from one snapshot, some at a time.
 *
 * A query is driven by calls with a budget of steps, each about the work of looking at a few
 * hundred games, and can be closed between any two. It is used by one thread, which is the
 * snapshot's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "chistore/types.h"
#include "store/store.h"

struct chi_archive_reader;

struct chi_games_spec {
	const char *filter; /* text of `filter_len` bytes; may be NULL without any */
	size_t filter_len;
	uint8_t sort; /* enum chi_games_sort; games that are equal in it are in order of numbers */
	bool descending;    /* both */
	uint64_t limit;	    /* rows; 0: no limit, which only ascending numbers may have */
	const char *cursor; /* where another query of the same filter and order was; "" or NULL */
	size_t cursor_len;
	bool want_total; /* goes on after the last row, to count the rest */
	/* Of the first `position`, `moves` or motif without `not`: */
	bool want_ply;	/* where the game reached it first (motif.h), and the move there, */
	bool want_move; /* or only a move that it played there, which takes no unpacking; of a motif
			   none */
	/* Reads the moves for that, and is begun in each snapshot before the query: what the texts
	 * of rows are read with, so that each chunk of games is unpacked only once. NULL: its own.
	 */
	struct chi_archive_reader *reader;
	/* Of heads no more is asked for than number, result, date and ratings. */
	bool brief;
	/* Motifs that positions answer are looked for in all of these first, by so many threads in
	   a call. */
	bool by_positions;
	bool explain;	  /* no row comes, but chi_game_walk_plan */
	unsigned threads; /* the caller's included; 0 is 1 */
};

/* A game that fits. */
struct chi_games_row {
	struct chi_game_head head;
	int32_t ply;   /* where it reached the position first; -1: not asked, or not known */
	chi_move move; /* played there; 0: none, or not asked */
};

struct chi_game_walk;

/* -CHI_ESYNTAX, -CHI_ETOOBIG, -CHI_EINVAL: the spec, a gameset that is not there, a cursor that no
 * query of this order gave; -CHI_ECORRUPT, -CHI_ENOMEM. Copies what the spec leads to. */
CHI_MUSTUSE int chi_game_walk_open(struct chi_read *read, const struct chi_games_spec *spec,
				   struct chi_game_walk **out, struct chi_fault *fault);
void chi_game_walk_close(struct chi_game_walk *games);

/* Fills up to `max` rows. CHI_OK: call again, *n may be 0; CHI_NONE: it is over, and has counted
 * if that was asked; negative: *n rows before the failure are good. */
CHI_MUSTUSE int chi_game_walk_next(struct chi_game_walk *games, struct chi_games_row *rows,
				   size_t max, uint64_t steps, size_t *n);

/*
 * Lets go of the snapshot, which may end then; nothing but closing and attaching is possible. With
 * another one the query goes on after the games that it has looked at: those that came or went
 * meanwhile before these are not noticed.
 */
void chi_game_walk_detach(struct chi_game_walk *games); /* also after a failed attach */
CHI_MUSTUSE int chi_game_walk_attach(struct chi_game_walk *games, struct chi_read *read,
				     struct chi_fault *fault);

/* False: nothing was looked at in this snapshot so far, and what was prepared would be lost. */
bool chi_game_walk_may_detach(const struct chi_game_walk *games);

/* Bytes that it takes, about. */
size_t chi_game_walk_memory(const struct chi_game_walk *games);

/* How much was looked at, in thousandths. */
unsigned chi_game_walk_progress(const struct chi_game_walk *games);

/* With `explain`, after CHI_NONE: what leads, and what is looked at, as lines; else NULL. Valid
 * while the query is. */
const char *chi_game_walk_plan(const struct chi_game_walk *games);

/* The same of one at work, by what it knows so far, to be freed. NULL: it is detached, or there is
 * no memory. */
char *chi_game_walk_describe(const struct chi_game_walk *games);

/* How many games fit in all, wherever the query began: false if it is not known yet, or not
 * asked. */
bool chi_game_walk_total(const struct chi_game_walk *games, uint64_t *total);

/* Where a query in that order is after a game. */
size_t chi_game_walk_cursor_of(const struct chi_game_head *head, uint8_t sort, bool descending,
			       char out[CHI_GAMES_CURSOR_SIZE]);

/* The texts of the filter that no name in the archive fits, one after the other: so that a user
 * sees why no game does. NULL from the first `i` on that there is not. Valid while the query is. */
const char *chi_game_walk_unknown(const struct chi_game_walk *games, size_t i);
