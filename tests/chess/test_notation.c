/* SPDX-License-Identifier: MIT */
/* Moves as text, both ways: tables of the awkward cases, and on random positions that every legal
 * move comes back from its text and that no two share one. */
#include "tests/chess/support.h"

#include "chess/fen.h"
#include "chess/movegen.h"
#include "chess/notation.h"

#define CASTLING_FEN "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
/* White king b1 with rooks a1 and g1, both may castle. */
#define CHESS960_FEN "1k6/8/8/8/8/8/8/RK4R1 w KQ - 0 1"

static const struct {
	const char *fen;
	const char *uci;
	const char *san;
} printed[] = {
	{START_FEN, "e2e4", "e4"},
	{START_FEN, "g1f3", "Nf3"},
	{"4k3/8/8/3p4/4P3/8/8/4K3 w - -", "e4d5", "exd5"},
	{"4k3/8/8/3pP3/8/8/8/4K3 w - d6", "e5d6", "exd6"},
	/* castling, standard and Chess960 */
	{CASTLING_FEN, "e1g1", "O-O"},
	{CASTLING_FEN, "e1c1", "O-O-O"},
	{"r3k2r/8/8/8/8/8/8/R3K2R b KQkq -", "e8g8", "O-O"},
	{CHESS960_FEN, "b1g1", "O-O"},
	{CHESS960_FEN, "b1a1", "O-O-O"},
	{"4k3/8/8/8/8/8/8/4K1R1 w K -", "e1g1", "O-O"},
	{"4k3/8/8/8/8/8/8/1R2K3 w Q -", "e1b1", "O-O-O"},
	{"3k4/8/8/8/8/8/8/R3K3 w Q -", "e1c1", "O-O-O+"},
	{"4rkr1/4p1p1/4P1P1/8/8/8/8/4K2R w K -", "e1g1", "O-O#"},
	/* promotion, check and mate */
	{"8/4P3/8/8/8/8/k7/4K3 w - -", "e7e8q", "e8=Q"},
	{"8/4P3/8/8/8/8/k7/4K3 w - -", "e7e8n", "e8=N"},
	{"k2r4/4P3/8/8/8/8/8/4K3 w - -", "e7d8r", "exd8=R+"},
	{"6k1/5ppp/8/8/8/8/8/R3K3 w - -", "a1a8", "Ra8#"},
	{"7k/8/5KQ1/8/8/8/8/8 w - -", "g6g7", "Qg7#"},
	{"7k/8/5K2/6Q1/8/8/8/8 w - -", "g5g6", "Qg6"}, /* stalemate has no mark */
	/* disambiguation: file, rank, both, none */
	{"4k3/8/8/8/8/8/8/R3K2R w - -", "a1d1", "Rd1"},
	{
		"k7/8/8/8/8/8/4K3/R6R w - -",
		"a1d1",
		"Rad1",
	},
	{"7k/8/8/R7/8/8/4K3/R7 w - -", "a1a3", "R1a3"},
	{"1k6/8/8/8/4Q2Q/8/K7/7Q w - -", "h4e1", "Qh4e1"},
	{"1k6/8/8/8/4Q2Q/8/K7/7Q w - -", "e4e1", "Qee1"},
	{"1k6/8/8/8/4Q2Q/8/K7/7Q w - -", "h1e1", "Q1e1"},
	{"4k3/8/8/8/1b6/2N5/8/4K1N1 w - -", "g1e2", "Ne2"}, /* the other is pinned */
	{"4k3/8/8/8/8/2N5/8/4K1N1 w - -", "g1e2", "Nge2"},
	{"4k3/8/8/8/8/8/8/4K2R b - -", "e8e7", "Ke7"},
};

CASE(prints_and_reads)
{
	for (size_t i = 0; i < CHI_COUNT(printed); i++) {
		struct chi_position position = position_of(printed[i].fen);
		struct chi_fault fault = {{0}};
		char uci[CHI_UCI_SIZE];
		char san[CHI_SAN_SIZE];
		chi_move move = 0;
		chi_move again = 0;
		if (chi_uci_parse(&position, printed[i].uci, strlen(printed[i].uci), &move,
				  &fault) != CHI_OK) {
			fail_msg("%s: %s", printed[i].fen, fault.text);
		}
		assert_int_equal(chi_uci_print(&position, move, uci), strlen(printed[i].uci));
		assert_string_equal(uci, printed[i].uci);
		size_t len = chi_san_print(&position, move, san);
		assert_int_equal(len, strlen(san));
		if (strcmp(san, printed[i].san) != 0) {
			fail_msg("%s %s: %s", printed[i].fen, printed[i].uci, san);
		}
		assert_int_equal(chi_san_parse(&position, san, strlen(san), &again, NULL), CHI_OK);
		assert_int_equal(move, again);
	}
}

static const struct {
	const char *fen;
	const char *text;
	const char *uci;
} loose[] = {
	{START_FEN, "e4!?", "e2e4"},
	{START_FEN, "e4+", "e2e4"},
	{START_FEN, "e2e4", "e2e4"},
	{START_FEN, "e2-e4", "e2e4"},
	{START_FEN, "Ng1f3", "g1f3"},
	{START_FEN, "Ng1-f3", "g1f3"},
	{START_FEN, "Ngf3", "g1f3"},
	{START_FEN, "N1f3", "g1f3"},
	{START_FEN, "Nxf3", "g1f3"},
	{START_FEN, "g1f3", "g1f3"},
	{START_FEN, "Nf4", NULL},
	{START_FEN, "e5", NULL},
	{START_FEN, "Ke2", NULL},
	{START_FEN, "", NULL},
	{START_FEN, "!", NULL},
	{START_FEN, "N", NULL},
	{START_FEN, "e", NULL},
	{START_FEN, "nf3", NULL},
	{START_FEN, "O-O", NULL},
	{START_FEN, "--", NULL},
	{START_FEN, "0000", NULL},
	{START_FEN, "e2e4e5", NULL},
	{START_FEN, "1-0", NULL},
	{START_FEN, "e2e4q", NULL},
	{START_FEN, "e4=Q", NULL},
	{START_FEN, "e2e4!!!!!!!!!!!!", "e2e4"},
	{START_FEN, "e2e4!!!!!!!!!!!!!", NULL}, /* 17 bytes */
	{CASTLING_FEN, "0-0", "e1g1"},
	{CASTLING_FEN, "0-0-0", "e1c1"},
	{CASTLING_FEN, "O-O-O!", "e1c1"},
	{CASTLING_FEN, "O-0", "e1g1"},
	{CASTLING_FEN, "O-O-", NULL},
	{CASTLING_FEN, "e1h1", "e1g1"},
	{CASTLING_FEN, "e1a1", "e1c1"},
	{CASTLING_FEN, "Kg1", NULL},
	{CASTLING_FEN, "e1g1q", NULL},
	{CHESS960_FEN, "O-O", "b1g1"},
	{CHESS960_FEN, "b1c1", "b1c1"}, /* a step, not castling */
	{"4k3/8/8/3p4/4P3/8/8/4K3 w - -", "ed5", "e4d5"},
	{"4k3/8/8/3p4/4P3/8/8/4K3 w - -", "e4xd5", "e4d5"},
	{"4k3/8/8/3p4/4P3/8/8/4K3 w - -", "e:d5", "e4d5"},
	{"4k3/8/8/3p4/4P3/8/8/4K3 w - -", "d5", NULL},
	{"4k3/8/8/3pP3/8/8/8/4K3 w - d6", "exd6e.p.", "e5d6"},
	{"3r4/4P3/8/8/8/8/k7/4K3 w - -", "e8Q", "e7e8q"},
	{"3r4/4P3/8/8/8/8/k7/4K3 w - -", "e8=q", "e7e8q"},
	{"3r4/4P3/8/8/8/8/k7/4K3 w - -", "ed8=N", "e7d8n"},
	{"3r4/4P3/8/8/8/8/k7/4K3 w - -", "e8", NULL},
	{"3r4/4P3/8/8/8/8/k7/4K3 w - -", "e8=K", NULL},
	{"3r4/4P3/8/8/8/8/k7/4K3 w - -", "e8=P", NULL},
	{"3r4/4P3/8/8/8/8/k7/4K3 w - -", "e7e8", NULL},
	{"k7/8/8/8/8/8/4K3/R6R w - -", "Rd1", NULL}, /* either rook */
	{"k7/8/8/8/8/8/4K3/R6R w - -", "R1d1", NULL},
	{"1b6/P7/8/k7/8/8/8/4K2B w - -", "axb8=B", "a7b8b"},
	{"4k3/8/8/8/2p5/1P1B4/8/4K3 w - -", "bxc4", "b3c4"}, /* pawn b, bishop B */
	{"4k3/8/8/8/2p5/1P1B4/8/4K3 w - -", "Bxc4", "d3c4"},
};

/* SAN as people write it; NULL: it names no move, or more than one. */
CASE(reads_loose_san)
{
	for (size_t i = 0; i < CHI_COUNT(loose); i++) {
		struct chi_position position = position_of(loose[i].fen);
		const char *text = loose[i].text;
		struct chi_fault fault = {{0}};
		char uci[CHI_UCI_SIZE];
		chi_move move = 0x7777;
		int rc = chi_move_parse(&position, text, strlen(text), &move, &fault);
		if (loose[i].uci == NULL) {
			assert_int_equal(rc, -CHI_EMOVE);
			assert_int_equal(move, 0x7777);
			assert_true(fault.text[0] != '\0');
			assert_int_equal(chi_move_parse(&position, text, strlen(text), &move, NULL),
					 -CHI_EMOVE);
			continue;
		}
		if (rc != CHI_OK) {
			fail_msg("%s %s: %s", loose[i].fen, text, fault.text);
		}
		chi_uci_print(&position, move, uci);
		assert_string_equal(uci, loose[i].uci);
	}
}

/* Returns how many there are. */
static size_t check_all_moves(const struct chi_position *position)
{
	struct chi_move_list list;
	char texts[CHI_MOVEGEN_MAX][CHI_SAN_SIZE];
	char fen[CHI_FEN_SIZE];
	chi_fen_print(position, fen);
	chi_movegen_legal(position, &list);
	for (size_t i = 0; i < list.n; i++) {
		char uci[CHI_UCI_SIZE];
		chi_move move = 0;
		size_t len = chi_uci_print(position, list.moves[i], uci);
		if (chi_uci_parse(position, uci, len, &move, NULL) != CHI_OK ||
		    move != list.moves[i]) {
			fail_msg("%s %s: not the same from UCI", fen, uci);
		}
		len = chi_san_print(position, list.moves[i], texts[i]);
		if (len != strlen(texts[i]) || len >= CHI_SAN_SIZE ||
		    chi_san_parse(position, texts[i], len, &move, NULL) != CHI_OK ||
		    move != list.moves[i]) {
			fail_msg("%s %s: not the same from SAN", fen, texts[i]);
		}
		for (size_t k = 0; k < i; k++) {
			if (strcmp(texts[i], texts[k]) == 0) {
				fail_msg("%s: two moves are %s", fen, texts[i]);
			}
		}
	}
	return list.n;
}

CASE(every_legal_move)
{
	struct seed seed = seed_start("notation");
	uint64_t rounds = number_from_env("CHISTORE_ROUNDS", SLOW_BUILD ? 10000 : 50000);
	uint64_t moves = 0;
	struct chi_position position = position_of(START_FEN);
	for (uint64_t i = 0; i < rounds; i++) {
		struct chi_position odd = random_placement(&seed);
		moves += check_all_moves(&odd);
		moves += check_all_moves(&position);
		if (i % 100 == 99 || !play_random(&seed, &position)) {
			position = random_start(&seed);
		}
	}
	print_message("# figures: %" PRIu64 " moves the same from SAN and from UCI\n", moves);
}

/* Bytes at random, and moves that are no moves: no crash, no success without a legal move. */
CASE(harmless)
{
	static const char likely[] = "abcdefgh12345678KQRBNPOx-=+#.0!q \n";
	struct seed seed = seed_start("notation, random text");
	struct chi_position position = position_of(CASTLING_FEN);
	uint64_t rounds = number_from_env("CHISTORE_ROUNDS", SLOW_BUILD ? 20000 : 200000);
	for (uint64_t i = 0; i < rounds; i++) {
		size_t len = seed_below(&seed, CHI_SAN_INPUT_MAX + 4);
		char *text = malloc(len > 0 ? len : 1);
		chi_move move = 0;
		chi_move line[4];
		size_t n = 0;
		assert_non_null(text);
		for (size_t k = 0; k < len; k++) {
			text[k] = seed_below(&seed, 16) == 0
					  ? (char)seed_below(&seed, 256)
					  : likely[seed_below(&seed, sizeof(likely) - 1)];
		}
		if (chi_move_parse(&position, text, len, &move, NULL) == CHI_OK) {
			assert_true(chi_movegen_is_legal(&position, move));
		}
		if (chi_line_parse(&position, text, len, line, 4, &n, NULL) == CHI_OK) {
			assert_int_equal(chi_line_check(&position, line, n, NULL), CHI_OK);
		}
		free(text);
	}
	for (unsigned move = 0; move <= UINT16_MAX; move++) {
		char san[CHI_SAN_SIZE];
		char uci[CHI_UCI_SIZE];
		size_t len = chi_uci_print(&position, (chi_move)move, uci);
		assert_int_equal(len, strlen(uci));
		len = chi_san_print(&position, (chi_move)move, san);
		assert_int_equal(len, strlen(san));
	}
}

/* Signs after a move are skipped, as long as the whole is no longer than moves are read. */
CASE(length_limit)
{
	struct chi_position position = position_of(START_FEN);
	char text[CHI_SAN_INPUT_MAX + 1];
	chi_move move;
	memset(text, '!', sizeof(text));
	memcpy(text, "e4", 2);
	for (size_t len = CHI_SAN_INPUT_MAX - 1; len <= CHI_SAN_INPUT_MAX + 1; len++) {
		assert_int_equal(chi_move_parse(&position, text, len, &move, NULL),
				 len > CHI_SAN_INPUT_MAX ? -CHI_EMOVE : CHI_OK);
	}
}

static int parse_line(const char *text, size_t max, chi_move *moves, size_t *n,
		      struct chi_fault *fault)
{
	struct chi_position position = position_of(START_FEN);
	return chi_line_parse(&position, text, strlen(text), moves, max, n, fault);
}

CASE(reads_lines)
{
	static const char *const same[] = {
		"e2e4 e7e5 g1f3 b8c6",
		"e4 e5 Nf3 Nc6",
		" 1. e4 e5 2. Nf3 Nc6 ",
		"1.e4 e5\n2.Nf3\tNc6",
		"1. e4 1... e5 2. Nf3 2... Nc6 3.",
		"17...e4 e7e5 g1f3 Nc6",
	};
	struct chi_position start = position_of(START_FEN);
	chi_move wanted[4];
	chi_move moves[4];
	struct chi_fault fault = {{0}};
	size_t n = 99;
	assert_int_equal(parse_line(same[0], 4, wanted, &n, &fault), CHI_OK);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < CHI_COUNT(same); i++) {
		assert_int_equal(parse_line(same[i], 4, moves, &n, &fault), CHI_OK);
		assert_int_equal(n, 4);
		assert_memory_equal(moves, wanted, sizeof(moves));
	}
	assert_int_equal(parse_line("", 4, moves, &n, &fault), CHI_OK);
	assert_int_equal(n, 0);
	assert_int_equal(parse_line(same[0], 3, moves, &n, &fault), -CHI_ETOOBIG);
	assert_int_equal(parse_line("e4 e5 Ke3", 4, moves, &n, &fault), -CHI_EMOVE);
	assert_non_null(strstr(fault.text, "move 3"));
	assert_int_equal(parse_line("e4 12 e5", 4, moves, &n, &fault), -CHI_EMOVE);
	assert_int_equal(chi_line_check(&start, wanted, 4, &fault), CHI_OK);
	wanted[2] = wanted[3];
	assert_int_equal(chi_line_check(&start, wanted, 4, &fault), -CHI_EMOVE);
	assert_non_null(strstr(fault.text, "move 3, b8c6,"));
}
