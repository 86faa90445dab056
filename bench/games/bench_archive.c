/* SPDX-License-Identifier: MIT */
/*
 * bench_archive STORE: how fast the games of a store are found and written (search/, store/games).
 * One thread; times are of the processor, the median of some rounds. Prints a row for each figure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buffer.h"
#include "bench/bench.h"
#include "chess/pgn/write.h"
#include "chess/key.h"
#include "search/explore.h"
#include "search/filter/motif.h"
#include "search/games.h"
#include "store/archive.h"
#include "store/games/archive.h"
#include "store/store.h"

#define ROUNDS 7
#define RARE   20000 /* positions of one game that are looked up */
#define STEPS  UINT64_MAX

#define AFTER_E4 "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"

static struct chi_fault fault;

static void must(int status, const char *what)
{
	if (status < 0) {
		bench_die("%s: %s (%s)", what, chi_strerror(status), fault.text);
	}
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;
	return a < b ? -1 : a > b;
}

/* What is measured: `n` units of work are done by a call. */
typedef uint64_t work(struct chi_read *read, const void *argument);

static double median(struct chi_read *read, work *run, const void *argument)
{
	double times[ROUNDS];
	for (size_t i = 0; i < ROUNDS; i++) {
		uint64_t start = bench_cpu();
		uint64_t n = run(read, argument);
		times[i] = 1e-9 * (double)(bench_cpu() - start) / (double)(n > 0 ? n : 1);
	}
	qsort(times, ROUNDS, sizeof(times[0]), compare);
	return times[ROUNDS / 2];
}

/* ---- From a position to its games -------------------------------------------------------- */

struct keys {
	struct chi_key *keys;
	size_t n;
};

/* Each position's game, whole. */
static uint64_t rare_to_game(struct chi_read *read, const void *argument)
{
	const struct keys *keys = argument;
	struct chi_archive_view view;
	struct chi_archive_reader *reader;
	struct chi_arena arena;
	chi_arena_init(&arena, 1 << 20);
	must(chi_read_archive(read, &view), "archive");
	must(chi_archive_reader_new(&reader), "reader");
	must(chi_archive_reader_begin(reader, view.txn, &view.trees), "reader");
	for (size_t i = 0; i < keys->n; i++) {
		struct chi_reached *reached;
		const struct chi_posting *entries;
		struct chi_game game;
		size_t n;
		int rc = chi_reached_open(read, &keys->keys[i], 0, &reached);
		must(rc == CHI_NONE ? -CHI_ECORRUPT : rc, "list");
		must(chi_reached_next(reached, &entries, &n), "list");
		chi_arena_reset(&arena);
		must(chi_archive_game(reader, entries[0].game, &arena, &game), "game");
		chi_reached_close(reached);
	}
	chi_archive_reader_end(reader);
	chi_archive_reader_free(reader);
	chi_arena_deinit(&arena);
	return keys->n;
}

static void games_query(struct chi_read *read, const struct chi_games_spec *spec)
{
	struct chi_games_row rows[20];
	struct chi_game_walk *games;
	size_t n;
	int rc;
	must(chi_game_walk_open(read, spec, &games, &fault), "games");
	do {
		rc = chi_game_walk_next(games, rows, CHI_COUNT(rows), STEPS, &n);
		must(rc, "games");
	} while (rc == CHI_OK && n > 0 && spec->want_total);
	chi_game_walk_close(games);
}

static uint64_t first_page(struct chi_read *read, const void *argument)
{
	const char *filter = argument;
	const struct chi_games_spec spec = {
		.filter = filter, .filter_len = strlen(filter), .limit = 20};
	games_query(read, &spec);
	return 1;
}

static uint64_t count_games(struct chi_read *read, const void *argument)
{
	const char *filter = argument;
	const struct chi_games_spec spec = {
		.filter = filter, .filter_len = strlen(filter), .limit = 1, .want_total = true};
	games_query(read, &spec);
	return 1;
}

struct explore {
	struct chi_key key;
	const char *filter;
};

static uint64_t explore(struct chi_read *read, const void *argument)
{
	const struct explore *wanted = argument;
	struct chi_explored out;
	struct chi_arena arena;
	chi_arena_init(&arena, 1 << 20);
	if (wanted->filter == NULL) {
		must(chi_read_explore(read, &wanted->key, &arena, &out, &fault), "explore");
	} else {
		struct chi_filtered_explore *explore;
		int rc = chi_filtered_explore_open(read, &wanted->key, wanted->filter,
						   strlen(wanted->filter), &explore, &fault);
		must(rc, "explore");
		while ((rc = chi_filtered_explore_step(explore, STEPS)) == CHI_OK) {
		}
		must(rc, "explore");
		must(chi_filtered_explore_result(explore, &arena, &out, &fault), "explore");
		chi_filtered_explore_close(explore);
	}
	chi_arena_deinit(&arena);
	return 1;
}

/* ---- All of it --------------------------------------------------------------------------- */

static bool fits(const void *wanted, const uint8_t *key)
{
	return chi_motif_fits(wanted, key);
}

static uint64_t find(struct chi_read *read, const void *argument)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .order = CHI_ORDER_POSITION,
					   .chi2_max = CHI_CHI2_MAX};
	struct chi_motif *wanted = NULL;
	struct chi_mask_wants masks;
	struct chi_scan *scan;
	uint64_t n = 0;
	int rc;
	must(chi_motif_parse(argument, &wanted, &fault), "pattern");
	must(chi_read_scan(read, &spec, &scan, &fault), "scan");
	chi_motif_masks_of(wanted, &masks);
	chi_scan_sift(scan, fits, &masks, wanted);
	while ((rc = chi_scan_tally(scan, STEPS, &n)) == CHI_OK) {
	}
	must(rc, "count");
	chi_scan_free(scan);
	free(wanted);
	return 1;
}

static uint64_t to_pgn(struct chi_read *read, const void *argument)
{
	struct chi_archive_view view;
	struct chi_archive_reader *reader;
	struct chi_arena arena;
	struct chi_buffer out;
	uint64_t games = 0;
	(void)argument;
	chi_arena_init(&arena, 16 << 20);
	chi_buffer_init(&out, 64 << 20);
	must(chi_read_archive(read, &view), "archive");
	must(chi_archive_reader_new(&reader), "reader");
	must(chi_archive_reader_begin(reader, view.txn, &view.trees), "reader");
	for (uint32_t number = 1; number <= view.last; number++) {
		struct chi_game game;
		chi_arena_reset(&arena);
		chi_buffer_consume(&out, out.len);
		int rc = chi_archive_game(reader, number, &arena, &game);
		if (rc == CHI_NONE) {
			continue;
		}
		must(rc, "game");
		games++;
		must(chi_pgn_write(&game, &out), "PGN");
	}
	chi_archive_reader_end(reader);
	chi_archive_reader_free(reader);
	chi_arena_deinit(&arena);
	chi_buffer_deinit(&out);
	return games;
}

/* Positions of one game each, spread over the tree; and how many there are in all. */
static struct keys rare_keys(struct chi_read *read, uint64_t positions)
{
	struct keys keys = {.keys = calloc(RARE, sizeof(*keys.keys))};
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .order = CHI_ORDER_POSITION,
					   .chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_COUNTS};
	struct chi_scan *scan;
	struct chi_row rows[256];
	uint64_t seen = 0;
	uint64_t every = positions / RARE + 1;
	size_t n;
	int rc;
	if (keys.keys == NULL) {
		bench_die("out of memory");
	}
	must(chi_read_scan(read, &spec, &scan, &fault), "scan");
	do {
		rc = chi_scan_rows(scan, rows, CHI_COUNT(rows), STEPS, &n);
		must(rc, "scan");
		for (size_t i = 0; i < n; i++, seen++) {
			const struct chi_counts *c = &rows[i].counts;
			bool one = c->white + c->draws + c->black + c->other == 1;
			if (one && seen / every >= keys.n && keys.n < RARE) {
				keys.keys[keys.n++] = rows[i].key;
			}
		}
	} while (rc == CHI_OK);
	chi_scan_free(scan);
	return keys;
}

/* In another order than that of the tree. */
static void shuffle(struct keys *keys)
{
	uint64_t state = 1;
	for (size_t i = keys->n; i > 1; i--) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		size_t j = (size_t)((state >> 33) % i);
		struct chi_key key = keys->keys[i - 1];
		keys->keys[i - 1] = keys->keys[j];
		keys->keys[j] = key;
	}
}

static void print(const char *what, double value, const char *unit)
{
	printf("%s\t%.3g\t%s\n", what, value, unit);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		bench_die("usage: bench_archive STORE");
	}
	const struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *store;
	struct chi_read *read;
	struct chi_info info;
	must(chi_dir_open(argv[1], &options, &store, &fault), "open");
	must(chi_dir_info(store, &info), "info");
	must(chi_read_begin(store, &read), "read");
	struct keys keys = rare_keys(read, info.positions);
	shuffle(&keys);
	uint64_t games = info.last_game;
	struct explore after_e4 = {.filter = NULL};
	must(chi_key_from_fen(AFTER_E4, sizeof(AFTER_E4) - 1, &after_e4.key, &fault), "key");
	print("a rare position to its game, whole", 1e6 * median(read, rare_to_game, &keys), "us");
	print("first 20 games after 1. e4", 1e6 * median(read, first_page, "moves e4"), "us");
	print("explore 1. e4", 1e6 * median(read, explore, &after_e4), "us");
	after_e4.filter = "rating 2600.. since 2010";
	print("explore 1. e4, games rated 2600 since 2010", 1e3 * median(read, explore, &after_e4),
	      "ms");
	print("count games by rating, year and result",
	      1e-6 * (double)games /
		      median(read, count_games, "rating 2600.. since 2010 result 1-0"),
	      "M games/s");
	print("find a knight on d5 and a king on g8",
	      1e-6 * (double)info.positions / median(read, find, "has \"Nd5 kg8\""),
	      "M positions/s");
	print("games to PGN", 1 / median(read, to_pgn, NULL), "games/s");
	free(keys.keys);
	chi_read_end(read);
	chi_dir_close(store);
	return 0;
}
