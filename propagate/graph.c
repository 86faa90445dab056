/* SPDX-License-Identifier: MIT */
/*
 * The table is open addressing by the hash's lower bits; a slot is 16 bytes, four to a line of the
 * cache. All slots that a position's moves lead to are asked for before the first is looked at, so
 * that their waits overlap.
 */
#include "propagate/graph.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"

#define SLOTS_MIN 1024
#define FREE	  UINT32_MAX
#define NODES_MAX INT32_MAX

struct slot {
	uint64_t low; /* 96 bits of the hash */
	uint32_t high;
	uint32_t number; /* FREE: none */
};

struct hash {
	uint64_t low;
	uint32_t high;
};

struct chi_graph {
	uint64_t memory; /* most that it may take */
	struct slot *slots;
	size_t n_slots; /* a power of two */
	struct chi_backup backup;
	size_t room;	    /* of nodes */
	uint8_t *linked;    /* by node */
	uint32_t *children; /* of backup, which sees them as constant */
	chi_move *moves;
	size_t n_edges;
	size_t edge_room;
	chi_worth *worths; /* NULL before the run */
	uint16_t *best;
};

static void graph_freep(struct chi_graph **graph)
{
	chi_graph_free(*graph);
}

void chi_graph_free(struct chi_graph *graph)
{
	if (graph == NULL) {
		return;
	}
	free(graph->slots);
	free(graph->backup.nodes);
	free(graph->linked);
	free(graph->children);
	free(graph->moves);
	free(graph->worths);
	free(graph->best);
	free(graph);
}

uint64_t chi_graph_positions(const struct chi_graph *graph)
{
	return graph->backup.n;
}

uint64_t chi_graph_edges(const struct chi_graph *graph)
{
	return graph->n_edges;
}

uint64_t chi_graph_held(const struct chi_graph *graph)
{
	return graph->n_slots * sizeof(*graph->slots) +
	       graph->room * (sizeof(*graph->backup.nodes) + sizeof(*graph->linked)) +
	       graph->edge_room * (sizeof(*graph->children) + sizeof(*graph->moves)) +
	       (graph->worths != NULL
			? graph->backup.n * (sizeof(*graph->worths) + sizeof(*graph->best))
			: 0);
}

/* Whether so many bytes more are allowed. */
static int allow(const struct chi_graph *graph, uint64_t bytes)
{
	uint64_t held = chi_graph_held(graph);
	return bytes <= graph->memory && held <= graph->memory - bytes ? CHI_OK : -CHI_ETOOBIG;
}

/* ---- The table ----------------------------------------------------------------------------- */

static struct hash hash_of(const struct chi_key *key)
{
	XXH128_hash_t hash = XXH3_128bits(key->bytes, key->len);
	return (struct hash){.low = hash.low64, .high = (uint32_t)hash.high64};
}

static struct slot *slot_of(const struct chi_graph *graph, struct hash hash)
{
	size_t i = (size_t)hash.low & (graph->n_slots - 1);
	while (graph->slots[i].number != FREE &&
	       (graph->slots[i].low != hash.low || graph->slots[i].high != hash.high)) {
		i = (i + 1) & (graph->n_slots - 1);
	}
	return &graph->slots[i];
}

static int make_slots(struct chi_graph *graph, size_t n)
{
	struct slot *old = graph->slots;
	size_t n_old = graph->n_slots;
	int rc = allow(graph, n * sizeof(*old));
	struct slot *slots = rc == CHI_OK ? malloc(n * sizeof(*slots)) : NULL;
	if (slots == NULL) {
		return rc == CHI_OK ? -CHI_ENOMEM : rc;
	}
	for (size_t i = 0; i < n; i++) {
		slots[i].number = FREE;
	}
	graph->slots = slots;
	graph->n_slots = n;
	for (size_t i = 0; i < n_old; i++) {
		if (old[i].number != FREE) {
			*slot_of(graph, (struct hash){old[i].low, old[i].high}) = old[i];
		}
	}
	free(old);
	return CHI_OK;
}

static int make_nodes(struct chi_graph *graph, size_t room)
{
	size_t each = sizeof(*graph->backup.nodes) + sizeof(*graph->linked);
	int rc = allow(graph, (room - graph->room) * each);
	if (rc != CHI_OK) {
		return rc;
	}
	void *nodes = reallocarray(graph->backup.nodes, room, sizeof(*graph->backup.nodes));
	if (nodes == NULL) {
		return -CHI_ENOMEM;
	}
	graph->backup.nodes = nodes;
	uint8_t *linked = realloc(graph->linked, room);
	if (linked == NULL) {
		return -CHI_ENOMEM;
	}
	graph->linked = linked;
	graph->room = room;
	return CHI_OK;
}

int chi_graph_new(uint64_t expected, uint64_t memory, struct chi_graph **out)
{
	*out = NULL;
	_cleanup_(graph_freep) struct chi_graph *graph = calloc(1, sizeof(*graph));
	if (graph == NULL) {
		return -CHI_ENOMEM;
	}
	graph->memory = memory;
	if (expected >= NODES_MAX) {
		return -CHI_ETOOBIG;
	}
	size_t slots = SLOTS_MIN;
	while (slots / 4 * 3 < expected) {
		slots *= 2;
	}
	int rc = make_slots(graph, slots);
	rc = rc == CHI_OK ? make_nodes(graph, (size_t)expected + 1) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	*out = graph;
	graph = NULL;
	return CHI_OK;
}

static int add_node(struct chi_graph *graph, const struct chi_key *key, chi_worth direct,
		    chi_move first, bool linked)
{
	struct chi_backup *backup = &graph->backup;
	int rc = backup->n + 1 >= NODES_MAX ? -CHI_ETOOBIG : CHI_OK;
	if (rc == CHI_OK && backup->n >= graph->n_slots / 4 * 3) {
		rc = make_slots(graph, 2 * graph->n_slots);
	}
	if (rc == CHI_OK && backup->n == graph->room) {
		rc = make_nodes(graph, graph->room + graph->room / 4 + 1);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	struct hash hash = hash_of(key);
	struct slot *slot = slot_of(graph, hash);
	if (slot->number == FREE) {
		*slot = (struct slot){hash.low, hash.high, (uint32_t)backup->n++};
	}
	backup->nodes[slot->number] = (struct chi_backup_node){.direct = direct, .first = first};
	graph->linked[slot->number] = linked;
	return CHI_OK;
}

int chi_graph_add(struct chi_graph *graph, const struct chi_key *key, chi_worth direct,
		  chi_move first)
{
	return add_node(graph, key, direct, first, false);
}

int chi_graph_fix(struct chi_graph *graph, const struct chi_key *key, chi_worth worth)
{
	return add_node(graph, key, worth, 0, true);
}

bool chi_graph_has(const struct chi_graph *graph, const struct chi_key *key)
{
	return slot_of(graph, hash_of(key))->number != FREE;
}

/* ---- Edges --------------------------------------------------------------------------------- */

static int need_edges(struct chi_graph *graph, size_t more)
{
	size_t room = graph->edge_room;
	if (room - graph->n_edges >= more) {
		return CHI_OK;
	}
	room += room / 4 + 4096;
	size_t each = sizeof(*graph->children) + sizeof(*graph->moves);
	int rc = room > UINT32_MAX ? -CHI_ETOOBIG : allow(graph, (room - graph->edge_room) * each);
	if (rc != CHI_OK) {
		return rc;
	}
	uint32_t *children = reallocarray(graph->children, room, sizeof(*children));
	if (children == NULL) {
		return -CHI_ENOMEM;
	}
	graph->children = children;
	chi_move *moves = reallocarray(graph->moves, room, sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	graph->moves = moves;
	graph->edge_room = room;
	return CHI_OK;
}

/* The hashes of the positions after the moves; false: some has no key (chess/key.h). */
static bool hash_children(const struct chi_graph *graph, const struct chi_position *position,
			  const struct chi_move_list *list, struct hash *hashes)
{
	for (size_t i = 0; i < list->n; i++) {
		struct chi_position next;
		struct chi_key key;
		chi_position_play(position, list->moves[i], &next);
		if (next.side == CHI_BLACK &&
		    chi_position_king(&next, CHI_BLACK) == CHI_NO_SQUARE) {
			return false;
		}
		chi_key_encode(&next, &key);
		hashes[i] = hash_of(&key);
		__builtin_prefetch(&graph->slots[hashes[i].low & (graph->n_slots - 1)]);
	}
	return true;
}

static int add_edges(struct chi_graph *graph, struct chi_backup_node *node,
		     const struct chi_move_list *list, const struct hash *hashes)
{
	int rc = need_edges(graph, list->n);
	if (rc != CHI_OK) {
		return rc;
	}
	node->at = (uint32_t)graph->n_edges;
	for (size_t i = 0; i < list->n; i++) {
		const struct slot *slot = slot_of(graph, hashes[i]);
		if (slot->number != FREE) {
			graph->children[graph->n_edges] = slot->number;
			graph->moves[graph->n_edges++] = list->moves[i];
			node->n++;
		}
	}
	node->closed = node->n == list->n;
	return CHI_OK;
}

static chi_worth worth_ended(const struct chi_position *position, const struct chi_move_list *legal)
{
	if (legal->n > 0 || chi_position_king(position, position->side) == CHI_NO_SQUARE) {
		return CHI_WORTH_NONE;
	}
	return chi_position_in_check(position, position->side) ? -CHI_WORTH_MATE : 0;
}

int chi_worth_ended(const struct chi_key *key, chi_worth *out)
{
	struct chi_position position;
	struct chi_move_list legal;
	int rc = chi_key_decode(key, &position, NULL);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_movegen_legal(&position, &legal);
	*out = worth_ended(&position, &legal);
	return *out != CHI_WORTH_NONE ? CHI_OK : CHI_NONE;
}

int chi_graph_link(struct chi_graph *graph, const struct chi_key *key)
{
	struct chi_position position;
	struct chi_move_list list;
	struct hash hashes[CHI_MOVEGEN_MAX];
	uint32_t number = slot_of(graph, hash_of(key))->number;
	if (number == FREE || graph->linked[number] != 0) {
		return CHI_NONE;
	}
	int rc = chi_key_decode(key, &position, NULL);
	if (rc != CHI_OK) {
		return rc;
	}
	struct chi_backup_node *node = &graph->backup.nodes[number];
	graph->linked[number] = 1;
	chi_movegen_legal(&position, &list);
	chi_worth ended = worth_ended(&position, &list);
	if (ended != CHI_WORTH_NONE) {
		node->direct = ended;
		node->first = 0;
		return CHI_OK;
	}
	return hash_children(graph, &position, &list, hashes)
		       ? add_edges(graph, node, &list, hashes)
		       : CHI_OK;
}

/* ---- Worths -------------------------------------------------------------------------------- */

int chi_graph_run(struct chi_graph *graph, unsigned decay, const volatile sig_atomic_t *cancel)
{
	struct chi_backup *backup = &graph->backup;
	free(graph->worths);
	graph->worths = NULL;
	int rc = allow(graph, backup->n * (sizeof(*graph->worths) + sizeof(*graph->best)) +
				      chi_backup_needs(backup->n, graph->n_edges));
	if (rc != CHI_OK) {
		return rc;
	}
	free(graph->best);
	graph->worths = calloc(backup->n + 1, sizeof(*graph->worths));
	graph->best = calloc(backup->n + 1, sizeof(*graph->best));
	if (graph->worths == NULL || graph->best == NULL) {
		return -CHI_ENOMEM;
	}
	backup->children = graph->children;
	backup->moves = graph->moves;
	backup->n_edges = graph->n_edges;
	backup->decay = decay;
	return chi_backup_run(backup, graph->worths, graph->best, cancel);
}

int chi_graph_ask(const struct chi_graph *graph, const struct chi_key *key,
		  struct chi_graph_answer *out)
{
	uint32_t number = slot_of(graph, hash_of(key))->number;
	if (number == FREE) {
		return CHI_NONE;
	}
	const struct chi_backup_node *node = &graph->backup.nodes[number];
	uint16_t best = graph->best[number];
	*out = (struct chi_graph_answer){.worth = graph->worths[number],
					 .backed = best != CHI_BACKUP_OWN};
	out->best = out->backed ? graph->moves[node->at + best] : node->first;
	for (size_t i = node->at; out->worth != CHI_WORTH_NONE && i < (size_t)node->at + node->n;
	     i++) {
		out->linked = out->linked || graph->worths[graph->children[i]] != CHI_WORTH_NONE;
	}
	return CHI_OK;
}
