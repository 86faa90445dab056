/* SPDX-License-Identifier: MIT */
/* Moves taken back: every move of games played at random is found again, and nothing else. */
#include <stdlib.h>
#include <string.h>

#include "propagate/retro.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define PLIES 120

struct search {
	struct chi_key before;
	chi_move move;
	struct chi_key after;
	unsigned found;
};

static int look(void *context, const struct chi_position *before, chi_move move)
{
	struct search *search = context;
	struct chi_position next;
	struct chi_key key;
	chi_key_encode(before, &key);
	/* It is a position that a key can hold, and the move leads where it should. */
	struct chi_position again;
	assert_int_equal(chi_key_decode(&key, &again, NULL), CHI_OK);
	chi_key_encode(&again, &key);
	search->found += memcmp(&key, &search->before, sizeof(key)) == 0 && move == search->move;
	assert_true(chi_movegen_is_legal(before, move));
	chi_position_play(before, move, &next);
	chi_key_encode(&next, &key);
	assert_memory_equal(&key, &search->after, sizeof(key));
	return CHI_OK;
}

static void take_back(const struct chi_position *before, chi_move move)
{
	struct search search = {.move = move};
	struct chi_position after;
	chi_position_play(before, move, &after);
	chi_key_encode(before, &search.before);
	chi_key_encode(&after, &search.after);
	assert_int_equal(chi_retro(&after, look, &search), CHI_OK);
	if (search.found != 1) {
		char fen[CHI_FEN_SIZE];
		chi_fen_print(before, fen);
		fail_msg("%s, move %x: found %u times", fen, move, search.found);
	}
}

static struct chi_position parse(const char *fen)
{
	struct chi_position position;
	assert_int_equal(chi_fen_parse(fen, strlen(fen), &position, NULL), CHI_OK);
	return position;
}

/* All moves of all positions of a game. */
static void play(const char *fen, struct seed *seed)
{
	struct chi_position position = parse(fen);
	struct chi_move_list list;
	chi_movegen_legal(&position, &list);
	for (unsigned ply = 0; ply < PLIES && list.n > 0; ply++) {
		struct chi_position next;
		for (size_t i = 0; i < list.n; i++) {
			take_back(&position, list.moves[i]);
		}
		chi_position_play(&position, list.moves[seed_next(seed) % list.n], &next);
		position = next;
		chi_movegen_legal(&position, &list);
	}
}

CASE(every_move_is_found)
{
	struct seed seed = seed_start("every_move_is_found");
	for (uint64_t round = 0; round < seed_rounds(1); round++) {
		play(CHI_FEN_START, &seed);
		/* Castling of Chess960, with rights that rooks and kings lose. */
		play("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 0 1", &seed);
		play("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", &seed);
		play("1rk2r2/8/8/8/8/8/8/1RK2R2 b BFbf - 0 1", &seed);
		/* Pawns that promote, and that pass each other. */
		play("4k3/PPPP4/8/8/8/8/4pppp/3K4 w - - 0 1", &seed);
		play("4k3/pppppppp/8/PPPPPPPP/pppppppp/8/8/4K3 w - - 0 1", &seed);
		play("4k3/8/8/2pPp3/8/8/8/4K3 w - c6 0 1", &seed);
		/* Without a white king. */
		play("4k3/8/8/3q4/8/8/4P3/8 w - - 0 1", &seed);
	}
}

static int count(void *context, const struct chi_position *before, chi_move move)
{
	(void)before;
	(void)move;
	++*(unsigned *)context;
	return CHI_OK;
}

static int stop(void *context, const struct chi_position *before, chi_move move)
{
	(void)count(context, before, move);
	return -CHI_ECANCELED;
}

static unsigned number(const char *fen)
{
	struct chi_position position = parse(fen);
	unsigned n = 0;
	assert_int_equal(chi_retro(&position, count, &n), CHI_OK);
	return n;
}

/* Counted by hand. */
CASE(known_numbers)
{
	struct chi_position position = parse(CHI_FEN_START);
	unsigned n = 0;
	/* From five squares, and a queen, rook, bishop, knight or nothing was captured. */
	assert_int_equal(number("4k3/8/8/8/8/8/8/4K3 b - - 0 1"), 5 * 5);
	/* An en passant right: one move leads here. */
	assert_int_equal(number("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"), 1);
	assert_int_equal(chi_retro(&position, stop, &n), -CHI_ECANCELED);
	assert_int_equal(n, 1);
}
