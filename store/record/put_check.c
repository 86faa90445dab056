/* SPDX-License-Identifier: MIT */
/*
 * Checking puts where they enter: everything that the stored record is not needed for. The one
 * writer then only merges, and what a stranger sent can fail nobody else's batch.
 */
#include "base/fault.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/statistic.h"
#include "store/record/record_priv.h"
#include "store/env/env_priv.h"

#define ALL_PARTS                                                                                  \
	(CHI_PUT_CHI2 | CHI_PUT_COUNTS | CHI_PUT_ADD | CHI_PUT_MOVES | CHI_PUT_LINE |              \
	 CHI_PUT_NOTE | CHI_PUT_EVALS | CHI_PUT_RESTORE | CHI_PUT_SUBTRACT)

/* Which parts go together, and with the store's kind of statistic. */
static int check_parts(const struct chi_put *put, enum chi_statistic statistic,
		       struct chi_fault *fault)
{
	uint32_t parts = put->parts;
	if ((parts & ~(uint32_t)ALL_PARTS) != 0) {
		return chi_fault(fault, -CHI_EINVAL, "unknown parts %#x",
				 parts & ~(uint32_t)ALL_PARTS);
	}
	if ((parts & CHI_PUT_RESTORE) != 0 && parts != CHI_PUT_RESTORE) {
		return chi_fault(fault, -CHI_EINVAL, "a restored record takes no other parts");
	}
	if ((parts & CHI_PUT_SUBTRACT) != 0 && parts != CHI_PUT_SUBTRACT) {
		return chi_fault(fault, -CHI_EINVAL, "a subtraction takes no other parts");
	}
	if ((parts & CHI_PUT_ADD) != 0 && (parts & (CHI_PUT_COUNTS | CHI_PUT_MOVES)) != 0) {
		return chi_fault(fault, -CHI_EINVAL,
				 "counts and moves can be set or added, not both");
	}
	if ((parts & CHI_PUT_CHI2) != 0 && statistic != CHI_STATISTIC_EXTERNAL) {
		return chi_fault(fault, -CHI_EINVAL,
				 "the store computes its statistic (%s); it cannot be given",
				 chi_statistic_name((int)statistic));
	}
	if ((parts & (CHI_PUT_CHI2 | CHI_PUT_RESTORE)) != 0 && put->record.chi2 > CHI_CHI2_MAX) {
		return chi_fault(fault, -CHI_EINVAL, "statistic %u is over 255.99",
				 put->record.chi2);
	}
	return CHI_OK;
}

/* A sum that overflowed would make a record that no reader accepts. */
static int check_counts(const struct chi_counts *counts, const char *what, struct chi_fault *fault)
{
	uint64_t total;
	if (!chi_counts_total(counts, &total)) {
		return chi_fault(fault, -CHI_EINVAL, "%s: the counts' sum does not fit", what);
	}
	return CHI_OK;
}

/* Ascending moves are what the record stores: sorting here would hide the one who does not know
 * it, and cost everybody. */
static int check_played(const struct chi_position *position, const struct chi_record *record,
			struct chi_fault *fault)
{
	if (record->n_moves > CHI_MOVES_MAX) {
		return chi_fault(fault, -CHI_ETOOBIG, "moves: %zu are more than %d",
				 record->n_moves, CHI_MOVES_MAX);
	}
	for (size_t i = 0; i < record->n_moves; i++) {
		const struct chi_move_stat *stat = &record->moves[i];
		if (i > 0 && stat->move <= record->moves[i - 1].move) {
			return chi_fault(fault, -CHI_EINVAL, "moves: not in ascending order");
		}
		if (!chi_movegen_is_legal(position, stat->move)) {
			return chi_fault(fault, -CHI_EMOVE, "moves: move %zu (%#x) is not legal",
					 i + 1, stat->move);
		}
		int rc = check_counts(&stat->counts, "moves", fault);
		if (rc < 0) {
			return rc;
		}
	}
	return CHI_OK;
}

/* Where no counts are given, plies would be silently lost. */
static int check_plies(const struct chi_record *record, bool counts_given, struct chi_fault *fault)
{
	if (!counts_given) {
		return record->n_plies == 0
			       ? CHI_OK
			       : chi_fault(fault, -CHI_EINVAL, "plies: given without counts");
	}
	uint64_t left = 0;
	(void)chi_counts_total(&record->counts, &left);
	for (size_t i = 0; i < record->n_plies; i++) {
		const struct chi_ply_stat *stat = &record->plies[i];
		if (stat->ply > CHI_PLY_MAX) {
			return chi_fault(fault, -CHI_EINVAL, "plies: ply %u is over %d", stat->ply,
					 CHI_PLY_MAX);
		}
		if (i > 0 && stat->ply <= record->plies[i - 1].ply) {
			return chi_fault(fault, -CHI_EINVAL, "plies: not in ascending order");
		}
		if (stat->games == 0 || stat->games > left) {
			return chi_fault(fault, -CHI_EINVAL, "plies: ply %u has %s", stat->ply,
					 stat->games == 0 ? "no games"
							  : "more games than the counts hold");
		}
		left -= stat->games;
	}
	return CHI_OK;
}

/* The moves of a line or a variation, under the name that the fault shall give it. */
static int check_line(const struct chi_position *position, const chi_move *moves, size_t n,
		      size_t max, const char *what, struct chi_fault *fault)
{
	if (n > max) {
		return chi_fault(fault, -CHI_ETOOBIG, "%s: %zu moves are more than %zu", what, n,
				 max);
	}
	struct chi_fault detail = {.text = ""};
	int rc = chi_line_check(position, moves, n, &detail);
	return rc < 0 ? chi_fault(fault, rc, "%s: %s", what, detail.text) : CHI_OK;
}

/* The name's bytes are looked at only up to the limit: it may be as long as the sender liked. */
static int check_eval(const struct chi_position *position, const struct chi_eval *eval,
		      struct chi_fault *fault)
{
	if (eval->engine_len == 0 || (eval->engine_len <= CHI_ENGINE_MAX &&
				      !chi_record_text_ok(eval->engine, eval->engine_len, true))) {
		return chi_fault(fault, -CHI_EINVAL,
				 "evaluation: the engine's name is empty or not plain UTF-8");
	}
	if (eval->engine_len > CHI_ENGINE_MAX) {
		return chi_fault(fault, -CHI_ETOOBIG,
				 "evaluation: the engine's name is over %d bytes", CHI_ENGINE_MAX);
	}
	if (eval->depth > EVAL_DEPTH_MAX) {
		return chi_fault(fault, -CHI_EINVAL, "evaluation: depth %u is over %d", eval->depth,
				 EVAL_DEPTH_MAX);
	}
	int32_t most = eval->is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	if (eval->score > most || eval->score < -most) {
		return chi_fault(fault, -CHI_EINVAL, "evaluation: score %d is out of range",
				 eval->score);
	}
	return check_line(position, eval->pv, eval->n_pv, CHI_PV_MAX,
			  "evaluation: principal variation", fault);
}

/* Merging takes evaluations in any order, the later of one engine winning; restoring takes a record
 * as it will be stored. */
static int check_evals(const struct chi_position *position, const struct chi_record *record,
		       bool sorted, struct chi_fault *fault)
{
	if (record->n_evals > CHI_EVALS_MAX) {
		return chi_fault(fault, -CHI_ETOOBIG, "evaluations: %zu are more than %d",
				 record->n_evals, CHI_EVALS_MAX);
	}
	for (size_t i = 0; i < record->n_evals; i++) {
		int rc = check_eval(position, &record->evals[i], fault);
		if (rc < 0) {
			return rc;
		}
		if (sorted && i > 0 &&
		    chi_engine_compare(&record->evals[i - 1], &record->evals[i]) >= 0) {
			return chi_fault(fault, -CHI_EINVAL,
					 "evaluations: not in ascending order of engines");
		}
	}
	return CHI_OK;
}

static int check_note(const struct chi_record *record, struct chi_fault *fault)
{
	if (record->n_note > CHI_NOTE_MAX) {
		return chi_fault(fault, -CHI_ETOOBIG, "note: %zu bytes are more than %d",
				 record->n_note, CHI_NOTE_MAX);
	}
	if (record->n_note > 0 && !chi_record_text_ok(record->note, record->n_note, false)) {
		return chi_fault(fault, -CHI_EINVAL, "note: not UTF-8, or holds a NUL");
	}
	return CHI_OK;
}

/* A control store's statistic follows from the position, also in a dump. */
static int check_restored(const struct chi_position *position, const struct chi_put *put,
			  enum chi_statistic statistic, struct chi_fault *fault)
{
	if (put->parts == CHI_PUT_RESTORE && statistic == CHI_STATISTIC_CONTROL) {
		unsigned chi2 = chi_statistic_control(position);
		if (put->record.chi2 != chi2) {
			return chi_fault(fault, -CHI_EINVAL,
					 "statistic %u is not the position's control statistic, %u "
					 "hundredths",
					 put->record.chi2, chi2);
		}
	}
	return CHI_OK;
}

int chi_put_check(const struct chi_put *put, enum chi_statistic statistic, struct chi_fault *fault)
{
	int rc = check_parts(put, statistic, fault);
	if (rc < 0) {
		return rc;
	}
	struct chi_position position;
	rc = chi_key_decode(&put->key, &position, fault);
	if (rc < 0) {
		return rc;
	}
	const struct chi_record *record = &put->record;
	bool all = put->parts == CHI_PUT_RESTORE;
	uint32_t games = CHI_PUT_ADD | CHI_PUT_SUBTRACT;
	bool counts = all || (put->parts & (CHI_PUT_COUNTS | games)) != 0;
	if (counts) {
		rc = check_counts(&record->counts, "counts", fault);
	}
	if (rc == CHI_OK) {
		rc = check_plies(record, counts, fault);
	}
	if (rc == CHI_OK && (all || (put->parts & (CHI_PUT_MOVES | games)) != 0)) {
		rc = check_played(&position, record, fault);
	}
	if (rc == CHI_OK && (all || (put->parts & CHI_PUT_LINE) != 0)) {
		rc = check_line(&position, record->line, record->n_line, CHI_LINE_MAX, "line",
				fault);
	}
	if (rc == CHI_OK && (all || (put->parts & CHI_PUT_EVALS) != 0)) {
		rc = check_evals(&position, record, all, fault);
	}
	if (rc == CHI_OK && (all || (put->parts & CHI_PUT_NOTE) != 0)) {
		rc = check_note(record, fault);
	}
	return rc == CHI_OK ? check_restored(&position, put, statistic, fault) : rc;
}
