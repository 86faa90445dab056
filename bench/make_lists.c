/* SPDX-License-Identifier: MIT */
/*
 * make_lists STORE GAMES FOLDER COUNT: writes the orders that all programs are asked in, each of
 * at most COUNT positions:
 *
 *   games.keys   as games go, each position a move after the last: those of GAMES, a file of PGN
 *                or the CSV of make_positions (.csv)
 *   random.keys  positions of the store, shuffled
 *   search.keys  as a search visits them: a small alpha-beta over all legal moves from positions
 *                of the games. Most of them are in no store, as it is when an engine asks.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "bench/bench.h"
#include "bench/lists.h"
#include "bench/records.h"
#include "chess/key.h"
#include "chess/movegen.h"

#define COUNT_MAX    100000000
#define DEPTH	     3	   /* of the search: three plies, and captures are not followed further */
#define VISITS_MAX   20000 /* of one root, or the initial moves would fill the list */
#define SCORE_MAX    100000
#define ROOTS_WANTED 2000 /* spread over the games */

struct growing {
	struct bench_list list;
	size_t capacity;
	size_t most;
};

static bool is_full(const struct growing *to)
{
	return to->list.n >= to->most;
}

static void append(struct growing *to, const struct chi_key *key)
{
	if (!is_full(to)) {
		bench_list_append(&to->list, &to->capacity, key);
	}
}

static void append_position(struct growing *to, const struct chi_position *position)
{
	struct chi_key key;
	chi_key_encode(position, &key);
	append(to, &key);
}

/* ---- The order of games -------------------------------------------------------------------- */

/* The first column of the lines after the header. */
static void read_csv(FILE *file, struct growing *to)
{
	char line[512];
	struct chi_fault fault = {""};
	if (fgets(line, sizeof(line), file) == NULL || strncmp(line, "fen,", 4) != 0) {
		bench_die("the file does not begin with the column fen");
	}
	while (!is_full(to) && fgets(line, sizeof(line), file) != NULL) {
		struct chi_key key;
		if (chi_key_from_fen(line, strcspn(line, ","), &key, &fault) != CHI_OK) {
			bench_die("position %zu: %s", to->list.n + 1, fault.text);
		}
		append(to, &key);
	}
}

static void read_games(const char *path, struct growing *to)
{
	size_t len = strlen(path);
	FILE *file = fopen(path, "rb");
	if (file == NULL) {
		bench_die("cannot open '%s'", path);
	}
	if (len > 4 && strcmp(path + len - 4, ".csv") == 0) {
		read_csv(file, to);
	} else {
		bench_list_read_pgn(file, to->most, &to->list, &to->capacity);
	}
	fclose(file);
	if (to->list.n == 0) {
		bench_die("'%s' holds no position", path);
	}
}

/* ---- The random order ---------------------------------------------------------------------- */

static void take_record(void *context, const void *key, size_t key_len, const void *value,
			size_t value_len)
{
	struct growing *to = context;
	struct chi_key one = {.len = (uint8_t)key_len};
	(void)value;
	(void)value_len;
	if (key_len > CHI_KEY_MAX) {
		bench_die("a key of %zu bytes", key_len);
	}
	memcpy(one.bytes, key, key_len);
	append(to, &one);
}

/* ---- The order of a search ----------------------------------------------------------------- */

static int material(const struct chi_position *position)
{
	static const int worth[CHI_KINDS] = {100, 300, 300, 500, 900, 0};
	int sum = 0;
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		int own = __builtin_popcountll(chi_position_pieces(position, position->side, kind));
		int other = __builtin_popcountll(
			chi_position_pieces(position, position->side ^ 1, kind));
		sum += (own - other) * worth[kind];
	}
	return sum;
}

/* Captures first, as every engine has it: it decides which positions are never looked at. */
static void order_moves(const struct chi_position *position, struct chi_move_list *list)
{
	uint64_t enemy = position->colour[position->side ^ 1];
	size_t front = 0;
	for (size_t i = 0; i < list->n; i++) {
		chi_move move = list->moves[i];
		if ((enemy & chi_bit(chi_move_to(move))) != 0) {
			list->moves[i] = list->moves[front];
			list->moves[front++] = move;
		}
	}
}

static int search(const struct chi_position *position, int depth, int alpha, int beta,
		  struct growing *to)
{
	struct chi_move_list list;
	append_position(to, position);
	if (depth == 0 || is_full(to)) {
		return material(position);
	}
	chi_movegen_legal(position, &list);
	if (list.n == 0) {
		return chi_position_in_check(position, position->side) ? -SCORE_MAX : 0;
	}
	order_moves(position, &list);
	for (size_t i = 0; i < list.n && alpha < beta; i++) {
		struct chi_position next;
		chi_position_play(position, list.moves[i], &next);
		int score = -search(&next, depth - 1, -beta, -alpha, to);
		alpha = score > alpha ? score : alpha;
	}
	return alpha;
}

static void search_all(const struct bench_list *games, struct growing *to)
{
	size_t most = to->most;
	size_t step = games->n / ROOTS_WANTED + 1;
	for (size_t i = 0; i < games->n && to->list.n < most; i += step) {
		struct chi_position root;
		if (chi_key_decode(&games->keys[i], &root, NULL) != CHI_OK) {
			bench_die("position %zu of the games cannot be read", i);
		}
		size_t bound = to->list.n + VISITS_MAX;
		to->most = bound < most ? bound : most; /* for this root */
		(void)search(&root, DEPTH, -2 * SCORE_MAX, 2 * SCORE_MAX, to);
	}
}

static void finish(const char *folder, const char *name, struct growing *list)
{
	bench_list_save(folder, name, &list->list);
	printf("%s\t%zu\n", name, list->list.n);
}

int main(int argc, char **argv)
{
	uint64_t most = 0;
	if (argc != 5 || chi_num_u64(argv[4], strlen(argv[4]), COUNT_MAX, &most) != CHI_OK) {
		fprintf(stderr, "usage: make_lists STORE GAMES FOLDER COUNT\n");
		return 2;
	}
	struct growing games = {.most = (size_t)most};
	struct growing visited = {.most = (size_t)most};
	struct growing stored = {.most = SIZE_MAX};
	read_games(argv[2], &games);
	search_all(&games.list, &visited);
	(void)bench_records_each(argv[1], "position", take_record, &stored);
	bench_list_shuffle(&stored.list);
	stored.list.n = stored.list.n < most ? stored.list.n : (size_t)most;
	finish(argv[3], "games", &games);
	finish(argv[3], "search", &visited);
	finish(argv[3], "random", &stored);
	bench_list_free(&games.list);
	bench_list_free(&visited.list);
	bench_list_free(&stored.list);
	return 0;
}
