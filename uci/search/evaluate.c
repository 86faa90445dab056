/* SPDX-License-Identifier: MIT */
/*
 * A tapered evaluation: each term counts with a weight for the middlegame and one for the endgame,
 * and the pieces left decide how much of each. What is won is scaled down in endgames that are
 * drawn more often than their material says.
 */
#include "uci/search/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/bitboard.h"
#include "uci/search/engine.h"

#define FILE_A UINT64_C(0x0101010101010101)
#define FILE_H UINT64_C(0x8080808080808080)
#define LIGHT  UINT64_C(0x55aa55aa55aa55aa)

struct side {
	uint64_t pawns;
	uint64_t pawn_attacks;
	uint64_t attacks; /* of all its pieces */
	uint64_t king_zone;
	int king;
	int danger; /* weight of what attacks the enemy's king zone */
};

struct tally {
	const struct chi_position *position;
	struct side sides[2];
	int middle;
	int end;
	struct chi_trace *trace; /* or NULL */
};

/* Inlined everywhere, so that the evaluation without a trace has no trace of it. */
static inline __attribute__((always_inline)) void add_tally(struct tally *t, int colour, int term,
							    int n)
{
	int sign = colour == CHI_WHITE ? n : -n;
	t->middle += sign * chi_weights[term].middle;
	t->end += sign * chi_weights[term].end;
	if (t->trace != NULL) {
		t->trace->counts[term] = (int8_t)(t->trace->counts[term] + sign);
	}
}

/* The rank as the side sees it, 0..7. */
static inline int rank_of(int colour, int square)
{
	return colour == CHI_WHITE ? square >> 3 : 7 - (square >> 3);
}

static inline uint64_t north_or_south(int colour, uint64_t set)
{
	return colour == CHI_WHITE ? set << 8 : set >> 8;
}

static inline uint64_t pawn_attacks(int colour, uint64_t pawns)
{
	uint64_t ahead = north_or_south(colour, pawns);
	return (ahead & ~FILE_A) >> 1 | (ahead & ~FILE_H) << 1;
}

static inline uint64_t files_beside(int file)
{
	uint64_t own = FILE_A << file;
	return (own & ~FILE_A) >> 1 | (own & ~FILE_H) << 1;
}

/* All squares before a pawn, on its own rank not. */
static inline uint64_t ahead_of(int colour, int square)
{
	int rank = square >> 3;
	return colour == CHI_WHITE ? (rank == 7 ? 0 : ~UINT64_C(0) << (8 * (rank + 1)))
				   : (UINT64_C(1) << (8 * rank)) - 1;
}

static inline int distance(int a, int b)
{
	int files = abs((a & 7) - (b & 7));
	int ranks = abs((a >> 3) - (b >> 3));
	return files > ranks ? files : ranks;
}

static inline __attribute__((always_inline)) void take_square(struct tally *t, int colour, int kind,
							      int square)
{
	int file = square & 7;
	file = file < 4 ? file : 7 - file;
	add_tally(t, colour, CHI_TERM_SQUARE + 32 * kind + 4 * rank_of(colour, square) + file, 1);
	if (kind != CHI_KING) {
		add_tally(t, colour, CHI_TERM_PIECE + kind, 1);
	}
}

static inline __attribute__((always_inline)) void take_passed(struct tally *t, int colour,
							      int square)
{
	const struct chi_position *p = t->position;
	int rank = rank_of(colour, square);
	uint64_t next = north_or_south(colour, chi_bit(square));
	add_tally(t, colour, CHI_TERM_PASSED + rank, 1);
	if ((next & chi_position_occupied(p)) == 0) {
		add_tally(t, colour, CHI_TERM_PASSED_FREE + rank, 1);
	}
	if (rank >= 4) {
		int goal = colour == CHI_WHITE ? square + 8 : square - 8;
		add_tally(t, colour, CHI_TERM_PASSED_OWN, distance(t->sides[colour].king, goal));
		add_tally(t, colour, CHI_TERM_PASSED_ENEMY,
			  distance(t->sides[colour ^ 1].king, goal));
	}
}

static inline __attribute__((always_inline)) void take_pawn(struct tally *t, int colour, int square)
{
	const struct side *us = &t->sides[colour];
	uint64_t enemies = t->sides[colour ^ 1].pawns;
	uint64_t file = FILE_A << (square & 7);
	uint64_t beside = files_beside(square & 7);
	uint64_t ahead = ahead_of(colour, square);
	int rank = rank_of(colour, square);
	take_square(t, colour, CHI_PAWN, square);
	if ((enemies & ahead & (file | beside)) == 0 && (us->pawns & ahead & file) == 0) {
		take_passed(t, colour, square);
	}
	if ((us->pawns & ahead & file) != 0) {
		add_tally(t, colour, CHI_TERM_DOUBLED, 1);
	}
	if ((us->pawns & chi_attacks.king[square] & beside & CHI_RANK_1 << (square & 56)) != 0) {
		add_tally(t, colour, CHI_TERM_PHALANX + rank, 1);
	}
	if ((us->pawn_attacks & chi_bit(square)) != 0) {
		add_tally(t, colour, CHI_TERM_CHAIN + rank, 1);
	} else if ((us->pawns & beside) == 0) {
		add_tally(t, colour, CHI_TERM_ISOLATED, 1);
	} else if ((us->pawns & beside & ~ahead) == 0 && (north_or_south(colour, chi_bit(square)) &
							  t->sides[colour ^ 1].pawn_attacks) != 0) {
		add_tally(t, colour, CHI_TERM_BACKWARD, 1);
	}
}

static inline __attribute__((always_inline)) void take_moves(struct tally *t, int colour, int kind,
							     uint64_t attacks)
{
	static const int first[] = {0, CHI_TERM_KNIGHT_MOVES, CHI_TERM_BISHOP_MOVES,
				    CHI_TERM_ROOK_MOVES, CHI_TERM_QUEEN_MOVES};
	static const int weight[] = {0, 2, 2, 3, 5};
	struct side *us = &t->sides[colour];
	const struct side *them = &t->sides[colour ^ 1];
	uint64_t safe = attacks & ~t->position->colour[colour] & ~them->pawn_attacks;
	add_tally(t, colour, first[kind] + chi_popcount(safe), 1);
	us->attacks |= attacks;
	us->danger += weight[kind] * chi_popcount(attacks & them->king_zone);
}

static inline __attribute__((always_inline)) void take_rook(struct tally *t, int colour, int square)
{
	uint64_t file = FILE_A << (square & 7);
	if ((t->sides[colour].pawns & file) == 0) {
		bool open = (t->sides[colour ^ 1].pawns & file) == 0;
		add_tally(t, colour, open ? CHI_TERM_ROOK_OPEN : CHI_TERM_ROOK_HALF_OPEN, 1);
	}
}

static inline __attribute__((always_inline)) void take_knight(struct tally *t, int colour,
							      int square)
{
	uint64_t beside = files_beside(square & 7);
	int rank = rank_of(colour, square);
	if (rank >= 3 && rank <= 5 && (t->sides[colour].pawn_attacks & chi_bit(square)) != 0 &&
	    (t->sides[colour ^ 1].pawns & beside & ahead_of(colour, square)) == 0) {
		add_tally(t, colour, CHI_TERM_OUTPOST, 1);
	}
}

/* Bishops and rooks look through their own queen and rooks. */
static inline __attribute__((always_inline)) uint64_t attacks_of(const struct tally *t, int colour,
								 int kind, int square)
{
	const struct chi_position *p = t->position;
	uint64_t occupied = chi_position_occupied(p);
	uint64_t queens = chi_position_pieces(p, colour, CHI_QUEEN);
	switch (kind) {
	case CHI_KNIGHT:
		return chi_attacks.knight[square];
	case CHI_BISHOP:
		return chi_bishop_attacks(square, occupied & ~queens);
	case CHI_ROOK:
		return chi_rook_attacks(square, occupied & ~queens &
							~chi_position_pieces(p, colour, CHI_ROOK));
	default:
		return chi_queen_attacks(square, occupied);
	}
}

static inline __attribute__((always_inline)) void take_pieces(struct tally *t, int colour)
{
	const struct chi_position *p = t->position;
	for (int kind = CHI_KNIGHT; kind <= CHI_QUEEN; kind++) {
		uint64_t pieces = chi_position_pieces(p, colour, kind);
		while (pieces != 0) {
			int square = chi_pop(&pieces);
			take_square(t, colour, kind, square);
			take_moves(t, colour, kind, attacks_of(t, colour, kind, square));
			if (kind == CHI_KNIGHT) {
				take_knight(t, colour, square);
			} else if (kind == CHI_ROOK) {
				take_rook(t, colour, square);
			}
		}
	}
	uint64_t bishops = chi_position_pieces(p, colour, CHI_BISHOP);
	if ((bishops & LIGHT) != 0 && (bishops & ~LIGHT) != 0) {
		add_tally(t, colour, CHI_TERM_BISHOP_PAIR, 1);
	}
}

static inline __attribute__((always_inline)) void take_king(struct tally *t, int colour)
{
	const struct side *us = &t->sides[colour];
	int file = us->king & 7;
	uint64_t files = FILE_A << file | files_beside(file);
	uint64_t zone = chi_attacks.king[us->king] | chi_bit(us->king);
	uint64_t before = north_or_south(colour, zone) & files & ahead_of(colour, us->king);
	int danger = t->sides[colour ^ 1].danger / 2;
	take_square(t, colour, CHI_KING, us->king);
	add_tally(
		t, colour, CHI_TERM_SHELTER,
		chi_popcount(us->pawns & chi_attacks.king[us->king] & ahead_of(colour, us->king)));
	add_tally(t, colour, CHI_TERM_SHELTER_FAR,
		  chi_popcount(us->pawns & before & ~chi_attacks.king[us->king]));
	for (int f = file > 0 ? file - 1 : 0; f <= file + 1 && f < 8; f++) {
		add_tally(t, colour, CHI_TERM_KING_OPEN, (us->pawns & FILE_A << f) == 0);
	}
	add_tally(t, colour, CHI_TERM_KING_DANGER + (danger < 15 ? danger : 15), 1);
}

static inline __attribute__((always_inline)) void take_threats(struct tally *t, int colour)
{
	const struct chi_position *p = t->position;
	const struct side *us = &t->sides[colour];
	const struct side *them = &t->sides[colour ^ 1];
	uint64_t pieces = p->colour[colour ^ 1] & ~p->kind[CHI_PAWN] & ~p->kind[CHI_KING];
	uint64_t minors = 0;
	uint64_t mine = p->colour[colour] & (p->kind[CHI_KNIGHT] | p->kind[CHI_BISHOP]);
	while (mine != 0) {
		int square = chi_pop(&mine);
		bool knight = (p->kind[CHI_KNIGHT] & chi_bit(square)) != 0;
		minors |= attacks_of(t, colour, knight ? CHI_KNIGHT : CHI_BISHOP, square);
	}
	add_tally(t, colour, CHI_TERM_PAWN_THREAT, chi_popcount(pieces & us->pawn_attacks));
	add_tally(t, colour, CHI_TERM_MINOR_THREAT,
		  chi_popcount(minors & pieces & (p->kind[CHI_ROOK] | p->kind[CHI_QUEEN])));
	add_tally(t, colour, CHI_TERM_HANGING,
		  chi_popcount(p->colour[colour ^ 1] & ~p->kind[CHI_KING] & us->attacks &
			       ~them->attacks & ~them->pawn_attacks &
			       ~chi_attacks.king[them->king]));
}

static inline void look_at(struct tally *t)
{
	const struct chi_position *p = t->position;
	for (int colour = 0; colour < 2; colour++) {
		struct side *side = &t->sides[colour];
		side->king = chi_position_king(p, colour);
		side->pawns = chi_position_pieces(p, colour, CHI_PAWN);
		side->pawn_attacks = pawn_attacks(colour, side->pawns);
		side->king_zone = chi_attacks.king[side->king] | chi_bit(side->king);
		side->king_zone |= north_or_south(colour, side->king_zone);
	}
}

static inline __attribute__((always_inline)) void take_all(struct tally *t)
{
	look_at(t);
	for (int colour = 0; colour < 2; colour++) {
		uint64_t pawns = t->sides[colour].pawns;
		while (pawns != 0) {
			take_pawn(t, colour, chi_pop(&pawns));
		}
		take_pieces(t, colour);
	}
	for (int colour = 0; colour < 2; colour++) {
		take_king(t, colour);
		take_threats(t, colour);
	}
	add_tally(t, t->position->side, CHI_TERM_TEMPO, 1);
}

static int phase_of(const struct chi_position *p)
{
	int phase = chi_popcount(p->kind[CHI_KNIGHT] | p->kind[CHI_BISHOP]) +
		    2 * chi_popcount(p->kind[CHI_ROOK]) + 4 * chi_popcount(p->kind[CHI_QUEEN]);
	return phase < CHI_PHASE_MAX ? phase : CHI_PHASE_MAX;
}

void chi_evaluate_trace(const struct chi_position *position, struct chi_classes *classes,
			struct chi_trace *trace)
{
	struct tally t = {.position = position, .trace = trace};
	memset(trace, 0, sizeof(*trace));
	take_all(&t);
	trace->phase = phase_of(position);
	trace->scale = chi_evaluate_scale(position, t.end > 0 ? CHI_WHITE : CHI_BLACK, classes);
}

int chi_evaluate(const struct chi_position *position, struct chi_classes *classes)
{
	struct tally t = {.position = position};
	take_all(&t);
	int phase = phase_of(position);
	int scale = chi_evaluate_scale(position, t.end > 0 ? CHI_WHITE : CHI_BLACK, classes);
	int score =
		(t.middle * phase + t.end * scale / 64 * (CHI_PHASE_MAX - phase)) / CHI_PHASE_MAX;
	/* With thirty queens it would be a mate. */
	score = score >= CHI_MATE_BOUND	   ? CHI_MATE_BOUND - 1
		: score <= -CHI_MATE_BOUND ? -CHI_MATE_BOUND + 1
					   : score;
	return position->side == CHI_WHITE ? score : -score;
}
