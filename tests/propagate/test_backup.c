/* SPDX-License-Identifier: MIT */
/* Backing up: against negamax by recursion, on random graphs with cycles. */
#include <stdlib.h>
#include <string.h>

#include "propagate/backup.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define NODES 80
#define EDGES 4

struct graph {
	struct chi_backup backup;
	struct chi_backup_node nodes[NODES];
	uint32_t children[NODES * EDGES];
	chi_move moves[NODES * EDGES];
};

static chi_worth random_worth(struct seed *seed)
{
	uint64_t dice = seed_next(seed) % 10;
	int32_t sign = seed_next(seed) % 2 == 0 ? 1 : -1;
	if (dice < 4) {
		return CHI_WORTH_NONE;
	}
	if (dice == 4) {
		return chi_worth_claimed(true, sign * (int32_t)(seed_next(seed) % 20));
	}
	if (dice == 5 && seed_next(seed) % 256 == 0) {
		return sign * CHI_SCORE_MAX;
	}
	return sign * (int32_t)(seed_next(seed) % 300);
}

/* Mated, drawn, or proven to be mated or to mate by what is not in the graph. */
static chi_worth random_end(struct seed *seed)
{
	int32_t moves = (int32_t)(seed_next(seed) % 20);
	int32_t sign = seed_next(seed) % 2 == 0 ? 1 : -1;
	switch (seed_next(seed) % 4) {
	case 0:
		return 0;
	case 1:
		return chi_worth_of(true, sign * moves);
	case 2:
		return chi_worth_of(true, sign * (CHI_MATE_MAX - moves));
	default:
		return -CHI_WORTH_MATE;
	}
}

/* Edges go anywhere, also to the node itself. */
static void make_graph(struct graph *graph, struct seed *seed, size_t n)
{
	static const unsigned decays[] = {0, 5, 100, 1000};
	uint32_t at = 0;
	for (size_t i = 0; i < n; i++) {
		struct chi_backup_node *node = &graph->nodes[i];
		*node = (struct chi_backup_node){.direct = random_worth(seed),
						 .first = (chi_move)(seed_next(seed) % (EDGES + 2)),
						 .n = (uint16_t)(seed_next(seed) % (EDGES + 1)),
						 .closed = seed_next(seed) % 3 > 0,
						 .at = at};
		if (seed_next(seed) % 5 == 0) {
			node->direct = random_end(seed);
			node->n = 0;
		}
		for (uint16_t k = 0; k < node->n; k++) {
			graph->children[at] = (uint32_t)(seed_next(seed) % n);
			graph->moves[at++] = (chi_move)(k + 1);
		}
	}
	graph->backup = (struct chi_backup){.nodes = graph->nodes,
					    .n = n,
					    .children = graph->children,
					    .moves = graph->moves,
					    .n_edges = at,
					    .decay = decays[seed_next(seed) % 4]};
}

/* By the scores: a mate in n is one in n of the other side that is mated, and that one is a mate in
 * n + 1. */
static chi_worth other_view(chi_worth worth, unsigned decay)
{
	bool is_mate;
	int32_t score = chi_worth_score(worth, &is_mate);
	if (is_mate) {
		int32_t mates = score > -CHI_MATE_MAX ? 1 - score : CHI_MATE_MAX;
		return chi_worth_of(true, score > 0 ? -score : mates);
	}
	int64_t size = (int64_t)(score < 0 ? -score : score) * (1000 - decay);
	int32_t rounded = (int32_t)((size + 500) / 1000);
	return score < 0 ? rounded : -rounded;
}

static uint32_t child_of(const struct graph *graph, size_t node, uint16_t edge)
{
	return graph->children[graph->nodes[node].at + edge];
}

static bool is_proven(chi_worth worth)
{
	return worth != CHI_WORTH_NONE && chi_worth_is_mate(worth);
}

/* What is proven of a node, if that is what is proven of all. */
static chi_worth prove(const struct graph *graph, size_t node, const chi_worth *proven)
{
	const struct chi_backup_node *at = &graph->nodes[node];
	chi_worth most = CHI_WORTH_NONE;
	bool all = at->closed && at->n > 0;
	if (is_proven(at->direct)) {
		return at->direct;
	}
	for (uint16_t k = 0; k < at->n; k++) {
		chi_worth child = proven[child_of(graph, node, k)];
		chi_worth option =
			child != CHI_WORTH_NONE ? other_view(child, graph->backup.decay) : child;
		most = option > most ? option : most;
		all = all && child != CHI_WORTH_NONE;
	}
	return most > 0 || all ? most : CHI_WORTH_NONE;
}

struct known {
	chi_worth proven[NODES]; /* CHI_WORTH_NONE: not */
	bool known[NODES];
};

/* Proofs, of which there are more from round to round; then those that are left without a score. */
static void find_known(const struct graph *graph, struct known *out)
{
	chi_worth before[NODES];
	size_t n = graph->backup.n;
	for (size_t i = 0; i < n; i++) {
		out->proven[i] = CHI_WORTH_NONE;
		out->known[i] = true;
	}
	for (size_t round = 0; round < 2 * n + 2; round++) {
		memcpy(before, out->proven, sizeof(before));
		for (size_t i = 0; i < n; i++) {
			out->proven[i] = prove(graph, i, before);
		}
	}
	for (size_t round = 0; round < n; round++) {
		for (size_t i = 0; i < n; i++) {
			const struct chi_backup_node *at = &graph->nodes[i];
			bool all = at->closed && at->n > 0;
			for (uint16_t k = 0; k < at->n; k++) {
				all = all && out->known[child_of(graph, i, k)];
			}
			out->known[i] = out->proven[i] != CHI_WORTH_NONE ||
					at->direct != CHI_WORTH_NONE || all;
		}
	}
}

static bool is_option(const struct known *known, uint32_t child)
{
	return known->known[child] && known->proven[child] == CHI_WORTH_NONE;
}

static bool may_stop(const struct graph *graph, const struct known *known, size_t node)
{
	const struct chi_backup_node *at = &graph->nodes[node];
	bool first = false;
	bool all = at->closed && at->n > 0;
	for (uint16_t k = 0; k < at->n; k++) {
		uint32_t child = child_of(graph, node, k);
		first = first || (is_option(known, child) && k + 1 == at->first);
		all = all && known->known[child];
	}
	return at->direct != CHI_WORTH_NONE && !first && !all;
}

/* Negamax of one ply: the best option, if the nodes are worth `worths`. */
static chi_worth negamax(const struct graph *graph, const struct known *known, size_t node,
			 const chi_worth *worths)
{
	const struct chi_backup_node *at = &graph->nodes[node];
	chi_worth most = may_stop(graph, known, node) ? at->direct : CHI_WORTH_NONE;
	for (uint16_t k = 0; k < at->n; k++) {
		uint32_t child = child_of(graph, node, k);
		if (is_option(known, child)) {
			chi_worth option = other_view(worths[child], graph->backup.decay);
			most = option > most ? option : most;
		}
	}
	return most;
}

/* Of twice as many plies as there are nodes; what is not decided by then is a draw. */
static void negamax_deep(const struct graph *graph, chi_worth worths[NODES])
{
	struct known known;
	chi_worth before[NODES];
	size_t n = graph->backup.n;
	find_known(graph, &known);
	for (size_t i = 0; i < n; i++) {
		bool open = known.known[i] && known.proven[i] == CHI_WORTH_NONE;
		worths[i] = open ? 0 : known.proven[i];
	}
	for (size_t plies = 0; plies < 2 * n + 2; plies++) {
		memcpy(before, worths, sizeof(before));
		for (size_t i = 0; i < n; i++) {
			if (is_option(&known, (uint32_t)i)) {
				worths[i] = negamax(graph, &known, i, before);
			}
		}
	}
}

/* Following best moves from a node comes to the score that its worth is from. */
static void best_moves_end(const struct graph *graph, const chi_worth *worths, const uint16_t *best,
			   size_t node)
{
	size_t at = node;
	size_t plies = 0;
	chi_worth worth = worths[node];
	while (best[at] != CHI_BACKUP_OWN) {
		uint32_t next = graph->children[graph->nodes[at].at + best[at]];
		assert_int_equal(other_view(worths[next], graph->backup.decay), worths[at]);
		if (worth == 0) {
			return;
		}
		at = next;
		assert_true(++plies < graph->backup.n);
	}
	assert_int_equal(worths[at], graph->nodes[at].direct);
}

CASE(as_negamax)
{
	struct seed seed = seed_start("as_negamax");
	uint64_t rounds = seed_rounds(300);
	static struct graph graph;
	chi_worth worths[NODES];
	chi_worth expected[NODES];
	uint16_t best[NODES];
	uint64_t backed_up = 0;
	uint64_t drawn = 0;
	uint64_t mates = 0;
	uint64_t compared = 0;
	for (uint64_t round = 0; round < rounds; round++) {
		make_graph(&graph, &seed, NODES);
		assert_int_equal(chi_backup_run(&graph.backup, worths, best, NULL), CHI_OK);
		negamax_deep(&graph, expected);
		for (size_t i = 0; i < NODES; i++) {
			assert_int_equal(worths[i], expected[i]);
			if (worths[i] != CHI_WORTH_NONE) {
				best_moves_end(&graph, worths, best, i);
			}
			backed_up += best[i] != CHI_BACKUP_OWN;
			drawn += worths[i] == 0;
			mates += is_proven(worths[i]) && best[i] != CHI_BACKUP_OWN;
			compared++;
		}
	}
	assert_true(backed_up > compared / 10);
	assert_true(drawn > compared / 100);
	assert_true(mates > compared / 20);
	printf("# figures: %llu worths compared\n", (unsigned long long)compared);
}

/* By recursion along every way; a way that comes back to itself is a draw. */
static chi_worth negamax_ways(const struct graph *graph, const struct known *known, size_t node,
			      uint64_t way)
{
	const struct chi_backup_node *at = &graph->nodes[node];
	chi_worth most = may_stop(graph, known, node) ? at->direct : CHI_WORTH_NONE;
	if ((way >> node & 1) != 0) {
		return 0;
	}
	for (uint16_t k = 0; k < at->n; k++) {
		uint32_t child = child_of(graph, node, k);
		if (is_option(known, child)) {
			chi_worth worth =
				negamax_ways(graph, known, child, way | UINT64_C(1) << node);
			chi_worth option = other_view(worth, graph->backup.decay);
			most = option > most ? option : most;
		}
	}
	return most;
}

CASE(as_negamax_of_all_ways)
{
	struct seed seed = seed_start("as_negamax_of_all_ways");
	static struct graph graph;
	struct known known;
	chi_worth worths[NODES];
	uint16_t best[NODES];
	for (uint64_t round = 0; round < seed_rounds(3000); round++) {
		make_graph(&graph, &seed, 8);
		find_known(&graph, &known);
		assert_int_equal(chi_backup_run(&graph.backup, worths, best, NULL), CHI_OK);
		for (size_t i = 0; i < graph.backup.n; i++) {
			chi_worth expected = is_option(&known, (uint32_t)i)
						     ? negamax_ways(&graph, &known, i, 0)
						     : known.proven[i];
			assert_int_equal(worths[i], expected);
		}
	}
}

/* ---- Games of which a part is stored ------------------------------------------------------- */

/* A whole game: every position mated, drawn, or with all its moves. */
static void make_game(struct graph *graph, struct seed *seed)
{
	uint32_t at = 0;
	for (size_t i = 0; i < NODES; i++) {
		struct chi_backup_node *node = &graph->nodes[i];
		*node = (struct chi_backup_node){
			.direct = CHI_WORTH_NONE, .closed = true, .at = at};
		uint64_t dice = seed_next(seed) % 8;
		node->n = dice < 2 ? 0 : (uint16_t)(1 + seed_next(seed) % EDGES);
		if (node->n == 0) {
			node->direct = dice == 0 ? -CHI_WORTH_MATE : 0;
		}
		for (uint16_t k = 0; k < node->n; k++) {
			graph->children[at] = (uint32_t)(seed_next(seed) % NODES);
			graph->moves[at++] = (chi_move)(k + 1);
		}
	}
	graph->backup = (struct chi_backup){.nodes = graph->nodes,
					    .n = NODES,
					    .children = graph->children,
					    .moves = graph->moves,
					    .n_edges = at};
}

/* Solved by plies: lost in p if all moves win in less for the other side. 0: never, a draw. */
static void solve(const struct graph *graph, chi_worth truth[NODES])
{
	for (size_t i = 0; i < NODES; i++) {
		truth[i] = graph->nodes[i].direct == -CHI_WORTH_MATE ? -CHI_WORTH_MATE : 0;
	}
	for (chi_worth plies = 1; plies <= NODES; plies++) {
		chi_worth before[NODES];
		memcpy(before, truth, sizeof(before));
		for (size_t i = 0; i < NODES; i++) {
			const struct chi_backup_node *at = &graph->nodes[i];
			bool wins = false;
			bool loses = at->n > 0;
			for (uint16_t k = 0; k < at->n; k++) {
				wins = wins || before[child_of(graph, i, k)] < 0;
				loses = loses && before[child_of(graph, i, k)] > 0;
			}
			if (before[i] == 0 && (wins || loses)) {
				truth[i] = wins ? CHI_WORTH_MATE - plies : plies - CHI_WORTH_MATE;
			}
		}
	}
}

/* Moves are left out, and some positions get scores, mates among them that are not so. */
static void leave_out(struct graph *graph, struct seed *seed, bool scores)
{
	uint64_t part = 1 + seed_next(seed) % 12;
	uint32_t kept = 0;
	for (size_t i = 0; i < NODES; i++) {
		struct chi_backup_node *node = &graph->nodes[i];
		struct chi_backup_node all = *node;
		node->at = kept;
		node->n = 0;
		for (uint32_t k = all.at; k < all.at + all.n; k++) {
			if (seed_next(seed) % 12 >= part) {
				graph->children[kept] = graph->children[k];
				graph->moves[kept++] = graph->moves[k];
				node->n++;
			}
		}
		node->closed = node->n == all.n;
		if (scores && all.n > 0 && seed_next(seed) % 3 == 0) {
			node->direct = random_worth(seed);
			node->first = (chi_move)(seed_next(seed) % (EDGES + 1));
		}
	}
	graph->backup.n_edges = kept;
}

/* A side whose only stored reply lost was said to be mated, in as many moves as a game went on. */
CASE(mates_of_a_part_are_mates_of_the_whole)
{
	struct seed seed = seed_start("mates_of_a_part");
	static struct graph graph;
	chi_worth truth[NODES];
	chi_worth worths[NODES];
	uint16_t best[NODES];
	uint64_t mates = 0;
	uint64_t draws = 0;
	for (uint64_t round = 0; round < seed_rounds(2000); round++) {
		bool whole = round % 8 == 0;
		bool scores = round % 2 == 1;
		make_game(&graph, &seed);
		solve(&graph, truth);
		if (!whole) {
			leave_out(&graph, &seed, scores);
		}
		assert_int_equal(chi_backup_run(&graph.backup, worths, best, NULL), CHI_OK);
		for (size_t i = 0; i < NODES; i++) {
			if (whole) {
				assert_int_equal(worths[i], truth[i]);
			} else if (is_proven(worths[i])) {
				/* The way to mate that is stored need not be the shortest. */
				assert_true(worths[i] > 0 ? truth[i] >= worths[i]
							  : truth[i] <= worths[i]);
				mates += best[i] != CHI_BACKUP_OWN;
			} else if (!scores && worths[i] != CHI_WORTH_NONE) {
				assert_int_equal(worths[i], 0);
				assert_int_equal(truth[i], 0);
				draws++;
			}
		}
	}
	assert_true(mates > 1000 && draws > 1000);
	printf("# figures: %llu mates of a part of a game\n", (unsigned long long)mates);
}

/* 0 has one stored reply, after which 2 mates; beside others, or as its only one. */
CASE(a_lone_reply_proves_nothing)
{
	static const uint32_t children[] = {1, 2};
	static const chi_move moves[] = {7, 7};
	struct chi_backup_node nodes[] = {
		{.direct = CHI_WORTH_NONE, .n = 1, .at = 0},
		{.direct = CHI_WORTH_NONE, .n = 1, .at = 1},
		{.direct = -CHI_WORTH_MATE},
	};
	const struct chi_backup backup = {
		.nodes = nodes, .n = 3, .children = children, .moves = moves, .n_edges = 2};
	chi_worth worths[3];
	uint16_t best[3];
	assert_int_equal(chi_backup_run(&backup, worths, best, NULL), CHI_OK);
	assert_int_equal(worths[1], CHI_WORTH_MATE - 1);
	assert_int_equal(worths[0], CHI_WORTH_NONE);
	/* It was thought best: what comes instead is not stored, and no worse than lost. */
	nodes[0].direct = 30;
	nodes[0].first = 7;
	assert_int_equal(chi_backup_run(&backup, worths, best, NULL), CHI_OK);
	assert_int_equal(worths[0], 30);
	assert_int_equal(best[0], CHI_BACKUP_OWN);
	nodes[0].closed = true;
	assert_int_equal(chi_backup_run(&backup, worths, best, NULL), CHI_OK);
	assert_int_equal(worths[0], 2 - CHI_WORTH_MATE);
	/* What an engine says of a mate is no proof of it. */
	nodes[2].direct = chi_worth_claimed(true, -3);
	assert_int_equal(chi_backup_run(&backup, worths, best, NULL), CHI_OK);
	assert_int_equal(worths[1], CHI_WORTH_NONE);
	assert_int_equal(worths[0], 30);
	nodes[1].closed = true;
	assert_int_equal(chi_backup_run(&backup, worths, best, NULL), CHI_OK);
	assert_int_equal(worths[1], CHI_WORTH_CLAIMED - 6);
	assert_int_equal(worths[0], 6 - CHI_WORTH_CLAIMED);
}

/* Scores of 50 on the ways out of a cycle that both may leave, and no decay: rounds of negamax gave
 * them to the one side and to the other, by turns. */
CASE(cycles_settle)
{
	static const uint32_t children[] = {1, 2, 3, 0};
	static const chi_move moves[] = {1, 1, 1, 1};
	struct chi_backup_node nodes[4];
	chi_worth worths[4];
	uint16_t best[4];
	for (uint32_t i = 0; i < 4; i++) {
		nodes[i] = (struct chi_backup_node){.direct = -50, .n = 1, .at = i};
	}
	struct chi_backup backup = {
		.nodes = nodes, .n = 4, .children = children, .moves = moves, .n_edges = 4};
	assert_int_equal(chi_backup_run(&backup, worths, best, NULL), CHI_OK);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(worths[i], 0); /* nothing is gained by leaving it */
		assert_int_equal(best[i], 0);
	}
	nodes[2].direct = 50;
	assert_int_equal(chi_backup_run(&backup, worths, best, NULL), CHI_OK);
	assert_int_equal(worths[2], 50);
	assert_int_equal(best[2], CHI_BACKUP_OWN);
	assert_int_equal(worths[1], -50);
	assert_int_equal(worths[0], 50);
	assert_int_equal(worths[3], -50);
}

CASE(scores)
{
	static const struct {
		bool is_mate;
		int32_t score;
		int32_t back; /* to the other side, a ply earlier, without decay */
	} cases[] = {
		{false, 0, 0},
		{false, 35, -35},
		{false, -CHI_SCORE_MAX, CHI_SCORE_MAX},
		{true, 0, 1},
		{true, 1, -1},
		{true, -1, 2},
		{true, 5, -5},
		{true, -5, 6},
		{true, CHI_MATE_MAX, -CHI_MATE_MAX},
		{true, -CHI_MATE_MAX, CHI_MATE_MAX}, /* at the limit it stays */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_mate = false;
		chi_worth worth = chi_worth_of(cases[i].is_mate, cases[i].score);
		assert_int_equal(chi_worth_score(worth, &is_mate), cases[i].score);
		assert_int_equal(is_mate, cases[i].is_mate);
		worth = chi_worth_back(worth, 0);
		assert_int_equal(chi_worth_score(worth, &is_mate), cases[i].back);
		assert_int_equal(is_mate, cases[i].is_mate);
	}
	assert_int_equal(chi_worth_claimed(false, -35), -35);
	assert_int_equal(chi_worth_claimed(true, 2), CHI_WORTH_CLAIMED - 3);
	assert_int_equal(chi_worth_claimed(true, 0), -CHI_WORTH_CLAIMED);
	assert_int_equal(chi_worth_claimed(true, -CHI_MATE_MAX), 1000 - CHI_WORTH_CLAIMED);
	assert_int_equal(chi_worth_back(100, 5), -100); /* 99.5, half away from 0 */
	assert_int_equal(chi_worth_back(-101, 5), 100);
	assert_int_equal(chi_worth_back(1000, 100), -900);
	assert_int_equal(chi_worth_back(-1000, 1000), 0);
}
