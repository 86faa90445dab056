/* SPDX-License-Identifier: MIT */
/*
 * Counts by several threads, against those of a plain search, and counts in damaged trees: whatever
 * is in a page, nothing outside of it is touched, and every count ends.
 */
#include "tests/store/trees.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/base/seed.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/pages/leaf_cursor.h"
#include "store/record/codec.h"
#include "store/store.h"

#define POSITIONS 120000 /* enough for several threads */

static struct chi_key keys[POSITIONS];
static struct chi_row rows[POSITIONS];

static struct chi_scan_spec random_spec(void)
{
	struct chi_scan_spec spec = {
		.chi2_min = (uint16_t)(help_below(2) ? help_below(600) : 0),
		.chi2_max = CHI_CHI2_MAX,
	};
	if (help_below(4) == 0) {
		spec.chi2_max = (uint16_t)(spec.chi2_min + help_below(10000));
	}
	if (help_below(3) > 0) {
		spec.filter.pieces_min = (uint8_t)(1 + help_below(12));
	}
	spec.filter.side = help_below(3) == 0 ? (uint8_t)help_below(3) : CHI_SIDE_ANY;
	spec.filter.games_min = help_below(3) == 0 ? help_below(1500) : 0;
	return spec;
}

static uint64_t count_by_threads(struct chi_read *read, const struct chi_scan_spec *spec)
{
	struct chi_scan *scan;
	uint64_t sum = 0;
	ok(chi_read_scan(read, spec, &scan, &fault));
	uint64_t steps = help_below(2) ? UINT64_MAX : 1 + help_below(30000);
	int rc = CHI_OK;
	while (rc == CHI_OK) {
		rc = chi_scan_count_all(scan, 1 + help_below(4), steps, &sum);
	}
	assert_int_equal(rc, CHI_NONE);
	assert_int_equal(chi_scan_count_all(scan, 2, UINT64_MAX, &sum), CHI_NONE);
	chi_scan_free(scan);
	return sum;
}

/* What is counted stays the same however it is. */
CASE(test_threads)
{
	struct chi_dir *store = help_store("threads", CHI_STATISTIC_EXTERNAL);
	struct chi_read *read;
	trees_keys(keys, POSITIONS);
	trees_fill(store, keys, POSITIONS, false);
	ok(chi_read_begin(store, &read));
	for (size_t i = 0; i < seed_rounds(24); i++) {
		struct chi_scan_spec spec = random_spec();
		assert_int_equal(count_by_threads(read, &spec), trees_expect(read, &spec, rows));
	}
	chi_read_end(read);
	chi_dir_close(store);
}

/* ---- Damage --------------------------------------------------------------------------------- */

/* Counts by threads, of the store that test_threads has left. */
static int damage_and_count(unsigned rounds)
{
	struct chi_dir *store = help_open(help_path("threads"), CHI_STORE_READ);
	struct chi_read *read;
	struct stat st;
	unsigned ended[2] = {0};
	int fd = open(help_path("threads/data.mdb"), O_RDWR);
	ok(chi_read_begin(store, &read));
	if (fstat(fd, &st) != 0 || !chi_read_can_descend(read, 0)) {
		return 1;
	}
	off_t trees = trees_page(read);
	uint8_t *good = malloc((size_t)st.st_size);
	if (good == NULL || pread(fd, good, (size_t)st.st_size, 0) != st.st_size) {
		return 2;
	}
	for (unsigned i = 0; i < rounds; i++) {
		struct chi_scan_spec spec = {.chi2_min = (uint16_t)help_below(2)};
		struct chi_scan *scan;
		uint64_t counted = 0;
		size_t len = 0;
		off_t at[8];
		size_t lens[CHI_COUNT(at)];
		for (size_t j = 0; j < CHI_COUNT(at); j++) {
			len = trees_damage(fd, good, st.st_size, &at[j]);
			lens[j] = len;
			if (at[j] + 512 > trees && at[j] < trees + 4096) {
				(void)!pwrite(fd, good + at[j], len, at[j]);
			}
		}
		spec.chi2_max = (uint16_t)(help_below(2) ? CHI_CHI2_MAX : 20000);
		spec.filter.pieces_min = 2;
		spec.filter.games_min = help_below(3) == 0 ? 500 : 0;
		ok(chi_read_scan(read, &spec, &scan, NULL));
		int rc = chi_scan_count_all(scan, 3, UINT64_MAX, &counted);
		chi_scan_free(scan);
		if (counted > POSITIONS || (rc != CHI_NONE && rc != -CHI_ECORRUPT)) {
			return 99;
		}
		ended[rc == -CHI_ECORRUPT]++;
		for (size_t j = CHI_COUNT(at); j-- > 0;) {
			if (pwrite(fd, good + at[j], lens[j], at[j]) != (ssize_t)lens[j]) {
				return 3;
			}
		}
	}
	free(good);
	(void)close(fd);
	chi_read_end(read);
	chi_dir_close(store);
	return ended[0] > 0 && ended[1] > 0 ? 0 : 4;
}

CASE(test_damaged_pages_and_threads)
{
	trees_in_child(damage_and_count, 60);
}

/* A cursor was made of whatever stood where a count of pages by their heads had paused. */
static int count_to_damaged_key(unsigned rounds)
{
	static const uint16_t sizes[] = {0, 1, 2, 5, 27, 200};
	struct chi_dir *store = help_open(help_path("key"), CHI_STORE_READ);
	struct chi_scan_spec spec = {.chi2_min = 2, .chi2_max = CHI_CHI2_MAX - 1};
	struct chi_read *read;
	struct chi_descent tree;
	struct chi_leaf_cursor walk;
	struct chi_item item;
	int fd = open(help_path("key/data.mdb"), O_RDWR);
	(void)rounds;
	ok(chi_read_begin(store, &read));
	chi_descent_start(read->env->mdb, read->txn, &read->env->pages, STRENGTH_TREE, &tree);
	if (!tree.usable || chi_leaf_cursor_start(&walk, &tree, false) != CHI_OK ||
	    !chi_leaf_item(&walk.leaf, 0, &item)) {
		return 1;
	}
	off_t at = item.key - NODE_HEADER + NODE_KSIZE - tree.pages.base;
	for (size_t i = 0; i < CHI_COUNT(sizes); i++) {
		struct chi_scan *scan;
		struct chi_cursor cursor;
		uint64_t counted = 0;
		uint8_t bytes[2] = {(uint8_t)sizes[i], (uint8_t)(sizes[i] >> 8)};
		if (pwrite(fd, bytes, sizeof(bytes), at) != sizeof(bytes)) {
			return 2;
		}
		ok(chi_read_scan(read, &spec, &scan, NULL));
		int rc = chi_scan_tally(scan, 1, &counted);
		chi_scan_where(scan, &cursor);
		chi_scan_free(scan);
		if (rc != -CHI_ECORRUPT || cursor.set) {
			return 3;
		}
	}
	(void)close(fd);
	chi_read_end(read);
	chi_dir_close(store);
	return 0;
}

CASE(test_count_pauses_at_damaged_key)
{
	struct chi_dir *store = help_store("key", CHI_STATISTIC_EXTERNAL);
	trees_keys(keys, 4000);
	trees_fill(store, keys, 4000, false);
	chi_dir_close(store);
	trees_in_child(count_to_damaged_key, 1);
}

CASES_MAIN(NULL, help_teardown)
