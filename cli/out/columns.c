/* SPDX-License-Identifier: MIT */
/* Each column is a function from a row to a cell; how a cell is written is the form's. */
#include "cli/out/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/record.h"
#include "base/wire.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/openings/openings.h"
#include "cli/out/export_text.h"
#include "cli/out/output.h"
#include "cli/out/record.h"

#define CELL_TEXT_SIZE CHI_FEN_SIZE

/* A longer name of an opening does not exist; each byte may become six. */
#define JSON_TEXT_SIZE 1024

struct shown {
	const struct columns *columns;
	const struct chi_row *row;
	const struct chi_record *record; /* empty if the columns want none */
	const struct chi_eval *eval;	 /* its deepest evaluation, or NULL */
	struct chi_position position;
};

struct cell {
	bool known;
	bool is_number;
	const char *text; /* or in `own` */
	size_t len;
	char own[CELL_TEXT_SIZE];
};

static void set_text(struct cell *cell, const char *text)
{
	cell->known = text != NULL;
	cell->text = text;
	cell->len = text != NULL ? strlen(text) : 0;
}

/* In `own` already. */
static void set_number(struct cell *cell, int len)
{
	cell->known = true;
	cell->is_number = true;
	cell->text = cell->own;
	cell->len = (size_t)len;
}

static void set_count(struct cell *cell, uint64_t count)
{
	set_number(cell, snprintf(cell->own, CELL_TEXT_SIZE, "%" PRIu64, count));
}

static void set_hundredths(struct cell *cell, unsigned value)
{
	set_number(cell, snprintf(cell->own, CELL_TEXT_SIZE, "%u.%02u", value / 100, value % 100));
}

static void chi2_cell(const struct shown *shown, struct cell *cell)
{
	if (shown->row->chi2 != CHI_CHI2_UNKNOWN) {
		set_hundredths(cell, shown->row->chi2);
	}
}

static void fen_cell(const struct shown *shown, struct cell *cell)
{
	(void)chi_fen_print(&shown->position, cell->own);
	set_text(cell, cell->own);
}

static void key_cell(const struct shown *shown, struct cell *cell)
{
	chi_hex_print(shown->row->key.bytes, shown->row->key.len, cell->own);
	set_text(cell, cell->own);
}

static void games_cell(const struct shown *shown, struct cell *cell)
{
	set_count(cell, games_of(&shown->row->counts));
}

static void white_cell(const struct shown *shown, struct cell *cell)
{
	set_count(cell, shown->row->counts.white);
}

static void draws_cell(const struct shown *shown, struct cell *cell)
{
	set_count(cell, shown->row->counts.draws);
}

static void black_cell(const struct shown *shown, struct cell *cell)
{
	set_count(cell, shown->row->counts.black);
}

static void other_cell(const struct shown *shown, struct cell *cell)
{
	set_count(cell, shown->row->counts.other);
}

static void score_cell(const struct shown *shown, struct cell *cell)
{
	uint16_t share = 0;
	if (shown->columns->score_is_statistic) {
		chi2_cell(shown, cell);
	} else if (chi_counts_share(&shown->row->counts, &share)) {
		set_hundredths(cell, share);
	}
}

/* As White sees it: pawns, or "#3" and "#-3". JSON has no plus. */
static void eval_cell(const struct shown *shown, struct cell *cell)
{
	const struct chi_eval *eval = shown->eval;
	if (eval == NULL) {
		return;
	}
	bool white = (eval->score > 0) == (shown->position.side == CHI_WHITE);
	unsigned size = (unsigned)abs(eval->score);
	if (eval->is_mate) {
		(void)snprintf(cell->own, CELL_TEXT_SIZE, "#%s%u", white ? "" : "-", size);
		set_text(cell, cell->own);
	} else {
		set_number(cell, snprintf(cell->own, CELL_TEXT_SIZE, "%s%u.%02u",
					  white || size == 0 ? "" : "-", size / 100, size % 100));
	}
}

static void depth_cell(const struct shown *shown, struct cell *cell)
{
	if (shown->eval != NULL) {
		set_count(cell, shown->eval->depth);
	}
}

static void engine_cell(const struct shown *shown, struct cell *cell)
{
	if (shown->eval != NULL) {
		cell->known = true;
		cell->text = shown->eval->engine;
		cell->len = shown->eval->engine_len;
	}
}

static bool is_same_engine(const struct chi_eval *a, const struct chi_eval *b)
{
	return a->engine_len == b->engine_len && memcmp(a->engine, b->engine, a->engine_len) == 0;
}

static void engines_cell(const struct shown *shown, struct cell *cell)
{
	const struct chi_eval *evals = shown->record->evals;
	uint64_t n = 0;
	for (size_t i = 0; i < shown->record->n_evals; i++) {
		n += i == 0 || !is_same_engine(&evals[i - 1], &evals[i]);
	}
	set_count(cell, n);
}

static void best_cell(const struct shown *shown, struct cell *cell)
{
	chi_move best = chi_record_best(shown->record);
	if (best != 0 && chi_movegen_is_legal(&shown->position, best)) {
		(void)chi_san_print(&shown->position, best, cell->own);
		set_text(cell, cell->own);
	}
}

static void ply_cell(const struct shown *shown, struct cell *cell)
{
	if (shown->record->n_plies > 0) {
		set_count(cell, shown->record->plies[0].ply);
	}
}

static void eco_cell(const struct shown *shown, struct cell *cell)
{
	const char *eco = NULL;
	const char *name = NULL;
	(void)chi_opening_find(&shown->row->key, &eco, &name);
	set_text(cell, eco);
}

static void opening_cell(const struct shown *shown, struct cell *cell)
{
	const char *eco = NULL;
	const char *name = NULL;
	(void)chi_opening_find(&shown->row->key, &eco, &name);
	set_text(cell, name);
}

static const struct column {
	const char *name;
	enum chi_want want;
	void (*fill)(const struct shown *shown, struct cell *cell);
} table[] = {
	{"chi2", CHI_WANT_KEYS, chi2_cell},
	{"fen", CHI_WANT_KEYS, fen_cell},
	{"key", CHI_WANT_KEYS, key_cell},
	{"games", CHI_WANT_COUNTS, games_cell},
	{"white", CHI_WANT_COUNTS, white_cell},
	{"draws", CHI_WANT_COUNTS, draws_cell},
	{"black", CHI_WANT_COUNTS, black_cell},
	{"other", CHI_WANT_COUNTS, other_cell},
	{"score", CHI_WANT_COUNTS, score_cell},
	{"eval", CHI_WANT_RECORDS, eval_cell},
	{"depth", CHI_WANT_RECORDS, depth_cell},
	{"engine", CHI_WANT_RECORDS, engine_cell},
	{"engines", CHI_WANT_RECORDS, engines_cell},
	{"best", CHI_WANT_RECORDS, best_cell},
	{"ply", CHI_WANT_RECORDS, ply_cell},
	{"eco", CHI_WANT_KEYS, eco_cell},
	{"opening", CHI_WANT_KEYS, opening_cell},
};

/* Where the name of so many bytes is in the table, or its length. */
static size_t find_column(const char *name, size_t len)
{
	size_t i = 0;
	while (i < CHI_COUNT(table) &&
	       (strlen(table[i].name) != len || strncmp(table[i].name, name, len) != 0)) {
		i++;
	}
	return i;
}

int columns_take(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct columns columns = {.n = 0};
	const char *at = value;
	for (;;) {
		size_t len = strcspn(at, ",");
		size_t found = find_column(at, len);
		if (found == CHI_COUNT(table)) {
			return cli_usage(cli,
					 "--%s: '%.*s' is none of the columns that "
					 "'chistore scan --help' lists",
					 option->name, (int)(len < 32 ? len : 32), at);
		}
		if (columns.n == COLUMNS_MAX) {
			return cli_usage(cli, "--%s: more than %d columns", option->name,
					 COLUMNS_MAX);
		}
		columns.shown[columns.n++] = (uint8_t)found;
		columns.want = table[found].want > columns.want ? table[found].want : columns.want;
		if (at[len] == '\0') {
			break;
		}
		at += len + 1;
	}
	*(struct columns *)out = columns;
	return EXIT_DONE;
}

int columns_ready(struct cli *cli, struct columns *columns)
{
	struct chi_info info;
	for (size_t i = 0; i < columns->n; i++) {
		if (table[columns->shown[i]].fill == score_cell) {
			int status = chi_get_info(cli->client, &info);
			if (status != CHI_OK) {
				return cli_fail(cli->client, status);
			}
			columns->score_is_statistic = info.statistic == CHI_STATISTIC_SCORE;
		}
	}
	return EXIT_DONE;
}

void columns_head(FILE *file, const struct columns *columns, enum columns_form form)
{
	for (size_t i = 0; form != COLUMNS_JSON && i < columns->n; i++) {
		bool last = i + 1 == columns->n;
		fprintf(file, "%s%c", table[columns->shown[i]].name,
			last		      ? '\n'
			: form == COLUMNS_CSV ? ','
					      : '\t');
	}
}

static int print_json(FILE *file, const char *name, const struct cell *cell)
{
	uint8_t bytes[JSON_TEXT_SIZE];
	struct chi_writer w = chi_writer_of(bytes, sizeof(bytes));
	int status = CHI_OK;
	fprintf(file, "\"%s\":", name);
	if (!cell->known) {
		chi_write_bytes(&w, "null", 4);
	} else if (cell->is_number) {
		chi_write_bytes(&w, cell->text, cell->len);
	} else {
		status = record_put_string(&w, cell->text, cell->len);
	}
	(void)fwrite(bytes, 1, (size_t)(w.at - bytes), file);
	return status == CHI_OK && w.bad ? -CHI_EINTERNAL : status;
}

/* What is not known is empty in CSV, as in a file that is imported, and a dash in a table. */
static int print_cell(FILE *file, enum columns_form form, const char *name, const struct cell *cell)
{
	if (form == COLUMNS_JSON) {
		return print_json(file, name, cell);
	}
	if (cell->known) {
		export_cell(file, form == COLUMNS_CSV ? ',' : '\t', cell->text, cell->len);
	} else if (form == COLUMNS_TABS) {
		(void)putc('-', file);
	}
	return CHI_OK;
}

int columns_row(FILE *file, const struct columns *columns, enum columns_form form,
		const struct chi_row *row, const struct chi_record *record)
{
	static const struct chi_record none;
	struct shown shown = {
		.columns = columns, .row = row, .record = record != NULL ? record : &none};
	int status = chi_key_decode(&row->key, &shown.position, NULL);
	shown.eval = chi_evals_deepest(shown.record->evals, shown.record->n_evals);
	if (status == CHI_OK && form == COLUMNS_JSON) {
		(void)putc('{', file);
	}
	for (size_t i = 0; status == CHI_OK && i < columns->n; i++) {
		const struct column *column = &table[columns->shown[i]];
		struct cell cell;
		cell.known = false;
		cell.is_number = false;
		column->fill(&shown, &cell);
		if (i > 0) {
			(void)putc(form == COLUMNS_TABS ? '\t' : ',', file);
		}
		status = print_cell(file, form, column->name, &cell);
	}
	fputs(form == COLUMNS_JSON ? "}\n" : "\n", file);
	return status;
}
