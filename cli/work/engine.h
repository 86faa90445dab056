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

/* Whether an evaluation is of a search as far as is wanted; of a mate it always is, as engines may
 * end their search when they see one. */
bool engine_enough(const struct engine_limits *limits, const struct chi_eval *eval);

#define ENGINE_OPTIONS_MAX 1000 /* bytes of the options' text */

/* What it found: lines[0] is the best, each begins with another move. */
struct engine_found {
	size_t n; /* 1 or more */
	struct chi_uci_info lines[ENGINE_LINES_MAX];
};

/* An engine and what it is to do; zero what is not given. */
struct engine {
	const char *command;
	const char *options; /* "Hash=64;Threads=1;Clear Hash", or NULL */
	struct engine_limits limits;
	struct chi_child *child; /* NULL: it does not run now */
	bool chess960;		 /* it was told so */
	bool came_up;		 /* it has been ready once */
	struct engine_found found;
};

void engine_close(struct engine *engine);

/* Called several times a second; false: the work is to end. */
typedef bool engine_tick(void *context);

/*
 * Sees to it that it runs and is ready. CHI_NONE: `tick` wanted an end. -CHI_EINVAL (it cannot give
 * so many lines) and others, and the fault says why; one that was ready before is tried again
 * first.
 */
CHI_MUSTUSE int engine_need(struct engine *engine, engine_tick *tick, void *context,
			    struct chi_fault *fault);

enum engine_end {
	ENGINE_FOUND,	/* engine->found has it */
	ENGINE_NOTHING, /* no answer that can be believed, in as many tries as there are */
	ENGINE_ABSENT,	/* it does not start again, and the fault says why */
	ENGINE_STOPPED, /* as `tick` wanted it */
};

/* One search. An engine that dies of it is started again; one that hangs has had its time. */
enum engine_end engine_search(struct engine *engine, const struct chi_key *key, engine_tick *tick,
			      void *context, struct chi_fault *fault);

/* The lines as evaluations by that engine of today; they point into it. Returns how many. */
size_t engine_evals(const struct engine *engine, struct chi_eval evals[ENGINE_LINES_MAX]);
