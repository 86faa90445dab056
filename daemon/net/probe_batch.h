/* SPDX-License-Identifier: MIT */
/*
 * Probes of one turn, gathered: those of all clients that were ready are looked up together, so
 * that their waits for memory overlap, and only then answered. A probe for one position, alone,
 * is one that waits; fifty of them from fifty clients are a batch.
 *
 * Between turns nothing is gathered. A connection that is dropped meanwhile stays until the turn's
 * end, and answering it is harmless.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_conn;
struct chi_served;
struct chi_worker;

/* Once so much is gathered it is answered: longer batches are no faster, and answers that wait
 * are answers that a client's limits do not see. */
#define CHI_PROBE_BATCH_KEYS	 256
#define CHI_PROBE_BATCH_REQUESTS 256

struct chi_batched_probe {
	struct chi_conn *conn;
	uint64_t id;
	uint32_t n; /* keys */
};

struct chi_probe_batch {
	struct chi_served *served; /* which all probes gathered ask */
	struct chi_key *keys;	   /* room for CHI_PROBE_BATCH_KEYS and one more request's */
	struct chi_row *rows;	   /* as many */
	size_t n_keys;
	struct chi_batched_probe requests[CHI_PROBE_BATCH_REQUESTS];
	size_t n_requests;
};

CHI_MUSTUSE int chi_probe_batch_init(struct chi_probe_batch *probe_batch);
void chi_probe_batch_deinit(struct chi_probe_batch *probe_batch);

/* The quick way: takes the body of a frame if it is a probe in its plain form and nothing stands
 * against answering it. False: it has to go the usual way. */
CHI_MUSTUSE bool chi_probe_batch_frame(struct chi_conn *conn, const uint8_t *body, size_t len);

/* A probe that came the usual way, checked; `n` is at most CHI_PROBE_MAX. */
void chi_probe_batch_add(struct chi_conn *conn, uint64_t id, struct chi_served *served,
			 const struct chi_key *keys, size_t n);

/* Looks up and answers what is gathered. */
void chi_probe_batch_answer(struct chi_worker *worker);
