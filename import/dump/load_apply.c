/* SPDX-License-Identifier: MIT */
/*
 * A load's commit: the games that the store does not list yet, names and games of the archive, then
 * the positions by ascending key, each with the list of its games; at last the base rates of the
 * dump and its gamesets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/dump/lists.h"
#include "import/dump/load.h"
#include "store/load/load.h"

/* Sixteenths of the memory that sort the strength tree's entries. */
#define STRENGTH_SHARE 4

struct apply {
	struct chi_loading *loading;
	struct chi_importer *importer;
	struct chi_import_result *result;
	struct chi_load *load;
	struct chi_carried_plan plan;
	struct chi_lists *lists; /* NULL: the dump has no games of the archive */
	struct chi_arena arena;	 /* of one record */
	struct chi_fault *fault; /* where it cannot be handed on */
};

static void apply_deinit(struct apply *apply)
{
	chi_lists_close(apply->lists);
	chi_carried_plan_deinit(&apply->plan);
	chi_arena_deinit(&apply->arena);
}

/* ---- Games ---------------------------------------------------------------------------------- */

static int take_carried_game(void *context, const struct chi_game_id *game, struct chi_fault *fault)
{
	struct apply *apply = context;
	struct chi_game_id stored;
	int rc = chi_load_find_game(apply->load, game->id, &stored);
	if (rc == CHI_OK && game->number == 0) {
		apply->result->known++;
	}
	if (rc != CHI_NONE) {
		return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
	}
	rc = game->number != 0 ? chi_plan_game(&apply->plan, game, "the dump", fault) : CHI_OK;
	if (rc == CHI_OK) {
		rc = chi_load_game(apply->load, game);
		rc = rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
	}
	apply->result->taken += rc == CHI_OK;
	return rc;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static int add_name(void *context, const struct chi_dump_name *name)
{
	struct apply *apply = context;
	return chi_load_name(apply->load, (enum chi_name_kind)name->kind, name->id, name->text,
			     name->len, name->fide, apply->fault);
}

/* When all are there. */
static int join_name(void *context, const struct chi_dump_name *name)
{
	struct apply *apply = context;
	int rc = name->given ? chi_load_give_fide(apply->load, name->id, name->fide, apply->fault)
			     : CHI_OK;
	if (rc < 0 || name->root == 0) {
		return rc < 0 ? rc : CHI_OK;
	}
	rc = name->root == name->id ? chi_fail(apply->fault, -CHI_EINVAL,
					       "name %" PRIu32 " is its own root", name->id)
				    : chi_load_alias(apply->load, (enum chi_name_kind)name->kind,
						     name->id, name->root, apply->fault);
	return rc == CHI_NONE ? CHI_OK : rc;
}

static int add_gameset(void *context, const struct chi_dump_text *name,
		       const struct chi_dump_text *filter)
{
	struct apply *apply = context;
	int rc = chi_load_gameset(apply->load, name->at, name->len, filter->at, filter->len,
				  apply->fault);
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* The numbers of games, names and all are those of the dump: in a store that has none of its own.
 */
static int check_empty(struct apply *apply, struct chi_fault *fault)
{
	struct chi_info info;
	struct chi_dir *store = apply->importer->store;
	if (store == NULL) {
		return CHI_OK;
	}
	int rc = chi_dir_info(store, &info);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	return info.last_game == 0 && chi_load_next_game(apply->load) == 1 &&
			       info.games.white + info.games.draws + info.games.black +
					       info.games.other ==
				       0
		       ? CHI_OK
		       : chi_fail(fault, -CHI_EEXIST,
				  "the dump has games, and so has the store: load it into a new "
				  "one, and merge that");
}

static int store_archive(struct apply *apply, struct chi_fault *fault)
{
	struct chi_carried *archive = &apply->loading->archive;
	uint64_t last = apply->loading->last_number;
	apply->fault = fault;
	int rc = check_empty(apply, fault);
	rc = rc == CHI_OK ? chi_plan_carried(apply->importer, last, &apply->plan, fault) : rc;
	rc = rc == CHI_OK ? chi_carried_each(archive, take_carried_game, apply, fault) : rc;
	rc = rc == CHI_OK ? chi_carried_texts(archive, add_name, NULL, apply, fault) : rc;
	rc = rc == CHI_OK ? chi_load_archived(apply->load, fault) : rc;
	rc = rc == CHI_OK ? chi_carried_texts(archive, join_name, NULL, apply, fault) : rc;
	rc = rc == CHI_OK ? chi_carried_archive(archive, &apply->plan, apply->load, fault) : rc;
	rc = rc == CHI_OK ? chi_carried_texts(archive, NULL, add_gameset, apply, fault) : rc;
	chi_load_last_game(apply->load, (uint32_t)last);
	return rc == CHI_OK ? chi_lists_open(archive, &apply->plan, &apply->lists, fault) : rc;
}

/* ---- Positions ------------------------------------------------------------------------------ */

/* A put that restores is not refused: what it would change of the archive is told by
 * chi_load_fold_end. */
static void dump_refused(void *context, uint32_t stream, uint32_t line, const char *why)
{
	(void)context;
	(void)stream;
	(void)line;
	(void)why;
}

/* The games of the dump that reached the position. */
static int list_games(void *context, const struct chi_key *key, struct chi_fault *fault)
{
	struct apply *apply = context;
	struct chi_record record;
	struct chi_posting *games = NULL;
	size_t n = 0;
	int rc = chi_lists_reach(apply->lists, key->bytes, &record, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_arena_reset(&apply->arena);
	rc = chi_load_folded(apply->load, &apply->arena, &record);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? CHI_OK : chi_fault_plain(fault, rc);
	}
	rc = chi_lists_games(apply->lists, &record, &games, &n, fault);
	chi_load_fold_games(apply->load, games, n);
	return rc;
}

static void tell_uncertain(const struct apply *apply)
{
	const struct chi_import_options *options = &apply->importer->options;
	uint64_t uncertain = apply->lists != NULL ? chi_lists_uncertain(apply->lists) : 0;
	char text[CHI_FAULT_SIZE];
	(void)snprintf(text, sizeof(text), CHI_LISTS_UNCERTAIN, uncertain);
	const struct chi_import_note note = {.file = "", .text = text};
	if (uncertain > 0 && options->report != NULL) {
		options->report(options->context, &note);
	}
}

static int store_positions(struct apply *apply, struct chi_fault *fault)
{
	struct chi_load_spec spec;
	int rc = chi_importer_start(apply->importer, apply->load,
				    chi_sorter_count(apply->loading->positions.sorter),
				    STRENGTH_SHARE, &spec, fault);
	if (rc == CHI_OK) {
		rc = chi_puts_fold(&apply->loading->positions, apply->load, dump_refused,
				   apply->lists != NULL ? list_games : NULL, apply, fault);
	}
	rc = rc == CHI_OK && apply->lists != NULL ? chi_lists_end(apply->lists, fault) : rc;
	if (rc == CHI_OK) {
		tell_uncertain(apply);
	}
	return rc;
}

/* ---- All ------------------------------------------------------------------------------------ */

static int fill(void *context, struct chi_load *load, struct chi_fault *fault)
{
	struct apply *apply = context;
	struct chi_loading *loading = apply->loading;
	apply->load = load;
	int rc = loading->head.head.archive
			 ? store_archive(apply, fault)
			 : chi_carried_each(&loading->archive, take_carried_game, apply, fault);
	rc = rc == CHI_OK ? store_positions(apply, fault) : rc;
	if (rc == CHI_OK) {
		chi_load_base(load, &loading->head.head.base);
		apply->result->games = loading->n.games;
	}
	return rc;
}

int chi_loading_apply(struct chi_loading *loading, struct chi_import_result *result,
		      struct chi_fault *fault)
{
	_cleanup_(apply_deinit) struct apply apply = {
		.loading = loading, .importer = loading->importer, .result = result};
	chi_arena_init(&apply.arena, CHI_DUMP_LINE_MAX);
	return chi_importer_apply(loading->importer, fill, &apply, result, fault);
}
