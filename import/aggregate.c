/* SPDX-License-Identifier: MIT */
/*
 * Items to records: what is side by side is summed up, and packed. Of a position that very many
 * games reached the list of these is not held: it goes ahead in pieces.
 */
#include "import/session_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fault.h"
#include "base/record.h"
#include "base/attr.h"
#include "import/count.h"
#include "chess/key.h"

/* Entries of a list from which on pieces of it go ahead. */
#define PIECE 8192

/* The games of one position. */
struct group {
	struct chi_counts counts;
	uint64_t total;
	size_t n_moves;
	size_t n_plies;
	struct chi_move_stat moves[CHI_MOVES_MAX];
	struct chi_ply_stat plies[CHI_PLY_MAX + 1];
	uint64_t by_ply[CHI_PLY_MAX + 1]; /* all zero between positions */
	struct chi_eval_set evals;
	struct chi_posting *games; /* of the archive, those that are not packed yet */
	size_t n_games;
	size_t games_size;
	size_t piece; /* so many are worth a piece; doubles where few can go */
};

/* A position while its items come by: the first is kept back, since most have no second. */
struct run {
	uint64_t key[CHI_SORT_GROUP / 8]; /* bytes as they are stored */
	uint64_t first;			  /* payload */
	size_t n;
};

struct chi_aggregator {
	struct chi_pgn_session *games;
	const struct chi_import_limits *limits;
	const struct chi_load_spec *spec;
	chi_aggregate_pass *pass;
	void *context;
	size_t full; /* bytes */
	struct chi_load_block *block;
	struct run run;
	struct group group;
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

/* A block that is full is emptied. */
static int pass_on(struct chi_aggregator *a)
{
	return a->block->len >= a->full ? a->pass(a->context, a->block) : CHI_OK;
}

/* Packs a piece of the list ahead; the last item was of that game. */
static int pack_piece(struct chi_aggregator *a, uint32_t game)
{
	struct group *group = &a->group;
	const uint32_t *least = a->limits->least;
	struct chi_key key = {.len = (uint8_t)chi_key_length((const uint8_t *)a->run.key)};
	memcpy(key.bytes, a->run.key, CHI_KEY_MAX);
	int rc = CHI_OK;
	/* One that has too few games would be left out, with its list. */
	if (group->total >= a->spec->games_min) {
		rc = chi_load_pack_ahead(a->spec, &key, group->games, &group->n_games,
					 least != NULL ? least[game / CHI_IMPORT_LEAST_STEP] : 0,
					 a->block);
	}
	group->piece = 2 * group->n_games > PIECE ? 2 * group->n_games : PIECE;
	return rc == CHI_OK ? pass_on(a) : rc;
}

/* A game of the archive, with what it played. */
static int list_game(struct group *group, uint32_t number, chi_move move)
{
	if (CHI_UNLIKELY(group->n_games == group->games_size) &&
	    chi_grow(&group->games, &group->games_size, group->n_games + 1, sizeof(*group->games)) <
		    0) {
		return -CHI_ENOMEM;
	}
	group->games[group->n_games++] = (struct chi_posting){.game = number, .move = move};
	return CHI_OK;
}

/* What is left of an item when its game is held to a ply: false if nothing is; the move goes where
 * the game's count ends. */
static bool hold(const struct chi_aggregator *a, uint64_t *payload)
{
	const struct chi_import_limits *limits = a->limits;
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

static uint32_t number_of(const struct chi_aggregator *a, uint64_t payload)
{
	const uint32_t *numbers = a->limits->numbers;
	return numbers != NULL ? numbers[chi_count_game(payload)] : 0;
}

static int count_item(struct chi_aggregator *a, uint64_t payload)
{
	struct group *group = &a->group;
	chi_move move = chi_count_move(payload);
	unsigned ply = chi_count_ply(payload);
	unsigned result = chi_count_result(payload);
	if ((payload & CHI_COUNT_FIRST) != 0) {
		group->total++;
		++*chi_counts_of(&group->counts, result);
		if (group->by_ply[ply]++ == 0) {
			group->plies[group->n_plies++].ply = (uint16_t)ply;
		}
	}
	uint32_t number = number_of(a, payload);
	int rc = number != 0 && (move != 0 || (payload & CHI_COUNT_FIRST) != 0)
			 ? list_game(group, number, move)
			 : CHI_OK;
	if (CHI_UNLIKELY(rc == CHI_OK && group->n_games >= group->piece)) {
		rc = pack_piece(a, chi_count_game(payload));
	}
	return rc == CHI_OK && move != 0 ? count_move(group, move, result) : rc;
}

_Static_assert(offsetof(struct chi_move_stat, move) == 0 && sizeof(chi_move) == 2 &&
		       offsetof(struct chi_ply_stat, ply) == 0,
	       "moves and plies both begin with the 16 bits that order them");

static int compare_numbers(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static void empty(struct group *group)
{
	group->counts = (struct chi_counts){0};
	group->total = 0;
	group->n_moves = 0;
	group->n_plies = 0;
	group->n_games = 0;
	group->piece = PIECE;
	group->evals.n = 0;
}

/* Packs the group and empties it. */
static int pack_group(struct chi_aggregator *a)
{
	struct group *group = &a->group;
	if (group->n_plies == 0) {
		empty(group);
		return CHI_OK;
	}
	chi_eval_set_sort(&group->evals);
	for (size_t i = 0; i < group->n_plies; i++) {
		group->plies[i].games = group->by_ply[group->plies[i].ply];
		group->by_ply[group->plies[i].ply] = 0;
	}
	if (group->n_moves > 1) {
		qsort(group->moves, group->n_moves, sizeof(group->moves[0]), compare_numbers);
	}
	if (group->n_plies > 1) {
		qsort(group->plies, group->n_plies, sizeof(group->plies[0]), compare_numbers);
	}
	struct chi_key key = {.len = (uint8_t)chi_key_length((const uint8_t *)a->run.key)};
	memcpy(key.bytes, a->run.key, CHI_KEY_MAX);
	struct chi_record record = {
		.counts = group->counts,
		.moves = group->moves,
		.n_moves = group->n_moves,
		.plies = group->plies,
		.n_plies = group->n_plies,
		.evals = group->evals.sorted,
		.n_evals = group->evals.n,
	};
	int rc = chi_load_pack(a->spec, &key, &record, group->games, group->n_games, a->block);
	empty(group);
	return rc;
}

static int end_run(struct chi_aggregator *a)
{
	struct run *run = &a->run;
	const uint8_t *key = (const uint8_t *)run->key;
	size_t n = run->n;
	run->n = 0;
	if (n == 0) {
		return CHI_OK;
	}
	int rc = n > 1 || (run->first & CHI_COUNT_FIRST) == 0
			 ? pack_group(a)
			 : chi_load_pack_one(a->spec, key, chi_key_length(key),
					     (enum chi_result)chi_count_result(run->first),
					     (uint16_t)chi_count_ply(run->first),
					     chi_count_move(run->first), number_of(a, run->first),
					     a->block);
	return rc == CHI_OK ? pass_on(a) : rc;
}

static int add_to_run(struct chi_aggregator *a, uint64_t payload)
{
	struct run *run = &a->run;
	int rc = CHI_OK;
	if (run->n == 0) {
		run->first = payload;
	} else if (run->n == 1) {
		rc = count_item(a, run->first);
	}
	run->n++;
	return rc == CHI_OK && run->n > 1 ? count_item(a, payload) : rc;
}

/* The evaluations of a position come after its games; there are none of a game without items. */
static int add_eval(struct chi_aggregator *a, const uint64_t key[CHI_SORT_GROUP / 8],
		    uint64_t payload)
{
	struct run *run = &a->run;
	struct chi_eval_copy copy;
	int rc = chi_eval_file_get(&a->games->evals, payload, &copy);
	if (rc != CHI_OK || chi_import_is_dropped(a->limits, copy.origin.number)) {
		return rc;
	}
	if (run->n == 0 || memcmp(run->key, key, sizeof(run->key)) != 0) {
		return -CHI_EINTERNAL;
	}
	if (run->n == 1) {
		/* No longer kept back. */
		rc = count_item(a, run->first);
		run->n++;
	}
	chi_eval_set_add(&a->group.evals, &copy);
	atomic_fetch_add_explicit(&a->games->evaluations, 1, memory_order_relaxed);
	return rc;
}

static int add_item(struct chi_aggregator *a, const struct chi_sort_item *item)
{
	uint64_t key[CHI_SORT_GROUP / 8];
	uint64_t payload = chi_count_payload(item);
	int rc = CHI_OK;
	memcpy(key, item->bytes, sizeof(key));
	if (CHI_UNLIKELY((payload & CHI_EVALS_ITEM) != 0)) {
		return add_eval(a, key, payload);
	}
	if (!a->limits->whole && !hold(a, &payload)) {
		return CHI_OK;
	}
	if (key[0] != a->run.key[0] || key[1] != a->run.key[1] || key[2] != a->run.key[2]) {
		rc = end_run(a);
		memcpy(a->run.key, key, sizeof(key));
	}
	return rc == CHI_OK ? add_to_run(a, payload) : rc;
}

int chi_aggregate_part(struct chi_aggregator *a, size_t part, struct chi_load_block *block,
		       struct chi_fault *fault)
{
	struct chi_sort_reader *reader;
	const struct chi_sort_item *item;
	a->block = block;
	a->run = (struct run){.n = 0};
	int rc = chi_sort_open(a->games->positions, part, &reader, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	while ((rc = chi_sort_next(reader, &item)) == CHI_OK) {
		rc = add_item(a, item);
		if (rc < 0) {
			break;
		}
	}
	rc = rc < 0 ? rc : end_run(a);
	chi_sort_close(reader);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

struct chi_aggregator *chi_aggregator_new(struct chi_pgn_session *games,
					  const struct chi_import_limits *limits,
					  const struct chi_load_spec *spec, size_t full,
					  chi_aggregate_pass *pass, void *context)
{
	struct chi_aggregator *a = calloc(1, sizeof(*a));
	if (a != NULL) {
		a->games = games;
		a->limits = limits;
		a->spec = spec;
		a->full = full;
		a->pass = pass;
		a->context = context;
		a->group.piece = PIECE;
	}
	return a;
}

void chi_aggregator_free(struct chi_aggregator *a)
{
	if (a != NULL) {
		free(a->group.games);
		free(a);
	}
}
