/* SPDX-License-Identifier: MIT */
/*
 * A tree of what is stored, made ply by ply: the moves of all positions of a ply are looked up some
 * hundreds at a time, so that waits for memory overlap, and a server is asked a few times. Those
 * that are stored are the next ply.
 */
#include "http/cdb/minimax.h"

#include "base/fault.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/validate.h"

/* A ply that would make the lists of moves more than that is left out, with all below. */
#define LISTS_MOST 512
#define PLIES_MOST 12
#define GROUP	   1024 /* positions looked up together, about */

struct node {
	struct cdb_value value; /* at first as stored */
	struct node *children;	/* those that are stored */
	size_t n_children;
	size_t moves; /* that it has */
	bool looked_into;
	bool check;
	struct node *next; /* of its ply */
};

/* Positions that are looked up together. */
struct group {
	struct call *call;
	struct chi_key keys[GROUP + CHI_LEGAL_MAX];
	struct chi_row rows[GROUP + CHI_LEGAL_MAX];
	size_t n;
	struct node *first; /* of those whose moves these are, in order, */
	struct node *end;   /* and the one after them */
	struct node **link; /* where the next ply goes on */
};

/* ---- The tree ------------------------------------------------------------------------------ */

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
	node->looked_into = true;
	node->check = chi_position_in_check(&position, position.side);
	for (size_t i = 0; i < list.n; i++) {
		chi_position_play(&position, list.moves[i], &next);
		if (chi_position_check(&next, -CHI_EKEY, NULL) == CHI_OK) {
			chi_key_encode(&next, &group->keys[group->n++]);
			node->moves++;
		}
	}
	return CHI_OK;
}

static void init(struct node *node, const struct chi_key *key, const struct chi_row *row)
{
	*node = (struct node){
		.value = {.known = row->has_eval, .score = cdb_score(row), .key = *key}};
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
			init(child, &rows[i].key, &rows[i]);
			*group->link = child;
			group->link = &child->next;
		}
	}
	return CHI_OK;
}

static int look_up(struct group *group)
{
	struct call *call = group->call;
	int status = chi_probe(call->client, group->keys, group->n, group->rows);
	const struct chi_row *rows = group->rows;
	if (status < 0) {
		return call_failed(call, status);
	}
	for (struct node *node = group->first; status == CHI_OK && node != group->end;
	     node = node->next) {
		status = take_children(group, node, rows);
		rows += node->moves;
	}
	group->n = 0;
	group->first = group->end;
	return status == CHI_OK ? call_check(call) : status;
}

/* Looks into all positions of a ply; *out: the next one. */
static int look_into(struct group *group, struct node *ply, struct node **out)
{
	int status = CHI_OK;
	*out = NULL;
	group->link = out;
	group->first = ply;
	for (struct node *node = ply; status == CHI_OK && node != NULL; node = node->next) {
		status = list_moves(group, node);
		group->end = node->next;
		if (status == CHI_OK && (group->n >= GROUP || node->next == NULL)) {
			status = look_up(group);
		}
	}
	return status;
}

/* ---- Values -------------------------------------------------------------------------------- */

/* As moves to the other side: the score, then fewer good replies, then more known ones. */
static bool is_better(const struct cdb_value *a, const struct cdb_value *b)
{
	int x = cdb_back(a->score);
	int y = cdb_back(b->score);
	return x != y ? x > y : a->good != b->good ? a->good < b->good : a->replies > b->replies;
}

void cdb_combine(const struct cdb_value *const *below, size_t n, size_t moves, bool check,
		 struct cdb_value *value)
{
	const struct cdb_value *best = NULL;
	value->replies = 0;
	value->good = 0;
	value->next = NULL;
	if (moves == 0) {
		value->known = true;
		value->score = check ? -CDB_MATE : 0;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		value->replies += below[i]->known ? 1 : 0;
		best = below[i]->known && (best == NULL || is_better(below[i], best)) ? below[i]
										      : best;
	}
	int score = best != NULL ? cdb_back(best->score) : 0;
	for (size_t i = 0; i < n; i++) {
		bool good = below[i]->known && cdb_rank(cdb_back(below[i]->score), score) > 0;
		value->good += good ? 1 : 0;
	}
	bool all = (size_t)value->replies == moves;
	if (best != NULL && (all || !value->known || score > value->score)) {
		value->score = score;
		value->next = best;
	}
	value->known = value->known || best != NULL;
}

/* As deep as the tree, PLIES_MOST. */
static void settle(struct node *node)
{
	const struct cdb_value *below[CHI_LEGAL_MAX];
	for (size_t i = 0; i < node->n_children; i++) {
		settle(&node->children[i]);
		below[i] = &node->children[i].value;
	}
	if (node->looked_into) {
		cdb_combine(below, node->n_children, node->moves, node->check, &node->value);
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

static size_t count(const struct node *ply)
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
		lists += count(ply);
		if (depth > 0 && (lists > LISTS_MOST || !any_known(nodes, n))) {
			break;
		}
		status = look_into(group, ply, &ply);
	}
	return status;
}

int cdb_minimax(struct call *call, const struct chi_key *keys, const struct chi_row *rows, size_t n,
		struct cdb_value *values)
{
	struct group *group = chi_arena_alloc(&call->arena, sizeof(*group));
	struct node *nodes = chi_arena_array(&call->arena, n + 1, sizeof(*nodes));
	if (group == NULL || nodes == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	group->call = call;
	group->n = 0;
	for (size_t i = 0; i < n; i++) {
		init(&nodes[i], &keys[i], &rows[i]);
		nodes[i].next = i + 1 < n ? &nodes[i + 1] : NULL;
	}
	int status = grow(group, nodes, n);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		settle(&nodes[i]);
		values[i] = nodes[i].value;
	}
	return status;
}
