/* SPDX-License-Identifier: MIT */
/*
 * bench_moves FILE.pgn: how small the moves of games become and how fast they are written and read
 * (chess/moves/movecode.h), and how fast games become PGN again. One thread; times are of the
 * processor, the best of some rounds. Prints a row for each figure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if BENCH_ZSTD
#include <zstd.h>
#endif

#include "bench/bench.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/moves/movecode.h"
#include "chess/pgn/pgn.h"
#include "chess/pgn/write.h"

#define ROUNDS 5
#define CHUNK  45 /* games compressed together: some 2 KiB */

struct game {
	size_t first; /* of its moves */
	size_t n;
	size_t bytes; /* where its bytes begin */
	size_t len;
	struct chi_position start;
};

/* All games of the file. */
struct all_games {
	struct game *games;
	size_t n;
	chi_move *moves;
	size_t n_moves;
	uint8_t *bytes;
	size_t n_bytes;
};

static void *grown(void *old, size_t n, size_t size)
{
	/* Doubled whenever `n` reaches a power of two. */
	if (n >= 1024 && (n & (n - 1)) != 0) {
		return old;
	}
	void *more = realloc(old, (n < 1024 ? 1024 : 2 * n) * size);
	if (more == NULL) {
		bench_die("out of memory");
	}
	return more;
}

static void keep(struct all_games *all, const struct chi_pgn_game *game)
{
	all->games = grown(all->games, all->n, sizeof(*all->games));
	all->games[all->n++] = (struct game){
		.first = all->n_moves, .n = game->n_plies, .start = game->positions[0]};
	for (size_t i = 0; i < game->n_plies; i++) {
		all->moves = grown(all->moves, all->n_moves, sizeof(*all->moves));
		all->moves[all->n_moves++] = game->moves[i];
	}
}

static void load(const char *path, struct all_games *all)
{
	static char piece[1 << 16];
	const struct chi_pgn_game *game = NULL;
	struct chi_pgn *pgn = NULL;
	size_t len = 1;
	FILE *file = fopen(path, "rb");
	if (file == NULL || chi_pgn_new(&pgn) != CHI_OK) {
		bench_die("cannot read '%s'", path);
	}
	while (len > 0) {
		len = fread(piece, 1, sizeof(piece), file);
		if (len == 0) {
			chi_pgn_finish(pgn);
		}
		size_t fed = 0;
		do {
			fed += len > 0 ? chi_pgn_feed(pgn, piece + fed, len - fed) : 0;
			while (chi_pgn_next(pgn, &game) == CHI_OK) {
				keep(all, game);
			}
		} while (fed < len);
	}
	chi_pgn_free(pgn);
	fclose(file);
	if (all->n_moves == 0) {
		bench_die("no moves in '%s'", path);
	}
	all->bytes = malloc(all->n_moves * CHI_MOVECODE_MAX);
	if (all->bytes == NULL) {
		bench_die("out of memory");
	}
}

static void encode(struct all_games *all)
{
	all->n_bytes = 0;
	for (size_t i = 0; i < all->n; i++) {
		struct game *game = &all->games[i];
		game->bytes = all->n_bytes;
		if (chi_movecode_encode(&game->start, all->moves + game->first, game->n,
					all->bytes + all->n_bytes, &game->len) != CHI_OK) {
			bench_die("game %zu is not encoded", i + 1);
		}
		all->n_bytes += game->len;
	}
}

/* Reads each game, and sees that it is the one that was written. */
static void replay(struct all_games *all)
{
	static chi_move moves[CHI_PGN_PLIES_MAX];
	for (size_t i = 0; i < all->n; i++) {
		const struct game *game = &all->games[i];
		if (chi_movecode_decode(&game->start, all->bytes + game->bytes, game->len, moves,
					game->n) != CHI_OK ||
		    memcmp(moves, all->moves + game->first, game->n * sizeof(*moves)) != 0) {
			bench_die("game %zu is read otherwise than it was written", i + 1);
		}
	}
}

static void set_start(struct chi_game *game, const struct chi_position *start)
{
	static struct chi_position initial;
	if (initial.kind[CHI_KING] == 0 &&
	    chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &initial, NULL) != CHI_OK) {
		bench_die("no initial position");
	}
	game->has_start = memcmp(start, &initial, sizeof(initial)) != 0;
	if (game->has_start) {
		chi_key_encode(start, &game->start);
	}
}

/* From bytes to PGN, as an export does it. */
static void export(struct all_games *all)
{
	static const struct chi_tag tags[] = {
		{"Event", 5, "World Cup", 9},
		{"Site", 4, "Khanty-Mansiysk", 15},
		{"Date", 4, "2011.09.01", 10},
		{"Round", 5, "3.1", 3},
		{"White", 5, "Carlsen, Magnus", 15},
		{"Black", 5, "Aronian, Levon", 14},
		{"WhiteElo", 8, "2823", 4},
		{"BlackElo", 8, "2807", 4},
		{"ECO", 3, "D38", 3},
	};
	static chi_move moves[CHI_PGN_PLIES_MAX];
	struct chi_buffer out;
	chi_buffer_init(&out, (size_t)1 << 30);
	for (size_t i = 0; i < all->n; i++) {
		const struct game *game = &all->games[i];
		struct chi_game output = {
			.head.result = CHI_RESULT_DRAW,
			.tags = tags,
			.n_tags = sizeof(tags) / sizeof(tags[0]),
			.moves = moves,
			.n_plies = game->n,
		};
		set_start(&output, &game->start);
		if (chi_movecode_decode(&game->start, all->bytes + game->bytes, game->len, moves,
					game->n) != CHI_OK ||
		    chi_pgn_write(&output, &out) != CHI_OK) {
			bench_die("game %zu is not written", i + 1);
		}
		if (out.len > (size_t)1 << 16) {
			chi_buffer_consume(&out, out.len);
		}
	}
	chi_buffer_deinit(&out);
}

/* The best of some rounds, nanoseconds. */
static double best(struct all_games *all, void (*work)(struct all_games *))
{
	double least = 0;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = bench_cpu();
		work(all);
		double ns = (double)(bench_cpu() - start);
		least = i == 0 || ns < least ? ns : least;
	}
	return least;
}

#if BENCH_ZSTD
static void print_compressed(const struct all_games *all, int level)
{
	size_t total = 0;
	for (size_t i = 0; i < all->n; i += CHUNK) {
		size_t from = all->games[i].bytes;
		size_t end = i + CHUNK < all->n ? all->games[i + CHUNK].bytes : all->n_bytes;
		size_t room = ZSTD_compressBound(end - from);
		void *out = malloc(room);
		size_t len = out == NULL ? 0
					 : ZSTD_compress(out, room, all->bytes + from, end - from,
							 level);
		if (out == NULL || ZSTD_isError(len)) {
			bench_die("compression failed");
		}
		total += len;
		free(out);
	}
	printf("zstd -%d, %d games a chunk\t%.4f\tbytes a ply\n", level, CHUNK,
	       (double)total / (double)all->n_moves);
}
#endif

int main(int argc, char **argv)
{
	struct all_games all = {0};
	if (argc != 2) {
		bench_die("usage: bench_moves FILE.pgn");
	}
	load(argv[1], &all);
	double plies = (double)all.n_moves;
	printf("games\t%zu\t\nplies\t%zu\t\n", all.n, all.n_moves);
	printf("encode\t%.1f\tns a ply\n", best(&all, encode) / plies);
	printf("encoded\t%.4f\tbytes a ply\n", (double)all.n_bytes / plies);
#if BENCH_ZSTD
	print_compressed(&all, 1);
	print_compressed(&all, 3);
#endif
	printf("replay\t%.1f\tmillion plies a second\n", plies * 1e3 / best(&all, replay));
	printf("to PGN\t%.0f\tgames a second\n", (double)all.n * 1e9 / best(&all, export));
	free(all.games);
	free(all.moves);
	free(all.bytes);
	return 0;
}
