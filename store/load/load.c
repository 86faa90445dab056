/* SPDX-License-Identifier: MIT */
/*
 * A load from its begin to its end: which store it goes into, the games that it counts, and the
 * commit. The positions are in apply.c, the strength tree in strength.c.
 */
#include "store/load/load.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/record.h"
#include "store/env/env.h"
#include "store/env/path.h"
#include "store/lmdb_err.h"
#include "store/load/load_priv.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "store/txn/txn.h"

/* Of the memory, what a new store changes between two commits, within these bounds. */
#define COMMIT_SHARE 16
#define COMMIT_MIN   (UINT64_C(1) << 20)
#define COMMIT_MAX   (UINT64_C(32) << 20)

int chi_load_stick(struct chi_load *load, int rc, struct chi_fault *fault)
{
	if (rc < 0 && load->rc == CHI_OK) {
		load->rc = rc;
		if (fault != NULL && fault != &load->fault) {
			load->fault = *fault;
		}
	}
	return rc;
}

int chi_load_error(struct chi_load *load, int error, struct chi_fault *fault)
{
	return chi_lmdb_write_fault(fault, error, "write to", load->dir);
}

/* The failure that stuck, or that this is a child. */
static int ready(const struct chi_load *load)
{
	if (load->write != NULL && chi_env_forked(load->write->env)) {
		return -CHI_EFORK;
	}
	return load->rc;
}

int chi_load_into(struct chi_dir *store, struct chi_load **out, struct chi_fault *fault)
{
	struct chi_load *load = calloc(1, sizeof(*load));
	if (load == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	chi_arena_init(&load->arena, CHI_RECORD_ARENA);
	chi_arena_init(&load->lists, SIZE_MAX);
	chi_load_memory(load, CHI_IMPORT_MEMORY_DEFAULT);
	load->dir = store->env->path;
	load->file = -1;
	int rc = chi_write_begin(store, &load->write, fault);
	if (rc < 0) {
		chi_load_abandon(load);
		return rc;
	}
	const struct chi_env *env = store->env;
	load->store = store;
	load->statistic = env->stamp.statistic;
	load->mdb = env->mdb;
	load->txn = load->write->txn;
	load->meta = env->meta;
	load->position = env->position;
	load->strength = env->strength;
	load->ids = env->ids;
	load->keep = env->stamp.keep;
	load->archive = env->archive;
	load->position_tree = &load->write->position;
	load->strength_tree = &load->write->strength;
	load->position_tree->most = CHI_TREE_PENDING_FEW;
	load->strength_tree->most = CHI_TREE_PENDING_FEW;
	load->append = load->write->state.positions == 0;
	load->postings_chain.chain = CHI_CHAIN_POSTINGS;
	*out = load;
	return CHI_OK;
}

void chi_load_memory(struct chi_load *load, uint64_t memory)
{
	uint64_t commit = memory / COMMIT_SHARE;
	load->memory = memory;
	load->commit_bytes = (size_t)(commit < COMMIT_MIN   ? COMMIT_MIN
				      : commit > COMMIT_MAX ? COMMIT_MAX
							    : commit);
}

int chi_load_find_game(struct chi_load *load, const uint8_t id[CHI_GAME_ID_SIZE],
		       struct chi_game_id *out)
{
	MDB_val key = chi_val(id, CHI_GAME_ID_SIZE);
	MDB_val value;
	int rc = ready(load);
	if (rc < 0 || load->write != NULL) {
		return rc < 0 ? rc : chi_game_ids_find(load->txn, load->ids, id, out);
	}
	/* What is being built has no true head yet that could vouch for what is not there. */
	rc = chi_lmdb_status(mdb_get(load->txn, load->ids, &key, &value));
	return rc != CHI_OK ? rc
	       : chi_chain_strip(&key, &value)
		       ? chi_game_decode(id, CHI_GAME_ID_SIZE, value.mv_data, value.mv_size, out)
		       : -CHI_ECORRUPT;
}

/* Games of a new store come ascending, and no other tree is written meanwhile. */
static int append_game(struct chi_load *load, const struct chi_game_id *game,
		       struct chi_fault *fault)
{
	uint8_t bytes[CHI_GAME_VALUE_MAX + CHI_CHAIN_LINK];
	struct chi_counts one = {0};
	MDB_val key = chi_val(game->id, CHI_GAME_ID_SIZE);
	uint8_t *own = bytes + CHI_CHAIN_LINK;
	MDB_val value = {chi_game_encode(game, own), own};
	if (value.mv_size == 0) {
		return chi_fault_plain(fault, -CHI_EINVAL);
	}
	int error = mdb_put(load->txn, load->ids, &key,
			    chi_chain_sign(&load->ids_chain, &key, &value), MDB_APPEND);
	if (error == MDB_KEYEXIST) {
		return chi_fail(fault, -CHI_EINTERNAL, "the games do not ascend");
	}
	if (error == 0) {
		error = chi_load_saved(load, key.mv_size + value.mv_size);
	}
	*chi_counts_of(&one, game->result) = 1;
	chi_state_game(&load->state, game);
	if (!chi_counts_add(&load->state.games, &one)) {
		return chi_fault_plain(fault, -CHI_ETOOBIG);
	}
	return chi_load_error(load, error, fault);
}

uint64_t chi_load_next_game(struct chi_load *load)
{
	return chi_load_state(load)->last_game + 1;
}

int chi_load_game(struct chi_load *load, const struct chi_game_id *game)
{
	int rc = ready(load);
	if (rc < 0) {
		return rc;
	}
	load->games_changed = true;
	rc = load->write != NULL ? chi_write_game_id(load->write, game)
				 : append_game(load, game, &load->fault);
	if (rc == CHI_NONE) {
		rc = chi_fail(&load->fault, -CHI_EEXIST, "the game is counted already");
	}
	return chi_load_stick(load, rc, &load->fault);
}

int chi_load_ungame(struct chi_load *load, const struct chi_game_id *game)
{
	struct chi_game_id found;
	int rc = ready(load);
	if (rc < 0) {
		return rc;
	}
	load->games_changed = true;
	rc = load->write != NULL ? chi_write_remove_game_id(load->write, game->id, &found)
				 : CHI_NONE;
	if (rc == CHI_NONE) {
		rc = chi_fail(&load->fault, -CHI_EINVAL, "the game is not counted");
	}
	return chi_load_stick(load, rc, &load->fault);
}

int chi_load_start(struct chi_load *load, const struct chi_load_options *options,
		   struct chi_load_spec *spec, struct chi_fault *fault)
{
	int rc = ready(load);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	struct chi_store_state *state = chi_load_state(load);
	/* A load that brings no game leaves rates alone that were set by hand. */
	if (load->games_changed) {
		state->base = state->games;
	}
	load->subtract = options->subtract;
	load->unplayed = options->unplayed;
	load->games_min = options->subtract ? 0 : options->games_min;
	load->dense = chi_rewrite_pays(load, CHI_TREE_POSITION, options->expected);
	*spec = (struct chi_load_spec){
		.statistic = load->statistic,
		.base = state->base,
		.subtract = load->subtract,
		.games_min = load->games_min,
	};
	rc = chi_load_performance_begin(load, fault);
	if (rc < 0) {
		return chi_load_stick(load, rc, fault);
	}
	rc = chi_sorter_new(options->dir, options->memory, 1, &load->gathered.sorter);
	return rc < 0 ? chi_load_stick(load, chi_fault_plain(fault, rc), fault) : CHI_OK;
}

void chi_load_base(struct chi_load *load, const struct chi_counts *base)
{
	struct chi_store_state *state = chi_load_state(load);
	if (load->write != NULL && !chi_counts_equal(&state->base, base)) {
		load->write->changed = true;
	}
	state->base = *base;
}

static void free_load(struct chi_load *load)
{
	chi_rewrite_forget(&load->rewrite);
	chi_performance_free(load->performance);
	chi_load_forget(load);
	chi_load_archive_free(load);
	chi_arena_deinit(&load->arena);
	chi_arena_deinit(&load->lists);
	chi_tree_deinit(&load->own[CHI_TREE_POSITION]);
	chi_tree_deinit(&load->own[CHI_TREE_STRENGTH]);
	free(load->room);
	free(load->fold_room);
	free(load->path);
	free(load);
}

void chi_load_abandon(struct chi_load *load)
{
	if (load == NULL) {
		return;
	}
	chi_load_put_down(load);
	if (load->write != NULL) {
		chi_write_abort(load->write);
	} else {
		chi_appender_abandon(load->appender);
		if (load->txn != NULL) {
			mdb_txn_abort(load->txn);
		}
		if (load->mdb != NULL) {
			mdb_env_close(load->mdb);
		}
	}
	/* A path without a directory: it could not be made. */
	if (load->path != NULL && load->dir != NULL) {
		chi_path_remove(&load->hidden);
	}
	if (load->file >= 0) {
		(void)close(load->file);
	}
	free_load(load);
}

struct chi_write *chi_load_write(struct chi_load *load)
{
	return load->write;
}

static void add_up(struct chi_put_result *positions, uint64_t *dropped,
		   const struct chi_put_result *more, uint64_t more_dropped)
{
	positions->added += more->added;
	positions->updated += more->updated;
	positions->unchanged += more->unchanged;
	positions->removed += more->removed;
	*dropped += more_dropped;
}

int chi_load_complete(struct chi_load *load, struct chi_put_result *positions, uint64_t *dropped,
		      struct chi_fault *fault)
{
	int rc = ready(load);
	if (rc < 0) {
		if (fault != NULL) {
			*fault = load->fault;
		}
		return load->fault.text[0] != '\0' ? rc : chi_fault_plain(fault, rc);
	}
	int error = chi_rewrite_finish(load, &load->rewrite);
	error = error == 0 ? chi_load_built(load) : error;
	rc = chi_load_error(load, error, fault);
	if (rc == CHI_OK && load->gathered.sorter != NULL) {
		rc = chi_load_scatter(load, fault);
	}
	rc = rc == CHI_OK ? chi_load_performance_end(load, fault) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	/* A new store's when all is written. */
	rc = load->write != NULL ? chi_load_error(load, chi_load_end_chains(load), fault) : CHI_OK;
	if (rc != CHI_OK) {
		return rc;
	}
	load->complete = true;
	add_up(positions, dropped, &load->result, load->dropped);
	return CHI_OK;
}

int chi_load_finish(struct chi_load *load, struct chi_put_result *positions, uint64_t *dropped,
		    struct chi_fault *fault)
{
	struct chi_put_result more = {0};
	uint64_t more_dropped = 0;
	int rc = load->complete ? CHI_OK : chi_load_complete(load, &more, &more_dropped, fault);
	if (rc == CHI_OK && load->write == NULL) {
		rc = chi_load_publish(load, fault);
	}
	if (rc < 0) {
		chi_load_abandon(load);
		return rc;
	}
	if (load->write != NULL) {
		chi_load_put_down(load);
		rc = chi_write_commit(load->write, fault);
	}
	if (rc == CHI_OK) {
		add_up(positions, dropped, &more, more_dropped);
	}
	free_load(load);
	return rc;
}
