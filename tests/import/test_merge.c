/* SPDX-License-Identifier: MIT */
/* Merging stores: each rule of what becomes of what both hold, and that a merge that fails, for
 * whatever reason, changes nothing. */
#include "tests/store/help.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "import/importer.h"
#include "chess/key.h"
#include "chess/movegen.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static const chi_move e4 = 12 << 6 | 28;
static const chi_move d4 = 11 << 6 | 27;

static struct chi_import_result result;

/* Feeds a text in pieces of `piece` bytes. */
static int merge_text(struct chi_store *store, const char *text, size_t len, size_t piece)
{
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_MERGE};
	struct chi_importer *importer = NULL;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	int rc = chi_importer_file(importer, "other", &fault);
	for (size_t at = 0; rc == CHI_OK && at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		rc = chi_importer_feed(importer, text + at, n, &fault);
	}
	if (rc == CHI_OK) {
		rc = chi_importer_commit(importer, &result, &fault);
	}
	chi_importer_free(importer);
	return rc;
}

static int merge(struct chi_store *store, struct chi_store *other)
{
	size_t len = 0;
	char *text = help_dump(other, &len);
	int rc = merge_text(store, text, len, 1 + help_below(5000));
	free(text);
	return rc;
}

static void assert_same(struct chi_store *a, struct chi_store *b, bool same)
{
	size_t len_a = 0;
	size_t len_b = 0;
	char *text_a = help_dump(a, &len_a);
	char *text_b = help_dump(b, &len_b);
	assert_int_equal(len_a == len_b && memcmp(text_a, text_b, len_a) == 0, same);
	free(text_a);
	free(text_b);
}

/* A store of one record at the initial position. */
static struct chi_store *store_of(const char *name, enum chi_statistic statistic, uint32_t parts,
				  const struct chi_record *record)
{
	struct chi_store *store = help_store(name, statistic);
	struct chi_put put = {.key = help_fen(START), .parts = parts, .record = *record};
	help_put(store, &put);
	return store;
}

static struct chi_arena arena;

/* The record at the initial position, until the next call. */
static struct chi_record start_of(struct chi_store *store)
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

static void counts_moves_and_plies_are_added(void **state)
{
	(void)state;
	const struct chi_move_stat ours[] = {{e4, {.white = 2, .other = 1}}};
	const struct chi_move_stat theirs[] = {{d4, {.black = 4}}, {e4, {.white = 1, .draws = 1}}};
	const struct chi_ply_stat at_start[] = {{0, 3}};
	const struct chi_ply_stat later[] = {{0, 2}, {8, 4}};
	struct chi_store *a = store_of("a", CHI_STATISTIC_CONTROL, CHI_PUT_ADD,
				       &(struct chi_record){.counts = {.white = 2, .other = 1},
							    .moves = ours,
							    .n_moves = 1,
							    .plies = at_start,
							    .n_plies = 1});
	struct chi_store *b =
		store_of("b", CHI_STATISTIC_CONTROL, CHI_PUT_ADD,
			 &(struct chi_record){.counts = {.white = 1, .draws = 1, .black = 4},
					      .moves = theirs,
					      .n_moves = 2,
					      .plies = later,
					      .n_plies = 2});
	ok(merge(a, b));
	assert_int_equal(result.positions.updated, 1);
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
	chi_store_close(a);
	chi_store_close(b);
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
static void evaluations_deeper_then_later_then_ours(void **state)
{
	(void)state;
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
	struct chi_store *a = store_of("a", CHI_STATISTIC_CONTROL, CHI_PUT_EVALS,
				       &(struct chi_record){.evals = ours, .n_evals = 6});
	struct chi_store *b = store_of("b", CHI_STATISTIC_CONTROL, CHI_PUT_EVALS,
				       &(struct chi_record){.evals = theirs, .n_evals = 6});
	ok(merge(a, b));
	struct chi_record record = start_of(a);
	assert_int_equal(record.n_evals, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(record.evals[i].score, expected[i]);
	}
	chi_store_close(a);
	chi_store_close(b);
}

/* Ours, or theirs if we have none; what gives way is counted. */
static void notes_and_lines(void **state)
{
	(void)state;
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
		struct chi_store *a = store_of("a", CHI_STATISTIC_CONTROL, parts, cases[i].ours);
		struct chi_store *b = store_of("b", CHI_STATISTIC_CONTROL, parts, cases[i].theirs);
		ok(merge(a, b));
		struct chi_record record = start_of(a);
		assert_string_equal(record.note, cases[i].note);
		assert_int_equal(record.n_line, 1);
		assert_int_equal(record.line[0], cases[i].line);
		assert_int_equal(result.dropped, cases[i].dropped);
		chi_store_close(a);
		chi_store_close(b);
	}
}

/* A supplied statistic stays, or comes where there is none; another kind's never comes. */
static void statistics(void **state)
{
	(void)state;
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
		struct chi_store *a = store_of("a", CHI_STATISTIC_EXTERNAL, CHI_PUT_CHI2,
					       &(struct chi_record){.chi2 = cases[i].ours});
		struct chi_store *b =
			store_of("b", cases[i].kind,
				 cases[i].kind == CHI_STATISTIC_EXTERNAL ? CHI_PUT_CHI2 : 0,
				 &(struct chi_record){.chi2 = cases[i].theirs});
		ok(merge(a, b));
		assert_int_equal(start_of(a).chi2, cases[i].merged);
		chi_store_close(a);
		chi_store_close(b);
	}
}

static struct chi_game_id game_of(uint8_t number, uint8_t outcome)
{
	struct chi_game_id game = {.id = {number, 1, 2, 3}, .result = outcome};
	return game;
}

/* The base rates follow, as after an import. */
static void put_game_ids(struct chi_store *store, uint8_t first, uint8_t n)
{
	struct chi_write *write = NULL;
	struct chi_info info;
	ok(chi_write_begin(store, &write, &fault));
	for (uint8_t i = 0; i < n; i++) {
		struct chi_game_id game = game_of((uint8_t)(first + i), i % 4);
		ok(chi_write_game_id(write, &game));
	}
	ok(chi_write_commit(write, &fault));
	ok(chi_store_info(store, &info));
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_base(write, &info.games));
	ok(chi_write_commit(write, &fault));
}

/* The base rates of an outcome store become the results of all games. */
static void games_are_united(void **state)
{
	(void)state;
	struct chi_info info;
	const struct chi_record record = {.counts = {.white = 30, .draws = 5, .black = 5}};
	struct chi_store *a = store_of("a", CHI_STATISTIC_OUTCOME, CHI_PUT_ADD, &record);
	struct chi_store *b = store_of("b", CHI_STATISTIC_OUTCOME, CHI_PUT_ADD, &record);
	put_game_ids(a, 0, 40);
	put_game_ids(b, 100, 80);
	ok(merge(a, b));
	assert_int_equal(result.games, 80);
	assert_int_equal(result.taken, 80);
	ok(chi_store_info(a, &info));
	assert_int_equal(info.games.white, 30);
	assert_int_equal(info.games.other, 30);
	assert_int_equal(info.base.draws, 30);
	struct chi_record merged = start_of(a);
	assert_int_equal(merged.counts.white, 60);
	/* 80 games against rates of a third each: 26.67 expected of each result. */
	assert_int_equal(merged.chi2, 6250);
	assert_int_equal(help_verify(a, &(struct chi_verify_result){0}), CHI_OK);
	chi_store_close(a);
	chi_store_close(b);
}

/* Without games the base rates are those of both stores together. */
static void base_rates_without_games(void **state)
{
	(void)state;
	struct chi_info info;
	const struct chi_record record = {.counts = {.white = 3}};
	const struct chi_counts rates[] = {{.white = 10, .draws = 20, .black = 30},
					   {.white = 1, .draws = 2, .black = 3}};
	struct chi_store *stores[2];
	for (int i = 0; i < 2; i++) {
		uint64_t changed;
		stores[i] =
			store_of(i == 0 ? "a" : "b", CHI_STATISTIC_OUTCOME, CHI_PUT_ADD, &record);
		ok(chi_store_rescore(stores[i], &rates[i], &changed, &fault));
	}
	ok(merge(stores[0], stores[1]));
	ok(chi_store_info(stores[0], &info));
	assert_int_equal(info.base.white, 11);
	assert_int_equal(info.base.black, 33);
	chi_store_close(stores[0]);
	chi_store_close(stores[1]);
}

static void common_games_are_refused(void **state)
{
	(void)state;
	const struct chi_record record = {.counts = {.white = 1}};
	struct chi_store *a = store_of("a", CHI_STATISTIC_CONTROL, CHI_PUT_ADD, &record);
	struct chi_store *b = store_of("b", CHI_STATISTIC_CONTROL, CHI_PUT_ADD, &record);
	struct chi_store *before = store_of("before", CHI_STATISTIC_CONTROL, CHI_PUT_ADD, &record);
	put_game_ids(a, 0, 10);
	put_game_ids(before, 0, 10);
	put_game_ids(b, 7, 20);
	assert_int_equal(merge(a, b), -CHI_EEXIST);
	assert_non_null(strstr(fault.text, "3 of its 20 games"));
	assert_same(a, before, true);
	/* And so is merging the same store again. */
	put_game_ids(before, 100, 1);
	ok(merge(b, before) == -CHI_EEXIST ? CHI_OK : -CHI_EINTERNAL);
	chi_store_close(a);
	chi_store_close(b);
	chi_store_close(before);
}

/* Where no rule prefers ours, either way gives the same. */
static void merging_is_symmetric(void **state)
{
	(void)state;
	enum {
		N = 300
	};
	struct chi_key keys[N];
	struct chi_store *stores[4];
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
	ok(merge(stores[2], stores[0]));
	assert_int_equal(result.positions.added, 2 * N / 3);
	ok(merge(stores[3], stores[1]));
	assert_same(stores[0], stores[2], true);
	ok(merge(stores[2], stores[1]));
	assert_int_equal(result.positions.added, N / 3);
	assert_int_equal(result.positions.updated, N / 3);
	ok(merge(stores[3], stores[0]));
	assert_same(stores[2], stores[3], true);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(help_verify(stores[i], &(struct chi_verify_result){0}), CHI_OK);
		chi_store_close(stores[i]);
	}
}

/* Games of a text into a new store. */
static struct chi_store *import(const char *name, enum chi_statistic statistic, const char *text,
				size_t len)
{
	struct chi_store *store = help_store(name, statistic);
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_ADD};
	struct chi_importer *importer = NULL;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_file(importer, name, &fault));
	ok(chi_importer_feed(importer, text, len, &fault));
	ok(chi_importer_commit(importer, &result, &fault));
	chi_importer_free(importer);
	return store;
}

static char *read_games(size_t *len)
{
	const char *folder = getenv("CHISTORE_TEST_DATA");
	char path[4096];
	assert_non_null(folder);
	snprintf(path, sizeof(path), "%s/pgn/masters_300.pgn", folder);
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
static void halves_are_the_whole(void **state)
{
	static const enum chi_statistic kinds[] = {CHI_STATISTIC_CONTROL, CHI_STATISTIC_OUTCOME};
	size_t len = 0;
	char *text = read_games(&len);
	const char *middle = strstr(text + len / 2, "[Event ");
	(void)state;
	assert_non_null(middle);
	size_t half = (size_t)(middle - text);
	for (int i = 0; i < 2; i++) {
		struct chi_store *whole = import("whole", kinds[i], text, len);
		assert_int_equal(result.taken, 300);
		struct chi_store *a = import("a", kinds[i], text, half);
		uint64_t first = result.taken;
		struct chi_store *b = import("b", kinds[i], middle, len - half);
		ok(merge(a, b));
		assert_int_equal(first + result.taken, 300);
		if (kinds[i] == CHI_STATISTIC_OUTCOME) {
			uint64_t changed;
			ok(chi_store_rescore(a, NULL, &changed, &fault));
			ok(chi_store_rescore(whole, NULL, &changed, &fault));
		}
		assert_same(a, whole, true);
		assert_int_equal(help_verify(a, &(struct chi_verify_result){0}), CHI_OK);
		/* And once more is refused. */
		assert_int_equal(merge(a, b), -CHI_EEXIST);
		assert_same(a, whole, true);
		chi_store_close(whole);
		chi_store_close(a);
		chi_store_close(b);
	}
	free(text);
}

/* Every cut, and every line that is not as it should be: refused, named, nothing changed. */
static void damaged_dumps_change_nothing(void **state)
{
	(void)state;
	enum {
		N = 5
	};
	struct chi_key keys[N];
	help_keys(keys, N);
	struct chi_store *other = help_store("b", CHI_STATISTIC_CONTROL);
	struct chi_store *store = help_store("a", CHI_STATISTIC_CONTROL);
	struct chi_store *empty = help_store("empty", CHI_STATISTIC_CONTROL);
	help_fill(other, keys, N);
	put_game_ids(other, 0, 3);
	size_t len = 0;
	char *text = help_dump(other, &len);
	for (size_t cut = 0; cut < len; cut++) {
		assert_int_equal(merge_text(store, text, cut, 64), -CHI_ESYNTAX);
	}
	char *twice = malloc(2 * len + 1);
	assert_non_null(twice);
	/* A line that occurs twice: positions out of order, or a game that comes again. */
	const char *line = text;
	for (unsigned number = 1; line < text + len; number++) {
		const char *next = strchr(line, '\n') + 1;
		size_t head = (size_t)(next - text);
		size_t n = (size_t)(next - line);
		memcpy(twice, text, head);
		memcpy(twice + head, line, n);
		memcpy(twice + head + n, next, len - head);
		assert_true(merge_text(store, twice, len + n, 100) < 0);
		line = next;
	}
	memcpy(twice, text, len);
	twice[len] = '\n';
	assert_int_equal(merge_text(store, twice, len + 1, 7), -CHI_ESYNTAX);
	assert_same(store, empty, true);
	ok(merge_text(store, text, len, 1));
	assert_same(store, other, true);
	free(twice);
	free(text);
	chi_store_close(store);
	chi_store_close(other);
	chi_store_close(empty);
}

static void one_store_a_session(void **state)
{
	(void)state;
	struct chi_store *store = help_store("a", CHI_STATISTIC_CONTROL);
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_MERGE};
	struct chi_importer *importer = NULL;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_file(importer, "one", &fault));
	assert_int_equal(chi_importer_file(importer, "two", &fault), -CHI_EINVAL);
	chi_importer_free(importer);
	target = (struct chi_importer_target){.path = help_path("new")};
	assert_int_equal(chi_importer_begin(&target, &options, &importer, &fault), -CHI_EINVAL);
	chi_store_close(store);
}

static void asked_to_stop(void **state)
{
	(void)state;
	volatile int stop = 0;
	struct chi_store *store = help_store("a", CHI_STATISTIC_CONTROL);
	struct chi_store *other = store_of("b", CHI_STATISTIC_CONTROL, CHI_PUT_ADD,
					   &(struct chi_record){.counts = {.white = 1}});
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_MERGE, .cancel = &stop};
	struct chi_importer *importer = NULL;
	size_t len = 0;
	char *text = help_dump(other, &len);
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_feed(importer, text, len, &fault));
	stop = 1;
	assert_int_equal(chi_importer_commit(importer, &result, &fault), -CHI_ECANCELED);
	chi_importer_free(importer);
	assert_int_equal(help_count(store), 0);
	free(text);
	chi_store_close(store);
	chi_store_close(other);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_moves_and_plies_are_added),
		cmocka_unit_test(evaluations_deeper_then_later_then_ours),
		cmocka_unit_test(notes_and_lines),
		cmocka_unit_test(statistics),
		cmocka_unit_test(games_are_united),
		cmocka_unit_test(base_rates_without_games),
		cmocka_unit_test(common_games_are_refused),
		cmocka_unit_test(merging_is_symmetric),
		cmocka_unit_test(halves_are_the_whole),
		cmocka_unit_test(damaged_dumps_change_nothing),
		cmocka_unit_test(one_store_a_session),
		cmocka_unit_test(asked_to_stop),
	};
	return cmocka_run_group_tests_name("import merge", tests, setup, teardown);
}
