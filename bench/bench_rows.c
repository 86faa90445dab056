/* SPDX-License-Identifier: MIT */
/*
 * bench_rows STORE LISTS: whether all ways to probe find the same. The positions of LISTS are asked
 * one at a time, 32 at once and ahead, as they are and in two ways made absent; without a guide,
 * with one from the first look-up on, and as it is used. Prints a hash over all rows and the time
 * for each, and ends with 1 if two that should be equal are not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/lists.h"
#include "chistore.h"
#include "store/pages/guide.h"

#define MANY  32
#define SEED  7
#define TRIES 200

enum ask {
	ASK_ONE,
	ASK_MANY,
	ASK_AHEAD,
	ASKS
};
enum change {
	CHANGE_NOTHING,
	CHANGE_PIECES,
	CHANGE_SQUARE,
	CHANGES
};

static const char *const ask_names[] = {"one", "32 at once", "ahead"};
static const char *const change_names[] = {"present", "pieces swapped", "a piece moved"};
static const uint32_t guides[] = {0, 1, 20000};

static void must(int status, const char *what)
{
	if (status != CHI_OK) {
		bench_die("%s: %s", what, chi_strerror(status));
	}
}

static unsigned piece_at(const struct chi_key *key, unsigned i)
{
	unsigned both = key->bytes[8 + i / 2];
	return i % 2 == 0 ? both >> 4 : both & 15;
}

static void put_piece(struct chi_key *key, unsigned i, unsigned piece)
{
	uint8_t *both = &key->bytes[8 + i / 2];
	*both = (uint8_t)(i % 2 == 0 ? (*both & 15) | piece << 4 : (*both & 0xf0) | piece);
}

/* The same squares, so that only the pieces tell. */
static void swap_pieces(struct chi_key *key, uint64_t *random)
{
	unsigned n = 2 * (key->len - 8u);
	for (unsigned i = 0; i < TRIES; i++) {
		unsigned a = (unsigned)(bench_random(random) % n);
		unsigned b = (unsigned)(bench_random(random) % n);
		unsigned first = piece_at(key, a);
		unsigned second = piece_at(key, b);
		/* 0 may stand for none, after the last piece. */
		if (first != second && first != 0 && second != 0) {
			put_piece(key, a, second);
			put_piece(key, b, first);
			return;
		}
	}
}

/* A piece on the next square. */
static void move_piece(struct chi_key *key, uint64_t *random)
{
	for (unsigned i = 0; i < TRIES; i++) {
		unsigned square = (unsigned)(bench_random(random) % 63);
		unsigned bits[2];
		for (unsigned j = 0; j < 2; j++) {
			bits[j] = key->bytes[(square + j) / 8] >> (7 - (square + j) % 8) & 1;
		}
		if (bits[0] != bits[1]) {
			for (unsigned j = 0; j < 2; j++) {
				key->bytes[(square + j) / 8] ^=
					(uint8_t)(1u << (7 - (square + j) % 8));
			}
			return;
		}
	}
}

static void change_all(struct chi_key *keys, size_t n, enum change change)
{
	uint64_t random = SEED;
	for (size_t i = 0; i < n && change != CHANGE_NOTHING; i++) {
		if (change == CHANGE_PIECES) {
			swap_pieces(&keys[i], &random);
		} else {
			move_piece(&keys[i], &random);
		}
	}
}

static void ask(struct chi_prober *prober, enum ask how, const struct chi_key *keys, size_t n,
		struct chi_row *rows)
{
	uint64_t tickets[MANY];
	switch (how) {
	case ASK_ONE:
		for (size_t i = 0; i < n; i++) {
			must(chi_prober_key(prober, &keys[i], &rows[i]), "probe");
		}
		break;
	case ASK_MANY:
		must(chi_prober_many(prober, keys, n, rows), "many");
		break;
	default:
		for (size_t i = 0; i < n; i++) {
			must(chi_prober_prefetch(prober, &keys[i], 1, &tickets[i]), "prefetch");
		}
		for (size_t i = 0; i < n; i++) {
			must(chi_prober_collect(prober, tickets[i], &rows[i]), "collect");
		}
	}
}

static uint64_t hash_row(uint64_t hash, const struct chi_row *row)
{
	const uint64_t words[] = {row->found,	     row->chi2,		row->has_eval,
				  row->is_mate,	     row->depth,	(uint32_t)row->score,
				  row->best,	     row->best_source,	row->counts.white,
				  row->counts.draws, row->counts.black, row->counts.other};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		hash = (hash ^ words[i]) * 1099511628211u;
	}
	return hash;
}

static uint64_t hash_all(struct chi_prober *prober, enum ask how, const struct chi_key *keys,
			 size_t n, const char *what)
{
	uint64_t hash = 14695981039346656037u;
	uint64_t ns = 0;
	size_t found = 0;
	for (size_t i = 0; i < n; i += MANY) {
		struct chi_row rows[MANY];
		size_t len = n - i < MANY ? n - i : MANY;
		uint64_t start = bench_cpu();
		ask(prober, how, keys + i, len, rows);
		ns += bench_cpu() - start;
		for (size_t j = 0; j < len; j++) {
			hash = hash_row(hash, &rows[j]);
			found += rows[j].found;
		}
	}
	printf("%s, %s: %zu of %zu found, hash %016" PRIx64 ", %.0f ns\n", what, ask_names[how],
	       found, n, hash, (double)ns / (double)n);
	return hash;
}

int main(int argc, char **argv)
{
	struct bench_keys lists;
	uint64_t hashes[CHANGES] = {0};
	bool equal = true;
	if (argc != 3) {
		fprintf(stderr, "usage: bench_rows STORE LISTS\n");
		return 2;
	}
	bench_keys_load(argv[2], &lists);
	for (size_t i = 0; i < CHANGES * sizeof(guides) / sizeof(guides[0]); i++) {
		struct chi_client *client;
		struct chi_prober *prober;
		enum change change = (enum change)(i % CHANGES);
		struct chi_key *keys = malloc(lists.n * sizeof(*keys));
		chi_guide_after = guides[i / CHANGES];
		must(chi_open(argv[1], NULL, &client, NULL), argv[1]);
		must(chi_prober_open(client, NULL, &prober), "chi_prober_open");
		if (keys == NULL) {
			bench_die("out of memory");
		}
		memcpy(keys, lists.random, lists.n * sizeof(*keys));
		change_all(keys, lists.n, change);
		printf("guide after %" PRIu32 " look-ups: ", chi_guide_after);
		for (int how = 0; how < ASKS; how++) {
			uint64_t hash = hash_all(prober, (enum ask)how, keys, lists.n,
						 change_names[change]);
			equal = equal && (hashes[change] == 0 || hashes[change] == hash);
			hashes[change] = hash;
		}
		free(keys);
		chi_prober_close(prober);
		chi_close(client);
	}
	bench_keys_free(&lists);
	return equal ? 0 : 1;
}
