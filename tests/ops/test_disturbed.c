/* SPDX-License-Identifier: MIT */
/*
 * Whatever a driver does between two steps - the snapshot goes and another comes, a page that was
 * not sent is found again, pages are small - a query's rows are those of one that is left alone.
 */
#include "tests/import/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "ops/op.h"
#include "ops/query.h"
#include "proto/operations.h"
#include "search/gamesets.h"
#include "tests/proto/sample.h"

#define GAMES  400u
#define ROUNDS 20u

static struct chi_dir *store;

static void fill_store(void)
{
	static const char *const players[] = {"Anderssen, Adolf", "B", "C, D", "Andersen, Adolf",
					      "Jussupow, Artur",  "D", "E",    "Yusupov, Artur"};
	static const char *const lines[] = {"1. e4 e5 2. Nf3", "1. e4 e5 2. Nf3", "1. d4",
					    "1. c4 e5"};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	assert_non_null(out);
	for (unsigned i = 0; i < GAMES; i++) {
		fprintf(out,
			"[White \"%s\"]\n[Black \"P%u\"]\n[Date \"%u.%02u.01\"]\n[Round \"%u\"]\n\n"
			"%s 1-0\n\n",
			players[i % 8], i % 60, 1990 + i % 30, 1 + i / 30 % 12, i, lines[i % 3]);
	}
	assert_int_equal(fclose(out), 0);
	session_add("store", text);
	free(text);
}

static void make_gameset(const char *name, const char *filter)
{
	struct chi_gameset_job *job = NULL;
	struct chi_read *read = NULL;
	struct chi_write *write = NULL;
	int rc = CHI_OK;
	ok(chi_read_begin(store, &read));
	ok(chi_gameset_open(read, name, filter, strlen(filter), &job, &fault));
	while (rc == CHI_OK) {
		rc = chi_gameset_step(job, UINT64_MAX);
	}
	assert_int_equal(rc, CHI_NONE);
	chi_read_end(read);
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_gameset_save(job, write, &fault));
	ok(chi_write_commit(write, &fault));
	chi_gameset_close(job);
}

/* ---- A driver ----------------------------------------------------------------------------- */

struct driven {
	struct seed *seed; /* NULL: nothing disturbs it */
	struct chi_read *read;
	struct chi_query *query;
	struct chi_arena passing;
	struct chi_page page;
	_Alignas(max_align_t) uint8_t spec[2048];
	_Alignas(max_align_t) uint8_t result[CHI_RESULT_SIZE];
};

static bool one_of(const struct driven *driven, uint64_t n)
{
	return driven->seed != NULL && seed_below(driven->seed, n) == 0;
}

static void attach(struct driven *driven)
{
	ok(chi_read_begin(store, &driven->read));
	ok(chi_query_attach(driven->query, driven->read, &fault));
}

static void detach(struct driven *driven)
{
	chi_query_detach(driven->query);
	chi_read_end(driven->read);
}

static void begin(struct driven *driven, enum chi_op op, const void *spec, struct seed *seed)
{
	const struct chi_operation *operation = chi_operation_of(op);
	struct chi_arena arena;
	const char *field = NULL;
	*driven = (struct driven){.seed = seed};
	const size_t size = chi_query_row_size(op, spec);
	assert_in_range(operation->request_size, 1, sizeof(driven->spec));
	memcpy(driven->spec, spec, operation->request_size);
	const struct chi_request request = {.id = 1, .op = op, .made = driven->spec};
	chi_arena_init(&arena, SIZE_MAX);
	chi_arena_init(&driven->passing, SIZE_MAX);
	ok(chi_query_open(&request, &arena, &driven->query, &field, &fault));
	driven->query->passing = &driven->passing;
	if (seed == NULL) {
		chi_page_init_unbounded(&driven->page, size, SIZE_MAX);
	} else {
		chi_page_init_list(&driven->page, chi_query_list(operation), size);
		driven->page.most = 1 + seed_below(seed, 50);
	}
	attach(driven);
}

static void end(struct driven *driven)
{
	detach(driven);
	chi_query_close(driven->query);
	chi_page_deinit(&driven->page);
	chi_arena_deinit(&driven->passing);
}

static bool are_same(enum chi_op op, const void *a, const void *b)
{
	if (op == CHI_OP_SCAN) {
		const struct chi_row *x = a;
		const struct chi_row *y = b;
		return memcmp(&x->key, &y->key, sizeof(x->key)) == 0 && x->chi2 == y->chi2;
	}
	return same_message(chi_query_list(chi_operation_of(op))->type, a, b);
}

/* The page's rows are those of `whole` from `at` on, which moves; where they are all of them, what
 * goes with them is the same, too. */
static void deliver(struct driven *driven, bool last, const struct driven *whole, size_t *at)
{
	const struct chi_page *page = &driven->page;
	const enum chi_op op = driven->query->op;
	chi_query_result(driven->query, page, last, driven->result);
	if (whole == NULL) {
		return;
	}
	if (last && *at == 0 && op != CHI_OP_SCAN) {
		assert_true(
			same_message(chi_operation_of(op)->result, driven->result, whole->result));
	}
	for (size_t i = 0; i < page->n; i++, ++*at) {
		assert_in_range(*at, 0, whole->page.n - 1);
		assert_true(are_same(op, (const uint8_t *)page->items + i * page->size,
				     (const uint8_t *)whole->page.items + *at * page->size));
	}
}

static bool may_forget(const struct chi_query *query)
{
	return query->ops->may_forget == NULL || query->ops->may_forget(query);
}

static void drive(struct driven *driven, const struct driven *whole)
{
	struct chi_query *query = driven->query;
	size_t at = 0;
	for (int status = CHI_OK; status == CHI_OK;) {
		status = chi_query_step(query, &driven->page, &fault);
		assert_true(status >= 0);
		bool last = status == CHI_NONE;
		if (!last && driven->page.n > 0 && may_forget(query) && one_of(driven, 4)) {
			detach(driven);
			assert_true(chi_query_forget(query, &driven->page));
			chi_page_release(&driven->page);
			attach(driven);
		} else if (last || (driven->seed != NULL && driven->page.n > 0 &&
				    (chi_page_full(&driven->page) || one_of(driven, 2)))) {
			deliver(driven, last, whole, &at);
			if (whole != NULL) {
				chi_page_clear(&driven->page);
			}
		}
		if (!last && one_of(driven, 3) && chi_query_may_detach(query)) {
			detach(driven);
			attach(driven);
		}
	}
	assert_true(whole == NULL || at == whole->page.n);
}

/* ---- The queries -------------------------------------------------------------------------- */

static void check_query(struct seed *seed, enum chi_op op, const void *spec, size_t least)
{
	struct driven whole;
	begin(&whole, op, spec, NULL);
	drive(&whole, NULL);
	assert_in_range(whole.page.n, least, GAMES);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct driven driven;
		begin(&driven, op, spec, seed);
		drive(&driven, &whole);
		end(&driven);
	}
	end(&whole);
}

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static const struct chi_game_spec games[] = {
	{.filter = ""},
	{.filter = "year 2001..", .want = CHI_GAMES_PGN},
	{.filter = "", .sort = CHI_GAMES_DATE, .descending = true, .limit = 300},
	{.filter = "white B", .want = CHI_GAMES_TEXTS, .limit = 20, .want_total = true},
	{.filter = "has \"pe5\" year 2001..", .by_positions = true, .want_total = true},
};
static const struct chi_stats_spec stats[] = {
	{.by = CHI_STATS_PLAYER}, {.by = CHI_STATS_YEAR, .limit = 7}, {.by = CHI_STATS_PIECES}};
static const struct chi_names_spec names[] = {{.kind = CHI_NAME_PLAYER, .limit = CHI_NAMES_MAX},
					      {.kind = CHI_NAME_PLAYER, .after = 9, .limit = 40}};
static const struct chi_suspects_spec suspects = {
	.kind = CHI_NAME_PLAYER, .least = 60, .limit = CHI_NAMES_MAX};
static const struct chi_gamesets_spec sets[] = {{.name = NULL}, {.name = "s7"}};
static const struct chi_twin_spec twins = {.days = 400};
static const struct chi_insight_spec insights[] = {
	{.kind = CHI_INSIGHT_WEAK, .filter = "white B"},
	{.kind = CHI_INSIGHT_TEMPO, .min_games = 1},
	{.kind = CHI_INSIGHT_PERFORMANCE, .min_games = 1, .fdr = 1000},
	{.kind = CHI_INSIGHT_DRIFT, .min_games = 1, .fdr = 1000, .split = 2002}};
static const struct chi_explore_request explore = {.fen = START, .filter = "white B"};
static const struct chi_scan_request scans[] = {
	{.spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_KEYS}},
	{.spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_COUNTS, .games = "white B"}},
	{.spec = {.chi2_max = CHI_CHI2_MAX, .order = CHI_ORDER_POSITION, .limit = 5}},
	{.spec = {.chi2_max = CHI_CHI2_MAX, .pattern = "has \"Pe4\""}},
	{.spec = {.chi2_max = CHI_CHI2_MAX, .games = "white B", .whole_counts = true}},
};

/* What is asked, and how many rows there are at least. */
static const struct {
	enum chi_op op;
	const void *spec;
	size_t least;
} asked[] = {
	{CHI_OP_GAME_QUERY, &games[0], 20}, {CHI_OP_GAME_QUERY, &games[1], 20},
	{CHI_OP_GAME_QUERY, &games[2], 20}, {CHI_OP_GAME_QUERY, &games[3], 20},
	{CHI_OP_GAME_QUERY, &games[4], 20}, {CHI_OP_STATS, &stats[0], 1},
	{CHI_OP_STATS, &stats[1], 1},	    {CHI_OP_STATS, &stats[2], 1},
	{CHI_OP_NAMES, &names[0], 40},	    {CHI_OP_NAMES, &names[1], 40},
	{CHI_OP_SUSPECTS, &suspects, 1},    {CHI_OP_GAMESETS, &sets[0], 30},
	{CHI_OP_GAMESETS, &sets[1], 1},	    {CHI_OP_TWINS, &twins, 2},
	{CHI_OP_INSIGHT, &insights[0], 0},  {CHI_OP_INSIGHT, &insights[1], 0},
	{CHI_OP_INSIGHT, &insights[2], 0},  {CHI_OP_INSIGHT, &insights[3], 1},
	{CHI_OP_EXPLORE, &explore, 1},	    {CHI_OP_SCAN, &scans[0], 4},
	{CHI_OP_SCAN, &scans[1], 4},	    {CHI_OP_SCAN, &scans[2], 4},
	{CHI_OP_SCAN, &scans[3], 3}, /* that have such a pawn */
	{CHI_OP_SCAN, &scans[4], 4},	    {CHI_OP_COUNT, &scans[0], 0},
	{CHI_OP_COUNT, &scans[1], 0},	    {CHI_OP_COUNT, &scans[3], 0},
};

CASE(rows_are_those_of_a_quiet_run)
{
	struct seed seed = seed_start("disturbed");
	for (size_t i = 0; i < CHI_COUNT(asked); i++) {
		check_query(&seed, asked[i].op, asked[i].spec, asked[i].least);
	}
}

CASE(every_query_is_asked)
{
	for (enum chi_op op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		bool is_asked = false;
		for (size_t i = 0; i < CHI_COUNT(asked); i++) {
			is_asked |= asked[i].op == op;
		}
		if ((chi_query_ops_of(op) != NULL) != is_asked) {
			fail_msg("%s is a query that is not asked", chi_op_name(op));
		}
	}
}

static int make(void **state)
{
	(void)state;
	fill_store();
	store = help_open(help_path("store"), CHI_STORE_WRITE);
	for (unsigned i = 0; i < 30; i++) {
		char name[16];
		char filter[32];
		(void)snprintf(name, sizeof(name), "s%u", i);
		(void)snprintf(filter, sizeof(filter), "year %u", 1990 + i);
		make_gameset(name, filter);
	}
	return 0;
}

static int drop(void **state)
{
	chi_dir_close(store);
	return help_teardown(state);
}

CASES_MAIN(make, drop)
