/* SPDX-License-Identifier: MIT */
/*
 * A search of our own: iterative deepening alpha-beta with a principal variation that is kept whole
 * (uci/search/pv.h), and a store that it may ask. Scores are centipawns in the view of the side to
 * move; mates are CHI_MATE less the plies to it.
 *
 * An engine belongs to one thread at a time; only chi_engine_stop and chi_engine_ponderhit may be
 * called from others, during a search.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/movegen.h"
#include "chess/position.h"
#include "chistore.h"

/* Plies that a search may look ahead, extensions and captures included. */
#define CHI_PLIES_MAX 128

#define CHI_MATE       30000
#define CHI_MATE_BOUND (CHI_MATE - 2 * CHI_PLIES_MAX) /* scores beyond are mates */

#define CHI_HASH_MIB_MAX 65536

struct chi_engine;

/* When a search ends, whichever comes first; 0 is no bound. */
struct chi_engine_limits {
	unsigned depth;	   /* plies; more than CHI_PLIES_MAX / 2 are taken as that */
	uint64_t nodes;	   /* positions searched; exact: the same search again ends at the same */
	uint64_t move_ms;  /* for this move */
	int64_t begun_ms;  /* when the time began to run, by chi_now_ms; 0: when the search does */
	uint64_t lag_ms;   /* that the clock may run on after the answer */
	unsigned mate;	   /* moves: ends when a mate in so many is found */
	uint64_t clock_ms; /* left on the own clock, */
	uint64_t bonus_ms; /* added after each move, */
	unsigned to_go;	   /* moves until more time is given; 0: none is */
	bool infinite;	   /* until it is stopped, */
	bool ponder;	   /* or until chi_engine_ponderhit; the clock counts from then on */
	unsigned lines;	   /* MultiPV; 0 is 1 */
	/* Only these moves of the position; none: all. Borrowed. */
	const chi_move *moves;
	size_t n_moves;
};

enum chi_engine_bound {
	CHI_ENGINE_EXACT,
	CHI_ENGINE_AT_LEAST,
	CHI_ENGINE_AT_MOST,
};

/*
 * A principal variation. Moves are legal one after the other. An exact line has as many moves as
 * the depth at least, or ends with mate, with a draw by the rules, or with a position that it has
 * shown before, which counts as a draw. If the score is a mate, the line ends with it.
 */
struct chi_engine_line {
	unsigned depth; /* plies that all moves were looked ahead */
	unsigned seldepth;
	unsigned number; /* of MultiPV, from 1 */
	int score;
	uint8_t bound;	    /* enum chi_engine_bound; all but the last line of a depth */
	const chi_move *pv; /* valid during the call */
	size_t n_pv;
	uint64_t nodes;
	uint64_t asked; /* positions that the store was asked for, and */
	uint64_t found; /* those that it had */
	uint64_t ms;
	unsigned hashfull; /* thousandths of the table in use */
};

/* Called on the searching thread, for each line of each depth. */
typedef void chi_engine_report(void *context, const struct chi_engine_line *line);

/* `hash_mib`: megabytes of the transposition table, 1..CHI_HASH_MIB_MAX. NULL: out of memory. */
struct chi_engine *chi_engine_new(size_t hash_mib);
void chi_engine_free(struct chi_engine *engine); /* NULL is fine */

/* Another size. What it held is gone; out of memory: the old table stays, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_engine_resize(struct chi_engine *engine, size_t hash_mib);

/* Forgets what earlier searches found. */
void chi_engine_clear(struct chi_engine *engine);

/* The same of the table alone, at once. */
void chi_engine_forget(struct chi_engine *engine);

/* Positions of the store are asked for through `prober`, borrowed, until it is set to NULL.
 * `least`: only at nodes with so many plies to go, 1 or more. */
void chi_engine_ask(struct chi_engine *engine, struct chi_prober *prober, int least);

/* The game so far: the position it begins with, with `clock` half-moves since a capture or a pawn's
 * move, and the legal moves from there. There are both kings, and the side to move cannot take the
 * other's. */
void chi_engine_set(struct chi_engine *engine, const struct chi_position *start, unsigned clock,
		    const chi_move *moves, size_t n);

/* The position that the next search begins with. */
const struct chi_position *chi_engine_position(const struct chi_engine *engine);

/* Half-moves since a capture or a pawn's move before it. */
unsigned chi_engine_clock(const struct chi_engine *engine);

/* A position has come up twice since a capture or a pawn's move, this one included. */
bool chi_engine_repeated(const struct chi_engine *engine);

/* The best move may be of a depth that was not completed, if it was seen to be better by then. */
struct chi_engine_result {
	chi_move best;	 /* 0: there is no legal move */
	chi_move ponder; /* what may be answered; 0: not known */
	/* Of the last depth that was completed: */
	unsigned depth; /* 0: none was, the rest is nothing */
	int score;
	chi_move pv[CHI_PLIES_MAX];
	size_t n_pv;
	uint64_t nodes;
	uint64_t ms;
	/* Draws were counted that come of the game before, and not of the position: by repetition,
	 * and by 50 moves. The score and the table may depend on them. */
	bool draws_of_game;
};

/* Searches. `report` may be NULL. */
void chi_engine_go(struct chi_engine *engine, const struct chi_engine_limits *limits,
		   chi_engine_report *report, void *context, struct chi_engine_result *result);

/* Ends the search; the next ones, too, until chi_engine_ready is called. */
void chi_engine_stop(struct chi_engine *engine);

/* The move that was pondered on was played: the clock runs. This, too, is so for the next search if
 * it comes before it begins. chi_engine_hit: when it was, by chi_now_ms; 0: not since
 * chi_engine_ready. */
void chi_engine_ponderhit(struct chi_engine *engine);
int64_t chi_engine_hit(const struct chi_engine *engine);

/* Another search may begin. */
void chi_engine_ready(struct chi_engine *engine);
