/* SPDX-License-Identifier: MIT */
/* A search of one position by an engine that runs as a child. It may lie, hang or die. */
#pragma once

#include "chistore/types.h"
#include "uci/child.h"
#include "uci/info.h"

/* How far it is to search: one of the first three is not 0. */
struct engine_limits {
	uint64_t depth;
	uint64_t nodes;
	uint64_t movetime;    /* milliseconds */
	uint64_t patience_ms; /* beyond movetime, or of a search by depth or nodes: then it hangs */
};

enum engine_end {
	ENGINE_FOUND,	/* *out is what it said last */
	ENGINE_NOTHING, /* it answered without a line that can be believed */
	ENGINE_DIED,	/* the child is to be closed */
	ENGINE_HUNG,	/* the same */
	ENGINE_STOPPED, /* as `tick` wanted it */
};

/* Called several times a second; false: the search is to end. */
typedef bool engine_tick(void *context);

enum engine_end engine_search(struct chi_child *child, const struct chi_key *key,
			      const struct engine_limits *limits, engine_tick *tick, void *context,
			      struct chi_uci_info *out);

/* Sends "setoption" for each of "Hash=64;Threads=1", and waits until it is ready; false: it is
 * not. */
bool engine_set_options(struct chi_child *child, const char *options);
