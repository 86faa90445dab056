/* SPDX-License-Identifier: MIT */
/*
 * Positions saved from a damaged store, with lists of games that are made again from the games:
 * these are played, their positions sorted, and each position is stored with its list.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/dump/lists.h"
#include "import/dump/other.h"
#include "import/dump/replay.h"
#include "import/importer.h"
#include "store/archive.h"
#include "store/games/archive.h"
#include "store/load/load.h"

/* Any record. */
#define RECORD_ARENA ((size_t)4 << 20)

/* Sixteenths of the memory that sort the strength tree's entries. */
#define STRENGTH_SHARE 4

struct relist {
	struct chi_importer importer; /* what the files of this room ask for */
	struct chi_carried carried;
	struct chi_carried_plan plan;
	struct chi_lists *lists;
	struct chi_load *load;
	struct chi_load_spec spec;
	struct chi_load_block block;
	struct chi_arena arena; /* of the position that is stored */
	const struct chi_repair_positions *positions;
	bool any; /* of these there is one more: */
	struct chi_key saved_key;
	struct chi_record saved;
	struct chi_arena saved_arena;
};

static void relist_deinit(struct relist *r)
{
	chi_lists_close(r->lists);
	chi_carried_plan_deinit(&r->plan);
	chi_carried_deinit(&r->carried);
	chi_load_block_free(&r->block);
	chi_arena_deinit(&r->arena);
	chi_arena_deinit(&r->saved_arena);
	chi_dir_close(r->importer.store);
}

/* ---- From the games ------------------------------------------------------------------------- */

static int plan_saved(void *context, const struct chi_game_id *game, struct chi_fault *fault)
{
	struct relist *r = context;
	return game->number != 0 && game->number <= r->plan.last
		       ? chi_plan_game(&r->plan, game, "the store", fault)
		       : CHI_OK;
}

static int read_games(struct relist *r, struct chi_fault *fault)
{
	struct chi_archive_view view;
	struct chi_read *read = NULL;
	int rc = chi_read_begin(r->importer.store, &read);
	if (rc != CHI_OK) {
		return chi_fault_plain(fault, rc);
	}
	rc = chi_read_archive(read, &view);
	rc = rc == CHI_OK ? chi_plan_carried(&r->importer, view.last, &r->plan, fault) : rc;
	rc = rc == CHI_OK ? chi_each_game_id(&r->importer, read, view.last, plan_saved, r, fault)
			  : rc;
	rc = rc == CHI_OK ? chi_replay_games(&r->importer, &view, &r->plan, false,
					     r->carried.positions, fault)
			  : rc;
	chi_read_end(read);
	return rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
}

/* ---- To the positions ----------------------------------------------------------------------- */

/* What the record counts is not what its games say: theirs it is then. In memory of the arena. */
static int mend(struct relist *r, struct chi_record *record, struct chi_fault *fault)
{
	struct chi_record sum;
	int rc = chi_lists_sum(r->lists, &sum);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	struct chi_move_stat *moves = chi_arena_array(&r->arena, sum.n_moves + 1, sizeof(*moves));
	struct chi_ply_stat *plies = chi_arena_array(&r->arena, sum.n_plies + 1, sizeof(*plies));
	if (moves == NULL || plies == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	memcpy(moves, sum.moves, sum.n_moves * sizeof(*moves));
	memcpy(plies, sum.plies, sum.n_plies * sizeof(*plies));
	record->counts = sum.counts;
	record->moves = moves;
	record->n_moves = sum.n_moves;
	record->plies = plies;
	record->n_plies = sum.n_plies;
	return CHI_OK;
}

/* A position that was saved, or that only games tell of. */
static int relist_one(struct relist *r, const struct chi_key *key, struct chi_record *record,
		      bool saved, struct chi_fault *fault)
{
	struct chi_load_spec spec = r->spec;
	struct chi_record known;
	struct chi_posting *games = NULL;
	size_t n = 0;
	chi_arena_reset(&r->arena);
	/* Some of its games may be lost. */
	spec.computed = r->spec.statistic != CHI_STATISTIC_PERFORMANCE;
	int rc = chi_lists_reach(r->lists, key->bytes, &known, fault);
	rc = rc == CHI_OK ? chi_lists_games(r->lists, record, &games, &n, fault) : rc;
	if (rc == -CHI_ESYNTAX) {
		(void)chi_fail(fault, 0, "%s", "");
		spec.computed = false;
		rc = mend(r, record, fault);
		rc = rc == CHI_OK ? chi_lists_games(r->lists, record, &games, &n, fault) : rc;
	} else if (!saved) {
		return rc;
	}
	if (rc != CHI_OK) {
		return rc;
	}
	r->block.len = 0;
	r->block.n = 0;
	rc = chi_load_pack(&spec, key, record, games, n, &r->block);
	return rc == CHI_OK ? chi_load_apply(r->load, &r->block, fault)
			    : chi_fault_plain(fault, rc);
}

static int next_saved(struct relist *r, struct chi_fault *fault)
{
	chi_arena_reset(&r->saved_arena);
	int rc = r->positions->next(r->positions->context, &r->saved_arena, &r->saved_key,
				    &r->saved, fault);
	r->any = rc == CHI_OK;
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* Both by ascending key. */
static int relist_next(struct relist *r, bool *over, struct chi_fault *fault)
{
	struct chi_key key;
	bool reached = chi_lists_peek(r->lists, &key);
	int order = !r->any    ? -1
		    : !reached ? 1
			       : memcmp(key.bytes, r->saved_key.bytes, CHI_KEY_MAX);
	*over = !reached && !r->any;
	if (*over) {
		return CHI_OK;
	}
	if (order < 0) {
		struct chi_record none = {0};
		return relist_one(r, &key, &none, false, fault);
	}
	int rc = relist_one(r, &r->saved_key, &r->saved, true, fault);
	return rc == CHI_OK ? next_saved(r, fault) : rc;
}

static int fill_lists(void *context, struct chi_load *load, struct chi_fault *fault)
{
	struct relist *r = context;
	bool over = false;
	r->load = load;
	int rc = chi_importer_start(&r->importer, load, chi_sorter_count(r->carried.positions),
				    STRENGTH_SHARE, &r->spec, fault);
	rc = rc == CHI_OK ? chi_lists_open(&r->carried, &r->plan, &r->lists, fault) : rc;
	rc = rc == CHI_OK ? next_saved(r, fault) : rc;
	while (rc == CHI_OK && !over) {
		rc = relist_next(r, &over, fault);
	}
	return rc;
}

static int prepare_relist(struct relist *r, const char *dir, struct chi_fault *fault)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_WRITE};
	int rc = chi_dir_open(dir, &options, &r->importer.store, fault);
	if (rc != CHI_OK) {
		r->importer.store = NULL;
		return rc;
	}
	chi_arena_init(&r->arena, RECORD_ARENA);
	chi_arena_init(&r->saved_arena, RECORD_ARENA);
	rc = chi_carried_init(&r->carried, &r->importer, fault);
	return rc;
}

int chi_import_relist(const char *dir, const struct chi_repair_positions *given,
		      struct chi_fault *fault)
{
	struct chi_import_result result = {0};
	_cleanup_(chi_freep) char *spill = strdup(dir);
	_cleanup_(relist_deinit) struct relist r = {
		.importer = {.options = {.memory = CHI_IMPORT_MEMORY_DEFAULT, .threads = 1},
			     .spill = spill},
		.positions = given};
	if (spill == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = prepare_relist(&r, dir, fault);
	rc = rc == CHI_OK ? read_games(&r, fault) : rc;
	return rc == CHI_OK ? chi_importer_apply(&r.importer, fill_lists, &r, &result, fault) : rc;
}
