/* SPDX-License-Identifier: MIT */
#include "tests/faults/answers.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"

#define ROWS_MAX 20000 /* more than there are: a walk that does not end is a false answer */

struct asked {
	struct chi_client *client;
	const struct topics *topics;
	uint64_t sum;
};

/* ---- Fingerprints ------------------------------------------------------------------------- */

static void add_number(struct asked *a, uint64_t number)
{
	a->sum = (a->sum ^ number) * 0x9e3779b97f4a7c15u;
	a->sum ^= a->sum >> 29;
}

static void add_bytes(struct asked *a, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	add_number(a, len);
	for (size_t i = 0; i < len; i++) {
		add_number(a, at[i]);
	}
}

static void add_text(struct asked *a, const char *text)
{
	add_bytes(a, text, text != NULL ? strlen(text) : 0);
}

static void add_counts(struct asked *a, const struct chi_counts *counts)
{
	add_number(a, counts->white);
	add_number(a, counts->draws);
	add_number(a, counts->black);
	add_number(a, counts->other);
}

static void add_row(struct asked *a, const struct chi_row *row)
{
	add_bytes(a, row->key.bytes, row->key.len);
	add_number(a, row->found);
	add_number(a, row->chi2);
	add_number(a, row->has_eval);
	add_number(a, row->is_mate);
	add_number(a, row->depth);
	add_number(a, (uint64_t)row->score);
	add_number(a, row->best);
	add_number(a, row->best_source);
	add_counts(a, &row->counts);
}

static void add_moves(struct asked *a, const chi_move *moves, size_t n)
{
	add_number(a, n);
	for (size_t i = 0; i < n; i++) {
		add_number(a, moves[i]);
	}
}

static void add_record(struct asked *a, const struct chi_record *record)
{
	add_counts(a, &record->counts);
	for (size_t i = 0; i < record->n_moves; i++) {
		add_number(a, record->moves[i].move);
		add_counts(a, &record->moves[i].counts);
	}
	for (size_t i = 0; i < record->n_plies; i++) {
		add_number(a, record->plies[i].ply);
		add_number(a, record->plies[i].games);
	}
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		add_bytes(a, eval->engine, eval->engine_len);
		add_number(a, eval->depth);
		add_number(a, (uint64_t)eval->score);
		add_moves(a, eval->pv, eval->n_pv);
	}
	add_moves(a, record->line, record->n_line);
	add_bytes(a, record->note, record->n_note);
}

static void add_explored(struct asked *a, const struct chi_explored *explored)
{
	add_row(a, &explored->position);
	add_number(a, (uint64_t)explored->min_ply);
	for (size_t i = 0; i < explored->n_moves; i++) {
		add_number(a, explored->moves[i].move);
		add_counts(a, &explored->moves[i].played);
		add_row(a, &explored->moves[i].child);
	}
}

static void add_game(struct asked *a, const struct chi_game_row *row)
{
	const struct chi_game_head *head = &row->head;
	const uint32_t numbers[] = {
		head->number,	    head->white,     head->black,	head->event,
		head->site,	    head->source,    head->year,	head->month,
		head->day,	    head->white_elo, head->black_elo,	head->eco,
		head->plies,	    head->result,    head->white_title, head->speed,
		(uint32_t)row->ply, row->move,	     head->black_title};
	add_bytes(a, numbers, sizeof(numbers));
	add_text(a, row->white);
	add_text(a, row->black);
	add_text(a, row->event);
	add_text(a, row->site);
	add_text(a, row->round);
	add_text(a, row->source);
	add_bytes(a, row->pgn, row->pgn_len);
}

/* ---- Questions ---------------------------------------------------------------------------- */

static int ask_info(struct asked *a, unsigned i)
{
	struct chi_info info;
	(void)i;
	int status = chi_store_info(a->client, &info);
	add_number(a, info.statistic);
	add_number(a, info.sequence);
	add_number(a, info.positions);
	add_number(a, info.known);
	add_counts(a, &info.base);
	add_counts(a, &info.games);
	add_number(a, info.last_game);
	return status;
}

static int ask_probe(struct asked *a, unsigned i)
{
	struct chi_row rows[CHI_COUNT(a->topics->keys)];
	(void)i;
	int status = chi_probe(a->client, a->topics->keys, a->topics->n_keys, rows);
	for (size_t j = 0; status == CHI_OK && j < a->topics->n_keys; j++) {
		add_row(a, &rows[j]);
	}
	return status;
}

static int ask_get(struct asked *a, unsigned i)
{
	struct chi_record record;
	int status = chi_get(a->client, &a->topics->keys[i], &record);
	if (status == CHI_OK) {
		add_record(a, &record);
	}
	return status;
}

static int ask_explore(struct asked *a, unsigned i)
{
	struct chi_explored explored;
	int status = chi_explore(a->client, &a->topics->keys[i],
				 i % 2 == 0 ? NULL : "since 1900 result 1-0", NULL, &explored);
	if (status == CHI_OK) {
		add_explored(a, &explored);
	}
	return status;
}

static const struct chi_scan_spec scans[] = {
	{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX},
	{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_RECORDS,
	 .order = CHI_ORDER_POSITION},
	{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_COUNTS, .descending = true},
	{CHI_SCAN_SPEC_INIT, .chi2_min = 3000, .chi2_max = 6000, .want = CHI_WANT_RECORDS},
	{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .sort = CHI_SORT_GAMES, .limit = 50,
	 .want = CHI_WANT_COUNTS},
	{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .games = "result 0-1",
	 .want = CHI_WANT_COUNTS},
	{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .filter = {.pieces_max = 12}, .limit = 100},
	{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .pattern = "has \"Nd5\"",
	 .order = CHI_ORDER_POSITION},
	{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .pattern = "has \"Rd1\"",
	 .games = "result 1-0", .whole_counts = true, .want = CHI_WANT_COUNTS},
};

static int ask_scan(struct asked *a, unsigned i)
{
	struct chi_rows *iter = NULL;
	const struct chi_row *row;
	const struct chi_record *record = NULL;
	unsigned n = 0;
	int status = chi_scan_open(a->client, &scans[i], &iter);
	while (status == CHI_OK && (status = chi_scan_next(iter, &row, &record)) == CHI_OK &&
	       n++ < ROWS_MAX) {
		add_row(a, row);
		if (record != NULL) {
			add_record(a, record);
		}
	}
	chi_rows_close(iter);
	return status == CHI_NONE ? CHI_OK : status;
}

static int ask_count(struct asked *a, unsigned i)
{
	uint64_t count = 0;
	int status = chi_scan_count(a->client, &scans[i], &count, NULL);
	add_number(a, count);
	return status;
}

static int ask_games(struct asked *a, unsigned i)
{
	const struct chi_game_spec specs[] = {
		{CHI_GAME_SPEC_INIT, .want = CHI_GAMES_PGN},
		{CHI_GAME_SPEC_INIT, .want = CHI_GAMES_TEXTS, .filter = "in set0",
		 .want_total = true},
		{CHI_GAME_SPEC_INIT, .want = CHI_GAMES_TEXTS, .position = &a->topics->keys[0],
		 .want_total = true},
		{CHI_GAME_SPEC_INIT, .position = &a->topics->keys[1]},
		{CHI_GAME_SPEC_INIT, .sort = CHI_GAMES_DATE, .descending = true, .limit = 20,
		 .want = CHI_GAMES_TEXTS},
		{CHI_GAME_SPEC_INIT, .filter = "result 1-0 rating 2600..", .want_total = true},
		{CHI_GAME_SPEC_INIT, .filter = "player \"Carlsen\"", .want_total = true},
		{CHI_GAME_SPEC_INIT, .filter = "source \"part\"", .want = CHI_GAMES_TEXTS},
		{CHI_GAME_SPEC_INIT, .filter = "has \"Be3\"", .by_positions = true},
	};
	struct chi_rows *query = NULL;
	const struct chi_game_row *row;
	unsigned n = 0;
	int status = chi_games_open(a->client, &specs[i], &query);
	while (status == CHI_OK && (status = chi_games_next(query, &row)) == CHI_OK &&
	       n++ < ROWS_MAX) {
		add_game(a, row);
	}
	if (status == CHI_NONE && chi_rows_state(query)->has_total) {
		add_number(a, chi_rows_state(query)->total);
	}
	if (status == CHI_NONE) {
		add_text(a, chi_unknown_name(a->client, 0));
	}
	chi_rows_close(query);
	return status == CHI_NONE ? CHI_OK : status;
}

static int ask_game(struct asked *a, unsigned i)
{
	struct chi_game_row row;
	struct chi_game game;
	int status = chi_game_get(a->client, 1 + i * (a->topics->last_game + 2) / 40, &row, &game);
	if (status == CHI_OK) {
		add_game(a, &row);
		add_bytes(a, game.id, sizeof(game.id));
		add_moves(a, game.moves, game.n_plies);
		add_bytes(a, game.notes, game.n_notes);
	}
	return status;
}

static int ask_heads(struct asked *a, unsigned i)
{
	uint32_t numbers[CHI_GAME_HEADS_MAX] = {0};
	struct chi_game_row rows[CHI_GAME_HEADS_MAX];
	size_t n = a->topics->last_game + 2;
	(void)i;
	for (size_t j = 0; j < n; j++) {
		numbers[j] = (uint32_t)j + 1;
	}
	int status = chi_game_heads(a->client, numbers, n, rows);
	for (size_t j = 0; status == CHI_OK && j < n; j++) {
		add_number(a, rows[j].head.number);
		if (rows[j].head.number != 0) {
			add_text(a, rows[j].white);
			add_text(a, rows[j].event);
			add_number(a, rows[j].head.year);
		}
	}
	return status;
}

static int ask_ids(struct asked *a, unsigned i)
{
	struct chi_game_id ids[1000];
	size_t n = 0;
	(void)i;
	int status = chi_game_ids(a->client, NULL, ids, CHI_COUNT(ids), &n);
	for (size_t j = 0; status == CHI_OK && j < n; j++) {
		add_bytes(a, ids[j].id, sizeof(ids[j].id));
		add_number(a, ids[j].result);
		add_number(a, ids[j].number);
	}
	add_number(a, n);
	return status;
}

static void add_name(struct asked *a, const struct chi_name_row *row)
{
	add_number(a, row->id);
	add_number(a, row->root);
	add_number(a, row->fide);
	add_number(a, row->games);
	add_text(a, row->text);
}

static int ask_names(struct asked *a, unsigned i)
{
	static const char *const wanted[] = {NULL, "Carlsen, M", "=Absent, Player", "a"};
	struct chi_names_spec spec = {CHI_NAMES_SPEC_INIT, .kind = (uint8_t)(1 + i / 4),
				      .wanted = wanted[i % 4], .limit = CHI_NAMES_MAX};
	struct chi_names names = {.n = 0};
	int status = chi_names_list(a->client, &spec, &names);
	for (size_t j = 0; status == CHI_OK && j < names.n; j++) {
		add_name(a, &names.rows[j]);
	}
	add_number(a, names.total);
	return status;
}

static int ask_suspects(struct asked *a, unsigned i)
{
	struct chi_suspect_groups groups = {.n = 0};
	int status = chi_suspects_list(a->client,
				       &(struct chi_suspects_spec){CHI_SUSPECTS_SPEC_INIT,
								   .kind = (uint8_t)(1 + i),
								   .least = 60, .limit = 100},
				       &groups);
	for (size_t j = 0; status == CHI_OK && j < groups.n; j++) {
		for (size_t k = 0; k < groups.groups[j].n; k++) {
			add_name(a, &groups.groups[j].names[k]);
		}
	}
	return status;
}

static int ask_gamesets(struct asked *a, unsigned i)
{
	static const char *const names[] = {NULL, "set0", "set7", "none"};
	struct chi_gamesets sets = {.n = 0};
	int status = chi_gamesets_list(a->client, names[i], &sets);
	for (size_t j = 0; status == CHI_OK && j < sets.n; j++) {
		add_text(a, sets.rows[j].name);
		add_text(a, sets.rows[j].filter);
		add_number(a, sets.rows[j].games);
		add_number(a, sets.rows[j].upto);
	}
	return status;
}

static int ask_queue(struct asked *a, unsigned i)
{
	struct chi_queue_page list = {.n = 0};
	int status = chi_queue_list(a->client, (enum chi_queue_state)(1 + i), NULL, 4096, &list);
	for (size_t j = 0; status == CHI_OK && j < list.n; j++) {
		const struct chi_queue_row *row = &list.rows[j];
		add_bytes(a, row->key.bytes, row->key.len);
		add_number(a, row->priority);
		add_number(a, row->tries);
		add_number(a, row->number);
		add_number(a, row->lease);
		add_number(a, row->expires);
		add_text(a, row->holder);
	}
	add_number(a, list.counts.waiting);
	add_number(a, list.counts.leased);
	add_number(a, list.counts.failed);
	return status;
}

static int ask_stats(struct asked *a, unsigned i)
{
	struct chi_stats_result stats = {.n = 0};
	int status = chi_stats_list(
		a->client, &(struct chi_stats_spec){CHI_STATS_SPEC_INIT, .by = (uint8_t)i}, &stats);
	for (size_t j = 0; status == CHI_OK && j < stats.n; j++) {
		add_number(a, stats.groups[j].value);
		add_text(a, stats.groups[j].text);
		add_counts(a, &stats.groups[j].counts);
		add_number(a, stats.groups[j].positions);
	}
	return status;
}

static int ask_twins(struct asked *a, unsigned i)
{
	struct chi_twin_groups twins = {.n = 0};
	(void)i;
	int status = chi_twins_list(a->client,
				    &(struct chi_twin_spec){CHI_TWIN_SPEC_INIT, .days = 3}, &twins);
	for (size_t j = 0; status == CHI_OK && j < twins.n; j++) {
		add_bytes(a, twins.groups[j].games, twins.groups[j].n * sizeof(uint32_t));
	}
	return status;
}

static int ask_insight(struct asked *a, unsigned i)
{
	struct chi_insight_result found = {.n = 0};
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = (uint8_t)i,
					      .min_games = 5, .fdr = 1000, .split = 2000};
	int status = chi_insight_list(a->client, &spec, &found);
	add_bytes(a, &found.tested, sizeof(found.tested));
	for (size_t j = 0; status == CHI_OK && j < found.n; j++) {
		add_bytes(a, found.rows[j].key.bytes, found.rows[j].key.len);
	}
	return status;
}

static const struct question {
	const char *call;
	int (*ask)(struct asked *a, unsigned i);
	unsigned times;
} questions[] = {
	{"get_info", ask_info, 1},
	{"probe", ask_probe, 1},
	{"get", ask_get, 32},
	{"explore", ask_explore, 12},
	{"scan", ask_scan, CHI_COUNT(scans)},
	{"count", ask_count, CHI_COUNT(scans)},
	{"game_query", ask_games, 9},
	{"game_get", ask_game, 40},
	{"game_heads", ask_heads, 1},
	{"get_game_ids", ask_ids, 1},
	{"get_names", ask_names, 4 * (CHI_NAME_KINDS - 1)},
	{"get_suspects", ask_suspects, 2},
	{"get_gamesets", ask_gamesets, 4},
	{"queue_list", ask_queue, 3},
	{"get_stats", ask_stats, CHI_STATS_KINDS},
	{"get_twins", ask_twins, 1},
	{"get_insight", ask_insight, CHI_INSIGHTS},
};

long answers_stored(struct chi_client *client, struct stored *out, size_t max)
{
	struct chi_rows *iter = NULL;
	const struct chi_row *row;
	const struct chi_record *record;
	size_t n = 0;
	int status = chi_scan_open(client, &scans[1], &iter);
	while (status == CHI_OK && n < max &&
	       (status = chi_scan_next(iter, &row, &record)) == CHI_OK) {
		struct asked asked = {.sum = 0};
		add_record(&asked, record);
		out[n++] = (struct stored){.key = row->key, .sum = asked.sum};
	}
	chi_rows_close(iter);
	return status == CHI_NONE ? (long)n : -1;
}

void answers_take(struct chi_client *client, const struct topics *topics, unsigned from,
		  struct answers *out)
{
	unsigned n = 0;
	for (size_t q = 0; q < CHI_COUNT(questions); q++) {
		for (unsigned i = 0; i < questions[q].times; i++, n++) {
			struct asked asked = {.client = client, .topics = topics};
			if (n < from) {
				continue;
			}
			struct store_answer *answer = &out->answer[n];
			out->n = n;
			answer->call = questions[q].call;
			answer->status = questions[q].ask(&asked, i);
			answer->sum = asked.sum;
		}
	}
	out->n = n;
}

bool answer_is_false(const struct store_answer *wanted, const struct store_answer *got)
{
	return got->status >= 0 && (got->status != wanted->status ||
				    (got->status == CHI_OK && got->sum != wanted->sum));
}
