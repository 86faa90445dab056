/* SPDX-License-Identifier: MIT */
/*
 * A load's commit: the games that the store does not list yet, then the positions by ascending
 * key, then the base rates of the dump. What was kept of the positions is read where it is, through
 * a map of the file.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/key.h"
#include "import/dump/load.h"
#include "store/load/load.h"

/* Items of a part, and so between two looks at whether to go on. */
#define PART UINT64_C(65536)

/* Sixteenths of the memory that sort the strength tree's entries. */
#define STRENGTH_SHARE 4

struct apply {
	struct chi_loading *loading;
	struct chi_importer *importer;
	struct chi_import_result *result;
	struct chi_load *load;
	const uint8_t *kept; /* the file */
	size_t size;
	struct chi_sort_item last; /* the one before, when `seen` */
	uint64_t seen;
};

static void apply_deinit(struct apply *apply)
{
	if (apply->size > 0) {
		(void)munmap((void *)(uintptr_t)apply->kept, apply->size);
	}
	chi_load_abandon(apply->load);
}

/* What is done with an item. */
typedef int take_item(struct apply *apply, const struct chi_sort_item *item,
		      struct chi_fault *fault);

static int walk_part(struct apply *apply, struct chi_sorter *sorter, size_t part, take_item *take,
		     struct chi_fault *fault)
{
	struct chi_sort_reader *reader;
	const struct chi_sort_item *item;
	int rc = chi_sort_open(sorter, part, &reader, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	while ((rc = chi_sort_next(reader, &item)) == CHI_OK) {
		rc = take(apply, item, fault);
		if (rc != CHI_OK) {
			break;
		}
		apply->last = *item;
		apply->seen++;
	}
	chi_sort_close(reader);
	return rc == CHI_NONE			  ? CHI_OK
	       : rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc)
						  : rc;
}

/* All items in order. */
static int walk(struct apply *apply, struct chi_sorter *sorter, take_item *take, const char *phase,
		struct chi_fault *fault)
{
	size_t n_parts;
	uint64_t n = chi_sorter_count(sorter);
	int rc = chi_sorter_seal(sorter, PART, &n_parts, fault);
	apply->seen = 0;
	for (size_t part = 0; part < n_parts && rc == CHI_OK; part++) {
		chi_importer_progress(apply->importer, phase, apply->seen, n);
		rc = chi_importer_canceled(apply->importer)
			     ? chi_fault_plain(fault, -CHI_ECANCELED)
			     : walk_part(apply, sorter, part, take, fault);
	}
	return rc;
}

/* ---- Games ---------------------------------------------------------------------------------- */

static int take_game(struct apply *apply, const struct chi_sort_item *item, struct chi_fault *fault)
{
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

static int map_kept(struct apply *apply, struct chi_fault *fault)
{
	size_t size = (size_t)atomic_load(&apply->loading->kept_end);
	void *map =
		size > 0 ? mmap(NULL, size, PROT_READ, MAP_SHARED, apply->loading->kept, 0) : NULL;
	if (map == MAP_FAILED) {
		return chi_fault(fault, chi_fault_errno(errno),
				 "cannot read what was kept of the dump (%s)", strerror(errno));
	}
	apply->kept = map;
	apply->size = size;
	return CHI_OK;
}

/* The put of an item, which has its length before it. */
static const uint8_t *put_of(const struct apply *apply, const struct chi_sort_item *item)
{
	uint64_t place;
	memcpy(&place, item->bytes + CHI_SORT_GROUP, sizeof(place));
	place = be64toh(place);
	uint64_t stream = place >> CHI_LOADED_PLACE_BITS;
	return apply->kept + apply->loading->places[stream] +
	       (place & ((UINT64_C(1) << CHI_LOADED_PLACE_BITS) - 1));
}

static int take_position(struct apply *apply, const struct chi_sort_item *item,
			 struct chi_fault *fault)
{
	int rc = CHI_OK;
	uint32_t len;
	const uint8_t *put = put_of(apply, item);
	if (apply->seen == 0 || memcmp(apply->last.bytes, item->bytes, CHI_SORT_GROUP) != 0) {
		struct chi_key key = {.len = (uint8_t)chi_key_length(item->bytes)};
		memcpy(key.bytes, item->bytes, CHI_KEY_MAX);
		rc = apply->seen > 0 ? chi_load_fold_end(apply->load, fault) : CHI_OK;
		rc = rc == CHI_OK ? chi_load_fold_begin(apply->load, &key, fault) : rc;
	}
	memcpy(&len, put, sizeof(len));
	return rc == CHI_OK ? chi_load_fold(apply->load, put + sizeof(len), len, fault) : rc;
}

static int store_positions(struct apply *apply, struct chi_fault *fault)
{
	const struct chi_import_options *options = &apply->importer->options;
	struct chi_load_spec spec;
	const struct chi_load_options load_options = {
		.expected = chi_sorter_count(apply->loading->positions),
		.memory = options->memory / 16 * STRENGTH_SHARE,
		.dir = apply->importer->spill,
	};
	int rc = chi_load_start(apply->load, &load_options, &spec, fault);
	if (rc == CHI_OK) {
		rc = map_kept(apply, fault);
	}
	if (rc == CHI_OK) {
		rc = walk(apply, apply->loading->positions, take_position, "storing", fault);
	}
	return rc == CHI_OK && apply->seen > 0 ? chi_load_fold_end(apply->load, fault) : rc;
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
	rc = walk(apply, apply->loading->games, take_game, "games", fault);
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
