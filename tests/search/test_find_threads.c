/* SPDX-License-Identifier: MIT */
/*
 * Games of a pattern, looked for in all positions by several threads: whatever their number, and
 * however the search is cut into calls and snapshots, the answers are those of one thread. In
 * damaged trees they are, too, or the damage is told.
 */
#include "tests/store/trees.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "search/filter/shown.h"
#include "search/games.h"
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

static const char *const filters[] = {"", "result 1-0", "player Norheim not result 1/2-1/2"};

static struct chi_dir *store;
static struct chi_read *snapshot;

struct found {
	uint64_t total;
	size_t n;
	uint32_t numbers[NUMBERS];
};

static char text[256];

static struct chi_games_spec spec_of(const char *pattern, const char *filter, unsigned threads)
{
	int len = snprintf(text, sizeof(text), "%s %s", pattern, filter);
	return (struct chi_games_spec){.filter = text,
				       .filter_len = (size_t)len,
				       .by_positions = true,
				       .threads = threads,
				       .want_total = true};
}

/* `cut`: into calls, some of them on another snapshot. */
static void search(const struct chi_games_spec *spec, bool cut, struct found *found)
{
	struct chi_game_walk *games;
	int rc = CHI_OK;
	*found = (struct found){0};
	ok(chi_game_walk_open(snapshot, spec, &games, &fault));
	while (rc == CHI_OK) {
		struct chi_games_row rows[40];
		size_t n = 0;
		rc = chi_game_walk_next(games, rows, CHI_COUNT(rows),
					cut ? 1 + help_below(300) : EVERY_STEPS, &n);
		assert_true(rc >= 0);
		for (size_t i = 0; i < n; i++) {
			assert_true(found->n < NUMBERS);
			found->numbers[found->n++] = rows[i].head.number;
		}
		if (rc == CHI_OK && cut && chi_game_walk_may_detach(games) && help_below(2) == 0) {
			chi_game_walk_detach(games);
			ok(chi_game_walk_attach(games, snapshot, &fault));
		}
	}
	assert_true(chi_game_walk_total(games, &found->total));
	chi_game_walk_close(games);
}

static void check_same(const struct found *one, const struct found *other)
{
	assert_int_equal(one->total, other->total);
	assert_int_equal(one->n, other->n);
	assert_memory_equal(one->numbers, other->numbers, one->n * sizeof(one->numbers[0]));
}

CASE(test_any_number_of_threads)
{
	static struct found one;
	static struct found other;
	for (unsigned i = 0; i < CHI_COUNT(patterns); i++) {
		const char *filter = filters[help_below(CHI_COUNT(filters))];
		struct chi_games_spec spec = spec_of(patterns[i], filter, 1);
		search(&spec, false, &one);
		assert_true(one.total > 0);
		assert_int_equal(one.n, one.total);
		for (unsigned threads = 1; threads <= THREADS; threads++) {
			spec.threads = threads;
			search(&spec, help_below(2) == 0, &other);
			check_same(&one, &other);
		}
	}
}

/* A call ends after some parts: one who cancels or has a deadline does not wait for all. */
CASE(test_rounds)
{
	const struct chi_games_spec spec = spec_of("has !Nd5", "", 2);
	struct chi_games_row row;
	struct chi_game_walk *games;
	size_t n;
	ok(chi_game_walk_open(snapshot, &spec, &games, &fault));
	do { /* first it counts the games that it would play again */
		assert_int_equal(chi_game_walk_next(games, &row, 1, 1, &n), CHI_OK);
	} while (chi_game_walk_progress(games) == 0);
	/* Four parts of some ten thousand positions, where one thread looks at a hundred. */
	assert_in_range(chi_game_walk_progress(games), 100, 900);
	chi_game_walk_close(games);
}

/* ---- Damage ------------------------------------------------------------------------------- */

/* Opened before there is damage: LMDB reads what it begins with. */
static struct chi_shown_games *open_shown(struct chi_read *read, const char *pattern)
{
	struct chi_motif *wanted = NULL;
	struct chi_shown_games *shown;
	ok(chi_motif_parse(pattern, &wanted, &fault));
	ok(chi_shown_new(wanted, 1 + help_below(3), &shown));
	free(wanted);
	ok(chi_shown_attach(shown, read));
	return shown;
}

/* How it ended; *total games. */
static int count(struct chi_shown_games *shown, uint64_t *total)
{
	uint64_t steps = EVERY_STEPS;
	int rc = chi_shown_step(shown, &steps);
	*total = 0;
	for (uint32_t number = 1; number < NUMBERS; number++) {
		*total += chi_shown_has(shown, number);
	}
	chi_shown_detach(shown);
	chi_shown_free(shown);
	return rc;
}

static int damage_and_count(unsigned rounds)
{
	struct chi_read *read;
	struct stat st;
	uint64_t games[2] = {0};
	unsigned ended[2] = {0};
	int fd = open(help_path(STORE "/data.mdb"), O_RDWR);
	store = help_open(help_path(STORE), CHI_STORE_READ);
	ok(chi_read_begin(store, &read));
	if (fstat(fd, &st) != 0 || !chi_read_can_descend(read, 0) ||
	    count(open_shown(read, patterns[0]), &games[0]) != CHI_OK ||
	    count(open_shown(read, patterns[1]), &games[1]) != CHI_OK) {
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
		struct chi_shown_games *shown = open_shown(read, patterns[i % 2]);
		for (size_t j = 0; j < CHI_COUNT(at); j++) {
			lens[j] = trees_damage(fd, good, st.st_size, &at[j]);
			if (at[j] + 512 > trees && at[j] < trees + 4096) {
				(void)!pwrite(fd, good + at[j], lens[j], at[j]);
			}
		}
		int rc = count(shown, &total);
		if (rc == CHI_OK ? total != games[i % 2] : rc != -CHI_ECORRUPT) {
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

CASE(test_damaged_pages)
{
	chi_read_end(snapshot);
	chi_dir_close(store);
	trees_in_child(damage_and_count, 60);
	store = help_open(help_path(STORE), CHI_STORE_READ);
	ok(chi_read_begin(store, &snapshot));
}

/* Whole games, many short ones, and positions that no game reached. */
static int setup(void **state)
{
	struct import_session session = {.statistic = CHI_STATISTIC_EXTERNAL};
	struct chi_key *keys = calloc(POSITIONS, sizeof(*keys));
	char *texts[] = {session_file("pgn/games_300.pgn", &(size_t){0}),
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
	chi_dir_close(store);
	return help_teardown(state);
}

CASES_MAIN(setup, teardown)
