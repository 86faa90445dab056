/* SPDX-License-Identifier: MIT */
/* Evaluation and exchanges against what must be true of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chess/fen.h"
#include "chess/movegen.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"
#include "uci/search/evaluate.h"
#include "uci/search/node.h"

static struct chi_classes classes;

static struct chi_position position_of(const char *fen)
{
	struct chi_position p;
	assert_int_equal(chi_fen_parse(fen, strlen(fen), &p, NULL), CHI_OK);
	return p;
}

/* A position some random moves after the start. */
static struct chi_position random_position(struct seed *seed)
{
	struct chi_position p = position_of(CHI_FEN_START);
	for (size_t n = seed_below(seed, 120); n > 0; n--) {
		struct chi_move_list list;
		struct chi_position next;
		chi_movegen_legal(&p, &list);
		if (list.n == 0) {
			break;
		}
		chi_position_play(&p, list.moves[seed_below(seed, list.n)], &next);
		p = next;
	}
	return p;
}

static uint64_t turned(uint64_t set)
{
	return __builtin_bswap64(set);
}

/* Black's and White's pieces exchanged, the board upside down. */
static struct chi_position mirrored(const struct chi_position *p)
{
	struct chi_position out = {.side = (uint8_t)(p->side ^ 1), .ep = p->ep};
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		out.kind[kind] = turned(p->kind[kind]);
	}
	out.colour[CHI_WHITE] = turned(p->colour[CHI_BLACK]);
	out.colour[CHI_BLACK] = turned(p->colour[CHI_WHITE]);
	out.castle = turned(p->castle);
	out.ep = p->ep == CHI_NO_SQUARE ? p->ep : p->ep ^ 56;
	return out;
}

CASE(test_colours_are_alike)
{
	struct seed seed = seed_start("colours_are_alike");
	for (size_t round = seed_rounds(20000); round > 0; round--) {
		struct chi_position p = random_position(&seed);
		struct chi_position m = mirrored(&p);
		assert_int_equal(chi_evaluate(&p, &classes), chi_evaluate(&m, &classes));
	}
}

/* The sum of what is traced is the evaluation. */
CASE(test_trace_is_the_evaluation)
{
	struct seed seed = seed_start("trace_is_the_evaluation");
	for (size_t round = seed_rounds(5000); round > 0; round--) {
		struct chi_position p = random_position(&seed);
		struct chi_trace trace;
		int middle = 0;
		int end = 0;
		chi_evaluate_trace(&p, &classes, &trace);
		for (int i = 0; i < CHI_TERMS; i++) {
			middle += trace.counts[i] * chi_weights[i].middle;
			end += trace.counts[i] * chi_weights[i].end;
		}
		int score = (middle * trace.phase +
			     end * trace.scale / 64 * (CHI_PHASE_MAX - trace.phase)) /
			    CHI_PHASE_MAX;
		assert_int_equal(chi_evaluate(&p, &classes), p.side == CHI_WHITE ? score : -score);
	}
}

/* What cannot be won counts for little, what is won for much. */
CASE(test_endgames)
{
	static const struct {
		const char *fen;
		int least;
		int most;
	} cases[] = {
		{"8/8/4k3/8/8/3NK3/8/8 w - - 0 1", -20, 20},
		{"8/8/4k3/8/8/3NKN2/8/8 w - - 0 1", -100, 100},
		{"7k/8/8/8/8/4B3/7P/4K3 w - - 0 1", 100, 2000},
		{"7k/8/8/8/8/5B2/7P/4K3 w - - 0 1", -150, 150},
		{"8/8/4k3/8/8/3QK3/8/8 w - - 0 1", 600, 3000},
		{"8/8/4k3/8/8/3RK3/8/8 w - - 0 1", 300, 3000},
		{"8/3r4/4k3/8/8/3RK3/4P3/8 w - - 0 1", 10, 250},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chi_position p = position_of(cases[i].fen);
		int score = chi_evaluate(&p, &classes);
		if (score < cases[i].least || score > cases[i].most) {
			fail_msg("%s: %d", cases[i].fen, score);
		}
	}
}

/* ---- Exchanges ----------------------------------------------------------------------------- */

static const int values[CHI_KINDS + 1] = {100, 320, 330, 500, 950, 20000, 0};

/* The best that the side to move makes of captures on one square, pins not regarded: written for
 * this test, by trying. `occupied`: who still stands there. */
static int best_exchange(const struct chi_position *p, int to, int side, uint64_t occupied,
			 int standing)
{
	uint64_t all = chi_attackers(p, to, side, occupied) & occupied & ~chi_bit(to);
	for (int kind = CHI_PAWN; kind < CHI_KINDS; kind++) {
		uint64_t some = all & p->kind[kind];
		if (some == 0) {
			continue;
		}
		uint64_t rest = occupied & ~(some & -some);
		uint64_t answers = chi_attackers(p, to, side ^ 1, rest) & rest & ~chi_bit(to);
		if (kind == CHI_KING && answers != 0) {
			return 0;
		}
		int wins = values[standing] - best_exchange(p, to, side ^ 1, rest, kind);
		return wins > 0 ? wins : 0;
	}
	return 0;
}

static int exchange(const struct chi_position *p, chi_move move)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	uint64_t occupied = (chi_position_occupied(p) & ~chi_bit(from)) | chi_bit(to);
	int victim = chi_position_kind(p, to);
	if (to == p->ep && chi_position_kind(p, from) == CHI_PAWN) {
		victim = CHI_PAWN;
		occupied &= ~chi_bit(to ^ 8);
	}
	return values[victim] -
	       best_exchange(p, to, p->side ^ 1, occupied, chi_position_kind(p, from));
}

CASE(test_exchanges)
{
	struct seed seed = seed_start("exchanges");
	for (size_t round = seed_rounds(5000); round > 0; round--) {
		struct chi_position p = random_position(&seed);
		struct chi_move_list list;
		chi_movegen_legal(&p, &list);
		for (size_t i = 0; i < list.n; i++) {
			chi_move move = list.moves[i];
			if (chi_position_is_castling(&p, move) || chi_move_promotion(move) != 0) {
				continue;
			}
			int wins = exchange(&p, move);
			assert_true(chi_see_at_least(&p, move, wins));
			assert_false(chi_see_at_least(&p, move, wins + 1));
		}
	}
}
