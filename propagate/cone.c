/* SPDX-License-Identifier: MIT */
/*
 * The graph is also the set of what has been seen. Positions are asked for in batches: first which
 * of those before the cone's are stored, a ply at a time, then the cone's own records, then those
 * that its moves lead to.
 */
#include "propagate/cone.h"

#include <stdlib.h>
#include <string.h>

#include "chess/key.h"
#include "chess/movegen.h"
#include "propagate/evals.h"
#include "propagate/retro.h"

/* Positions asked for together; moves and moves taken back of one come on top. */
#define BATCH 4096

struct key_list {
	struct chi_key *keys;
	size_t n;
	size_t room;
};

struct chi_cone {
	struct chi_client *client;
	uint64_t most;
	uint64_t memory;
	struct chi_graph *graph;
	struct key_list keys;		/* of the cone, in the order in which they were found */
	struct key_list asked;		/* the batch */
	struct chi_row *rows;		/* BATCH */
	const char *engine;		/* of the run */
	const struct chi_key *answered; /* the list whose records come */
};

static void cone_freep(struct chi_cone **cone)
{
	chi_cone_free(*cone);
}

void chi_cone_free(struct chi_cone *cone)
{
	if (cone == NULL) {
		return;
	}
	chi_graph_free(cone->graph);
	free(cone->keys.keys);
	free(cone->asked.keys);
	free(cone->rows);
	free(cone);
}

int chi_cone_new(struct chi_client *client, uint64_t most, uint64_t memory, struct chi_cone **out)
{
	*out = NULL;
	_cleanup_(cone_freep) struct chi_cone *cone = calloc(1, sizeof(*cone));
	if (cone == NULL) {
		return -CHI_ENOMEM;
	}
	*cone = (struct chi_cone){.client = client, .most = most, .memory = memory};
	cone->rows = calloc(BATCH, sizeof(*cone->rows));
	int rc = cone->rows != NULL ? chi_graph_new(0, memory, &cone->graph) : -CHI_ENOMEM;
	if (rc != CHI_OK) {
		return rc;
	}
	*out = cone;
	cone = NULL;
	return CHI_OK;
}

const struct chi_key *chi_cone_keys(const struct chi_cone *cone, size_t *n)
{
	*n = cone->keys.n;
	return cone->keys.keys;
}

static int push(struct chi_cone *cone, struct key_list *list, const struct chi_key *key)
{
	if (list->n == list->room) {
		size_t room = list->room + list->room / 2 + 1024;
		uint64_t held = chi_graph_held(cone->graph) +
				(cone->keys.room + cone->asked.room + room) * sizeof(*key);
		if (held > cone->memory) {
			return -CHI_ETOOBIG;
		}
		struct chi_key *keys = reallocarray(list->keys, room, sizeof(*keys));
		if (keys == NULL) {
			return -CHI_ENOMEM;
		}
		list->keys = keys;
		list->room = room;
	}
	list->keys[list->n++] = *key;
	return CHI_OK;
}

int chi_cone_add(struct chi_cone *cone, const struct chi_key *key)
{
	if (chi_graph_has(cone->graph, key)) {
		return CHI_OK;
	}
	if (cone->keys.n >= cone->most) {
		return CHI_NONE;
	}
	int rc = chi_graph_add(cone->graph, key, CHI_WORTH_NONE, 0);
	return rc == CHI_OK ? push(cone, &cone->keys, key) : rc;
}

/* ---- Back ---------------------------------------------------------------------------------- */

static int ask_for_before(void *context, const struct chi_position *before, chi_move move)
{
	struct chi_cone *cone = context;
	struct chi_key key;
	(void)move;
	chi_key_encode(before, &key);
	return chi_graph_has(cone->graph, &key) ? CHI_OK : push(cone, &cone->asked, &key);
}

/* Those of the batch that are stored belong to the cone. */
static int add_stored(struct chi_cone *cone)
{
	int rc = CHI_OK;
	for (size_t done = 0; done < cone->asked.n && rc == CHI_OK; done += BATCH) {
		size_t left = cone->asked.n - done;
		size_t n = left < BATCH ? left : BATCH;
		rc = chi_probe(cone->client, cone->asked.keys + done, n, cone->rows);
		for (size_t i = 0; i < n && rc == CHI_OK; i++) {
			rc = cone->rows[i].found ? chi_cone_add(cone, &cone->asked.keys[done + i])
						 : CHI_OK;
		}
	}
	cone->asked.n = 0;
	return rc;
}

int chi_cone_grow(struct chi_cone *cone, const volatile sig_atomic_t *cancel)
{
	struct chi_position position;
	int rc = CHI_OK;
	for (size_t i = 0; i < cone->keys.n && rc == CHI_OK; i++) {
		rc = chi_key_decode(&cone->keys.keys[i], &position, NULL);
		rc = rc == CHI_OK ? chi_retro(&position, ask_for_before, cone) : rc;
		if (rc == CHI_OK && (cone->asked.n >= BATCH || i + 1 == cone->keys.n)) {
			rc = add_stored(cone);
			if (cancel != NULL && *cancel != 0) {
				break;
			}
		}
	}
	return rc;
}

/* ---- Forth --------------------------------------------------------------------------------- */

static int take_own(void *context, size_t i, const struct chi_record *record)
{
	struct chi_cone *cone = context;
	const struct chi_key *key = &cone->answered[i];
	return record != NULL ? chi_graph_add_record(cone->graph, key, record, cone->engine)
			      : chi_graph_fix(cone->graph, key, CHI_WORTH_NONE);
}

static int take_beyond(void *context, size_t i, const struct chi_record *record)
{
	struct chi_cone *cone = context;
	const struct chi_key *key = &cone->answered[i];
	chi_worth worth = CHI_WORTH_NONE;
	int rc = CHI_OK;
	if (record != NULL && !chi_graph_has(cone->graph, key)) {
		rc = chi_worth_stored(key, record, cone->engine, &worth);
	}
	return rc == CHI_OK && worth != CHI_WORTH_NONE ? chi_graph_fix(cone->graph, key, worth)
						       : rc;
}

static int get_records(struct chi_cone *cone, const struct key_list *list, chi_get_each *take,
		       const volatile sig_atomic_t *cancel)
{
	int rc = CHI_OK;
	for (size_t done = 0; done < list->n && rc == CHI_OK; done += BATCH) {
		size_t left = list->n - done;
		cone->answered = list->keys + done;
		rc = chi_get_many(cone->client, cone->answered, left < BATCH ? left : BATCH, take,
				  cone);
		if (cancel != NULL && *cancel != 0) {
			break;
		}
	}
	return rc;
}

static int ask_for_after(struct chi_cone *cone, const struct chi_key *key)
{
	struct chi_position position;
	struct chi_position next;
	struct chi_move_list legal;
	struct chi_key after;
	int rc = chi_key_decode(key, &position, NULL);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_movegen_legal(&position, &legal);
	for (size_t i = 0; i < legal.n && rc == CHI_OK; i++) {
		chi_position_play(&position, legal.moves[i], &next);
		chi_key_encode(&next, &after);
		rc = chi_graph_has(cone->graph, &after) ? CHI_OK : push(cone, &cone->asked, &after);
	}
	return rc;
}

int chi_cone_run(struct chi_cone *cone, const char *engine, unsigned decay,
		 const volatile sig_atomic_t *cancel, const struct chi_graph **out)
{
	cone->engine = engine;
	int rc = get_records(cone, &cone->keys, take_own, cancel);
	for (size_t i = 0; i < cone->keys.n && rc == CHI_OK; i++) {
		rc = ask_for_after(cone, &cone->keys.keys[i]);
		if (rc == CHI_OK && (cone->asked.n >= BATCH || i + 1 == cone->keys.n)) {
			rc = get_records(cone, &cone->asked, take_beyond, cancel);
			cone->asked.n = 0;
		}
	}
	for (size_t i = 0; i < cone->keys.n && rc >= 0; i++) {
		rc = chi_graph_link(cone->graph, &cone->keys.keys[i]);
	}
	*out = cone->graph;
	return rc >= 0 ? chi_graph_run(cone->graph, decay, cancel) : rc;
}
