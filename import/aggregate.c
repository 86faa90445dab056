/* SPDX-License-Identifier: MIT */
/*
 * Items to records. The sorted items come in parts; threads take the parts in order, sum up what
 * is side by side, and pack records; the committing thread stores the packed parts, in order
 * again. How far the threads may be ahead of it is bounded, and so is memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/record.h"
#include "import/count.h"
#include "import/session_priv.h"
#include "chess/key.h"

/* Parts done but not stored, beside one for each thread. */
#define AHEAD 2

struct aggregate {
	struct chi_pgn_session *games;
	const struct chi_load_spec *spec;
	const struct chi_import_limits *limits;
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
	struct chi_eval_set evals;
	struct chi_posting *games; /* of the archive */
	size_t n_games;
	size_t games_size;
};

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
	++*chi_counts_of(&group->moves[i].counts, result);
	return CHI_OK;
}

/* A game of the archive, with what it played. */
static int list_game(struct group *group, uint32_t number, chi_move move)
{
	if (group->n_games == group->games_size) {
		size_t size = group->games_size == 0 ? 64 : 2 * group->games_size;
		struct chi_posting *games = realloc(group->games, size * sizeof(*games));
		if (games == NULL) {
			return -CHI_ENOMEM;
		}
		group->games = games;
		group->games_size = size;
	}
	group->games[group->n_games++] = (struct chi_posting){.game = number, .move = move};
	return CHI_OK;
}

/* What is left of an item when its game is held to a ply: false if nothing is; the move goes where
 * the game's count ends. */
static bool hold(const struct aggregate *aggregate, uint64_t *payload)
{
	const struct chi_import_limits *limits = aggregate->limits;
	uint32_t game = chi_count_game(*payload);
	unsigned ply = chi_count_ply(*payload);
	if (chi_import_is_dropped(limits, game)) {
		return false;
	}
	unsigned limit = limits->plies != NULL ? limits->plies[game] : 0;
	if (limit != 0 && ply == limit) {
		*payload &= ~UINT64_C(0xffff);
	}
	return limit == 0 || ply <= limit;
}

static uint32_t number_of(const struct aggregate *aggregate, uint64_t payload)
{
	const uint32_t *numbers = aggregate->limits->numbers;
	return numbers != NULL ? numbers[chi_count_game(payload)] : 0;
}

static int count_item(const struct aggregate *aggregate, struct group *group, uint64_t payload)
{
	chi_move move = chi_count_move(payload);
	unsigned ply = chi_count_ply(payload);
	unsigned result = chi_count_result(payload);
	if ((payload & CHI_COUNT_FIRST) != 0) {
		++*chi_counts_of(&group->counts, result);
		if (group->by_ply[ply]++ == 0) {
			group->plies[group->n_plies++].ply = (uint16_t)ply;
		}
	}
	uint32_t number = number_of(aggregate, payload);
	int rc = number != 0 && (move != 0 || (payload & CHI_COUNT_FIRST) != 0)
			 ? list_game(group, number, move)
			 : CHI_OK;
	return rc == CHI_OK && move != 0 ? count_move(group, move, result) : rc;
}

_Static_assert(offsetof(struct chi_move_stat, move) == 0 && sizeof(chi_move) == 2 &&
		       offsetof(struct chi_ply_stat, ply) == 0,
	       "moves and plies both begin with the 16 bits that order them");

static int compare(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* Packs the group and empties it. */
static int pack_group(const struct aggregate *aggregate, struct group *group, const uint8_t *bytes,
		      struct chi_load_block *block)
{
	if (group->n_plies == 0) {
		group->n_moves = 0;
		group->n_games = 0;
		group->evals.n = 0;
		return CHI_OK;
	}
	chi_eval_set_sort(&group->evals);
	for (size_t i = 0; i < group->n_plies; i++) {
		group->plies[i].games = group->by_ply[group->plies[i].ply];
		group->by_ply[group->plies[i].ply] = 0;
	}
	if (group->n_moves > 1) {
		qsort(group->moves, group->n_moves, sizeof(group->moves[0]), compare);
	}
	if (group->n_plies > 1) {
		qsort(group->plies, group->n_plies, sizeof(group->plies[0]), compare);
	}
	struct chi_key key = {.len = (uint8_t)chi_key_length(bytes)};
	memcpy(key.bytes, bytes, CHI_KEY_MAX);
	struct chi_record record = {
		.counts = group->counts,
		.moves = group->moves,
		.n_moves = group->n_moves,
		.plies = group->plies,
		.n_plies = group->n_plies,
		.evals = group->evals.sorted,
		.n_evals = group->evals.n,
	};
	int rc = chi_load_pack(aggregate->spec, &key, &record, group->games, group->n_games, block);
	group->counts = (struct chi_counts){0};
	group->n_moves = 0;
	group->n_plies = 0;
	group->n_games = 0;
	group->evals.n = 0;
	return rc;
}

/* A position while its items come by: the first is kept back, since most have no second. */
struct run {
	uint64_t key[CHI_SORT_GROUP / 8]; /* bytes as they are stored */
	uint64_t first;			  /* payload */
	size_t n;
};

static int end_run(const struct aggregate *aggregate, const struct run *run, struct group *group,
		   struct chi_load_block *block)
{
	const uint8_t *key = (const uint8_t *)run->key;
	if (run->n == 0) {
		return CHI_OK;
	}
	if (run->n > 1 || (run->first & CHI_COUNT_FIRST) == 0) {
		return pack_group(aggregate, group, key, block);
	}
	return chi_load_pack_one(aggregate->spec, key, chi_key_length(key),
				 (enum chi_result)chi_count_result(run->first),
				 (uint16_t)chi_count_ply(run->first), chi_count_move(run->first),
				 number_of(aggregate, run->first), block);
}

static int add_to_run(const struct aggregate *aggregate, struct run *run, struct group *group,
		      uint64_t payload)
{
	int rc = CHI_OK;
	if (run->n == 0) {
		run->first = payload;
	} else if (run->n == 1) {
		rc = count_item(aggregate, group, run->first);
	}
	run->n++;
	return rc == CHI_OK && run->n > 1 ? count_item(aggregate, group, payload) : rc;
}

/* The evaluations of a position come after its games; there are none of a game without items. */
static int add_eval(const struct aggregate *aggregate, struct run *run, struct group *group,
		    const uint64_t key[CHI_SORT_GROUP / 8], uint64_t payload)
{
	struct chi_eval_copy copy;
	int rc = chi_eval_file_get(&aggregate->games->evals, payload, &copy);
	if (rc != CHI_OK || chi_import_is_dropped(aggregate->limits, copy.origin.number)) {
		return rc;
	}
	if (run->n == 0 || memcmp(run->key, key, sizeof(run->key)) != 0) {
		return -CHI_EINTERNAL;
	}
	if (run->n == 1) {
		/* No longer kept back. */
		rc = count_item(aggregate, group, run->first);
		run->n++;
	}
	chi_eval_set_add(&group->evals, &copy);
	atomic_fetch_add_explicit(&aggregate->games->evaluations, 1, memory_order_relaxed);
	return rc;
}

static int aggregate_items(const struct aggregate *aggregate, struct chi_sort_reader *reader,
			   struct group *group, struct chi_load_block *block)
{
	const struct chi_sort_item *item;
	struct run run = {.n = 0};
	int rc;
	while ((rc = chi_sort_next(reader, &item)) == CHI_OK) {
		uint64_t key[CHI_SORT_GROUP / 8];
		uint64_t payload = chi_count_payload(item);
		memcpy(key, item->bytes, sizeof(key));
		if (CHI_UNLIKELY((payload & CHI_EVALS_ITEM) != 0)) {
			rc = add_eval(aggregate, &run, group, key, payload);
			if (rc < 0) {
				return rc;
			}
			continue;
		}
		if (!aggregate->limits->whole && !hold(aggregate, &payload)) {
			continue;
		}
		if (key[0] != run.key[0] || key[1] != run.key[1] || key[2] != run.key[2]) {
			rc = end_run(aggregate, &run, group, block);
			memcpy(run.key, key, sizeof(key));
			run.n = 0;
		}
		if (rc == CHI_OK) {
			rc = add_to_run(aggregate, &run, group, payload);
		}
		if (rc < 0) {
			return rc;
		}
	}
	return rc < 0 ? rc : end_run(aggregate, &run, group, block);
}

static int aggregate_part(const struct aggregate *aggregate, size_t part, struct group *group,
			  struct chi_load_block *block, struct chi_fault *fault)
{
	struct chi_sort_reader *reader;
	int rc = chi_sort_open(aggregate->games->positions, part, &reader, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = aggregate_items(aggregate, reader, group, block);
	chi_sort_close(reader);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* Keeps the first failure and wakes all threads. With the mutex held. */
static void stop(struct aggregate *aggregate, int rc, const struct chi_fault *fault)
{
	if (aggregate->status == CHI_OK) {
		aggregate->status = rc;
		aggregate->fault = *fault;
	}
	pthread_cond_broadcast(&aggregate->ready);
	pthread_cond_broadcast(&aggregate->room);
}

/* Takes the next part, when it may be begun; false: there is none, or something failed. */
static bool take_part(struct aggregate *aggregate, size_t *part)
{
	pthread_mutex_lock(&aggregate->mutex);
	while (aggregate->status == CHI_OK && aggregate->next < aggregate->n_parts &&
	       aggregate->next - aggregate->stored >= aggregate->window) {
		pthread_cond_wait(&aggregate->room, &aggregate->mutex);
	}
	bool taken = aggregate->status == CHI_OK && aggregate->next < aggregate->n_parts;
	*part = taken ? aggregate->next++ : 0;
	pthread_mutex_unlock(&aggregate->mutex);
	return taken;
}

static void *work(void *argument)
{
	struct aggregate *aggregate = argument;
	struct chi_fault fault;
	size_t part;
	struct group *group = calloc(1, sizeof(*group));
	if (group == NULL) {
		pthread_mutex_lock(&aggregate->mutex);
		stop(aggregate, chi_fault_plain(&fault, -CHI_ENOMEM), &fault);
		pthread_mutex_unlock(&aggregate->mutex);
		return NULL;
	}
	while (take_part(aggregate, &part)) {
		size_t i = part % aggregate->window;
		int rc = aggregate_part(aggregate, part, group, &aggregate->blocks[i], &fault);
		pthread_mutex_lock(&aggregate->mutex);
		aggregate->done[i] = rc == CHI_OK;
		if (rc != CHI_OK) {
			stop(aggregate, rc, &fault);
		}
		pthread_cond_broadcast(&aggregate->ready);
		pthread_mutex_unlock(&aggregate->mutex);
	}
	free(group->games);
	free(group);
	return NULL;
}

/* Waits for a part and stores it. */
static int store_part(struct aggregate *aggregate, size_t part, struct chi_load *load,
		      struct chi_fault *fault)
{
	size_t i = part % aggregate->window;
	pthread_mutex_lock(&aggregate->mutex);
	while (!aggregate->done[i] && aggregate->status == CHI_OK) {
		pthread_cond_wait(&aggregate->ready, &aggregate->mutex);
	}
	int rc = aggregate->status;
	if (rc != CHI_OK) {
		*fault = aggregate->fault;
	}
	pthread_mutex_unlock(&aggregate->mutex);
	if (rc != CHI_OK) {
		return rc;
	}
	struct chi_load_block *block = &aggregate->blocks[i];
	rc = chi_load_apply(load, block, fault);
	/* The next part that comes here uses the memory again. */
	block->len = 0;
	block->n = 0;
	pthread_mutex_lock(&aggregate->mutex);
	aggregate->done[i] = false;
	aggregate->stored++;
	pthread_cond_broadcast(&aggregate->room);
	pthread_mutex_unlock(&aggregate->mutex);
	return rc;
}

static int store_all(struct aggregate *aggregate, struct chi_load *load, struct chi_fault *fault)
{
	const struct chi_importer *importer = aggregate->games->importer;
	int rc = CHI_OK;
	for (size_t part = 0; part < aggregate->n_parts && rc == CHI_OK; part++) {
		chi_importer_progress(importer, "storing", part, aggregate->n_parts);
		rc = chi_importer_canceled(importer) ? chi_fault_plain(fault, -CHI_ECANCELED)
						     : store_part(aggregate, part, load, fault);
	}
	return rc;
}

static int run(struct aggregate *aggregate, struct chi_load *load, struct chi_fault *fault)
{
	unsigned wanted = aggregate->games->importer->options.threads;
	_cleanup_(chi_freep) pthread_t *threads = calloc(wanted, sizeof(*threads));
	if (threads == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	unsigned n = 0;
	while (n < wanted && pthread_create(&threads[n], NULL, work, aggregate) == 0) {
		n++;
	}
	int rc = n > 0 ? store_all(aggregate, load, fault)
		       : chi_fault(fault, -CHI_ENOMEM, "cannot start a thread");
	if (rc != CHI_OK) {
		pthread_mutex_lock(&aggregate->mutex);
		stop(aggregate, rc, fault);
		pthread_mutex_unlock(&aggregate->mutex);
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
	}
	return rc;
}

int chi_import_fold(struct chi_pgn_session *games, size_t n_parts,
		    const struct chi_import_limits *limits, const struct chi_load_spec *spec,
		    struct chi_load *load, struct chi_fault *fault)
{
	struct aggregate aggregate = {
		.games = games,
		.spec = spec,
		.limits = limits,
		.n_parts = n_parts,
		.window = games->importer->options.threads + AHEAD,
	};
	aggregate.blocks = calloc(aggregate.window, sizeof(*aggregate.blocks));
	aggregate.done = calloc(aggregate.window, sizeof(*aggregate.done));
	pthread_mutex_init(&aggregate.mutex, NULL);
	pthread_cond_init(&aggregate.ready, NULL);
	pthread_cond_init(&aggregate.room, NULL);
	int rc = aggregate.blocks != NULL && aggregate.done != NULL
			 ? run(&aggregate, load, fault)
			 : chi_fault_plain(fault, -CHI_ENOMEM);
	for (size_t i = 0; aggregate.blocks != NULL && i < aggregate.window; i++) {
		chi_load_block_free(&aggregate.blocks[i]);
	}
	free(aggregate.blocks);
	free(aggregate.done);
	pthread_cond_destroy(&aggregate.room);
	pthread_cond_destroy(&aggregate.ready);
	pthread_mutex_destroy(&aggregate.mutex);
	return rc;
}
