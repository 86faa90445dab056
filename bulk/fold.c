/* SPDX-License-Identifier: MIT */
/*
 * Items to records. The sorted items come in parts; threads take the parts in order, sum up what
 * stands side by side, and pack records; the committing thread stores the packed parts, in order
 * again. How far the threads may be ahead of it is bounded, and so is memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "bulk/count.h"
#include "bulk/games_priv.h"
#include "chess/key.h"

/* Parts done but not stored, beside one for each thread. */
#define AHEAD 2

struct fold {
	struct chi_games *games;
	const struct chi_load_spec *spec;
	const struct chi_games_limits *limits; /* NULL: every game is counted to its end */
	size_t n_parts;
	pthread_mutex_t mutex;
	pthread_cond_t ready;
	pthread_cond_t room;
	size_t next;   /* the part that is taken next */
	size_t stored; /* parts stored, or being stored */
	size_t window;
	struct chi_load_block *blocks; /* part modulo window */
	bool *done;
	int status;
	struct chi_fault fault;
};

/* The games of one position. */
struct group {
	struct chi_counts counts;
	size_t n_moves;
	size_t n_plies;
	struct chi_move_stat moves[CHI_MOVES_MAX];
	struct chi_ply_stat plies[CHI_PLY_MAX + 1];
	uint64_t by_ply[CHI_PLY_MAX + 1]; /* all zero between positions */
};

static void count(struct chi_counts *counts, unsigned result)
{
	switch (result) {
	case CHI_RESULT_WHITE:
		counts->white++;
		break;
	case CHI_RESULT_DRAW:
		counts->draws++;
		break;
	case CHI_RESULT_BLACK:
		counts->black++;
		break;
	default:
		counts->other++;
		break;
	}
}

/* There are no more distinct moves than are legal, since a key is one position, and none of one
 * with more than a record holds: chi_count_plies. */
static int count_move(struct group *group, chi_move move, unsigned result)
{
	size_t i = 0;
	while (i < group->n_moves && group->moves[i].move != move) {
		i++;
	}
	if (i == group->n_moves) {
		if (i == CHI_MOVES_MAX) {
			return -CHI_ETOOBIG;
		}
		group->n_moves++;
		group->moves[i] = (struct chi_move_stat){.move = move};
	}
	count(&group->moves[i].counts, result);
	return CHI_OK;
}

/* What is left of an item when its game is held to a ply: false if nothing is; the move goes where
 * the game's count ends. */
static bool hold(const struct fold *fold, uint64_t *payload)
{
	const struct chi_games_limits *limits = fold->limits;
	uint32_t game = chi_count_game(*payload);
	unsigned ply = chi_count_ply(*payload);
	if ((limits->dropped[game / 8] >> game % 8 & 1) != 0) {
		return false;
	}
	unsigned limit = limits->plies != NULL ? limits->plies[game] : 0;
	if (limit != 0 && ply == limit) {
		*payload &= ~UINT64_C(0xffff);
	}
	return limit == 0 || ply <= limit;
}

static int count_item(struct group *group, uint64_t payload)
{
	chi_move move = chi_count_move(payload);
	unsigned ply = chi_count_ply(payload);
	unsigned result = chi_count_result(payload);
	if ((payload & CHI_COUNT_FIRST) != 0) {
		count(&group->counts, result);
		if (group->by_ply[ply]++ == 0) {
			group->plies[group->n_plies++].ply = (uint16_t)ply;
		}
	}
	return move != 0 ? count_move(group, move, result) : CHI_OK;
}

static int compare_moves(const void *a, const void *b)
{
	const struct chi_move_stat *x = a;
	const struct chi_move_stat *y = b;
	return (int)x->move - (int)y->move;
}

static int compare_plies(const void *a, const void *b)
{
	const struct chi_ply_stat *x = a;
	const struct chi_ply_stat *y = b;
	return (int)x->ply - (int)y->ply;
}

/* Packs the group and empties it. */
static int pack_group(const struct fold *fold, struct group *group, const uint8_t *bytes,
		      struct chi_load_block *block)
{
	if (group->n_plies == 0) {
		group->n_moves = 0;
		return CHI_OK;
	}
	for (size_t i = 0; i < group->n_plies; i++) {
		group->plies[i].games = group->by_ply[group->plies[i].ply];
		group->by_ply[group->plies[i].ply] = 0;
	}
	if (group->n_moves > 1) {
		qsort(group->moves, group->n_moves, sizeof(group->moves[0]), compare_moves);
	}
	if (group->n_plies > 1) {
		qsort(group->plies, group->n_plies, sizeof(group->plies[0]), compare_plies);
	}
	struct chi_key key = {.len = (uint8_t)chi_key_length(bytes)};
	memcpy(key.bytes, bytes, CHI_KEY_MAX);
	struct chi_record record = {
		.counts = group->counts,
		.moves = group->moves,
		.n_moves = group->n_moves,
		.plies = group->plies,
		.n_plies = group->n_plies,
	};
	int rc = chi_load_pack(fold->spec, &key, &record, block);
	group->counts = (struct chi_counts){0};
	group->n_moves = 0;
	group->n_plies = 0;
	return rc;
}

/* A position while its items come by: the first is kept back, since most have no second. */
struct run {
	uint64_t key[CHI_SORT_GROUP / 8]; /* bytes as they are stored */
	uint64_t first;			  /* payload */
	size_t n;
};

static int end_run(const struct fold *fold, const struct run *run, struct group *group,
		   struct chi_load_block *block)
{
	const uint8_t *key = (const uint8_t *)run->key;
	if (run->n == 0) {
		return CHI_OK;
	}
	if (run->n > 1 || (run->first & CHI_COUNT_FIRST) == 0) {
		return pack_group(fold, group, key, block);
	}
	return chi_load_pack_one(
		fold->spec, key, chi_key_length(key), (enum chi_result)chi_count_result(run->first),
		(uint16_t)chi_count_ply(run->first), chi_count_move(run->first), block);
}

static int add_to_run(struct run *run, struct group *group, uint64_t payload)
{
	int rc = CHI_OK;
	if (run->n == 0) {
		run->first = payload;
	} else if (run->n == 1) {
		rc = count_item(group, run->first);
	}
	run->n++;
	return rc == CHI_OK && run->n > 1 ? count_item(group, payload) : rc;
}

static int fold_items(const struct fold *fold, struct chi_sort_reader *reader, struct group *group,
		      struct chi_load_block *block)
{
	const struct chi_sort_item *item;
	struct run run = {.n = 0};
	int rc;
	while ((rc = chi_sort_next(reader, &item)) == CHI_OK) {
		uint64_t key[CHI_SORT_GROUP / 8];
		uint64_t payload = chi_count_payload(item);
		if (fold->limits != NULL && !hold(fold, &payload)) {
			continue;
		}
		memcpy(key, item->bytes, sizeof(key));
		if (key[0] != run.key[0] || key[1] != run.key[1] || key[2] != run.key[2]) {
			rc = end_run(fold, &run, group, block);
			memcpy(run.key, key, sizeof(key));
			run.n = 0;
		}
		if (rc == CHI_OK) {
			rc = add_to_run(&run, group, payload);
		}
		if (rc < 0) {
			return rc;
		}
	}
	return rc < 0 ? rc : end_run(fold, &run, group, block);
}

static int fold_part(const struct fold *fold, size_t part, struct group *group,
		     struct chi_load_block *block, struct chi_fault *fault)
{
	struct chi_sort_reader *reader;
	int rc = chi_sort_open(fold->games->positions, part, &reader, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = fold_items(fold, reader, group, block);
	chi_sort_close(reader);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* Keeps the first failure and wakes everybody. With the mutex held. */
static void stop(struct fold *fold, int rc, const struct chi_fault *fault)
{
	if (fold->status == CHI_OK) {
		fold->status = rc;
		fold->fault = *fault;
	}
	pthread_cond_broadcast(&fold->ready);
	pthread_cond_broadcast(&fold->room);
}

/* Takes the next part, when it may be begun; false: there is none, or something failed. */
static bool take_part(struct fold *fold, size_t *part)
{
	pthread_mutex_lock(&fold->mutex);
	while (fold->status == CHI_OK && fold->next < fold->n_parts &&
	       fold->next - fold->stored >= fold->window) {
		pthread_cond_wait(&fold->room, &fold->mutex);
	}
	bool taken = fold->status == CHI_OK && fold->next < fold->n_parts;
	*part = taken ? fold->next++ : 0;
	pthread_mutex_unlock(&fold->mutex);
	return taken;
}

static void *work(void *argument)
{
	struct fold *fold = argument;
	struct chi_fault fault;
	size_t part;
	struct group *group = calloc(1, sizeof(*group));
	if (group == NULL) {
		pthread_mutex_lock(&fold->mutex);
		stop(fold, chi_fault_plain(&fault, -CHI_ENOMEM), &fault);
		pthread_mutex_unlock(&fold->mutex);
		return NULL;
	}
	while (take_part(fold, &part)) {
		size_t i = part % fold->window;
		int rc = fold_part(fold, part, group, &fold->blocks[i], &fault);
		pthread_mutex_lock(&fold->mutex);
		fold->done[i] = rc == CHI_OK;
		if (rc != CHI_OK) {
			stop(fold, rc, &fault);
		}
		pthread_cond_broadcast(&fold->ready);
		pthread_mutex_unlock(&fold->mutex);
	}
	free(group);
	return NULL;
}

/* Waits for a part and stores it. */
static int store_part(struct fold *fold, size_t part, struct chi_load *load,
		      struct chi_fault *fault)
{
	size_t i = part % fold->window;
	pthread_mutex_lock(&fold->mutex);
	while (!fold->done[i] && fold->status == CHI_OK) {
		pthread_cond_wait(&fold->ready, &fold->mutex);
	}
	int rc = fold->status;
	if (rc != CHI_OK && fault != NULL) {
		*fault = fold->fault;
	}
	pthread_mutex_unlock(&fold->mutex);
	if (rc != CHI_OK) {
		return rc;
	}
	struct chi_load_block *block = &fold->blocks[i];
	rc = chi_load_apply(load, block, fault);
	/* The next part that comes here uses the memory again. */
	block->len = 0;
	block->n = 0;
	pthread_mutex_lock(&fold->mutex);
	fold->done[i] = false;
	fold->stored++;
	pthread_cond_broadcast(&fold->room);
	pthread_mutex_unlock(&fold->mutex);
	return rc;
}

static int store_all(struct fold *fold, struct chi_load *load, struct chi_fault *fault)
{
	const struct chi_bulk *bulk = fold->games->bulk;
	int rc = CHI_OK;
	for (size_t part = 0; part < fold->n_parts && rc == CHI_OK; part++) {
		if (bulk->options.progress != NULL) {
			bulk->options.progress(bulk->options.context, "storing", part,
					       fold->n_parts);
		}
		rc = chi_bulk_canceled(bulk) ? chi_fault_plain(fault, -CHI_ECANCELED)
					     : store_part(fold, part, load, fault);
	}
	return rc;
}

static int run(struct fold *fold, struct chi_load *load, struct chi_fault *fault)
{
	unsigned wanted = fold->games->bulk->options.threads;
	_cleanup_(chi_freep) pthread_t *threads = calloc(wanted, sizeof(*threads));
	if (threads == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	unsigned n = 0;
	while (n < wanted && pthread_create(&threads[n], NULL, work, fold) == 0) {
		n++;
	}
	int rc = n > 0 ? store_all(fold, load, fault)
		       : chi_fault(fault, -CHI_ENOMEM, "cannot start a thread");
	if (rc != CHI_OK) {
		struct chi_fault own = {{0}};
		pthread_mutex_lock(&fold->mutex);
		stop(fold, rc, fault != NULL ? fault : &own);
		pthread_mutex_unlock(&fold->mutex);
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
	}
	return rc;
}

int chi_games_fold(struct chi_games *games, size_t n_parts, const struct chi_games_limits *limits,
		   const struct chi_load_spec *spec, struct chi_load *load, struct chi_fault *fault)
{
	struct fold fold = {
		.games = games,
		.spec = spec,
		.limits = limits,
		.n_parts = n_parts,
		.window = games->bulk->options.threads + AHEAD,
	};
	fold.blocks = calloc(fold.window, sizeof(*fold.blocks));
	fold.done = calloc(fold.window, sizeof(*fold.done));
	pthread_mutex_init(&fold.mutex, NULL);
	pthread_cond_init(&fold.ready, NULL);
	pthread_cond_init(&fold.room, NULL);
	int rc = fold.blocks != NULL && fold.done != NULL ? run(&fold, load, fault)
							  : chi_fault_plain(fault, -CHI_ENOMEM);
	for (size_t i = 0; fold.blocks != NULL && i < fold.window; i++) {
		chi_load_block_free(&fold.blocks[i]);
	}
	free(fold.blocks);
	free(fold.done);
	pthread_cond_destroy(&fold.room);
	pthread_cond_destroy(&fold.ready);
	pthread_mutex_destroy(&fold.mutex);
	return rc;
}
