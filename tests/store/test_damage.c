/* SPDX-License-Identifier: MIT */
/*
 * Damaged stores: a record that was changed from outside is reported by every reader that meets it
 * and never returned; verify finds every kind of disagreement between the trees.
 */
#include "tests/store/help.h"

#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/statistic.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "store/txn/tree.h"
#include "tests/base/seed.h"
#include "tests/store/raw.h"

#define POSITIONS 60

static struct chi_key keys[POSITIONS];
static unsigned reports;
static unsigned order_reports;

/* Flips a bit of the group that has the key. `good` is the block as it was. */
static void flip(const char *tree, enum chi_tree_kind kind, const uint8_t *key, size_t key_len,
		 struct raw_block *good)
{
	size_t at;
	size_t len;
	raw_find("damaged", tree, kind, key, key_len, good, &at, &len);
	struct raw_block bad = *good;
	bad.bytes[at + help_below((unsigned)len)] ^= (uint8_t)(1u << help_below(8));
	raw_put("damaged", tree, bad.low, bad.low_len, bad.bytes, bad.len);
}

static void count_report(void *context, const char *text)
{
	(void)context;
	assert_non_null(text);
	reports++;
	order_reports += strstr(text, "out of order") != NULL;
}

static int verify(void)
{
	struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_READ);
	struct chi_verify_result result;
	reports = 0;
	order_reports = 0;
	int rc = help_verify_told(store, count_report, NULL, &result);
	assert_int_equal(result.errors, reports);
	assert_int_equal(rc, reports == 0 ? CHI_OK : -CHI_ECORRUPT);
	chi_dir_close(store);
	return rc;
}

/* How a whole scan ends; rows before the damage are good ones. */
static int scan_all(uint8_t order, uint8_t want)
{
	struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_READ);
	struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX, .order = order, .want = want};
	struct chi_read *read;
	struct chi_scan *scan;
	struct chi_row rows[POSITIONS + 1];
	size_t n;
	ok(chi_read_begin(store, &read));
	ok(chi_read_scan(read, &spec, &scan, &fault));
	int rc = chi_scan_rows(scan, rows, POSITIONS + 1, UINT64_MAX, &n);
	for (size_t i = 0; i < n; i++) {
		struct chi_position position;
		ok(chi_key_decode(&rows[i].key, &position, &fault));
	}
	size_t more;
	assert_int_equal(chi_scan_rows(scan, rows, 1, 1, &more), rc);
	chi_scan_free(scan);
	chi_read_end(read);
	chi_dir_close(store);
	return rc;
}

/* The same, record by record. */
static int scan_records(void)
{
	struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_READ);
	struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_RECORDS};
	struct chi_arena arena;
	struct chi_read *read;
	struct chi_scan *scan;
	int rc = CHI_OK;
	chi_arena_init(&arena, 1 << 20);
	ok(chi_read_begin(store, &read));
	ok(chi_read_scan(read, &spec, &scan, &fault));
	while (rc == CHI_OK) {
		struct chi_record record;
		struct chi_row row;
		bool got;
		rc = chi_scan_record(scan, UINT64_MAX, &arena, &row, &record, &got);
		chi_arena_reset(&arena);
	}
	chi_arena_deinit(&arena);
	chi_scan_free(scan);
	chi_read_end(read);
	chi_dir_close(store);
	return rc;
}

static void make_store(void)
{
	struct chi_dir *store = help_store("damaged", CHI_STATISTIC_CONTROL);
	help_fill(store, keys, POSITIONS);
	chi_dir_close(store);
}

static struct chi_row row_of(const struct chi_key *key)
{
	struct chi_row row;
	struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_READ);
	ok(help_get(store, key, &row));
	chi_dir_close(store);
	return row;
}

CASE(test_flipped_records)
{
	help_keys(keys, POSITIONS);
	make_store();
	assert_int_equal(verify(), CHI_OK);
	for (int i = 0; i < 25; i++) {
		const struct chi_key *key = &keys[help_below(POSITIONS)];
		struct raw_block good;
		flip("position", CHI_TREE_POSITION, key->bytes, key->len, &good);
		struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_WRITE);
		struct chi_row row;
		assert_int_equal(help_get(store, key, &row), -CHI_ECORRUPT);
		assert_false(row.found);
		struct chi_read *read;
		struct chi_record record;
		struct chi_arena arena;
		chi_arena_init(&arena, 1 << 20);
		ok(chi_read_begin(store, &read));
		assert_int_equal(chi_read_record(read, key, &arena, &record), -CHI_ECORRUPT);
		chi_read_end(read);
		chi_arena_deinit(&arena);
		/* A write that meets it changes nothing. */
		struct chi_write *write;
		struct chi_put_result result = {0};
		ok(chi_write_begin(store, &write, &fault));
		struct chi_put_entry put = {.key = *key, .parts = CHI_PUT_NOTE};
		assert_int_equal(chi_write_put(write, &put, &result), -CHI_ECORRUPT);
		put.key = help_key();
		assert_int_equal(chi_write_put(write, &put, &result), -CHI_ECORRUPT);
		assert_int_equal(chi_write_commit(write, &fault), -CHI_ECORRUPT);
		assert_int_equal(help_count(store), POSITIONS);
		chi_dir_close(store);
		assert_int_equal(scan_all(CHI_ORDER_POSITION, CHI_WANT_KEYS), -CHI_ECORRUPT);
		assert_int_equal(scan_all(CHI_ORDER_STRENGTH, CHI_WANT_COUNTS), -CHI_ECORRUPT);
		assert_int_equal(verify(), -CHI_ECORRUPT);
		raw_put("damaged", "position", good.low, good.low_len, good.bytes, good.len);
	}
	assert_int_equal(verify(), CHI_OK);
}

/* A record that cannot be read can be replaced and deleted, its strength entry with it; a batch
 * that does so can be taken back. */
CASE(test_damaged_record_is_replaced_and_deleted)
{
	make_store();
	for (int i = 0; i < 6; i++) {
		const struct chi_key *key = &keys[i];
		struct chi_row row = row_of(key);
		/* Sections, and none follows. */
		static const uint8_t value[] = {0x80};
		raw_change("damaged", "position", key->bytes, key->len, value, sizeof(value));
		assert_int_equal(verify(), -CHI_ECORRUPT);
		struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_WRITE);
		struct chi_put_entry put = {.key = *key,
					    .parts = CHI_PUT_RESTORE,
					    .record = {.chi2 = row.chi2, .counts.white = 7}};
		struct chi_put_result result = {0};
		struct chi_write *write;
		bool restore = i % 2 == 0;
		ok(chi_put_check(&put, CHI_STATISTIC_CONTROL, &fault));
		ok(chi_write_begin(store, &write, &fault));
		ok(chi_write_savepoint(write));
		ok(chi_write_delete(write, key));
		assert_int_equal(chi_write_delete(write, key), CHI_NONE);
		ok(chi_write_rollback(write));
		ok(restore ? chi_write_put(write, &put, &result) : chi_write_delete(write, key));
		assert_int_equal(result.updated, restore);
		ok(chi_write_commit(write, &fault));
		assert_int_equal(help_get(store, key, &row), restore ? CHI_OK : CHI_NONE);
		assert_int_equal(row.counts.white, restore ? 7 : 0);
		chi_dir_close(store);
		assert_int_equal(verify(), CHI_OK);
	}
}

CASE(test_flipped_entries)
{
	make_store();
	for (int i = 0; i < 15; i++) {
		const struct chi_key *key = &keys[help_below(POSITIONS)];
		uint16_t chi2 = row_of(key).chi2;
		uint8_t entry[CHI_STRENGTH_KEY_MAX];
		struct raw_block good;
		size_t key_len = chi_strength_key(chi2, key->bytes, key->len, entry);
		flip("strength", CHI_TREE_STRENGTH, entry, key_len, &good);
		assert_int_equal(scan_all(CHI_ORDER_STRENGTH, CHI_WANT_KEYS), -CHI_ECORRUPT);
		assert_int_equal(scan_all(CHI_ORDER_STRENGTH, CHI_WANT_COUNTS), -CHI_ECORRUPT);
		assert_int_equal(scan_records(), -CHI_ECORRUPT);
		assert_int_equal(verify(), -CHI_ECORRUPT);
		raw_put("damaged", "strength", good.low, good.low_len, good.bytes, good.len);
	}
	assert_int_equal(verify(), CHI_OK);
}

/* Sound entries, each right in itself, that say different things. */
CASE(test_disagreement)
{
	uint8_t entry[CHI_STRENGTH_KEY_MAX];
	uint8_t value[CHI_STRENGTH_VALUE_MAX];
	size_t len;
	/* An entry without a record. */
	make_store();
	struct chi_row row = row_of(&keys[0]);
	raw_change("damaged", "position", keys[0].bytes, keys[0].len, NULL, 0);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	assert_int_equal(scan_all(CHI_ORDER_STRENGTH, CHI_WANT_COUNTS), -CHI_ECORRUPT);
	/* A record without its entry. */
	make_store();
	size_t key_len = chi_strength_key(row.chi2, keys[0].bytes, keys[0].len, entry);
	raw_change("damaged", "strength", entry, key_len, NULL, 0);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_WRITE);
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_delete(write, &keys[0]));
	assert_int_equal(chi_write_commit(write, &fault), -CHI_ECORRUPT);
	/* Rescoring heals the strength tree. */
	uint64_t changed;
	ok(help_rescore(store, NULL, &changed, &fault));
	assert_int_equal(changed, 0);
	chi_dir_close(store);
	assert_int_equal(verify(), CHI_OK);
	/* A second entry with another statistic. */
	key_len = chi_strength_key((uint16_t)(row.chi2 + 1), keys[0].bytes, keys[0].len, entry);
	len = chi_strength_value(NULL, 0, value);
	raw_change("damaged", "strength", entry, key_len, value, len);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	assert_int_equal(scan_all(CHI_ORDER_STRENGTH, CHI_WANT_COUNTS), -CHI_ECORRUPT);
	assert_int_equal(scan_records(), -CHI_ECORRUPT);
	/* An entry with a line that its record does not have. */
	make_store();
	static const chi_move line[1] = {0x0514};
	size_t own_len = chi_strength_key(row.chi2, keys[0].bytes, keys[0].len, entry);
	len = chi_strength_value(line, 1, value);
	raw_change("damaged", "strength", entry, own_len, value, len);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	/* Hundredths over 99, under a right checksum. */
	make_store();
	key_len = chi_strength_key((uint16_t)(row.chi2 + 1), keys[0].bytes, keys[0].len, entry);
	entry[0] = 100;
	len = chi_strength_value(NULL, 0, value);
	raw_change("damaged", "strength", entry, key_len, value, len);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	assert_int_equal(scan_all(CHI_ORDER_STRENGTH, CHI_WANT_KEYS), -CHI_ECORRUPT);
}

/* Both trees agree on what is no position, or not what the position gives. */
/* Enough for a tree that threads walk in parts; what they leave is walked as a whole again. */
CASE(test_missing_entry_of_many)
{
	static struct chi_key many[6000];
	uint8_t entry[CHI_STRENGTH_KEY_MAX];
	struct chi_dir *store = help_store("damaged", CHI_STATISTIC_CONTROL);
	help_keys(many, CHI_COUNT(many));
	help_fill(store, many, CHI_COUNT(many));
	chi_dir_close(store);
	struct chi_row row = row_of(&many[0]);
	size_t len = chi_strength_key(row.chi2, many[0].bytes, many[0].len, entry);
	raw_change("damaged", "strength", entry, len, NULL, 0);
	len = chi_strength_key((uint16_t)(row.chi2 + 1), many[0].bytes, many[0].len, entry);
	uint8_t value[CHI_STRENGTH_VALUE_MAX];
	raw_change("damaged", "strength", entry, len, value, chi_strength_value(NULL, 0, value));
	assert_int_equal(verify(), -CHI_ECORRUPT);
}

CASE(test_agreed_nonsense)
{
	uint8_t entry[CHI_STRENGTH_KEY_MAX];
	uint8_t value[CHI_STRENGTH_VALUE_MAX];
	size_t len;
	make_store();
	struct chi_row row = row_of(&keys[0]);
	struct chi_record record = {.chi2 = (uint16_t)(row.chi2 + 7)};
	size_t key_len = chi_strength_key(row.chi2, keys[0].bytes, keys[0].len, entry);
	raw_change("damaged", "strength", entry, key_len, NULL, 0);
	key_len = chi_strength_key(record.chi2, keys[0].bytes, keys[0].len, entry);
	len = chi_strength_value(NULL, 0, value);
	raw_change("damaged", "strength", entry, key_len, value, len);
	assert_int_equal(chi_record_encode(&record, NULL, value, sizeof(value), &len), CHI_OK);
	raw_change("damaged", "position", keys[0].bytes, keys[0].len, value, len);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	/* A move played that is not possible, in a record that is right in itself. */
	make_store();
	struct chi_position position;
	struct chi_move_stat never = {.counts = {.white = 1}};
	record = (struct chi_record){
		.chi2 = row.chi2, .counts = {.white = 1}, .moves = &never, .n_moves = 1};
	uint8_t played[64];
	size_t played_len;
	ok(chi_key_decode(&keys[0], &position, &fault));
	do {
		never.move++;
	} while (chi_movegen_is_legal(&position, never.move) ||
		 chi_record_encode(&record, NULL, played, sizeof(played), &played_len) != CHI_OK);
	raw_change("damaged", "position", keys[0].bytes, keys[0].len, played, played_len);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	/* A key that is no position. */
	make_store();
	/* A pawn on a1 that can be captured en passant. */
	static const uint8_t bad[9] = {0x80, 0, 0, 0, 0, 0, 0, 0, 0x80};
	raw_change("damaged", "position", bad, sizeof(bad), value, len);
	assert_int_equal(verify(), -CHI_ECORRUPT);
}

/* The same where the statistic follows from the record. */
CASE(test_agreed_wrong_eval)
{
	struct chi_eval eval = {.engine = "Gull 3", .engine_len = 6, .depth = 20, .score = 35};
	struct chi_put_entry put = {.parts = CHI_PUT_RESTORE,
				    .record = {.evals = &eval, .n_evals = 1}};
	help_keys(&put.key, 1);
	for (int wrong = 0; wrong < 2; wrong++) {
		struct chi_dir *store = help_store("wrong", CHI_STATISTIC_EVAL);
		struct chi_position position;
		struct chi_put_result result = {0};
		struct chi_write *write;
		ok(chi_key_decode(&put.key, &position, &fault));
		put.record.chi2 =
			(uint16_t)(chi_statistic_eval(&eval, position.side) + (unsigned)wrong);
		assert_int_equal(chi_put_check(&put, CHI_STATISTIC_EVAL, &fault),
				 wrong ? -CHI_EINVAL : CHI_OK);
		ok(chi_write_begin(store, &write, &fault));
		ok(chi_write_put(write, &put, &result));
		ok(chi_write_commit(write, &fault));
		assert_int_equal(help_verify(store, NULL), wrong ? -CHI_ECORRUPT : CHI_OK);
		chi_dir_close(store);
	}
}

/* Blocks that a program without our comparator has put. */
CASE(test_wrong_order)
{
	uint8_t entry[CHI_STRENGTH_KEY_MAX];
	struct raw_block block;
	size_t at;
	size_t len;
	make_store();
	raw_wrong_order = true;
	for (uint16_t chi2 = 199; chi2 < 20000; chi2 = (uint16_t)(chi2 + 4501)) {
		size_t key_len = chi_strength_key(chi2, keys[0].bytes, keys[0].len, entry);
		raw_find("damaged", "strength", CHI_TREE_STRENGTH, chi_tree_first,
			 chi_tree_first_len(CHI_TREE_STRENGTH), &block, &at, &len);
		raw_put("damaged", "strength", entry, key_len, block.bytes, block.len);
	}
	raw_wrong_order = false;
	assert_int_equal(verify(), -CHI_ECORRUPT);
	assert_true(order_reports > 0);
}

/* Damage that another process does to a meta record under an open handle. */
static void tamper_meanwhile(const char *key, const void *value, size_t len)
{
	pid_t pid = fork();
	if (pid == 0) {
		raw_put("damaged", "meta", key, strlen(key), value, len);
		_exit(0);
	}
	assert_int_equal(help_child_status(pid), 0);
}

/* Verify names it, no one writes on top of it, reads that do not need it go on; and who opens the
 * store is told. */
CASE(test_damaged_meta)
{
	static const char *const names[] = {"state", "stamp"};
	static const uint8_t junk[CHI_STATE_SIZE + CHI_STAMP_SIZE] = "chistore\5";
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		for (int cut = 0; cut < 2; cut++) {
			make_store();
			struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_WRITE);
			struct chi_verify_result result;
			struct chi_write *write;
			struct chi_row row;
			size_t len = i == 0 ? CHI_STATE_SIZE : CHI_STAMP_SIZE;
			tamper_meanwhile(names[i], cut ? NULL : junk, len);
			reports = 0;
			assert_int_equal(help_verify_told(store, count_report, NULL, &result),
					 -CHI_ECORRUPT);
			assert_true(reports > 0);
			assert_int_equal(result.positions, POSITIONS);
			ok(help_get(store, &keys[0], &row));
			if (i == 0) {
				struct chi_info info;
				assert_int_equal(chi_dir_info(store, &info), -CHI_ECORRUPT);
				assert_int_equal(chi_write_begin(store, &write, &fault),
						 -CHI_ECORRUPT);
				assert_non_null(strstr(fault.text, "state"));
			}
			chi_dir_close(store);
			struct chi_dir_options options = {.mode = CHI_STORE_READ};
			int rc = chi_dir_open(help_path("damaged"), &options, &store, &fault);
			/* Without a stamp it cannot be told from someone else's file. */
			assert_int_equal(rc, i == 1 && cut ? -CHI_ENOSTORE : -CHI_ECORRUPT);
		}
	}
}

/* True if a row that came back cannot be right: the control statistic tells. */
static bool row_wrong(const struct chi_row *row)
{
	struct chi_counts none = {0};
	return row->found && (row->chi2 == 0 || memcmp(&row->counts, &none, sizeof(none)) == 0);
}

/* What a child does with a damaged file; killed by a signal counts as stopped. */
static int probe_damaged(void)
{
	struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *store;
	/* cmocka's handlers would go on with the parent's tests in this process. */
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	for (size_t i = 0; i < CHI_COUNT(deadly); i++) {
		signal(deadly[i], SIG_DFL);
	}
	alarm(20);
	int rc = chi_dir_open(help_path("damaged"), &options, &store, NULL);
	if (rc < 0) {
		return 1;
	}
	struct chi_verify_result result;
	int sound = chi_dir_verify_until(store, 2, NULL, NULL, NULL, &result);
	for (size_t i = 0; i < POSITIONS; i++) {
		struct chi_row row;
		struct chi_read *read;
		if (chi_read_begin(store, &read) < 0) {
			return 2;
		}
		rc = chi_read_row(read, &keys[i], &row);
		if (rc == CHI_OK && row_wrong(&row)) {
			return 99;
		}
		if (rc == CHI_NONE) {
			/* It is stored. */
			return 5;
		}
		/* And all together: they end where the first one fails. */
		struct chi_row rows[POSITIONS] = {0};
		rc = chi_read_rows(read, keys, POSITIONS, rows);
		chi_read_end(read);
		for (size_t j = 0; j < POSITIONS; j++) {
			if (row_wrong(&rows[j]) || (rc == CHI_OK && rows[j].key.len == 0)) {
				return 99;
			}
		}
	}
	return sound == CHI_OK ? 3 : 4;
}

/* Bits and sectors anywhere in the file: stopped or reported, never a wrong record, never a walk
 * without end. */
CASE(test_damaged_pages)
{
	make_store();
	char path[1024];
	snprintf(path, sizeof(path), "%s/data.mdb", help_path("damaged"));
	int fd = open(path, O_RDWR);
	struct stat st;
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	uint8_t *good = malloc((size_t)st.st_size);
	assert_int_equal(pread(fd, good, (size_t)st.st_size, 0), st.st_size);
	unsigned seen[6] = {0};
	size_t rounds = seed_rounds(500);
	for (size_t i = 0; i < rounds; i++) {
		off_t at = (off_t)(help_random() % (uint64_t)st.st_size);
		size_t len = 1;
		uint8_t bytes[512] = {0};
		if (help_below(3) == 0) {
			len = sizeof(bytes);
			at &= ~(off_t)511;
		} else {
			bytes[0] = good[at] ^ (uint8_t)(1u << help_below(8));
		}
		assert_int_equal(pwrite(fd, bytes, len, at), len);
		pid_t pid = fork();
		if (pid == 0) {
			fclose(stderr);
			_exit(probe_damaged());
		}
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFSIGNALED(status)) {
			assert_int_not_equal(WTERMSIG(status), SIGALRM);
			seen[0]++;
		} else {
			/* With a meta page the last commit may be lost, which is all of them. */
			assert_in_range(WEXITSTATUS(status), 1, at < 2 * 4096 ? 5 : 4);
			seen[WEXITSTATUS(status)]++;
		}
		assert_int_equal(pwrite(fd, good, (size_t)st.st_size, 0), st.st_size);
	}
	print_message("# figures: %zu damaged stores: %u stopped, %u refused, %u not read, "
		      "%u unharmed, %u reported, %u without the last commit, 0 wrong records "
		      "returned, 0 stored ones not found\n",
		      rounds, seen[0], seen[1], seen[2], seen[3], seen[4], seen[5]);
	assert_true(seen[4] > 0);
	free(good);
	close(fd);
	assert_int_equal(verify(), CHI_OK);
}
