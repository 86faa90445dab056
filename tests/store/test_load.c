/* SPDX-License-Identifier: MIT */
/* Loading by the million: the same store as by puts, all of it or nothing. */
#include "tests/store/loads.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "chess/key.h"
#include "chess/movegen.h"
#include "store/load/load.h"
#include "tests/store/help.h"

#define MEMORY (UINT64_C(16) << 20)

#define CONTROL	 CHI_STATISTIC_CONTROL
#define OUTCOME	 CHI_STATISTIC_OUTCOME
#define EXTERNAL CHI_STATISTIC_EXTERNAL

static const enum chi_statistic kinds[] = {CONTROL, OUTCOME, EXTERNAL};

/* Every `step`-th item and game, from `first` on. */
struct part {
	size_t first;
	size_t step;
};

static const struct part all = {0, 1};

/* What a put of the same parts does, one by one. */
static void put_part(struct chi_dir *store, struct part part, uint32_t parts)
{
	struct chi_write *write;
	struct chi_put_result result = {0};
	struct chi_info info;
	struct chi_game_id was;
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = part.first; i < GAMES; i += part.step) {
		if (parts == CHI_PUT_ADD) {
			ok(chi_write_game_id(write, &games[i]));
		} else {
			ok(chi_write_remove_game_id(write, games[i].id, &was));
			assert_memory_equal(was.id, games[i].id, CHI_GAME_ID_SIZE);
			assert_int_equal(was.max_ply, games[i].max_ply);
		}
	}
	ok(chi_write_commit(write, &fault));
	ok(chi_dir_info(store, &info));
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_base(write, &info.games));
	for (size_t i = part.first; i < POSITIONS; i += part.step) {
		struct chi_put_entry put = {
			.key = items[i].key, .parts = parts, .record = items[i].record};
		ok(chi_put_check(&put, chi_dir_statistic(store), &fault));
		ok(chi_write_put(write, &put, &result));
	}
	ok(chi_write_commit(write, &fault));
}

/* How many positions a load is told to expect: none, and trees are changed in place, or so many
 * that they are rewritten. Every test is run both ways. */
static uint64_t expected;

static int in_place(void **state)
{
	(void)state;
	expected = 0;
	return 0;
}

static int rewritten(void **state)
{
	(void)state;
	expected = UINT64_C(1) << 40;
	return 0;
}

static int start(struct chi_load *load, bool subtract, uint64_t games_min,
		 struct chi_load_spec *spec)
{
	const struct chi_load_options options = {.subtract = subtract,
						 .games_min = games_min,
						 .expected = expected,
						 .memory = MEMORY,
						 .dir = help_path(".")};
	return chi_load_start(load, &options, spec, &fault);
}

/* Games, and positions in blocks of several sizes. */
static void load_part(struct chi_load *load, struct part part, bool subtract, uint64_t games_min)
{
	struct chi_load_spec spec;
	struct chi_load_block block = {0};
	struct chi_game_id found;
	for (size_t i = part.first; i < GAMES; i += part.step) {
		int rc = chi_load_find_game(load, games[i].id, &found);
		assert_int_equal(rc, subtract ? CHI_OK : CHI_NONE);
		ok(subtract ? chi_load_ungame(load, &games[i]) : chi_load_game(load, &games[i]));
	}
	ok(start(load, subtract, games_min, &spec));
	for (size_t i = part.first; i < POSITIONS; i += part.step) {
		ok(chi_load_pack(&spec, &items[i].key, &items[i].record, NULL, 0, &block));
		if (help_below(20) == 0 || i + part.step >= POSITIONS) {
			ok(chi_load_apply(load, &block, &fault));
			block.len = 0;
			block.n = 0;
		}
	}
	chi_load_block_free(&block);
}

static void check_same(struct chi_dir *a, struct chi_dir *b)
{
	size_t a_len;
	size_t b_len;
	struct chi_info a_info;
	struct chi_info b_info;
	ok(help_verify(a, NULL));
	ok(help_verify(b, NULL));
	char *a_dump = help_dump(a, &a_len);
	char *b_dump = help_dump(b, &b_len);
	assert_string_equal(a_dump, b_dump);
	free(a_dump);
	free(b_dump);
	ok(chi_dir_info(a, &a_info));
	ok(chi_dir_info(b, &b_info));
	assert_int_equal(a_info.known, b_info.known);
	assert_memory_equal(&a_info.games, &b_info.games, sizeof(a_info.games));
	assert_memory_equal(&a_info.base, &a_info.games, sizeof(a_info.games));
}

/* A new store at that name, loaded with a part. */
static struct chi_dir *loaded(const char *name, enum chi_statistic statistic, struct part part)
{
	struct chi_load *load;
	struct chi_put_result result = {0};
	uint64_t dropped = 0;
	const char *path = help_path(name);
	help_remove(path);
	ok(chi_load_new(path, statistic, CHI_KEEP_COUNTS, &load, &fault));
	load_part(load, part, false, 0);
	assert_int_equal(help_try(path, CHI_STORE_READ), -CHI_ENOSTORE);
	ok(chi_load_finish(load, &result, &dropped, &fault));
	assert_int_equal(result.added, (POSITIONS - part.first + part.step - 1) / part.step);
	assert_int_equal(result.updated + result.unchanged + result.removed + dropped, 0);
	return help_open(path, CHI_STORE_WRITE);
}

static struct chi_put_result load_into(struct chi_dir *store, struct part part, bool subtract)
{
	struct chi_load *load;
	struct chi_put_result result = {0};
	uint64_t dropped = 0;
	ok(chi_load_into(store, &load, &fault));
	load_part(load, part, subtract, 0);
	ok(chi_load_finish(load, &result, &dropped, &fault));
	assert_int_equal(dropped, 0);
	return result;
}

static void test_new_equals_puts(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct chi_dir *put = help_store("put", kinds[i]);
		put_part(put, all, CHI_PUT_ADD);
		struct chi_dir *new = loaded("new", kinds[i], all);
		check_same(put, new);
		chi_dir_close(put);
		chi_dir_close(new);
	}
}

/* Two parts that share positions and no game: the second comes as if all were new, but for the
 * positions that are stored already. */
static void test_into_equals_puts(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct part odd = {1, 2};
		struct part even = {0, 2};
		struct chi_dir *put = help_store("put", kinds[i]);
		struct chi_dir *into = help_store("into", kinds[i]);
		put_part(put, even, CHI_PUT_ADD);
		put_part(put, odd, CHI_PUT_ADD);
		struct chi_put_result result = load_into(into, even, false);
		assert_int_equal(result.added, POSITIONS / 2);
		result = load_into(into, odd, false);
		assert_int_equal(result.added, POSITIONS / 2);
		check_same(put, into);
		for (size_t j = 0; j < GAMES; j++) {
			games[j].id[0] ^= 0x55;
		}
		qsort(games, GAMES, sizeof(games[0]), loads_compare_games);
		put_part(put, all, CHI_PUT_ADD);
		result = load_into(into, all, false);
		assert_int_equal(result.updated, POSITIONS);
		check_same(put, into);
		chi_dir_close(put);
		chi_dir_close(into);
	}
}

/* Taking everything out again gives the store before, to the byte of its dump. */
static void test_subtract_is_the_inverse(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct part even = {0, 2};
		struct chi_dir *put = help_store("put", kinds[i]);
		struct chi_dir *into = help_store("into", kinds[i]);
		put_part(put, even, CHI_PUT_ADD);
		(void)load_into(into, even, false);
		for (size_t j = 0; j < GAMES; j++) {
			games[j].id[0] ^= 0xaa;
		}
		qsort(games, GAMES, sizeof(games[0]), loads_compare_games);
		(void)load_into(into, all, false);
		struct chi_put_result result = load_into(into, all, true);
		assert_int_equal(result.removed, POSITIONS / 2);
		assert_int_equal(result.updated, POSITIONS / 2);
		for (size_t j = 0; j < GAMES; j++) {
			games[j].id[0] ^= 0xaa;
		}
		qsort(games, GAMES, sizeof(games[0]), loads_compare_games);
		ok(help_verify(into, NULL));
		/* The others kept the statistics of their time. */
		uint64_t changed;
		if (kinds[i] == OUTCOME) {
			struct chi_info info;
			ok(chi_dir_info(into, &info));
			ok(help_rescore(into, &info.games, &changed, &fault));
			ok(help_rescore(put, &info.games, &changed, &fault));
		}
		check_same(put, into);
		result = load_into(into, even, true);
		assert_int_equal(result.removed, POSITIONS / 2);
		assert_int_equal(help_count(into), 0);
		put_part(put, even, CHI_PUT_SUBTRACT);
		check_same(put, into);
		chi_dir_close(put);
		chi_dir_close(into);
	}
}

/* Positions with fewer games are kept only if they are stored already. */
static void test_rare_ones_are_dropped(void **state)
{
	(void)state;
	enum {
		MIN = 5
	};
	for (int empty = 0; empty < 2; empty++) {
		struct chi_dir *store = help_store("store", CONTROL);
		struct chi_load *load;
		struct chi_put_result result = {0};
		uint64_t dropped = 0;
		uint64_t rare = 0;
		if (empty == 0) {
			(void)load_into(store, (struct part){0, 2}, false);
			for (size_t j = 0; j < GAMES; j++) {
				games[j].id[1] ^= 1;
			}
		}
		for (size_t i = empty ? 0 : 1; i < POSITIONS; i += empty ? 1 : 2) {
			const struct chi_counts *c = &items[i].record.counts;
			rare += c->white + c->draws + c->black + c->other < MIN;
		}
		assert_true(rare > 0);
		ok(chi_load_into(store, &load, &fault));
		load_part(load, all, false, MIN);
		ok(chi_load_finish(load, &result, &dropped, &fault));
		assert_int_equal(dropped, rare);
		assert_int_equal(result.updated, empty ? 0 : POSITIONS / 2);
		assert_int_equal(result.added + result.updated, POSITIONS - rare);
		ok(help_verify(store, NULL));
		chi_dir_close(store);
	}
	for (size_t j = 0; j < GAMES; j++) {
		games[j].id[1] ^= 1;
	}
	qsort(games, GAMES, sizeof(games[0]), loads_compare_games);
}

/* A load of nothing: a new store is there and empty, an old one has no transaction more. */
static void test_nothing(void **state)
{
	(void)state;
	struct part none = {POSITIONS, 1};
	struct chi_dir *store = loaded("empty", OUTCOME, none);
	assert_int_equal(help_count(store), 0);
	struct chi_info before;
	struct chi_info after;
	struct chi_write *write;
	struct chi_counts base = {5, 6, 7, 8};
	/* Rates that were set by hand stay, too. */
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_base(write, &base));
	ok(chi_write_commit(write, &fault));
	ok(chi_dir_info(store, &before));
	struct chi_put_result result = load_into(store, none, false);
	assert_int_equal(result.added + result.updated + result.unchanged + result.removed, 0);
	ok(chi_dir_info(store, &after));
	assert_int_equal(before.sequence, after.sequence);
	assert_memory_equal(&after.base, &base, sizeof(base));
	chi_dir_close(store);
}

/* Base rates are the games', and the statistics those that a rescoring gives. */
static void test_outcome(void **state)
{
	(void)state;
	struct chi_dir *store = loaded("outcome", OUTCOME, all);
	struct chi_info info;
	uint64_t changed;
	ok(chi_dir_info(store, &info));
	assert_memory_equal(&info.base, &info.games, sizeof(info.base));
	assert_int_equal(info.games.white + info.games.draws + info.games.black + info.games.other,
			 GAMES);
	assert_true(info.known > 0 && info.known < POSITIONS / 2);
	ok(help_rescore(store, NULL, &changed, &fault));
	assert_int_equal(changed, 0);
	chi_dir_close(store);
	/* Without games it is the positions' own counts that count. */
	store = help_store("outcome", OUTCOME);
	help_put(store, &(struct chi_put_entry){.key = items[0].key,
						.parts = CHI_PUT_COUNTS,
						.record = {.counts = {10, 20, 30, 0}}});
	ok(help_rescore(store, NULL, &changed, &fault));
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.base.draws, 20);
	chi_dir_close(store);
}

/* What else a record may hold comes along, and what is stored stays: also a line, for which the
 * strength entry has a value of its own. */
static void test_other_parts(void **state)
{
	(void)state;
	static struct chi_record records[3];
	const chi_move move = items[0].moves[0].move;
	struct chi_eval eval = {.engine = "A", .engine_len = 1, .depth = 9, .score = 5};
	records[0] = (struct chi_record){
		.chi2 = 500, .line = &move, .n_line = 1, .note = "one", .n_note = 3};
	records[1] = (struct chi_record){.chi2 = 700, .evals = &eval, .n_evals = 1};
	records[2] = (struct chi_record){.chi2 = 900, .note = "two", .n_note = 3};
	struct chi_dir *store = NULL;
	for (int i = 0; i < 3; i++) {
		struct chi_load *load;
		struct chi_load_spec spec;
		struct chi_load_block block = {0};
		struct chi_put_result result = {0};
		uint64_t dropped = 0;
		help_remove(help_path(i == 0 ? "parts" : "none"));
		ok(i == 0 ? chi_load_new(help_path("parts"), EXTERNAL, CHI_KEEP_COUNTS, &load,
					 &fault)
			  : chi_load_into(store, &load, &fault));
		ok(start(load, false, 0, &spec));
		ok(chi_load_pack(&spec, &items[0].key, &records[i], NULL, 0, &block));
		ok(chi_load_pack(&spec, &items[1].key, &records[i == 0 ? 1 : 2], NULL, 0, &block));
		ok(chi_load_apply(load, &block, &fault));
		ok(chi_load_finish(load, &result, &dropped, &fault));
		chi_load_block_free(&block);
		store = i == 0 ? help_open(help_path("parts"), CHI_STORE_WRITE) : store;
		ok(help_verify(store, NULL));
	}
	struct chi_arena arena;
	struct chi_read *read;
	struct chi_record found;
	chi_arena_init(&arena, 1 << 20);
	ok(chi_read_begin(store, &read));
	ok(chi_read_record(read, &items[0].key, &arena, &found));
	assert_int_equal(found.chi2, 500);
	assert_int_equal(found.n_line, 1);
	assert_int_equal(found.n_evals, 1);
	assert_string_equal(found.note, "one");
	chi_read_end(read);
	chi_arena_deinit(&arena);
	chi_dir_close(store);
}

/* The first failure stays, and nothing happens. */
static void test_failures(void **state)
{
	(void)state;
	struct chi_dir *store = loaded("store", CONTROL, (struct part){0, 2});
	struct chi_load *load;
	struct chi_load_spec spec;
	struct chi_load_block block = {0};
	struct chi_put_result result = {0};
	uint64_t dropped = 0;
	size_t len;
	char *before = help_dump(store, &len);
	ok(chi_load_into(store, &load, &fault));
	assert_int_equal(chi_load_game(load, &games[0]), -CHI_EEXIST);
	assert_int_equal(chi_load_game(load, &games[1]), -CHI_EEXIST);
	assert_int_equal(chi_load_finish(load, &result, &dropped, &fault), -CHI_EEXIST);
	assert_non_null(strstr(fault.text, "counted already"));
	/* A position that is not there is not taken away. */
	ok(chi_load_into(store, &load, &fault));
	ok(chi_load_ungame(load, &games[0]));
	ok(start(load, true, 0, &spec));
	ok(chi_load_pack(&spec, &items[1].key, &items[1].record, NULL, 0, &block));
	assert_int_equal(chi_load_apply(load, &block, &fault), -CHI_EINVAL);
	assert_int_equal(chi_load_apply(load, &block, &fault), -CHI_EINVAL);
	assert_int_equal(chi_load_finish(load, &result, &dropped, &fault), -CHI_EINVAL);
	assert_true(fault.text[0] != '\0');
	char *after = help_dump(store, &len);
	assert_string_equal(before, after);
	free(before);
	free(after);
	chi_dir_close(store);
	/* Something took the place meanwhile. */
	help_remove(help_path("new"));
	ok(chi_load_new(help_path("new"), CONTROL, CHI_KEEP_COUNTS, &load, &fault));
	load_part(load, all, false, 0);
	chi_dir_close(help_store("new", EXTERNAL));
	assert_int_equal(chi_load_finish(load, &result, &dropped, &fault), -CHI_EEXIST);
	assert_int_equal(result.added, 0);
	assert_int_equal(chi_load_new(help_path("new"), CONTROL, CHI_KEEP_COUNTS, &load, &fault),
			 -CHI_EEXIST);
	assert_int_equal(
		chi_load_new(help_path("no/where"), CONTROL, CHI_KEEP_COUNTS, &load, &fault),
		-CHI_ENOSTORE);
	chi_load_block_free(&block);
}

static int compare_keys(const void *a, const void *b)
{
	return help_key_compare(a, b);
}

/* More than is committed at once: the walk goes on in the next transaction, in both trees. */
static void test_several_commits(void **state)
{
	(void)state;
	enum {
		MANY = 600
	};
	static struct chi_key keys[MANY];
	static char note[CHI_NOTE_MAX];
	struct chi_load *load;
	struct chi_load_spec spec;
	struct chi_load_block block = {0};
	struct chi_put_result result = {0};
	uint64_t dropped = 0;
	struct chi_info info;
	help_keys(keys, MANY);
	qsort(keys, MANY, sizeof(keys[0]), compare_keys);
	help_remove(help_path("large"));
	ok(chi_load_new(help_path("large"), EXTERNAL, CHI_KEEP_COUNTS, &load, &fault));
	for (size_t i = 0; i < GAMES; i++) {
		ok(chi_load_game(load, &games[i]));
	}
	ok(start(load, false, 0, &spec));
	for (size_t i = 0; i < MANY; i++) {
		/* Each at one end of a record's size. */
		size_t n_note = i % 10 == 0 ? 1 : sizeof(note);
		memset(note, 'a' + (int)(i % 26), n_note);
		struct chi_record record = {.chi2 = (uint16_t)(1 + help_below(CHI_CHI2_MAX)),
					    .note = note,
					    .n_note = n_note};
		ok(chi_load_pack(&spec, &keys[i], &record, NULL, 0, &block));
		ok(chi_load_apply(load, &block, &fault));
		block.len = 0;
		block.n = 0;
	}
	ok(chi_load_finish(load, &result, &dropped, &fault));
	chi_load_block_free(&block);
	assert_int_equal(result.added, MANY);
	struct chi_dir *store = help_open(help_path("large"), CHI_STORE_WRITE);
	ok(help_verify(store, NULL));
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.positions, MANY);
	assert_int_equal(info.known, MANY);
	assert_int_equal(info.sequence, 1);
	assert_true(info.used_bytes > (UINT64_C(32) << 20));
	/* What goes on after it does so as in any store. */
	help_put(store, &(struct chi_put_entry){.key = keys[0], .parts = CHI_PUT_NOTE});
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* Lines, whose strength entries are put at once, while the other entries are appended and commits
 * come in between, wherever: `bytes` of notes are in the way of the first one. */
static void load_line_and_notes(size_t bytes)
{
	static char note[CHI_NOTE_MAX];
	struct chi_load *load;
	struct chi_load_spec spec;
	struct chi_load_block block = {0};
	struct chi_put_result result = {0};
	uint64_t dropped = 0;
	memset(note, 'n', sizeof(note));
	help_remove(help_path("line"));
	ok(chi_load_new(help_path("line"), EXTERNAL, CHI_KEEP_COUNTS, &load, &fault));
	chi_load_memory(load, 1);
	ok(start(load, false, 0, &spec));
	for (size_t i = 0; i < POSITIONS; i++) {
		struct chi_record record = {.chi2 = (uint16_t)(i > 0 ? i : CHI_CHI2_MAX)};
		record.line = i == 0 ? &items[0].moves[0].move : NULL;
		record.n_line = i == 0;
		record.note = note;
		record.n_note = bytes < sizeof(note) ? bytes : sizeof(note);
		bytes -= record.n_note;
		ok(chi_load_pack(&spec, &items[i].key, &record, NULL, 0, &block));
	}
	ok(chi_load_apply(load, &block, &fault));
	ok(chi_load_finish(load, &result, &dropped, &fault));
	chi_load_block_free(&block);
	assert_int_equal(result.added, POSITIONS);
}

/* Entries that wait for their turn did when the tree was built of others: a commit in between gave
 * them to half a tree. */
static void test_line_before_a_commit_of_the_strength_tree(void **state)
{
	(void)state;
	for (size_t less = 0; less < 16; less += 2) {
		struct chi_info info;
		load_line_and_notes((1 << 20) - (less << 10));
		struct chi_dir *store = help_open(help_path("line"), CHI_STORE_READ);
		ok(help_verify(store, NULL));
		ok(chi_dir_info(store, &info));
		assert_int_equal(info.known, POSITIONS);
		chi_dir_close(store);
	}
}

static size_t entries_of(const char *path)
{
	size_t n = 0;
	DIR *dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir) != NULL) {
		n++;
	}
	(void)closedir(dir);
	return n;
}

/* Nothing at the path, and nothing beside it. */
static void test_abandoned(void **state)
{
	(void)state;
	struct chi_load *load;
	help_remove(help_path("new"));
	size_t before = entries_of(help_path("."));
	ok(chi_load_new(help_path("new"), CONTROL, CHI_KEEP_COUNTS, &load, &fault));
	load_part(load, all, false, 0);
	chi_load_abandon(load);
	assert_int_equal(entries_of(help_path(".")), before);
	struct chi_dir *store = loaded("store", OUTCOME, (struct part){0, 2});
	size_t len;
	char *dump = help_dump(store, &len);
	ok(chi_load_into(store, &load, &fault));
	load_part(load, (struct part){1, 2}, false, 0);
	chi_load_abandon(load);
	char *again = help_dump(store, &len);
	assert_string_equal(dump, again);
	free(dump);
	free(again);
	chi_load_abandon(NULL);
	chi_dir_close(store);
}

/* A test, and its name said again for the second way. */
#define both_ways(test)                                                                            \
	cmocka_unit_test_setup(test, in_place),                                                    \
	{                                                                                          \
#test "_rewritten", test, rewritten, NULL, NULL                                    \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		both_ways(test_new_equals_puts),
		both_ways(test_into_equals_puts),
		both_ways(test_subtract_is_the_inverse),
		both_ways(test_rare_ones_are_dropped),
		both_ways(test_nothing),
		both_ways(test_outcome),
		both_ways(test_other_parts),
		both_ways(test_several_commits),
		cmocka_unit_test(test_line_before_a_commit_of_the_strength_tree),
		both_ways(test_failures),
		both_ways(test_abandoned),
	};
	loads_make();
	int failed = cmocka_run_group_tests_name("store/load", tests, NULL, NULL);
	help_clean();
	return failed;
}
