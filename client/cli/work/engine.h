/* SPDX-License-Identifier: MIT */
/* A search of one position by an engine that runs as a child. It may lie, hang or die. */
#pragma once

#include "chistore/types.h"
#include "uci/child.h"
#include "uci/info.h"

#define ENGINE_LINES_MAX 32 /* a record has room for as many of others */

/* How far it is to search: one of the first three is not 0. */
struct engine_limits {
	uint64_t depth;
	uint64_t nodes;
	uint64_t movetime;    /* milliseconds */
	uint64_t patience_ms; /* beyond movetime, or of a search by depth or nodes: then it hangs */
	uint64_t lines;	      /* at most so many, 1..ENGINE_LINES_MAX */
};

/* Whether an evaluation of that depth and so many nodes is as far as is wanted. */
bool engine_enough(const struct engine_limits *limits, uint32_t depth, uint64_t nodes);

#define ENGINE_OPTIONS_MAX 1000 /* bytes of "Hash=64;Threads=1" */

enum engine_end {
	ENGINE_FOUND,	/* *out is what it said last */
	ENGINE_NOTHING, /* it answered without a line that can be believed */
	ENGINE_DIED,	/* the child is to be closed */
	ENGINE_HUNG,	/* the same */
	ENGINE_STOPPED, /* as `tick` wanted it */
};

/* What it found: lines[0] is the best, each begins with another move. */
struct engine_found {
	size_t n; /* 1 or more */
	struct chi_uci_info lines[ENGINE_LINES_MAX];
};

/* Called several times a second; false: the search is to end. */
typedef bool engine_tick(void *context);

enum engine_end engine_search(struct chi_child *child, const struct chi_key *key,
			      const struct engine_limits *limits, engine_tick *tick, void *context,
			      struct engine_found *out);

/*
 * Starts `command`, which is to give `lines` lines, sends "setoption" for each of
 * "Hash=64;Threads=1;Clear Hash" (NULL: none), and waits until it is ready. The fault says why not.
 */
CHI_MUSTUSE int engine_start(const char *command, const char *options, uint64_t lines,
			     struct chi_child **out, struct chi_fault *fault);

/* The lines as evaluations by that engine of today; they point into both. */
void engine_evals(const struct chi_child *child, const struct engine_found *found,
		  struct chi_eval evals[ENGINE_LINES_MAX]);
