/* SPDX-License-Identifier: MIT */
/* The calls that need no store: boards, moves, statistics; and the text of the public names. */
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chistore.h"
#include "tests/base/cases.h"

static struct chi_key key_of(const char *fen)
{
	struct chi_key key;
	struct chi_fault fault = {{0}};
	if (chi_key_from_fen(fen, strlen(fen), &key, &fault) != CHI_OK) {
		fail_msg("%s: %s", fen, fault.text);
	}
	return key;
}

static struct chi_board board_of(const char *fen)
{
	struct chi_position p;
	assert_int_equal(chi_fen_parse(fen, strlen(fen), &p, NULL), CHI_OK);
	return (struct chi_board){
		.white = p.colour[CHI_WHITE],
		.black = p.colour[CHI_BLACK],
		.pawns = p.kind[CHI_PAWN],
		.knights = p.kind[CHI_KNIGHT],
		.bishops = p.kind[CHI_BISHOP],
		.rooks = p.kind[CHI_ROOK],
		.queens = p.kind[CHI_QUEEN],
		.kings = p.kind[CHI_KING],
		.castling = p.castle,
		.en_passant = p.ep == CHI_NO_SQUARE ? -1 : (int8_t)p.ep,
		.black_to_move = p.side == CHI_BLACK,
	};
}

static const char *const positions[] = {
	"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
	"r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1",
	"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
	"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
	"8/8/8/8/8/8/8/7K w - - 0 1",
};

CASE(boards)
{
	for (size_t i = 0; i < CHI_COUNT(positions); i++) {
		struct chi_board board = board_of(positions[i]);
		struct chi_key wanted = key_of(positions[i]);
		struct chi_key key;
		assert_int_equal(chi_key_from_board(&board, &key, NULL), CHI_OK);
		assert_memory_equal(&key, &wanted, sizeof(key));
	}
}

/* Rights and squares without what they need are dropped, as a FEN's are. */
CASE(boards_are_normalised)
{
	struct chi_board board = board_of("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
	struct chi_key wanted = key_of("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1");
	struct chi_key key;
	board.castling = UINT64_C(0x00ffffff00ffff00);
	for (int square = -1; square < 64; square++) {
		board.en_passant = (int8_t)square;
		assert_int_equal(chi_key_from_board(&board, &key, NULL), CHI_OK);
		assert_memory_equal(&key, &wanted, sizeof(key));
	}
	/* A king off its back rank takes its side's rights with it. */
	board = board_of("r3k2r/8/8/8/8/8/4K3/R6R w kq - 0 1");
	wanted = key_of("r3k2r/8/8/8/8/8/4K3/R6R w kq - 0 1");
	board.castling = UINT64_C(0x8100000000000081);
	assert_int_equal(chi_key_from_board(&board, &key, NULL), CHI_OK);
	assert_memory_equal(&key, &wanted, sizeof(key));
}

CASE(wrong_boards)
{
	const struct chi_board good = board_of(positions[1]);
	struct chi_board bad[8];
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		bad[i] = good;
	}
	bad[0].queens |= good.kings; /* two kinds on a square */
	bad[1].white |= good.black;  /* both colours */
	bad[2].knights |= 1 << 20;   /* no colour */
	bad[3].white |= 1 << 20;     /* no piece */
	bad[4].en_passant = 64;
	bad[5].en_passant = -2;
	bad[6] = (struct chi_board){.en_passant = -1}; /* nothing at all */
	bad[7].kings &= good.white;		       /* Black to move without a king */
	bad[7].black &= ~good.kings;
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		struct chi_key key;
		struct chi_fault fault = {{0}};
		if (chi_key_from_board(&bad[i], &key, &fault) != -CHI_EKEY ||
		    fault.text[0] == '\0') {
			fail_msg("board %zu is accepted", i);
		}
		assert_int_equal(chi_key_from_board(&bad[i], &key, NULL), -CHI_EKEY);
	}
}

CASE(moves)
{
	struct chi_key key = key_of("r3k2r/8/8/8/8/8/6P1/R3K2R w KQkq - 0 1");
	struct chi_key next;
	struct chi_key wanted = key_of("r3k2r/8/8/8/8/8/6P1/R4RK1 b kq - 1 1");
	chi_move move = 0;
	chi_move same = 0;
	char text[CHI_MOVE_TEXT_SIZE];
	struct chi_fault fault = {{0}};
	assert_int_equal(chi_key_move(&key, "O-O", 3, &move, &fault), CHI_OK);
	assert_int_equal(chi_key_move(&key, "e1g1", 4, &same, &fault), CHI_OK);
	assert_int_equal(move, same);
	assert_int_equal(chi_key_uci(&key, move, text), CHI_OK);
	assert_string_equal(text, "e1g1");
	assert_int_equal(chi_key_san(&key, move, text), CHI_OK);
	assert_string_equal(text, "O-O");
	assert_int_equal(chi_key_play(&key, move, &next), CHI_OK);
	assert_memory_equal(&next, &wanted, sizeof(next));
	assert_int_equal(chi_key_move(&key, "Qd4", 3, &move, &fault), -CHI_EMOVE);
	assert_string_not_equal(fault.text, "");
	assert_int_equal(chi_key_play(&key, 0, &next), -CHI_EMOVE);
	assert_int_equal(chi_key_uci(&key, 0xffff, text), -CHI_EMOVE);
	assert_int_equal(chi_key_san(&key, 2 << 6, text), -CHI_EMOVE);
	key = key_of("3r4/8/8/8/8/8/8/6K1 w - - 0 1"); /* Black to move needs a black king */
	assert_int_equal(chi_key_play(&key, 6 << 6 | 13, &next), -CHI_EKEY);
	key.len = 11;
	uint16_t chi2 = 0;
	assert_int_equal(chi_key_play(&key, move, &next), -CHI_EKEY);
	assert_int_equal(chi_key_uci(&key, move, text), -CHI_EKEY);
	assert_int_equal(chi_key_san(&key, move, text), -CHI_EKEY);
	assert_int_equal(chi_key_move(&key, "e4", 2, &move, &fault), -CHI_EKEY);
	assert_int_equal(chi_key_control(&key, &chi2), -CHI_EKEY);
}

/* Published: the moves of perft's positions at depth 1, and states by the Laws of Chess. */
CASE(states_of_positions)
{
	static const struct {
		const char *fen;
		size_t moves;
		uint32_t state;
	} cases[] = {
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 20, 0},
		{"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 48, 0},
		{"R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1", 218, 0},
		{"rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", 0,
		 CHI_STATE_CHECK | CHI_STATE_CHECKMATE},
		{"4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", 3, CHI_STATE_CHECK},
		{"7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 0, CHI_STATE_STALEMATE},
		{"8/8/4k3/8/8/4K3/8/8 w - - 0 1", 8, CHI_STATE_INSUFFICIENT},
		{"8/8/4k3/8/8/4K1N1/8/8 w - - 0 1", 14, CHI_STATE_INSUFFICIENT},
		{"8/8/4kb2/8/8/4K1N1/8/8 w - - 0 1", 13, 0},
		{"8/8/4k1n1/8/8/4K1N1/8/8 w - - 0 1", 13, 0},
		{"8/2b5/4k3/8/8/4K1B1/8/8 w - - 0 1", 15, CHI_STATE_INSUFFICIENT},
		{"8/1b6/4k3/8/8/4K1B1/8/8 w - - 0 1", 15, 0},
		{"8/8/4k3/8/8/4K2P/8/8 w - - 0 1", 9, 0},
		{"k7/8/1K6/8/8/8/8/1B6 b - - 0 1", 1, CHI_STATE_INSUFFICIENT},
		{"8/8/8/8/8/8/8/7K w - - 0 1", 3, CHI_STATE_INSUFFICIENT},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		struct chi_key key = key_of(cases[i].fen);
		size_t n = 0;
		uint32_t found = 99;
		assert_int_equal(chi_key_moves(&key, 0, NULL, 0, &n, &found), CHI_OK);
		if (n != cases[i].moves || found != cases[i].state) {
			fail_msg("%s: %zu moves, state %u", cases[i].fen, n, found);
		}
	}
	struct chi_key bad = key_of(positions[0]);
	size_t n = 7;
	bad.len = 11;
	assert_int_equal(chi_key_moves(&bad, 0, NULL, 0, &n, NULL), -CHI_EKEY);
	assert_int_equal(n, 0);
}

/* One by one as the calls for single moves have them, and no more than there is room for. */
CASE(all_moves)
{
	static const char *const fens[] = {
		"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
		"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
		"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
		"n1n5/1Pk5/8/8/8/8/5Kp1/5N1N w - - 0 1",
		"3r4/8/8/8/8/8/8/6K1 w - - 0 1",
	};
	static struct chi_legal_move moves[CHI_LEGAL_MAX];
	unsigned seen = 0;
	for (size_t i = 0; i < CHI_COUNT(fens); i++) {
		struct chi_key key = key_of(fens[i]);
		size_t n = 0;
		assert_int_equal(chi_key_moves(&key, CHI_MOVES_UCI | CHI_MOVES_SAN | CHI_MOVES_KEYS,
					       moves, CHI_LEGAL_MAX, &n, NULL),
				 CHI_OK);
		for (size_t k = 0; k < n; k++) {
			const struct chi_legal_move *one = &moves[k];
			struct chi_key after = {.len = 0};
			char text[CHI_MOVE_TEXT_SIZE];
			assert_true(k == 0 || one->move > moves[k - 1].move);
			assert_int_equal(chi_key_uci(&key, one->move, text), CHI_OK);
			assert_string_equal(one->uci, text);
			assert_int_equal(chi_key_san(&key, one->move, text), CHI_OK);
			assert_string_equal(one->san, text);
			int status = chi_key_play(&key, one->move, &after);
			assert_true(status == CHI_OK || (i == 4 && status == -CHI_EKEY));
			assert_memory_equal(&one->after, &after, sizeof(after));
			/* SAN says the same, but for en passant. */
			unsigned flags = one->flags;
			assert_int_equal((flags & CHI_MOVE_CAPTURE) != 0,
					 strchr(text, 'x') != NULL);
			assert_int_equal((flags & CHI_MOVE_CHECK) != 0,
					 strpbrk(text, "+#") != NULL);
			assert_int_equal((flags & CHI_MOVE_CASTLING) != 0, text[0] == 'O');
			assert_int_equal((flags & CHI_MOVE_PROMOTION) != 0,
					 strchr(text, '=') != NULL);
			assert_int_equal((flags & CHI_MOVE_EN_PASSANT) != 0,
					 strcmp(text, "exd6") == 0);
			seen |= flags;
		}
		struct chi_legal_move two[2] = {{.move = 0}, {.move = 99}};
		size_t again = 0;
		assert_int_equal(chi_key_moves(&key, 0, two, 1, &again, NULL), CHI_OK);
		assert_int_equal(again, n);
		assert_int_equal(two[0].move, moves[0].move);
		assert_string_equal(two[0].uci, "");
		assert_int_equal(two[0].after.len, 0);
		assert_int_equal(two[1].move, 99);
	}
	assert_int_equal(seen, 31);
}

CASE(words)
{
	struct chi_key key = key_of(positions[0]);
	uint16_t chi2 = 0;
	char text[CHI_CHI2_TEXT_SIZE];
	assert_int_equal(chi_key_control(&key, &chi2), CHI_OK);
	assert_int_equal(chi2, 7600);
	assert_int_equal(chi_chi2_print(chi2, text), 5);
	assert_string_equal(text, "76.00");
	assert_string_equal(chi_version(), CHI_VERSION);
	assert_string_equal(chi_statistic_name(CHI_STATISTIC_OUTCOME), "outcome");
	struct chi_fault fault = {{0}};
	assert_int_equal(chi_store_create("unix:/x", CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault),
			 -CHI_EUNSUPPORTED);
	assert_non_null(strstr(fault.text, "unix:/x"));
	assert_int_equal(chi_store_create("", CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault),
			 -CHI_ESYNTAX);
	struct chi_client *client = NULL;
	assert_int_equal(chi_open("udp:/nowhere", NULL, &client, &fault), -CHI_ENOSTORE);
	assert_null(client);
	assert_non_null(strstr(fault.text, "unix:, tcp:, tls: or rados:"));
	/* A cluster was called a server. */
	assert_string_equal(chi_strerror(-CHI_ECONNECT), "no connection to the store");
	struct chi_options options = {
		CHI_OPTIONS_INIT,
		.store = "a name that is longer than the sixty-four bytes that a store's may have"};
	assert_int_equal(chi_open("unix:/x", &options, &client, &fault), -CHI_EINVAL);
	assert_int_equal(chi_open("unix:/nowhere", NULL, &client, NULL), -CHI_ECONNECT);
	chi_close(NULL);
	chi_rows_close(NULL);
}
