/* SPDX-License-Identifier: MIT */
/*
 * Nodes are numbered as they come, edges of a node lie together. A ranking goes over all of it
 * three times: by plies from the roots, back for the worths, forth for the costs. It is done once
 * for some of the leaves where the tree is large (PART), so that it stays a small part of the work.
 */
#include "cli/work/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "chistore.h"
#include "propagate/backup.h"

#define COST_NONE  UINT32_MAX
#define PLIES_NONE UINT32_MAX
#define LEVEL_MAX  2000 /* worths beyond it are as good, or as poor, for costs */
#define PART	   256	/* one of so many nodes is taken before costs are worked out again */

enum node_state {
	NODE_LEAF,
	NODE_TAKEN,
	NODE_BUSY, /* a leaf to be tried later */
	NODE_KNOWN,
	NODE_OVER, /* given up, or without a legal move */
};

struct tree_node {
	uint8_t state; /* enum node_state */
	bool root;
	uint8_t n;   /* edges, */
	uint32_t at; /* from this one on */
	uint32_t plies;
	uint32_t cost;
	chi_worth worth;
	int64_t later;
};

struct tree_edge {
	uint32_t to;
	chi_worth line; /* what the search said of it */
	chi_worth worth;
};

void tree_init(struct tree *tree, unsigned breadth)
{
	*tree = (struct tree){.breadth = breadth};
	keyset_init(&tree->keys);
}

void tree_deinit(struct tree *tree)
{
	keyset_deinit(&tree->keys);
	free(tree->nodes);
	free(tree->edges);
	free(tree->order);
	free(tree->picks);
}

/* ---- Nodes --------------------------------------------------------------------------------- */

static int grow_nodes(struct tree *tree)
{
	size_t n = tree->room + 1;
	size_t rooms[3] = {tree->room, tree->room, tree->room};
	if (chi_grow(&tree->nodes, &rooms[0], n, sizeof(*tree->nodes)) < 0 ||
	    chi_grow(&tree->order, &rooms[1], n, sizeof(*tree->order)) < 0 ||
	    chi_grow(&tree->picks, &rooms[2], n, sizeof(*tree->picks)) < 0) {
		return -CHI_ENOMEM;
	}
	tree->room = rooms[0];
	return CHI_OK;
}

static int add_node(struct tree *tree, const struct chi_key *key, uint32_t *number)
{
	bool added = false;
	size_t moves = 0;
	if (tree->keys.n == TREE_NODES_MAX) {
		return -CHI_ETOOBIG;
	}
	if (tree->keys.n == tree->room && grow_nodes(tree) != CHI_OK) {
		return -CHI_ENOMEM;
	}
	int status = keyset_add(&tree->keys, key, number, &added);
	if (status != CHI_OK || !added) {
		return status;
	}
	tree->nodes[*number] = (struct tree_node){.state = NODE_OVER, .cost = COST_NONE};
	status = chi_key_moves(key, 0, NULL, 0, &moves, NULL);
	if (status == CHI_OK && moves > 0) {
		tree->nodes[*number].state = NODE_LEAF;
	}
	return status;
}

int tree_root(struct tree *tree, const struct chi_key *key)
{
	uint32_t number = 0;
	int status = add_node(tree, key, &number);
	if (status == CHI_OK) {
		tree->nodes[number].root = true;
		tree->changed = true;
	}
	return status;
}

static void set_state(struct tree *tree, uint32_t leaf, enum node_state state)
{
	struct tree_node *node = &tree->nodes[leaf];
	tree->taken -= node->state == NODE_TAKEN;
	tree->busy -= node->state == NODE_BUSY;
	node->state = (uint8_t)state;
	tree->taken += state == NODE_TAKEN;
	tree->busy += state == NODE_BUSY;
	tree->known += state == NODE_KNOWN;
	tree->changed |= state != NODE_TAKEN;
}

int tree_grow(struct tree *tree, uint32_t leaf, const struct tree_line *lines, size_t n)
{
	uint32_t at = (uint32_t)tree->n_edges;
	int status =
		chi_grow(&tree->edges, &tree->edges_room, tree->n_edges + n, sizeof(*tree->edges));
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		struct tree_edge edge = {.line = chi_worth_of(lines[i].is_mate, lines[i].score)};
		struct chi_key key;
		status = chi_key_play(&tree->keys.keys[leaf], lines[i].move, &key);
		status = status == CHI_OK ? add_node(tree, &key, &edge.to) : status;
		if (status == CHI_OK) {
			tree->edges[tree->n_edges++] = edge;
		}
	}
	if (status == CHI_OK) {
		set_state(tree, leaf, NODE_KNOWN);
		tree->nodes[leaf].at = at;
		tree->nodes[leaf].n = (uint8_t)n;
	}
	return status;
}

void tree_later(struct tree *tree, uint32_t leaf, int64_t when)
{
	set_state(tree, leaf, NODE_BUSY);
	tree->nodes[leaf].later = when;
}

void tree_drop(struct tree *tree, uint32_t leaf)
{
	set_state(tree, leaf, NODE_OVER);
}

size_t tree_leaves(const struct tree *tree, uint32_t from, uint32_t *leaves, size_t max,
		   uint32_t *next)
{
	size_t n = 0;
	for (; from < tree->keys.n && n < max; from++) {
		if (tree->nodes[from].state == NODE_LEAF || tree->nodes[from].state == NODE_BUSY) {
			leaves[n++] = from;
		}
	}
	*next = from;
	return n;
}

/* ---- Ranking ------------------------------------------------------------------------------- */

static bool is_forward(const struct tree *tree, const struct tree_node *from,
		       const struct tree_edge *edge)
{
	return tree->nodes[edge->to].plies > from->plies;
}

/* All nodes by plies from the nearest root; returns how many. */
static size_t set_plies(struct tree *tree)
{
	size_t n = 0;
	for (uint32_t i = 0; i < tree->keys.n; i++) {
		struct tree_node *node = &tree->nodes[i];
		node->plies = node->root ? 0 : PLIES_NONE;
		node->cost = node->root ? 0 : COST_NONE;
		if (node->root) {
			tree->order[n++] = i;
		}
	}
	for (size_t i = 0; i < n; i++) {
		const struct tree_node *node = &tree->nodes[tree->order[i]];
		for (size_t j = node->at; j < node->at + node->n; j++) {
			struct tree_node *to = &tree->nodes[tree->edges[j].to];
			if (to->plies == PLIES_NONE) {
				to->plies = node->plies + 1;
				tree->order[n++] = tree->edges[j].to;
			}
		}
	}
	return n;
}

static void back_up(struct tree *tree, struct tree_node *node)
{
	node->worth = node->n > 0 ? CHI_WORTH_NONE : 0;
	for (size_t i = node->at; i < node->at + node->n; i++) {
		struct tree_edge *edge = &tree->edges[i];
		const struct tree_node *to = &tree->nodes[edge->to];
		edge->worth = to->state == NODE_KNOWN && is_forward(tree, node, edge)
				      ? chi_worth_back(to->worth, 0)
				      : edge->line;
		node->worth = edge->worth > node->worth ? edge->worth : node->worth;
	}
}

static int32_t level(chi_worth worth)
{
	return worth > LEVEL_MAX ? LEVEL_MAX : worth < -LEVEL_MAX ? -LEVEL_MAX : worth;
}

static void pass_cost(struct tree *tree, const struct tree_node *node)
{
	for (size_t i = node->at; i < node->at + node->n && node->cost != COST_NONE; i++) {
		const struct tree_edge *edge = &tree->edges[i];
		struct tree_node *to = &tree->nodes[edge->to];
		uint32_t loss = (uint32_t)(level(node->worth) - level(edge->worth));
		uint32_t cost = node->cost + tree->breadth + loss;
		bool mate = edge->worth > CHI_SCORE_MAX || edge->worth < -CHI_SCORE_MAX;
		if (!mate && is_forward(tree, node, edge) && cost < to->cost) {
			to->cost = cost;
		}
	}
}

/* By cost; of equal ones by key, so that the order does not depend on which came first. */
static int compare_leaves(const void *a, const void *b, void *context)
{
	const struct tree *tree = context;
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;
	uint32_t costs[] = {tree->nodes[x].cost, tree->nodes[y].cost};
	return costs[0] != costs[1] ? (costs[0] > costs[1]) - (costs[0] < costs[1])
				    : memcmp(tree->keys.keys[x].bytes, tree->keys.keys[y].bytes,
					     tree->keys.keys[x].len);
}

void tree_rank(struct tree *tree, int64_t now)
{
	size_t n = set_plies(tree);
	for (size_t i = n; i-- > 0;) {
		back_up(tree, &tree->nodes[tree->order[i]]);
	}
	tree->n_picks = 0;
	tree->picked = 0;
	tree->changed = false;
	for (size_t i = 0; i < n; i++) {
		struct tree_node *node = &tree->nodes[tree->order[i]];
		pass_cost(tree, node);
		if (node->state == NODE_BUSY && node->later <= now) {
			set_state(tree, tree->order[i], NODE_LEAF);
		}
		if (node->state == NODE_LEAF && node->cost != COST_NONE) {
			tree->picks[tree->n_picks++] = tree->order[i];
		}
	}
	qsort_r(tree->picks, tree->n_picks, sizeof(*tree->picks), compare_leaves, tree);
	size_t part = tree->known / PART + 1;
	tree->more = tree->n_picks > part;
	tree->n_picks = tree->more ? part : tree->n_picks;
}

int tree_take(struct tree *tree, int64_t now, uint32_t *leaf)
{
	if (tree->picked == tree->n_picks && (tree->changed || tree->more || tree->busy > 0)) {
		tree_rank(tree, now);
	}
	/* Others may have grown it since. */
	while (tree->picked < tree->n_picks) {
		*leaf = tree->picks[tree->picked++];
		if (tree->nodes[*leaf].state == NODE_LEAF) {
			set_state(tree, *leaf, NODE_TAKEN);
			return CHI_OK;
		}
	}
	return CHI_NONE;
}

uint32_t tree_cost(const struct tree *tree, uint32_t node)
{
	return tree->nodes[node].cost;
}

int32_t tree_worth(const struct tree *tree, uint32_t node)
{
	return tree->nodes[node].worth;
}
