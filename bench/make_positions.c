/* SPDX-License-Identifier: MIT */
/*
 * make_positions COUNT [SEED]: prints COUNT different positions as CSV, the records of every
 * measurement. They come from random legal games, so that they are in the file as a program
 * that follows games would ask for them: each a move after the one before. The moves are drawn
 * with a leaning towards captures, so that the pieces thin out as they do between players.
 *
 * The statistic is the control statistic, and most positions have been seen in one game only, as
 * in collections of real games; so record sizes and the spread over the bands are real ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "bench/bench.h"
#include "bench/play.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/statistic.h"

#define DEFAULT_SEED 19980815
#define COUNT_MAX    50000000
#define PLIES_MAX    100 /* of a game; longer ones would fill the store with bare endings */
#define START	     "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

/* 39 of 40 positions belong to one game; the others to up to 200. */
static void draw_counts(uint64_t *state, uint64_t counts[3])
{
	uint64_t games = bench_random(state) % 40 == 0 ? 2 + bench_random(state) % 199 : 1;
	memset(counts, 0, 3 * sizeof(*counts));
	if (games == 1) {
		counts[bench_random(state) % 3] = 1;
		return;
	}
	counts[0] = bench_random(state) % (games + 1);
	counts[1] = bench_random(state) % (games - counts[0] + 1);
	counts[2] = games - counts[0] - counts[1];
}

static void print_position(const struct chi_position *position, uint64_t *state)
{
	char fen[CHI_FEN_SIZE];
	char chi2[CHI_CHI2_TEXT_SIZE];
	uint64_t counts[3];
	chi_fen_print(position, fen);
	chi_chi2_print(chi_statistic_control(position), chi2);
	draw_counts(state, counts);
	printf("%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", fen, chi2, counts[0], counts[1],
	       counts[2]);
}

/* Plays one game; returns how many positions were printed, at most `most`. */
static uint64_t play_game(struct bench_seen *seen, uint64_t most, uint64_t *state)
{
	struct chi_position position;
	uint64_t printed = 0;
	if (chi_fen_parse(START, strlen(START), &position, NULL) != CHI_OK) {
		bench_die("the initial position is refused");
	}
	for (int ply = 0; ply < PLIES_MAX && printed < most; ply++) {
		struct chi_key key;
		struct chi_move_list list;
		struct chi_position next;
		chi_key_encode(&position, &key);
		if (bench_seen_add(seen, &key)) {
			print_position(&position, state);
			printed++;
		}
		chi_movegen_legal(&position, &list);
		if (list.n == 0) {
			break;
		}
		chi_position_play(&position, bench_draw_move(&position, &list, state), &next);
		position = next;
	}
	return printed;
}

int main(int argc, char **argv)
{
	uint64_t count = 0;
	uint64_t state = DEFAULT_SEED;
	struct bench_seen seen = {0};
	if (argc < 2 || argc > 3 ||
	    chi_num_u64(argv[1], strlen(argv[1]), COUNT_MAX, &count) != CHI_OK ||
	    (argc == 3 && chi_num_u64(argv[2], strlen(argv[2]), UINT64_MAX, &state) != CHI_OK)) {
		fprintf(stderr, "usage: make_positions COUNT [SEED]\n");
		return 2;
	}
	puts("fen,chi2,white,draws,black");
	for (uint64_t done = 0; done < count;) {
		done += play_game(&seen, count - done, &state);
	}
	bench_seen_free(&seen);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		bench_die("standard output cannot be written");
	}
	return 0;
}
