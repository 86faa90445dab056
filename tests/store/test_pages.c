/* SPDX-License-Identifier: MIT */
/*
 * Descents through LMDB's pages find exactly what its cursors lead to, in trees of all shapes,
 * under a writer, on a map that has moved; and damaged pages cost them an answer, never a wrong
 * one.
 */
#include "tests/store/trees.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "tests/base/seed.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/pages/pages.h"
#include "store/record/codec.h"
#include "store/store.h"

#define EXTERNAL    CHI_STATISTIC_EXTERNAL
#define KEYS_MAX    100000
#define BATCH_MAX   100
#define GROWN_NOTES 60

static struct chi_key keys[KEYS_MAX];
static struct chi_key asked[2 * KEYS_MAX];

/* Each key and one beside it, mixed; returns their number. */
static size_t ask_all(const struct chi_key *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		asked[2 * i] = list[i];
		struct chi_key *other = &asked[2 * i + 1];
		*other = list[i];
		unsigned at = help_below(list[i].len);
		if (at < 2 && other->len > CHI_KEY_MIN) {
			other->bytes[--other->len] = 0;
		} else {
			other->bytes[at] ^= (uint8_t)(1 + help_below(255));
		}
	}
	for (size_t i = 2 * n; i > 1; i--) {
		size_t j = help_random() % i;
		struct chi_key key = asked[i - 1];
		asked[i - 1] = asked[j];
		asked[j] = key;
	}
	return 2 * n;
}

/* The row by LMDB's cursor. */
static struct chi_row row_by_lmdb(struct chi_read *read, const struct chi_key *key, MDB_val *value)
{
	struct chi_row row = {.key = *key};
	if (trees_get(read, key, value) == CHI_OK) {
		row.found = chi_record_peek(value->mv_data, value->mv_size, &row.chi2,
					    &row.counts) == CHI_OK;
	}
	return row;
}

static bool rows_equal(const struct chi_row *a, const struct chi_row *b)
{
	return memcmp(&a->key, &b->key, sizeof(a->key)) == 0 && a->found == b->found &&
	       a->chi2 == b->chi2 && chi_counts_equal(&a->counts, &b->counts);
}

static bool found_equal(const struct chi_found *found, const MDB_val *value)
{
	if (value->mv_data == NULL) {
		return found->finding == CHI_FINDING_NONE;
	}
	return found->finding == CHI_FINDING_THERE && found->value == value->mv_data &&
	       found->len == value->mv_size;
}

/* True if rows, descents in a group and descents alone all say what LMDB's cursor says. A descent
 * must not be unsure here: that would hide behind LMDB. */
static bool batch_agrees(struct chi_read *read, const struct chi_key *list, size_t n)
{
	struct chi_row rows[BATCH_MAX];
	struct chi_found found[BATCH_MAX];
	if (chi_read_rows(read, list, n, rows) != CHI_OK || read->env->pages.base == NULL) {
		return false;
	}
	if (!chi_read_can_descend(read, 0)) {
		return false;
	}
	for (size_t i = 0; i < n; i += CHI_DESCENT_LANES) {
		size_t group = n - i < CHI_DESCENT_LANES ? n - i : CHI_DESCENT_LANES;
		chi_descent_find(&read->descent, list + i, group, found + i);
	}
	for (size_t i = 0; i < n; i++) {
		MDB_val value;
		struct chi_row row;
		struct chi_found alone;
		struct chi_row wanted = row_by_lmdb(read, &list[i], &value);
		chi_descent_find_one(&read->descent, &list[i], &alone);
		int rc = chi_read_row(read, &list[i], &row);
		if (!rows_equal(&rows[i], &wanted) || !rows_equal(&row, &wanted) ||
		    rc != (wanted.found ? CHI_OK : CHI_NONE) || !found_equal(&found[i], &value) ||
		    !found_equal(&alone, &value)) {
			return false;
		}
	}
	return true;
}

/* All of `asked` in batches of 1, 2, ... 100, 1, ... positions. */
static void compare_all(struct chi_dir *store, size_t n)
{
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	size_t batch = 1;
	for (size_t i = 0; i < n; i += batch, batch = batch % BATCH_MAX + 1) {
		batch = n - i < batch ? n - i : batch;
		assert_true(batch_agrees(read, asked + i, batch));
	}
	chi_read_end(read);
}

/* Fewer under a sanitizer. */
static size_t many_keys(void)
{
	return seed_rounds(8) < 8 ? KEYS_MAX / 8 : KEYS_MAX;
}

CASE(test_every_record)
{
	const size_t sizes[] = {0, 1, 2, 50, 1000, many_keys()};
	trees_keys(keys, many_keys());
	for (size_t i = 0; i < CHI_COUNT(sizes); i++) {
		struct chi_dir *store = help_store("pages", EXTERNAL);
		trees_fill(store, keys, sizes[i], false);
		compare_all(store, ask_all(keys, sizes[i] > 0 ? sizes[i] : 50));
		chi_dir_close(store);
		/* The same from a map that finds the tree when it is opened. */
		store = help_open(help_path("pages"), CHI_STORE_READ);
		compare_all(store, ask_all(keys, sizes[i] > 0 ? 50 % (sizes[i] + 1) : 50));
		chi_dir_close(store);
	}
}

/* The same pieces' squares over many pages: whole keys must tell them apart, on every level. */
CASE(test_same_squares)
{
	static const unsigned runs[] = {30, 1000, KEYS_MAX};
	for (size_t i = 0; i < CHI_COUNT(runs); i++) {
		struct chi_dir *store = help_store("squares", EXTERNAL);
		trees_runs(keys, 30000, runs[i]);
		trees_fill(store, keys, 20000, false);
		compare_all(store, ask_all(keys, 30000));
		chi_dir_close(store);
	}
}

CASE(test_large_values)
{
	struct chi_dir *store = help_store("large", EXTERNAL);
	trees_keys(keys, 300);
	trees_fill(store, keys, 200, true);
	trees_fill(store, keys + 200, 100, false);
	compare_all(store, ask_all(keys, 300));
	trees_delete(store, keys + 50, 100);
	compare_all(store, ask_all(keys, 300));
	chi_dir_close(store);
}

CASE(test_deletes)
{
	struct chi_dir *store = help_store("deletes", EXTERNAL);
	trees_keys(keys, 20000);
	trees_fill(store, keys, 20000, false);
	for (size_t left = 20000; left > 0; left /= 4) {
		compare_all(store, ask_all(keys, 20000 > 4 * left ? 4 * left : 20000));
		trees_delete(store, keys + left / 4, left - left / 4);
	}
	assert_int_equal(help_count(store), 0);
	compare_all(store, ask_all(keys, 100));
	chi_dir_close(store);
}

/* A process that puts and deletes, commit after commit. */
static pid_t start_writer(const char *path)
{
	pid_t pid = fork();
	if (pid != 0) {
		return pid;
	}
	struct chi_dir *store = help_open(path, CHI_STORE_WRITE);
	for (int i = 0; i < 150; i++) {
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

CASE(test_beside_a_writer)
{
	trees_keys(keys, 5000);
	chi_dir_close(help_store("beside", EXTERNAL));
	pid_t pid = start_writer(help_path("beside"));
	struct chi_dir *store = help_open(help_path("beside"), CHI_STORE_READ);
	uint64_t last = 0;
	unsigned states = 0;
	int status;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct chi_read *read;
		ok(chi_read_begin(store, &read));
		states += chi_read_sequence(read) != last;
		last = chi_read_sequence(read);
		size_t n = 1 + help_below(BATCH_MAX);
		assert_true(batch_agrees(read, keys + help_random() % (5000 - n), n));
		chi_read_end(read);
	}
	assert_int_equal(status, 0);
	assert_true(states > 1);
	compare_all(store, ask_all(keys, 5000));
	chi_dir_close(store);
}

struct reader {
	pthread_t thread;
	struct chi_dir *store;
	size_t from;
};

static void *read_batches(void *argument)
{
	struct reader *reader = argument;
	for (size_t i = 0; i < 200; i++) {
		struct chi_read *read;
		if (chi_read_begin(reader->store, &read) != CHI_OK) {
			return reader;
		}
		bool agrees = batch_agrees(read, keys + reader->from + i * 7 % 900, 1 + i % 100);
		chi_read_end(read);
		if (!agrees) {
			return reader;
		}
	}
	return NULL;
}

CASE(test_threads)
{
	struct reader readers[4];
	struct chi_dir *store = help_store("threads", EXTERNAL);
	trees_keys(keys, 4000);
	for (size_t i = 0; i < CHI_COUNT(readers); i++) {
		readers[i] = (struct reader){.store = store, .from = i * 1000};
		assert_int_equal(
			pthread_create(&readers[i].thread, NULL, read_batches, &readers[i]), 0);
	}
	for (size_t i = 0; i < 40; i++) {
		trees_fill(store, keys + 100 * i, 100, false);
	}
	for (size_t i = 0; i < CHI_COUNT(readers); i++) {
		void *failed;
		assert_int_equal(pthread_join(readers[i].thread, &failed), 0);
		assert_null(failed);
	}
	chi_dir_close(store);
}

/* Another process lets the file outgrow this one's map, which then moves. */
CASE(test_map_growth)
{
	trees_keys(keys, GROWN_NOTES);
	chi_dir_close(help_store("grown", EXTERNAL));
	struct chi_dir_options options = {.mode = CHI_STORE_READ, .map_bytes = 1 << 20};
	struct chi_dir *store;
	ok(chi_dir_open(help_path("grown"), &options, &store, &fault));
	compare_all(store, ask_all(keys, GROWN_NOTES));
	pid_t pid = fork();
	if (pid == 0) {
		struct chi_dir *other = help_open(help_path("grown"), CHI_STORE_WRITE);
		trees_fill(other, keys, GROWN_NOTES, true);
		chi_dir_close(other);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	compare_all(store, ask_all(keys, GROWN_NOTES));
	assert_int_equal(help_count(store), GROWN_NOTES);
	chi_dir_close(store);
}

/* A batch ends at its first failure, with the rows before it filled. */
CASE(test_failures)
{
	struct chi_row rows[BATCH_MAX];
	struct chi_read *read;
	struct chi_found found;
	struct chi_dir *store = help_store("failures", EXTERNAL);
	trees_keys(keys, BATCH_MAX);
	trees_fill(store, keys, BATCH_MAX, false);
	for (size_t bad = 0; bad < BATCH_MAX; bad++) {
		struct chi_key key = keys[bad];
		keys[bad].len = bad % 2 == 0 ? CHI_KEY_MIN - 1 : CHI_KEY_MAX + 1;
		ok(chi_read_begin(store, &read));
		assert_int_equal(chi_read_rows(read, keys, BATCH_MAX, rows), -CHI_EKEY);
		keys[bad] = key;
		assert_true(bad == 0 || batch_agrees(read, keys, bad));
		for (size_t i = 0; i <= bad; i++) {
			assert_int_equal(rows[i].found, i < bad);
		}
		chi_descent_find_one(&read->descent, &keys[bad], &found);
		off_t at = found.value - read->env->pages.base;
		uint8_t damage = found.value[0] ^ 0x40;
		int fd = open(help_path("failures/data.mdb"), O_RDWR);
		assert_int_equal(pwrite(fd, &damage, 1, at), 1);
		/* The damage takes its group along. */
		size_t first = 0;
		while (chi_read_row(read, &keys[first], &rows[0]) == CHI_OK) {
			first++;
		}
		assert_true(first <= bad);
		assert_int_equal(chi_read_rows(read, keys, BATCH_MAX, rows), -CHI_ECORRUPT);
		for (size_t i = 0; i <= first; i++) {
			assert_int_equal(rows[i].found, i < first);
		}
		damage ^= 0x40;
		assert_int_equal(pwrite(fd, &damage, 1, at), 1);
		(void)close(fd);
		chi_read_end(read);
	}
	chi_dir_close(store);
}

/* The start of the page that the address lies in, as a place in the file. */
static off_t page_of(const struct chi_read *read, const void *address)
{
	size_t at = (size_t)((const uint8_t *)address - read->env->pages.base);
	return (off_t)(at - at % read->env->pages.size);
}

/* Adds to the number that a page bears; LMDB does not look at it. */
static void renumber(off_t page, uint64_t add)
{
	uint64_t number;
	int fd = open(help_path("fallback/data.mdb"), O_RDWR);
	assert_int_equal(pread(fd, &number, sizeof(number), page + PAGE_NUMBER), sizeof(number));
	number += add;
	assert_int_equal(pwrite(fd, &number, sizeof(number), page + PAGE_NUMBER), sizeof(number));
	(void)close(fd);
}

/* True if the rows are LMDB's, and that of keys[0] was found. */
static bool rows_right(struct chi_read *read)
{
	struct chi_row rows[BATCH_MAX];
	MDB_val value;
	ok(chi_read_rows(read, keys, BATCH_MAX, rows));
	for (size_t i = 0; i < BATCH_MAX; i++) {
		struct chi_row wanted = row_by_lmdb(read, &keys[i], &value);
		if (!rows_equal(&rows[i], &wanted)) {
			return false;
		}
	}
	return rows[0].found;
}

/* Opens the store with one page's number changed: nothing is walked, all is found. */
static void open_renumbered(off_t page)
{
	struct chi_read *read;
	renumber(page, 5);
	struct chi_dir *store = help_open(help_path("fallback"), CHI_STORE_READ);
	assert_null(store->env->pages.base);
	ok(chi_read_begin(store, &read));
	assert_true(rows_right(read));
	chi_read_end(read);
	chi_dir_close(store);
	renumber(page, UINT64_MAX - 4);
	store = help_open(help_path("fallback"), CHI_STORE_READ);
	assert_non_null(store->env->pages.base);
	chi_dir_close(store);
}

/* What a descent is not sure of is left to mdb_get, one key or all. */
CASE(test_fallback)
{
	static const char name[] = POSITION_TREE;
	struct chi_read *read;
	struct chi_found found;
	struct chi_dir *store = help_store("fallback", EXTERNAL);
	trees_keys(keys, 3000);
	trees_fill(store, keys, 3000, false);
	ok(chi_read_begin(store, &read));
	assert_true(rows_right(read));
	chi_descent_find_one(&read->descent, &keys[0], &found);
	assert_int_equal(found.finding, CHI_FINDING_THERE);
	off_t leaf = page_of(read, found.value);
	renumber(leaf, 1);
	chi_descent_find_one(&read->descent, &keys[0], &found);
	assert_int_equal(found.finding, CHI_FINDING_UNSURE);
	chi_descent_find(&read->descent, keys, 1, &found);
	assert_int_equal(found.finding, CHI_FINDING_UNSURE);
	assert_true(rows_right(read));
	renumber(leaf, UINT64_MAX);
	MDB_val key = chi_val(name, sizeof(name) - 1);
	MDB_val value;
	assert_int_equal(mdb_get(read->txn, read->env->pages.main, &key, &value), 0);
	off_t trees = page_of(read, value.mv_data);
	off_t root = (off_t)(read->descent.root * read->env->pages.size);
	chi_read_end(read);
	chi_dir_close(store);
	open_renumbered(root);
	/* The names of the trees are LMDB's to find: it is not to follow such a page. */
	renumber(trees, 5);
	assert_int_equal(help_try(help_path("fallback"), CHI_STORE_READ), -CHI_ECORRUPT);
}

/* True unless a record that passes for sound is another than the sound file's, or one that is there
 * passes for absent. */
static bool harmless(const struct chi_found *found, const struct chi_row *wanted)
{
	struct chi_row row = {.key = wanted->key, .found = true};
	if (found->finding == CHI_FINDING_NONE) {
		return !wanted->found;
	}
	return found->finding != CHI_FINDING_THERE ||
	       chi_record_peek(found->value, found->len, &row.chi2, &row.counts) != CHI_OK ||
	       rows_equal(&row, wanted);
}

/* Counts answers; the rows are those of the sound file. A group and one alone look at different
 * nodes of a page, so that where the damage shows to one it may not to the other. */
static bool descend_damaged(struct chi_descent *descent, const struct chi_row *rows, size_t n,
			    unsigned seen[4])
{
	struct chi_found found[CHI_DESCENT_LANES];
	for (size_t i = 0; i + CHI_DESCENT_LANES <= n; i += CHI_DESCENT_LANES) {
		chi_descent_find(descent, keys + i, CHI_DESCENT_LANES, found);
		for (size_t j = 0; j < CHI_DESCENT_LANES; j++) {
			struct chi_found alone;
			chi_descent_find_one(descent, &keys[i + j], &alone);
			seen[found[j].finding]++;
			if (!harmless(&found[j], &rows[i + j]) || !harmless(&alone, &rows[i + j])) {
				return false;
			}
		}
	}
	return true;
}

/* In a child, which dies if a descent leaves the map. LMDB itself is not asked: it might. */
static int damage_and_descend(unsigned rounds)
{
	static struct chi_row rows[4000];
	struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_READ);
	struct chi_read *read;
	struct stat st;
	unsigned seen[4] = {0};
	int fd = open(help_path("damaged/data.mdb"), O_RDWR);
	if (chi_read_begin(store, &read) != CHI_OK ||
	    chi_read_rows(read, keys, CHI_COUNT(rows), rows) != CHI_OK || fstat(fd, &st) != 0 ||
	    !read->descent.usable) {
		return 1;
	}
	uint8_t *good = malloc((size_t)st.st_size);
	if (good == NULL || pread(fd, good, (size_t)st.st_size, 0) != st.st_size) {
		return 2;
	}
	for (unsigned i = 0; i < rounds; i++) {
		off_t at;
		struct chi_descent descent = read->descent;
		descent.waits = i % 4 == 0 ? UINT16_MAX : 0;
		size_t len = trees_damage(fd, good, st.st_size, &at);
		if (i % 10 == 0) {
			descent.root = help_random() % (i % 20 == 0 ? descent.end : UINT64_MAX);
		} else if (i % 10 == 1) {
			descent.depth = (uint16_t)(1 + help_below(32));
		}
		if (!descend_damaged(&descent, rows, CHI_COUNT(rows), seen)) {
			return 99;
		}
		if (pwrite(fd, good + at, len, at) != (ssize_t)len) {
			return 3;
		}
	}
	free(good);
	(void)close(fd);
	chi_read_end(read);
	chi_dir_close(store);
	return seen[CHI_FINDING_THERE] > 0 && seen[CHI_FINDING_UNSURE] > 0 &&
			       seen[CHI_FINDING_DAMAGED] > 0
		       ? 0
		       : 4;
}

/* Leaves no page of an earlier state in the file: led to the root of one, by chance, a descent
 * answers what was right then (docs/RELIABILITY.md). */
static void compact(struct chi_dir *store)
{
	struct chi_compaction *compaction;
	uint64_t before;
	uint64_t after;
	ok(chi_compact_prepare(store, &compaction, &fault));
	ok(chi_compact_swap(compaction, &before, &after, &fault));
	assert_true(after < before);
}

CASE(test_damaged_pages)
{
	struct chi_dir *store = help_store("damaged", EXTERNAL);
	trees_keys(keys, 4000);
	trees_fill(store, keys, 100, true);
	trees_fill(store, keys + 100, 3900, false);
	compact(store);
	chi_dir_close(store);
	pid_t pid = fork();
	if (pid == 0) {
		static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
		for (size_t i = 0; i < CHI_COUNT(deadly); i++) {
			signal(deadly[i], SIG_DFL);
		}
		_exit(damage_and_descend(400));
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
