/* SPDX-License-Identifier: MIT */
/* Conditions on a position and the move played from it. The positions are small enough to see the
 * answer. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/moment/features.h"
#include "chess/moment/played.h"
#include "chess/notation.h"
#include "tests/base/cases.h"

static struct chi_fault fault;

static struct chi_position position_of(const char *fen)
{
	struct chi_position position;
	assert_int_equal(chi_fen_parse(fen, strlen(fen), &position, &fault), CHI_OK);
	return position;
}

#define CASTLING "r3k2r/pppq1ppp/2np1n2/2b1p3/2B1P1b1/2NP1N2/PPPQ1PPP/R3K2R w KQkq - 0 1"
#define CAPTURES "6k1/1P3ppp/8/3pP3/2B2b2/8/6PP/3R2K1 w - d6 0 1"
#define GIFT	 "r1bq1rk1/pppnbppp/4pn2/3pP3/3P4/2NB1N2/PPP2PPP/R1BQK2R w KQ - 0 1"
#define BACK	 "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"
#define BLACK	 "r3k3/8/8/8/8/1n6/P7/R3K3 b q - 0 1"

static const struct {
	const char *fen;
	const char *move; /* UCI; "": none was played */
	const char *text;
	bool fits;
} played[] = {
	{CASTLING, "e1g1", "O-O", true},
	{CASTLING, "e1g1", "O-O-O", false},
	{CASTLING, "e1g1", "o-o", false},
	{CASTLING, "e1c1", "O-O-O", true},
	{CASTLING, "e1c1", "castles", true},
	{CASTLING, "e1g1", "K-g1", true},
	{CASTLING, "e1g1", "Ke1-g1", true},
	{CASTLING, "e1g1", "K-h1", false},
	{CASTLING, "e1g1", "R-f1", false},
	{CASTLING, "e1g1", "quiet", true},
	{CASTLING, "e1g1", "captures", false},
	{CASTLING, "e1f1", "castles", false},
	{CAPTURES, "e5d6", "ep", true},
	{CAPTURES, "e5d6", "captures", true},
	{CAPTURES, "e5d6", "Pxp", true},
	{CAPTURES, "e5d6", "Pxpd6", true},
	{CAPTURES, "e5d6", "Pxn", false},
	{CAPTURES, "c4d5", "ep", false},
	{CAPTURES, "c4d5", "Bxp", true},
	{CAPTURES, "c4d5", "Bd5", true},
	{CAPTURES, "c4d5", "B-d5", true},
	{CAPTURES, "c4d5", "Bxd5", true},
	{CAPTURES, "c4d5", "Bc4xpd5", true},
	{CAPTURES, "c4d5", "Bb3xpd5", false},
	{CAPTURES, "c4d5", "c4-d5", true},
	{CAPTURES, "c4d5", "c4d5", true},
	{CAPTURES, "c4d5", "d5", true},
	{CAPTURES, "c4d5", "c*-d*", true},
	{CAPTURES, "c4d5", "a..c3..4-**", true},
	{CAPTURES, "c4d5", "bd5", false},
	{CAPTURES, "c4d5", "quiet", false},
	{CAPTURES, "b7b8q", "promotes", true},
	{CAPTURES, "b7b8q", "P-*8=Q", true},
	{CAPTURES, "b7b8q", "P-*8=Q#", true},
	{CAPTURES, "b7b8n", "P-*8=[NBR]", true},
	{CAPTURES, "b7b8n", "P-*8=Q", false},
	{CAPTURES, "b7b8q", "P-b8", true},
	{CAPTURES, "b7b8q", "quiet", false},
	{CAPTURES, "d1d5", "promotes", false},
	{GIFT, "d3h7", "Bxph7+", true},
	{GIFT, "d3h7", "Bxph7#", false},
	{GIFT, "d3h7", "Bxph7", true},
	{GIFT, "d3h7", "[BQ]x?**+", true},
	{GIFT, "d3h7", "O-O|Bxp|quiet", true},
	{GIFT, "d3h7", "O-O|quiet", false},
	{GIFT, "e1g1", "any", true},
	{BACK, "a1a8", "R-*8#", true},
	{BACK, "a1a8", "?-**+", true},
	{BACK, "a1a7", "?#", false},
	/* All parts of a move may be left out but one. */
	{BACK, "a1a8", "#", true},
	{BACK, "a1a8", "+", true},
	{BACK, "a1a7", "+", false},
	{CAPTURES, "b7b8n", "=N", true},
	{CAPTURES, "b7b8n", "x=N", false},
	{BLACK, "a8a2", "a*2", true},
	{BLACK, "b3a1", "a*2", false},
	{BLACK, "a8a2", "a*-a2", true},
	{BACK, "", "any", false},
	{BLACK, "e8c8", "o-o-o", true},
	{BLACK, "e8c8", "O-O-O", false},
	{BLACK, "b3a1", "nxR", true},
	{BLACK, "b3a1", "nxa1", true},
	{BLACK, "b3a1", "axA", true},
	{BLACK, "b3a1", "Nxa1", false},
	{BLACK, "a8a2", "rxPa2", true},
};

CASE(test_played)
{
	for (size_t i = 0; i < CHI_COUNT(played); i++) {
		struct chi_position position = position_of(played[i].fen);
		struct chi_played_moves moves;
		struct chi_moment moment;
		struct chi_moment_view view;
		chi_move move = 0;
		if (played[i].move[0] != '\0') {
			assert_int_equal(chi_move_parse(&position, played[i].move,
							strlen(played[i].move), &move, &fault),
					 CHI_OK);
		}
		assert_int_equal(chi_played_parse(played[i].text, &moves, &fault), CHI_OK);
		chi_moment_init(&moment, &position, move, NULL);
		chi_moment_view_init(&view, &moment, (struct chi_turn){false, false}, NULL);
		if (chi_played_fits(&moves, &view) != played[i].fits) {
			fail_msg("%s %s: %s", played[i].fen, played[i].move, played[i].text);
		}
	}
}

/* A mirror changes the wings. */
CASE(test_mirrored_castling)
{
	struct chi_position position = position_of(CASTLING);
	struct chi_played_moves moves;
	struct chi_moment moment;
	struct chi_moment_view view;
	chi_move move = 0;
	assert_int_equal(chi_move_parse(&position, "e1g1", 4, &move, &fault), CHI_OK);
	chi_moment_init(&moment, &position, move, NULL);
	chi_moment_view_init(&view, &moment, (struct chi_turn){true, false}, NULL);
	assert_int_equal(chi_played_parse("O-O-O", &moves, &fault), CHI_OK);
	assert_true(chi_played_fits(&moves, &view));
	assert_int_equal(chi_played_parse("Kd1-b1", &moves, &fault), CHI_OK);
	assert_true(chi_played_fits(&moves, &view));
	assert_int_equal(chi_played_parse("O-O", &moves, &fault), CHI_OK);
	assert_false(chi_played_fits(&moves, &view));
}

#define PINS  "4k3/4r3/8/b7/8/2N1Q3/8/4K3 w - - 0 1"
#define PAWNS "4k3/p1p3p1/2p5/3P4/1P4P1/8/1P5P/4K3 w - - 0 1"

static const struct {
	const char *fen;
	enum chi_feature_kind kind;
	const char *text;
	bool fits;
} features[] = {
	{PINS, CHI_FEATURE_PINNED, "A", true},
	{PINS, CHI_FEATURE_PINNED, "A 2", true},
	{PINS, CHI_FEATURE_PINNED, "A 3..", false},
	{PINS, CHI_FEATURE_PINNED, "N", true},
	{PINS, CHI_FEATURE_PINNED, "[QN] ..2", true},
	{PINS, CHI_FEATURE_PINNED, "a", true}, /* the rook, by the queen */
	{PINS, CHI_FEATURE_PINNED, "b", false},
	{PINS, CHI_FEATURE_ATTACKED, "e7 by Q", true},
	{PINS, CHI_FEATURE_ATTACKED, "e8 by Q", false},
	{PINS, CHI_FEATURE_ATTACKED, "k by A", false},
	{PINS, CHI_FEATURE_ATTACKED, "k+ by Q", true},
	{PINS, CHI_FEATURE_ATTACKED, "N by [ra] 1..1", true},
	{PINS, CHI_FEATURE_ATTACKED, "d5 by N 1", true},
	{PINS, CHI_FEATURE_ATTACKED, "d5 by A 0", false},
	{PINS, CHI_FEATURE_ATTACKED, "h8 by ? 0", true},
	{PINS, CHI_FEATURE_OCCUPIED, "k+ by .", false},
	{PINS, CHI_FEATURE_OCCUPIED, "k+ by [.r]", true},
	{PINS, CHI_FEATURE_OCCUPIED, "a1..2 by .", true},
	{PINS, CHI_FEATURE_OCCUPIED, "q by q", false},
	{PAWNS, CHI_FEATURE_PASSED, "Pd5", false},
	{PAWNS, CHI_FEATURE_PASSED, "Ph2", false},
	{PAWNS, CHI_FEATURE_PASSED, "p**", false},
	{PAWNS, CHI_FEATURE_ISOLATED, "Pd5", true},
	{PAWNS, CHI_FEATURE_ISOLATED, "Pg4", false},
	{PAWNS, CHI_FEATURE_ISOLATED, "p**", true},
	{PAWNS, CHI_FEATURE_ISOLATED, "Pb2", true},
	{PAWNS, CHI_FEATURE_DOUBLED, "P**", true},
	{PAWNS, CHI_FEATURE_DOUBLED, "Pd*", false},
	{PAWNS, CHI_FEATURE_DOUBLED, "c6", true},
	{PAWNS, CHI_FEATURE_DOUBLED, "pa*", false},
	{PAWNS, CHI_FEATURE_DOUBLED, "a*7", true},
	{PAWNS, CHI_FEATURE_DOUBLED, "a*", false},
	{"4k3/8/8/3P4/8/2p5/8/4K3 w - - 0 1", CHI_FEATURE_PASSED, "Pd5", true},
	{"4k3/8/8/3P4/8/2p5/8/4K3 w - - 0 1", CHI_FEATURE_PASSED, "p*3", true},
	{"4k3/2p5/8/3P4/8/8/8/4K3 w - - 0 1", CHI_FEATURE_PASSED, "P**", false},
	{"4k3/3p4/8/3P4/8/8/8/4K3 w - - 0 1", CHI_FEATURE_PASSED, "**", false},
};

CASE(test_features)
{
	for (size_t i = 0; i < CHI_COUNT(features); i++) {
		struct chi_position position = position_of(features[i].fen);
		struct chi_feature feature;
		assert_int_equal(
			chi_feature_parse(features[i].kind, features[i].text, &feature, &fault),
			CHI_OK);
		if (chi_feature_fits(&feature, &position) != features[i].fits) {
			fail_msg("%s: %d %s", features[i].fen, (int)features[i].kind,
				 features[i].text);
		}
	}
	struct chi_position position = position_of(PINS);
	assert_int_equal(chi_position_points(&position), 9 + 3 - 5 - 3);
}

CASE(test_ends)
{
	static const struct {
		const char *fen;
		bool check;
		bool mate;
		bool stalemate;
	} ends[] = {
		{"R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", true, true, false},
		{"R5k1/5pp1/8/8/8/8/8/6K1 b - - 0 1", true, false, false},
		{"7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", false, false, true},
		{"7k/5Q2/6K1/8/8/8/p7/8 b - - 0 1", false, false, false},
		/* Only a capture en passant ends the check. */
		{"8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1", true, false, false},
	};
	for (size_t i = 0; i < CHI_COUNT(ends); i++) {
		struct chi_position position = position_of(ends[i].fen);
		struct chi_moment moment;
		chi_moment_init(&moment, &position, 0, NULL);
		assert_int_equal(chi_moment_check(&moment), ends[i].check);
		assert_int_equal(chi_moment_mate(&moment), ends[i].mate);
		assert_int_equal(chi_moment_stalemate(&moment), ends[i].stalemate);
	}
}
