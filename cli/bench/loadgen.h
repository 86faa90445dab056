/* SPDX-License-Identifier: MIT */
/*
 * Clients that send requests and take times: each has a thread and a connection of its own. A
 * latency is the time from sending a request to having its answer; at a given rate it counts from
 * the moment at which the request was due, so that a server that stalls does not make the requests
 * vanish that it kept from being sent.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/bench/histogram.h"
#include "cli/bench/synthetic.h"
#include "cli/bench/mix.h"
#include "cli/bench/sample.h"

/* Bounds of a plan, as the options have them. */
#define TRAFFIC_CLIENTS_MAX  10000
#define TRAFFIC_PIPELINE_MAX 64	     /* what a server takes unanswered */
#define TRAFFIC_BATCH_MAX    4096    /* positions of a batch */
#define TRAFFIC_PUT_MAX	     10000   /* positions of a put */
#define TRAFFIC_ROWS_MAX     1000000 /* rows of a scan */

/* What is to be sent; the same for all clients, and not changed while they run. */
struct loadgen_plan {
	struct mix mix;
	uint64_t clients;
	uint64_t pipeline; /* requests of a client that may be unanswered, scans and so on aside */
	uint64_t seconds;  /* measured; 0: until `requests` are done */
	uint64_t requests; /* of all clients together, measured; 0: until the time is over */
	uint64_t warmup;   /* seconds before that are not counted */
	uint64_t rate;	   /* requests a second of all clients together; 0: as fast as answered */
	uint64_t batch;
	uint64_t rows;
	uint64_t put_size;
	uint64_t seed;
	bool listed; /* positions in the sample's order, each client from its own part on */
	enum chi_durability durability;
	struct position_sample sample;
	struct synthetic synthetic;
};

/* In place of a status: the request was due, and its time was over before it could be sent. */
#define TRAFFIC_UNSENT	 CHI_ERROR_COUNT
#define TRAFFIC_STATUSES (CHI_ERROR_COUNT + 1)

/* Of one kind of request. */
struct loadgen_failures {
	uint64_t counts[TRAFFIC_STATUSES]; /* by status, without its sign */
	struct chi_fault first[TRAFFIC_STATUSES];
};

/* Of one kind of request, and one client. */
struct loadgen_count {
	struct histogram latency;   /* nanoseconds, of requests that were answered */
	_Atomic uint64_t positions; /* in these */
};

struct loadgen_client;

struct load {
	struct loadgen_plan plan;
	struct loadgen_client *clients; /* as many as the plan says */
	size_t opened;			/* of them, with a connection */
	size_t started;			/* of them, with a thread */
	pthread_mutex_t mutex;		/* holds all below, as far as it is not atomic */
	pthread_cond_t changed;
	size_t running;	  /* threads not ended yet */
	uint64_t start;	  /* nanoseconds; measuring begins here; 0: not known yet */
	uint64_t end;	  /* sending ends here, UINT64_MAX: not by the clock */
	atomic_bool stop; /* threads end after the answers that they wait for */
	struct loadgen_failures failures[MIX_KINDS];
};

/* `plan`, whose sample becomes the load's. -CHI_ENOMEM. */
CHI_MUSTUSE int loadgen_new(const struct loadgen_plan *plan, struct load **out);

/* Only when no thread is running. NULL is fine. */
void loadgen_free(struct load *load);

/*
 * Opens a connection for each client. The first of them is cli->client, which stays its owner's.
 * Says what is wrong and returns an exit code; stops early when cli_stop is set.
 */
int loadgen_connect(struct cli *cli, struct load *load);

/* Sends one request of each kind in the mix, uncounted, as the first client. *kind: the one that
 * failed, with its text in chi_error. */
CHI_MUSTUSE int loadgen_try(struct load *load, enum mix_kind *kind);

/* Starts all threads; CHI_OK, or -CHI_EBUSY: not so many, and those that were made have ended. */
CHI_MUSTUSE int loadgen_start(struct load *load);

/* Waits until all threads have ended, or so many milliseconds; true if they have. */
bool loadgen_wait(struct load *load, unsigned ms);

/* Of all clients together. */
struct loadgen_total {
	uint64_t done;	  /* requests answered or failed, uncounted ones too */
	uint64_t elapsed; /* nanoseconds, from the start of measuring to the last answer */
	uint64_t lost;	  /* clients without a connection */
	uint64_t window;  /* the least number of requests that one was allowed to have unanswered */
};

/* While threads run, too, as the next. */
void loadgen_total(const struct load *load, struct loadgen_total *out);

/* Adds up what was counted for a kind, from all clients. */
void loadgen_collect(const struct load *load, enum mix_kind kind, struct loadgen_count *out);

/*
 * Deletes what the puts may have stored, over the first client's connection; threads have ended.
 * *removed: positions that were there. `shown` reports the progress.
 */
struct progress;
CHI_MUSTUSE int loadgen_clean(struct load *load, struct progress *shown, uint64_t *removed);

/* Prints the table on standard output and the failures on standard error. Threads may still run.
 * *answered, *failed: requests measured. -CHI_ENOMEM. */
CHI_MUSTUSE int measured_print(const struct cli *cli, struct load *load, uint64_t *answered,
			       uint64_t *failed);
