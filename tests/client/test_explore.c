/* SPDX-License-Identifier: MIT */
/*
 * Exploring, against a store in this process or behind a daemon: the same body, the same answers.
 * Argument: file, unix or tcp; the last two need CHISTORED.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/client/world.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define ONE_WIN                                                                                    \
	{                                                                                          \
		.white = 1                                                                         \
	}

static struct chi_key key_of(const char *fen)
{
	struct chi_key key;
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &key, NULL), CHI_OK);
	return key;
}

static chi_move move_of(const struct chi_key *key, const char *text)
{
	chi_move move = 0;
	assert_int_equal(chi_key_move(key, text, strlen(text), &move, NULL), CHI_OK);
	return move;
}

static struct chi_key behind(const struct chi_key *key, const char *text)
{
	struct chi_key next;
	assert_int_equal(chi_key_play(key, move_of(key, text), &next), CHI_OK);
	return next;
}

/* The initial position with its moves, ascending: d4 is played by six games, e4 by nine, a3 by
 * one without a result. */
static void put_start(struct chi_client *client)
{
	struct chi_key key = key_of(START);
	struct chi_move_stat moves[] = {
		{move_of(&key, "a3"), {.other = 1}},
		{move_of(&key, "d4"), {3, 2, 1, 0}},
		{move_of(&key, "e4"), {4, 3, 2, 0}},
	};
	struct chi_put_entry put = {
		.key = key,
		.parts = CHI_PUT_COUNTS | CHI_PUT_MOVES | CHI_PUT_CHI2,
		.record = {.chi2 = 921,
			   .counts = {7, 5, 3, 1},
			   .moves = moves,
			   .n_moves = CHI_COUNT(moves)},
	};
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
}

static void put_child(struct chi_client *client, const char *move, uint16_t chi2, uint64_t white)
{
	struct chi_key key = key_of(START);
	struct chi_put_entry put = {.key = behind(&key, move),
				    .parts = CHI_PUT_COUNTS | CHI_PUT_CHI2};
	put.record.chi2 = chi2;
	put.record.counts.white = white;
	struct chi_eval eval = {
		.engine = "deep", .engine_len = 4, .depth = 30, .is_mate = white == 6, .score = -7};
	if (white == 20 || white == 6) {
		put.parts |= CHI_PUT_EVALS;
		put.record.evals = &eval;
		put.record.n_evals = 1;
	}
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
}

static void check_move(const struct chi_explore_move *move, const char *text, uint64_t played,
		       uint64_t reached)
{
	struct chi_key start = key_of(START);
	struct chi_key child = behind(&start, text);
	const struct chi_counts *counts = &move->played;
	assert_int_equal(move->move, move_of(&start, text));
	assert_int_equal(counts->white + counts->draws + counts->black + counts->other, played);
	assert_memory_equal(&move->child.key, &child, sizeof(child));
	assert_int_equal(move->child.found, reached > 0);
	assert_int_equal(move->child.counts.white, reached);
}

/* Moves played, moves that others reach, their order, their names. */
CASE(tells_all, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_key start = key_of(START);
	struct chi_explored explore;
	put_start(client);
	put_child(client, "e4", 777, 20);
	put_child(client, "d4", CHI_CHI2_UNKNOWN, 6);
	put_child(client, "Nf3", 1, 5);
	put_child(client, "c4", CHI_CHI2_MAX, 50);
	world_ok(client, chi_explore(client, &start, NULL, NULL, &explore));
	assert_true(explore.position.found);
	assert_memory_equal(&explore.position.key, &start, sizeof(start));
	assert_int_equal(explore.position.chi2, 921);
	assert_int_equal(explore.position.counts.other, 1);
	assert_int_equal(explore.min_ply, -1);
	assert_null(explore.eco);
	assert_null(explore.opening);
	assert_int_equal(explore.n_moves, 5);
	check_move(&explore.moves[0], "e4", 9, 20);
	check_move(&explore.moves[1], "d4", 6, 6);
	check_move(&explore.moves[2], "a3", 1, 0);
	check_move(&explore.moves[3], "c4", 0, 50);
	check_move(&explore.moves[4], "Nf3", 0, 5);
	assert_int_equal(explore.moves[0].played.draws, 3);
	assert_int_equal(explore.moves[0].child.chi2, 777);
	assert_int_equal(explore.moves[1].child.chi2, CHI_CHI2_UNKNOWN);
	assert_int_equal(explore.moves[3].child.chi2, CHI_CHI2_MAX);
	for (size_t i = 0; i < explore.n_moves; i++) {
		const struct chi_row *child = &explore.moves[i].child;
		assert_int_equal(child->has_eval, i < 2);
		assert_int_equal(child->is_mate, i == 1);
		assert_int_equal(child->depth, i < 2 ? 30 : 0);
		assert_int_equal(child->score, i < 2 ? -7 : 0);
	}
	assert_string_equal(explore.moves[3].eco, "A10");
	assert_string_equal(explore.moves[3].opening, "English Opening");
	assert_string_equal(explore.moves[2].opening, "Anderssen's Opening");
}

CASE(tells_what_is_not_stored, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_key start = key_of(START);
	struct chi_key italian =
		key_of("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3");
	struct chi_explored explore;
	world_ok(client, chi_explore(client, &start, NULL, NULL, &explore));
	assert_false(explore.position.found);
	assert_int_equal(explore.n_moves, 0);
	assert_int_equal(explore.min_ply, -1);
	put_child(client, "e4", 777, 20);
	world_ok(client, chi_explore(client, &start, NULL, NULL, &explore));
	assert_false(explore.position.found);
	assert_int_equal(explore.n_moves, 1);
	check_move(&explore.moves[0], "e4", 0, 20);
	world_ok(client, chi_explore(client, &italian, NULL, NULL, &explore));
	assert_string_equal(explore.eco, "C50");
	assert_string_equal(explore.opening, "Italian Game");
}

/* A client sees what it wrote, also what is not committed. */
CASE(sees_own_writes, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_key start = key_of(START);
	struct chi_explored explore;
	struct chi_put_entry put = {.key = start, .parts = CHI_PUT_RESTORE};
	struct chi_ply_stat ply = {0, 2};
	struct chi_move_stat move = {move_of(&start, "e4"), ONE_WIN};
	put.record.counts = (struct chi_counts){.white = 2};
	put.record.moves = &move;
	put.record.n_moves = 1;
	put.record.plies = &ply;
	put.record.n_plies = 1;
	world_ok(client, chi_put(client, &put, 1, CHI_ASYNC, NULL));
	world_ok(client, chi_explore(client, &start, NULL, NULL, &explore));
	assert_true(explore.position.found);
	assert_int_equal(explore.min_ply, 0);
	assert_int_equal(explore.n_moves, 1);
	check_move(&explore.moves[0], "e4", 1, 0);
}

/* No key can say that Black is to move: the child has none. */
CASE(manages_without_kings, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_put_entry put = {.key = key_of("8/8/8/8/8/8/P7/8 w - - 0 1"),
				    .parts = CHI_PUT_COUNTS | CHI_PUT_MOVES};
	struct chi_move_stat move = {8 << 6 | 16, ONE_WIN};
	struct chi_explored explore;
	put.record.counts = (struct chi_counts)ONE_WIN;
	put.record.moves = &move;
	put.record.n_moves = 1;
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	world_ok(client, chi_explore(client, &put.key, NULL, NULL, &explore));
	assert_int_equal(explore.n_moves, 1);
	assert_int_equal(explore.moves[0].move, move.move);
	assert_int_equal(explore.moves[0].played.white, 1);
	assert_false(explore.moves[0].child.found);
	assert_int_equal(explore.moves[0].child.key.len, 0);
}

WORLD_MAIN
