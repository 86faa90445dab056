/* SPDX-License-Identifier: MIT */
/*
 * Walks through LMDB's leaf pages give exactly what its cursors give, entry for entry and byte for
 * byte, in trees of all shapes, in both directions, from every start, beside a writer; scans give
 * the same rows by pages and by cursors; and damaged pages end a walk, or change nothing.
 */
#include "tests/store/trees.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/leaves.h"
#include "store/store_priv.h"

#define EXTERNAL CHI_STATISTIC_EXTERNAL
#define KEYS_MAX 30000

static struct chi_key keys[KEYS_MAX];

/* ---- Leaves against cursors --------------------------------------------------------------- */

static void close_cursor(MDB_cursor **cursor)
{
	if (*cursor != NULL) {
		mdb_cursor_close(*cursor);
	}
}

static bool item_equal(const struct chi_item *item, const MDB_val *key, const MDB_val *value)
{
	return item->key == key->mv_data && item->key_len == key->mv_size &&
	       item->value == value->mv_data && item->len == value->mv_size;
}

/* Goes on by both, from where both stand, to the end or for `most` entries; false: they differ. */
static bool same_way(struct chi_leaves *walk, int first, MDB_cursor *cursor, int at, bool down,
		     size_t most, MDB_val key, MDB_val value)
{
	struct chi_item item;
	for (size_t i = 0; i < most; i++) {
		int rc = first == CHI_OK ? chi_leaves_next(walk, down, &item) : first;
		if (rc != CHI_OK || at != 0) {
			return rc == CHI_NONE && at == MDB_NOTFOUND;
		}
		if (!item_equal(&item, &key, &value)) {
			return false;
		}
		at = mdb_cursor_get(cursor, &key, &value, down ? MDB_PREV : MDB_NEXT);
	}
	return true;
}

/* From one end to the other, both ways. */
static bool same_whole(const struct chi_descent *tree, chi_key_order *order, MDB_cursor *cursor)
{
	for (int down = 0; down < 2; down++) {
		struct chi_leaves walk;
		MDB_val key = {0};
		MDB_val value = {0};
		int rc = chi_leaves_start(&walk, tree, order, down);
		int at = mdb_cursor_get(cursor, &key, &value, down ? MDB_LAST : MDB_FIRST);
		if (!same_way(&walk, rc, cursor, at, down, SIZE_MAX, key, value)) {
			return false;
		}
	}
	return true;
}

/* From a place that is a key, or beside one, both ways. */
static bool same_from(const struct chi_descent *tree, chi_key_order *order, MDB_cursor *cursor,
		      const uint8_t *bytes, size_t len)
{
	for (int down = 0; down < 2; down++) {
		struct chi_leaves walk;
		MDB_val key = chi_val(bytes, len);
		MDB_val value = {0};
		int rc = chi_leaves_seek(&walk, tree, order, down, bytes, len);
		int at = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
		if (down) {
			at = mdb_cursor_get(cursor, &key, &value, at == 0 ? MDB_PREV : MDB_LAST);
		}
		if (!same_way(&walk, rc, cursor, at, down, 1 + help_below(300), key, value)) {
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
		chi_key_order *order = i == 0 ? chi_position_compare : chi_strength_compare;
		chi_descent_start(read->env->mdb, read->txn, &read->env->pages, name, &tree);
		if (!tree.usable || mdb_cursor_open(read->txn, dbi, &cursor) != 0 ||
		    !same_whole(&tree, order, cursor)) {
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
			len = help_below(4) == 0 ? 1 + help_below((unsigned)len) : len;
			if (!same_from(&tree, order, cursor, bytes, len)) {
				return false;
			}
		}
	}
	return true;
}

static void compare(struct chi_store *store, size_t n)
{
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	assert_true(read_agrees(read, keys, n));
	chi_read_end(read);
}

static void test_all_shapes(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 60, 1000, KEYS_MAX};
	(void)state;
	trees_keys(keys, KEYS_MAX);
	for (size_t i = 0; i < CHI_COUNT(sizes); i++) {
		struct chi_store *store = help_store("leaves", EXTERNAL);
		trees_fill(store, keys, sizes[i], false);
		compare(store, 400);
		chi_store_close(store);
	}
}

/* Values in pages of their own, entries deleted, records that change their statistic. */
static void test_changes(void **state)
{
	(void)state;
	struct chi_store *store = help_store("changes", EXTERNAL);
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
	chi_store_close(store);
}

static void test_beside_a_writer(void **state)
{
	(void)state;
	trees_keys(keys, 5000);
	chi_store_close(help_store("beside", EXTERNAL));
	pid_t pid = fork();
	if (pid == 0) {
		struct chi_store *store = help_open(help_path("beside"), CHI_STORE_WRITE);
		for (int i = 0; i < 100; i++) {
			size_t from = help_random() % 4500;
			if (i % 3 == 0) {
				trees_delete(store, keys + from, 500);
			} else {
				trees_fill(store, keys + from, 500, false);
			}
		}
		chi_store_close(store);
		_exit(0);
	}
	struct chi_store *store = help_open(help_path("beside"), CHI_STORE_READ);
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
	chi_store_close(store);
}

/* ---- Scans by pages against scans by cursors ------------------------------------------------ */

static struct chi_row by_pages[KEYS_MAX];
static struct chi_row by_cursor[KEYS_MAX];

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
		ok(chi_scan_open(read, &spec, &scan, &fault));
		while (rc == CHI_OK && calls-- > 0) {
			size_t got;
			rc = chi_scan_rows(scan, rows + n, 1 + help_below(100),
					   1 + help_below(1000), &got);
			n += got;
		}
		assert_in_range(rc, CHI_OK, CHI_NONE);
		chi_scan_where(scan, &spec.after);
		chi_scan_close(scan);
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
		ok(chi_scan_open(read, &spec, &scan, &fault));
		while (rc == CHI_OK && calls-- > 0) {
			rc = chi_scan_count(scan, 1 + help_below(5000), &sum);
		}
		assert_in_range(rc, CHI_OK, CHI_NONE);
		chi_scan_where(scan, &spec.after);
		chi_scan_close(scan);
	}
	return sum;
}

static void compare_scans(struct chi_store *store, size_t keys_n, unsigned rounds)
{
	const struct chi_pages pages = store->env->pages;
	struct chi_read *read;
	uint64_t rows = 0;
	assert_non_null(pages.base);
	ok(chi_read_begin(store, &read));
	for (unsigned i = 0; i < rounds; i++) {
		struct chi_scan_spec spec = random_spec(keys_n);
		size_t n = collect(read, spec, by_pages);
		uint64_t counted = count(read, spec);
		/* What opening does where it finds pages that are not as expected. */
		store->env->pages = (struct chi_pages){0};
		assert_int_equal(collect(read, spec, by_cursor), n);
		assert_int_equal(count(read, spec), counted);
		store->env->pages = pages;
		assert_memory_equal(by_pages, by_cursor, n * sizeof(by_pages[0]));
		assert_true(spec.limit > 0 || counted == n);
		rows += n;
	}
	assert_true(rows > 0);
	chi_read_end(read);
}

static void test_scans(void **state)
{
	(void)state;
	struct chi_store *store = help_store("scans", EXTERNAL);
	trees_keys(keys, 5000);
	trees_fill(store, keys, 60, true);
	trees_fill(store, keys + 60, 4000, false);
	compare_scans(store, 5000, 150);
	trees_delete(store, keys + 1000, 2500);
	compare_scans(store, 5000, 50);
	chi_store_close(store);
}

/* ---- Damage --------------------------------------------------------------------------------- */

static int by_strength(const void *a, const void *b)
{
	const struct chi_row *x = a;
	const struct chi_row *y = b;
	return x->chi2 != y->chi2 ? (x->chi2 > y->chi2) - (x->chi2 < y->chi2)
				  : help_key_compare(&x->key, &y->key);
}

/* The number of rows of a whole scan; *wrong: one that the sound store has not. */
static int scan_damaged(struct chi_read *read, const struct chi_scan_spec *spec,
			const struct chi_row *good, size_t n_good, size_t *n, bool *wrong)
{
	static struct chi_row rows[512];
	struct chi_scan *scan;
	int rc = chi_scan_open(read, spec, &scan, NULL);
	*n = 0;
	while (rc == CHI_OK) {
		size_t got;
		rc = chi_scan_rows(scan, rows, CHI_COUNT(rows), UINT64_MAX, &got);
		for (size_t i = 0; i < got; i++) {
			*wrong |=
				bsearch(&rows[i], good, n_good, sizeof(*good), by_strength) == NULL;
		}
		*n += got;
	}
	chi_scan_close(scan);
	return rc;
}

/* In a child, which dies if a walk leaves the map, and hangs if one leads in circles for ever.
 * LMDB itself is asked for nothing but where the trees are, as it might die. */
static int damage_and_scan(unsigned rounds)
{
	struct chi_store *store = help_open(help_path("damaged"), CHI_STORE_READ);
	struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX};
	struct chi_read *read;
	struct stat st;
	unsigned ended[2] = {0};
	int fd = open(help_path("damaged/data.mdb"), O_RDWR);
	ok(chi_read_begin(store, &read));
	size_t n_good = collect(read, spec, by_pages);
	qsort(by_pages, n_good, sizeof(by_pages[0]), by_strength);
	if (fstat(fd, &st) != 0 || n_good == 0 || !chi_read_can_descend(read)) {
		return 1;
	}
	off_t trees = trees_page(read);
	uint8_t *good = malloc((size_t)st.st_size);
	if (good == NULL || pread(fd, good, (size_t)st.st_size, 0) != st.st_size) {
		return 2;
	}
	for (unsigned i = 0; i < rounds; i++) {
		off_t at;
		size_t n;
		bool wrong = false;
		size_t len = trees_damage(fd, good, st.st_size, &at);
		if (at + 512 > trees && at < trees + 4096) {
			len = pwrite(fd, good + at, len, at) == (ssize_t)len ? len : 0;
		}
		spec.descending = help_below(2) == 0;
		spec.chi2_min = (uint16_t)help_below(2);
		int rc = scan_damaged(read, &spec, by_pages, n_good, &n, &wrong);
		uint64_t counted = 0;
		struct chi_scan *scan;
		ok(chi_scan_open(read, &spec, &scan, NULL));
		spec.filter.pieces_min = (uint8_t)help_below(3);
		while (chi_scan_count(scan, UINT64_MAX, &counted) == CHI_OK) {
		}
		chi_scan_close(scan);
		if (wrong || n > n_good || counted > n_good) {
			return 99;
		}
		ended[rc == -CHI_ECORRUPT]++;
		if (pwrite(fd, good + at, len, at) != (ssize_t)len) {
			return 3;
		}
	}
	free(good);
	(void)close(fd);
	chi_read_end(read);
	chi_store_close(store);
	return ended[0] > 0 && ended[1] > 0 ? 0 : 4;
}

static void test_damaged_pages(void **state)
{
	(void)state;
	struct chi_store *store = help_store("damaged", EXTERNAL);
	trees_keys(keys, 4000);
	trees_fill(store, keys, 60, true);
	trees_fill(store, keys + 60, 3940, false);
	chi_store_close(store);
	trees_in_child(damage_and_scan, 400);
}

/* The place in the file of child `i` of a branch page. */
static off_t child_place(const struct chi_descent *tree, const uint8_t *page, unsigned i)
{
	return page - tree->pages.base + chi_u16_at(page + PAGE_HEADER + 2 * (size_t)i);
}

/* Rows of any scan, that each is in the band and behind the one before; how it ended. */
static int scan_strictly(struct chi_read *read, const struct chi_scan_spec *spec)
{
	static struct chi_row rows[KEYS_MAX];
	struct chi_scan *scan;
	size_t n;
	ok(chi_scan_open(read, spec, &scan, &fault));
	int rc = chi_scan_rows(scan, rows, CHI_COUNT(rows), UINT64_MAX, &n);
	chi_scan_close(scan);
	for (size_t i = 0; i < n; i++) {
		assert_in_range(rows[i].chi2, spec->chi2_min, spec->chi2_max);
		if (i > 0) {
			int order = by_strength(&rows[i - 1], &rows[i]);
			assert_true(spec->descending ? order > 0 : order < 0);
		}
	}
	return rc;
}

/* A store of 6,000 positions, whose strength tree is a root over leaves, and its file. */
struct two_levels {
	struct chi_store *store;
	struct chi_read *read;
	struct chi_descent tree;
	const uint8_t *root;
	unsigned n; /* leaves */
	int fd;
};

static void two_levels_make(const char *name, struct two_levels *out)
{
	char path[64];
	struct chi_descent *tree = &out->tree;
	out->store = help_store(name, EXTERNAL);
	trees_keys(keys, 6000);
	trees_fill(out->store, keys, 6000, false);
	ok(chi_read_begin(out->store, &out->read));
	chi_descent_start(out->read->env->mdb, out->read->txn, &out->read->env->pages,
			  STRENGTH_TREE, tree);
	assert_int_equal(tree->depth, 2);
	out->root = tree->pages.base + tree->root * tree->pages.size;
	out->n = chi_page_entries(tree, out->root, FLAG_BRANCH);
	(void)snprintf(path, sizeof(path), "%s/data.mdb", name);
	out->fd = open(help_path(path), O_RDWR);
	assert_true(out->fd >= 0 && out->n > 10);
}

/* A branch that leads to sound pages of its own tree, but to the wrong ones: no row is delivered
 * out of its order or outside of the band, and no whole scan ends as if nothing were amiss. */
static void test_wrong_children(void **state)
{
	(void)state;
	struct two_levels made;
	two_levels_make("astray", &made);
	int fd = made.fd;
	for (unsigned i = 0; i < 100; i++) {
		off_t places[2];
		uint8_t children[2][4];
		places[0] = child_place(&made.tree, made.root, help_below(made.n));
		do {
			places[1] = child_place(&made.tree, made.root, help_below(made.n));
		} while (places[1] == places[0]);
		for (unsigned j = 0; j < 2; j++) {
			assert_int_equal(pread(fd, children[j], 4, places[j]), 4);
		}
		bool swap = help_below(2) == 0;
		assert_int_equal(pwrite(fd, children[0], 4, places[1]), 4);
		assert_int_equal(pwrite(fd, children[swap], 4, places[0]), 4);
		for (unsigned down = 0; down < 2; down++) {
			struct chi_scan_spec spec = {.chi2_min = 1, .chi2_max = CHI_CHI2_MAX};
			spec.descending = down != 0;
			assert_int_equal(scan_strictly(made.read, &spec), -CHI_ECORRUPT);
			spec.chi2_min = (uint16_t)(1 + help_below(400));
			spec.chi2_max = (uint16_t)(spec.chi2_min + help_below(400));
			(void)scan_strictly(made.read, &spec);
		}
		for (unsigned j = 0; j < 2; j++) {
			assert_int_equal(pwrite(fd, children[j], 4, places[j]), 4);
		}
	}
	(void)close(fd);
	chi_read_end(made.read);
	chi_store_close(made.store);
}

/* The leaf below `root` with the most entries or the fewest. */
static const uint8_t *extreme_leaf(const struct chi_descent *tree, const uint8_t *root, unsigned n,
				   bool most, unsigned *entries)
{
	const uint8_t *found = NULL;
	for (unsigned i = 0; i < n; i++) {
		uint64_t number = chi_node_child(tree->pages.base + child_place(tree, root, i));
		const uint8_t *leaf = tree->pages.base + number * tree->pages.size;
		unsigned here = (chi_u16_at(leaf + PAGE_LOWER) - PAGE_HEADER) / 2u;
		if (found == NULL || (most ? here > *entries : here < *entries)) {
			found = leaf;
			*entries = here;
		}
	}
	return found;
}

static unsigned too_many;
static unsigned too_few;

static void note_number(void *context, const char *text)
{
	(void)context;
	too_many += strstr(text, "the strength tree has more entries than it says") != NULL;
	too_few += strstr(text, "the strength tree has ") != NULL && strstr(text, ", not ") != NULL;
}

/* A branch whose children are one and the same leaf, over which LMDB's cursors walk as often as it
 * is named: nobody takes more entries than the tree says it has, and verify counts. */
static void test_wrong_numbers(void **state)
{
	(void)state;
	struct two_levels made;
	two_levels_make("numbers", &made);
	struct chi_store *store = made.store;
	/* As if the pages had a layout that we do not know. */
	made.read->env->pages = (struct chi_pages){0};
	chi_read_end(made.read);
	const uint8_t *leaves[2];
	unsigned entries[2];
	leaves[0] = extreme_leaf(&made.tree, made.root, made.n, false, &entries[0]);
	leaves[1] = extreme_leaf(&made.tree, made.root, made.n, true, &entries[1]);
	assert_true(entries[0] < entries[1]);
	for (unsigned most = 0; most < 2; most++) {
		for (unsigned i = 0; i < made.n; i++) {
			/* The number of a page begins it. */
			off_t place = child_place(&made.tree, made.root, i);
			assert_int_equal(pwrite(made.fd, leaves[most], 4, place), 4);
		}
		struct chi_verify_result result;
		assert_int_equal(chi_store_verify(store, note_number, NULL, &result),
				 -CHI_ECORRUPT);
		assert_int_equal(too_few, 1);
		assert_int_equal(too_many, most);
	}
	struct chi_scan_spec spec = {.chi2_min = 1, .chi2_max = CHI_CHI2_MAX};
	for (unsigned down = 0; down < 2; down++) {
		struct chi_read *read;
		static struct chi_row rows[KEYS_MAX];
		struct chi_scan *scan;
		size_t got;
		spec.descending = down != 0;
		ok(chi_read_begin(store, &read));
		ok(chi_scan_open(read, &spec, &scan, &fault));
		assert_int_equal(chi_scan_rows(scan, rows, CHI_COUNT(rows), UINT64_MAX, &got),
				 -CHI_ECORRUPT);
		assert_in_range(got, 1, 6000);
		chi_scan_close(scan);
		chi_read_end(read);
	}
	(void)close(made.fd);
	chi_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_shapes),	cmocka_unit_test(test_changes),
		cmocka_unit_test(test_beside_a_writer), cmocka_unit_test(test_scans),
		cmocka_unit_test(test_damaged_pages),	cmocka_unit_test(test_wrong_children),
		cmocka_unit_test(test_wrong_numbers),
	};
	return cmocka_run_group_tests_name("store/leaves", tests, NULL, NULL);
}
