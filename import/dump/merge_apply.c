/* SPDX-License-Identifier: MIT */
/*
 * Merging at the commit, in one write transaction: first the games, since they decide whether the
 * stores may be merged at all and what the base rates are, then the positions in the order of
 * their keys. What is stored already is read in a snapshot that shows the same as the transaction
 * did at its start: no position comes twice.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/record.h"
#include "import/dump/merge.h"

/* Steps between two looks at whether to go on. */
#define CHECK_EVERY 1024

/* Games counted in both stores that are named. */
#define COMMON_TOLD 1000

struct apply {
	struct chi_importer *importer;
	struct chi_merging *merging;
	struct chi_import_result *result;
	struct chi_write *write;
	struct chi_read *read;
	struct chi_dump_reader reader; /* reads the lines again */
	struct chi_arena arena;	       /* of one position: theirs and ours */
	bool skip_counts;	       /* all games of theirs are counted here already */
};

static void apply_deinit(struct apply *apply)
{
	if (apply->read != NULL) {
		chi_read_end(apply->read);
	}
	chi_write_abort(apply->write);
	chi_arena_deinit(&apply->arena);
}

/* Tells how far it is, and whether someone asked to give up. */
static int look_up(const struct apply *apply, const char *phase, uint64_t done, uint64_t total,
		   struct chi_fault *fault)
{
	if (done % CHECK_EVERY != 0) {
		return CHI_OK;
	}
	if (chi_importer_canceled(apply->importer)) {
		return chi_fault_plain(fault, -CHI_ECANCELED);
	}
	chi_importer_progress(apply->importer, phase, done, total);
	return CHI_OK;
}

/* From here on what was put by is read, from its start. */
static int read_again(FILE *file, struct chi_fault *fault)
{
	return fflush(file) == 0 && fseek(file, 0, SEEK_SET) == 0
		       ? CHI_OK
		       : chi_merging_fault(fault, "keep");
}

/* The next game put by; CHI_NONE after the last. */
static int next_game(struct apply *apply, struct chi_game_id *out, struct chi_fault *fault)
{
	FILE *games = apply->merging->games;
	if (fread(out, sizeof(*out), 1, games) == 1) {
		return CHI_OK;
	}
	return feof(games) != 0 ? CHI_NONE : chi_merging_fault(fault, "read");
}

static bool is_ours(struct apply *apply, const struct chi_game_id *game, int *rc)
{
	struct chi_game_id ours;
	*rc = chi_read_game_id(apply->read, game->id, &ours);
	return *rc == CHI_OK;
}

/* Names the game as a dump does. */
static void tell_common(const struct apply *apply, const struct chi_game_id *game, uint64_t number)
{
	static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*"};
	const struct chi_import_options *options = &apply->importer->options;
	char id[2 * CHI_GAME_ID_SIZE + 1];
	char text[128];
	struct chi_import_note note = {.file = "", .game = number, .text = text};
	if (options->report == NULL || apply->result->known > COMMON_TOLD) {
		return;
	}
	chi_hex_print(game->id, CHI_GAME_ID_SIZE, id);
	(void)snprintf(text, sizeof(text), "%s (%s) is counted in both stores", id,
		       game->result < CHI_COUNT(results) ? results[game->result] : "?");
	options->report(options->context, &note);
}

/* A store keeps the identity of a game and not its moves: which positions would count it twice is
 * not known. So it is all or none of them, unless it is to be so. */
static int judge_common(struct apply *apply, struct chi_fault *fault)
{
	const struct chi_import_options *options = &apply->importer->options;
	uint64_t common = apply->result->known;
	uint64_t all = apply->merging->n_games;
	if (common == 0 || options->count_twice) {
		return CHI_OK;
	}
	if (options->skip_known && common == all) {
		apply->skip_counts = true;
		return CHI_OK;
	}
	return chi_fault(fault, -CHI_EEXIST,
			 options->skip_known
				 ? "%" PRIu64 " of its %" PRIu64
				   " games are counted in both stores, and no store keeps which "
				   "positions they reached: import the games' PGN, of which those "
				   "that are counted are skipped"
				 : "%" PRIu64 " of its %" PRIu64
				   " games are counted in both stores; subtract them from one "
				   "first",
			 common, all);
}

static int find_common_games(struct apply *apply, struct chi_fault *fault)
{
	struct chi_game_id game;
	uint64_t done = 0;
	int rc = read_again(apply->merging->games, fault);
	while (rc == CHI_OK && (rc = next_game(apply, &game, fault)) == CHI_OK) {
		done++;
		if (is_ours(apply, &game, &rc)) {
			apply->result->known++;
			tell_common(apply, &game, done);
		}
		if (rc < 0) {
			return chi_fault_plain(fault, rc);
		}
		rc = look_up(apply, "games", done - 1, apply->merging->n_games, fault);
	}
	return rc == CHI_NONE ? judge_common(apply, fault) : rc;
}

/* Those that are not ours. */
static int add_games(struct apply *apply, struct chi_counts *totals, struct chi_fault *fault)
{
	struct chi_game_id game;
	uint64_t done = 0;
	int rc = read_again(apply->merging->games, fault);
	while (rc == CHI_OK && (rc = next_game(apply, &game, fault)) == CHI_OK) {
		if (is_ours(apply, &game, &rc)) {
			continue;
		}
		rc = rc < 0 ? rc : chi_write_game_id(apply->write, &game);
		if (rc != CHI_OK) {
			/* CHI_NONE: the dump names a game twice. */
			return rc < 0 ? chi_fault_plain(fault, rc)
				      : chi_fault(fault, -CHI_ESYNTAX,
						  "the dump names a game twice");
		}
		++*chi_counts_of(totals, game.result);
		apply->result->taken++;
		rc = look_up(apply, "games", ++done, apply->merging->n_games, fault);
	}
	apply->result->games = apply->result->taken;
	return rc == CHI_NONE ? CHI_OK : rc;
}

static uint64_t total_of(const struct chi_counts *c)
{
	return c->white + c->draws + c->black + c->other;
}

/* Of the games counted afterwards, where any came, as an import does it; where both stores were
 * filled without games, of what either was compared with. */
static int set_base(struct apply *apply, const struct chi_info *info,
		    const struct chi_counts *totals, struct chi_fault *fault)
{
	const struct chi_counts *theirs = &apply->reader.head.base;
	struct chi_counts base = *totals;
	if (apply->merging->n_games == 0 && total_of(totals) > 0) {
		return CHI_OK;
	}
	if (total_of(totals) == 0) {
		base = info->base;
		if (!chi_counts_add(&base, theirs)) {
			return chi_fault(fault, -CHI_ETOOBIG, "the base rates' sum does not fit");
		}
	}
	int rc = chi_write_base(apply->write, &base);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

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
static int choose_evals(struct apply *apply, const struct chi_record *ours, struct chi_put *put)
{
	struct chi_record *theirs = &put->record;
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
	put->parts |= n > 0 ? CHI_PUT_EVALS : 0;
	return CHI_OK;
}

/* Ours stays; theirs fills what is empty. */
static void choose_texts(struct apply *apply, const struct chi_record *ours, struct chi_put *put)
{
	const struct chi_record *theirs = &put->record;
	if (theirs->n_note > 0 && ours->n_note == 0) {
		put->parts |= CHI_PUT_NOTE;
	} else if (theirs->n_note > 0 && (theirs->n_note != ours->n_note ||
					  memcmp(theirs->note, ours->note, ours->n_note) != 0)) {
		apply->result->dropped++;
	}
	if (theirs->n_line > 0 && ours->n_line == 0) {
		put->parts |= CHI_PUT_LINE;
	} else if (theirs->n_line > 0 &&
		   (theirs->n_line != ours->n_line ||
		    memcmp(theirs->line, ours->line, ours->n_line * sizeof(*ours->line)) != 0)) {
		apply->result->dropped++;
	}
}

/* Games of theirs that are all counted here cannot have left more there than here. */
static bool explained(const struct chi_counts *ours, const struct chi_counts *theirs)
{
	return theirs->white <= ours->white && theirs->draws <= ours->draws &&
	       theirs->black <= ours->black && theirs->other <= ours->other;
}

/* From a record that was to replace ours to what is to be added to it. */
static int choose(struct apply *apply, struct chi_put *put, struct chi_fault *fault)
{
	struct chi_record ours = {0};
	int rc = chi_read_record(apply->read, &put->key, &apply->arena, &ours);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	const struct chi_record *theirs = &put->record;
	put->parts = 0;
	bool counted = total_of(&theirs->counts) > 0 || theirs->n_moves > 0;
	if (counted && !apply->skip_counts) {
		put->parts |= CHI_PUT_ADD;
	} else if (counted && !explained(&ours.counts, &theirs->counts)) {
		return chi_fault(fault, -CHI_EEXIST,
				 "line %" PRIu64 ": the position has more games than those "
				 "counted in both stores can tell of",
				 apply->reader.line);
	}
	/* A statistic of another kind is another number. */
	if (apply->importer->statistic == CHI_STATISTIC_EXTERNAL &&
	    apply->reader.head.statistic == CHI_STATISTIC_EXTERNAL &&
	    theirs->chi2 != CHI_CHI2_UNKNOWN && ours.chi2 == CHI_CHI2_UNKNOWN) {
		put->parts |= CHI_PUT_CHI2;
	}
	choose_texts(apply, &ours, put);
	rc = choose_evals(apply, &ours, put);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* Names the position that could not be merged. */
static int put_fault(const struct apply *apply, int rc, struct chi_fault *fault)
{
	return chi_fault(fault, rc, "line %" PRIu64 ": cannot be merged with what is stored (%s)",
			 apply->reader.line, chi_strerror(rc));
}

/* One line: of the head, or of a position. */
static int apply_line(struct apply *apply, const char *line, size_t len, struct chi_fault *fault)
{
	enum chi_dump_line kind = CHI_DUMP_HEAD;
	struct chi_put put;
	chi_arena_reset(&apply->arena);
	int rc = chi_dump_read(&apply->reader, line, len, &apply->arena, &kind, &put, fault);
	if (rc != CHI_OK || kind != CHI_DUMP_POSITION) {
		return rc;
	}
	rc = choose(apply, &put, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_write_put(apply->write, &put, &apply->result->positions);
	return rc < 0 ? put_fault(apply, rc, fault) : CHI_OK;
}

static int apply_lines(struct apply *apply, struct chi_fault *fault)
{
	struct chi_merging *merging = apply->merging;
	uint64_t done = 0;
	ssize_t len = 0;
	int rc = read_again(merging->lines, fault);
	chi_dump_reader_init(&apply->reader);
	while (rc == CHI_OK &&
	       (len = getline(&merging->kept, &merging->kept_size, merging->lines)) > 0) {
		rc = apply_line(apply, merging->kept, (size_t)len - 1, fault);
		if (rc == CHI_OK) {
			rc = look_up(apply, "positions", done++, merging->positions, fault);
		}
	}
	return rc == CHI_OK && feof(merging->lines) == 0 ? chi_merging_fault(fault, "read") : rc;
}

/* The games, and what follows from them. */
static int apply_games(struct apply *apply, struct chi_fault *fault)
{
	struct chi_info info;
	int rc = chi_store_info(apply->importer->store, &info);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	struct chi_counts totals = info.games;
	rc = find_common_games(apply, fault);
	if (rc == CHI_OK) {
		rc = add_games(apply, &totals, fault);
	}
	return rc == CHI_OK ? set_base(apply, &info, &totals, fault) : rc;
}

static int apply_all(struct apply *apply, struct chi_fault *fault)
{
	int rc = apply_games(apply, fault);
	if (rc == CHI_OK) {
		rc = apply_lines(apply, fault);
	}
	return rc == CHI_OK ? chi_importer_note(apply->importer, apply->write, apply->result, fault)
			    : rc;
}

int chi_merging_apply(struct chi_importer *importer, struct chi_merging *merging,
		      struct chi_import_result *result, struct chi_fault *fault)
{
	_cleanup_(apply_deinit) struct apply apply = {
		.importer = importer,
		.merging = merging,
		.result = result,
		.reader = merging->reader,
	};
	chi_arena_init(&apply.arena, 16 * (size_t)CHI_DUMP_LINE_MAX);
	int rc = chi_write_begin(importer->store, &apply.write, fault);
	if (rc != CHI_OK) {
		apply.write = NULL;
		return rc;
	}
	/* No one else writes now: both show the same state. */
	rc = chi_read_begin(importer->store, &apply.read);
	if (rc != CHI_OK) {
		apply.read = NULL;
		return chi_fault_plain(fault, rc);
	}
	rc = chi_importer_known(importer, apply.write, result, fault);
	if (rc == CHI_NONE) {
		rc = apply_all(&apply, fault);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	chi_read_end(apply.read);
	apply.read = NULL;
	struct chi_write *write = apply.write;
	apply.write = NULL;
	return chi_write_commit(write, fault);
}
