/* SPDX-License-Identifier: MIT */
/*
 * The positions that a change matters to: those that have changed, and all stored ones from which
 * moves lead to them. No others can have another worth: their backed-up scores are good, and where
 * a move of the cone leads out of it, they stand for all that is beyond. So the cone's scores are
 * exactly what a run over the whole store would give.
 */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "propagate/graph.h"
#include "chistore.h"

struct chi_cone;

/* The client stays the caller's, and must not be in a scan during calls. `most`: positions.
 * `memory` as of chi_graph_new. -CHI_ENOMEM, -CHI_ETOOBIG. */
CHI_MUSTUSE int chi_cone_new(struct chi_client *client, uint64_t most, uint64_t memory,
			     struct chi_cone **out);
void chi_cone_free(struct chi_cone *cone); /* NULL is fine */

/* A position that was added, deleted, or has another direct score. CHI_NONE: the cone would have
 * more than `most`. -CHI_ENOMEM, -CHI_ETOOBIG. */
CHI_MUSTUSE int chi_cone_add(struct chi_cone *cone, const struct chi_key *key);

/* After the last: finds the positions before them. What chi_cone_add and chi_probe return. `cancel`
 * as of chi_backup_run, here and below. */
CHI_MUSTUSE int chi_cone_grow(struct chi_cone *cone, const volatile sig_atomic_t *cancel);

/* Then: works out their worths, to be asked for in the graph, which is the cone's. What
 * chi_get_many and chi_graph_run return. */
CHI_MUSTUSE int chi_cone_run(struct chi_cone *cone, const char *engine, unsigned decay,
			     const volatile sig_atomic_t *cancel, const struct chi_graph **out);

/* Its positions, some of which may not be stored any more. */
const struct chi_key *chi_cone_keys(const struct chi_cone *cone, size_t *n);
