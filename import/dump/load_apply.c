/* SPDX-License-Identifier: MIT */
/*
 * A load's commit: the games that the store does not list yet, then the positions by ascending
 * key, then the base rates of the dump.
 */
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/dump/load.h"
#include "store/load/load.h"

/* Sixteenths of the memory that sort the strength tree's entries. */
#define STRENGTH_SHARE 4

struct apply {
	struct chi_loading *loading;
	struct chi_importer *importer;
	struct chi_import_result *result;
	struct chi_load *load;
};

static void apply_deinit(struct apply *apply)
{
	chi_load_abandon(apply->load);
}

/* ---- Games ---------------------------------------------------------------------------------- */

static int take_game(void *context, const struct chi_sort_item *item, struct chi_fault *fault)
{
	struct apply *apply = context;
	struct chi_game_id game;
	uint64_t rest;
	int rc = chi_load_find_game(apply->load, item->bytes, &game);
	if (rc != CHI_NONE) {
		apply->result->known += rc == CHI_OK;
		return rc < 0 ? chi_fault_plain(fault, rc) : rc;
	}
	memcpy(&rest, item->bytes + CHI_SORT_GROUP, sizeof(rest));
	game = (struct chi_game_id){.result = (uint8_t)rest,
				    .pruned = (rest >> 8 & 1) != 0,
				    .max_ply = (uint16_t)(rest >> 16)};
	memcpy(game.id, item->bytes, sizeof(game.id));
	rc = chi_load_game(apply->load, &game);
	apply->result->taken += rc == CHI_OK;
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* ---- Positions ------------------------------------------------------------------------------ */

/* A put that restores is not refused: what it would change of the archive is told by
 * chi_load_fold_end. */
static void refused(void *context, uint32_t stream, uint32_t line, const char *why)
{
	(void)context;
	(void)stream;
	(void)line;
	(void)why;
}

static int store_positions(struct apply *apply, struct chi_fault *fault)
{
	const struct chi_import_options *options = &apply->importer->options;
	struct chi_load_spec spec;
	const struct chi_load_options load_options = {
		.expected = chi_sorter_count(apply->loading->positions.sorter),
		.memory = options->memory / 16 * STRENGTH_SHARE,
		.dir = apply->importer->spill,
	};
	int rc = chi_load_start(apply->load, &load_options, &spec, fault);
	return rc == CHI_OK ? chi_puts_fold(&apply->loading->positions, apply->load, refused, NULL,
					    fault)
			    : rc;
}

/* ---- All ------------------------------------------------------------------------------------ */

static int apply_all(struct apply *apply, struct chi_fault *fault)
{
	struct chi_importer *importer = apply->importer;
	struct chi_import_result *result = apply->result;
	struct chi_write *write = chi_load_write(apply->load);
	int rc = write != NULL ? chi_importer_known(importer, write, result, fault) : CHI_NONE;
	if (rc != CHI_NONE) {
		return rc;
	}
	rc = chi_puts_walk(importer, apply->loading->games, "games", take_game, apply, fault);
	if (rc == CHI_OK) {
		rc = store_positions(apply, fault);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	chi_load_base(apply->load, &apply->loading->head.head.base);
	result->games = apply->loading->n_games;
	rc = chi_load_complete(apply->load, &result->positions, &result->dropped, fault);
	return rc == CHI_OK && write != NULL ? chi_importer_note(importer, write, result, fault)
					     : rc;
}

int chi_loading_apply(struct chi_loading *loading, struct chi_import_result *result,
		      struct chi_fault *fault)
{
	struct chi_importer *importer = loading->importer;
	_cleanup_(apply_deinit) struct apply apply = {
		.loading = loading, .importer = importer, .result = result};
	int rc = importer->store != NULL ? chi_load_into(importer->store, &apply.load, fault)
					 : chi_load_new(importer->path, importer->statistic,
							importer->keep, &apply.load, fault);
	if (rc != CHI_OK) {
		apply.load = NULL;
		return rc;
	}
	rc = apply_all(&apply, fault);
	if (rc < 0) {
		return rc;
	}
	struct chi_load *load = apply.load;
	apply.load = NULL;
	return chi_load_finish(load, &result->positions, &result->dropped, fault);
}
