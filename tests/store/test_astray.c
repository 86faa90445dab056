/* SPDX-License-Identifier: MIT */
/*
 * Damaged pages end a walk, or change nothing: whatever they lead to, nothing outside of the map is
 * touched, no row is delivered that the sound store has not, none twice, none out of its order, and
 * no walk goes on for ever.
 */
#include "tests/store/trees.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/pages/leaf_cursor.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"
#include "store/store.h"

#define EXTERNAL CHI_STATISTIC_EXTERNAL
#define KEYS_MAX 6000

static struct chi_key keys[KEYS_MAX];

/* ---- Bytes of noise ------------------------------------------------------------------------ */

static struct chi_row sound[KEYS_MAX];

static size_t collect(struct chi_read *read, const struct chi_scan_spec *spec)
{
	struct chi_scan *scan;
	size_t n;
	ok(chi_read_scan(read, spec, &scan, &fault));
	assert_int_equal(chi_scan_rows(scan, sound, CHI_COUNT(sound), UINT64_MAX, &n), CHI_NONE);
	chi_scan_free(scan);
	return n;
}

static int by_strength(const void *a, const void *b)
{
	const struct chi_row *x = a;
	const struct chi_row *y = b;
	return x->chi2 != y->chi2 ? (x->chi2 > y->chi2) - (x->chi2 < y->chi2)
				  : help_key_compare(&x->key, &y->key);
}

/* The number of rows of a whole scan; *wrong: one that the sound store has not, or that is not
 * after the one before. */
static int scan_damaged(struct chi_read *read, const struct chi_scan_spec *spec,
			const struct chi_row *good, size_t n_good, size_t *n, bool *wrong)
{
	static struct chi_row rows[512];
	struct chi_row before;
	struct chi_scan *scan;
	int rc = chi_read_scan(read, spec, &scan, NULL);
	*n = 0;
	while (rc == CHI_OK) {
		size_t got;
		rc = chi_scan_rows(scan, rows, CHI_COUNT(rows), UINT64_MAX, &got);
		for (size_t i = 0; i < got; i++) {
			if (*n + i > 0) {
				int order = by_strength(&before, &rows[i]);
				*wrong |= spec->descending ? order <= 0 : order >= 0;
			}
			*wrong |=
				bsearch(&rows[i], good, n_good, sizeof(*good), by_strength) == NULL;
			before = rows[i];
		}
		*n += got;
	}
	chi_scan_free(scan);
	return rc;
}

/* In a child, which dies if a walk leaves the map, and hangs if one leads in circles for ever.
 * LMDB itself is asked for nothing but where the trees are, as it might die. */
static int damage_and_scan(unsigned rounds)
{
	struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_READ);
	struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX};
	struct chi_read *read;
	struct stat st;
	unsigned ended[2] = {0};
	int fd = open(help_path("damaged/data.mdb"), O_RDWR);
	ok(chi_read_begin(store, &read));
	size_t n_good = collect(read, &spec);
	qsort(sound, n_good, sizeof(sound[0]), by_strength);
	if (fstat(fd, &st) != 0 || n_good == 0 || !chi_read_can_descend(read, 0)) {
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
		int rc = scan_damaged(read, &spec, sound, n_good, &n, &wrong);
		uint64_t counted = 0;
		struct chi_scan *scan;
		ok(chi_read_scan(read, &spec, &scan, NULL));
		spec.filter.pieces_min = (uint8_t)help_below(3);
		while (chi_scan_tally(scan, UINT64_MAX, &counted) == CHI_OK) {
		}
		chi_scan_free(scan);
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
	chi_dir_close(store);
	return ended[0] > 0 && ended[1] > 0 ? 0 : 4;
}

CASE(test_damaged_pages)
{
	struct chi_dir *store = help_store("damaged", EXTERNAL);
	trees_keys(keys, 4000);
	trees_fill(store, keys, 60, true);
	trees_fill(store, keys + 60, 3940, false);
	chi_dir_close(store);
	trees_in_child(damage_and_scan, 400);
}

/* ---- Sound pages in the wrong place --------------------------------------------------------- */

/* The place in the file of child `i` of a branch page. */
static off_t child_place(const struct chi_descent *tree, const uint8_t *page, unsigned i)
{
	return page - tree->pages.base + chi_u16_at(page + PAGE_HEADER + 2 * (size_t)i);
}

/* Rows of any scan, that each is in the band and after the one before; how it ended. */
static int scan_strictly(struct chi_read *read, const struct chi_scan_spec *spec)
{
	static struct chi_row rows[KEYS_MAX];
	struct chi_scan *scan;
	size_t n;
	ok(chi_read_scan(read, spec, &scan, &fault));
	int rc = chi_scan_rows(scan, rows, CHI_COUNT(rows), UINT64_MAX, &n);
	chi_scan_free(scan);
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
	struct chi_dir *store;
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
CASE(test_wrong_children)
{
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
	chi_dir_close(made.store);
}

/* A leaf in which an entry is in the place of its neighbour too: each is sound, and yet no scan
 * tells of one twice, or ends as if nothing were amiss. */
CASE(test_an_entry_twice)
{
	struct two_levels made;
	two_levels_make("twice", &made);
	const struct chi_descent *tree = &made.tree;
	for (unsigned i = 0; i < 40; i++) {
		off_t leaf;
		unsigned n;
		do {
			off_t child = child_place(tree, made.root, help_below(made.n));
			leaf = (off_t)(chi_node_child(tree->pages.base + child) * tree->pages.size);
			n = chi_page_entries(tree, tree->pages.base + leaf, FLAG_LEAF);
		} while (n < 2);
		off_t at = leaf + PAGE_HEADER + 2 * (off_t)help_below(n - 1);
		uint8_t nodes[4];
		assert_int_equal(pread(made.fd, nodes, 4, at), 4);
		assert_int_equal(pwrite(made.fd, nodes + 2 * (i & 1), 2, at + 2 * !(i & 1)), 2);
		for (unsigned way = 0; way < 4; way++) {
			struct chi_scan_spec spec = {.chi2_min = 1, .chi2_max = CHI_CHI2_MAX};
			spec.descending = (way & 1) != 0;
			spec.want = (way & 2) != 0 ? CHI_WANT_COUNTS : CHI_WANT_KEYS;
			assert_int_equal(scan_strictly(made.read, &spec), -CHI_ECORRUPT);
		}
		assert_int_equal(pwrite(made.fd, nodes, 4, at), 4);
	}
	(void)close(made.fd);
	chi_read_end(made.read);
	chi_dir_close(made.store);
}

/* ---- Walks that end early ------------------------------------------------------------------- */

/* Changes two bytes of the file; returns what they were. */
static uint16_t change(int fd, off_t at, uint16_t value)
{
	uint16_t before;
	assert_int_equal(pread(fd, &before, 2, at), 2);
	assert_int_equal(pwrite(fd, &value, 2, at), 2);
	return before;
}

/* Every scan of the band, and every count that looks at entries, must notice what is missing. */
static void assert_noticed(struct chi_read *read, uint16_t min, uint16_t max)
{
	for (unsigned i = 0; i < 16; i++) {
		struct chi_scan_spec spec = {.chi2_min = min, .chi2_max = max};
		struct chi_scan *scan;
		uint64_t counted = 0;
		spec.descending = (i & 1) != 0;
		spec.want = (i & 2) != 0 ? CHI_WANT_COUNTS : CHI_WANT_KEYS;
		spec.filter.pieces_max = (i & 4) != 0 ? 12 : 0;
		spec.filter.games_min = (i & 8) != 0 ? 300 : 0;
		assert_int_equal(scan_strictly(read, &spec), -CHI_ECORRUPT);
		if ((i & 12) != 0) {
			ok(chi_read_scan(read, &spec, &scan, &fault));
			assert_int_equal(chi_scan_count_all(scan, 2, UINT64_MAX, &counted),
					 -CHI_ECORRUPT);
			chi_scan_free(scan);
		}
	}
}

/* The statistic of a leaf's entry. */
static uint16_t chi2_of(const uint8_t *leaf, unsigned i)
{
	const uint8_t *node = leaf + chi_u16_at(leaf + PAGE_HEADER + 2 * (size_t)i);
	return chi_chi2_of(node + NODE_HEADER);
}

/* A leaf whose head tells of fewer entries than it has: the others were skipped. */
CASE(test_leaf_cut_short)
{
	struct two_levels made;
	two_levels_make("leaf", &made);
	for (unsigned i = 0; i < 40; i++) {
		uint64_t number;
		const uint8_t *leaf;
		unsigned n;
		do {
			off_t place = child_place(&made.tree, made.root, help_below(made.n));
			number = chi_node_child(made.tree.pages.base + place);
			leaf = made.tree.pages.base + number * made.tree.pages.size;
			n = chi_page_entries(&made.tree, leaf, FLAG_LEAF);
		} while (n < 2);
		/* The first block begins at no statistic. */
		uint16_t min = chi2_of(leaf, 0) > 0 ? chi2_of(leaf, 0) : 1;
		uint16_t max = chi2_of(leaf, n - 1);
		unsigned left = i % 2 == 0 ? n - 1 : 1 + help_below(n - 1);
		off_t at = (off_t)(number * made.tree.pages.size) + PAGE_LOWER;
		uint16_t before = change(made.fd, at, (uint16_t)(PAGE_HEADER + 2 * left));
		assert_noticed(made.read, 1, CHI_CHI2_MAX);
		assert_noticed(made.read, min, max);
		(void)change(made.fd, at, before);
	}
	(void)close(made.fd);
	chi_read_end(made.read);
	chi_dir_close(made.store);
}

/* The same of a branch: whole pages were skipped, also by counts that read no entries. */
CASE(test_branch_cut_short)
{
	struct two_levels made;
	two_levels_make("branch", &made);
	off_t at = (off_t)(made.tree.root * made.tree.pages.size) + PAGE_LOWER;
	for (unsigned i = 0; i < 20; i++) {
		unsigned left = i < 2 ? made.n - 1 - i : 2 + help_below(made.n - 2);
		off_t lost = child_place(&made.tree, made.root, left);
		uint64_t number = chi_node_child(made.tree.pages.base + lost);
		const uint8_t *leaf = made.tree.pages.base + number * made.tree.pages.size;
		uint16_t min = chi2_of(leaf, 0);
		uint16_t before = change(made.fd, at, (uint16_t)(PAGE_HEADER + 2 * left));
		uint64_t counted = 0;
		struct chi_scan_spec spec = {.chi2_min = 2, .chi2_max = CHI_CHI2_MAX - 1};
		struct chi_scan *scan;
		assert_noticed(made.read, 1, CHI_CHI2_MAX);
		assert_noticed(made.read, min, CHI_CHI2_MAX);
		ok(chi_read_scan(made.read, &spec, &scan, &fault));
		assert_int_equal(chi_scan_count_all(scan, 2, UINT64_MAX, &counted), -CHI_ECORRUPT);
		chi_scan_free(scan);
		(void)change(made.fd, at, before);
	}
	(void)close(made.fd);
	chi_read_end(made.read);
	chi_dir_close(made.store);
}

/* A branch that passes a leaf over by naming its neighbour in its place. */
CASE(test_leaf_passed_over)
{
	struct two_levels made;
	two_levels_make("over", &made);
	for (unsigned i = 0; i < 40; i++) {
		unsigned child = 1 + help_below(made.n - 2);
		off_t places[2];
		uint8_t numbers[2][4];
		for (unsigned j = 0; j < 2; j++) {
			places[j] = child_place(&made.tree, made.root, child + j);
			assert_int_equal(pread(made.fd, numbers[j], 4, places[j]), 4);
		}
		uint64_t number = chi_node_child(made.tree.pages.base + places[0]);
		const uint8_t *leaf = made.tree.pages.base + number * made.tree.pages.size;
		unsigned n = chi_page_entries(&made.tree, leaf, FLAG_LEAF);
		uint16_t min = chi2_of(leaf, 0);
		uint16_t max = chi2_of(leaf, n - 1);
		assert_int_equal(pwrite(made.fd, numbers[1], 4, places[0]), 4);
		assert_noticed(made.read, 1, CHI_CHI2_MAX);
		assert_noticed(made.read, min, max);
		assert_int_equal(pwrite(made.fd, numbers[0], 4, places[0]), 4);
	}
	(void)close(made.fd);
	chi_read_end(made.read);
	chi_dir_close(made.store);
}

/* An entry whose statistic was damaged so that it looks to be beyond the band. */
CASE(test_false_end_of_a_band)
{
	struct two_levels made;
	two_levels_make("end", &made);
	for (unsigned i = 0; i < 40; i++) {
		off_t place = child_place(&made.tree, made.root, 1 + help_below(made.n / 2));
		uint64_t number = chi_node_child(made.tree.pages.base + place);
		const uint8_t *leaf = made.tree.pages.base + number * made.tree.pages.size;
		unsigned n = chi_page_entries(&made.tree, leaf, FLAG_LEAF);
		unsigned entry = n / 2;
		uint16_t min = chi2_of(leaf, 0);
		uint16_t max = chi2_of(leaf, n - 1);
		off_t at = (off_t)(number * made.tree.pages.size) +
			   chi_u16_at(leaf + PAGE_HEADER + 2 * (size_t)entry) + NODE_HEADER;
		uint16_t before = change(made.fd, at, 0xfe00 | (i & 63));
		struct chi_scan_spec spec = {.chi2_min = min, .chi2_max = max};
		assert_int_equal(scan_strictly(made.read, &spec), -CHI_ECORRUPT);
		spec.filter.games_min = 1;
		assert_int_equal(scan_strictly(made.read, &spec), -CHI_ECORRUPT);
		(void)change(made.fd, at, before);
	}
	(void)close(made.fd);
	chi_read_end(made.read);
	chi_dir_close(made.store);
}

/* A whole walk and the tree's own number must agree, both ways. */
CASE(test_number_of_entries)
{
	struct two_levels made;
	two_levels_make("entries", &made);
	for (int more = -1; more <= 1; more++) {
		for (unsigned i = 0; i < 8; i++) {
			struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX};
			struct chi_scan *scan;
			uint64_t counted = 0;
			int rc = more == 0 ? CHI_NONE : -CHI_ECORRUPT;
			spec.order = (i & 1) != 0 ? CHI_ORDER_POSITION : CHI_ORDER_STRENGTH;
			spec.descending = (i & 2) != 0;
			spec.filter.pieces_max = (i & 4) != 0 ? 12 : 0;
			ok(chi_read_scan(made.read, &spec, &scan, &fault));
			/* As if the record of the tree said so. */
			scan->known += (uint64_t)more;
			scan->positions += (uint64_t)more;
			size_t n;
			static struct chi_row rows[KEYS_MAX + 1];
			assert_int_equal(chi_scan_rows(scan, rows, KEYS_MAX + 1, UINT64_MAX, &n),
					 rc);
			chi_scan_free(scan);
			ok(chi_read_scan(made.read, &spec, &scan, &fault));
			scan->known += (uint64_t)more;
			scan->positions += (uint64_t)more;
			if (spec.filter.pieces_max != 0) {
				assert_int_equal(chi_scan_count_all(scan, 2, UINT64_MAX, &counted),
						 rc);
			}
			chi_scan_free(scan);
		}
	}
	(void)close(made.fd);
	chi_read_end(made.read);
	chi_dir_close(made.store);
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

static unsigned twice;

static void note_number(void *context, const char *text)
{
	(void)context;
	twice += strstr(text, "the strength tree leads to page ") != NULL &&
		 strstr(text, "which is not its own") != NULL;
}

/* A branch whose children are one and the same leaf: neither scans nor verify take it twice. */
CASE(test_wrong_numbers)
{
	struct two_levels made;
	two_levels_make("numbers", &made);
	struct chi_dir *store = made.store;
	chi_read_end(made.read);
	const uint8_t *leaf_cursor[2];
	unsigned entries[2];
	leaf_cursor[0] = extreme_leaf(&made.tree, made.root, made.n, false, &entries[0]);
	leaf_cursor[1] = extreme_leaf(&made.tree, made.root, made.n, true, &entries[1]);
	assert_true(entries[0] < entries[1]);
	for (unsigned most = 0; most < 2; most++) {
		for (unsigned i = 0; i < made.n; i++) {
			/* The number of a page begins it. */
			off_t place = child_place(&made.tree, made.root, i);
			assert_int_equal(pwrite(made.fd, leaf_cursor[most], 4, place), 4);
		}
		struct chi_verify_result result;
		twice = 0;
		assert_int_equal(help_verify_told(store, note_number, NULL, &result),
				 -CHI_ECORRUPT);
		assert_int_equal(twice, made.n - 1);
	}
	struct chi_scan_spec spec = {.chi2_min = 1, .chi2_max = CHI_CHI2_MAX};
	for (unsigned down = 0; down < 2; down++) {
		struct chi_read *read;
		static struct chi_row rows[KEYS_MAX];
		struct chi_scan *scan;
		size_t got;
		spec.descending = down != 0;
		ok(chi_read_begin(store, &read));
		ok(chi_read_scan(read, &spec, &scan, &fault));
		assert_int_equal(chi_scan_rows(scan, rows, CHI_COUNT(rows), UINT64_MAX, &got),
				 -CHI_ECORRUPT);
		for (size_t i = 1; i < got; i++) {
			int order = (int)rows[i].chi2 - (int)rows[i - 1].chi2;
			order = order != 0 ? order
					   : memcmp(rows[i].key.bytes, rows[i - 1].key.bytes,
						    sizeof(rows[i].key.bytes));
			assert_true(down ? order < 0 : order > 0);
		}
		chi_scan_free(scan);
		chi_read_end(read);
	}
	(void)close(made.fd);
	chi_dir_close(store);
}
