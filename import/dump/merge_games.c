/* SPDX-License-Identifier: MIT */
/*
 * The games of the other store: which of them are counted here already, the numbers that the others
 * get, in their order, and the names, which are the same if their texts are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/record.h"
#include "import/dump/merge_priv.h"

/* Games counted in both stores that are named. */
#define COMMON_TOLD 1000

/* Tells something of the other store. */
static void tell_merged(const struct chi_merge_apply *apply, uint64_t game, const char *text)
{
	const struct chi_import_options *options = &apply->importer->options;
	const struct chi_import_note note = {.file = "", .game = game, .text = text};
	if (options->report != NULL) {
		options->report(options->context, &note);
	}
}

/* ---- Known games ---------------------------------------------------------------------------- */

/* Names the game as a dump does. */
static void tell_common(const struct chi_merge_apply *apply, const struct chi_game_id *game)
{
	static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*"};
	char id[2 * CHI_GAME_ID_SIZE + 1];
	char text[128];
	if (apply->result->known > COMMON_TOLD) {
		return;
	}
	chi_hex_print(game->id, CHI_GAME_ID_SIZE, id);
	(void)snprintf(text, sizeof(text), "game %s (%s) is counted in both stores", id,
		       game->result < CHI_COUNT(results) ? results[game->result] : "?");
	tell_merged(apply, apply->games, text);
}

static int look_up_game(void *context, const struct chi_game_id *game, struct chi_fault *fault)
{
	struct chi_merge_apply *apply = context;
	struct chi_game_id ours;
	int rc = chi_load_find_game(apply->load, game->id, &ours);
	bool known = rc == CHI_OK;
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	apply->games++;
	if (known) {
		apply->result->known++;
		apply->inseparable += game->number == 0 || game->pruned;
		tell_common(apply, game);
	}
	if (game->number == 0) {
		return CHI_OK;
	}
	rc = chi_plan_game(&apply->plan, game, apply->other->name, fault);
	if (rc == CHI_OK && known) {
		apply->plan.numbers[game->number] = 0;
		chi_carried_set(apply->plan.known, game->number);
	}
	return rc;
}

/* What known games account for is left out where theirs keeps them, and all their positions. Of a
 * game that is only counted it is not known which positions would count it twice: then it is all or
 * none of them, unless it is to be so. */
static int judge_common(struct chi_merge_apply *apply, struct chi_fault *fault)
{
	const struct chi_import_options *options = &apply->importer->options;
	uint64_t common = apply->result->known;
	if (common == 0 || options->count_twice) {
		return CHI_OK;
	}
	if (options->skip_known && apply->inseparable == 0) {
		apply->subtract = true;
		return CHI_OK;
	}
	if (options->skip_known && common == apply->games) {
		apply->skip_counts = true;
		return CHI_OK;
	}
	return options->skip_known
		       ? chi_fail(fault, -CHI_EEXIST,
				  "%" PRIu64 " of its %" PRIu64
				  " games are counted in both stores, and it does not keep %" PRIu64
				  " of these, or not all of their positions: import the games' "
				  "PGN, of which those that are counted are skipped",
				  common, apply->games, apply->inseparable)
		       : chi_fail(fault, -CHI_EEXIST,
				  "%" PRIu64 " of its %" PRIu64
				  " games are counted in both stores; skip them, or subtract them "
				  "from one first",
				  common, apply->games);
}

/* ---- New games ------------------------------------------------------------------------------ */

static int number_games(struct chi_merge_apply *apply, struct chi_fault *fault)
{
	struct chi_carried_plan *plan = &apply->plan;
	uint64_t next = chi_load_next_game(apply->load);
	bool keeps = apply->importer->keep == CHI_KEEP_GAMES;
	for (uint64_t i = 1; i <= plan->last; i++) {
		if (plan->numbers[i] != 0) {
			plan->numbers[i] = keeps ? (uint32_t)next++ : 0;
		}
		if (next > (uint64_t)UINT32_MAX + 1) {
			return chi_fail(fault, -CHI_ETOOBIG, "a store numbers %u games, not more",
					UINT32_MAX);
		}
	}
	return CHI_OK;
}

/* Those that are not ours. */
static int add_game(void *context, const struct chi_game_id *game, struct chi_fault *fault)
{
	struct chi_merge_apply *apply = context;
	struct chi_game_id added = *game;
	struct chi_game_id ours;
	int rc = chi_load_find_game(apply->load, game->id, &ours);
	if (rc != CHI_NONE) {
		return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
	}
	added.number = game->number != 0 ? apply->plan.numbers[game->number] : 0;
	++*chi_counts_of(&apply->totals, game->result);
	apply->result->taken++;
	rc = chi_load_game(apply->load, &added);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static int note_name(struct chi_merge_apply *apply, uint8_t kind, uint32_t ours)
{
	if (chi_grow(&apply->names[kind], &apply->room[kind], apply->n_names[kind] + 1,
		     sizeof(ours)) < 0) {
		return chi_fault_plain(apply->fault, -CHI_ENOMEM);
	}
	apply->names[kind][apply->n_names[kind]++] = ours;
	return CHI_OK;
}

static int take_dump_name(void *context, const struct chi_dump_name *name)
{
	struct chi_merge_apply *apply = context;
	uint32_t ours = 0;
	/* Of a store some may be removed. */
	while (name->id > apply->n_names[name->kind] + 1) {
		int rc = note_name(apply, name->kind, 0);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	if (name->id != apply->n_names[name->kind] + 1) {
		return chi_fail(apply->fault, -CHI_ESYNTAX,
				"%s is damaged: the names are not in order", apply->other->name);
	}
	int rc = chi_load_find_name(apply->load, (enum chi_name_kind)name->kind, name->text,
				    name->len, name->fide, &ours, apply->fault);
	return rc == CHI_OK ? note_name(apply, name->kind, ours) : rc;
}

/* When all are there. What they cannot be, because the FIDE ids differ, is told. */
static int join_name(void *context, const struct chi_dump_name *name)
{
	struct chi_merge_apply *apply = context;
	const uint32_t *ours = apply->names[name->kind];
	char text[CHI_FAULT_SIZE + 32];
	int rc = name->given ? chi_load_give_fide(apply->load, ours[name->id - 1], name->fide,
						  apply->fault)
			     : CHI_OK;
	if (rc < 0 || name->root == 0) {
		return rc < 0 ? rc : CHI_OK;
	}
	if (name->root > apply->n_names[name->kind]) {
		return chi_fail(apply->fault, -CHI_ESYNTAX,
				"%s is damaged: there is no name %" PRIu32, apply->other->name,
				name->root);
	}
	rc = chi_load_alias(apply->load, (enum chi_name_kind)name->kind, ours[name->id - 1],
			    ours[name->root - 1], apply->fault);
	if (rc == -CHI_EINVAL) {
		(void)snprintf(text, sizeof(text), "an alias is left out: %s", apply->fault->text);
		tell_merged(apply, 0, text);
		apply->fault->text[0] = '\0';
	}
	return rc < 0 && rc != -CHI_EINVAL ? rc : CHI_OK;
}

static int store_archive(struct chi_merge_apply *apply, struct chi_fault *fault)
{
	struct chi_other *other = apply->other;
	if (apply->importer->keep != CHI_KEEP_GAMES) {
		return CHI_OK;
	}
	int rc = chi_other_names(other, take_dump_name, apply, fault);
	rc = rc == CHI_OK ? chi_load_archived(apply->load, fault) : rc;
	rc = rc == CHI_OK ? chi_other_names(other, join_name, apply, fault) : rc;
	return rc == CHI_OK ? chi_other_archive(other, &apply->plan, apply->load, fault) : rc;
}

int chi_merge_games(struct chi_merge_apply *apply, struct chi_fault *fault)
{
	struct chi_other *other = apply->other;
	bool kept = chi_other_keeps(other);
	apply->fault = fault;
	int rc = chi_plan_carried(apply->importer, other->view.last, &apply->plan, fault);
	rc = rc == CHI_OK ? chi_other_each(other, look_up_game, apply, fault) : rc;
	rc = rc == CHI_OK ? judge_common(apply, fault) : rc;
	rc = rc == CHI_OK ? number_games(apply, fault) : rc;
	rc = rc == CHI_OK ? chi_other_each(other, add_game, apply, fault) : rc;
	rc = rc == CHI_OK && kept ? store_archive(apply, fault) : rc;
	apply->result->games = apply->result->taken;
	/* Lists of games are there to be read: only what games say that are known is not. */
	return rc == CHI_OK && kept && apply->subtract
		       ? chi_other_known(other, &apply->plan, &apply->lists, fault)
		       : rc;
}

/* ---- Gamesets ------------------------------------------------------------------------------- */

static int take_gameset(void *context, const struct chi_dump_text *name,
			const struct chi_dump_text *filter)
{
	struct chi_merge_apply *apply = context;
	int rc = chi_load_gameset(apply->load, name->at, name->len, filter->at, filter->len,
				  apply->fault);
	if (rc == -CHI_EEXIST) {
		tell_merged(apply, 0, apply->fault->text);
		apply->fault->text[0] = '\0';
	}
	return rc < 0 && rc != -CHI_EEXIST ? rc : CHI_OK;
}

int chi_merge_gamesets(struct chi_merge_apply *apply, struct chi_fault *fault)
{
	apply->fault = fault;
	return apply->importer->keep == CHI_KEEP_GAMES
		       ? chi_other_gamesets(apply->other, take_gameset, apply, fault)
		       : CHI_OK;
}
