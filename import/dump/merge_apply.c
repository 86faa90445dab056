/* SPDX-License-Identifier: MIT */
/*
 * Merging at the commit, in one write transaction: first the games, since they decide whether the
 * stores may be merged at all and what the base rates are (merge_games.c), then the positions in
 * the order of their keys. What is stored already is read in a snapshot that shows the same as the
 * transaction did at its start: no position comes twice.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/record.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "import/dump/merge_priv.h"

/* Steps between two looks at whether to go on. */
#define CHECK_EVERY 1024

/* Sixteenths of the memory that sort the strength tree's entries. */
#define STRENGTH_SHARE 4

static void apply_deinit(struct chi_merge_apply *apply)
{
	chi_load_block_free(&apply->block);
	chi_lists_close(apply->lists);
	chi_carried_plan_deinit(&apply->plan);
	for (size_t kind = 0; kind < CHI_NAME_KINDS; kind++) {
		free(apply->names[kind]);
	}
	chi_arena_deinit(&apply->arena);
}

/* Tells how far it is, and whether someone asked to give up. */
static int tell_progress(const struct chi_merge_apply *apply, uint64_t done,
			 struct chi_fault *fault)
{
	return done % CHECK_EVERY == 0 ? chi_importer_check(apply->importer, "positions", done,
							    apply->other->info.positions, fault)
				       : CHI_OK;
}

/* ---- Base rates ----------------------------------------------------------------------------- */

static uint64_t total_of(const struct chi_counts *c)
{
	return c->white + c->draws + c->black + c->other;
}

/* Of the games counted afterwards, where any came, as an import does it; where both stores were
 * filled without games, of what either was compared with. */
static int set_base(struct chi_merge_apply *apply, const struct chi_info *info,
		    struct chi_fault *fault)
{
	struct chi_counts base = apply->totals;
	if (apply->games == 0 && total_of(&base) > 0) {
		return CHI_OK;
	}
	if (total_of(&base) == 0) {
		base = info->base;
		if (!chi_counts_add(&base, &apply->other->info.base)) {
			return chi_fail(fault, -CHI_ETOOBIG, "the base rates' sum does not fit");
		}
	}
	chi_load_base(apply->load, &base);
	apply->spec.base = base;
	return CHI_OK;
}

static int start_apply(struct chi_merge_apply *apply, struct chi_fault *fault)
{
	struct chi_info info;
	int rc = chi_dir_info(apply->importer->store, &info);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	apply->totals = info.games;
	rc = chi_merge_games(apply, fault);
	rc = rc == CHI_OK ? chi_importer_start(apply->importer, apply->load,
					       apply->other->info.positions, STRENGTH_SHARE,
					       &apply->spec, fault)
			  : rc;
	/* That of the position alone; of a dump nothing is believed that can be computed. */
	apply->spec.computed = apply->other->trusted &&
			       apply->other->info.statistic == CHI_STATISTIC_CONTROL &&
			       apply->importer->statistic == CHI_STATISTIC_CONTROL;
	return rc == CHI_OK ? set_base(apply, &info, fault) : rc;
}

/* ---- Positions ------------------------------------------------------------------------------ */

static bool same_engine(const struct chi_eval *a, const struct chi_eval *b)
{
	return a->engine_len == b->engine_len && memcmp(a->engine, b->engine, a->engine_len) == 0;
}

/* The deeper evaluation stays, of equal depth the later, then ours. */
static bool ours_stays(const struct chi_record *ours, const struct chi_eval *theirs)
{
	for (size_t i = 0; i < ours->n_evals; i++) {
		const struct chi_eval *eval = &ours->evals[i];
		if (same_engine(eval, theirs)) {
			return eval->depth > theirs->depth ||
			       (eval->depth == theirs->depth && eval->date >= theirs->date);
		}
	}
	return false;
}

/* Those of theirs that win, in their order. */
static int choose_evals(struct chi_merge_apply *apply, const struct chi_record *ours,
			struct chi_record *theirs)
{
	struct chi_eval *chosen = chi_arena_array(&apply->arena, theirs->n_evals, sizeof(*chosen));
	size_t n = 0;
	if (chosen == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < theirs->n_evals; i++) {
		if (!ours_stays(ours, &theirs->evals[i])) {
			chosen[n++] = theirs->evals[i];
		}
	}
	theirs->evals = chosen;
	theirs->n_evals = n;
	return CHI_OK;
}

/* Ours stays; theirs fills what is empty, which the load sees to. */
static void count_dropped(struct chi_merge_apply *apply, const struct chi_record *ours,
			  const struct chi_record *theirs)
{
	bool note = theirs->n_note > 0 && ours->n_note > 0 &&
		    (theirs->n_note != ours->n_note ||
		     memcmp(theirs->note, ours->note, ours->n_note) != 0);
	bool line = theirs->n_line > 0 && ours->n_line > 0 &&
		    (theirs->n_line != ours->n_line ||
		     memcmp(theirs->line, ours->line, ours->n_line * sizeof(*ours->line)) != 0);
	apply->result->dropped += (uint64_t)note + line;
}

/* Games of theirs that are all counted here cannot have left more there than here. */
static bool explained(const struct chi_counts *ours, const struct chi_counts *theirs)
{
	return theirs->white <= ours->white && theirs->draws <= ours->draws &&
	       theirs->black <= ours->black && theirs->other <= ours->other;
}

/* Names the position that is merged. */
CHI_PRINTF(4, 5)
static int refuse_merged(const struct chi_merge_apply *apply, int rc, struct chi_fault *fault,
			 const char *format, ...)
{
	struct chi_position position;
	char what[CHI_FAULT_SIZE];
	char fen[CHI_FEN_SIZE] = "";
	va_list args;
	va_start(args, format);
	(void)vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (chi_key_decode(&apply->stored.key, &position, NULL) == CHI_OK) {
		(void)chi_fen_print(&position, fen);
	}
	return chi_fail(fault, rc, "position %s: %s", fen, what);
}

/* What known games account for, or all that is counted, is not added. */
static int leave_out(struct chi_merge_apply *apply, const struct chi_record *ours,
		     const struct chi_record *known, struct chi_record *theirs,
		     struct chi_fault *fault)
{
	struct chi_fault why = {.text = ""};
	if (apply->subtract && (total_of(&known->counts) > 0 || known->n_moves > 0)) {
		int rc = chi_load_less(known, &apply->arena, theirs, &why);
		return rc == -CHI_EINVAL
			       ? refuse_merged(apply, -CHI_ESYNTAX, fault,
					       "the position counts less than its games say (%s)",
					       why.text)
		       : rc < 0 ? chi_fault_plain(fault, rc)
				: CHI_OK;
	}
	if (!apply->skip_counts) {
		return CHI_OK;
	}
	if (!explained(&ours->counts, &theirs->counts)) {
		return refuse_merged(
			apply, -CHI_EEXIST, fault,
			"the position has more games than those counted in both stores can "
			"tell of");
	}
	theirs->counts = (struct chi_counts){0};
	theirs->n_moves = 0;
	theirs->n_plies = 0;
	return CHI_OK;
}

/* What becomes of it depends on what we have, or may: else the load sees to it. */
static bool asks_for_ours(const struct chi_merge_apply *apply, const struct chi_record *theirs)
{
	return apply->skip_counts || theirs->n_evals > 0 || theirs->n_line > 0 ||
	       theirs->n_note > 0;
}

static int read_ours(struct chi_merge_apply *apply, struct chi_record *ours,
		     struct chi_fault *fault)
{
	int rc = chi_read_record(apply->read, &apply->stored.key, &apply->arena, ours);
	return rc < 0 ? chi_fault_plain(fault, rc) : rc;
}

/* From a record of theirs to what is to be added to ours. */
static int choose(struct chi_merge_apply *apply, const struct chi_record *known,
		  struct chi_fault *fault)
{
	struct chi_record *theirs = &apply->stored.record;
	struct chi_record ours = {0};
	bool asks = asks_for_ours(apply, theirs);
	int rc = asks ? read_ours(apply, &ours, fault) : CHI_OK;
	rc = rc >= 0 ? leave_out(apply, &ours, known, theirs, fault) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	/* A statistic of another kind is another number. */
	if (!apply->spec.computed && (apply->importer->statistic != CHI_STATISTIC_EXTERNAL ||
				      apply->other->info.statistic != CHI_STATISTIC_EXTERNAL)) {
		theirs->chi2 = CHI_CHI2_UNKNOWN;
	}
	if (!asks) {
		return CHI_OK;
	}
	count_dropped(apply, &ours, theirs);
	rc = choose_evals(apply, &ours, theirs);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* Nothing is left of it but its name, and maybe what is computed. */
static bool is_bare(const struct chi_merge_apply *apply, const struct chi_record *record)
{
	return total_of(&record->counts) == 0 && record->n_moves == 0 && record->n_plies == 0 &&
	       record->n_evals == 0 && record->n_line == 0 && record->n_note == 0 &&
	       (record->chi2 == CHI_CHI2_UNKNOWN ||
		apply->importer->statistic != CHI_STATISTIC_EXTERNAL);
}

/* Stores what was chosen, with the list of its new games. */
static int store_position(struct chi_merge_apply *apply, struct chi_posting *games, size_t n,
			  struct chi_fault *fault)
{
	const struct chi_key *key = &apply->stored.key;
	const struct chi_record *theirs = &apply->stored.record;
	struct chi_record ours;
	int rc = CHI_OK;
	if (is_bare(apply, theirs)) {
		rc = read_ours(apply, &ours, fault);
		apply->result->positions.unchanged += rc == CHI_NONE;
		if (rc != CHI_OK) {
			return rc < 0 ? rc : CHI_OK;
		}
	}
	rc = chi_load_pack(&apply->spec, key, theirs, games, n, &apply->block);
	rc = rc == CHI_OK ? chi_load_apply(apply->load, &apply->block, fault) : rc;
	apply->block.len = 0;
	apply->block.n = 0;
	return rc < 0 ? refuse_merged(apply, rc, fault, "cannot be merged with what is stored (%s)",
				      chi_strerror(rc))
		      : CHI_OK;
}

/* The beginning of a list that is too long to be held. */
static int apply_part(void *context, struct chi_posting *games, size_t *n, uint32_t least)
{
	struct chi_merge_apply *apply = context;
	int rc = chi_load_pack_ahead(&apply->spec, &apply->stored.key, games, n, least,
				     &apply->block);
	rc = rc == CHI_OK ? chi_load_apply(apply->load, &apply->block, NULL) : rc;
	apply->block.len = 0;
	apply->block.n = 0;
	return rc;
}

static int apply_stored(struct chi_merge_apply *apply, struct chi_fault *fault)
{
	struct chi_stored *stored = &apply->stored;
	struct chi_record known = {0};
	struct chi_posting *games = NULL;
	size_t n = 0;
	int rc = apply->lists != NULL
			 ? chi_lists_reach(apply->lists, stored->key.bytes, &known, fault)
			 : CHI_OK;
	rc = rc == CHI_OK ? choose(apply, &known, fault) : rc;
	rc = rc == CHI_OK ? chi_other_list(apply->other, stored, &apply->plan, apply_part, apply,
					   &games, &n, fault)
			  : rc;
	return rc == CHI_OK ? store_position(apply, games, n, fault) : rc;
}

static int apply_other(struct chi_merge_apply *apply, struct chi_fault *fault)
{
	uint64_t done = 0;
	int rc = CHI_OK;
	while (rc == CHI_OK) {
		chi_arena_reset(&apply->arena);
		rc = chi_other_next(apply->other, &apply->arena, &apply->stored, fault);
		rc = rc == CHI_OK ? apply_stored(apply, fault) : rc;
		rc = rc == CHI_OK ? tell_progress(apply, done++, fault) : rc;
	}
	if (rc != CHI_NONE) {
		return rc;
	}
	return apply->lists != NULL ? chi_lists_end(apply->lists, fault) : CHI_OK;
}

/* ---- All ------------------------------------------------------------------------------------ */

static int fill(void *context, struct chi_load *load, struct chi_fault *fault)
{
	struct chi_merge_apply *apply = context;
	apply->load = load;
	/* No one else writes now: both show the same state. */
	int rc = chi_read_begin(apply->importer->store, &apply->read);
	if (rc != CHI_OK) {
		apply->read = NULL;
		return chi_fault_plain(fault, rc);
	}
	rc = chi_other_begin(apply->other, fault);
	rc = rc == CHI_OK ? start_apply(apply, fault) : rc;
	rc = rc == CHI_OK ? apply_other(apply, fault) : rc;
	chi_read_end(apply->read);
	return rc == CHI_OK ? chi_merge_gamesets(apply, fault) : rc;
}

int chi_merging_apply(struct chi_importer *importer, struct chi_other *other,
		      struct chi_import_result *result, struct chi_fault *fault)
{
	_cleanup_(apply_deinit) struct chi_merge_apply apply = {
		.importer = importer,
		.result = result,
		.other = other,
	};
	chi_arena_init(&apply.arena, 16 * (size_t)CHI_DUMP_LINE_MAX);
	return chi_importer_apply(importer, fill, &apply, result, fault);
}
