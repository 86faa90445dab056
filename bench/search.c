/* SPDX-License-Identifier: MIT */
/*
 * The positions that a search asks for, in its order: an alpha-beta of two plies from positions of
 * the games, whose cut-offs fall by chance. Written down once, so that every program asks the same.
 */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "chess/key.h"
#include "chess/movegen.h"

#define SEARCH_SEED 20040302
/* Positions written down: about this many. */
#define SEARCH_KEYS 400000

struct lists {
	struct bench_search *out;
	size_t keys_room;
	size_t nodes_room;
	size_t keys;
	uint64_t random;
};

static void *grown(void *old, size_t *room, size_t need, size_t size)
{
	if (need <= *room) {
		return old;
	}
	*room = need * 2;
	void *more = realloc(old, *room * size);
	if (more == NULL) {
		bench_die("out of memory for %zu positions", *room);
	}
	return more;
}

/* The positions after the moves as one node, of which some are visited. */
static size_t add_node(struct lists *lists, const struct chi_position *position,
		       struct chi_position *children)
{
	struct chi_move_list list;
	struct bench_search *out = lists->out;
	chi_movegen_legal(position, &list);
	out->keys = grown(out->keys, &lists->keys_room, lists->keys + list.n, sizeof(*out->keys));
	out->nodes = grown(out->nodes, &lists->nodes_room, out->n + 1, sizeof(*out->nodes));
	for (size_t i = 0; i < list.n; i++) {
		chi_position_play(position, list.moves[i], &children[i]);
		chi_key_encode(&children[i], &out->keys[lists->keys + i]);
	}
	/* Good moves come first: every second node is cut off by its first moves. */
	size_t visited = list.n;
	if (list.n > 2 && bench_random(&lists->random) % 2 == 0) {
		visited = 1 + bench_random(&lists->random) % 3;
	}
	visited = visited < list.n ? visited : list.n;
	out->nodes[out->n++] = (struct bench_node){lists->keys, list.n, visited};
	out->visited += visited;
	lists->keys += list.n;
	return visited;
}

static void search(struct lists *lists, const struct chi_position *root)
{
	static struct chi_position children[CHI_MOVEGEN_MAX];
	static struct chi_position leaves[CHI_MOVEGEN_MAX];
	size_t visited = add_node(lists, root, children);
	for (size_t i = 0; i < visited; i++) {
		(void)add_node(lists, &children[i], leaves);
	}
}

void bench_search_make(const struct bench_keys *keys, struct bench_search *out)
{
	struct lists lists = {.out = out, .random = SEARCH_SEED};
	*out = (struct bench_search){0};
	while (lists.keys < SEARCH_KEYS) {
		struct chi_position root;
		const struct chi_key *key = &keys->games[bench_random(&lists.random) % keys->n];
		if (chi_key_decode(key, &root, NULL) == CHI_OK) {
			search(&lists, &root);
		}
	}
}

void bench_search_free(struct bench_search *search)
{
	free(search->keys);
	free(search->nodes);
}
