/* SPDX-License-Identifier: MIT */
/* Taking games away: the exact inverse of adding them, and what is refused. */
#include "tests/store/help.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/statistic.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/record/codec.h"
#include "store/record/merge.h"
#include "store/store.h"
#include "store/txn/txn.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define E4    (12 << 6 | 28)
#define D4    (11 << 6 | 27)

static struct chi_key start;

/* ---- Histories ------------------------------------------------------------------------------ */

#define POSITIONS 60
#define PUTS	  400

/* What a game tells of one position: one result, one move, one ply. */
struct told {
	struct chi_put_entry put;
	struct chi_move_stat move;
	struct chi_ply_stat plies[2];
};

static struct told told[PUTS];

static void random_told(struct told *t, const struct chi_key *key)
{
	struct chi_position position;
	struct chi_move_list list;
	*t = (struct told){.put = {.key = *key, .parts = CHI_PUT_ADD}};
	struct chi_record *r = &t->put.record;
	r->counts = (struct chi_counts){1 + help_below(4), help_below(3), help_below(2) * 500, 1};
	ok(chi_key_decode(key, &position, &fault));
	chi_movegen_legal(&position, &list);
	if (list.n > 0) {
		t->move.move = list.moves[help_below((unsigned)list.n)];
		t->move.counts = r->counts;
		r->n_moves = help_below(5) > 0;
	}
	t->plies[0] = (struct chi_ply_stat){(uint16_t)help_below(6), 1};
	t->plies[1] = (struct chi_ply_stat){(uint16_t)(6 + help_below(6)), r->counts.white};
	r->n_plies = help_below(3);
}

static void put_all(struct chi_dir *store, uint32_t parts, size_t from,
		    struct chi_put_result *result)
{
	struct chi_write *write;
	*result = (struct chi_put_result){0};
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = from; i < PUTS; i++) {
		struct told *t = &told[i];
		t->put.parts = parts;
		t->put.record.moves = &t->move;
		t->put.record.plies = t->plies;
		ok(chi_put_check(&t->put, chi_dir_statistic(store), &fault));
		ok(chi_write_put(write, &t->put, result));
	}
	ok(chi_write_commit(write, &fault));
}

/* In another order than they came. */
static void shuffle(size_t from)
{
	for (size_t i = PUTS - 1; i > from; i--) {
		size_t j = from + help_below((unsigned)(i - from + 1));
		struct told swap = told[i];
		told[i] = told[j];
		told[j] = swap;
	}
}

static void check_dump(struct chi_dir *store, const char *expected)
{
	size_t len;
	char *now = help_dump(store, &len);
	assert_string_equal(now, expected);
	free(now);
	ok(help_verify(store, NULL));
}

static void run(enum chi_statistic statistic)
{
	struct chi_key keys[POSITIONS];
	struct chi_put_result result = {0};
	struct chi_write *write;
	size_t len;
	help_keys(keys, POSITIONS);
	struct chi_dir *store = help_store("subtracted", statistic);
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_base(write, &(struct chi_counts){400, 300, 300, 5}));
	ok(chi_write_commit(write, &fault));
	char *empty = help_dump(store, &len);
	for (size_t i = 0; i < PUTS; i++) {
		random_told(&told[i], &keys[help_below(i < PUTS / 4 ? 20 : POSITIONS)]);
	}
	/* The first quarter alone; then all; then the others away again. */
	struct chi_dir *twin = help_store("quarter", statistic);
	ok(chi_write_begin(twin, &write, &fault));
	ok(chi_write_base(write, &(struct chi_counts){400, 300, 300, 5}));
	for (size_t i = 0; i < PUTS / 4; i++) {
		told[i].put.record.moves = &told[i].move;
		told[i].put.record.plies = told[i].plies;
		ok(chi_write_put(write, &told[i].put, &result));
	}
	ok(chi_write_commit(write, &fault));
	char *quarter = help_dump(twin, &len);
	chi_dir_close(twin);
	put_all(store, CHI_PUT_ADD, 0, &result);
	uint64_t positions = help_count(store);
	assert_int_equal(result.added, positions);
	shuffle(PUTS / 4);
	put_all(store, CHI_PUT_SUBTRACT, PUTS / 4, &result);
	check_dump(store, quarter);
	assert_int_equal(result.removed, positions - help_count(store));
	put_all(store, CHI_PUT_ADD, PUTS / 4, &result);
	shuffle(0);
	put_all(store, CHI_PUT_SUBTRACT, 0, &result);
	check_dump(store, empty);
	assert_int_equal(result.removed, positions);
	chi_dir_close(store);
	free(quarter);
	free(empty);
}

CASE(test_inverse)
{
	run(CHI_STATISTIC_CONTROL);
	run(CHI_STATISTIC_EXTERNAL);
	run(CHI_STATISTIC_OUTCOME);
	run(CHI_STATISTIC_SCORE);
	run(CHI_STATISTIC_EVAL);
}

/* ---- What is refused ------------------------------------------------------------------------ */

/* A subtraction from the initial position, in a transaction that is given up if it is refused. */
static int subtract(struct chi_dir *store, const struct chi_record *record,
		    struct chi_put_result *result)
{
	struct chi_write *write;
	struct chi_put_entry put = {.key = start, .parts = CHI_PUT_SUBTRACT, .record = *record};
	*result = (struct chi_put_result){0};
	ok(chi_put_check(&put, chi_dir_statistic(store), &fault));
	ok(chi_write_begin(store, &write, &fault));
	int rc = chi_write_put(write, &put, result);
	if (rc < 0) {
		(void)strcpy(fault.text, chi_write_why(write));
		chi_write_abort(write);
		return rc;
	}
	assert_string_equal(chi_write_why(write), "");
	ok(chi_write_commit(write, &fault));
	return rc;
}

CASE(test_refused)
{
	struct chi_dir *store = help_store("refused", CHI_STATISTIC_CONTROL);
	struct chi_move_stat moves[] = {{D4, {2, 0, 0, 0}}, {E4, {3, 1, 0, 0}}};
	struct chi_ply_stat plies[] = {{0, 3}, {8, 2}};
	struct chi_put_entry put = {.key = start,
				    .parts = CHI_PUT_ADD,
				    .record = {.counts = {5, 1, 0, 1},
					       .moves = moves,
					       .n_moves = 2,
					       .plies = plies,
					       .n_plies = 2}};
	help_put(store, &put);
	struct chi_move_stat move[] = {{D4, {3, 0, 0, 0}}, {E4, {0, 2, 0, 0}}};
	struct chi_ply_stat ply[] = {{0, 4}, {1, 1}, {9, 1}, {8, 3}};
	const struct {
		struct chi_record less;
		const char *why;
	} cases[] = {
		{{.counts = {6, 0, 0, 0}}, "counts: 6 White's wins to subtract, 5 are there"},
		{{.counts = {0, 2, 0, 0}}, "draws"},
		{{.counts = {0, 0, 1, 0}}, "Black's wins"},
		{{.counts = {0, 0, 0, 2}}, "without result"},
		{{.counts = {5, 0, 0, 0}, .moves = &move[0], .n_moves = 1}, "move 0x2db: 3"},
		{{.counts = {5, 0, 0, 0}, .moves = &move[1], .n_moves = 1}, "move 0x31c: 2"},
		{{.counts = {5, 0, 0, 0}, .plies = &ply[0], .n_plies = 1}, "ply 0: 4 games"},
		{{.counts = {5, 0, 0, 0}, .plies = &ply[1], .n_plies = 1}, "ply 1"},
		{{.counts = {5, 0, 0, 0}, .plies = &ply[2], .n_plies = 1}, "ply 9"},
		{{.counts = {5, 0, 0, 0}, .plies = &ply[3], .n_plies = 1}, "ply 8: 3 games"},
		/* Seven games, of five of which the ply is known. */
		{{.counts = {3, 0, 0, 0}}, "plies: more games"},
	};
	size_t len;
	char *before = help_dump(store, &len);
	struct chi_put_result result;
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		assert_int_equal(subtract(store, &cases[i].less, &result), -CHI_EINVAL);
		if (strstr(fault.text, cases[i].why) == NULL) {
			print_message("# case %zu: %s\n", i, fault.text);
			fail();
		}
		check_dump(store, before);
	}
	/* A legal move that was not played. */
	struct chi_move_stat other = {(chi_move)(8 << 6 | 16), {1, 0, 0, 0}};
	struct chi_record less = {.counts = {1, 0, 0, 0}, .moves = &other, .n_moves = 1};
	assert_int_equal(subtract(store, &less, &result), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "was not played"));
	/* No games of it are not too many. */
	other.counts.white = 0;
	assert_int_equal(subtract(store, &less, &result), CHI_OK);
	assert_int_equal(result.updated, 1);
	less = (struct chi_record){0};
	assert_int_equal(subtract(store, &less, &result), CHI_OK);
	assert_int_equal(result.unchanged, 1);
	chi_dir_close(store);
	free(before);
}

CASE(test_not_stored)
{
	struct chi_dir *store = help_store("absent", CHI_STATISTIC_CONTROL);
	struct chi_put_result result;
	struct chi_record less = {.counts.white = 1};
	assert_int_equal(subtract(store, &less, &result), -CHI_EINVAL);
	assert_string_equal(fault.text, "counts: 1 White's wins to subtract, 0 are there");
	less.counts.white = 0;
	assert_int_equal(subtract(store, &less, &result), CHI_OK);
	assert_int_equal(result.unchanged, 1);
	assert_int_equal(help_count(store), 0);
	chi_dir_close(store);
}

/* Whatever else is known of a position keeps it. */
CASE(test_what_stays)
{
	struct chi_eval eval = {.engine = "e", .engine_len = 1};
	chi_move line = E4;
	struct chi_move_stat move = {E4, {1, 0, 0, 0}};
	const struct {
		enum chi_statistic statistic;
		struct chi_put_entry put;
		bool stays;
	} cases[] = {
		{CHI_STATISTIC_CONTROL, {.parts = 0}, false},
		{CHI_STATISTIC_OUTCOME, {.parts = 0}, false},
		{CHI_STATISTIC_EXTERNAL, {.parts = 0}, false},
		{CHI_STATISTIC_EXTERNAL, {.parts = CHI_PUT_CHI2, .record.chi2 = 5}, true},
		{CHI_STATISTIC_EXTERNAL, {.parts = CHI_PUT_CHI2, .record.chi2 = 0}, false},
		{CHI_STATISTIC_CONTROL,
		 {.parts = CHI_PUT_NOTE, .record = {.note = "n", .n_note = 1}},
		 true},
		{CHI_STATISTIC_CONTROL,
		 {.parts = CHI_PUT_LINE, .record = {.line = &line, .n_line = 1}},
		 true},
		{CHI_STATISTIC_CONTROL,
		 {.parts = CHI_PUT_EVALS, .record = {.evals = &eval, .n_evals = 1}},
		 true},
		{CHI_STATISTIC_CONTROL,
		 {.parts = CHI_PUT_MOVES, .record = {.moves = &move, .n_moves = 1}},
		 true},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		struct chi_dir *store = help_store("stays", cases[i].statistic);
		struct chi_put_entry put = cases[i].put;
		struct chi_put_result result;
		struct chi_row row;
		put.key = start;
		help_put(store, &put);
		put = (struct chi_put_entry){
			.key = start, .parts = CHI_PUT_ADD, .record.counts = {400, 300, 200, 1}};
		help_put(store, &put);
		assert_int_equal(subtract(store, &put.record, &result), CHI_OK);
		assert_int_equal(result.removed, !cases[i].stays);
		assert_int_equal(result.updated, cases[i].stays);
		assert_int_equal(help_get(store, &start, &row), cases[i].stays ? CHI_OK : CHI_NONE);
		ok(help_verify(store, NULL));
		chi_dir_close(store);
	}
}

/* The statistic of the results goes with the games. */
CASE(test_statistic_follows)
{
	const struct chi_counts base = {400, 300, 300, 0};
	struct chi_dir *store = help_store("follows", CHI_STATISTIC_OUTCOME);
	struct chi_write *write;
	struct chi_put_result result;
	struct chi_row row;
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_base(write, &base));
	ok(chi_write_commit(write, &fault));
	struct chi_ply_stat ply = {7, 60};
	struct chi_put_entry put = {
		.key = start,
		.parts = CHI_PUT_ADD,
		.record = {.counts = {90, 10, 10, 0}, .plies = &ply, .n_plies = 1}};
	help_put(store, &put);
	struct chi_record less = {.counts = {50, 0, 0, 0}};
	assert_int_equal(subtract(store, &less, &result), CHI_OK);
	assert_int_equal(help_get(store, &start, &row), CHI_OK);
	const struct chi_counts left = {40, 10, 10, 0};
	assert_int_equal(row.chi2, chi_statistic_outcome(&left, &base));
	assert_true(row.chi2 != CHI_CHI2_UNKNOWN);
	/* Recomputed, the statistic changes and the plies do not. */
	const struct chi_counts other = {300, 400, 300, 0};
	uint64_t changed;
	ok(help_rescore(store, &other, &changed, &fault));
	assert_int_equal(changed, 1);
	/* Too few are left for a test: the strength entry goes. Five games, all with their ply. */
	less = (struct chi_record){.counts = {38, 8, 9, 0}, .plies = &ply, .n_plies = 1};
	ply.games = 54;
	assert_int_equal(subtract(store, &less, &result), -CHI_EINVAL);
	ply.games = 55;
	assert_int_equal(subtract(store, &less, &result), CHI_OK);
	assert_int_equal(help_get(store, &start, &row), CHI_OK);
	assert_int_equal(row.chi2, CHI_CHI2_UNKNOWN);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* What a later version wrote is not ours to throw away. */
CASE(test_unknown_sections_keep_it)
{
	const struct chi_record bare = {.chi2 = 7600};
	const struct chi_record_rest none = {0};
	const struct chi_record_rest some = {.bytes = (const uint8_t *)"\x09\x00", .len = 2};
	assert_true(chi_record_bare(&bare, &none, CHI_STATISTIC_CONTROL));
	assert_false(chi_record_bare(&bare, &some, CHI_STATISTIC_CONTROL));
	assert_false(chi_record_bare(&bare, &none, CHI_STATISTIC_EXTERNAL));
}

/* Setting the counts sets the plies, since they belong to the counts. */
CASE(test_counts_set_plies)
{
	struct chi_dir *store = help_store("set", CHI_STATISTIC_CONTROL);
	struct chi_ply_stat plies[] = {{3, 1}, {4, 2}};
	struct chi_put_entry put = {
		.key = start,
		.parts = CHI_PUT_COUNTS,
		.record = {.counts = {2, 1, 0, 0}, .plies = plies, .n_plies = 2}};
	struct chi_read *read;
	struct chi_record record;
	struct chi_arena arena;
	chi_arena_init(&arena, CHI_RECORD_ARENA);
	help_put(store, &put);
	ok(chi_read_begin(store, &read));
	ok(chi_read_record(read, &start, &arena, &record));
	chi_read_end(read);
	assert_int_equal(record.n_plies, 2);
	assert_int_equal(record.plies[1].games, 2);
	/* Nothing else does. */
	put = (struct chi_put_entry){
		.key = start, .parts = CHI_PUT_NOTE, .record = {.note = "n", .n_note = 1}};
	help_put(store, &put);
	put.parts = CHI_PUT_COUNTS;
	put.record = (struct chi_record){.counts = {1, 0, 0, 0}};
	ok(chi_read_begin(store, &read));
	ok(chi_read_record(read, &start, &arena, &record));
	chi_read_end(read);
	assert_int_equal(record.n_plies, 2);
	help_put(store, &put);
	ok(chi_read_begin(store, &read));
	ok(chi_read_record(read, &start, &arena, &record));
	chi_read_end(read);
	assert_int_equal(record.n_plies, 0);
	chi_arena_deinit(&arena);
	chi_dir_close(store);
}

int main(void)
{
	start = help_fen(START);
	return cases_run(NULL, NULL);
}
