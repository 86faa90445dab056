/* SPDX-License-Identifier: MIT */
/*
 * The move generator against a slow one that shares nothing with it but struct chi_position: it
 * walks a board of letters square by square, makes each move there and looks whether the king can
 * be taken. Positions come from games, Chess960 games and placements at random, so that missing
 * kings, kings in check with the enemy to move, and boards full of queens occur.
 */
#include "tests/chess/support.h"

#include "chess/bitboard.h"
#include "chess/fen.h"
#include "chess/movegen.h"

struct board {
	char at[64]; /* FEN letters, '.' for empty */
};

static bool is_of(char piece, int colour)
{
	return colour == CHI_WHITE ? piece >= 'A' && piece <= 'Z' : piece >= 'a' && piece <= 'z';
}

static struct board board_of(const struct chi_position *position)
{
	struct board board;
	for (int square = 0; square < 64; square++) {
		int kind = chi_position_kind(position, square);
		bool black = (position->colour[CHI_BLACK] >> square & 1) != 0;
		board.at[square] = (black ? "pnbrqk." : "PNBRQK.")[kind];
	}
	return board;
}

/* The square at a distance, or -1 beyond the edge. */
static int walk(int square, int files, int ranks)
{
	int file = square % 8 + files;
	int rank = square / 8 + ranks;
	return file < 0 || file > 7 || rank < 0 || rank > 7 ? -1 : rank * 8 + file;
}

static const int directions[8][2] = {{1, 0}, {-1, 0}, {0, 1},  {0, -1},
				     {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
static const int jumps[8][2] = {{1, 2},	 {2, 1},  {-1, 2},  {-2, 1},
				{1, -2}, {2, -1}, {-1, -2}, {-2, -1}};

/* True if a piece of `colour` on `from` could take on `to`. */
static bool attacks(const struct board *board, int from, int to, int colour)
{
	char piece = board->at[from];
	char kind = (char)(piece & ~0x20);
	if (!is_of(piece, colour)) {
		return false;
	}
	if (kind == 'P') {
		int up = colour == CHI_WHITE ? 1 : -1;
		return walk(from, 1, up) == to || walk(from, -1, up) == to;
	}
	for (int i = 0; i < 8; i++) {
		if (kind == 'N' && walk(from, jumps[i][0], jumps[i][1]) == to) {
			return true;
		}
		bool along = kind == 'Q' || kind == 'K' || (kind == 'R' && i < 4) ||
			     (kind == 'B' && i >= 4);
		int at = from;
		while (along && (at = walk(at, directions[i][0], directions[i][1])) >= 0) {
			if (at == to) {
				return true;
			}
			along = kind != 'K' && board->at[at] == '.';
		}
	}
	return false;
}

static bool is_attacked(const struct board *board, int square, int colour)
{
	for (int from = 0; from < 64; from++) {
		if (attacks(board, from, square, colour)) {
			return true;
		}
	}
	return false;
}

static bool king_is_safe(const struct board *board, int colour)
{
	const char *king = memchr(board->at, colour == CHI_WHITE ? 'K' : 'k', 64);
	return king == NULL || !is_attacked(board, (int)(king - board->at), colour ^ 1);
}

static bool slow_castling(const struct chi_position *position, const struct board *board, int king,
			  int rook)
{
	int us = position->side;
	int king_to = king / 8 * 8 + (rook > king ? 6 : 2);
	int rook_to = king / 8 * 8 + (rook > king ? 5 : 3);
	struct board after = *board;
	int step = king_to > king ? 1 : -1;
	if ((position->castle >> rook & 1) == 0 || (board->at[king] & ~0x20) != 'K') {
		return false;
	}
	for (int file = 0; file < 8; file++) {
		int square = king / 8 * 8 + file;
		bool on_king = (square - king) * (square - king_to) <= 0;
		bool on_rook = (square - rook) * (square - rook_to) <= 0;
		if ((on_king || on_rook) && square != king && square != rook &&
		    board->at[square] != '.') {
			return false;
		}
	}
	if (!king_is_safe(board, us)) {
		return false;
	}
	after.at[king] = '.';
	for (int square = king; square != king_to; square += step) {
		if (is_attacked(&after, square, us ^ 1)) {
			return false;
		}
	}
	after.at[rook] = '.';
	after.at[king_to] = us == CHI_WHITE ? 'K' : 'k';
	after.at[rook_to] = us == CHI_WHITE ? 'R' : 'r';
	return king_is_safe(&after, us);
}

/* True if the pawn's step is one that pawns make; `promotion` is judged elsewhere. */
static bool slow_pawn_step(const struct chi_position *position, const struct board *board, int from,
			   int to)
{
	int us = position->side;
	int up = us == CHI_WHITE ? 1 : -1;
	int one = walk(from, 0, up);
	if (to == one) {
		return board->at[to] == '.';
	}
	if (from / 8 == (us == CHI_WHITE ? 1 : 6) && to == walk(from, 0, 2 * up)) {
		return board->at[one] == '.' && board->at[to] == '.';
	}
	return attacks(board, from, to, us) && (is_of(board->at[to], us ^ 1) || to == position->ep);
}

static bool slow_is_legal(const struct chi_position *position, const struct board *board, int from,
			  int to, int promotion)
{
	int us = position->side;
	struct board after = *board;
	char kind = (char)(board->at[from] & ~0x20);
	bool last = kind == 'P' && (to / 8 == 0 || to / 8 == 7);
	if (!is_of(board->at[from], us) || from == to || last != (promotion != 0)) {
		return false;
	}
	if (is_of(board->at[to], us)) {
		return promotion == 0 && slow_castling(position, board, from, to);
	}
	if ((board->at[to] & ~0x20) == 'K') {
		return false;
	}
	if (kind == 'P' ? !slow_pawn_step(position, board, from, to)
			: !attacks(board, from, to, us)) {
		return false;
	}
	after.at[to] = after.at[from];
	after.at[from] = '.';
	if (kind == 'P' && to == position->ep) {
		after.at[to + (us == CHI_WHITE ? -8 : 8)] = '.';
	}
	return king_is_safe(&after, us);
}

static int compare_moves(const void *a, const void *b)
{
	return *(const chi_move *)a - *(const chi_move *)b;
}

/* All moves by the slow rules, ascending. */
static size_t slow_moves(const struct chi_position *position, chi_move moves[CHI_MOVEGEN_MAX])
{
	struct board board = board_of(position);
	size_t n = 0;
	for (int promotion = 0; promotion <= CHI_QUEEN; promotion++) {
		for (int from = 0; from < 64; from++) {
			bool mine = is_of(board.at[from], position->side);
			for (int to = 0; mine && to < 64; to++) {
				if (slow_is_legal(position, &board, from, to, promotion)) {
					assert_true(n < CHI_MOVEGEN_MAX);
					moves[n++] = chi_move_make(from, to, promotion);
				}
			}
		}
	}
	return n;
}

/* Returns how many there are. */
static size_t check_moves(const struct chi_position *position)
{
	struct chi_move_list list;
	chi_move slow[CHI_MOVEGEN_MAX];
	char fen[CHI_FEN_SIZE];
	size_t n = slow_moves(position, slow);
	chi_movegen_legal(position, &list);
	qsort(list.moves, list.n, sizeof(list.moves[0]), compare_moves);
	if (list.n != n || memcmp(list.moves, slow, n * sizeof(slow[0])) != 0) {
		chi_fen_print(position, fen);
		fail_msg("%s: %zu moves, the slow rules give %zu", fen, list.n, n);
	}
	return n;
}

CASE(in_games)
{
	struct seed seed = seed_start("movegen in games");
	uint64_t rounds = number_from_env("CHISTORE_ROUNDS", SLOW_BUILD ? 10000 : 50000);
	uint64_t moves = 0;
	struct chi_position position = position_of(START_FEN);
	for (uint64_t i = 0; i < rounds; i++) {
		moves += check_moves(&position);
		if (i % 200 == 199 || !play_random(&seed, &position)) {
			position = random_start(&seed);
		}
	}
	print_message("# figures: games: %" PRIu64 " moves as by the slow rules\n", moves);
}

CASE(in_placements)
{
	struct seed seed = seed_start("movegen in placements");
	uint64_t rounds = number_from_env("CHISTORE_ROUNDS", SLOW_BUILD ? 20000 : 100000);
	unsigned checked_wrongly = 0;
	unsigned kingless = 0;
	unsigned castling = 0;
	unsigned passing = 0;
	uint64_t moves = 0;
	for (uint64_t i = 0; i < rounds; i++) {
		struct chi_position position = random_placement(&seed);
		moves += check_moves(&position);
		checked_wrongly += chi_position_in_check(&position, position.side ^ 1);
		kingless += position.kind[CHI_KING] == 0;
		castling += position.castle != 0;
		passing += position.ep != CHI_NO_SQUARE;
	}
	fprintf(stderr, "# %u with the wrong side in check, %u kingless, %u castling, %u passing\n",
		checked_wrongly, kingless, castling, passing);
	print_message("# figures: placements: %" PRIu64 " moves as by the slow rules\n", moves);
	/* The placements are worth nothing if they show nothing odd. */
	assert_true(checked_wrongly > 10 && kingless > 0 && castling > 10 && passing > 10);
}

CASE(most_moves)
{
	static const struct {
		const char *fen;
		size_t n;
	} table[] = {
		{"R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1", 218},
		{"Q7/7Q/8/8/8/8/8/8 w - - 0 1", 42},
		/* 32 queens, no king: beyond what a byte counts */
		{"Q1Q1Q1Q1/1Q1Q1Q1Q/Q1Q1Q1Q1/1Q1Q1Q1Q/Q1Q1Q1Q1/1Q1Q1Q1Q/Q1Q1Q1Q1/1Q1Q1Q1Q w - - 0 "
		 "1",
		 112},
		{"8/8/8/8/8/8/8/R7 w - - 0 1", 14},
		{"8/8/8/8/8/8/8/k7 b - - 0 1", 3},
		/* kings side by side: each is in check, only the king can mend it */
		{"8/8/8/3kK3/8/8/8/R7 w - - 0 1", 3},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_position position = position_of(table[i].fen);
		struct chi_move_list list;
		chi_movegen_legal(&position, &list);
		assert_int_equal(list.n, table[i].n);
		check_moves(&position);
	}
}

/* Any 16 bits may be asked about, and exactly the listed ones are legal. */
static void check_any_number(const struct chi_position *position)
{
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	for (unsigned move = 0; move <= UINT16_MAX; move++) {
		bool legal = chi_move_list_has(&list, (chi_move)move);
		if (chi_movegen_is_legal(position, (chi_move)move) != legal) {
			char fen[CHI_FEN_SIZE];
			chi_fen_print(position, fen);
			fail_msg("%s: move 0x%04x is %slegal", fen, move, legal ? "" : "not ");
		}
	}
}

CASE(is_legal_of_any_number)
{
	static const char *const fens[] = {
		START_FEN,
		"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
		"r3k2r/8/8/8/4Q3/8/8/4K3 b kq - 0 1", /* in check: no castling */
		"8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1",  /* takes, and opens the rank */
		"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",  /* takes in passing */
		"4k3/8/5N2/8/4R3/8/8/4K3 b - - 0 1",  /* double check */
		"3r4/2P1P3/8/8/8/8/8/k2K4 w - - 0 1", /* promotions, a checker */
		"4k3/4r3/8/8/4B3/8/4K3/8 w - - 0 1",  /* pinned */
	};
	struct seed seed = seed_start("movegen of any number");
	for (size_t i = 0; i < CHI_COUNT(fens); i++) {
		struct chi_position position = position_of(fens[i]);
		check_any_number(&position);
	}
	for (int i = 0; i < (SLOW_BUILD ? 2 : 12); i++) {
		struct chi_position position = random_placement(&seed);
		check_any_number(&position);
	}
}
