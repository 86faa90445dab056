/* SPDX-License-Identifier: MIT */
/* Each column makes its cell of a position's row and record. */
#include "cli/out/shown.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/record.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/openings/openings.h"
#include "cli/out/output.h"

struct shown_row {
	const struct shown *shown;
	const struct chi_row *row;
	struct chi_counts counts;
	const struct chi_record *record; /* empty if the columns want none */
	const struct chi_eval *eval;	 /* its deepest evaluation, or NULL */
	struct chi_position position;
};

static void chi2_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	if (row->row->chi2 != CHI_CHI2_UNKNOWN) {
		chi_cell_hundredths(out, row->row->chi2);
	}
}

static void fen_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	(void)chi_fen_print(&row->position, out->own);
	chi_cell_name(out, out->own);
}

static void key_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	chi_hex_print(row->row->key.bytes, row->row->key.len, out->own);
	chi_cell_name(out, out->own);
}

static void games_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	chi_cell_count(out, games_of(&row->counts));
}

/* Deviations beyond what the ratings let expect. */
static void performance_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	if (row->shown->statistic == CHI_STATISTIC_PERFORMANCE &&
	    row->row->chi2 != CHI_CHI2_UNKNOWN) {
		chi_cell_hundredths(out, row->row->chi2 - CHI_PERFORMANCE_EVEN);
	}
}

static void score_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	uint16_t share = 0;
	if (row->shown->statistic == CHI_STATISTIC_SCORE) {
		chi2_cell(row, out);
	} else if (chi_counts_share(&row->counts, &share)) {
		chi_cell_hundredths(out, share);
	}
}

/* As White sees it: pawns, or "#3" and "#-3". JSON has no plus. */
static void eval_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	const struct chi_eval *eval = row->eval;
	if (eval == NULL) {
		return;
	}
	bool white = (eval->score > 0) == (row->position.side == CHI_WHITE);
	unsigned size = (unsigned)abs(eval->score);
	if (eval->is_mate) {
		(void)snprintf(out->own, sizeof(out->own), "#%s%u", white ? "" : "-", size);
		chi_cell_name(out, out->own);
	} else {
		chi_cell_hundredths(out, white ? (int32_t)size : -(int32_t)size);
	}
}

static void depth_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	if (row->eval != NULL) {
		chi_cell_count(out, row->eval->depth);
	}
}

static void engine_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	if (row->eval != NULL) {
		chi_cell_text(out, row->eval->engine, row->eval->engine_len);
	}
}

static bool is_same_engine(const struct chi_eval *a, const struct chi_eval *b)
{
	return a->engine_len == b->engine_len && memcmp(a->engine, b->engine, a->engine_len) == 0;
}

static void engines_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	const struct chi_eval *evals = row->record->evals;
	uint64_t n = 0;
	for (size_t i = 0; i < row->record->n_evals; i++) {
		n += i == 0 || !is_same_engine(&evals[i - 1], &evals[i]);
	}
	chi_cell_count(out, n);
}

static void best_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	chi_move best = chi_record_best(row->record);
	if (best != 0 && chi_movegen_is_legal(&row->position, best)) {
		(void)chi_san_print(&row->position, best, out->own);
		chi_cell_name(out, out->own);
	}
}

static void ply_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	if (row->record->n_plies > 0) {
		chi_cell_count(out, row->record->plies[0].ply);
	}
}

static void eco_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	const char *eco = NULL;
	const char *name = NULL;
	(void)chi_opening_find(&row->row->key, &eco, &name);
	chi_cell_name(out, eco);
}

static void opening_cell(const void *at, struct chi_cell *out)
{
	const struct shown_row *row = at;
	const char *eco = NULL;
	const char *name = NULL;
	(void)chi_opening_find(&row->row->key, &eco, &name);
	chi_cell_name(out, name);
}

static const struct {
	struct chi_row_column column;
	enum chi_want want;
} table[] = {
	{COLUMN_MADE("chi2", chi2_cell), CHI_WANT_KEYS},
	{COLUMN_MADE("fen", fen_cell), CHI_WANT_KEYS},
	{COLUMN_MADE("key", key_cell), CHI_WANT_KEYS},
	{COLUMN_MADE("games", games_cell), CHI_WANT_COUNTS},
	{COLUMN(SHOW_COUNT, struct shown_row, counts.white, "white"), CHI_WANT_COUNTS},
	{COLUMN(SHOW_COUNT, struct shown_row, counts.draws, "draws"), CHI_WANT_COUNTS},
	{COLUMN(SHOW_COUNT, struct shown_row, counts.black, "black"), CHI_WANT_COUNTS},
	{COLUMN(SHOW_COUNT, struct shown_row, counts.other, "other"), CHI_WANT_COUNTS},
	{COLUMN_MADE("score", score_cell), CHI_WANT_COUNTS},
	{COLUMN_MADE("performance", performance_cell), CHI_WANT_KEYS},
	{COLUMN_MADE("eval", eval_cell), CHI_WANT_RECORDS},
	{COLUMN_MADE("depth", depth_cell), CHI_WANT_RECORDS},
	{COLUMN_MADE("engine", engine_cell), CHI_WANT_RECORDS},
	{COLUMN_MADE("engines", engines_cell), CHI_WANT_RECORDS},
	{COLUMN_MADE("best", best_cell), CHI_WANT_RECORDS},
	{COLUMN_MADE("ply", ply_cell), CHI_WANT_RECORDS},
	{COLUMN_MADE("eco", eco_cell), CHI_WANT_KEYS},
	{COLUMN_MADE("opening", opening_cell), CHI_WANT_KEYS},
};

/* The first part of a list of names as a column more; false if it is none. */
static bool add_column(struct shown *shown, const char *name)
{
	size_t len = strcspn(name, ",");
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		const struct chi_row_column *column = &table[i].column;
		if (strlen(column->name) == len && memcmp(column->name, name, len) == 0) {
			shown->columns[shown->n++] = *column;
			shown->want = table[i].want > shown->want ? table[i].want : shown->want;
			return true;
		}
	}
	return false;
}

int shown_take(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct shown shown = {.n = 0};
	for (const char *at = value; at != NULL; at = strchr(at, ','), at += at != NULL) {
		size_t len = strcspn(at, ",");
		if (shown.n == COLUMNS_MAX) {
			return cli_usage(cli, "--%s: more than %d columns", option->name,
					 COLUMNS_MAX);
		}
		if (!add_column(&shown, at)) {
			return cli_usage(cli,
					 "--%s: '%.*s' is none of the columns that "
					 "'chistore scan --help' lists",
					 option->name, (int)(len < 32 ? len : 32), at);
		}
	}
	*(struct shown *)out = shown;
	return EXIT_DONE;
}

void shown_usual(struct shown *shown, bool counts)
{
	static const char *const names[] = {"chi2", "fen", "games", "white", "draws", "black"};
	*shown = (struct shown){.n = 0};
	for (size_t i = 0; i < (counts ? CHI_COUNT(names) : 2); i++) {
		(void)add_column(shown, names[i]);
	}
}

int shown_ready(struct cli *cli, struct shown *shown)
{
	struct chi_info info;
	for (size_t i = 0; i < shown->n; i++) {
		if (shown->columns[i].make == score_cell ||
		    shown->columns[i].make == performance_cell) {
			int status = chi_store_info(cli->client, &info);
			if (status != CHI_OK) {
				return cli_fail(cli->client, status);
			}
			shown->statistic = (enum chi_statistic)info.statistic;
		}
	}
	return EXIT_DONE;
}

void shown_head(FILE *file, const struct shown *shown, enum columns_form form)
{
	columns_head(file, form, shown->columns, shown->n);
}

int shown_print(FILE *file, const struct shown *shown, enum columns_form form,
		const struct chi_row *row, const struct chi_record *record)
{
	static const struct chi_record none;
	struct shown_row what = {.shown = shown,
				 .row = row,
				 .counts = row->counts,
				 .record = record != NULL ? record : &none};
	int status = chi_key_decode(&row->key, &what.position, NULL);
	what.eval = chi_evals_deepest(what.record->evals, what.record->n_evals);
	return status == CHI_OK ? columns_row(file, form, shown->columns, shown->n, &what) : status;
}
