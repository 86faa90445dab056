/* SPDX-License-Identifier: MIT */
/*
 * Walks through LMDB's leaf pages give exactly the blocks that its cursors give, in trees of all
 * shapes, in both directions, from every start, beside a writer; scans give the rows that a plain
 * search gives.
 */
#include "tests/store/trees.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/pages/block_cursor.h"
#include "store/record/codec.h"
#include "store/store.h"

#define EXTERNAL CHI_STATISTIC_EXTERNAL
#define KEYS_MAX 30000

static struct chi_key keys[KEYS_MAX];

/* ---- Blocks against cursors --------------------------------------------------------------- */

static void close_cursor(MDB_cursor **cursor)
{
	if (*cursor != NULL) {
		mdb_cursor_close(*cursor);
	}
}

/* Goes on by both, from where both are, to the end or for `most` blocks; false: they differ. */
static bool same_way(struct chi_block_cursor *walk, int rc, MDB_cursor *cursor, int at, bool down,
		     size_t most, MDB_val key, MDB_val value)
{
	for (size_t i = 0; i < most; i++) {
		if (rc != CHI_OK || at != 0) {
			return rc == CHI_NONE && at == MDB_NOTFOUND;
		}
		if (walk->block.low != key.mv_data || walk->block.low_len != key.mv_size ||
		    walk->block.bytes != value.mv_data || walk->block.len != value.mv_size) {
			return false;
		}
		rc = chi_block_cursor_next(walk, down);
		at = mdb_cursor_get(cursor, &key, &value, down ? MDB_PREV : MDB_NEXT);
	}
	return true;
}

/* From one end to the other, both ways. */
static bool same_whole(const struct chi_descent *tree, enum chi_tree_kind kind, MDB_cursor *cursor)
{
	for (int down = 0; down < 2; down++) {
		struct chi_block_cursor walk;
		MDB_val key = {0};
		MDB_val value = {0};
		int rc = chi_block_cursor_start(&walk, tree, kind, down);
		int at = mdb_cursor_get(cursor, &key, &value, down ? MDB_LAST : MDB_FIRST);
		if (!same_way(&walk, rc, cursor, at, down, SIZE_MAX, key, value)) {
			return false;
		}
	}
	return true;
}

/* From a place that is a key, or beside one, both ways. */
static bool same_from(const struct chi_descent *tree, enum chi_tree_kind kind, MDB_cursor *cursor,
		      const uint8_t *bytes, size_t len)
{
	for (int down = 0; down < 2; down++) {
		struct chi_block_cursor walk;
		MDB_val key = chi_val(bytes, len);
		MDB_val value = {0};
		int rc = chi_block_cursor_seek(&walk, tree, kind, down, bytes, len);
		int at = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
		if (at != 0) {
			at = mdb_cursor_get(cursor, &key, &value, MDB_LAST);
		} else if (chi_tree_compare(kind, key.mv_data, key.mv_size, bytes, len) > 0) {
			at = mdb_cursor_get(cursor, &key, &value, MDB_PREV);
		}
		if (!same_way(&walk, rc, cursor, at, down, 1 + help_below(10), key, value)) {
			return false;
		}
	}
	return true;
}

/* Both trees of a snapshot; `list`: keys to start from, and others beside them. */
static bool read_agrees(struct chi_read *read, const struct chi_key *list, size_t n)
{
	for (int i = 0; i < 2; i++) {
		_cleanup_(close_cursor) MDB_cursor *cursor = NULL;
		struct chi_descent tree;
		const char *name = i == 0 ? POSITION_TREE : STRENGTH_TREE;
		MDB_dbi dbi = i == 0 ? read->env->position : read->env->strength;
		enum chi_tree_kind kind = i == 0 ? CHI_TREE_POSITION : CHI_TREE_STRENGTH;
		chi_descent_start(read->env->mdb, read->txn, &read->env->pages, name, &tree);
		if (!tree.usable || mdb_cursor_open(read->txn, dbi, &cursor) != 0 ||
		    !same_whole(&tree, kind, cursor)) {
			return false;
		}
		for (size_t j = 0; j < n; j++) {
			uint8_t bytes[CHI_STRENGTH_KEY_MAX];
			const struct chi_key *key = &list[j];
			uint16_t chi2 = (uint16_t)(1 + help_below(600));
			size_t len = key->len;
			memcpy(bytes, key->bytes, len);
			if (i == 1) {
				len = chi_strength_key(chi2, key->bytes, key->len, bytes);
			}
			if (help_below(2) == 0) {
				bytes[help_below((unsigned)len)] ^= (uint8_t)(1 + help_below(255));
			}
			if (!same_from(&tree, kind, cursor, bytes, len)) {
				return false;
			}
		}
	}
	return true;
}

static void compare(struct chi_dir *store, size_t n)
{
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	assert_true(read_agrees(read, keys, n));
	chi_read_end(read);
}

CASE(test_all_shapes)
{
	static const size_t sizes[] = {0, 1, 2, 60, 1000, KEYS_MAX};
	trees_keys(keys, KEYS_MAX);
	for (size_t i = 0; i < CHI_COUNT(sizes); i++) {
		struct chi_dir *store = help_store("leaves", EXTERNAL);
		trees_fill(store, keys, sizes[i], false);
		compare(store, 400);
		chi_dir_close(store);
	}
}

/* Values in pages of their own, entries deleted, records that change their statistic. */
CASE(test_changes)
{
	struct chi_dir *store = help_store("changes", EXTERNAL);
	trees_keys(keys, 6000);
	trees_fill(store, keys, 150, true);
	trees_fill(store, keys + 150, 5850, false);
	compare(store, 300);
	for (unsigned i = 0; i < 8; i++) {
		trees_delete(store, keys + 700 * i, 600);
		trees_fill(store, keys + help_below(5000), 500, i % 3 == 0);
		compare(store, 300);
	}
	for (size_t left = 6000; left > 0; left /= 5) {
		trees_delete(store, keys + left / 5, left - left / 5);
		compare(store, 100);
	}
	trees_delete(store, keys, 6000);
	compare(store, 100);
	chi_dir_close(store);
}

CASE(test_beside_a_writer)
{
	trees_keys(keys, 5000);
	chi_dir_close(help_store("beside", EXTERNAL));
	pid_t pid = fork();
	if (pid == 0) {
		struct chi_dir *store = help_open(help_path("beside"), CHI_STORE_WRITE);
		for (int i = 0; i < 100; i++) {
			size_t from = help_random() % 4500;
			if (i % 3 == 0) {
				trees_delete(store, keys + from, 500);
			} else {
				trees_fill(store, keys + from, 500, false);
			}
		}
		chi_dir_close(store);
		_exit(0);
	}
	struct chi_dir *store = help_open(help_path("beside"), CHI_STORE_READ);
	uint64_t last = 0;
	unsigned states = 0;
	int status;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct chi_read *read;
		ok(chi_read_begin(store, &read));
		states += chi_read_sequence(read) != last;
		last = chi_read_sequence(read);
		assert_true(read_agrees(read, keys + help_below(4900), 20));
		chi_read_end(read);
	}
	assert_int_equal(status, 0);
	assert_true(states > 1);
	compare(store, 400);
	chi_dir_close(store);
}

/* ---- Scans against a plain search ---------------------------------------------------------- */

static struct chi_row scanned[KEYS_MAX];
static struct chi_row expected[KEYS_MAX];

static struct chi_scan_spec random_spec(size_t n)
{
	struct chi_scan_spec spec = {
		.chi2_min = (uint16_t)(help_below(2) ? help_below(600) : 0),
		.descending = help_below(2) == 0,
		.order = (uint8_t)(help_below(4) == 0),
		.want = (uint8_t)help_below(2),
		.limit = help_below(3) == 0 ? 1 + help_below((unsigned)n) : 0,
	};
	spec.chi2_max = (uint16_t)(help_below(3) ? CHI_CHI2_MAX : spec.chi2_min + help_below(300));
	if (help_below(3) == 0) {
		spec.filter.pieces_min = (uint8_t)(1 + help_below(20));
		spec.filter.pieces_max = (uint8_t)(spec.filter.pieces_min + help_below(12));
	}
	spec.filter.side = help_below(3) == 0 ? (uint8_t)help_below(3) : CHI_SIDE_ANY;
	spec.filter.games_min = help_below(3) == 0 ? help_below(1500) : 0;
	spec.after.set = help_below(3) == 0;
	spec.after.chi2 = (uint16_t)(help_below(4) ? help_below(700) : 0);
	spec.after.key = keys[help_random() % n];
	return spec;
}

/* All rows of a scan that is given up and taken up again where it stood, some rows on. */
static size_t collect(struct chi_read *read, struct chi_scan_spec spec, struct chi_row *rows)
{
	size_t n = 0;
	int rc = CHI_OK;
	while (rc == CHI_OK) {
		struct chi_scan *scan;
		unsigned calls = 1 + help_below(40);
		size_t before = n;
		ok(chi_read_scan(read, &spec, &scan, &fault));
		while (rc == CHI_OK && calls-- > 0) {
			size_t got;
			rc = chi_scan_rows(scan, rows + n, 1 + help_below(100),
					   1 + help_below(1000), &got);
			n += got;
		}
		assert_in_range(rc, CHI_OK, CHI_NONE);
		chi_scan_where(scan, &spec.after);
		chi_scan_free(scan);
		spec.limit -= spec.limit > 0 ? n - before : 0;
	}
	return n;
}

/* A count in pieces, given up now and then and taken up again where it stood. */
static uint64_t count(struct chi_read *read, struct chi_scan_spec spec)
{
	uint64_t sum = 0;
	int rc = CHI_OK;
	if (!spec.after.set) {
		spec.order = CHI_ORDER_STRENGTH;
		spec.descending = false;
	}
	while (rc == CHI_OK) {
		struct chi_scan *scan;
		unsigned calls = 1 + help_below(20);
		ok(chi_read_scan(read, &spec, &scan, &fault));
		while (rc == CHI_OK && calls-- > 0) {
			rc = chi_scan_tally(scan, 1 + help_below(5000), &sum);
		}
		assert_in_range(rc, CHI_OK, CHI_NONE);
		chi_scan_where(scan, &spec.after);
		chi_scan_free(scan);
	}
	return sum;
}

static void compare_scans(struct chi_dir *store, size_t keys_n, unsigned rounds)
{
	struct chi_read *read;
	uint64_t rows = 0;
	ok(chi_read_begin(store, &read));
	for (unsigned i = 0; i < rounds; i++) {
		struct chi_scan_spec spec = random_spec(keys_n);
		size_t n = collect(read, spec, scanned);
		assert_int_equal(trees_expect(read, &spec, expected), n);
		assert_memory_equal(scanned, expected, n * sizeof(scanned[0]));
		spec.limit = 0;
		assert_int_equal(count(read, spec), trees_expect(read, &spec, expected));
		rows += n;
	}
	assert_true(rows > 0);
	chi_read_end(read);
}

CASE(test_scans)
{
	struct chi_dir *store = help_store("scans", EXTERNAL);
	trees_keys(keys, 5000);
	trees_fill(store, keys, 60, true);
	trees_fill(store, keys + 60, 4000, false);
	compare_scans(store, 5000, 150);
	trees_delete(store, keys + 1000, 2500);
	compare_scans(store, 5000, 50);
	chi_dir_close(store);
}

/* ---- Pages larger than the system's -------------------------------------------------------- */

/* What LMDB is told of the system; 0: the truth. */
static long page_bytes;

long sysconf(int name)
{
	long (*real)(int) = NULL;
	*(void **)&real = dlsym(RTLD_NEXT, "sysconf");
	return name == _SC_PAGESIZE && page_bytes != 0 ? page_bytes : real(name);
}

/* A store of a machine with pages of 16 KiB: the map begins wherever a page of this one does. */
CASE(test_larger_pages)
{
	trees_keys(keys, 600);
	page_bytes = 16384;
	struct chi_dir *store = help_store("larger", EXTERNAL);
	trees_fill(store, keys, 600, false);
	chi_dir_close(store);
	page_bytes = 0;
	for (unsigned i = 0; i < 8; i++) {
		/* The system puts each map right below another: their sizes decide where. */
		char size[24];
		(void)snprintf(size, sizeof(size), "%lu", (1ul << 20) + 4096ul * i);
		assert_int_equal(setenv("CHISTORE_MAP_BYTES", size, 1), 0);
		store = help_open(help_path("larger"), CHI_STORE_READ);
		assert_non_null(store->env->pages.base);
		assert_int_equal(store->env->pages.size, 16384);
		compare_scans(store, 600, 20);
		chi_dir_close(store);
	}
	assert_int_equal(unsetenv("CHISTORE_MAP_BYTES"), 0);
}
