/* SPDX-License-Identifier: MIT */
/*
 * bench_calls ADDRESS CALL TIMES: makes one call of the library so many times, on positions and
 * games of a store, and prints what it saw. calls.py counts the instructions of two runs of
 * different length, whose difference is the call's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "chistore.h"

#define KEYS 1000 /* positions that are asked for by turns */
#define ROWS 2000 /* of a scan */

static struct chi_client *client;
static struct chi_key keys[KEYS];
static size_t n_keys;
static uint64_t seen; /* so that two builds can be told to have done the same */

static void must(int status)
{
	if (status < 0) {
		bench_die("%s", chi_error(client));
	}
}

static void scan(uint8_t want, uint64_t limit)
{
	const struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION,
					   .want = want,
					   .limit = limit};
	struct chi_iter *rows = NULL;
	const struct chi_row *row = NULL;
	must(chi_iter_open(client, &spec, &rows));
	int status = CHI_OK;
	while ((status = chi_iter_next(rows, &row, NULL)) == CHI_OK) {
		if (n_keys < KEYS) {
			keys[n_keys++] = row->key;
		}
		seen++;
	}
	must(status);
	chi_iter_close(rows);
}

static void games(uint64_t limit, uint8_t want)
{
	const struct chi_game_spec spec = {.limit = limit, .want = want};
	struct chi_game_query *query = NULL;
	const struct chi_game_row *row = NULL;
	must(chi_game_query_open(client, &spec, &query));
	int status = CHI_OK;
	while ((status = chi_game_query_next(query, &row)) == CHI_OK) {
		seen += row->head.number;
	}
	must(status);
	chi_game_query_close(query);
}

static void call_get(size_t i)
{
	struct chi_record record;
	must(chi_get(client, &keys[i % n_keys], &record));
	seen += record.n_moves;
}

static void call_get_100(size_t i)
{
	(void)i;
	for (size_t at = 0; at < 100; at++) {
		call_get(at);
	}
}

static void call_probe(size_t i)
{
	struct chi_row row;
	must(chi_probe(client, &keys[i % n_keys], 1, &row));
	seen += row.found;
}

static void call_prober(size_t i)
{
	static struct chi_prober *prober;
	struct chi_row row;
	if (prober == NULL) {
		must(chi_prober_open(client, NULL, &prober));
	}
	must(chi_prober_key(prober, &keys[i % n_keys], &row));
	seen += row.found;
}

static void call_put(size_t i)
{
	const struct chi_put_entry entry = {
		.key = keys[i % n_keys], .parts = CHI_PUT_ADD, .record.counts.draws = 1};
	must(chi_put(client, &entry, 1, CHI_ASYNC, NULL));
	seen++;
}

static void call_explore(size_t i)
{
	struct chi_explored found;
	must(chi_explore(client, &keys[i % n_keys], NULL, &found));
	seen += found.n_moves;
}

static void call_info(size_t i)
{
	struct chi_info info;
	(void)i;
	must(chi_store_info(client, &info));
	seen += info.positions;
}

static void call_stats(size_t i)
{
	struct chi_stats_result found;
	(void)i;
	must(chi_stats_list(client, CHI_STATS_ECO, NULL, 0, &found));
	seen += found.n;
}

static void call_game(size_t i)
{
	struct chi_game_row row;
	struct chi_game game;
	must(chi_game_get(client, 1 + (uint32_t)(i % 100), &row, &game));
	seen += game.n_plies;
}

static void call_scan_open(size_t i)
{
	(void)i;
	scan(CHI_WANT_COUNTS, 1);
}

static void call_scan_keys(size_t i)
{
	(void)i;
	scan(CHI_WANT_KEYS, ROWS);
}

static void call_scan_counts(size_t i)
{
	(void)i;
	scan(CHI_WANT_COUNTS, ROWS);
}

static void call_scan_records(size_t i)
{
	(void)i;
	scan(CHI_WANT_RECORDS, ROWS);
}

static void call_games_open(size_t i)
{
	(void)i;
	games(1, CHI_GAMES_TEXTS);
}

static void call_games_100(size_t i)
{
	(void)i;
	games(100, CHI_GAMES_TEXTS);
}

static void call_games_pgn(size_t i)
{
	(void)i;
	games(100, CHI_GAMES_PGN);
}

static const struct {
	const char *name;
	void (*make)(size_t i);
} calls[] = {
	{"get", call_get},
	{"get-100", call_get_100},
	{"probe", call_probe},
	{"prober", call_prober},
	{"put", call_put},
	{"explore", call_explore},
	{"info", call_info},
	{"stats", call_stats},
	{"game", call_game},
	{"scan-open", call_scan_open},
	{"scan-keys", call_scan_keys},
	{"scan-counts", call_scan_counts},
	{"scan-records", call_scan_records},
	{"games-open", call_games_open},
	{"games-100", call_games_100},
	{"games-pgn", call_games_pgn},
};

int main(int argc, char **argv)
{
	struct chi_fault fault;
	const struct chi_options options = {.writable = true};
	if (argc != 4) {
		bench_die("usage: bench_calls ADDRESS CALL TIMES");
	}
	if (chi_open(argv[1], &options, &client, &fault) != CHI_OK) {
		bench_die("%s", fault.text);
	}
	scan(CHI_WANT_KEYS, KEYS);
	size_t at = 0;
	while (at < sizeof(calls) / sizeof(calls[0]) && strcmp(calls[at].name, argv[2]) != 0) {
		at++;
	}
	if (at == sizeof(calls) / sizeof(calls[0]) || n_keys == 0) {
		bench_die("no call is %s, or the store is empty", argv[2]);
	}
	seen = 0;
	for (size_t i = 0; i < (size_t)atol(argv[3]); i++) {
		calls[at].make(i);
	}
	printf("%llu\n", (unsigned long long)seen);
	chi_close(client);
	return 0;
}
