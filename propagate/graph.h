/* SPDX-License-Identifier: MIT */
/*
 * Stored positions and the legal moves between them. First every position is added, then each is
 * linked: the positions after its legal moves are looked up together, in a table in memory, with 96
 * bits of a hash of each key. Then worths are backed up (propagate/backup.h) and asked for by key.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "propagate/backup.h"
#include "chistore/types.h"

struct chi_graph;

/* Takes room for `expected` positions; more may be added. -CHI_ENOMEM; -CHI_ETOOBIG: over `memory`,
 * in bytes, as below. */
CHI_MUSTUSE int chi_graph_new(uint64_t expected, uint64_t memory, struct chi_graph **out);
void chi_graph_free(struct chi_graph *graph); /* NULL is fine */

/* A position, once; `direct` and `first` as in struct chi_backup_node. -CHI_ENOMEM, -CHI_ETOOBIG.
 */
CHI_MUSTUSE int chi_graph_add(struct chi_graph *graph, const struct chi_key *key, chi_worth direct,
			      chi_move first);

/* A position that keeps its worth, and is not linked. */
CHI_MUSTUSE int chi_graph_fix(struct chi_graph *graph, const struct chi_key *key, chi_worth worth);

bool chi_graph_has(const struct chi_graph *graph, const struct chi_key *key);

/* Joins a position to those after its moves. A position without a legal move is mated or drawn,
 * whatever was said. CHI_NONE: it was not added, or is linked already. -CHI_EKEY, -CHI_ENOMEM,
 * -CHI_ETOOBIG. */
CHI_MUSTUSE int chi_graph_link(struct chi_graph *graph, const struct chi_key *key);

/* What a position without a legal move is worth; CHI_NONE: it has one, or no king. -CHI_EKEY. */
CHI_MUSTUSE int chi_worth_ended(const struct chi_key *key, chi_worth *out);

/* Prepares the answers; see chi_backup_run. -CHI_ENOMEM, -CHI_ETOOBIG. */
CHI_MUSTUSE int chi_graph_run(struct chi_graph *graph, unsigned decay,
			      const volatile sig_atomic_t *cancel);

struct chi_graph_answer {
	chi_worth worth; /* or CHI_WORTH_NONE */
	chi_move best;	 /* 0: not known */
	bool backed;	 /* the worth comes from a position after a move */
	bool linked;	 /* it has a worth, and so has some position after a move */
};

/* After chi_graph_run. CHI_NONE: it was not added. */
CHI_MUSTUSE int chi_graph_ask(const struct chi_graph *graph, const struct chi_key *key,
			      struct chi_graph_answer *out);

uint64_t chi_graph_positions(const struct chi_graph *graph);
uint64_t chi_graph_edges(const struct chi_graph *graph);
/* Bytes of memory it has. */
uint64_t chi_graph_held(const struct chi_graph *graph);
