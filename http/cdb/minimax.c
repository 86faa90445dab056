/* SPDX-License-Identifier: MIT */
/*
 * A tree of what is stored, made ply by ply: the moves of all positions of a ply are looked up some
 * hundreds at a time, so that waits for memory overlap, and a server is asked a few times. Those
 * that are stored are the next ply. A position that other moves reached at the same ply is looked
 * into once.
 */
#include "http/cdb/minimax.h"

#include <limits.h>
#include <string.h>

#include "base/fault.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/validate.h"
#include "propagate/backup.h"

/* A ply that would make the lists of moves more than that is left out, with all below. */
#define LISTS_MOST 512
#define PLIES_MOST 12
#define GROUP	   1024 /* positions looked up together, about */
#define PLACES	   2048 /* of a ply's positions: several times as many as there can be */

struct node {
	struct cdb_value value; /* at first as stored */
	chi_worth direct;	/* as stored, but for the end of a game; or CHI_WORTH_NONE */
	struct node *children;	/* those that are stored */
	size_t n_children;
	size_t moves;		 /* after which a key can hold the position */
	size_t legal;		 /* all, once it has been looked into */
	uint32_t number;	 /* in the graph */
	struct node *next;	 /* of its ply */
	const struct node *twin; /* one before it there with the same position; NULL: none */
};

/* Positions that are looked up together. */
struct group {
	struct call *call;
	struct chi_key keys[GROUP + CHI_LEGAL_MAX];
	struct chi_row rows[GROUP + CHI_LEGAL_MAX];
	size_t n;
	size_t nodes;			   /* made so far */
	struct node *first;		   /* of those whose moves these are, in order, */
	struct node *end;		   /* and the one after them */
	struct node **link;		   /* where the next ply goes on */
	const struct node *places[PLACES]; /* the ply's positions so far, by hash */
};

/* ---- The tree ------------------------------------------------------------------------------ */

static void set_legal(struct node *node, size_t legal, bool check)
{
	node->legal = legal;
	if (legal == 0) {
		node->value.score = check ? -CDB_MATE : 0;
		node->direct = check ? -CHI_WORTH_MATE : 0;
	}
}

/* A move after which no key can hold the position is left out. */
static int list_moves(struct group *group, struct node *node)
{
	struct chi_position position;
	struct chi_position next;
	struct chi_move_list list;
	int status = chi_key_decode(&node->value.key, &position, &group->call->fault);
	if (status < 0) {
		return status;
	}
	chi_movegen_legal(&position, &list);
	set_legal(node, list.n, chi_position_in_check(&position, position.side));
	for (size_t i = 0; i < list.n; i++) {
		chi_position_play(&position, list.moves[i], &next);
		if (chi_position_check(&next, -CHI_EKEY, NULL) == CHI_OK) {
			chi_key_encode(&next, &group->keys[group->n++]);
			node->moves++;
		}
	}
	return CHI_OK;
}

static void init(struct group *group, struct node *node, const struct chi_key *key,
		 const struct chi_row *row)
{
	*node = (struct node){
		.value = {.known = row->has_eval,
			  .score = cdb_score(row->is_mate, row->score),
			  .key = *key},
		.direct = row->has_eval ? chi_worth_claimed(row->is_mate, row->score)
					: CHI_WORTH_NONE,
	};
	group->nodes++;
}

/* Of a node's moves, the first of which is at `rows`, those that are stored. */
static int take_children(struct group *group, struct node *node, const struct chi_row *rows)
{
	size_t n = 0;
	for (size_t i = 0; i < node->moves; i++) {
		n += rows[i].found ? 1 : 0;
	}
	node->children = chi_arena_array(&group->call->arena, n + 1, sizeof(*node->children));
	if (node->children == NULL) {
		return chi_fault_plain(&group->call->fault, -CHI_ENOMEM);
	}
	for (size_t i = 0; i < node->moves; i++) {
		if (rows[i].found) {
			struct node *child = &node->children[node->n_children++];
			init(group, child, &rows[i].key, &rows[i]);
			*group->link = child;
			group->link = &child->next;
		}
	}
	return CHI_OK;
}

/* The same without a look-up: nothing below the twin has been looked into yet. */
static int copy_children(struct group *group, struct node *node)
{
	const struct node *twin = node->twin;
	node->value = twin->value;
	node->direct = twin->direct;
	node->legal = twin->legal;
	node->children =
		chi_arena_array(&group->call->arena, twin->n_children + 1, sizeof(*node->children));
	if (node->children == NULL) {
		return chi_fault_plain(&group->call->fault, -CHI_ENOMEM);
	}
	for (; node->n_children < twin->n_children; node->n_children++) {
		const struct node *from = &twin->children[node->n_children];
		struct node *child = &node->children[node->n_children];
		*child = (struct node){.value = from->value, .direct = from->direct};
		group->nodes++;
		*group->link = child;
		group->link = &child->next;
	}
	return CHI_OK;
}

static int look_up_group(struct group *group)
{
	struct call *call = group->call;
	int status = group->n == 0 ? CHI_OK
				   : chi_probe(call->client, group->keys, group->n, group->rows);
	const struct chi_row *rows = group->rows;
	if (status < 0) {
		return call_failed(call, status);
	}
	for (struct node *node = group->first; status == CHI_OK && node != group->end;
	     node = node->next) {
		status = node->twin != NULL ? copy_children(group, node)
					    : take_children(group, node, rows);
		rows += node->moves;
	}
	group->n = 0;
	group->first = group->end;
	return status == CHI_OK ? call_check(call) : status;
}

/* The first node of the ply with that position, which may be this one. */
static const struct node *find_twin(struct group *group, const struct node *node)
{
	const struct chi_key *key = &node->value.key;
	uint32_t hash = key->len;
	for (size_t i = 0; i < key->len; i++) {
		hash = (hash ^ key->bytes[i]) * 16777619u;
	}
	size_t at = (hash ^ hash >> 15) % PLACES;
	for (; group->places[at] != NULL; at = (at + 1) % PLACES) {
		const struct chi_key *other = &group->places[at]->value.key;
		if (other->len == key->len && memcmp(other->bytes, key->bytes, key->len) == 0) {
			return group->places[at];
		}
	}
	group->places[at] = node;
	return node;
}

/* Looks into all positions of a ply; *out: the next one. */
static int look_into(struct group *group, struct node *ply, struct node **out)
{
	int status = CHI_OK;
	*out = NULL;
	group->link = out;
	group->first = ply;
	memset(group->places, 0, sizeof(group->places));
	for (struct node *node = ply; status == CHI_OK && node != NULL; node = node->next) {
		const struct node *same = find_twin(group, node);
		node->twin = same != node ? same : NULL;
		status = node->twin == NULL ? list_moves(group, node) : CHI_OK;
		group->end = node->next;
		if (status == CHI_OK && (group->n >= GROUP || node->next == NULL)) {
			status = look_up_group(group);
		}
	}
	return status;
}

/* ---- Values -------------------------------------------------------------------------------- */

/* Of equal moves to the other side: fewer good replies, then more known ones. */
static bool leaves_less(const struct cdb_value *a, const struct cdb_value *b)
{
	return a->good != b->good ? a->good < b->good : a->replies > b->replies;
}

static int worth_score(chi_worth worth)
{
	int size = worth > 0 ? worth : -worth;
	int score = chi_worth_is_mate(worth) ? CDB_MATE - (CHI_WORTH_MATE - size)
		    : size > CDB_SHORT	     ? CDB_SHORT
					     : size;
	return worth > 0 ? score : -score;
}

/* The tree as propagate/backup.h knows it; the lists are in the call's arena. */
struct graph {
	struct chi_backup backup;
	struct chi_backup_node *nodes;
	uint32_t *children;
	chi_move *moves;
	chi_worth *worths;
	uint16_t *best;
};

static bool has_all_moves(const struct node *node)
{
	return node->legal > 0 && node->n_children == node->legal;
}

/* With all below it, as deep as the tree, PLIES_MOST. */
static void add_to_graph(struct graph *graph, struct node *node)
{
	size_t at = graph->backup.n_edges;
	node->number = (uint32_t)graph->backup.n++;
	graph->backup.n_edges += node->n_children;
	graph->nodes[node->number] = (struct chi_backup_node){.direct = node->direct,
							      .n = (uint16_t)node->n_children,
							      .closed = has_all_moves(node),
							      .at = (uint32_t)at};
	for (size_t i = 0; i < node->n_children; i++) {
		add_to_graph(graph, &node->children[i]);
		graph->children[at + i] = node->children[i].number;
		graph->moves[at + i] = (chi_move)(i + 1);
	}
}

static int make_graph(struct call *call, struct node *root, size_t n, struct graph *graph)
{
	struct chi_arena *arena = &call->arena;
	graph->nodes = chi_arena_array(arena, n, sizeof(*graph->nodes));
	graph->children = chi_arena_array(arena, n, sizeof(*graph->children));
	graph->moves = chi_arena_array(arena, n, sizeof(*graph->moves));
	graph->worths = chi_arena_array(arena, n, sizeof(*graph->worths));
	graph->best = chi_arena_array(arena, n, sizeof(*graph->best));
	if (graph->nodes == NULL || graph->children == NULL || graph->moves == NULL ||
	    graph->worths == NULL || graph->best == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	graph->backup = (struct chi_backup){
		.nodes = graph->nodes, .children = graph->children, .moves = graph->moves};
	add_to_graph(graph, root);
	int status = chi_backup_run(&graph->backup, graph->worths, graph->best, NULL);
	return status == CHI_OK ? CHI_OK : chi_fault_plain(&call->fault, status);
}

/* Known replies, and of these the good. */
static void count_replies(struct node *node)
{
	struct cdb_value *value = &node->value;
	int most = INT_MIN;
	for (size_t i = 0; i < node->n_children; i++) {
		const struct cdb_value *reply = &node->children[i].value;
		int score = cdb_back(reply->score);
		most = reply->known && score > most ? score : most;
		value->replies += reply->known ? 1 : 0;
	}
	for (size_t i = 0; i < node->n_children; i++) {
		const struct cdb_value *reply = &node->children[i].value;
		value->good += reply->known && cdb_rank(cdb_back(reply->score), most) > 0 ? 1 : 0;
	}
}

/* Where its own evaluation is as good as the best move, that is told as it is. */
static void settle_node(const struct graph *graph, struct node *node)
{
	struct cdb_value *value = &node->value;
	chi_worth worth = graph->worths[node->number];
	for (size_t i = 0; i < node->n_children; i++) {
		settle_node(graph, &node->children[i]);
	}
	count_replies(node);
	bool all = has_all_moves(node) && (size_t)value->replies == node->legal;
	value->known = worth != CHI_WORTH_NONE;
	if (!value->known || (worth == node->direct && !all)) {
		return;
	}
	value->score = worth_score(worth);
	for (size_t i = 0; i < node->n_children; i++) {
		const struct node *child = &node->children[i];
		bool best = child->value.known &&
			    chi_worth_back(graph->worths[child->number], 0) == worth;
		if (best && (value->next == NULL || leaves_less(&child->value, value->next))) {
			value->next = &child->value;
		}
	}
}

static bool any_known(const struct node *nodes, size_t n)
{
	bool any = false;
	for (size_t i = 0; !any && i < n; i++) {
		any = nodes[i].value.known;
		for (size_t k = 0; !any && k < nodes[i].n_children; k++) {
			any = nodes[i].children[k].value.known;
		}
	}
	return any;
}

static size_t count_nodes(const struct node *ply)
{
	size_t n = 0;
	for (; ply != NULL; ply = ply->next) {
		n++;
	}
	return n;
}

/* Nothing is searched for far below where nothing is known of the moves and replies. */
static int grow(struct group *group, struct node *nodes, size_t n)
{
	struct node *ply = n > 0 ? nodes : NULL;
	size_t lists = 0;
	int status = CHI_OK;
	for (size_t depth = 0; status == CHI_OK && ply != NULL && depth < PLIES_MOST; depth++) {
		lists += count_nodes(ply);
		if (depth > 0 && (lists > LISTS_MOST || !any_known(nodes, n))) {
			break;
		}
		status = look_into(group, ply, &ply);
	}
	return status;
}

/* The position and those after its moves, of which the graph has all, stored or not. */
int cdb_minimax(struct call *call, const struct cdb_ply *ply, struct cdb_value *value,
		struct cdb_value *values)
{
	struct group *group = chi_arena_alloc(&call->arena, sizeof(*group));
	struct node *nodes = chi_arena_array(&call->arena, ply->n + 1, sizeof(*nodes));
	struct graph graph = {.nodes = NULL};
	struct node root;
	if (group == NULL || nodes == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	group->call = call;
	group->n = 0;
	group->nodes = 0;
	init(group, &root, ply->key, ply->row);
	set_legal(&root, ply->legal, ply->check);
	root.children = nodes;
	root.n_children = ply->n;
	for (size_t i = 0; i < ply->n; i++) {
		init(group, &nodes[i], &ply->keys[i], &ply->rows[i]);
		nodes[i].next = i + 1 < ply->n ? &nodes[i + 1] : NULL;
	}
	int status = grow(group, nodes, ply->n);
	status = status == CHI_OK ? make_graph(call, &root, group->nodes, &graph) : status;
	if (status != CHI_OK) {
		return status;
	}
	settle_node(&graph, &root);
	*value = root.value;
	for (size_t i = 0; i < ply->n; i++) {
		values[i] = nodes[i].value;
	}
	return CHI_OK;
}
