/* SPDX-License-Identifier: MIT */
/* Positions joined by their legal moves. */
#include <stdlib.h>
#include <string.h>

#include "propagate/evals.h"
#include "propagate/graph.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "tests/base/cases.h"

#define MEMORY (UINT64_C(64) << 20)
#define POOL   4000

static struct chi_key key_of(const char *fen)
{
	struct chi_key key;
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &key, NULL), CHI_OK);
	return key;
}

static struct chi_graph_answer ask(const struct chi_graph *graph, const struct chi_key *key)
{
	struct chi_graph_answer answer;
	assert_int_equal(chi_graph_ask(graph, key, &answer), CHI_OK);
	return answer;
}

/* Mate in one: the position after it is mated, whatever was said of it; another move is known. */
CASE(mates)
{
	static const char *const fens[] = {
		"7k/8/6K1/8/8/8/8/R7 w - - 0 1", "R6k/8/6K1/8/8/8/8/8 b - - 0 1",
		"7k/8/6K1/8/8/8/8/1R6 b - - 0 1", "7k/5K2/6Q1/8/8/8/8/8 b - - 0 1", /* stalemate */
	};
	struct chi_graph *graph = NULL;
	struct chi_key keys[4];
	assert_int_equal(chi_graph_new(0, MEMORY, &graph), CHI_OK);
	for (size_t i = 0; i < 4; i++) {
		keys[i] = key_of(fens[i]);
		assert_int_equal(chi_graph_add(graph, &keys[i], i == 0 ? CHI_WORTH_NONE : 77, 0),
				 CHI_OK);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(chi_graph_link(graph, &keys[i]), CHI_OK);
		assert_int_equal(chi_graph_link(graph, &keys[i]), CHI_NONE);
	}
	assert_int_equal(chi_graph_edges(graph), 2);
	assert_int_equal(chi_graph_run(graph, 0, NULL), CHI_OK);
	struct chi_graph_answer root = ask(graph, &keys[0]);
	assert_int_equal(root.worth, CHI_WORTH_MATE - 1);
	assert_int_equal(root.best, chi_move_make(0, 56, 0));
	assert_true(root.backed && root.linked);
	assert_int_equal(ask(graph, &keys[1]).worth, -CHI_WORTH_MATE);
	assert_int_equal(ask(graph, &keys[2]).worth, 77);
	assert_int_equal(ask(graph, &keys[3]).worth, 0);
	struct chi_key other = key_of(CHI_FEN_START);
	struct chi_graph_answer none;
	assert_int_equal(chi_graph_ask(graph, &other, &none), CHI_NONE);
	assert_int_equal(chi_graph_link(graph, &other), CHI_NONE);
	chi_graph_free(graph);
}

/* Every edge is a legal move to a position of the pool, and none is missing; the table grows. */
CASE(edges)
{
	static struct chi_key pool[POOL];
	struct chi_graph *graph = NULL;
	size_t n = 1;
	uint64_t expected = 0;
	pool[0] = key_of(CHI_FEN_START);
	assert_int_equal(chi_graph_new(10, MEMORY, &graph), CHI_OK);
	assert_int_equal(chi_graph_add(graph, &pool[0], CHI_WORTH_NONE, 0), CHI_OK);
	for (size_t i = 0; n < POOL; i++) {
		struct chi_position position;
		struct chi_move_list list;
		assert_int_equal(chi_key_decode(&pool[i], &position, NULL), CHI_OK);
		chi_movegen_legal(&position, &list);
		for (size_t k = 0; k < list.n && n < POOL; k++) {
			struct chi_position next;
			size_t old = 0;
			chi_position_play(&position, list.moves[k], &next);
			chi_key_encode(&next, &pool[n]);
			while (memcmp(&pool[old], &pool[n], sizeof(*pool)) != 0) {
				old++;
			}
			if (old == n) {
				assert_int_equal(chi_graph_add(graph, &pool[n], CHI_WORTH_NONE, 0),
						 CHI_OK);
				n++;
			}
			expected++;
		}
	}
	for (size_t i = 0; i < POOL; i++) {
		assert_int_equal(chi_graph_link(graph, &pool[i]), CHI_OK);
	}
	assert_int_equal(chi_graph_positions(graph), POOL);
	/* Those whose moves were all played above; what the last positions add comes on top. */
	assert_true(chi_graph_edges(graph) >= expected);
	chi_graph_free(graph);
}

CASE(bounded)
{
	struct chi_graph *graph = NULL;
	assert_int_equal(chi_graph_new(1 << 20, 1 << 20, &graph), -CHI_ETOOBIG);
	assert_null(graph);
	assert_int_equal(chi_graph_new(UINT64_MAX, UINT64_MAX, &graph), -CHI_ETOOBIG);
	assert_int_equal(chi_graph_new(1, 40000, &graph), CHI_OK);
	int rc = CHI_OK;
	for (uint8_t i = 0; rc == CHI_OK && i < 255; i++) {
		for (uint8_t k = 0; rc == CHI_OK && k < 255; k++) {
			struct chi_key key = {.len = 9, .bytes = {i, k}};
			rc = chi_graph_add(graph, &key, 0, 0);
		}
	}
	assert_int_equal(rc, -CHI_ETOOBIG);
	assert_true(chi_graph_held(graph) <= 40000);
	chi_graph_free(graph);
}
