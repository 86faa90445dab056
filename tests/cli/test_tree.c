/* SPDX-License-Identifier: MIT */
/* Which leaf of a tree comes next: by hand, and against costs worked out in the plainest way. */
#include <string.h>

#include "base/attr.h"
#include "chistore.h"
#include "cli/work/tree.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define BREADTH 30
#define LINES	3

static const char start[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/* So few pieces that the same positions come again, and moves lead back. */
static const char kings[] = "8/8/8/3k4/8/3K4/8/8 w - - 0 1";

static struct chi_key key_of(const char *fen, const char *moves)
{
	struct chi_key key;
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &key, NULL), CHI_OK);
	while (*moves != '\0') {
		chi_move move;
		size_t len = strcspn(moves, " ");
		assert_int_equal(chi_key_move(&key, moves, len, &move, NULL), CHI_OK);
		assert_int_equal(chi_key_play(&key, move, &key), CHI_OK);
		moves += len + (moves[len] == ' ');
	}
	return key;
}

static uint32_t number_of(struct tree *tree, const char *moves)
{
	struct chi_key key = key_of(start, moves);
	uint32_t number = 0;
	bool added = true;
	assert_int_equal(keyset_add(&tree->keys, &key, &number, &added), CHI_OK);
	assert_false(added);
	return number;
}

static struct tree_line line(const char *moves, const char *san, int score)
{
	struct chi_key key = key_of(start, moves);
	struct tree_line made = {.score = score};
	assert_int_equal(chi_key_move(&key, san, strlen(san), &made.move, NULL), CHI_OK);
	return made;
}

/* The leaf that is taken next is the one after `moves`, and it is grown by two moves. */
static void grow(struct tree *tree, const char *moves, const char *first, int score,
		 const char *second, int worse)
{
	uint32_t leaf = 0;
	struct tree_line lines[] = {line(moves, first, score), line(moves, second, worse)};
	assert_int_equal(tree_take(tree, 0, &leaf), CHI_OK);
	assert_int_equal(leaf, number_of(tree, moves));
	assert_int_equal(tree->taken, 1);
	assert_int_equal(tree_grow(tree, leaf, lines, 2), CHI_OK);
	assert_int_equal(tree->taken, 0);
}

static void begin(struct tree *tree, const char *fen)
{
	struct chi_key root = key_of(fen, "");
	tree_init(tree, BREADTH);
	assert_int_equal(tree_root(tree, &root), CHI_OK);
	assert_int_equal(tree_root(tree, &root), CHI_OK);
}

/* The drawing of tree.h. */
CASE(good_moves_come_first)
{
	struct tree tree;
	begin(&tree, start);
	grow(&tree, "", "Nf3", 20, "a4", -25);
	grow(&tree, "Nf3", "d5", -20, "c5", -25);
	tree_rank(&tree, 0);
	assert_int_equal(tree_cost(&tree, number_of(&tree, "Nf3 d5")), 60);
	assert_int_equal(tree_cost(&tree, number_of(&tree, "Nf3 c5")), 65);
	assert_int_equal(tree_cost(&tree, number_of(&tree, "a4")), 75);
	/* d5 turns out to be poor: White is a hundred better after it. */
	grow(&tree, "Nf3 d5", "d4", 120, "g3", 110);
	tree_rank(&tree, 0);
	assert_int_equal(tree_cost(&tree, number_of(&tree, "Nf3 c5")), 60);
	assert_int_equal(tree_cost(&tree, number_of(&tree, "Nf3 d5")), 60 + 95);
	assert_int_equal(tree_worth(&tree, number_of(&tree, "")), 25);
	assert_int_equal(tree_cost(&tree, number_of(&tree, "a4")), 80);
	grow(&tree, "Nf3 c5", "c4", 30, "g3", 20);
	grow(&tree, "a4", "e5", 0, "d5", 0);
	tree_deinit(&tree);
}

CASE(mates_are_not_followed)
{
	struct tree tree;
	struct tree_line lines[] = {line("", "e4", 3), line("", "f3", -2)};
	uint32_t leaf = 0;
	begin(&tree, start);
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_OK);
	lines[0].is_mate = true;
	lines[1].is_mate = true;
	assert_int_equal(tree_grow(&tree, leaf, lines, 2), CHI_OK);
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_NONE);
	tree_deinit(&tree);
	/* What has no move is no leaf either. */
	begin(&tree, "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1");
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_NONE);
	tree_deinit(&tree);
}

CASE(leaves_are_given_back)
{
	struct tree tree;
	struct tree_line lines[] = {line("", "e4", 30), line("", "d4", 20)};
	uint32_t leaf = 0;
	begin(&tree, start);
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_OK);
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_NONE);
	assert_int_equal(tree_grow(&tree, leaf, lines, 2), CHI_OK);
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_OK);
	assert_int_equal(leaf, number_of(&tree, "e4"));
	tree_later(&tree, leaf, 10);
	assert_int_equal(tree_take(&tree, 9, &leaf), CHI_OK);
	assert_int_equal(leaf, number_of(&tree, "d4"));
	tree_drop(&tree, leaf);
	assert_int_equal(tree_take(&tree, 9, &leaf), CHI_NONE);
	assert_int_equal(tree.busy, 1);
	assert_int_equal(tree_take(&tree, 10, &leaf), CHI_OK);
	assert_int_equal(leaf, number_of(&tree, "e4"));
	assert_int_equal(tree.busy, 0);
	tree_deinit(&tree);
}

/* Several are searched at once: the next best is there before the best is grown. */
CASE(several_are_taken)
{
	struct tree tree;
	struct tree_line lines[] = {line("", "e4", 30), line("", "d4", 20), line("", "c4", 10)};
	uint32_t leaf = 0;
	begin(&tree, start);
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_OK);
	assert_int_equal(tree_grow(&tree, leaf, lines, 3), CHI_OK);
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_OK);
	assert_int_equal(leaf, number_of(&tree, "e4"));
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_OK);
	assert_int_equal(leaf, number_of(&tree, "d4"));
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_OK);
	assert_int_equal(leaf, number_of(&tree, "c4"));
	assert_int_equal(tree_take(&tree, 0, &leaf), CHI_NONE);
	tree_deinit(&tree);
}

/* ---- Against the plainest way -------------------------------------------------------------- */

#define NODES_MAX 2000

struct plain {
	struct tree_line lines[LINES]; /* none: a leaf */
	size_t n;
	uint32_t to[LINES];
	unsigned plies;
	unsigned cost;
	int worth;
};

/* Relaxes until nothing changes. */
static void set_plies(struct plain *nodes, size_t n)
{
	bool changed = true;
	for (size_t i = 0; i < n; i++) {
		nodes[i].plies = i == 0 ? 0 : NODES_MAX;
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < n; i++) {
			for (size_t j = 0; j < nodes[i].n; j++) {
				struct plain *to = &nodes[nodes[i].to[j]];
				if (nodes[i].plies + 1 < to->plies) {
					to->plies = nodes[i].plies + 1;
					changed = true;
				}
			}
		}
	}
}

static int worth_of_move(const struct plain *nodes, const struct plain *node, size_t move);

static int worth_of(const struct plain *nodes, const struct plain *node)
{
	int best = worth_of_move(nodes, node, 0);
	for (size_t i = 1; i < node->n; i++) {
		int worth = worth_of_move(nodes, node, i);
		best = worth > best ? worth : best;
	}
	return best;
}

static int worth_of_move(const struct plain *nodes, const struct plain *node, size_t move)
{
	const struct plain *to = &nodes[node->to[move]];
	return to->n > 0 && to->plies > node->plies ? -to->worth : node->lines[move].score;
}

static void set_worths(struct plain *nodes, size_t n)
{
	bool changed = true;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < n; i++) {
			int worth = nodes[i].n > 0 ? worth_of(nodes, &nodes[i]) : 0;
			changed |= worth != nodes[i].worth;
			nodes[i].worth = worth;
		}
	}
}

static void set_costs(struct plain *nodes, size_t n)
{
	bool changed = true;
	for (size_t i = 0; i < n; i++) {
		nodes[i].cost = i == 0 ? 0 : UINT32_MAX;
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < n; i++) {
			for (size_t j = 0; j < nodes[i].n; j++) {
				struct plain *to = &nodes[nodes[i].to[j]];
				int loss = nodes[i].worth - worth_of_move(nodes, &nodes[i], j);
				unsigned cost = nodes[i].cost + BREADTH + (unsigned)loss;
				if (to->plies > nodes[i].plies && cost < to->cost) {
					to->cost = cost;
					changed = true;
				}
			}
		}
	}
}

/* Different legal moves, the scores falling. */
static size_t draw_lines(struct seed *seed, const struct chi_key *key, struct tree_line *lines)
{
	struct chi_legal_move legal[CHI_LEGAL_MAX];
	size_t n = 0;
	size_t made = 0;
	int score = (int)seed_below(seed, 100) - 50;
	assert_int_equal(chi_key_moves(key, 0, legal, CHI_LEGAL_MAX, &n, NULL), CHI_OK);
	size_t first = seed_below(seed, n);
	for (; made < LINES && made < n; made++) {
		lines[made] =
			(struct tree_line){.move = legal[(first + made) % n].move, .score = score};
		score -= (int)seed_below(seed, 40);
	}
	return made;
}

static void check_taken(const struct tree *tree, struct plain *nodes, uint32_t leaf)
{
	size_t n = tree->keys.n;
	set_plies(nodes, n);
	set_worths(nodes, n);
	set_costs(nodes, n);
	for (size_t i = 0; i < n; i++) {
		if (nodes[i].n == 0) {
			assert_true(nodes[i].cost >= nodes[leaf].cost);
		}
	}
}

CASE(costs_are_those_of_the_plainest_way)
{
	static struct plain nodes[NODES_MAX];
	struct seed seed = seed_start("tree");
	struct tree tree;
	begin(&tree, kings);
	for (size_t i = 0; i < 150; i++) {
		uint32_t leaf = 0;
		assert_int_equal(tree_take(&tree, 0, &leaf), CHI_OK);
		check_taken(&tree, nodes, leaf);
		struct plain *node = &nodes[leaf];
		node->n = draw_lines(&seed, &tree.keys.keys[leaf], node->lines);
		assert_int_equal(tree_grow(&tree, leaf, node->lines, node->n), CHI_OK);
		for (size_t j = 0; j < node->n; j++) {
			struct chi_key key;
			assert_int_equal(
				chi_key_play(&tree.keys.keys[leaf], node->lines[j].move, &key),
				CHI_OK);
			assert_int_equal(keyset_add(&tree.keys, &key, &node->to[j], NULL), CHI_OK);
		}
	}
	/* Some were reached again. */
	assert_int_equal(tree.known, 150);
	assert_in_range(tree.keys.n, 151, 150 * LINES - 50);
	tree_deinit(&tree);
}
