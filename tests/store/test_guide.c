/* SPDX-License-Identifier: MIT */
/*
 * Guides lead to the leaves that branch pages lead to, belong to one snapshot, and are made of no
 * page that is not as expected. That look-ups find the same with them is for the other tests, which
 * are also run with a guide from the first look-up on (CHISTORE_TEST_GUIDE).
 */
#include "tests/store/trees.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "tests/base/seed.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/pages/guide.h"
#include "store/pages/pages.h"
#include "store/store.h"
#include "store/txn/txn.h"

#define KEYS	 20000
#define FEWER	 5000 /* in a tree of one branch page */
#define COMMITS	 30
#define ROUNDS	 2000
#define EXTERNAL CHI_STATISTIC_EXTERNAL

static struct chi_key keys[KEYS];

/* A snapshot whose descent has no guide, and a guide of it; which is the caller's. */
struct guided {
	struct chi_dir *store;
	struct chi_read *read;
	struct chi_descent plain;
	struct chi_guides guides;
	const struct chi_guide *guide;
};

static int make_guide(struct guided *guided)
{
	guided->plain = guided->read->descent;
	guided->plain.guide = NULL;
	return chi_guide_make(&guided->guides, 0, &guided->plain, &guided->guide);
}

static void begin(struct guided *guided, const char *name)
{
	*guided = (struct guided){.store = help_open(help_path(name), CHI_STORE_READ)};
	chi_guides_init(&guided->guides);
	chi_guides_reserve(&guided->guides);
	ok(chi_read_begin(guided->store, &guided->read));
	assert_true(chi_read_can_descend(guided->read, 0));
}

static void end(struct guided *guided)
{
	chi_guide_release(guided->guide);
	chi_guides_deinit(&guided->guides);
	chi_read_end(guided->read);
	chi_dir_close(guided->store);
}

/* Which page a look-up without a guide has found something in. */
static uint64_t page_of(const struct guided *guided, const struct chi_found *found)
{
	return (uint64_t)(found->value - guided->plain.pages.base) / guided->plain.pages.size;
}

/* Returns for how many of the keys the branch pages must be asked. */
static size_t compare_pages(const struct guided *guided, size_t n)
{
	size_t unknown = 0;
	for (size_t i = 0; i < n; i += CHI_DESCENT_LANES) {
		uint64_t pages[CHI_DESCENT_LANES];
		size_t lanes = n - i < CHI_DESCENT_LANES ? n - i : CHI_DESCENT_LANES;
		chi_guide_search(guided->guide, keys + i, lanes, pages);
		for (size_t j = 0; j < lanes; j++) {
			struct chi_found found;
			chi_descent_find_one(&guided->plain, &keys[i + j], &found);
			assert_int_equal(found.finding, CHI_FINDING_THERE);
			unknown += pages[j] == CHI_GUIDE_NO_LEAF;
			if (pages[j] != CHI_GUIDE_NO_LEAF) {
				assert_int_equal(pages[j], page_of(guided, &found));
			}
		}
	}
	return unknown;
}

/* With more keys of one head than a leaf holds, most are not told apart by it. */
CASE(test_the_same_leaves)
{
	for (unsigned run = 1; run <= 1000; run *= 1000) {
		struct guided guided;
		struct chi_dir *store = help_store("leaves", EXTERNAL);
		trees_runs(keys, KEYS, run);
		trees_fill(store, keys, KEYS, false);
		chi_dir_close(store);
		begin(&guided, "leaves");
		ok(make_guide(&guided));
		size_t unknown = compare_pages(&guided, KEYS);
		assert_true(run == 1 ? unknown < KEYS / 8 : unknown > KEYS / 2);
		end(&guided);
	}
}

CASE(test_after_many_look_ups)
{
	struct chi_read *read;
	struct chi_row rows[10];
	struct chi_dir *store = help_store("many", EXTERNAL);
	uint32_t before = chi_guide_after;
	chi_guide_after = 25;
	trees_keys(keys, 5000);
	trees_fill(store, keys, 5000, false);
	ok(chi_read_begin(store, &read));
	ok(chi_read_rows(read, keys, 10, rows));
	ok(chi_read_rows(read, keys, 10, rows));
	for (unsigned i = 0; i < 4; i++) {
		ok(chi_read_row(read, keys, rows));
		assert_null(read->descent.guide);
	}
	/* While another thread makes one, this one goes on without. */
	atomic_store(&store->env->guides.making, true);
	ok(chi_read_row(read, keys, rows));
	assert_null(read->descent.guide);
	atomic_store(&store->env->guides.making, false);
	ok(chi_read_row(read, keys, rows));
	assert_null(read->descent.guide);
	ok(chi_read_row(read, keys, rows));
	assert_non_null(read->descent.guide);
	/* The next one of the same snapshot has it at once. */
	struct chi_read *other;
	ok(chi_read_begin(store, &other));
	assert_true(chi_read_can_descend(other, 0));
	assert_ptr_equal(other->descent.guide, read->descent.guide);
	chi_read_end(other);
	chi_read_end(read);
	chi_guide_after = before;
	chi_dir_close(store);
}

/* White's wins of all keys tell the state. */
static void put_counts(struct chi_dir *store, size_t n, uint64_t white)
{
	struct chi_write *write;
	struct chi_put_result result = {0};
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < n; i++) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_COUNTS};
		put.record.counts.white = white;
		ok(chi_write_put(write, &put, &result));
	}
	ok(chi_write_commit(write, &fault));
}

static void commit_elsewhere(const char *path, size_t n, uint64_t white)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct chi_dir *store = help_open(path, CHI_STORE_WRITE);
		put_counts(store, n, white);
		chi_dir_close(store);
		_exit(0);
	}
	assert_int_equal(help_child_status(pid), 0);
}

/* Pages are freed and used again: a guide that outlives its snapshot would find what was there, and
 * the pages of every commit but one before are what a commit writes to. */
CASE(test_commits_elsewhere)
{
	const size_t n = 3000;
	static struct chi_row rows[3000];
	chi_dir_close(help_store("elsewhere", EXTERNAL));
	uint32_t before = chi_guide_after;
	chi_guide_after = 1;
	help_keys(keys, n);
	commit_elsewhere(help_path("elsewhere"), n, 1);
	struct chi_dir *store = help_open(help_path("elsewhere"), CHI_STORE_READ);
	for (uint64_t white = 1; white < COMMITS; white++) {
		struct chi_read *read;
		ok(chi_read_begin(store, &read));
		ok(chi_read_row(read, &keys[white], &rows[0]));
		assert_int_equal(rows[0].counts.white, white);
		assert_non_null(read->descent.guide);
		/* This one keeps what it sees, and the next sees what is new. */
		commit_elsewhere(help_path("elsewhere"), n, white + 1);
		struct chi_read *next;
		ok(chi_read_begin(store, &next));
		for (unsigned i = 0; i < 2; i++) {
			ok(chi_read_rows(i == 0 ? next : read, keys, n, rows));
			for (size_t j = 0; j < n; j++) {
				assert_int_equal(rows[j].counts.white, white + 1 - i);
			}
		}
		chi_read_end(next);
		chi_read_end(read);
	}
	chi_guide_after = before;
	chi_dir_close(store);
}

/* Snapshots that rest keep the guides of three states, until the fourth wants one. */
CASE(test_idle_snapshots_let_go)
{
	struct chi_read *reads[CHI_GUIDES + 1];
	struct chi_row row;
	struct chi_dir *store = help_store("idle", EXTERNAL);
	uint32_t before = chi_guide_after;
	chi_guide_after = 1;
	help_keys(keys, 3000);
	for (uint64_t white = 0; white <= CHI_GUIDES; white++) {
		put_counts(store, 3000, white + 1);
		ok(chi_read_begin(store, &reads[white]));
		ok(chi_read_row(reads[white], keys, &row));
		assert_int_equal(reads[white]->descent.guide != NULL, white < CHI_GUIDES);
	}
	for (unsigned i = 0; i < CHI_GUIDES; i++) {
		chi_read_end(reads[i]);
	}
	assert_null(reads[CHI_GUIDES]->descent.guide);
	ok(chi_read_row(reads[CHI_GUIDES], keys, &row));
	assert_int_equal(row.counts.white, CHI_GUIDES + 1);
	assert_non_null(reads[CHI_GUIDES]->descent.guide);
	chi_read_end(reads[CHI_GUIDES]);
	chi_guide_after = before;
	chi_dir_close(store);
}

/* What rests in the pool, and what is over, gives its guide back. */
CASE(test_all_is_given_back)
{
	struct chi_read *read;
	struct chi_row row;
	struct chi_dir *store = help_store("back", EXTERNAL);
	uint32_t before = chi_guide_after;
	chi_guide_after = 1;
	help_keys(keys, 3000);
	put_counts(store, 3000, 1);
	ok(chi_read_begin(store, &read));
	ok(chi_read_row(read, keys, &row));
	assert_int_equal(atomic_load(&store->env->guides.all[0].refs), 1);
	chi_read_end(read);
	(void)pthread_mutex_lock(&store->env->mutex);
	ok(chi_env_drain(store->env));
	(void)pthread_mutex_unlock(&store->env->mutex);
	assert_int_equal(atomic_load(&store->env->guides.all[0].refs), 0);
	chi_guide_after = before;
	chi_dir_close(store);
}

/* ---- One after the other --------------------------------------------------------------------- */

/* The same pages under other numbers, as if commits had come between. */
static const struct chi_guide *make_as(struct guided *guided, uint64_t epoch, uint64_t txn)
{
	const struct chi_guide *guide = NULL;
	struct chi_descent tree = guided->plain;
	tree.txn = txn;
	ok(chi_guide_make(&guided->guides, epoch, &tree, &guide));
	return guide;
}

CASE(test_the_newest)
{
	struct guided guided;
	struct chi_dir *store = help_store("newest", EXTERNAL);
	trees_keys(keys, 5000);
	trees_fill(store, keys, 5000, false);
	chi_dir_close(store);
	begin(&guided, "newest");
	ok(make_guide(&guided));
	uint64_t txn = guided.plain.txn;
	chi_guide_release(make_as(&guided, 0, txn + 2));
	assert_null(chi_guide_take(&guided.guides, 0, txn));
	assert_null(chi_guide_take(&guided.guides, 1, txn + 2));
	/* An older snapshot that goes on keeps its own, and takes no one's place. */
	const struct chi_guide *older = make_as(&guided, 0, txn + 1);
	const struct chi_guide *newest = chi_guide_take(&guided.guides, 0, txn + 2);
	assert_non_null(newest);
	chi_guide_release(newest);
	chi_guide_release(older);
	/* Another map has another order of them. */
	chi_guide_release(make_as(&guided, 1, txn));
	assert_null(chi_guide_take(&guided.guides, 0, txn + 2));
	/* Counts that are not those of the pages; keys after all others. */
	for (int i = 0; i < 4; i++) {
		struct chi_descent tree = guided.plain;
		const struct chi_guide *guide;
		tree.txn = txn + 10;
		tree.leaves += i == 0 ? 1 : i == 1 ? (uint64_t)-1 : 0;
		tree.branches += i == 2 ? 1 : i == 3 ? (uint64_t)-1 : 0;
		assert_int_equal(chi_guide_make(&guided.guides, 0, &tree, &guide), CHI_NONE);
	}
	struct chi_key last = {.len = CHI_KEY_MAX};
	uint64_t page;
	memset(last.bytes, 0xff, sizeof(last.bytes));
	chi_guide_search(guided.guide, &last, 1, &page);
	assert_true(page == CHI_GUIDE_NO_LEAF);
	end(&guided);
}

#define TAKERS 3
#define MADE   400

struct taking {
	struct guided *guided;
	atomic_ulong txn;
	atomic_bool over;
	atomic_uint wrong;
	uint64_t pages[CHI_DESCENT_LANES];
};

static void *take_guides(void *context)
{
	struct taking *taking = context;
	while (!atomic_load(&taking->over)) {
		uint64_t pages[CHI_DESCENT_LANES];
		uint64_t txn = atomic_load(&taking->txn);
		const struct chi_guide *guide = chi_guide_take(&taking->guided->guides, 0, txn);
		if (guide == NULL) {
			continue;
		}
		chi_guide_search(guide, keys, CHI_DESCENT_LANES, pages);
		if (guide->txn != txn || memcmp(pages, taking->pages, sizeof(pages)) != 0) {
			atomic_fetch_add(&taking->wrong, 1);
		}
		chi_guide_release(guide);
	}
	return NULL;
}

/* One thread makes guides of ever newer snapshots while others take them. */
CASE(test_threads)
{
	struct guided guided;
	pthread_t threads[TAKERS];
	struct chi_dir *store = help_store("threads", EXTERNAL);
	trees_keys(keys, 5000);
	trees_fill(store, keys, 5000, false);
	chi_dir_close(store);
	begin(&guided, "threads");
	ok(make_guide(&guided));
	struct taking taking = {.guided = &guided};
	chi_guide_search(guided.guide, keys, CHI_DESCENT_LANES, taking.pages);
	for (size_t i = 0; i < TAKERS; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, take_guides, &taking), 0);
	}
	unsigned made = 0;
	for (uint64_t i = 1; i <= MADE; i++) {
		const struct chi_guide *guide = NULL;
		struct chi_descent tree = guided.plain;
		tree.txn += i;
		/* All others may be in use for a moment. */
		if (chi_guide_make(&guided.guides, 0, &tree, &guide) == CHI_OK) {
			atomic_store(&taking.txn, tree.txn);
			made++;
		}
		chi_guide_release(guide);
	}
	atomic_store(&taking.over, true);
	for (size_t i = 0; i < TAKERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
	assert_int_equal(atomic_load(&taking.wrong), 0);
	assert_true(made > 0);
	end(&guided);
}

static void write_at(int fd, off_t at, const void *bytes, size_t len)
{
	assert_int_equal(pwrite(fd, bytes, len, at), len);
}

/* Makes a guide with some bytes of a page changed; they are put back. */
static int make_changed(struct guided *guided, int fd, off_t at, const void *bytes, size_t len)
{
	uint8_t good[8];
	assert_int_equal(pread(fd, good, len, at), len);
	write_at(fd, at, bytes, len);
	int rc = make_guide(guided);
	write_at(fd, at, good, len);
	return rc;
}

/* Each thing that is looked at on a branch page: the guide is given up, the look-up is not. */
CASE(test_damaged_branches)
{
	struct guided guided;
	struct chi_dir *store = help_store("branches", EXTERNAL);
	trees_keys(keys, FEWER);
	trees_fill(store, keys, FEWER, false);
	chi_dir_close(store);
	begin(&guided, "branches");
	int fd = open(help_path("branches/data.mdb"), O_RDWR);
	const struct chi_descent *tree = &guided.read->descent;
	off_t root = (off_t)(tree->root * tree->pages.size);
	const uint8_t *page = tree->pages.base + root;
	assert_int_equal(tree->depth, 2);
	off_t second = root + PAGE_HEADER + 2;
	off_t node = root + chi_u16_at(page + PAGE_HEADER + 2);
	const struct {
		off_t at;
		size_t len;
		uint64_t value;
	} changes[] = {
		{root + PAGE_NUMBER, 8, tree->root + 1},
		{root + PAGE_FLAGS, 2, FLAG_LEAF},
		{root + PAGE_LOWER, 2, PAGE_HEADER},
		{root + PAGE_LOWER, 2, tree->pages.size + 2},
		{root + PAGE_LOWER, 2, chi_u16_at(page + PAGE_LOWER) - 2u},
		{second, 2, PAGE_HEADER - 1},
		{second, 2, tree->pages.size - NODE_HEADER + 1},
		{second, 2, UINT16_MAX},
		{node, 4, tree->end},
		{node + NODE_FLAGS, 2, 1},
		{node + NODE_KSIZE, 2, 7},
		{node + NODE_KSIZE, 2, tree->pages.size},
		{node + NODE_HEADER, 8, UINT64_MAX},
		{node + NODE_HEADER, 8, UINT64_MAX - (uint64_t)1},
	};
	for (size_t i = 0; i < CHI_COUNT(changes); i++) {
		/* In the machine's order of bytes, whose first ones are the low ones here. */
		assert_int_equal(
			make_changed(&guided, fd, changes[i].at, &changes[i].value, changes[i].len),
			CHI_NONE);
	}
	/* A tree with one level more than there is, in a circle, as its record has it. */
	struct chi_descent deep = guided.plain;
	deep.depth = CHI_TREE_DEPTH_MOST;
	assert_int_equal(chi_guide_make(&guided.guides, 0, &deep, &guided.guide), CHI_NONE);
	struct chi_descent large = guided.plain;
	large.leaves = CHI_GUIDE_LEAVES_MOST + 1;
	assert_int_equal(chi_guide_make(&guided.guides, 0, &large, &guided.guide), CHI_NONE);
	struct chi_descent far = guided.plain;
	far.pages.far = true;
	assert_int_equal(chi_guide_make(&guided.guides, 0, &far, &guided.guide), CHI_NONE);
	ok(make_guide(&guided));
	(void)close(fd);
	end(&guided);
}

/* A guide may be damaged if its heads stay in order: then a block says that the key is not its. */
static int damage_and_guide(unsigned rounds)
{
	static struct chi_row rows[FEWER];
	struct guided guided;
	struct stat st;
	unsigned made = 0;
	begin(&guided, "damaged");
	int fd = open(help_path("damaged/data.mdb"), O_RDWR);
	if (chi_read_rows(guided.read, keys, FEWER, rows) != CHI_OK || fstat(fd, &st) != 0) {
		return 1;
	}
	uint8_t *good = malloc((size_t)st.st_size);
	if (good == NULL || pread(fd, good, (size_t)st.st_size, 0) != st.st_size) {
		return 2;
	}
	off_t root = (off_t)(guided.read->descent.root * guided.read->descent.pages.size);
	for (unsigned i = 0; i < rounds; i++) {
		off_t at;
		size_t len = trees_damage(fd, good, st.st_size, &at);
		off_t branch = root + help_below(4096);
		uint8_t byte = (uint8_t)help_random();
		write_at(fd, branch, &byte, 1);
		chi_guides_deinit(&guided.guides);
		chi_guides_init(&guided.guides);
		chi_guides_reserve(&guided.guides);
		bool is = make_guide(&guided) == CHI_OK;
		guided.plain.guide = guided.guide;
		made += is;
		for (size_t j = 0; is && j < 512; j++) {
			struct chi_found found;
			size_t k = help_random() % FEWER;
			chi_descent_find_one(&guided.plain, &keys[k], &found);
			if (found.finding == CHI_FINDING_NONE && rows[k].found) {
				return 99;
			}
		}
		chi_guide_release(guided.guide);
		guided.guide = NULL;
		if (pwrite(fd, good + at, len, at) != (ssize_t)len ||
		    pwrite(fd, good + branch, 1, branch) != 1) {
			return 3;
		}
	}
	free(good);
	(void)close(fd);
	end(&guided);
	return made > rounds / 16 && made < rounds - rounds / 16 ? 0 : 4;
}

CASE(test_damage_is_harmless)
{
	struct chi_dir *store = help_store("damaged", EXTERNAL);
	trees_keys(keys, FEWER);
	trees_fill(store, keys, FEWER, false);
	chi_dir_close(store);
	trees_in_child(damage_and_guide, seed_rounds(ROUNDS));
}

/* The leaf that a guide leads to is checked as any other. */
CASE(test_damaged_leaf)
{
	struct guided guided;
	struct chi_found found;
	struct chi_dir *store = help_store("leaf", EXTERNAL);
	trees_keys(keys, FEWER);
	trees_fill(store, keys, FEWER, false);
	chi_dir_close(store);
	begin(&guided, "leaf");
	ok(make_guide(&guided));
	chi_descent_find_one(&guided.plain, &keys[0], &found);
	int fd = open(help_path("leaf/data.mdb"), O_RDWR);
	off_t value = found.value - guided.plain.pages.base;
	off_t leaf = (off_t)(page_of(&guided, &found) * guided.plain.pages.size);
	guided.plain.guide = guided.guide;
	const struct {
		off_t at;
		enum chi_finding finding;
	} changes[] = {{value, CHI_FINDING_DAMAGED},
		       {leaf + PAGE_NUMBER, CHI_FINDING_UNSURE},
		       {leaf + PAGE_FLAGS, CHI_FINDING_UNSURE}};
	for (size_t i = 0; i < CHI_COUNT(changes); i++) {
		uint8_t byte = guided.plain.pages.base[changes[i].at] ^ 0x40;
		write_at(fd, changes[i].at, &byte, 1);
		chi_descent_find_one(&guided.plain, &keys[0], &found);
		assert_int_equal(found.finding, changes[i].finding);
		chi_descent_find(&guided.plain, keys, 2, (struct chi_found[2]){{0}});
		byte ^= 0x40;
		write_at(fd, changes[i].at, &byte, 1);
	}
	chi_descent_find_one(&guided.plain, &keys[0], &found);
	assert_int_equal(found.finding, CHI_FINDING_THERE);
	(void)close(fd);
	end(&guided);
}

CASES_MAIN(NULL, help_teardown)
