/* SPDX-License-Identifier: MIT */
/* The operations on a prober, for bench_chistore. */
#pragma once

#include "bench/bench.h"
#include "chistore.h"

struct bench_prober {
	struct chi_prober *prober;
	struct chi_prober *held; /* has hold_ms */
	struct bench_search search;
	struct chi_board *boards; /* of some positions of the list */
	size_t n_boards;
};

/* Ends the program on failure. */
void bench_prober_open(struct chi_client *client, const struct bench_keys *keys,
		       struct bench_prober *out);
void bench_prober_close(struct bench_prober *prober);

/* One of: games, random (one position a call); held-games, held-random, held-search (with a
 * snapshot that is held); many-... (32 a call) and slide-... (prefetched 32 ahead) of both; search,
 * ahead (a search's positions, one at a time, and prefetched node by node); boards (to keys). False
 * if it is none. */
bool bench_prober_run(struct bench_prober *prober, const struct bench_keys *keys, const char *name,
		      struct bench_result *out);
