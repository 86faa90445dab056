/* SPDX-License-Identifier: MIT */
/*
 * bench_pattern GAMES.pgn [COUNT]: how many positions a second a pattern looks at, on one core.
 * The positions are those of the first games, COUNT at most (1,000,000), once in the order of keys,
 * each once, as a walk over a store meets them, and once shuffled, which no branch prediction
 * survives. Keys are decoded already. Prints a line for each pattern: millions of positions
 * a second in both orders, and how many match.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "bench/bench.h"
#include "bench/lists.h"
#include "chess/pattern/pattern.h"

#define COUNT_MAX     100000000
#define DEFAULT_COUNT 1000000
#define ROUNDS	      5 /* of which the best counts */

static const struct {
	const char *name;
	struct chi_pattern_spec spec;
} patterns[] = {
	{"two squares", {.has = "Nd5 kg8"}},
	{"two squares, one empty, one not", {.has = "Nd5 kg8 .e6 !Pc4"}},
	{"two squares, mirror, either colour",
	 {.has = "Nd5 kg8", .mirror = true, .either_colour = true}},
	{"isolated pawn", {.has = "Pd4 !Pc* !Pe* p**"}},
	{"rook on a file", {.has = "Rd* !Pd*"}},
	{"part of a FEN", {.fen = "8/8/3p4/2pPp3/2P1P3/8/8/8"}},
	{"all pawns", {.pawns = "a2 b2 c4 e4 f2 g2 h2 / a7 b7 d6 e7 f7 g7 h7"}},
	{"signature", {.material = "KRPvKR"}},
	{"numbers", {.material = "P=5..8 q=1"}},
	{"balance", {.balance = "R v B"}},
	{"balance, either colour", {.balance = "Q v RR", .either_colour = true}},
	{"side to move", {.side = CHI_SIDE_BLACK}},
};

static int compare_keys(const void *a, const void *b)
{
	const struct chi_key *first = a;
	const struct chi_key *second = b;
	return memcmp(first->bytes, second->bytes, CHI_KEY_MAX);
}

/* In order of keys, each once. */
static void sort_keys(struct bench_list *list)
{
	size_t n = 0;
	qsort(list->keys, list->n, sizeof(*list->keys), compare_keys);
	for (size_t i = 0; i < list->n; i++) {
		if (n == 0 || compare_keys(&list->keys[n - 1], &list->keys[i]) != 0) {
			list->keys[n++] = list->keys[i];
		}
	}
	list->n = n;
}

/* Millions of positions a second. */
static double measure(const struct chi_pattern *pattern, const struct bench_list *list,
		      uint64_t *found)
{
	uint64_t best = UINT64_MAX;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = bench_cpu();
		*found = 0;
		for (size_t i = 0; i < list->n; i++) {
			*found += chi_pattern_matches(pattern, list->keys[i].bytes);
		}
		uint64_t ns = bench_cpu() - start;
		best = ns < best ? ns : best;
	}
	return (double)list->n * 1000 / (double)(best > 0 ? best : 1);
}

static void measure_all(const struct bench_list *sorted, const struct bench_list *shuffled)
{
	static struct chi_pattern pattern;
	printf("%zu positions\tsorted\tshuffled\tmatch\n", sorted->n);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct chi_fault fault = {""};
		uint64_t found = 0;
		if (chi_pattern_compile(&patterns[i].spec, &pattern, &fault) != CHI_OK) {
			bench_die("%s: %s", patterns[i].name, fault.text);
		}
		double in_order = measure(&pattern, sorted, &found);
		double at_random = measure(&pattern, shuffled, &found);
		printf("%s\t%.1f\t%.1f\t%" PRIu64 "\n", patterns[i].name, in_order, at_random,
		       found);
	}
}

int main(int argc, char **argv)
{
	uint64_t most = DEFAULT_COUNT;
	struct bench_list sorted = {0};
	struct bench_list shuffled = {0};
	size_t capacity = 0;
	if (argc < 2 || argc > 3 ||
	    (argc == 3 && chi_num_u64(argv[2], strlen(argv[2]), COUNT_MAX, &most) != CHI_OK)) {
		bench_die("usage: bench_pattern GAMES.pgn [COUNT]");
	}
	FILE *file = fopen(argv[1], "rb");
	if (file == NULL) {
		bench_die("cannot open '%s'", argv[1]);
	}
	bench_list_read_pgn(file, (size_t)most, &sorted, &capacity);
	fclose(file);
	sort_keys(&sorted);
	capacity = 0;
	for (size_t i = 0; i < sorted.n; i++) {
		bench_list_append(&shuffled, &capacity, &sorted.keys[i]);
	}
	bench_list_shuffle(&shuffled);
	measure_all(&sorted, &shuffled);
	bench_list_free(&sorted);
	bench_list_free(&shuffled);
	return 0;
}
