/* SPDX-License-Identifier: MIT */
/* Probing as engines do it: single positions, many at once, and ahead of a search. */
#include "bench/bench_prober.h"

#include <stdlib.h>
#include <string.h>

#include "chess/key.h"

#define MANY	   32
#define HOLD_MS	   100
#define BOARDS_MAX 4096
/* How often the boards are gone through. */
#define BOARD_ROUNDS 100

static void must(const struct bench_prober *bench, int status, const char *what)
{
	if (status != CHI_OK) {
		bench_die("%s: %s (%s)", what, chi_strerror(status),
			  bench->prober != NULL ? chi_prober_error(bench->prober) : "");
	}
}

static struct chi_board board_of(const struct chi_position *position)
{
	return (struct chi_board){
		.white = position->colour[CHI_WHITE],
		.black = position->colour[CHI_BLACK],
		.pawns = position->kind[CHI_PAWN],
		.knights = position->kind[CHI_KNIGHT],
		.bishops = position->kind[CHI_BISHOP],
		.rooks = position->kind[CHI_ROOK],
		.queens = position->kind[CHI_QUEEN],
		.kings = position->kind[CHI_KING],
		.castling = position->castle,
		.en_passant = position->ep == CHI_NO_SQUARE ? -1 : (int8_t)position->ep,
		.black_to_move = position->side == CHI_BLACK,
	};
}

void bench_prober_open(struct chi_client *client, const struct bench_keys *keys,
		       struct bench_prober *out)
{
	*out = (struct bench_prober){0};
	/* Figures are wanted of a busy machine, too. */
	const struct chi_prober_options options = {CHI_PROBER_OPTIONS_INIT, .deadline_ms = 30000};
	struct chi_prober_options held = options;
	held.hold_ms = HOLD_MS;
	must(out, chi_prober_open(client, &options, &out->prober), "chi_prober_open");
	must(out, chi_prober_open(client, &held, &out->held), "chi_prober_open");
	bench_search_make(keys, &out->search);
	out->n_boards = keys->n < BOARDS_MAX ? keys->n : BOARDS_MAX;
	out->boards = calloc(out->n_boards, sizeof(*out->boards));
	if (out->boards == NULL) {
		bench_die("out of memory");
	}
	for (size_t i = 0; i < out->n_boards; i++) {
		struct chi_position position;
		must(out, chi_key_decode(&keys->games[i], &position, NULL), "chi_key_decode");
		out->boards[i] = board_of(&position);
	}
}

void bench_prober_close(struct bench_prober *bench)
{
	chi_prober_close(bench->prober);
	chi_prober_close(bench->held);
	bench_search_free(&bench->search);
	free(bench->boards);
}

static uint64_t sum_of(const struct chi_row *strength)
{
	return strength->chi2 + strength->counts.white;
}

static void probe_each(const struct bench_prober *bench, struct chi_prober *prober,
		       const struct chi_key *keys, size_t n, struct bench_result *out)
{
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < n; i++) {
		struct chi_row strength;
		must(bench, chi_prober_key(prober, &keys[i], &strength), "probe");
		out->sum += sum_of(&strength);
	}
	chi_prober_release(prober);
	out->ns = bench_cpu() - start;
	out->done = n;
}

static void probe_many(struct bench_prober *bench, const struct chi_key *keys, size_t n,
		       struct bench_result *out)
{
	struct chi_row strengths[MANY];
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < n; i += MANY) {
		size_t len = n - i < MANY ? n - i : MANY;
		must(bench, chi_prober_many(bench->prober, keys + i, len, strengths), "many");
		for (size_t j = 0; j < len; j++) {
			out->sum += sum_of(&strengths[j]);
		}
	}
	out->ns = bench_cpu() - start;
	out->done = n;
}

/* Those visited, one at a time. */
static void search(const struct bench_prober *bench, struct chi_prober *prober,
		   struct bench_result *out)
{
	const struct bench_search *list = &bench->search;
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < list->n; i++) {
		const struct bench_node *node = &list->nodes[i];
		for (size_t j = 0; j < node->visited; j++) {
			struct chi_row strength;
			must(bench, chi_prober_key(prober, &list->keys[node->first + j], &strength),
			     "probe");
			out->sum += strength.found;
		}
	}
	out->ns = bench_cpu() - start;
	out->done = list->visited;
}

/* All of a node's children prefetched, as far as they are kept; then those visited are collected.
 * The others' prefetches are paid for in vain. */
static void search_ahead(struct bench_prober *bench, struct bench_result *out)
{
	const struct bench_search *list = &bench->search;
	uint64_t tickets[CHI_PREFETCH_MAX];
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < list->n; i++) {
		const struct bench_node *node = &list->nodes[i];
		const struct chi_key *keys = &list->keys[node->first];
		size_t n = node->n < CHI_PREFETCH_MAX ? node->n : CHI_PREFETCH_MAX;
		must(bench, chi_prober_prefetch(bench->prober, keys, n, tickets), "prefetch");
		for (size_t j = 0; j < node->visited; j++) {
			struct chi_row strength;
			must(bench,
			     j < n ? chi_prober_collect(bench->prober, tickets[j], &strength)
				   : chi_prober_key(bench->prober, &keys[j], &strength),
			     "collect");
			out->sum += strength.found;
		}
	}
	out->ns = bench_cpu() - start;
	out->done = list->visited;
}

/* A window of prefetches slides over the list. */
static void slide(struct bench_prober *bench, const struct chi_key *keys, size_t n,
		  struct bench_result *out)
{
	uint64_t tickets[CHI_PREFETCH_MAX];
	uint64_t start = bench_cpu();
	for (size_t i = 0, asked = 0; i < n; i++) {
		struct chi_row strength;
		for (; asked < n && asked < i + MANY; asked++) {
			must(bench,
			     chi_prober_prefetch(bench->prober, &keys[asked], 1,
						 &tickets[asked % CHI_PREFETCH_MAX]),
			     "prefetch");
		}
		must(bench,
		     chi_prober_collect(bench->prober, tickets[i % CHI_PREFETCH_MAX], &strength),
		     "collect");
		out->sum += sum_of(&strength);
	}
	out->ns = bench_cpu() - start;
	out->done = n;
}

static void boards(struct bench_prober *bench, struct bench_result *out)
{
	uint64_t start = bench_cpu();
	for (unsigned round = 0; round < BOARD_ROUNDS; round++) {
		for (size_t i = 0; i < bench->n_boards; i++) {
			struct chi_key key;
			must(bench, chi_key_from_board(&bench->boards[i], &key, NULL), "board");
			out->sum += key.bytes[8];
		}
	}
	out->ns = bench_cpu() - start;
	out->done = BOARD_ROUNDS * bench->n_boards;
}

bool bench_prober_run(struct bench_prober *bench, const struct bench_keys *keys, const char *name,
		      struct bench_result *out)
{
	if (strcmp(name, "games") == 0) {
		probe_each(bench, bench->prober, keys->games, keys->n, out);
	} else if (strcmp(name, "random") == 0) {
		probe_each(bench, bench->prober, keys->random, keys->n, out);
	} else if (strcmp(name, "held-games") == 0) {
		probe_each(bench, bench->held, keys->games, keys->n, out);
	} else if (strcmp(name, "held-random") == 0) {
		probe_each(bench, bench->held, keys->random, keys->n, out);
	} else if (strcmp(name, "held-search") == 0) {
		search(bench, bench->held, out);
	} else if (strcmp(name, "many-games") == 0) {
		probe_many(bench, keys->games, keys->n, out);
	} else if (strcmp(name, "many-random") == 0) {
		probe_many(bench, keys->random, keys->n, out);
	} else if (strcmp(name, "search") == 0) {
		search(bench, bench->prober, out);
	} else if (strcmp(name, "ahead") == 0) {
		search_ahead(bench, out);
	} else if (strcmp(name, "slide-games") == 0) {
		slide(bench, keys->games, keys->n, out);
	} else if (strcmp(name, "slide-random") == 0) {
		slide(bench, keys->random, keys->n, out);
	} else if (strcmp(name, "boards") == 0) {
		boards(bench, out);
	} else {
		return false;
	}
	return true;
}
