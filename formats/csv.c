/* SPDX-License-Identifier: MIT */
/*
 * CSV records. Fields are slices of the record; only quoted fields with doubled quotation marks
 * are copied.
 */
#include "formats/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/record.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "formats/checked.h"

static const char *const column_names[CHI_CSV_COLUMNS] = {
	[CHI_CSV_FEN] = "fen",	     [CHI_CSV_CHI2] = "chi2",	[CHI_CSV_WHITE] = "white",
	[CHI_CSV_DRAWS] = "draws",   [CHI_CSV_BLACK] = "black", [CHI_CSV_OTHER] = "other",
	[CHI_CSV_NOTE] = "note",     [CHI_CSV_GAMES] = "games", [CHI_CSV_LINE] = "line",
	[CHI_CSV_ENGINE] = "engine", [CHI_CSV_DEPTH] = "depth", [CHI_CSV_CP] = "cp",
	[CHI_CSV_MATE] = "mate",     [CHI_CSV_NODES] = "nodes", [CHI_CSV_PV] = "pv",
	[CHI_CSV_DATE] = "date",
};

struct field {
	const char *at;
	size_t len;
};

struct fields {
	const char *at; /* NULL after the last field */
	const char *end;
	char separator;
	size_t n; /* fields taken so far */
	struct chi_arena *arena;
	struct chi_fault *fault;
};

bool chi_csv_quotes(char separator, const char *text, size_t len, bool open)
{
	bool first = !open; /* the next byte is the first of a field: only there do quotes open */
	for (size_t i = 0; i < len; i++) {
		if (open) {
			bool doubled = text[i] == '"' && i + 1 < len && text[i + 1] == '"';
			open = text[i] != '"' || doubled;
			i += doubled ? 1 : 0;
			continue;
		}
		open = first && text[i] == '"';
		first = text[i] == separator;
	}
	return open;
}

/* A field in quotation marks; after the closing one only a separator may follow. */
static int take_quoted(struct fields *f, struct field *out)
{
	const char *start = ++f->at;
	size_t doubled = 0;
	while (f->at < f->end) {
		if (*f->at == '"' && (f->at + 1 == f->end || f->at[1] != '"')) {
			break;
		}
		doubled += *f->at == '"' ? 1 : 0;
		f->at += *f->at == '"' ? 2 : 1;
	}
	if (f->at == f->end) {
		return chi_fail(f->fault, -CHI_ESYNTAX, "field %zu: quotation mark not closed",
				f->n + 1);
	}
	*out = (struct field){.at = start, .len = (size_t)(f->at - start)};
	f->at++;
	if (f->at < f->end && *f->at != f->separator) {
		return chi_fail(f->fault, -CHI_ESYNTAX,
				"field %zu: text after its closing quotation mark", f->n + 1);
	}
	if (doubled == 0) {
		return CHI_OK;
	}
	char *copy = chi_arena_alloc(f->arena, out->len);
	if (copy == NULL) {
		return chi_fault_plain(f->fault, -CHI_ENOMEM);
	}
	size_t len = 0;
	for (size_t i = 0; i < out->len; i++) {
		copy[len++] = out->at[i];
		i += out->at[i] == '"' ? 1 : 0;
	}
	*out = (struct field){.at = copy, .len = len};
	return CHI_OK;
}

/* The next field; CHI_NONE after the last. A record has at least one, which may be empty. */
static int next_field(struct fields *f, struct field *out)
{
	if (f->at == NULL) {
		return CHI_NONE;
	}
	if (f->at < f->end && *f->at == '"') {
		int status = take_quoted(f, out);
		if (status != CHI_OK) {
			return status;
		}
	} else if (f->at < f->end && *f->at == f->separator) {
		*out = (struct field){.at = f->at}; /* many are empty */
	} else {
		const char *stop = memchr(f->at, f->separator, (size_t)(f->end - f->at));
		stop = stop != NULL ? stop : f->end;
		*out = (struct field){.at = f->at, .len = (size_t)(stop - f->at)};
		f->at = stop;
	}
	f->n++;
	f->at = f->at < f->end ? f->at + 1 : NULL;
	return CHI_OK;
}

/* Spaces around a cell mean nothing; only a note keeps its own. */
static struct field trim(struct field field)
{
	while (field.len > 0 && (field.at[0] == ' ' || field.at[0] == '\t')) {
		field.at++;
		field.len--;
	}
	while (field.len > 0 &&
	       (field.at[field.len - 1] == ' ' || field.at[field.len - 1] == '\t')) {
		field.len--;
	}
	return field;
}

/* CHI_CSV_COLUMNS if the name means nothing. */
static enum chi_csv_column column_of(struct field name)
{
	int column = 0;
	while (column < CHI_CSV_COLUMNS &&
	       (strlen(column_names[column]) != name.len ||
		strncasecmp(column_names[column], name.at, name.len) != 0)) {
		column++;
	}
	return (enum chi_csv_column)column;
}

/* Names that no longer fit are left out: it is a warning. */
static void note_ignored(struct chi_csv *csv, struct field name)
{
	size_t used = strlen(csv->ignored);
	int shown = name.len > 40 ? 40 : (int)name.len;
	(void)snprintf(csv->ignored + used, sizeof(csv->ignored) - used, "%s'%.*s'",
		       used > 0 ? ", " : "", shown, name.at);
}

int chi_csv_header(struct chi_csv *csv, char separator, const char *text, size_t len,
		   struct chi_arena *arena, struct chi_fault *fault)
{
	*csv = (struct chi_csv){.separator = separator, .engine = csv->engine, .add = csv->add};
	struct fields fields = {.at = text,
				.end = text + len,
				.separator = separator,
				.arena = arena,
				.fault = fault};
	struct field name;
	int status;
	while ((status = next_field(&fields, &name)) == CHI_OK) {
		name = trim(name);
		enum chi_csv_column column = column_of(name);
		if (column == CHI_CSV_COLUMNS) {
			note_ignored(csv, name);
			continue;
		}
		if (csv->field[column] != 0) {
			return chi_fail(fault, -CHI_ESYNTAX, "the header names '%s' twice",
					column_names[column]);
		}
		csv->field[column] = fields.n;
		csv->known[csv->n_known++] = (uint8_t)column;
	}
	if (status != CHI_NONE) {
		return status;
	}
	csv->n_fields = fields.n;
	if (csv->field[CHI_CSV_FEN] == 0) {
		int shown = len > 100 ? 100 : (int)len;
		return chi_fail(fault, -CHI_ESYNTAX, "the header has no column 'fen': '%.*s'",
				shown, text);
	}
	return CHI_OK;
}

/* Takes the record apart into its columns; those not there stay empty. */
static int split(const struct chi_csv *csv, struct fields *fields,
		 struct field columns[CHI_CSV_COLUMNS])
{
	struct field field;
	size_t next = 0;
	int status;
	while ((status = next_field(fields, &field)) == CHI_OK) {
		if (next < csv->n_known && csv->field[csv->known[next]] == fields->n) {
			uint8_t column = csv->known[next++];
			columns[column] = column == CHI_CSV_NOTE ? field : trim(field);
		}
	}
	if (status != CHI_NONE) {
		return status;
	}
	if (fields->n != csv->n_fields) {
		return chi_fail(fields->fault, -CHI_ESYNTAX, "%zu fields where the header has %zu",
				fields->n, csv->n_fields);
	}
	return CHI_OK;
}

static int read_count(const struct field *columns, size_t column, uint64_t *out,
		      struct chi_fault *fault)
{
	struct field field = columns[column];
	if (field.len == 0) {
		return CHI_OK;
	}
	if (chi_num_u64(field.at, field.len, INT64_MAX, out) != CHI_OK) {
		int shown = field.len > 40 ? 40 : (int)field.len;
		return chi_fail(fault, -CHI_ESYNTAX,
				"%s: '%.*s' is not a number from 0 to %" PRId64,
				column_names[column], shown, field.at, INT64_MAX);
	}
	return CHI_OK;
}

/* One count given makes the others 0; none given leaves the stored ones alone. */
static int read_counts(const struct chi_csv *csv, const struct field *columns,
		       struct chi_put_entry *put, struct chi_fault *fault)
{
	struct chi_counts *counts = &put->record.counts;
	if (columns[CHI_CSV_WHITE].len + columns[CHI_CSV_DRAWS].len + columns[CHI_CSV_BLACK].len +
		    columns[CHI_CSV_OTHER].len ==
	    0) {
		return CHI_OK;
	}
	uint64_t *const into[] = {&counts->white, &counts->draws, &counts->black, &counts->other};
	int status = CHI_OK;
	for (size_t i = 0; status == CHI_OK && i < CHI_COUNT(into); i++) {
		status = read_count(columns, CHI_CSV_WHITE + i, into[i], fault);
	}
	put->parts |= csv->add ? CHI_PUT_ADD : CHI_PUT_COUNTS;
	return status;
}

static int read_csv_note(struct field field, struct chi_put_entry *put, struct chi_fault *fault)
{
	if (field.len == 0) {
		return CHI_OK;
	}
	if (field.len > CHI_NOTE_MAX) {
		return chi_fail(fault, -CHI_ETOOBIG, "note: longer than %d bytes", CHI_NOTE_MAX);
	}
	if (!chi_utf8_valid(field.at, field.len) || memchr(field.at, '\0', field.len) != NULL) {
		return chi_fail(fault, -CHI_ESYNTAX, "note: not UTF-8 text");
	}
	put->parts |= CHI_PUT_NOTE;
	put->record.note = field.at;
	put->record.n_note = field.len;
	return CHI_OK;
}

static int cell_fault(const struct field *columns, size_t column, const char *what,
		      struct chi_fault *fault)
{
	struct field field = columns[column];
	int shown = field.len > 40 ? 40 : (int)field.len;
	return chi_fail(fault, -CHI_ESYNTAX, "%s: '%.*s' is %s", column_names[column], shown,
			field.at, what);
}

/* Moves played one after the other from the put's position; none if the cell is empty. */
static int read_csv_moves(const struct field *columns, size_t column, size_t max,
			  struct chi_arena *arena, const struct chi_put_entry *put,
			  const chi_move **moves, size_t *n, struct chi_fault *fault)
{
	struct field field = columns[column];
	struct chi_fault inner = {.text = ""};
	struct chi_position position;
	/* A move takes two bytes and a space at least, so this many fit. */
	size_t room = field.len / 2 + 1 < max ? field.len / 2 + 1 : max;
	if (field.len == 0) {
		return CHI_OK;
	}
	chi_move *out = chi_arena_array(arena, room, sizeof(*out));
	if (out == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int status = chi_key_decode(&put->key, &position, fault);
	if (status == CHI_OK) {
		status = chi_line_parse(&position, field.at, field.len, out, room, n, &inner);
	}
	*moves = out;
	return status == CHI_OK
		       ? CHI_OK
		       : chi_fail(fault, status, "%s: %s", column_names[column], inner.text);
}

/* The numbers of an evaluation, its name and its date. */
static int read_details(const struct field *columns, struct chi_eval *eval, struct chi_fault *fault)
{
	struct field depth = columns[CHI_CSV_DEPTH];
	struct field nodes = columns[CHI_CSV_NODES];
	struct field date = columns[CHI_CSV_DATE];
	struct field engine = columns[CHI_CSV_ENGINE];
	uint64_t plies = 0;
	if (depth.len > 0 && chi_num_u64(depth.at, depth.len, CHI_DEPTH_MAX, &plies) != CHI_OK) {
		return cell_fault(columns, CHI_CSV_DEPTH, "no depth", fault);
	}
	if (nodes.len > 0 && chi_num_u64(nodes.at, nodes.len, INT64_MAX, &eval->nodes) != CHI_OK) {
		return cell_fault(columns, CHI_CSV_NODES, "no number of nodes", fault);
	}
	if (date.len > 0 && chi_num_time(date.at, date.len, &eval->date) != CHI_OK) {
		return cell_fault(columns, CHI_CSV_DATE, "not as 2026-11-22T09:30:00Z", fault);
	}
	if (engine.len > 0) {
		eval->engine = engine.at;
		eval->engine_len = engine.len;
	}
	eval->depth = (uint32_t)plies;
	return CHI_OK;
}

static int read_csv_eval(const struct chi_csv *csv, const struct field *columns,
			 struct chi_arena *arena, struct chi_put_entry *put,
			 struct chi_fault *fault)
{
	bool is_mate = columns[CHI_CSV_MATE].len > 0;
	size_t column = is_mate ? CHI_CSV_MATE : CHI_CSV_CP;
	int64_t score = 0;
	if (columns[column].len == 0) {
		return CHI_OK;
	}
	if (chi_num_i64(columns[column].at, columns[column].len,
			is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX, &score) != CHI_OK) {
		return cell_fault(columns, column, "no score", fault);
	}
	struct chi_eval *eval = chi_arena_array(arena, 1, sizeof(*eval));
	if (eval == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	*eval = (struct chi_eval){
		.engine = csv->engine,
		.engine_len = strlen(csv->engine),
		.is_mate = is_mate,
		.score = (int32_t)score,
	};
	put->parts |= CHI_PUT_EVALS;
	put->record.evals = eval;
	put->record.n_evals = 1;
	int status = read_details(columns, eval, fault);
	return status != CHI_OK ? status
				: read_csv_moves(columns, CHI_CSV_PV, CHI_PV_MAX, arena, put,
						 &eval->pv, &eval->n_pv, fault);
}

int chi_csv_read(struct chi_csv *csv, const char *text, size_t len, struct chi_arena *arena,
		 struct chi_put_entry *put, struct chi_fault *fault)
{
	struct field columns[CHI_CSV_COLUMNS] = {{NULL, 0}};
	struct fields fields = {.at = text,
				.end = text + len,
				.separator = csv->separator,
				.arena = arena,
				.fault = fault};
	if (trim((struct field){text, len}).len == 0) {
		return CHI_NONE;
	}
	*put = (struct chi_put_entry){.parts = 0};
	int status = split(csv, &fields, columns);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_key_from_fen(columns[CHI_CSV_FEN].at, columns[CHI_CSV_FEN].len, &put->key,
				  fault);
	if (status != CHI_OK) {
		return status;
	}
	struct field chi2 = columns[CHI_CSV_CHI2];
	if (chi2.len > 0) {
		if (chi_chi2_parse(chi2.at, chi2.len, &put->record.chi2) != CHI_OK) {
			int shown = chi2.len > 40 ? 40 : (int)chi2.len;
			return chi_fail(fault, -CHI_ESYNTAX, "chi2: '%.*s' is not a number", shown,
					chi2.at);
		}
		csv->clamped += chi_num_chi2_clamped(chi2.at, chi2.len);
		put->parts |= CHI_PUT_CHI2;
	}
	status = read_counts(csv, columns, put, fault);
	if (status == CHI_OK) {
		status = read_csv_moves(columns, CHI_CSV_LINE, CHI_LINE_MAX, arena, put,
					&put->record.line, &put->record.n_line, fault);
	}
	put->parts |= put->record.n_line > 0 ? CHI_PUT_LINE : 0;
	if (status == CHI_OK) {
		status = read_csv_eval(csv, columns, arena, put, fault);
	}
	if (status == CHI_OK) {
		status = read_csv_note(columns[CHI_CSV_NOTE], put, fault);
	}
	return status == CHI_OK ? chi_put_checked(put, fault) : status;
}
