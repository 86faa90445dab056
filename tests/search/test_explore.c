/* SPDX-License-Identifier: MIT */
/* What was played in the games that fit a filter: the same as a loop over all games counts. */
#include "tests/search/world.h"

#include <string.h>

#include "base/attr.h"
#include "search/explore.h"
#include "store/record/meta.h"
#include "tests/base/seed.h"
#include "tests/import/session.h"
#include "tests/store/raw.h"

#define GAMES 3000

static struct search_world world;
static unsigned by_other_ways;

static void count(struct chi_counts *counts, uint8_t result)
{
	uint64_t *of[] = {&counts->white, &counts->draws, &counts->black, &counts->other};
	++*of[result];
}

/* Games that fit and reached the position after the move, by any way. */
static struct chi_counts reached_after(const struct chi_key *key, const struct chi_terms *terms)
{
	struct chi_counts counts = {0};
	for (uint32_t number = 1; number <= world.n; number++) {
		const struct world_game *game = &world.games[number];
		bool reached = false;
		for (size_t ply = 0; ply <= game->plies; ply++) {
			reached |= memcmp(&game->keys[ply], key, sizeof(*key)) == 0;
		}
		if (reached && world_fits(game, terms)) {
			count(&counts, game->head.result);
		}
	}
	return counts;
}

struct expected {
	struct chi_counts all;
	size_t n;
	struct chi_move_stat moves[CHI_MOVES_MAX];
};

/* A game counts once, and once for each move that it played here. */
static void add_game(struct expected *expected, const struct world_game *game,
		     const struct chi_key *key)
{
	chi_move played[WORLD_PLIES + 1];
	size_t n = 0;
	bool reached = false;
	for (size_t ply = 0; ply <= game->plies; ply++) {
		if (memcmp(&game->keys[ply], key, sizeof(*key)) == 0) {
			reached = true;
			played[n++] = ply < game->plies ? game->moves[ply] : 0;
		}
	}
	if (reached) {
		count(&expected->all, game->head.result);
	}
	for (size_t i = 0; i < n; i++) {
		bool again = played[i] == 0;
		for (size_t k = 0; k < i; k++) {
			again |= played[k] == played[i];
		}
		size_t at = 0;
		while (at < expected->n && expected->moves[at].move != played[i]) {
			at++;
		}
		if (!again) {
			expected->moves[at].move = played[i];
			count(&expected->moves[at].counts, game->head.result);
			expected->n += at == expected->n;
		}
	}
}

static void check(const struct chi_key *key, const char *filter)
{
	static struct chi_terms terms;
	struct expected expected = {0};
	struct chi_filtered_explore *explore;
	struct chi_explored found;
	struct chi_arena arena;
	int rc = CHI_OK;
	ok(chi_terms_parse(filter, strlen(filter), &terms, &fault));
	for (uint32_t number = 1; number <= world.n; number++) {
		if (world_fits(&world.games[number], &terms)) {
			add_game(&expected, &world.games[number], key);
		}
	}
	chi_arena_init(&arena, 1 << 20);
	ok(chi_filtered_explore_open(world.read, key, filter, strlen(filter), &explore, &fault));
	while (rc == CHI_OK) {
		rc = chi_filtered_explore_step(explore, help_below(50));
	}
	assert_int_equal(rc, CHI_NONE);
	ok(chi_filtered_explore_result(explore, &arena, &found, &fault));
	if (memcmp(&found.position.counts, &expected.all, sizeof(expected.all)) != 0) {
		fail_msg("%s", filter);
	}
	assert_int_equal(found.n_moves, expected.n);
	uint64_t before = UINT64_MAX;
	for (size_t i = 0; i < found.n_moves; i++) {
		const struct chi_counts *c = &found.moves[i].played;
		size_t at = 0;
		while (at < expected.n && expected.moves[at].move != found.moves[i].move) {
			at++;
		}
		assert_true(at < expected.n);
		assert_memory_equal(c, &expected.moves[at].counts, sizeof(*c));
		assert_true(found.moves[i].child.found);
		struct chi_counts reached = reached_after(&found.moves[i].child.key, &terms);
		if (memcmp(&found.moves[i].child.counts, &reached, sizeof(reached)) != 0) {
			fail_msg("%s", filter);
		}
		by_other_ways += memcmp(c, &reached, sizeof(reached)) != 0;
		uint64_t games = c->white + c->draws + c->black + c->other;
		assert_true(games > 0 && games <= before);
		before = games;
	}
	chi_filtered_explore_close(explore);
	chi_arena_deinit(&arena);
}

CASE(test_random)
{
	char filter[2048];
	size_t rounds = seed_rounds(600);
	for (size_t round = 0; round < rounds; round++) {
		const struct world_game *game = &world.games[1 + help_below(world.n)];
		size_t most = round % 2 == 0 ? 3 : game->plies;
		world_filter(&world, filter, sizeof(filter));
		if (game->there) {
			most = most < game->plies ? most : game->plies;
			check(&game->keys[help_below((unsigned)most + 1)], filter);
		}
	}
	/* In some positions games came from elsewhere, or nothing was tested. */
	assert_true(by_other_ways > 0);
}

/* The short list after one move ends chunks before that after another: it was read again, freed. */
CASE(a_list_that_ended_is_not_read_again)
{
	for (uint32_t number = 1; number <= world.n; number += 3) {
		const struct world_game *game = &world.games[number];
		if (game->there && game->plies > 10) {
			check(&game->keys[10], "plies 0..");
		}
	}
}

/* A position that no game reached. */
CASE(test_nothing)
{
	struct chi_key key = help_fen("8/8/8/4k3/8/8/4K3/7R w - - 0 1");
	check(&key, "");
	check(&key, "result 1-0");
}

/* The number that the last game was given. */
static int set_last_game(MDB_txn *txn, MDB_dbi meta, uint32_t number)
{
	struct chi_store_state state;
	int rc = chi_state_get(txn, meta, &state);
	state.last_game = number;
	return rc == CHI_OK ? chi_state_put(txn, meta, &state) : rc;
}

/* The list after the move ends with game 2^32 - 1, which reached the position another way: what is
 * counted below the number after it was nothing, for ever. */
CASE(test_the_highest_number)
{
	static const char games[] = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n"
				    "[Result \"0-1\"]\n\n1. Nf3 e5 2. e4 0-1\n\n";
	struct chi_key key =
		help_fen("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
	struct chi_filtered_explore *explore;
	struct chi_read *read;
	struct chi_explored found;
	struct chi_arena arena;
	int rc = CHI_OK;
	session_add("highest", "[Result \"1/2-1/2\"]\n\n1. d4 1/2-1/2\n");
	raw_edit("highest", "meta", set_last_game, UINT32_MAX - 2);
	session_add("highest", games);
	struct chi_dir *store = help_open(help_path("highest"), CHI_STORE_READ);
	chi_arena_init(&arena, 1 << 20);
	ok(chi_read_begin(store, &read));
	ok(chi_filtered_explore_open(read, &key, "", 0, &explore, &fault));
	for (unsigned i = 0; rc == CHI_OK && i < 1000; i++) {
		rc = chi_filtered_explore_step(explore, 1000);
	}
	assert_int_equal(rc, CHI_NONE);
	ok(chi_filtered_explore_result(explore, &arena, &found, &fault));
	assert_int_equal(found.n_moves, 1);
	assert_int_equal(found.moves[0].played.white, 1);
	assert_int_equal(found.moves[0].played.black, 0);
	assert_int_equal(found.moves[0].child.counts.white, 1);
	assert_int_equal(found.moves[0].child.counts.black, 1);
	chi_filtered_explore_close(explore);
	chi_arena_deinit(&arena);
	chi_read_end(read);
	chi_dir_close(store);
}

int main(void)
{
	return world_run(&world, GAMES);
}
