/* SPDX-License-Identifier: MIT */
/* The one validator of records. Limits come before contents: what is too long is not looked at. */
#include "base/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"

#define ALL_PARTS                                                                                  \
	(CHI_PUT_CHI2 | CHI_PUT_COUNTS | CHI_PUT_ADD | CHI_PUT_MOVES | CHI_PUT_LINE |              \
	 CHI_PUT_NOTE | CHI_PUT_EVALS | CHI_PUT_RESTORE | CHI_PUT_SUBTRACT | CHI_PUT_DROP_EVALS)

/* The place is a format. */
CHI_PRINTF(4, 5)
static int refuse_record(struct chi_record_flaw *flaw, int status, const char *reason,
			 const char *where, ...)
{
	if (flaw != NULL) {
		va_list args;
		va_start(args, where);
		(void)vsnprintf(flaw->where, sizeof(flaw->where), where, args);
		va_end(args);
		flaw->reason = reason;
	}
	return status;
}

/* ---- Texts --------------------------------------------------------------------------------- */

/* C0, DEL, and C1 (U+0080..U+009F) as UTF-8 writes it. */
static bool has_controls(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		bool c1 = c == 0xc2 && i + 1 < len && (unsigned char)text[i + 1] < 0xa0;
		if (c < 0x20 || c == 0x7f || c1) {
			return true;
		}
	}
	return false;
}

/* Names of engines are printed in tables and logs, one a line. */
static int check_engine(const struct chi_eval *eval, size_t i, struct chi_record_flaw *flaw)
{
	const char *reason = NULL;
	if (eval->engine_len > CHI_ENGINE_MAX) {
		return refuse_record(flaw, -CHI_ETOOBIG, "more than 64 bytes", "evals[%zu].engine",
				     i);
	}
	if (eval->engine_len == 0) {
		reason = "missing";
	} else if (has_controls(eval->engine, eval->engine_len)) {
		reason = "control character";
	} else if (!chi_utf8_valid(eval->engine, eval->engine_len)) {
		reason = "text is not UTF-8";
	}
	return reason == NULL ? CHI_OK
			      : refuse_record(flaw, -CHI_EINVAL, reason, "evals[%zu].engine", i);
}

/* A NUL would end the note early for readers in C. */
static int check_note(const struct chi_record *record, struct chi_record_flaw *flaw)
{
	size_t len = record->n_note;
	if (len > CHI_NOTE_MAX) {
		return refuse_record(flaw, -CHI_ETOOBIG, "more than 65536 bytes", "note");
	}
	if (len > 0 && memchr(record->note, '\0', len) != NULL) {
		return refuse_record(flaw, -CHI_EINVAL, "NUL in a text", "note");
	}
	return len == 0 || chi_utf8_valid(record->note, len)
		       ? CHI_OK
		       : refuse_record(flaw, -CHI_EINVAL, "text is not UTF-8", "note");
}

/* ---- Evaluations --------------------------------------------------------------------------- */

int chi_eval_compare(const struct chi_eval *a, const struct chi_eval *b)
{
	size_t least = a->engine_len < b->engine_len ? a->engine_len : b->engine_len;
	int order = memcmp(a->engine, b->engine, least);
	if (order != 0) {
		return order;
	}
	order = (a->engine_len > b->engine_len) - (a->engine_len < b->engine_len);
	return order != 0 ? order : (int)a->rank - (int)b->rank;
}

const struct chi_eval *chi_evals_deepest(const struct chi_eval *evals, size_t n)
{
	const struct chi_eval *best = NULL;
	for (size_t i = 0; i < n; i++) {
		if (evals[i].rank == 0 &&
		    (best == NULL || evals[i].depth > best->depth ||
		     (evals[i].depth == best->depth && evals[i].date > best->date))) {
			best = &evals[i];
		}
	}
	return best;
}

chi_move chi_record_best(const struct chi_record *record)
{
	const struct chi_eval *eval = chi_evals_deepest(record->evals, record->n_evals);
	const struct chi_move_stat *best = NULL;
	uint64_t most = 0;
	if (eval != NULL && eval->n_pv > 0) {
		return eval->pv[0];
	}
	if (record->n_line > 0) {
		return record->line[0];
	}
	for (size_t i = 0; i < record->n_moves; i++) {
		uint64_t games = 0;
		if (chi_counts_total(&record->moves[i].counts, &games) && games > most) {
			most = games;
			best = &record->moves[i];
		}
	}
	return best != NULL ? best->move : 0;
}

static int check_score(const struct chi_eval *eval, size_t i, struct chi_record_flaw *flaw)
{
	int32_t max = eval->is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	if (eval->score >= -max && eval->score <= max) {
		return CHI_OK;
	}
	return refuse_record(flaw, -CHI_EINVAL, eval->is_mate ? "beyond 10000" : "beyond 1000000",
			     "evals[%zu].%s", i, eval->is_mate ? "mate" : "centipawns");
}

static int check_eval(const struct chi_record *record, size_t i, struct chi_record_flaw *flaw)
{
	const struct chi_eval *eval = &record->evals[i];
	int rc = check_engine(eval, i, flaw);
	if (rc < 0) {
		return rc;
	}
	if (eval->rank > CHI_RANK_MAX) {
		return refuse_record(flaw, -CHI_EINVAL, "over 63", "evals[%zu].rank", i);
	}
	if (i > 0 && chi_eval_compare(eval - 1, eval) >= 0) {
		return refuse_record(flaw, -CHI_EINVAL, "engines do not ascend",
				     "evals[%zu].engine", i);
	}
	if (eval->depth > CHI_DEPTH_MAX) {
		return refuse_record(flaw, -CHI_EINVAL, "over 65535", "evals[%zu].depth", i);
	}
	if (eval->n_pv > CHI_PV_MAX) {
		return refuse_record(flaw, -CHI_ETOOBIG, "more than 256 moves", "evals[%zu].pv", i);
	}
	for (size_t k = 0; k < eval->n_pv; k++) {
		if (!chi_move_possible(eval->pv[k])) {
			return refuse_record(flaw, -CHI_EINVAL, "not a move", "evals[%zu].pv[%zu]",
					     i, k);
		}
	}
	return check_score(eval, i, flaw);
}

static int check_evals(const struct chi_record *record, struct chi_record_flaw *flaw)
{
	int rc = CHI_OK;
	if (record->n_evals > CHI_EVALS_MAX) {
		return refuse_record(flaw, -CHI_ETOOBIG, "more than 64 evaluations", "evals");
	}
	for (size_t i = 0; rc == CHI_OK && i < record->n_evals; i++) {
		rc = check_eval(record, i, flaw);
	}
	return rc;
}

/* ---- Games --------------------------------------------------------------------------------- */

bool chi_counts_share(const struct chi_counts *counts, uint16_t *share)
{
	unsigned __int128 games = (unsigned __int128)counts->white + counts->draws + counts->black;
	unsigned __int128 points = (unsigned __int128)counts->white * 2 + counts->draws;
	if (games == 0) {
		return false;
	}
	*share = (uint16_t)((points * CHI_SHARE_MAX + games) / (2 * games));
	return true;
}

bool chi_counts_add(struct chi_counts *sum, const struct chi_counts *more)
{
	uint64_t a;
	uint64_t b;
	uint64_t both;
	if (!chi_counts_total(sum, &a) || !chi_counts_total(more, &b) ||
	    __builtin_add_overflow(a, b, &both)) {
		return false;
	}
	sum->white += more->white;
	sum->draws += more->draws;
	sum->black += more->black;
	sum->other += more->other;
	return true;
}

static int check_moves(const struct chi_record *record, struct chi_record_flaw *flaw)
{
	uint64_t total;
	if (record->n_moves > CHI_MOVES_MAX) {
		return refuse_record(flaw, -CHI_ETOOBIG, "more than 256 moves", "moves");
	}
	for (size_t i = 0; i < record->n_moves; i++) {
		const struct chi_move_stat *stat = &record->moves[i];
		const char *reason = NULL;
		if (!chi_move_possible(stat->move)) {
			reason = "not a move";
		} else if (i > 0 && stat->move <= record->moves[i - 1].move) {
			reason = "moves do not ascend";
		}
		if (reason != NULL) {
			return refuse_record(flaw, -CHI_EINVAL, reason, "moves[%zu].move", i);
		}
		if (!chi_counts_total(&stat->counts, &total)) {
			return refuse_record(flaw, -CHI_EINVAL, "their sum does not fit",
					     "moves[%zu].counts", i);
		}
	}
	return CHI_OK;
}

/* `left` is how many games the plies may still have. */
static int check_ply(const struct chi_ply_stat *stat, size_t i, uint64_t left,
		     struct chi_record_flaw *flaw)
{
	const char *reason = NULL;
	if (stat->ply > CHI_PLY_MAX) {
		reason = "over 4096";
	} else if (i > 0 && stat->ply <= (stat - 1)->ply) {
		reason = "plies do not ascend";
	}
	if (reason != NULL) {
		return refuse_record(flaw, -CHI_EINVAL, reason, "plies[%zu].ply", i);
	}
	if (stat->games == 0 || stat->games > left) {
		reason = stat->games == 0 ? "missing" : "more than the counts hold";
		return refuse_record(flaw, -CHI_EINVAL, reason, "plies[%zu].games", i);
	}
	return CHI_OK;
}

static int check_plies(const struct chi_ply_stat *plies, size_t n, uint64_t games,
		       struct chi_record_flaw *flaw)
{
	if (n > CHI_PLY_MAX + 1) {
		return refuse_record(flaw, -CHI_ETOOBIG, "more than 4097 plies", "plies");
	}
	for (size_t i = 0; i < n; i++) {
		int rc = check_ply(&plies[i], i, games, flaw);
		if (rc < 0) {
			return rc;
		}
		games -= plies[i].games;
	}
	return CHI_OK;
}

bool chi_plies_ok(const struct chi_ply_stat *plies, size_t n, const struct chi_counts *counts)
{
	uint64_t total;
	return chi_counts_total(counts, &total) && check_plies(plies, n, total, NULL) == CHI_OK;
}

/* ---- Records and puts ---------------------------------------------------------------------- */

static int check_line(const struct chi_record *record, struct chi_record_flaw *flaw)
{
	if (record->n_line > CHI_LINE_MAX) {
		return refuse_record(flaw, -CHI_ETOOBIG, "more than 1024 moves", "line");
	}
	for (size_t i = 0; i < record->n_line; i++) {
		if (!chi_move_possible(record->line[i])) {
			return refuse_record(flaw, -CHI_EINVAL, "not a move", "line[%zu]", i);
		}
	}
	return CHI_OK;
}

int chi_record_check(const struct chi_record *record, struct chi_record_flaw *flaw)
{
	uint64_t total = 0;
	if (record->chi2 > CHI_CHI2_MAX) {
		return refuse_record(flaw, -CHI_EINVAL, "over 25599", "chi2");
	}
	if (!chi_counts_total(&record->counts, &total)) {
		return refuse_record(flaw, -CHI_EINVAL, "their sum does not fit", "counts");
	}
	int rc = check_moves(record, flaw);
	rc = rc < 0 ? rc : check_plies(record->plies, record->n_plies, total, flaw);
	rc = rc < 0 ? rc : check_evals(record, flaw);
	rc = rc < 0 ? rc : check_line(record, flaw);
	return rc < 0 ? rc : check_note(record, flaw);
}

const char *chi_put_parts_flaw(uint32_t parts)
{
	/* A bit that is not known would silently not be stored. */
	if ((parts & ~(uint32_t)ALL_PARTS) != 0) {
		return "unknown part";
	}
	if ((parts & CHI_PUT_RESTORE) != 0 && parts != CHI_PUT_RESTORE) {
		return "RESTORE excludes all others";
	}
	if ((parts & CHI_PUT_SUBTRACT) != 0 && parts != CHI_PUT_SUBTRACT) {
		return "SUBTRACT excludes all others";
	}
	if ((parts & CHI_PUT_ADD) != 0 && (parts & (CHI_PUT_COUNTS | CHI_PUT_MOVES)) != 0) {
		return "ADD excludes COUNTS and MOVES";
	}
	if ((parts & CHI_PUT_EVALS) != 0 && (parts & CHI_PUT_DROP_EVALS) != 0) {
		return "DROP_EVALS excludes EVALS";
	}
	return NULL;
}

void chi_record_name(struct chi_record *record, uint32_t parts)
{
	const uint32_t whole = CHI_PUT_RESTORE;
	const uint32_t games = CHI_PUT_ADD | CHI_PUT_SUBTRACT | CHI_PUT_RESTORE;
	if ((parts & (CHI_PUT_CHI2 | whole)) == 0) {
		record->chi2 = CHI_CHI2_UNKNOWN;
	}
	if ((parts & (CHI_PUT_COUNTS | games)) == 0) {
		record->counts = (struct chi_counts){0};
	}
	if ((parts & (CHI_PUT_MOVES | games)) == 0) {
		record->n_moves = 0;
	}
	if ((parts & (CHI_PUT_EVALS | CHI_PUT_DROP_EVALS | whole)) == 0) {
		record->n_evals = 0;
	}
	if ((parts & (CHI_PUT_LINE | whole)) == 0) {
		record->n_line = 0;
	}
	if ((parts & (CHI_PUT_NOTE | whole)) == 0) {
		record->n_note = 0;
	}
}
