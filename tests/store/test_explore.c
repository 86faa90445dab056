/* SPDX-License-Identifier: MIT */
/*
 * Exploring: small random games, counted here in arrays and put into a store, must come back as
 * the arrays say, in the order that types.h promises.
 */
#include "tests/store/help.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/openings/openings.h"

#define START	   "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define NODES	   2048
#define GAMES	   300
#define PLIES	   7
#define CHOICES	   6 /* moves that are played: few, so that games meet again */
#define NODE_MOVES 64

/* A position as the games have left it. */
struct node {
	struct chi_key key;
	struct chi_counts counts;
	struct chi_move_stat moves[NODE_MOVES]; /* as they came */
	size_t n_moves;
	struct chi_ply_stat ply; /* the least, with the games that had it */
};

static struct node *nodes;
static size_t n_nodes;
static struct chi_dir *store;
static struct chi_arena arena;

static struct node *find(const struct chi_key *key)
{
	for (size_t i = 0; i < n_nodes; i++) {
		if (help_key_compare(&nodes[i].key, key) == 0) {
			return &nodes[i];
		}
	}
	return NULL;
}

static struct node *find_or_add(const struct chi_key *key)
{
	struct node *node = find(key);
	if (node == NULL) {
		assert_true(n_nodes < NODES);
		node = &nodes[n_nodes++];
		node->key = *key;
	}
	return node;
}

static void add(struct chi_counts *counts, unsigned result)
{
	uint64_t *const sides[] = {&counts->white, &counts->draws, &counts->black, &counts->other};
	(*sides[result])++;
}

static void add_move(struct node *node, chi_move move, unsigned result)
{
	size_t i = 0;
	while (i < node->n_moves && node->moves[i].move != move) {
		i++;
	}
	assert_true(i < NODE_MOVES);
	if (i == node->n_moves) {
		node->moves[node->n_moves++] = (struct chi_move_stat){.move = move};
	}
	add(&node->moves[i].counts, result);
}

static int by_move(const void *left, const void *right)
{
	const struct chi_move_stat *a = left;
	const struct chi_move_stat *b = right;
	return (int)a->move - (int)b->move;
}

static int by_number(const void *left, const void *right)
{
	return (int)*(const chi_move *)left - (int)*(const chi_move *)right;
}

static struct chi_key key_of(const struct chi_position *position)
{
	struct chi_key key;
	chi_key_encode(position, &key);
	return key;
}

/* A game of which the model keeps the counts. The last position is counted on a whim only, so that
 * moves lead to positions that are not stored. */
static void play_game(void)
{
	struct chi_position position;
	unsigned result = help_below(4);
	unsigned plies = 1 + help_below(PLIES);
	ok(chi_fen_parse(START, strlen(START), &position, &fault));
	for (unsigned ply = 0; ply <= plies; ply++) {
		struct chi_move_list list;
		struct chi_position next;
		struct chi_key key = key_of(&position);
		if (ply == plies && help_below(2) == 0) {
			return;
		}
		struct node *node = find_or_add(&key);
		add(&node->counts, result);
		if (node->ply.games == 0 || ply < node->ply.ply) {
			node->ply = (struct chi_ply_stat){.ply = (uint16_t)ply};
		}
		node->ply.games += ply == node->ply.ply ? 1 : 0;
		if (ply == plies) {
			return;
		}
		chi_movegen_legal(&position, &list);
		qsort(list.moves, list.n, sizeof(*list.moves), by_number);
		chi_move move = list.moves[help_below(CHOICES)];
		add_move(node, move, result);
		chi_position_play(&position, move, &next);
		position = next;
	}
}

/* Many puts in one transaction: one sync for all. */
static void put_into(struct chi_write *write, const struct chi_put_entry *put)
{
	struct chi_put_result result = {0};
	ok(chi_put_check(put, CHI_STATISTIC_EXTERNAL, &fault));
	ok(chi_write_put(write, put, &result));
	assert_int_equal(result.added, 1);
}

static int make_store(void **state)
{
	(void)state;
	chi_arena_init(&arena, (size_t)4 << 20);
	nodes = calloc(NODES, sizeof(*nodes));
	assert_non_null(nodes);
	store = help_store("explore", CHI_STATISTIC_EXTERNAL);
	for (unsigned i = 0; i < GAMES; i++) {
		play_game();
	}
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < n_nodes; i++) {
		struct node *node = &nodes[i];
		qsort(node->moves, node->n_moves, sizeof(*node->moves), by_move);
		struct chi_put_entry put = {.key = node->key, .parts = CHI_PUT_RESTORE};
		put.record.chi2 = (uint16_t)help_below(CHI_CHI2_MAX); /* 0: not known */
		put.record.counts = node->counts;
		put.record.moves = node->moves;
		put.record.n_moves = node->n_moves;
		put.record.plies = &node->ply;
		put.record.n_plies = 1;
		put_into(write, &put);
	}
	ok(chi_write_commit(write, &fault));
	return 0;
}

static int drop_store(void **state)
{
	(void)state;
	chi_dir_close(store);
	chi_arena_deinit(&arena);
	free(nodes);
	help_clean();
	return 0;
}

static int explore_in(struct chi_dir *in, const struct chi_key *key, struct chi_explored *out)
{
	struct chi_read *read;
	chi_arena_reset(&arena);
	fault.text[0] = '\0';
	ok(chi_read_begin(in, &read));
	int status = chi_read_explore(read, key, &arena, out, &fault);
	chi_read_end(read);
	return status;
}

static uint64_t total(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black + counts->other;
}

static void same_counts(const struct chi_counts *a, const struct chi_counts *b)
{
	assert_int_equal(a->white, b->white);
	assert_int_equal(a->draws, b->draws);
	assert_int_equal(a->black, b->black);
	assert_int_equal(a->other, b->other);
}

/* A row says what the model's node says, or that there is none. */
static void same_row(const struct chi_row *row, const struct chi_key *key)
{
	struct chi_row probed;
	const struct node *node = find(key);
	assert_memory_equal(&row->key, key, sizeof(*key));
	assert_int_equal(row->found, node != NULL);
	int status = help_get(store, key, &probed);
	assert_int_equal(status, node != NULL ? CHI_OK : CHI_NONE);
	assert_int_equal(row->chi2, probed.chi2);
	same_counts(&row->counts, node != NULL ? &node->counts : &(struct chi_counts){0});
}

static void same_opening(const struct chi_key *key, const char *eco, const char *opening)
{
	const char *eco_wanted;
	const char *wanted;
	chi_opening_find(key, &eco_wanted, &wanted);
	assert_ptr_equal(eco, eco_wanted);
	assert_ptr_equal(opening, wanted);
}

/* One answer of a move, against the model; marks the move as told. */
static void check_move(const struct chi_position *position, const struct node *node,
		       const struct chi_explore_move *move)
{
	struct chi_position next;
	struct chi_counts played = {0};
	bool was_played = false;
	assert_true(chi_movegen_is_legal(position, move->move));
	for (size_t i = 0; node != NULL && i < node->n_moves; i++) {
		if (node->moves[i].move == move->move) {
			played = node->moves[i].counts;
			was_played = true;
		}
	}
	chi_position_play(position, move->move, &next);
	struct chi_key key = key_of(&next);
	same_counts(&move->played, &played);
	same_row(&move->child, &key);
	same_opening(&key, move->eco, move->opening);
	assert_true(was_played || move->child.found);
}

/* How many moves there are to tell, counted the slow way. */
static size_t moves_to_tell(const struct chi_position *position, const struct node *node)
{
	struct chi_move_list list;
	size_t n = 0;
	chi_movegen_legal(position, &list);
	for (size_t i = 0; i < list.n; i++) {
		struct chi_position next;
		bool told = false;
		chi_position_play(position, list.moves[i], &next);
		struct chi_key key = key_of(&next);
		for (size_t j = 0; node != NULL && j < node->n_moves; j++) {
			told = told || node->moves[j].move == list.moves[i];
		}
		n += told || find(&key) != NULL ? 1 : 0;
	}
	return n;
}

static bool in_order(const struct chi_explore_move *a, const struct chi_explore_move *b)
{
	uint64_t played[2] = {total(&a->played), total(&b->played)};
	uint64_t reached[2] = {total(&a->child.counts), total(&b->child.counts)};
	if (played[0] != played[1]) {
		return played[0] > played[1];
	}
	return reached[0] != reached[1] ? reached[0] > reached[1] : a->move < b->move;
}

static void check_position(const struct chi_position *position)
{
	struct chi_explored explore;
	struct chi_key key = key_of(position);
	const struct node *node = find(&key);
	ok(explore_in(store, &key, &explore));
	same_row(&explore.position, &key);
	same_opening(&key, explore.eco, explore.opening);
	assert_int_equal(explore.min_ply, node != NULL ? node->ply.ply : -1);
	assert_int_equal(explore.n_moves, moves_to_tell(position, node));
	for (size_t i = 0; i < explore.n_moves; i++) {
		check_move(position, node, &explore.moves[i]);
		assert_true(i == 0 || in_order(&explore.moves[i - 1], &explore.moves[i]));
	}
}

/* Every stored position, and those one move away from some of them. */
CASE(tells_what_the_games_were)
{
	size_t beside = 0;
	for (size_t i = 0; i < n_nodes; i++) {
		struct chi_position position;
		struct chi_move_list list;
		struct chi_position next;
		ok(chi_key_decode(&nodes[i].key, &position, &fault));
		check_position(&position);
		chi_movegen_legal(&position, &list);
		chi_position_play(&position, list.moves[help_below((unsigned)list.n)], &next);
		struct chi_key key = key_of(&next);
		beside += find(&key) == NULL ? 1 : 0;
		check_position(&next);
	}
	print_message("# %zu positions, and %zu that are not stored\n", n_nodes, beside);
	assert_true(n_nodes > 200 && beside > 20);
}

/* Reached by other moves: the position itself is not stored, what is after it is. */
CASE(finds_children_of_a_stranger)
{
	struct chi_explored explore;
	struct chi_dir *own = help_store("stranger", CHI_STATISTIC_EXTERNAL);
	struct chi_put_entry put = {
		.key = help_fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"),
		.parts = CHI_PUT_COUNTS | CHI_PUT_CHI2,
		.record = {.chi2 = 777, .counts = {3, 2, 1, 4}},
	};
	struct chi_key start = help_fen(START);
	help_put(own, &put);
	ok(explore_in(own, &start, &explore));
	assert_false(explore.position.found);
	assert_int_equal(explore.min_ply, -1);
	assert_int_equal(explore.position.chi2, CHI_CHI2_UNKNOWN);
	assert_int_equal(explore.n_moves, 1);
	const struct chi_explore_move *move = &explore.moves[0];
	assert_int_equal(move->move, chi_move_make(12, 28, 0));
	assert_int_equal(total(&move->played), 0);
	assert_true(move->child.found);
	assert_int_equal(move->child.chi2, 777);
	same_counts(&move->child.counts, &put.record.counts);
	assert_string_equal(move->eco, "B00");
	assert_string_equal(move->opening, "King's Pawn Game");
	chi_dir_close(own);
}

/* No keys follow the moves, so nothing but the record can be told. */
CASE(manages_without_kings)
{
	struct chi_explored explore;
	struct chi_dir *own = help_store("kingless", CHI_STATISTIC_CONTROL);
	struct chi_move_stat move = {.move = chi_move_make(8, 16, 0), .counts = {1, 0, 0, 0}};
	struct chi_put_entry put = {
		.key = help_fen("8/8/8/8/8/8/P7/8 w - - 0 1"),
		.parts = CHI_PUT_COUNTS | CHI_PUT_MOVES,
		.record = {.counts = {1, 0, 0, 0}, .moves = &move, .n_moves = 1},
	};
	help_put(own, &put);
	ok(explore_in(own, &put.key, &explore));
	assert_true(explore.position.found);
	assert_int_equal(explore.n_moves, 1);
	assert_int_equal(explore.moves[0].move, move.move);
	assert_int_equal(explore.moves[0].played.white, 1);
	assert_false(explore.moves[0].child.found);
	assert_int_equal(explore.moves[0].child.key.len, 0);
	/* Mated, and without any piece that could move. */
	struct chi_key mated = help_fen("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1");
	ok(explore_in(own, &mated, &explore));
	assert_int_equal(explore.n_moves, 0);
	chi_dir_close(own);
}

/* The most moves a position has been found with: all children are looked up. */
CASE(looks_behind_many_moves)
{
	struct chi_explored explore;
	struct chi_move_list list;
	struct chi_position position;
	static const char fen[] = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";
	struct chi_dir *own = help_store("many", CHI_STATISTIC_CONTROL);
	ok(chi_fen_parse(fen, strlen(fen), &position, &fault));
	chi_movegen_legal(&position, &list);
	assert_int_equal(list.n, 218);
	struct chi_write *write;
	ok(chi_write_begin(own, &write, &fault));
	for (size_t i = 0; i < list.n; i++) {
		struct chi_position next;
		chi_position_play(&position, list.moves[i], &next);
		struct chi_put_entry put = {.key = key_of(&next), .parts = CHI_PUT_COUNTS};
		put.record.counts.draws = list.moves[i];
		put_into(write, &put);
	}
	ok(chi_write_commit(write, &fault));
	struct chi_key key = key_of(&position);
	ok(explore_in(own, &key, &explore));
	assert_int_equal(explore.n_moves, list.n);
	for (size_t i = 0; i < list.n; i++) {
		assert_int_equal(explore.moves[i].child.counts.draws, explore.moves[i].move);
	}
	chi_dir_close(own);
}

/* The checks of a put keep such a record out; a foreign program's store may have it. */
CASE(refuses_a_move_that_is_not_legal)
{
	static const chi_move wrong[] = {0x0001, 12 << 6 | 36 /* e2e5 */, 0x7fff};
	for (size_t i = 0; i < CHI_COUNT(wrong); i++) {
		struct chi_dir *own = help_store("wrong", CHI_STATISTIC_CONTROL);
		struct chi_write *write;
		struct chi_put_result result = {0};
		struct chi_explored explore;
		struct chi_move_stat moves[2] = {{.move = 12 << 6 | 28, .counts = {.white = 1}},
						 {.move = wrong[i], .counts = {.white = 1}}};
		struct chi_put_entry put = {
			.key = help_fen(START),
			.parts = CHI_PUT_COUNTS | CHI_PUT_MOVES,
			.record = {.counts = {.white = 2}, .moves = moves, .n_moves = 2},
		};
		qsort(moves, 2, sizeof(*moves), by_move);
		ok(chi_write_begin(own, &write, &fault));
		int status = chi_write_put(write, &put, &result);
		if (status == CHI_OK) {
			ok(chi_write_commit(write, &fault));
			assert_int_equal(explore_in(own, &put.key, &explore), -CHI_ECORRUPT);
			assert_non_null(strstr(fault.text, "not legal"));
			assert_int_equal(explore.n_moves, 0);
		} else {
			/* No move's number at all: the record cannot be written. */
			chi_write_abort(write);
			assert_int_equal(wrong[i], 0x7fff);
		}
		chi_dir_close(own);
	}
}

CASE(refuses_what_is_no_key)
{
	struct chi_explored explore;
	struct chi_key key = {.len = 9};
	assert_int_equal(explore_in(store, &key, &explore), -CHI_EKEY);
	assert_true(fault.text[0] != '\0');
	key.len = 200;
	assert_int_equal(explore_in(store, &key, &explore), -CHI_EKEY);
}

/* Memory is the caller's to bound. */
CASE(runs_out_of_memory)
{
	struct chi_key start = help_fen(START);
	for (size_t budget = 0; budget < 16384; budget += 100) {
		struct chi_explored explore;
		struct chi_read *read;
		struct chi_arena small;
		chi_arena_init(&small, budget);
		ok(chi_read_begin(store, &read));
		int status = chi_read_explore(read, &start, &small, &explore, &fault);
		chi_read_end(read);
		chi_arena_deinit(&small);
		assert_true(status == CHI_OK || status == -CHI_ENOMEM);
		assert_int_equal(status == CHI_OK, explore.n_moves > 0);
		assert_true(budget > 0 || status == -CHI_ENOMEM);
	}
}

CASES_MAIN(make_store, drop_store)
