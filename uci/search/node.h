/* SPDX-License-Identifier: MIT */
/* The state of a search, and its parts. Private to the room. */
#pragma once

#include <stdatomic.h>

#include "uci/search/engine.h"
#include "uci/search/evaluate.h"
#include "uci/search/pv.h"
#include "uci/search/table.h"

#define CHI_INFINITE 32000
#define CHI_NO_EVAL  CHI_TABLE_NO_EVAL

/* Positions of the game before the search that may come again. */
#define CHI_GAME_MAX 128

/* A node on the way from the root to here. */
struct chi_frame {
	struct chi_position position;
	uint64_t hash;
	unsigned clock; /* half-moves since a capture or a pawn's move */
	unsigned reach; /* the same, and since a pass: further back nothing is repeated */
	bool known;	/* the store has it, as far as it was asked */
	chi_move move;	/* that led here; 0 at the root, and after passing */
	int eval;	/* CHI_NO_EVAL in check */
	chi_move killers[2];
};

/* What the store has of a position. */
struct chi_known_position {
	bool found;
	bool has_eval;
	uint16_t depth;
	int score;     /* side to move's view, as the search has it */
	chi_move best; /* of an evaluation or line; 0: none. Legal if the store is right */
	uint32_t games;
	int share; /* White's points of these games, in thousandths */
};

struct chi_root_move {
	chi_move move;
	int score; /* of the last search; -CHI_INFINITE: not the best of it */
	size_t n_pv;
	chi_move pv[CHI_PLIES_MAX];
};

struct chi_engine {
	struct chi_table table;
	struct chi_classes classes;
	struct chi_pv_table pv;
	struct chi_frame frames[CHI_PLIES_MAX + 1];
	int16_t history[2][64][64];  /* quiet moves that cut, by colour and squares */
	chi_move answers[64][64];    /* to a move, by its squares */
	uint64_t game[CHI_GAME_MAX]; /* hashes, the newest last */
	size_t n_game;
	struct chi_root_move root[CHI_MOVEGEN_MAX];
	size_t n_root;
	struct chi_root_move leader; /* best so far of an iteration; n_pv 0: none yet */
	size_t line; /* of MultiPV that is searched: earlier root moves are left out */
	struct chi_prober *prober;
	int ask_least;
	unsigned ask_how; /* 0, or CHI_ASK_... */
	struct chi_engine_limits limits;
	int64_t begun_ms;	/* of the monotonic clock */
	uint64_t soft_ms;	/* of the own time: no new depth after so long */
	uint64_t hard_ms;	/* not a node longer */
	int64_t looked_ms;	/* when it was last looked at the clock */
	uint64_t worst_wait_ms; /* of this search and, fading, of earlier ones */
	uint64_t waits_ms;	/* eight times their mean between searches */
	uint64_t next_clock_ms; /* the GUI's if there is no wait; 0: not known */
	uint64_t asked;
	uint64_t found;
	uint64_t
		looked_asked; /* `asked` at the last look at the clock: a store may take its time */
	int seldepth;
	int depth;	    /* of the iteration */
	bool draws_of_game; /* as in the result */
	_Atomic uint64_t nodes;
	atomic_bool stop;
	_Atomic int64_t hit_ms; /* when pondering ended; 0: not yet */
};

static inline struct chi_position *chi_here(struct chi_engine *engine, int ply)
{
	return &engine->frames[ply].position;
}

static inline bool chi_is_capture(const struct chi_position *p, chi_move move)
{
	int to = chi_move_to(move);
	return (p->colour[p->side ^ 1] & chi_bit(to)) != 0 ||
	       (to == p->ep && (p->kind[CHI_PAWN] & chi_bit(chi_move_from(move))) != 0);
}

/* Neither takes nor promotes. */
static inline bool chi_is_quiet(const struct chi_position *p, chi_move move)
{
	return !chi_is_capture(p, move) && chi_move_promotion(move) == 0;
}

uint64_t chi_position_hash(const struct chi_position *position);

/* The move, or passing (0), from ply to ply + 1. */
void chi_engine_play(struct chi_engine *engine, int ply, chi_move move);

/* Looks at the clock: is the time for the move over? */
bool chi_engine_late(struct chi_engine *engine);

/* Negamax of a node: `depth` plies, scores within alpha..beta. */
int chi_node(struct chi_engine *engine, int ply, int depth, int alpha, int beta, bool may_pass);

/* ---- Order (order.c) --------------------------------------------------------------------- */

struct chi_picker {
	struct chi_move_list list;
	int scores[CHI_MOVEGEN_MAX];
	size_t next;
};

/* All legal moves, or at the root those that are to be searched; `first` comes first. */
void chi_picker_all(struct chi_picker *picker, struct chi_engine *engine, int ply, chi_move first);

/* Captures that do not lose material, and promotions. */
void chi_picker_captures(struct chi_picker *picker, struct chi_engine *engine, int ply);

/* The best of those left; 0: none. */
chi_move chi_picker_next(struct chi_picker *picker);

/* A quiet move cut; those tried before it did not. */
void chi_order_learn(struct chi_engine *engine, int ply, int depth, chi_move move,
		     const chi_move *tried, size_t n_tried);

/* Centipawns that a series of captures on the move's square brings at least, both sides stopping
 * when they like: is it `least` or more? */
bool chi_see_at_least(const struct chi_position *position, chi_move move, int least);

/* ---- The store (ask.c) ------------------------------------------------------------------- */

/* For bench/engine/probe.c, which measures the cost. */
enum chi_ask_how {
	CHI_ASK_IN_VAIN = 1, /* answers are not used */
	CHI_ASK_SINGLY = 2   /* the positions after a node's moves are not asked for together */
};

/* What the store has of the position at `ply`, with `depth` plies to go; false: nothing, or it was
 * not worth asking. */
bool chi_ask_store(struct chi_engine *engine, int ply, int depth, struct chi_known_position *out);

/* Adds to the scores of quiet moves what the store has of the positions after them, if it has the
 * position itself. `depth`: plies to go at the node. */
void chi_ask_order(struct chi_engine *engine, int ply, int depth, struct chi_picker *picker);
