/* SPDX-License-Identifier: MIT */
/*
 * bench_calls ADDRESS CALL TIMES: makes one call of the library so many times, on positions and
 * games of a store, and prints what it saw. calls.py counts the instructions of two runs of
 * different length, whose difference is the call's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "bench/bench.h"
#include "chistore.h"
#include "proto/msg.h"
#include "proto/wire/frame.h"

#define KEYS	 1000 /* positions that are asked for by turns */
#define ROWS	 2000 /* of a scan, after the first */
#define GAMES	 100  /* of a query, after the first */
#define ENTRIES	 100  /* of a response that is unpacked */
#define EVALS	 2    /* of each */
#define PV_MOVES 10   /* of each */

#define SOME_GAMES "result 1-0"
#define NO_GAME	   "since 9999"
#define PATTERN	   "has \"Nd5\""

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

static void scan_rows(const struct chi_scan_spec *spec)
{
	struct chi_rows *rows = NULL;
	const struct chi_row *row = NULL;
	must(chi_scan_open(client, spec, &rows));
	int status = CHI_OK;
	while ((status = chi_scan_next(rows, &row, NULL)) == CHI_OK) {
		if (n_keys < KEYS) {
			keys[n_keys++] = row->key;
		}
		seen++;
	}
	must(status);
	chi_rows_close(rows);
}

static void scan(uint8_t want, uint64_t limit)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION, .want = want,
					   .limit = limit};
	scan_rows(&spec);
}

static void games(uint64_t limit, uint8_t want)
{
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .limit = limit, .want = want};
	struct chi_rows *query = NULL;
	const struct chi_game_row *row = NULL;
	must(chi_games_open(client, &spec, &query));
	int status = CHI_OK;
	while ((status = chi_games_next(query, &row)) == CHI_OK) {
		seen += row->head.number;
	}
	must(status);
	chi_rows_close(query);
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

/* Kings, a queen and a knight, which no game of the file came to: put, and deleted again. */
static void call_put_delete(size_t i)
{
	const int queen = 1 + (int)(i % 62);
	const int knight = 1 + (queen + (int)(i / 62) % 61) % 62;
	const uint64_t kings = 1 | UINT64_C(1) << 63;
	const struct chi_board board = {.white = 1 | UINT64_C(1) << queen | UINT64_C(1) << knight,
					.black = UINT64_C(1) << 63,
					.kings = kings,
					.queens = UINT64_C(1) << queen,
					.knights = UINT64_C(1) << knight,
					.en_passant = -1,
					.black_to_move = true};
	struct chi_put_entry entry = {.parts = CHI_PUT_ADD, .record.counts.draws = 1};
	uint64_t deleted = 0;
	if (chi_key_from_board(&board, &entry.key, NULL) != CHI_OK) {
		bench_die("no key for %d, %d", queen, knight);
	}
	must(chi_put(client, &entry, 1, CHI_ASYNC, NULL));
	must(chi_delete(client, &entry.key, 1, CHI_ASYNC, &deleted));
	seen += deleted;
}

static void explore(size_t i, const char *filter)
{
	struct chi_explored found;
	must(chi_explore(client, &keys[i % n_keys], filter, NULL, &found));
	seen += found.n_moves;
}

static void call_explore(size_t i)
{
	explore(i, NULL);
}

static void call_explore_filter(size_t i)
{
	explore(i, SOME_GAMES);
}

static void call_explore_no_game(size_t i)
{
	explore(i, NO_GAME);
}

static void call_info(size_t i)
{
	struct chi_info info;
	(void)i;
	must(chi_store_info(client, &info));
	seen += info.positions;
}

static void stats(const char *filter)
{
	struct chi_stats_result found;
	const struct chi_stats_spec spec = {CHI_STATS_SPEC_INIT, .by = CHI_STATS_EVENT,
					    .filter = filter};
	must(chi_stats_list(client, &spec, &found));
	seen += found.n;
}

static void call_stats(size_t i)
{
	(void)i;
	stats(NULL);
}

static void call_stats_no_game(size_t i)
{
	(void)i;
	stats(NO_GAME);
}

static void call_twins(size_t i)
{
	const struct chi_twin_spec spec = {CHI_TWIN_SPEC_INIT, .plies = 10};
	struct chi_twin_groups found;
	(void)i;
	must(chi_twins_list(client, &spec, &found));
	seen += found.n;
}

static void call_names(size_t i)
{
	const struct chi_names_spec spec = {CHI_NAMES_SPEC_INIT, .kind = CHI_NAME_PLAYER,
					    .limit = 100};
	struct chi_names found;
	(void)i;
	must(chi_names_list(client, &spec, &found));
	seen += found.n;
}

static void call_count(size_t i)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .filter.games_min = 2};
	uint64_t found = 0;
	(void)i;
	must(chi_scan_count(client, &spec, &found, NULL));
	seen += found;
}

static void call_scan_pattern(size_t i)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION, .want = CHI_WANT_COUNTS,
					   .pattern = PATTERN};
	(void)i;
	scan_rows(&spec);
}

static void call_game(size_t i)
{
	struct chi_game_row row;
	struct chi_game game;
	must(chi_game_get(client, 1 + (uint32_t)(i % 100), &row, &game));
	seen += game.n_plies;
}

static void call_scan_keys_open(size_t i)
{
	(void)i;
	scan(CHI_WANT_KEYS, 1);
}

static void call_scan_keys(size_t i)
{
	(void)i;
	scan(CHI_WANT_KEYS, 1 + ROWS);
}

static void call_scan_counts_open(size_t i)
{
	(void)i;
	scan(CHI_WANT_COUNTS, 1);
}

static void call_scan_counts(size_t i)
{
	(void)i;
	scan(CHI_WANT_COUNTS, 1 + ROWS);
}

static void call_scan_records_open(size_t i)
{
	(void)i;
	scan(CHI_WANT_RECORDS, 1);
}

static void call_scan_records(size_t i)
{
	(void)i;
	scan(CHI_WANT_RECORDS, 1 + ROWS);
}

static void call_games_texts_open(size_t i)
{
	(void)i;
	games(1, CHI_GAMES_TEXTS);
}

static void call_games_texts(size_t i)
{
	(void)i;
	games(1 + GAMES, CHI_GAMES_TEXTS);
}

static void call_games_pgn_open(size_t i)
{
	(void)i;
	games(1, CHI_GAMES_PGN);
}

static void call_games_pgn(size_t i)
{
	(void)i;
	games(1 + GAMES, CHI_GAMES_PGN);
}

/* ---- Unpacking --------------------------------------------------------------------------- */

static void *copied(struct chi_arena *arena, const void *from, size_t n, size_t size)
{
	void *to = chi_arena_alloc(arena, n * size);
	if (to == NULL) {
		bench_die("out of memory");
	}
	if (n > 0) {
		memcpy(to, from, n * size);
	}
	return to;
}

/* What the store has of the position, or invented evaluations, or both. */
static void fill_entry(struct chi_arena *arena, bool counts, bool evals, struct chi_entry *entry)
{
	struct chi_record stored;
	must(chi_get(client, &entry->key, &stored));
	struct chi_record *record = &entry->record;
	entry->found = true;
	record->chi2 = stored.chi2;
	if (counts) {
		record->counts = stored.counts;
		record->moves = copied(arena, stored.moves, stored.n_moves, sizeof(*stored.moves));
		record->n_moves = stored.n_moves;
		record->plies = copied(arena, stored.plies, stored.n_plies, sizeof(*stored.plies));
		record->n_plies = stored.n_plies;
	}
	if (evals) {
		struct chi_eval *made = chi_arena_array(arena, EVALS, sizeof(*made));
		chi_move *pv = chi_arena_array(arena, PV_MOVES, sizeof(*pv));
		if (made == NULL || pv == NULL || stored.n_moves == 0) {
			bench_die("no memory, or a position without moves");
		}
		for (size_t i = 0; i < PV_MOVES; i++) {
			pv[i] = stored.moves[i % stored.n_moves].move;
		}
		for (size_t i = 0; i < EVALS; i++) {
			made[i] = (struct chi_eval){.engine = "Stockfish 16.1",
						    .engine_len = strlen("Stockfish 16.1"),
						    .rank = (uint8_t)i,
						    .depth = 30,
						    .score = 31 - 17 * (int32_t)i,
						    .nodes = 123456789,
						    .date = 1700000000,
						    .pv = pv,
						    .n_pv = PV_MOVES};
		}
		record->evals = made;
		record->n_evals = EVALS;
	}
}

/* A response to a Get of the positions that most games came to, as a frame. */
static void make_response(bool counts, bool evals, struct chi_buffer *out)
{
	static struct chi_entry entries[ENTRIES];
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT,	  .chi2_max = CHI_CHI2_MAX,
					   .descending = true,	  .sort = CHI_SORT_GAMES,
					   .want = CHI_WANT_KEYS, .limit = ENTRIES};
	struct chi_arena arena;
	chi_arena_init(&arena, CHI_DECODE_BUDGET);
	n_keys = 0;
	scan_rows(&spec);
	for (size_t i = 0; i < ENTRIES; i++) {
		entries[i].key = keys[i % n_keys];
		fill_entry(&arena, counts, evals, &entries[i]);
	}
	const struct chi_got got = {.entries = entries, .n = ENTRIES};
	const struct chi_response response = {
		.id = 1, .last = true, .op = CHI_OP_GET, .body = &got};
	chi_buffer_init(out, CHI_FRAME_RESPONSE_MAX);
	if (chi_response_pack(&response, out) != CHI_OK) {
		bench_die("the response cannot be packed");
	}
	chi_arena_deinit(&arena);
}

static void unpack(bool counts, bool evals)
{
	static struct chi_buffer frame;
	static struct chi_arena arena;
	struct chi_response response;
	struct chi_fault fault;
	const uint8_t *body = NULL;
	size_t body_len = 0;
	size_t frame_len = 0;
	if (frame.len == 0) {
		make_response(counts, evals, &frame);
		chi_arena_init(&arena, CHI_DECODE_BUDGET);
	}
	chi_arena_reset(&arena);
	if (chi_frame_take(chi_buffer_bytes(&frame), frame.len, CHI_FRAME_RESPONSE_MAX, &body,
			   &body_len, &frame_len) != CHI_OK ||
	    chi_response_unpack(body, body_len, &arena, &response, &fault) != CHI_OK) {
		bench_die("the response cannot be unpacked");
	}
	seen += body_len + ((const struct chi_got *)response.body)->n;
}

static void call_unpack_counts(size_t i)
{
	(void)i;
	unpack(true, false);
}

static void call_unpack_evals(size_t i)
{
	(void)i;
	unpack(false, true);
}

static void call_unpack_both(size_t i)
{
	(void)i;
	unpack(true, true);
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
	{"put-delete", call_put_delete},
	{"explore", call_explore},
	{"explore-filter", call_explore_filter},
	{"explore-no-game", call_explore_no_game},
	{"info", call_info},
	{"stats", call_stats},
	{"stats-no-game", call_stats_no_game},
	{"twins", call_twins},
	{"names", call_names},
	{"count", call_count},
	{"game", call_game},
	{"scan-keys-open", call_scan_keys_open},
	{"scan-keys", call_scan_keys},
	{"scan-counts-open", call_scan_counts_open},
	{"scan-counts", call_scan_counts},
	{"scan-records-open", call_scan_records_open},
	{"scan-records", call_scan_records},
	{"scan-pattern", call_scan_pattern},
	{"games-texts-open", call_games_texts_open},
	{"games-texts", call_games_texts},
	{"games-pgn-open", call_games_pgn_open},
	{"games-pgn", call_games_pgn},
	{"unpack-counts", call_unpack_counts},
	{"unpack-evals", call_unpack_evals},
	{"unpack-both", call_unpack_both},
};

int main(int argc, char **argv)
{
	struct chi_fault fault;
	const struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
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
