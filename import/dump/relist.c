/* SPDX-License-Identifier: MIT */
/*
 * The lists of games of a store that was saved from a damaged one, made again from the games: these
 * are played, their positions sorted, and each position is given its list.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/pgn/pgn.h"
#include "import/count.h"
#include "import/dump/lists.h"
#include "import/importer.h"
#include "store/archive.h"
#include "store/games/archive.h"
#include "store/load/load.h"

#define IDS_CHUNK  4096
#define GAME_ARENA ((size_t)64 << 20)

/* Sixteenths of the memory that sort the strength tree's entries. */
#define STRENGTH_SHARE 4

struct relist {
	struct chi_importer importer; /* what the files of this room ask for */
	struct chi_store *store;
	struct chi_carried carried;
	struct chi_carried_plan plan;
	struct chi_filler filler;
	struct chi_lists *lists;
	struct chi_load *load;
	struct chi_counter *counter;
	struct chi_position *positions; /* of one game */
	uint8_t *kept;			/* one put */
	struct chi_arena arena;
};

static void relist_deinit(struct relist *r)
{
	chi_load_abandon(r->load);
	chi_lists_close(r->lists);
	chi_filler_drop(&r->filler);
	chi_carried_plan_deinit(&r->plan);
	chi_carried_deinit(&r->carried);
	chi_arena_deinit(&r->arena);
	chi_store_close(r->store);
	free(r->counter);
	free(r->positions);
	free(r->kept);
}

/* ---- From the games ------------------------------------------------------------------------- */

static int plan_games(struct relist *r, struct chi_read *read)
{
	_cleanup_(chi_freep) struct chi_game_id *ids = malloc(IDS_CHUNK * sizeof(*ids));
	uint8_t after[CHI_GAME_ID_SIZE];
	bool first = true;
	size_t n = IDS_CHUNK;
	int rc = ids != NULL ? CHI_OK : -CHI_ENOMEM;
	while (rc == CHI_OK && n == IDS_CHUNK) {
		rc = chi_read_game_ids(read, first ? NULL : after, ids, IDS_CHUNK, &n);
		for (size_t i = 0; rc == CHI_OK && i < n; i++) {
			uint32_t number = ids[i].number;
			memcpy(after, ids[i].id, sizeof(after));
			first = false;
			if (number == 0 || number > r->plan.last) {
				continue;
			}
			r->plan.numbers[number] = number;
			r->plan.plies[number] = ids[i].max_ply;
			if (ids[i].pruned) {
				chi_carried_set(r->plan.pruned, number);
			}
		}
	}
	return rc;
}

static int start_of(const struct chi_game *game, struct chi_position *out)
{
	return game->has_start ? chi_key_decode(&game->start, out, NULL)
			       : chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), out, NULL);
}

static int count_game(struct relist *r, const struct chi_game *game, struct chi_fault *fault)
{
	struct chi_pgn_game played = {.result = (enum chi_result)game->head.result,
				      .n_plies = game->n_plies,
				      .moves = game->moves,
				      .positions = r->positions};
	int rc = game->n_plies <= CHI_PGN_PLIES_MAX ? start_of(game, &r->positions[0])
						    : -CHI_ECORRUPT;
	if (rc < 0) {
		return chi_fault_plain(fault, -CHI_ECORRUPT);
	}
	for (size_t i = 0; i < game->n_plies; i++) {
		chi_position_play(&r->positions[i], game->moves[i], &r->positions[i + 1]);
	}
	size_t n = chi_count_game_items(r->counter, &played, chi_count_plies(&played),
					game->head.number);
	return chi_filler_add(&r->filler, r->counter->items, n, fault);
}

static int count_games(struct relist *r, const struct chi_archive_view *view,
		       struct chi_fault *fault)
{
	struct chi_archive_reader *reader = NULL;
	struct chi_game game;
	int rc = chi_archive_reader_new(&reader);
	rc = rc == CHI_OK ? chi_archive_reader_begin(reader, view->txn, &view->trees) : rc;
	for (uint64_t i = 1; rc == CHI_OK && i <= r->plan.last; i++) {
		if (r->plan.numbers[i] == 0) {
			continue;
		}
		chi_arena_reset(&r->arena);
		rc = chi_archive_game(reader, (uint32_t)i, &r->arena, &game);
		rc = rc == CHI_OK ? count_game(r, &game, fault) : rc;
	}
	if (reader != NULL) {
		chi_archive_reader_end(reader);
	}
	chi_archive_reader_free(reader);
	return rc == CHI_OK ? chi_filler_end(&r->filler, fault)
			    : chi_fault_plain(fault, rc == CHI_NONE ? -CHI_ECORRUPT : rc);
}

static int read_games(struct relist *r, struct chi_fault *fault)
{
	struct chi_archive_view view;
	struct chi_read *read = NULL;
	int rc = chi_read_begin(r->store, &read);
	if (rc != CHI_OK) {
		return chi_fault_plain(fault, rc);
	}
	rc = chi_read_archive(read, &view);
	rc = rc == CHI_OK ? chi_carried_plan(&r->carried, view.last, &r->plan, fault) : rc;
	rc = rc == CHI_OK ? plan_games(r, read) : rc;
	rc = rc == CHI_OK ? count_games(r, &view, fault) : chi_fault_plain(fault, rc);
	chi_read_end(read);
	return rc;
}

/* ---- To the positions ----------------------------------------------------------------------- */

/* What the record counts is not what its games say: theirs it is then. */
static int mend(struct relist *r, const struct chi_key *key, bool stored, struct chi_record *record,
		struct chi_fault *fault)
{
	struct chi_put put = {.key = *key,
			      .parts = stored ? CHI_PUT_COUNTS | CHI_PUT_MOVES : CHI_PUT_ADD};
	size_t len = 0;
	int rc = chi_lists_sum(r->lists, &put.record);
	rc = rc == CHI_OK ? chi_load_keep(&put, chi_store_statistic(r->store), &r->arena, r->kept,
					  CHI_LOAD_KEPT_MAX, &len)
			  : rc;
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	rc = chi_load_fold(r->load, r->kept, len, fault);
	rc = rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	return rc == CHI_OK ? chi_load_folded(r->load, &r->arena, record) : rc;
}

static int relist_one(struct relist *r, const struct chi_key *key, struct chi_fault *fault)
{
	struct chi_record record = {0};
	struct chi_posting *games = NULL;
	size_t n = 0;
	chi_arena_reset(&r->arena);
	int rc = chi_lists_reach(r->lists, key->bytes, &record, fault);
	rc = rc == CHI_OK ? chi_load_fold_begin(r->load, key, fault) : rc;
	int stored = rc == CHI_OK ? chi_load_folded(r->load, &r->arena, &record) : rc;
	if (stored < 0) {
		return stored;
	}
	if (stored == CHI_NONE) {
		record = (struct chi_record){0};
	}
	rc = chi_lists_games(r->lists, &record, &games, &n, fault);
	if (rc == -CHI_ESYNTAX) {
		rc = mend(r, key, stored == CHI_OK, &record, fault);
		rc = rc == CHI_OK ? chi_lists_games(r->lists, &record, &games, &n, fault) : rc;
	}
	chi_load_fold_games(r->load, games, n);
	return rc == CHI_OK ? chi_load_fold_end(r->load, fault) : rc;
}

static int relist_all(struct relist *r, struct chi_fault *fault)
{
	struct chi_load_spec spec;
	struct chi_key key;
	const struct chi_load_options options = {
		.expected = chi_sorter_count(r->carried.positions),
		.memory = r->importer.options.memory / 16 * STRENGTH_SHARE,
		.dir = r->importer.spill,
	};
	int rc = chi_load_into(r->store, &r->load, fault);
	if (rc != CHI_OK) {
		r->load = NULL;
		return rc;
	}
	rc = chi_load_start(r->load, &options, &spec, fault);
	rc = rc == CHI_OK ? chi_lists_open(&r->carried, &r->plan, &r->lists, fault) : rc;
	while (rc == CHI_OK && chi_lists_peek(r->lists, &key)) {
		rc = relist_one(r, &key, fault);
	}
	return rc;
}

static int prepare(struct relist *r, const char *dir, struct chi_fault *fault)
{
	const struct chi_store_options options = {.mode = CHI_STORE_WRITE};
	int rc = chi_store_open(dir, &options, &r->store, fault);
	if (rc != CHI_OK) {
		r->store = NULL;
		return rc;
	}
	chi_arena_init(&r->arena, GAME_ARENA);
	r->counter = malloc(sizeof(*r->counter));
	r->positions = malloc((CHI_PGN_PLIES_MAX + 1) * sizeof(*r->positions));
	r->kept = malloc(CHI_LOAD_KEPT_MAX);
	if (r->counter == NULL || r->positions == NULL || r->kept == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	rc = chi_carried_init(&r->carried, &r->importer, fault);
	r->filler.sorter = r->carried.positions;
	return rc;
}

int chi_import_relist(const char *dir, struct chi_fault *fault)
{
	struct chi_put_result positions = {0};
	uint64_t dropped = 0;
	_cleanup_(chi_freep) char *spill = strdup(dir);
	_cleanup_(relist_deinit) struct relist r = {
		.importer = {.options = {.memory = CHI_IMPORT_MEMORY_DEFAULT, .threads = 1},
			     .spill = spill}};
	if (spill == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = prepare(&r, dir, fault);
	rc = rc == CHI_OK ? read_games(&r, fault) : rc;
	rc = rc == CHI_OK ? relist_all(&r, fault) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	struct chi_load *load = r.load;
	r.load = NULL;
	return chi_load_finish(load, &positions, &dropped, fault);
}
