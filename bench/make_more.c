/* SPDX-License-Identifier: MIT */
/*
 * make_more STORE GAMES.pgn COUNT SEED: prints COUNT positions more than the STORE of those games
 * holds, as CSV: each game is played on by chance from where it ended, all of them in turn, as
 * often as it takes. So a store grows to a size for which there are not games enough, with the
 * pieces that real games leave.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "bench/bench.h"
#include "bench/lists.h"
#include "bench/play.h"
#include "bench/records.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/pgn/pgn.h"

#define COUNT_MAX   1000000000
#define PLIES	    40 /* that a game is played on at a time */
#define RESULTS_MAX 3

static void take_record(void *context, const void *key, size_t key_len, const void *value,
			size_t value_len)
{
	struct bench_seen *seen = context;
	struct chi_key one = {.len = (uint8_t)key_len};
	(void)value;
	(void)value_len;
	if (key_len > CHI_KEY_MAX) {
		bench_die("a key of %zu bytes", key_len);
	}
	memcpy(one.bytes, key, key_len);
	(void)bench_seen_add(seen, &one);
}

struct ends {
	struct bench_list list;
	size_t capacity;
};

static void take_ends(struct chi_pgn *pgn, struct ends *ends)
{
	const struct chi_pgn_game *game;
	while (chi_pgn_next(pgn, &game) == CHI_OK) {
		struct chi_key key;
		chi_key_encode(&game->positions[game->n_plies], &key);
		bench_list_append(&ends->list, &ends->capacity, &key);
	}
}

/* The last position of each game. */
static void read_ends(const char *path, struct ends *ends)
{
	static char bytes[1 << 16];
	struct chi_pgn *pgn;
	size_t n;
	FILE *file = fopen(path, "rb");
	if (file == NULL || chi_pgn_new(&pgn) != CHI_OK) {
		bench_die("cannot read '%s'", path);
	}
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0) {
		for (size_t used = 0; used < n;) {
			used += chi_pgn_feed(pgn, bytes + used, n - used);
			take_ends(pgn, ends);
		}
	}
	chi_pgn_finish(pgn);
	take_ends(pgn, ends);
	chi_pgn_free(pgn);
	fclose(file);
}

/* One game's result, by chance. */
static void print_position(const struct chi_position *position, uint64_t *state)
{
	char fen[CHI_FEN_SIZE];
	uint64_t result = bench_random(state) % RESULTS_MAX;
	chi_fen_print(position, fen);
	printf("%s,%d,%d,%d\n", fen, result == 0, result == 1, result == 2);
}

/* Returns how many positions were printed, at most `most`. */
static uint64_t play_on(struct bench_seen *seen, const struct chi_key *end, uint64_t most,
			uint64_t *state)
{
	struct chi_position position;
	uint64_t printed = 0;
	if (chi_key_decode(end, &position, NULL) != CHI_OK) {
		bench_die("the end of a game cannot be read");
	}
	for (int ply = 0; ply < PLIES && printed < most; ply++) {
		struct chi_key key;
		struct chi_move_list list;
		struct chi_position next;
		chi_movegen_legal(&position, &list);
		if (list.n == 0) {
			break;
		}
		chi_position_play(&position, bench_draw_move(&position, &list, state), &next);
		position = next;
		chi_key_encode(&position, &key);
		if (bench_seen_add(seen, &key)) {
			print_position(&position, state);
			printed++;
		}
	}
	return printed;
}

static uint64_t number(const char *text, uint64_t most)
{
	uint64_t value = 0;
	if (chi_num_u64(text, strlen(text), most, &value) != CHI_OK) {
		bench_die("'%s' is not a number, or too large", text);
	}
	return value;
}

int main(int argc, char **argv)
{
	struct bench_seen seen = {0};
	struct ends ends = {0};
	if (argc != 5) {
		fprintf(stderr, "usage: make_more STORE GAMES.pgn COUNT SEED\n");
		return 2;
	}
	uint64_t count = number(argv[3], COUNT_MAX);
	uint64_t state = number(argv[4], UINT64_MAX);
	(void)bench_records_each(argv[1], "position", take_record, &seen);
	read_ends(argv[2], &ends);
	puts("fen,white,draws,black");
	for (uint64_t done = 0; done < count;) {
		uint64_t before = done;
		for (size_t i = 0; i < ends.list.n && done < count; i++) {
			done += play_on(&seen, &ends.list.keys[i], count - done, &state);
		}
		if (done == before) {
			bench_die("the games lead to no further position at %" PRIu64, done);
		}
	}
	bench_seen_free(&seen);
	bench_list_free(&ends.list);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		bench_die("standard output cannot be written");
	}
	return 0;
}
