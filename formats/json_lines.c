/* SPDX-License-Identifier: MIT */
/* Objects of jansson's to puts. What a record must fulfil is checked by those who store it; here is
 * said what cannot be read, by the member's name. */
#include "formats/json_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/record.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "formats/checked.h"

struct reader {
	struct chi_json_lines *json;
	struct chi_arena *arena;
	struct chi_fault *fault;
	struct chi_position position;
	struct chi_put_entry *put;
};

static void json_freep(json_t **object)
{
	json_decref(*object);
}

static int refuse_member(struct reader *r, const char *name, const char *what)
{
	return chi_fail(r->fault, -CHI_ESYNTAX, "%s: %s", name, what);
}

/* The member if it says something. */
static json_t *member(const json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);
	return json_is_null(value) ? NULL : value;
}

/* A number that may be missing: then *out stays. */
static int read_integer(struct reader *r, const json_t *object, const char *name, int64_t least,
			int64_t most, int64_t *out)
{
	const json_t *value = member(object, name);
	if (value == NULL) {
		return CHI_OK;
	}
	if (!json_is_integer(value) || json_integer_value(value) < least ||
	    json_integer_value(value) > most) {
		return chi_fail(r->fault, -CHI_ESYNTAX,
				"%s: no whole number from %" PRId64 " to %" PRId64, name, least,
				most);
	}
	*out = json_integer_value(value);
	return CHI_OK;
}

/* The list of that name, or NULL; at most so long. */
static int read_json_list(struct reader *r, const json_t *object, const char *name, size_t most,
			  const json_t **out)
{
	*out = member(object, name);
	if (*out != NULL && !json_is_array(*out)) {
		return refuse_member(r, name, "no list");
	}
	if (json_array_size(*out) > most) {
		return chi_fail(r->fault, -CHI_ETOOBIG, "%s: more than %zu", name, most);
	}
	return CHI_OK;
}

static int read_counts(struct reader *r, const json_t *object, struct chi_counts *counts)
{
	static const char *const names[] = {"white", "draws", "black", "other"};
	uint64_t *const into[] = {&counts->white, &counts->draws, &counts->black, &counts->other};
	int status = CHI_OK;
	for (size_t i = 0; status == CHI_OK && i < CHI_COUNT(names); i++) {
		int64_t count = 0;
		status = read_integer(r, object, names[i], 0, INT64_MAX, &count);
		*into[i] = (uint64_t)count;
	}
	return status;
}

/* As text, as a CSV has it: rounded there, and here. */
static int read_chi2(struct reader *r, const json_t *object)
{
	const json_t *value = member(object, "chi2");
	char text[64];
	if (value == NULL) {
		return CHI_OK;
	}
	double number = json_number_value(value);
	if (!json_is_number(value) || !(number >= 0 && number < 1e9)) {
		return refuse_member(r, "chi2", "no statistic");
	}
	(void)snprintf(text, sizeof(text), "%.6f", number);
	r->put->parts |= CHI_PUT_CHI2;
	r->json->clamped += chi_num_chi2_clamped(text, strlen(text));
	return chi_chi2_parse(text, strlen(text), &r->put->record.chi2) == CHI_OK
		       ? CHI_OK
		       : refuse_member(r, "chi2", "no statistic");
}

static int read_plies(struct reader *r, const json_t *object)
{
	const json_t *list = NULL;
	const json_t *entry;
	size_t i;
	int status = read_json_list(r, object, "plies", CHI_PLY_MAX + 1, &list);
	struct chi_ply_stat *plies =
		chi_arena_array(r->arena, json_array_size(list), sizeof(*plies));
	if (plies == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	json_array_foreach(list, i, entry)
	{
		int64_t ply = -1;
		int64_t games = 0;
		status = status == CHI_OK ? read_integer(r, entry, "ply", 0, CHI_PLY_MAX, &ply)
					  : status;
		status = status == CHI_OK ? read_integer(r, entry, "games", 1, INT64_MAX, &games)
					  : status;
		if (status == CHI_OK && (ply < 0 || games == 0)) {
			status = refuse_member(r, "plies", "an entry without 'ply' and 'games'");
		}
		plies[i] = (struct chi_ply_stat){(uint16_t)ply, (uint64_t)games};
	}
	r->put->record.plies = plies;
	r->put->record.n_plies = json_array_size(list);
	return status;
}

static int compare_moves(const void *left, const void *right)
{
	const struct chi_move_stat *a = left;
	const struct chi_move_stat *b = right;
	return (a->move > b->move) - (a->move < b->move);
}

static int read_stat(struct reader *r, const json_t *entry, struct chi_move_stat *out)
{
	const json_t *text = member(entry, "uci");
	text = text != NULL ? text : member(entry, "san");
	if (!json_is_string(text)) {
		return refuse_member(r, "moves", "an entry without 'uci' or 'san'");
	}
	int status = chi_move_parse(&r->position, json_string_value(text), json_string_length(text),
				    &out->move, r->fault);
	return status == CHI_OK ? read_counts(r, entry, &out->counts) : status;
}

/* Printed by how often they were played, stored by their number. */
static int read_json_moves(struct reader *r, const json_t *object)
{
	const json_t *list = NULL;
	const json_t *entry;
	size_t i;
	int status = read_json_list(r, object, "moves", CHI_MOVES_MAX, &list);
	size_t n = json_array_size(list);
	struct chi_move_stat *moves = chi_arena_array(r->arena, n, sizeof(*moves));
	if (moves == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	json_array_foreach(list, i, entry)
	{
		status = status == CHI_OK ? read_stat(r, entry, &moves[i]) : status;
	}
	qsort(moves, n, sizeof(*moves), compare_moves);
	r->put->record.moves = moves;
	r->put->record.n_moves = n;
	return status;
}

/* Moves in a list, or in one text. */
static int read_line(struct reader *r, const json_t *object, const char *name, size_t max,
		     const chi_move **moves, size_t *n)
{
	const json_t *value = member(object, name);
	const json_t *entry;
	size_t i;
	size_t len = json_string_length(value);
	*n = 0;
	json_array_foreach(value, i, entry)
	{
		if (!json_is_string(entry)) {
			return refuse_member(r, name, "no list of moves");
		}
		len += json_string_length(entry) + 1;
	}
	if (len == 0) {
		return value == NULL || json_is_array(value) || json_is_string(value)
			       ? CHI_OK
			       : refuse_member(r, name, "no list of moves");
	}
	char *text = chi_arena_alloc(r->arena, len + 1);
	/* A move takes two bytes and a space at least, so this many fit. */
	size_t room = len / 2 + 1 < max ? len / 2 + 1 : max;
	chi_move *out = chi_arena_array(r->arena, room, sizeof(*out));
	if (text == NULL || out == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	char *to = stpcpy(text, json_is_string(value) ? json_string_value(value) : "");
	json_array_foreach(value, i, entry)
	{
		to = stpcpy(to, json_string_value(entry));
		to = stpcpy(to, " ");
	}
	struct chi_fault inner = {.text = ""};
	int status = chi_line_parse(&r->position, text, (size_t)(to - text), out, room, n, &inner);
	*moves = out;
	return status == CHI_OK ? CHI_OK : chi_fail(r->fault, status, "%s: %s", name, inner.text);
}

static int read_score(struct reader *r, const json_t *entry, struct chi_eval *eval)
{
	int64_t score = 0;
	eval->is_mate = member(entry, "mate") != NULL;
	const char *name = eval->is_mate ? "mate" : "cp";
	int64_t most = eval->is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	if (member(entry, name) == NULL) {
		return refuse_member(r, "evals", "an entry without 'cp' or 'mate'");
	}
	int status = read_integer(r, entry, name, -most, most, &score);
	eval->score = (int32_t)score;
	return status;
}

static int read_engine(struct reader *r, const json_t *entry, struct chi_eval *eval)
{
	const json_t *engine = member(entry, "engine");
	eval->engine = r->json->engine;
	eval->engine_len = strlen(r->json->engine);
	if (engine == NULL) {
		return CHI_OK;
	}
	if (!json_is_string(engine)) {
		return refuse_member(r, "engine", "no text");
	}
	eval->engine_len = json_string_length(engine);
	eval->engine = chi_arena_text(r->arena, json_string_value(engine), eval->engine_len);
	return eval->engine != NULL ? CHI_OK : chi_fault_plain(r->fault, -CHI_ENOMEM);
}

static int read_date(struct reader *r, const json_t *entry, struct chi_eval *eval)
{
	const json_t *date = member(entry, "date");
	if (date == NULL ||
	    (json_is_string(date) && chi_num_time(json_string_value(date), json_string_length(date),
						  &eval->date) == CHI_OK)) {
		return CHI_OK;
	}
	return refuse_member(r, "date", "not as 2026-11-22T09:30:00Z");
}

static int read_json_eval(struct reader *r, const json_t *entry, struct chi_eval *eval)
{
	int64_t depth = 0;
	int64_t nodes = 0;
	int64_t line = 1;
	int status = read_engine(r, entry, eval);
	if (status == CHI_OK) {
		status = read_score(r, entry, eval);
	}
	if (status == CHI_OK) {
		status = read_integer(r, entry, "depth", 0, CHI_DEPTH_MAX, &depth);
	}
	if (status == CHI_OK) {
		status = read_integer(r, entry, "nodes", 0, INT64_MAX, &nodes);
	}
	if (status == CHI_OK) {
		status = read_integer(r, entry, "multipv", 1, CHI_RANK_MAX + 1, &line);
	}
	if (status == CHI_OK) {
		status = read_date(r, entry, eval);
	}
	eval->depth = (uint32_t)depth;
	eval->nodes = (uint64_t)nodes;
	eval->rank = (uint8_t)(line - 1);
	return status == CHI_OK ? read_line(r, entry, "pv", CHI_PV_MAX, &eval->pv, &eval->n_pv)
				: status;
}

static int compare_evals(const void *left, const void *right)
{
	return chi_eval_compare(left, right);
}

static int read_evals(struct reader *r, const json_t *object)
{
	const json_t *list = NULL;
	const json_t *entry;
	size_t i;
	int status = read_json_list(r, object, "evals", CHI_EVALS_MAX, &list);
	size_t n = json_array_size(list);
	struct chi_eval *evals = chi_arena_array(r->arena, n, sizeof(*evals));
	if (evals == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	json_array_foreach(list, i, entry)
	{
		status = status == CHI_OK ? read_json_eval(r, entry, &evals[i]) : status;
	}
	if (status == CHI_OK && n > 0) {
		qsort(evals, n, sizeof(*evals), compare_evals);
		r->put->parts |= CHI_PUT_EVALS;
		r->put->record.evals = evals;
		r->put->record.n_evals = n;
	}
	return status;
}

static int read_note(struct reader *r, const json_t *object)
{
	const json_t *note = member(object, "note");
	size_t len = json_string_length(note);
	if (note != NULL && !json_is_string(note)) {
		return refuse_member(r, "note", "no text");
	}
	if (len == 0) {
		return CHI_OK;
	}
	r->put->parts |= CHI_PUT_NOTE;
	r->put->record.n_note = len;
	r->put->record.note = chi_arena_text(r->arena, json_string_value(note), len);
	return r->put->record.note != NULL ? CHI_OK : chi_fault_plain(r->fault, -CHI_ENOMEM);
}

/* Counts, plies and moves: to be set, or to be added together. */
static int read_games(struct reader *r, const json_t *object)
{
	struct chi_record *record = &r->put->record;
	int status = read_counts(r, object, &record->counts);
	if (status == CHI_OK) {
		status = read_plies(r, object);
	}
	if (status == CHI_OK) {
		status = read_json_moves(r, object);
	}
	const struct chi_counts *c = &record->counts;
	bool counts = (c->white | c->draws | c->black | c->other) != 0 || record->n_plies > 0;
	if (r->json->add && (counts || record->n_moves > 0)) {
		r->put->parts |= CHI_PUT_ADD;
	} else {
		r->put->parts |= counts ? CHI_PUT_COUNTS : 0;
		r->put->parts |= record->n_moves > 0 ? CHI_PUT_MOVES : 0;
	}
	return status;
}

/* Remembers the names of members that are not read, for one warning. */
static void note_ignored(struct chi_json_lines *json, json_t *object)
{
	static const char *const known[] = {"fen",   "chi2",  "white",	 "draws",  "black",
					    "other", "plies", "moves",	 "evals",  "line",
					    "note",  "games", "min_ply", "endgame"};
	void *at = json_object_iter(object);
	for (; at != NULL; at = json_object_iter_next(object, at)) {
		char name[64];
		size_t i = 0;
		while (i < CHI_COUNT(known) && strcmp(json_object_iter_key(at), known[i]) != 0) {
			i++;
		}
		(void)snprintf(name, sizeof(name), "'%.40s'", json_object_iter_key(at));
		size_t used = strlen(json->ignored);
		if (i == CHI_COUNT(known) && strstr(json->ignored, name) == NULL) {
			(void)snprintf(json->ignored + used, sizeof(json->ignored) - used, "%s%s",
				       used > 0 ? ", " : "", name);
		}
	}
}

static int read_line_object(struct reader *r, json_t *object)
{
	const json_t *fen = member(object, "fen");
	if (!json_is_string(fen)) {
		return refuse_member(r, "fen", "missing, or no text");
	}
	int status = chi_key_from_fen(json_string_value(fen), json_string_length(fen), &r->put->key,
				      r->fault);
	if (status == CHI_OK) {
		status = chi_key_decode(&r->put->key, &r->position, r->fault);
	}
	if (status == CHI_OK) {
		status = read_chi2(r, object);
	}
	if (status == CHI_OK) {
		status = read_games(r, object);
	}
	if (status == CHI_OK) {
		status = read_evals(r, object);
	}
	struct chi_record *record = &r->put->record;
	if (status == CHI_OK) {
		status = read_line(r, object, "line", CHI_LINE_MAX, &record->line, &record->n_line);
	}
	r->put->parts |= record->n_line > 0 ? CHI_PUT_LINE : 0;
	return status == CHI_OK ? read_note(r, object) : status;
}

int chi_json_read(struct chi_json_lines *json, const char *line, size_t len,
		  struct chi_arena *arena, struct chi_put_entry *put, struct chi_fault *fault)
{
	struct reader r = {.json = json, .arena = arena, .fault = fault, .put = put};
	size_t at = 0;
	while (at < len && (line[at] == ' ' || line[at] == '\t')) {
		at++;
	}
	if (at == len || line[at] == '#') {
		return CHI_NONE;
	}
	*put = (struct chi_put_entry){.parts = 0};
	json_error_t error;
	_cleanup_(json_freep) json_t *object =
		json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
	if (object == NULL) {
		return json_error_code(&error) == json_error_out_of_memory
			       ? chi_fault_plain(fault, -CHI_ENOMEM)
			       : chi_fail(fault, -CHI_ESYNTAX, "no JSON: %s", error.text);
	}
	if (!json_is_object(object)) {
		return chi_fail(fault, -CHI_ESYNTAX, "no JSON object");
	}
	note_ignored(json, object);
	int status = read_line_object(&r, object);
	return status == CHI_OK ? chi_put_checked(put, fault) : status;
}
