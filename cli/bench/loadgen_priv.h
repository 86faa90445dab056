/* SPDX-License-Identifier: MIT */
/* One client of a bench, for the files that make up loadgen.h. */
#pragma once

#include "cli/bench/loadgen.h"

/* A request that is on its way. */
struct loadgen_request {
	uint64_t id; /* in a pipeline */
	enum mix_kind kind;
	uint64_t since; /* nanoseconds: latency counts from here */
	uint64_t positions;
	bool counted; /* measured: the warm-up is over */
};

/* Its thread's alone while that runs, but for what is atomic. */
struct loadgen_client {
	struct load *load;
	uint32_t number;
	pthread_t thread;
	struct chi_client *client;
	struct rng rng;
	size_t at;		/* in the sample, if it is asked in its order */
	uint64_t due;		/* requests of the client's schedule so far */
	uint64_t now;		/* as it was last looked at */
	uint64_t quota;		/* counted requests still to be sent; UINT64_MAX: any number */
	uint64_t failing_since; /* the connection is lost since then; 0: it is not */
	uint64_t pause;		/* nanoseconds after the next failure */
	_Atomic uint64_t done;
	_Atomic uint64_t ended;	 /* time of the last answer */
	_Atomic uint64_t made;	 /* positions made up for puts so far */
	_Atomic uint64_t lost;	 /* 1: the connection is */
	_Atomic uint64_t window; /* requests that may be unanswered */
	/* Those that are. */
	struct loadgen_request queue[TRAFFIC_PIPELINE_MAX];
	size_t queued;
	/* The request that is prepared: what it asks, and room for the answer. */
	struct chi_key *keys;
	struct chi_row *rows;
	struct chi_put_entry *puts;
	struct chi_scan_spec spec;
	struct loadgen_count *counts[MIX_KINDS]; /* NULL: not in the mix */
};

/* Prepares a request of a kind: draws its positions. Returns how many there are (of a scan: the
 * most rows). */
size_t loadgen_prepare(struct loadgen_client *client, enum mix_kind kind);

/* Sends the prepared request and waits for its answer. *positions: of a scan, the rows it had. */
CHI_MUSTUSE int loadgen_ask(struct loadgen_client *client, enum mix_kind kind, size_t n,
			    uint64_t *positions);

/* The thread's function: waits for the start, sends until the end. */
void *loadgen_run(void *client);
