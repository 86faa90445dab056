/* SPDX-License-Identifier: MIT */
/*
 * Games and positions of a pattern by several threads: whatever their number, and however the
 * search is cut into calls and snapshots, the answers are those of one thread. In damaged trees
 * they are, too, or the damage is told.
 */
#include "tests/store/trees.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "search/find.h"
#include "store/archive.h"
#include "store/env/snapshot.h"
#include "tests/base/seed.h"
#include "tests/import/session.h"

#define STORE	    "threads"
#define NUMBERS	    8000 /* more than there are games */
#define THREADS	    8
#define POSITIONS   80000 /* beside those of games: enough for several threads */
#define SHORT_GAMES 3000  /* lists of some of their positions take several chunks */
#define FEW_PLIES   4
#define EVERY_STEPS UINT64_MAX

static const char *const patterns[] = {
	"", "has \"Nf3 Pd4\" mirror", "balance \"v PP\"", "has \"qa5|ra5\"", "material P=..9",
};

static const char *const filters[] = {"", "result 1-0", "player Carlsen not result 1/2-1/2"};

static struct chi_store *store;
static struct chi_read *snapshot;

struct found {
	uint64_t total;
	size_t n;
	uint32_t numbers[NUMBERS];
};

static struct chi_find_spec spec_of(const char *pattern, const char *filter)
{
	return (struct chi_find_spec){.pattern = pattern,
				      .pattern_len = strlen(pattern),
				      .filter = filter,
				      .filter_len = strlen(filter)};
}

/* Some rows; they are added to what was found. */
static int some(struct chi_find *find, bool games, uint64_t steps, struct found *found)
{
	struct chi_games_row rows[40];
	struct chi_row positions[40];
	size_t n = 0;
	int rc = games ? chi_find_games(find, rows, CHI_COUNT(rows), steps, &n)
		       : chi_find_positions(find, positions, CHI_COUNT(positions), steps, &n);
	assert_true(rc >= 0);
	for (size_t i = 0; games && i < n; i++) {
		assert_true(found->n < NUMBERS);
		found->numbers[found->n++] = rows[i].head.number;
	}
	return rc;
}

/* `cut`: into calls, some of them on another snapshot. */
static void search(struct chi_find_spec spec, unsigned threads, bool cut, struct found *found)
{
	struct chi_find *find;
	int rc = CHI_OK;
	*found = (struct found){0};
	spec.threads = threads;
	ok(chi_find_open(snapshot, &spec, &find, &fault));
	while (rc == CHI_OK) {
		rc = some(find, spec.games, cut ? 1 + help_below(300) : EVERY_STEPS, found);
		if (rc == CHI_OK && cut && chi_find_may_detach(find) && help_below(2) == 0) {
			chi_find_detach(find);
			ok(chi_find_attach(find, snapshot, &fault));
		}
	}
	assert_true(chi_find_total(find, &found->total));
	chi_find_close(find);
}

static void check_same(const struct found *one, const struct found *other)
{
	assert_int_equal(one->total, other->total);
	assert_int_equal(one->n, other->n);
	assert_memory_equal(one->numbers, other->numbers, one->n * sizeof(one->numbers[0]));
}

static void test_any_number_of_threads(void **state)
{
	static struct found one;
	static struct found other;
	(void)state;
	for (unsigned i = 0; i < CHI_COUNT(patterns); i++) {
		struct chi_find_spec spec =
			spec_of(patterns[i], filters[help_below(CHI_COUNT(filters))]);
		spec.games = true;
		search(spec, 1, false, &one);
		assert_true(one.total > 0);
		assert_int_equal(one.n, one.total);
		for (unsigned threads = 1; threads <= THREADS; threads++) {
			search(spec, threads, help_below(2) == 0, &other);
			check_same(&one, &other);
		}
		spec.only_count = true;
		search(spec, 1 + help_below(THREADS), true, &other);
		assert_int_equal(other.total, one.total);
		spec.games = false;
		search(spec, 1, false, &one);
		assert_true(one.total > 0);
		search(spec, 2 + help_below(THREADS - 1), help_below(2) == 0, &other);
		check_same(&one, &other);
	}
}

/* A call ends after some parts: one who cancels or has a deadline does not wait for all. */
static void test_rounds(void **state)
{
	(void)state;
	struct found found = {0};
	struct chi_find_spec spec = spec_of("", "");
	struct chi_find *find;
	spec.games = true;
	spec.only_count = true;
	spec.threads = 2;
	ok(chi_find_open(snapshot, &spec, &find, &fault));
	assert_int_equal(some(find, true, 1, &found), CHI_OK);
	/* Four parts of some ten thousand positions, where one thread looks at a hundred. */
	assert_in_range(chi_find_progress(find), 100, 900);
	chi_find_close(find);
}

/* ---- Damage ------------------------------------------------------------------------------- */

/* Opened before there is damage: LMDB reads what it begins with. */
static struct chi_find *open_count(struct chi_read *read)
{
	struct chi_find_spec spec = spec_of("", "");
	struct chi_find *find;
	spec.games = true;
	spec.only_count = true;
	spec.threads = 1 + help_below(3);
	ok(chi_find_open(read, &spec, &find, &fault));
	return find;
}

/* How it ended; *total games. */
static int count(struct chi_find *find, uint64_t *total)
{
	struct chi_games_row row;
	size_t n;
	int rc;
	do {
		rc = chi_find_games(find, &row, 1, EVERY_STEPS, &n);
	} while (rc == CHI_OK);
	bool told = chi_find_total(find, total);
	chi_find_close(find);
	return rc == CHI_NONE && !told ? CHI_OK : rc;
}

static int damage_and_count(unsigned rounds)
{
	struct chi_read *read;
	struct stat st;
	uint64_t games = 0;
	unsigned ended[2] = {0};
	int fd = open(help_path(STORE "/data.mdb"), O_RDWR);
	store = help_open(help_path(STORE), CHI_STORE_READ);
	ok(chi_read_begin(store, &read));
	if (fstat(fd, &st) != 0 || !chi_read_can_descend(read) ||
	    count(open_count(read), &games) != CHI_NONE) {
		return 1;
	}
	off_t trees = trees_page(read);
	uint8_t *good = malloc((size_t)st.st_size);
	if (good == NULL || pread(fd, good, (size_t)st.st_size, 0) != st.st_size) {
		return 2;
	}
	for (unsigned i = 0; i < rounds; i++) {
		uint64_t total = 0;
		off_t at[4];
		size_t lens[CHI_COUNT(at)];
		struct chi_find *find = open_count(read);
		for (size_t j = 0; j < CHI_COUNT(at); j++) {
			lens[j] = trees_damage(fd, good, st.st_size, &at[j]);
			if (at[j] + 512 > trees && at[j] < trees + 4096) {
				(void)!pwrite(fd, good + at[j], lens[j], at[j]);
			}
		}
		int rc = count(find, &total);
		if (rc == CHI_NONE ? total != games : rc != -CHI_ECORRUPT) {
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
	chi_store_close(store);
	return ended[0] > 0 && ended[1] > 0 ? 0 : 4;
}

static void test_damaged_pages(void **state)
{
	(void)state;
	chi_read_end(snapshot);
	chi_store_close(store);
	trees_in_child(damage_and_count, 60);
	store = help_open(help_path(STORE), CHI_STORE_READ);
	ok(chi_read_begin(store, &snapshot));
}

/* Real games, many short ones, and positions that no game reached. */
static int setup(void **state)
{
	struct import_session session = {.statistic = CHI_STATISTIC_EXTERNAL};
	struct chi_key *keys = calloc(POSITIONS, sizeof(*keys));
	char *texts[] = {session_file("pgn/masters_300.pgn", &(size_t){0}),
			 session_games(SHORT_GAMES, FEW_PLIES)};
	(void)state;
	assert_non_null(keys);
	ok(session_run(&session, STORE, (const char *const[]){texts[0], texts[1], NULL}));
	store = help_open(help_path(STORE), CHI_STORE_WRITE);
	trees_keys(keys, POSITIONS);
	trees_fill(store, keys, POSITIONS, false);
	free(keys);
	free(texts[0]);
	free(texts[1]);
	ok(chi_read_begin(store, &snapshot));
	return 0;
}

static int teardown(void **state)
{
	chi_read_end(snapshot);
	chi_store_close(store);
	return help_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_number_of_threads),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_damaged_pages),
	};
	return cmocka_run_group_tests_name("search/find_threads", tests, setup, teardown);
}
