/* SPDX-License-Identifier: MIT */
/* Merging stores: each rule of what becomes of what both hold, and that a merge that fails, for
 * whatever reason, changes nothing. */
#include "tests/import/merging.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static const chi_move e4 = 12 << 6 | 28;
static const chi_move d4 = 11 << 6 | 27;

/* A store of one record at the initial position. */
static struct chi_dir *store_of(const char *name, enum chi_statistic statistic, uint32_t parts,
				const struct chi_record *record)
{
	struct chi_dir *store = help_store(name, statistic);
	struct chi_put_entry put = {.key = help_fen(START), .parts = parts, .record = *record};
	help_put(store, &put);
	return store;
}

static struct chi_arena arena;

/* The record at the initial position, until the next call. */
static struct chi_record start_of(struct chi_dir *store)
{
	struct chi_key key = help_fen(START);
	struct chi_record record = {0};
	struct chi_read *read = NULL;
	chi_arena_reset(&arena);
	ok(chi_read_begin(store, &read));
	ok(chi_read_record(read, &key, &arena, &record));
	chi_read_end(read);
	return record;
}

CASE(counts_moves_and_plies_are_added)
{
	const struct chi_move_stat ours[] = {{e4, {.white = 2, .other = 1}}};
	const struct chi_move_stat theirs[] = {{d4, {.black = 4}}, {e4, {.white = 1, .draws = 1}}};
	const struct chi_ply_stat at_start[] = {{0, 3}};
	const struct chi_ply_stat later[] = {{0, 2}, {8, 4}};
	struct chi_dir *a = store_of("a", CHI_STATISTIC_CONTROL, CHI_PUT_ADD,
				     &(struct chi_record){.counts = {.white = 2, .other = 1},
							  .moves = ours,
							  .n_moves = 1,
							  .plies = at_start,
							  .n_plies = 1});
	struct chi_dir *b =
		store_of("b", CHI_STATISTIC_CONTROL, CHI_PUT_ADD,
			 &(struct chi_record){.counts = {.white = 1, .draws = 1, .black = 4},
					      .moves = theirs,
					      .n_moves = 2,
					      .plies = later,
					      .n_plies = 2});
	ok(merging(a, b));
	assert_int_equal(merging_result.positions.updated, 1);
	struct chi_record record = start_of(a);
	assert_int_equal(record.counts.white, 3);
	assert_int_equal(record.counts.draws, 1);
	assert_int_equal(record.counts.black, 4);
	assert_int_equal(record.counts.other, 1);
	assert_int_equal(record.n_moves, 2);
	assert_int_equal(record.moves[0].move, d4);
	assert_int_equal(record.moves[1].counts.white, 3);
	assert_int_equal(record.moves[1].counts.draws, 1);
	assert_int_equal(record.n_plies, 2);
	assert_int_equal(record.plies[0].games, 5);
	assert_int_equal(record.plies[1].games, 4);
	assert_int_equal(record.chi2, 7600);
	chi_dir_close(a);
	chi_dir_close(b);
}

static struct chi_eval eval_of(const char *engine, uint32_t depth, int32_t score, uint64_t date)
{
	return (struct chi_eval){.engine = engine,
				 .engine_len = strlen(engine),
				 .depth = depth,
				 .score = score,
				 .date = date};
}

/* Score 1 is ours, 2 theirs. */
CASE(evaluations_deeper_then_later_then_ours)
{
	const struct chi_eval ours[] = {
		eval_of("a deeper", 9, 1, 0),	eval_of("b flatter", 8, 1, 99),
		eval_of("c later", 8, 1, 50),	eval_of("d earlier", 8, 1, 40),
		eval_of("e the same", 8, 1, 0), eval_of("f alone", 1, 1, 0),
	};
	const struct chi_eval theirs[] = {
		eval_of("a deeper", 8, 2, 99),	eval_of("b flatter", 9, 2, 0),
		eval_of("c later", 8, 2, 40),	eval_of("d earlier", 8, 2, 50),
		eval_of("e the same", 8, 2, 0), eval_of("g alone", 1, 2, 0),
	};
	static const int32_t expected[] = {1, 2, 1, 2, 1, 1, 2};
	struct chi_dir *a = store_of("a", CHI_STATISTIC_CONTROL, CHI_PUT_EVALS,
				     &(struct chi_record){.evals = ours, .n_evals = 6});
	struct chi_dir *b = store_of("b", CHI_STATISTIC_CONTROL, CHI_PUT_EVALS,
				     &(struct chi_record){.evals = theirs, .n_evals = 6});
	ok(merging(a, b));
	struct chi_record record = start_of(a);
	assert_int_equal(record.n_evals, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(record.evals[i].score, expected[i]);
	}
	chi_dir_close(a);
	chi_dir_close(b);
}

/* Ours, or theirs if we have none; what gives way is counted. */
CASE(notes_and_lines)
{
	const struct chi_record none = {.n_note = 0};
	const struct chi_record one = {.note = "one", .n_note = 3, .line = &e4, .n_line = 1};
	const struct chi_record two = {.note = "two", .n_note = 3, .line = &d4, .n_line = 1};
	const struct {
		const struct chi_record *ours;
		const struct chi_record *theirs;
		const char *note;
		chi_move line;
		uint64_t dropped;
	} cases[] = {
		{&none, &one, "one", e4, 0},
		{&one, &none, "one", e4, 0},
		{&one, &one, "one", e4, 0},
		{&one, &two, "one", e4, 2},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		uint32_t parts = CHI_PUT_NOTE | CHI_PUT_LINE;
		struct chi_dir *a = store_of("a", CHI_STATISTIC_CONTROL, parts, cases[i].ours);
		struct chi_dir *b = store_of("b", CHI_STATISTIC_CONTROL, parts, cases[i].theirs);
		ok(merging(a, b));
		struct chi_record record = start_of(a);
		assert_string_equal(record.note, cases[i].note);
		assert_int_equal(record.n_line, 1);
		assert_int_equal(record.line[0], cases[i].line);
		assert_int_equal(merging_result.dropped, cases[i].dropped);
		chi_dir_close(a);
		chi_dir_close(b);
	}
}

/* A supplied statistic stays, or comes where there is none; another kind's never comes. */
CASE(statistics)
{
	const struct {
		uint16_t ours;
		uint16_t theirs;
		enum chi_statistic kind;
		uint16_t merged;
	} cases[] = {
		{100, 200, CHI_STATISTIC_EXTERNAL, 100},
		{0, 200, CHI_STATISTIC_EXTERNAL, 200},
		{100, 0, CHI_STATISTIC_EXTERNAL, 100},
		{0, 0, CHI_STATISTIC_CONTROL, 0},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		struct chi_dir *a = store_of("a", CHI_STATISTIC_EXTERNAL, CHI_PUT_CHI2,
					     &(struct chi_record){.chi2 = cases[i].ours});
		struct chi_dir *b =
			store_of("b", cases[i].kind,
				 cases[i].kind == CHI_STATISTIC_EXTERNAL ? CHI_PUT_CHI2 : 0,
				 &(struct chi_record){.chi2 = cases[i].theirs});
		ok(merging(a, b));
		assert_int_equal(start_of(a).chi2, cases[i].merged);
		chi_dir_close(a);
		chi_dir_close(b);
	}
}

static struct chi_game_id game_of(uint8_t number, uint8_t outcome)
{
	struct chi_game_id game = {.id = {number, 1, 2, 3}, .result = outcome};
	return game;
}

/* The base rates follow, as after an import. */
static void put_game_ids(struct chi_dir *store, uint8_t first, uint8_t n)
{
	struct chi_write *write = NULL;
	struct chi_info info;
	ok(chi_write_begin(store, &write, &fault));
	for (uint8_t i = 0; i < n; i++) {
		struct chi_game_id game = game_of((uint8_t)(first + i), i % 4);
		ok(chi_write_game_id(write, &game));
	}
	ok(chi_write_commit(write, &fault));
	ok(chi_dir_info(store, &info));
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_base(write, &info.games));
	ok(chi_write_commit(write, &fault));
}

/* The base rates of an outcome store become the results of all games. */
CASE(games_are_united)
{
	struct chi_info info;
	const struct chi_record record = {.counts = {.white = 30, .draws = 5, .black = 5}};
	struct chi_dir *a = store_of("a", CHI_STATISTIC_OUTCOME, CHI_PUT_ADD, &record);
	struct chi_dir *b = store_of("b", CHI_STATISTIC_OUTCOME, CHI_PUT_ADD, &record);
	put_game_ids(a, 0, 40);
	put_game_ids(b, 100, 80);
	ok(merging(a, b));
	assert_int_equal(merging_result.games, 80);
	assert_int_equal(merging_result.taken, 80);
	ok(chi_dir_info(a, &info));
	assert_int_equal(info.games.white, 30);
	assert_int_equal(info.games.other, 30);
	assert_int_equal(info.base.draws, 30);
	struct chi_record merged = start_of(a);
	assert_int_equal(merged.counts.white, 60);
	/* 80 games against rates of a third each: 26.67 expected of each merging_result. */
	assert_int_equal(merged.chi2, 6250);
	assert_int_equal(help_verify(a, &(struct chi_verify_result){0}), CHI_OK);
	chi_dir_close(a);
	chi_dir_close(b);
}

/* Without games the base rates are those of both stores together. */
CASE(base_rates_without_games)
{
	struct chi_info info;
	const struct chi_record record = {.counts = {.white = 3}};
	const struct chi_counts rates[] = {{.white = 10, .draws = 20, .black = 30},
					   {.white = 1, .draws = 2, .black = 3}};
	struct chi_dir *stores[2];
	for (int i = 0; i < 2; i++) {
		uint64_t changed;
		stores[i] =
			store_of(i == 0 ? "a" : "b", CHI_STATISTIC_OUTCOME, CHI_PUT_ADD, &record);
		ok(help_rescore(stores[i], &rates[i], &changed, &fault));
	}
	ok(merging(stores[0], stores[1]));
	ok(chi_dir_info(stores[0], &info));
	assert_int_equal(info.base.white, 11);
	assert_int_equal(info.base.black, 33);
	chi_dir_close(stores[0]);
	chi_dir_close(stores[1]);
}

CASE(common_games_are_refused)
{
	const struct chi_record record = {.counts = {.white = 1}};
	struct chi_dir *a = store_of("a", CHI_STATISTIC_CONTROL, CHI_PUT_ADD, &record);
	struct chi_dir *b = store_of("b", CHI_STATISTIC_CONTROL, CHI_PUT_ADD, &record);
	struct chi_dir *before = store_of("before", CHI_STATISTIC_CONTROL, CHI_PUT_ADD, &record);
	put_game_ids(a, 0, 10);
	put_game_ids(before, 0, 10);
	put_game_ids(b, 7, 20);
	assert_int_equal(merging(a, b), -CHI_EEXIST);
	assert_non_null(strstr(fault.text, "3 of its 20 games"));
	merging_same(a, before, true);
	/* And so is merging the same store again. */
	put_game_ids(before, 100, 1);
	ok(merging(b, before) == -CHI_EEXIST ? CHI_OK : -CHI_EINTERNAL);
	chi_dir_close(a);
	chi_dir_close(b);
	chi_dir_close(before);
}

/* Where no rule prefers ours, either way gives the same. */
CASE(merging_is_symmetric)
{
	enum {
		N = 300
	};
	struct chi_key keys[N];
	struct chi_dir *stores[4];
	static const char *const names[] = {"a", "b", "a again", "b again"};
	help_keys(keys, N);
	for (int i = 0; i < 4; i++) {
		stores[i] = help_store(names[i], CHI_STATISTIC_CONTROL);
	}
	help_fill(stores[0], keys, 2 * N / 3);
	help_fill(stores[1], keys + N / 3, 2 * N / 3);
	put_game_ids(stores[0], 0, 30);
	put_game_ids(stores[1], 30, 30);
	/* Into an empty store the merge is a copy. */
	ok(merging(stores[2], stores[0]));
	assert_int_equal(merging_result.positions.added, 2 * N / 3);
	ok(merging(stores[3], stores[1]));
	merging_same(stores[0], stores[2], true);
	ok(merging(stores[2], stores[1]));
	assert_int_equal(merging_result.positions.added, N / 3);
	assert_int_equal(merging_result.positions.updated, N / 3);
	ok(merging(stores[3], stores[0]));
	merging_same(stores[2], stores[3], true);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(help_verify(stores[i], &(struct chi_verify_result){0}), CHI_OK);
		chi_dir_close(stores[i]);
	}
}

static char *read_games(size_t *len)
{
	const char *folder = getenv("CHISTORE_TEST_DATA");
	char path[4096];
	assert_non_null(folder);
	snprintf(path, sizeof(path), "%s/pgn/games_300.pgn", folder);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	char *text = calloc(1, (size_t)1 << 20);
	assert_non_null(text);
	*len = fread(text, 1, ((size_t)1 << 20) - 1, file);
	assert_true(feof(file));
	fclose(file);
	return text;
}

/* Halves of a collection, merged, are the collection. In an outcome store the statistics of what
 * the other half did not touch follow at the next rescore, as after any import. */
CASE(halves_are_the_whole)
{
	static const enum chi_statistic kinds[] = {CHI_STATISTIC_CONTROL, CHI_STATISTIC_OUTCOME};
	size_t len = 0;
	char *text = read_games(&len);
	const char *middle = strstr(text + len / 2, "[Event ");
	assert_non_null(middle);
	size_t half = (size_t)(middle - text);
	for (int i = 0; i < 2; i++) {
		struct chi_dir *whole = merging_import("whole", kinds[i], text, len);
		assert_int_equal(merging_result.taken, 300);
		struct chi_dir *a = merging_import("a", kinds[i], text, half);
		uint64_t first = merging_result.taken;
		struct chi_dir *b = merging_import("b", kinds[i], middle, len - half);
		ok(merging(a, b));
		assert_int_equal(first + merging_result.taken, 300);
		if (kinds[i] == CHI_STATISTIC_OUTCOME) {
			uint64_t changed;
			ok(help_rescore(a, NULL, &changed, &fault));
			ok(help_rescore(whole, NULL, &changed, &fault));
		}
		merging_same(a, whole, true);
		assert_int_equal(help_verify(a, &(struct chi_verify_result){0}), CHI_OK);
		/* And once more is refused. */
		assert_int_equal(merging(a, b), -CHI_EEXIST);
		merging_same(a, whole, true);
		chi_dir_close(whole);
		chi_dir_close(a);
		chi_dir_close(b);
	}
	free(text);
}

static int setup(void **state)
{
	(void)state;
	chi_arena_init(&arena, (size_t)16 << 20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	chi_arena_deinit(&arena);
	return 0;
}

CASES_MAIN(setup, teardown)
