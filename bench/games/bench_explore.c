/* SPDX-License-Identifier: MIT */
/*
 * How long exploring takes, in this process: the initial position, whose record is the largest
 * there is, and those with about ten games. Obeys games.py (bench.h).
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "chistore.h"

#define REPEATS	      2000
#define FEW_GAMES     10
#define POSITIONS_MAX 1000

static const char initial[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

struct explorer {
	struct chi_client *client;
	struct chi_key initial;
	struct chi_key few[POSITIONS_MAX];
	size_t n_few;
};

static void must(const struct explorer *explorer, int status, const char *what)
{
	if (status != CHI_OK) {
		bench_die("%s: %s", what, chi_error(explorer->client));
	}
}

/* Positions with exactly FEW_GAMES games, as the tree has them. */
static void find_few(struct explorer *explorer)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION, .want = CHI_WANT_COUNTS,
					   .filter = {.games_min = FEW_GAMES}};
	struct chi_rows *iter;
	const struct chi_row *row;
	must(explorer, chi_scan_open(explorer->client, &spec, &iter), "chi_scan_open");
	while (explorer->n_few < POSITIONS_MAX && chi_scan_next(iter, &row, NULL) == CHI_OK) {
		const struct chi_counts *counts = &row->counts;
		if (counts->white + counts->draws + counts->black == FEW_GAMES) {
			explorer->few[explorer->n_few++] = row->key;
		}
	}
	chi_rows_close(iter);
	if (explorer->n_few == 0) {
		bench_die("no position with %d games", FEW_GAMES);
	}
}

static bool run_step(void *context, const char *name, struct bench_result *out)
{
	struct explorer *explorer = context;
	bool few = strcmp(name, "ten") == 0;
	if (!few && strcmp(name, "initial") != 0) {
		return false;
	}
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < REPEATS; i++) {
		struct chi_explored found;
		const struct chi_key *key =
			few ? &explorer->few[i % explorer->n_few] : &explorer->initial;
		must(explorer, chi_explore(explorer->client, key, NULL, NULL, &found),
		     "chi_explore");
		out->sum += found.n_moves;
	}
	out->ns = bench_cpu() - start;
	out->done = REPEATS;
	return true;
}

int main(int argc, char **argv)
{
	static struct explorer explorer;
	struct chi_fault fault = {.text = ""};
	if (argc != 2) {
		bench_die("usage: bench_explore STORE");
	}
	if (chi_open(argv[1], NULL, &explorer.client, &fault) != CHI_OK) {
		bench_die("%s: %s", argv[1], fault.text);
	}
	if (chi_key_from_fen(initial, strlen(initial), &explorer.initial, NULL) != CHI_OK) {
		bench_die("the initial position has no key");
	}
	find_few(&explorer);
	bench_serve(run_step, &explorer);
	chi_close(explorer.client);
	return 0;
}
