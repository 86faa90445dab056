/* SPDX-License-Identifier: MIT */
/*
 * What a store knows beyond counts: where results are other than ratings let expect, and moves that
 * were new. Each is one question over a whole snapshot; its rows are findings, the surest or the
 * most followed first. How each is computed, and what it cannot say: docs/INSIGHT.md.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chi_client;

enum chi_insight_kind {
	CHI_INSIGHT_WEAK,	 /* positions where a side does worse than in its other games */
	CHI_INSIGHT_STRONG,	 /* or better */
	CHI_INSIGHT_NOVELTIES,	 /* moves that were new in a position that was known */
	CHI_INSIGHT_TEMPO,	 /* pairs of positions where one side is a move ahead */
	CHI_INSIGHT_PERFORMANCE, /* positions where results are other than ratings let expect */
	CHI_INSIGHT_DRIFT,  /* positions of which the share of games, or the results, changed */
	CHI_INSIGHT_GAP,    /* positions where results and evaluations disagree */
	CHI_INSIGHT_SPREAD, /* positions where engines disagree */
	CHI_INSIGHTS
};

/* Scores are points of a game, 10,000 for a won one; chances are in billionths. */
#define CHI_INSIGHT_POINT  10000
#define CHI_INSIGHT_CHANCE 1000000000

#define CHI_INSIGHT_YEARS_MAX 1000

/* Games that WEAK and STRONG look at, which play them again. */
#define CHI_INSIGHT_GAMES_MAX (UINT32_C(1) << 16)
/* Of fewer games of a position they say nothing. */
#define CHI_INSIGHT_FEWEST 5
/* Rows of SPREAD. */
#define CHI_INSIGHT_SPREADS_MAX 10000

struct chi_insight_spec {
	size_t size;
	uint8_t kind;	    /* enum chi_insight_kind */
	bool black;	    /* WEAK, STRONG: of the games of the filter, Black's results */
	const char *filter; /* WEAK, STRONG: games of one player with this side, or of any group;
			       NOVELTIES: those in which the move was new, of all games;
			       PERFORMANCE, DRIFT, GAP: those that count; not TEMPO; SPREAD: only
			       positions that one of these reached, NULL or "": all positions */
	uint64_t min_games; /* WEAK, STRONG, PERFORMANCE, GAP: rated games of a position; NOVELTIES:
			       games of the move; TEMPO: of each position; DRIFT: games with a year.
			       SPREAD: with a result. 0: 20, 60 and 200, PERFORMANCE, DRIFT: 100,
			       GAP: 50, SPREAD: none */
	uint32_t fdr;	 /* not NOVELTIES, TEMPO, SPREAD: of the findings so many thousandths may be
			    chance; 0: 50; at most 1,000, which are all that were tested */
	uint32_t known;	 /* NOVELTIES: games with the position before; 0: 20 */
	uint32_t years;	 /* NOVELTIES: within which others follow; 0: 3 */
	uint64_t limit;	 /* rows, the first ones; 0: all, SPREAD: as most */
	uint32_t split;	 /* DRIFT: the first year of the later games; not 0 */
	uint8_t engines; /* GAP, SPREAD: positions that so many evaluated; 0: 1, SPREAD: 2, and not
			    1 */
	struct chi_evidence evidence;	/* the evaluations that it, and the filter, goes by */
	const struct chi_key *position; /* PERFORMANCE: only positions after its moves, of which
					   each is a row of its own; NULL: all positions */
};
#define CHI_INSIGHT_SPEC_INIT .size = sizeof(struct chi_insight_spec)

/* What an engine says of a position: its best line. */
struct chi_insight_opinion {
	char engine[CHI_ENGINE_MAX + 1];
	uint16_t depth; /* plies */
	uint16_t eval;	/* as the eval statistic has it, 1..CHI_CHI2_MAX; 0: there is none */
};

struct chi_insight_row {
	struct chi_key
		key; /* the position; NOVELTIES: where the move was new; with spec.position: that */
	chi_move move;	 /* NOVELTIES, with spec.position: the move; else 0 */
	uint32_t game;	 /* number of a game with it; NOVELTIES: the first with the move; 0: none
			    is there */
	uint32_t ply;	 /* after so many plies the position is in that game */
	uint64_t games;	 /* that count: WEAK, STRONG, PERFORMANCE, GAP: rated ones; NOVELTIES: with
			    the  move; DRIFT: from the split on */
	uint64_t others; /* SPREAD: engines that evaluated it; WEAK, STRONG, PERFORMANCE, GAP:
			    positions of the same finding, this one included; NOVELTIES: games with
			    the position before; TEMPO: games of the position that is a move behind;
			    DRIFT: games before the split */
	uint64_t followed; /* NOVELTIES: games of the move after the first, within the years; DRIFT:
			      positions of the same finding, this one included */
	uint32_t score;	   /* SPREAD: White's expected one by `best`; of the side (NOVELTIES: of who
			      played the move; TEMPO, PERFORMANCE: of    White; DRIFT: of White, in
			      rated    games from the split on) */
	uint32_t expected; /* SPREAD: White's by `worst`; by ratings, and WEAK, STRONG: by the other
			      games; NOVELTIES, PERFORMANCE: by ratings alone; TEMPO: the score a
			      move behind; DRIFT: by ratings, and by what was beyond them before, if
			      that changed as in all games. CHI_INSIGHT_UNKNOWN: NOVELTIES: without
			      rated games; DRIFT: with fewer than 20 before or after, and so
			      `score`, `low`, `high` */
	int32_t low; /* of 95 % of intervals made so the true score is within; TEMPO: what the move
			is worth, `score` less `expected`, which may be less than 0; 0 without a
			score */
	int32_t high;
	uint32_t chance;   /* not NOVELTIES, TEMPO, SPREAD: that of a result so far off, or farther,
			      by luck,   PERFORMANCE, DRIFT: to either side; DRIFT: twice the smaller
			      one of   those of the share of games and of the score */
	uint32_t adjusted; /* the same for as many positions as were tested */
	int32_t eval;  /* GAP: centipawns as White sees them, -1,599 to 1,599, which mates are too;
			  `score` is that of equals, `expected` by the evaluation */
	bool has_loss; /* NOVELTIES: both positions, before and after the move, are evaluated */
	int32_t loss;  /* how many centipawns worse for who played it the position after it is, as
			  the condition `loss` of filters has it; a mate counts as 1,000,000 */
	struct chi_insight_opinion best;  /* SPREAD: the highest for White, of equal ones the */
	struct chi_insight_opinion worst; /* deepest; and the lowest */
};

#define CHI_INSIGHT_UNKNOWN UINT32_MAX
/* From a mate for the side to move to one against it. */
#define CHI_INSIGHT_LOSS_MAX 2000000

struct chi_insight_result {
	const struct chi_insight_row *rows;
	size_t n;
	uint64_t tested; /* positions, or moves, that had games enough; NOVELTIES: and whose first
			    game is one of the filter's */
	uint64_t games; /* WEAK, STRONG, PERFORMANCE, GAP: rated games; DRIFT: those with a year, of
			   the filter; else the store's */
	uint64_t before; /* DRIFT: of these, those before the split */
};

/* -CHI_ESYNTAX, -CHI_ETOOBIG, -CHI_EINVAL: the spec, or its filter; -CHI_ETOOBIG also if WEAK or
 * STRONG has over CHI_INSIGHT_GAMES_MAX games. */
CHI_MUSTUSE int chi_insight_list(struct chi_client *client, const struct chi_insight_spec *spec,
				 struct chi_insight_result *out);

#ifdef __cplusplus
}
#endif
