/* SPDX-License-Identifier: MIT */
/*
 * Taking back a batch inside an open transaction: of two stores one is given refused batches
 * too, which are rolled back. Whatever stood at whatever place in them, both stores must stay the
 * same, entry by entry in both trees, and the transaction must go on and commit.
 */
#include "tests/store/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chess/key.h"
#include "chess/movegen.h"
#include "store/archive.h"
#include "store/txn/txn.h"

#define POSITIONS 40
#define BATCH	  20
#define ROUNDS	  60

static struct chi_key keys[POSITIONS + 1];
/* Where a further engine is one too many. */
static const struct chi_key *const full = &keys[POSITIONS];

/* One operation, made once and applied to each store. */
struct op {
	bool deletes;
	struct chi_put_entry put;
	bool subtracts; /* takes the same games away again, sometimes the position with them */
	chi_move move;
	struct chi_ply_stat ply;
	struct chi_eval eval;
	char note[6000]; /* some longer than a page */
};

static struct op batch[BATCH];

static void random_op(struct op *op, enum chi_statistic statistic)
{
	struct chi_position position;
	struct chi_move_list list;
	*op = (struct op){.deletes = help_below(4) == 0, .put.key = keys[help_below(POSITIONS)]};
	struct chi_record *r = &op->put.record;
	op->put.parts = help_below(2) ? CHI_PUT_COUNTS : CHI_PUT_ADD;
	r->counts = (struct chi_counts){help_below(90), help_below(90), help_below(90), 0};
	r->n_plies = help_below(2) && r->counts.white > 0;
	op->ply = (struct chi_ply_stat){(uint16_t)help_below(4), r->counts.white};
	op->subtracts = help_below(3) == 0;
	ok(chi_key_decode(&op->put.key, &position, &fault));
	chi_movegen_legal(&position, &list);
	if (list.n > 0 && help_below(2)) {
		op->move = list.moves[help_below((unsigned)list.n)];
		op->put.parts |= CHI_PUT_LINE;
		r->n_line = help_below(2);
	}
	if (help_below(3) == 0) {
		op->put.parts |= CHI_PUT_NOTE;
		r->n_note = help_below(3) ? help_below(20) : help_below(sizeof(op->note));
		memset(op->note, 'a' + (int)help_below(26), r->n_note);
	}
	if (statistic == CHI_STATISTIC_EVAL && help_below(2)) {
		op->put.parts |= CHI_PUT_EVALS;
		r->n_evals = 1;
		op->eval = (struct chi_eval){.engine = "Gull 3",
					     .engine_len = 6,
					     .depth = help_below(9),
					     .score = (int32_t)help_below(100)};
	}
	if (statistic == CHI_STATISTIC_EXTERNAL && help_below(2)) {
		op->put.parts |= CHI_PUT_CHI2;
		r->chi2 = (uint16_t)(help_below(4) ? 1 + help_below(400) : 0);
	}
}

static void apply(struct chi_write *write, struct op *op)
{
	struct chi_put_result result = {0};
	op->put.record.note = op->note;
	op->put.record.line = &op->move;
	op->put.record.plies = &op->ply;
	op->put.record.evals = &op->eval;
	if (op->deletes) {
		assert_true(chi_write_delete(write, &op->put.key) >= 0);
	} else {
		ok(chi_write_put(write, &op->put, &result));
	}
	if (!op->deletes && op->subtracts) {
		struct chi_put_entry less = op->put;
		less.parts = CHI_PUT_SUBTRACT;
		ok(chi_write_put(write, &less, &result));
		assert_int_equal(result.added + result.updated + result.unchanged + result.removed,
				 2);
	}
}

static void random_batch(struct chi_write *write, struct chi_write *twin,
			 enum chi_statistic statistic)
{
	for (size_t i = 0; i < BATCH; i++) {
		random_op(&batch[i], statistic);
		apply(write, &batch[i]);
		if (twin != NULL) {
			apply(twin, &batch[i]);
		}
	}
}

static int put_engine(struct chi_write *write, unsigned n)
{
	char name[16];
	struct chi_put_result result = {0};
	struct chi_eval eval = {.engine = name};
	eval.engine_len = (size_t)snprintf(name, sizeof(name), "engine %u", n);
	struct chi_put_entry put = {
		.key = *full, .parts = CHI_PUT_EVALS, .record = {.evals = &eval, .n_evals = 1}};
	return chi_write_put(write, &put, &result);
}

/* What is refused when it is applied, though chi_put_check can pass it. */
static void poison(struct chi_write *write)
{
	struct chi_put_result result = {0};
	struct chi_put_entry put = {.key = *full, .parts = CHI_PUT_ADD};
	switch (help_below(4)) {
	case 3:
		put.parts = CHI_PUT_SUBTRACT;
		put.record.counts.other = 1;
		assert_int_equal(chi_write_put(write, &put, &result), -CHI_EINVAL);
		assert_non_null(strstr(chi_write_why(write), "without result"));
		break;
	case 0:
		assert_int_equal(put_engine(write, CHI_EVALS_MAX), -CHI_ETOOBIG);
		break;
	case 1:
		put.record.counts.white = UINT64_MAX;
		assert_int_equal(chi_write_put(write, &put, &result), -CHI_ETOOBIG);
		break;
	default:
		put.key.bytes[0] ^= 0xff;
		put.key.len = 3;
		assert_int_equal(chi_write_delete(write, &put.key), -CHI_EKEY);
		break;
	}
	/* It sticks. */
	assert_true(chi_write_put(write, &(struct chi_put_entry){.key = *full}, &result) < 0);
}

/* A batch with a poisoned entry at a random place, what comes after it refused too. */
static void refused_batch(struct chi_write *write, enum chi_statistic statistic)
{
	unsigned place = help_below(BATCH);
	for (unsigned i = 0; i < place; i++) {
		random_op(&batch[i], statistic);
		apply(write, &batch[i]);
	}
	if (help_below(3) == 0) {
		ok(chi_write_base(write, &(struct chi_counts){help_below(9) + 1, 2, 3, 4}));
	}
	poison(write);
}

static void check_same(struct chi_dir *store, struct chi_dir *twin)
{
	size_t len;
	size_t twin_len;
	char *text = help_dump(store, &len);
	char *twin_text = help_dump(twin, &twin_len);
	ok(help_verify(store, NULL));
	assert_int_equal(len, twin_len);
	assert_memory_equal(text, twin_text, len);
	free(text);
	free(twin_text);
}

static struct chi_dir *prepare(const char *name, enum chi_statistic statistic)
{
	struct chi_dir *store = help_store(name, statistic);
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	struct chi_put_entry put = {
		.key = *full, .parts = CHI_PUT_COUNTS, .record.counts.white = 1};
	struct chi_put_result result = {0};
	ok(chi_write_put(write, &put, &result));
	for (unsigned i = 0; i < CHI_EVALS_MAX; i++) {
		ok(put_engine(write, i));
	}
	ok(chi_write_base(write, &(struct chi_counts){400, 300, 300, 0}));
	ok(chi_write_commit(write, &fault));
	return store;
}

static void run(enum chi_statistic statistic)
{
	help_keys(keys, POSITIONS + 1);
	struct chi_dir *store = prepare("undone", statistic);
	struct chi_dir *twin = prepare("untouched", statistic);
	for (int i = 0; i < ROUNDS; i++) {
		struct chi_write *write;
		struct chi_write *twin_write;
		ok(chi_write_begin(store, &write, &fault));
		ok(chi_write_begin(twin, &twin_write, &fault));
		/* What is pending at a mark is stored after it. */
		write->position.most = 1 + help_below(9);
		write->strength.most = 1 + help_below(9);
		for (unsigned n = help_below(4); n > 0; n--) {
			if (help_below(2)) {
				ok(chi_write_savepoint(write));
			}
			random_batch(write, twin_write, statistic);
			ok(chi_write_savepoint(write));
			refused_batch(write, statistic);
			assert_true(chi_write_savepoint(write) < 0);
			ok(chi_write_rollback(write));
			if (help_below(2)) {
				/* The mark stays: a batch may be tried again, or given up whole. */
				random_batch(write, NULL, statistic);
				ok(chi_write_rollback(write));
			}
		}
		ok(chi_write_commit(write, &fault));
		ok(chi_write_commit(twin_write, &fault));
		check_same(store, twin);
	}
	chi_dir_close(store);
	chi_dir_close(twin);
}

CASE(test_external)
{
	run(CHI_STATISTIC_EXTERNAL);
}

CASE(test_control)
{
	run(CHI_STATISTIC_CONTROL);
}

CASE(test_outcome)
{
	run(CHI_STATISTIC_OUTCOME);
}

CASE(test_score)
{
	run(CHI_STATISTIC_SCORE);
}

CASE(test_eval)
{
	run(CHI_STATISTIC_EVAL);
}

/* Nothing is taken back that stood before the mark, and nothing without one. */
CASE(test_marks)
{
	struct chi_dir *store = prepare("marks", CHI_STATISTIC_CONTROL);
	struct chi_write *write;
	struct chi_put_result result = {0};
	struct chi_info before;
	struct chi_info after;
	ok(chi_dir_info(store, &before));
	ok(chi_write_begin(store, &write, &fault));
	assert_int_equal(chi_write_rollback(write), -CHI_EINVAL);
	poison(write);
	assert_true(chi_write_savepoint(write) < 0);
	assert_true(chi_write_rollback(write) < 0);
	assert_true(chi_write_commit(write, &fault) < 0);
	/* A transaction all of which was taken back is not committed. */
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_savepoint(write));
	ok(chi_write_put(write, &(struct chi_put_entry){.key = keys[0]}, &result));
	ok(chi_write_rollback(write));
	ok(chi_write_commit(write, &fault));
	ok(chi_dir_info(store, &after));
	assert_memory_equal(&before, &after, sizeof(before));
	chi_dir_close(store);
}

/* Where LMDB itself failed, half a change may stand: the transaction is lost, as without marks. */
CASE(test_broken)
{
	static char note[CHI_NOTE_MAX];
	struct chi_dir_options options = {.mode = CHI_STORE_WRITE, .map_bytes = 1 << 20};
	struct chi_dir *store = prepare("broken", CHI_STATISTIC_EXTERNAL);
	struct chi_write *write;
	struct chi_put_result result = {0};
	chi_dir_close(store);
	ok(chi_dir_open(help_path("broken"), &options, &store, &fault));
	size_t len;
	char *before = help_dump(store, &len);
	ok(chi_write_begin(store, &write, &fault));
	memset(note, 'n', sizeof(note));
	int rc = CHI_OK;
	/* What is pending is stored before a batch when it is much. */
	for (size_t i = 0; rc == CHI_OK && i < 1000; i++) {
		note[0] = (char)('a' + i / POSITIONS);
		struct chi_put_entry put = {.key = keys[i % POSITIONS],
					    .parts = CHI_PUT_NOTE,
					    .record = {.note = note, .n_note = sizeof(note)}};
		ok(chi_write_savepoint(write));
		rc = chi_write_put(write, &put, &result);
	}
	assert_int_equal(rc, -CHI_EFULL);
	assert_int_equal(chi_write_rollback(write), -CHI_EFULL);
	assert_int_equal(chi_write_commit(write, &fault), -CHI_EFULL);
	char *after = help_dump(store, &len);
	assert_string_equal(before, after);
	free(before);
	free(after);
	chi_dir_close(store);
}

static void no_conflict(void *context, size_t i, const char *reason)
{
	(void)context;
	fail_msg("change %zu: %s", i, reason);
}

/* Names are not taken back: a mark before them is of no use any more, one after them is. */
CASE(test_names)
{
	static const struct chi_name_change change = {
		.action = CHI_NAME_CORRECT, .kind = CHI_NAME_PLAYER, .name = "a", .to = "b"};
	static const struct chi_put_entry put = {.parts = CHI_PUT_SUBTRACT,
						 .record = {.counts = {.white = UINT64_MAX}}};
	struct chi_dir *store = prepare("names", CHI_STATISTIC_EXTERNAL);
	for (int names_first = 0; names_first < 2; names_first++) {
		struct chi_names_changed did = {0};
		struct chi_put_result result = {0};
		struct chi_put_entry refused = put;
		struct chi_write *write;
		refused.key = keys[0];
		ok(chi_write_begin(store, &write, &fault));
		if (!names_first) {
			ok(chi_write_savepoint(write));
		}
		ok(chi_write_names(write, &change, 1, no_conflict, NULL, &did));
		if (names_first) {
			ok(chi_write_savepoint(write));
		}
		assert_true(chi_write_put(write, &refused, &result) < 0);
		assert_int_equal(chi_write_rollback(write) == CHI_OK, names_first);
		assert_int_equal(chi_write_commit(write, &fault) == CHI_OK, names_first);
	}
	chi_dir_close(store);
}

/* Of a log that grows and is cut short anywhere the newest change of each key is found. */
CASE(test_memtable_forgets)
{
	enum {
		STEPS = 4000,
		KEYS = 60
	};
	static uint8_t log[STEPS]; /* of each change its key */
	static uint32_t numbers[STEPS];
	struct chi_memtable table;
	size_t n = 0;
	chi_memtable_init(&table);
	for (uint32_t i = 0; i < STEPS; i++) {
		const struct chi_memtable_entry *entry;
		uint8_t key[8] = {0, (uint8_t)help_below(KEYS)};
		size_t at = n;
		unsigned what = help_below(40);
		if (what == 0) {
			n -= help_below(20) == 0 ? n : help_below((unsigned)n / 2 + 1);
			chi_memtable_truncate(&table, n);
		} else if (what < 25) {
			ok(chi_memtable_add(&table, CHI_TREE_POSITION, key, sizeof(key),
					    (const uint8_t *)&i, sizeof(i)));
			log[n] = key[1];
			numbers[n++] = i;
		}
		ok(chi_memtable_find(&table, key, sizeof(key), &entry));
		for (at = n; at > 0 && log[at - 1] != key[1]; at--) {
		}
		assert_int_equal(entry != NULL, at > 0);
		if (entry != NULL) {
			assert_memory_equal(chi_memtable_value(entry), &numbers[at - 1], 4);
		}
	}
	chi_memtable_deinit(&table);
}

/* A batch that was refused was forgotten in the time that all before it had taken. */
CASE(test_refused_batches_cost_themselves)
{
	enum {
		PENDING = 5000,
		REFUSED = 400
	};
	static struct chi_key many[PENDING];
	struct chi_put_result result = {0};
	struct chi_write *write;
	help_keys(many, PENDING);
	struct chi_dir *store = help_store("refused", CHI_STATISTIC_CONTROL);
	ok(chi_write_begin(store, &write, &fault));
	clock_t start = clock();
	for (size_t i = 0; i < PENDING; i++) {
		ok(chi_write_put(write, &(struct chi_put_entry){.key = many[i]}, &result));
	}
	clock_t noted = clock();
	for (size_t i = 0; i < REFUSED; i++) {
		struct chi_put_entry bad = {.key = many[i], .parts = CHI_PUT_SUBTRACT};
		bad.record.counts.white = 1;
		ok(chi_write_savepoint(write));
		ok(chi_write_delete(write, &many[PENDING - 1 - i]));
		assert_true(chi_write_put(write, &bad, &result) < 0);
		ok(chi_write_rollback(write));
	}
	assert_true(clock() - noted < noted - start);
	ok(chi_write_commit(write, &fault));
	assert_int_equal(help_count(store), PENDING);
	chi_dir_close(store);
}
