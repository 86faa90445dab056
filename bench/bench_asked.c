/* SPDX-License-Identifier: MIT */
/*
 * bench_asked ADDRESS: how fast a program is answered that asks for games by libchistore, in a
 * directory or over a socket. Times are of the clock, the median of some rounds. Prints a row for
 * each figure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "chistore.h"

#define ROUNDS 15
#define PAGES  200 /* of a round */

#define AFTER_E4 "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"

static struct chi_client *client;
static struct chi_key after_e4;

static void must(int status)
{
	if (status < 0) {
		bench_die("%s", chi_error(client));
	}
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;
	return a < b ? -1 : a > b;
}

/* Does some work; returns how many units of it. */
typedef uint64_t work(const void *argument);

/* Seconds of a unit. */
static double median(work *run, const void *argument, size_t rounds)
{
	double times[ROUNDS];
	for (size_t i = 0; i < rounds; i++) {
		uint64_t start = bench_now();
		uint64_t n = run(argument);
		times[i] = 1e-9 * (double)(bench_now() - start) / (double)n;
	}
	qsort(times, rounds, sizeof(times[0]), compare);
	return times[rounds / 2];
}

static uint64_t query(const struct chi_game_spec *spec)
{
	struct chi_rows *asked = NULL;
	const struct chi_game_row *row = NULL;
	uint64_t n = 0;
	int status = CHI_OK;
	must(chi_games_open(client, spec, &asked));
	while ((status = chi_games_next(asked, &row)) == CHI_OK) {
		n++;
	}
	must(status);
	chi_rows_close(asked);
	return n;
}

static uint64_t first_page(const void *argument)
{
	for (unsigned i = 0; i < PAGES; i++) {
		(void)query(argument);
	}
	return PAGES;
}

static uint64_t all_games(const void *argument)
{
	return query(argument);
}

static uint64_t single_games(const void *argument)
{
	struct chi_game_row row;
	(void)argument;
	for (uint32_t i = 0; i < PAGES; i++) {
		must(chi_game_get(client, 1 + i * 97, &row, NULL));
	}
	return PAGES;
}

static uint64_t explore(const void *argument)
{
	struct chi_explored found;
	for (unsigned i = 0; i < 20; i++) {
		must(chi_explore(client, &after_e4, argument, NULL, &found));
	}
	return 20;
}

static uint64_t stats(const void *argument)
{
	struct chi_stats_result result;
	must(chi_stats_list(client,
			    &(struct chi_stats_spec){CHI_STATS_SPEC_INIT, .by = CHI_STATS_PLAYER,
						     .filter = argument, .limit = 10},
			    &result));
	return 1;
}

int main(int argc, char **argv)
{
	struct chi_fault fault = {.text = ""};
	if (argc != 2) {
		bench_die("usage: bench_asked ADDRESS");
	}
	if (chi_open(argv[1], NULL, &client, &fault) != CHI_OK ||
	    chi_key_from_fen(AFTER_E4, strlen(AFTER_E4), &after_e4, &fault) != CHI_OK) {
		bench_die("%s", fault.text);
	}
	struct chi_game_spec page = {CHI_GAME_SPEC_INIT, .position = &after_e4, .limit = 20};
	struct chi_game_spec all = {CHI_GAME_SPEC_INIT, .want = CHI_GAMES_HEADS};
	printf("first 20 games after 1. e4, heads\t%.3g\tus\n",
	       1e6 * median(first_page, &page, ROUNDS));
	page.want = CHI_GAMES_TEXTS;
	printf("... with names\t%.3g\tus\n", 1e6 * median(first_page, &page, ROUNDS));
	printf("a game by its number, PGN\t%.3g\tus\n", 1e6 * median(single_games, NULL, ROUNDS));
	printf("explore 1. e4, games rated 2600 since 2010\t%.3g\tms\n",
	       1e3 * median(explore, "rating 2600.. since 2010", ROUNDS));
	printf("ten players with most games\t%.3g\tms\n", 1e3 * median(stats, NULL, ROUNDS));
	printf("all games, heads\t%.3g\tgames/s\n", 1 / median(all_games, &all, 3));
	all.want = CHI_GAMES_TEXTS;
	printf("... with names\t%.3g\tgames/s\n", 1 / median(all_games, &all, 3));
	all.want = CHI_GAMES_PGN;
	printf("... as PGN\t%.3g\tgames/s\n", 1 / median(all_games, &all, 3));
	chi_close(client);
	return 0;
}
