/* SPDX-License-Identifier: MIT */
/* Backing up: against negamax by recursion, on random graphs with cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "propagate/backup.h"
#include "tests/base/seed.h"

#define NODES 80 /* more than a word of marks */
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
	if (dice < 3) {
		return CHI_WORTH_NONE;
	}
	if (dice == 3) {
		return chi_worth_of(true, sign * (int32_t)(seed_next(seed) % 20));
	}
	if (dice == 4) {
		return sign * CHI_SCORE_MAX;
	}
	return sign * (int32_t)(seed_next(seed) % 300);
}

/* Edges go anywhere, also to the node itself. */
static void make_graph(struct graph *graph, struct seed *seed)
{
	static const unsigned decays[] = {0, 5, 100, 1000};
	uint32_t at = 0;
	for (size_t i = 0; i < NODES; i++) {
		struct chi_backup_node *node = &graph->nodes[i];
		*node = (struct chi_backup_node){.direct = random_worth(seed),
						 .first = (chi_move)(seed_next(seed) % (EDGES + 2)),
						 .n = (uint16_t)(seed_next(seed) % (EDGES + 1)),
						 .closed = seed_next(seed) % 3 == 0,
						 .at = at};
		for (uint16_t k = 0; k < node->n; k++) {
			graph->children[at] = (uint32_t)(seed_next(seed) % NODES);
			graph->moves[at++] = (chi_move)(k + 1);
		}
	}
	graph->backup = (struct chi_backup){.nodes = graph->nodes,
					    .n = NODES,
					    .children = graph->children,
					    .moves = graph->moves,
					    .decay = decays[seed_next(seed) % 4]};
}

/* Mate distances as counted by hand: in plies, signs apart. */
static chi_worth other_view(chi_worth worth, unsigned decay)
{
	if (worth > CHI_SCORE_MAX) {
		return -(CHI_WORTH_MATE - (CHI_WORTH_MATE - worth + 1));
	}
	if (worth < -CHI_SCORE_MAX) {
		return CHI_WORTH_MATE - (CHI_WORTH_MATE + worth + 1);
	}
	int64_t size = (int64_t)(worth < 0 ? -worth : worth) * (1000 - decay);
	int32_t rounded = (int32_t)((size + 500) / 1000);
	return worth < 0 ? rounded : -rounded;
}

static chi_worth negamax(const struct graph *graph, size_t node, unsigned plies)
{
	const struct chi_backup_node *at = &graph->nodes[node];
	chi_worth most = CHI_WORTH_NONE;
	bool first = false;
	unsigned known = 0;
	for (uint16_t k = 0; plies > 0 && k < at->n; k++) {
		chi_worth worth = negamax(graph, graph->children[at->at + k], plies - 1);
		if (worth != CHI_WORTH_NONE) {
			chi_worth mine = other_view(worth, graph->backup.decay);
			most = mine > most ? mine : most;
			first = first || graph->moves[at->at + k] == at->first;
			known++;
		}
	}
	bool counts = known == 0 || !(first || (at->closed && known == at->n));
	return counts && at->direct > most ? at->direct : most;
}

static void as_negamax(void **state)
{
	struct seed seed = seed_start("as_negamax");
	uint64_t rounds = seed_rounds(150);
	static struct graph graph;
	chi_worth worths[NODES];
	chi_worth spare[NODES];
	uint64_t marks[CHI_BACKUP_MARKS(NODES)];
	uint64_t backed_up = 0;
	uint64_t compared = 0;
	(void)state;
	for (uint64_t round = 0; round < rounds; round++) {
		make_graph(&graph, &seed);
		for (unsigned plies = 0; plies < 6; plies++) {
			(void)chi_backup_run(&graph.backup, plies, worths, spare, marks, NULL);
			for (size_t i = 0; i < NODES; i++) {
				assert_int_equal(worths[i], negamax(&graph, i, plies));
				backed_up += worths[i] != graph.nodes[i].direct;
				compared++;
			}
		}
	}
	assert_true(backed_up > compared / 10);
	printf("# figures: %llu worths compared\n", (unsigned long long)compared);
}

/* A round more of a settled graph changes nothing, so that it may end early. */
static void ends_when_settled(void **state)
{
	struct seed seed = seed_start("ends_when_settled");
	static struct graph graph;
	chi_worth early[NODES];
	chi_worth late[NODES];
	chi_worth spare[NODES];
	uint64_t marks[CHI_BACKUP_MARKS(NODES)];
	uint64_t settled = 0;
	(void)state;
	for (uint64_t round = 0; round < seed_rounds(150); round++) {
		make_graph(&graph, &seed);
		unsigned done = chi_backup_run(&graph.backup, 5000, early, spare, marks, NULL);
		if (done < 5000) {
			settled++;
			(void)chi_backup_run(&graph.backup, done + 1, late, spare, marks, NULL);
			assert_memory_equal(early, late, sizeof(early));
		}
	}
	assert_true(settled > 0);
}

static void scores(void **state)
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
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_mate = false;
		chi_worth worth = chi_worth_of(cases[i].is_mate, cases[i].score);
		assert_int_equal(chi_worth_score(worth, &is_mate), cases[i].score);
		assert_int_equal(is_mate, cases[i].is_mate);
		worth = chi_worth_back(worth, 0);
		assert_int_equal(chi_worth_score(worth, &is_mate), cases[i].back);
		assert_int_equal(is_mate, cases[i].is_mate);
	}
	assert_int_equal(chi_worth_back(100, 5), -100); /* 99.5, half away from 0 */
	assert_int_equal(chi_worth_back(-101, 5), 100);
	assert_int_equal(chi_worth_back(1000, 100), -900);
	assert_int_equal(chi_worth_back(-1000, 1000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_negamax),
		cmocka_unit_test(ends_when_settled),
		cmocka_unit_test(scores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
