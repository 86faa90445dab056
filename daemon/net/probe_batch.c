/* SPDX-License-Identifier: MIT */
/* Keys are decoded where the look-ups find them, and rows encoded where they leave them: between
 * the input buffer and the output buffer nothing is allocated and little copied. */
#include "daemon/net/net.h"

#include <string.h>

#include "base/clock.h"
#include "daemon/net/server.h"
#include "ops/answer.h"
#include "proto/probe.h"
#include "store/store.h"

/* What no longer fits, or is asked of another store, waits for the batch before it. */
static void make_batch_room(struct chi_worker *worker, const struct chi_served *served)
{
	const struct chi_probe_batch *probe_batch = &worker->probe_batch;
	if (probe_batch->n_requests > 0 &&
	    (probe_batch->served != served || probe_batch->n_keys >= CHI_PROBE_BATCH_KEYS ||
	     probe_batch->n_requests == CHI_PROBE_BATCH_REQUESTS)) {
		chi_probe_batch_answer(worker);
	}
}

/* The keys are after those gathered already. */
static void take_request(struct chi_conn *conn, uint64_t id, struct chi_served *served, size_t n)
{
	struct chi_probe_batch *probe_batch = &conn->worker->probe_batch;
	probe_batch->served = served;
	probe_batch->requests[probe_batch->n_requests++] =
		(struct chi_batched_probe){conn, id, (uint32_t)n};
	probe_batch->n_keys += n;
	conn->batched = true;
}

/* The checks are those of the usual way (dispatch.c), which also says what is wrong. */
bool chi_probe_batch_frame(struct chi_conn *conn, const uint8_t *body, size_t len)
{
	struct chi_worker *worker = conn->worker;
	struct chi_probe_batch *probe_batch = &worker->probe_batch;
	struct chi_probe_answer probe;
	if (conn->state != CHI_CONN_OPEN || chi_server_is_full(worker->server)) {
		return false;
	}
	make_batch_room(worker, probe_batch->served);
	if (!chi_probe_read(body, len, probe_batch->keys + probe_batch->n_keys, &probe) ||
	    chi_call_find(conn, probe.id) != NULL) {
		return false;
	}
	struct chi_served *served = chi_server_find(worker->server, probe.store, probe.store_len);
	if (served == NULL) {
		return false;
	}
	if (probe_batch->n_requests > 0 && probe_batch->served != served) {
		const struct chi_key *keys = probe_batch->keys + probe_batch->n_keys;
		chi_probe_batch_answer(worker);
		memmove(probe_batch->keys, keys, probe.n * sizeof(*keys));
	}
	take_request(conn, probe.id, served, probe.n);
	return true;
}

static void answer_rows(struct chi_conn *conn, uint64_t id, struct chi_row *rows, size_t n)
{
	const struct chi_probed probed = {.rows = rows, .n = n, .counts = true};
	const struct chi_response response = {
		.id = id, .last = true, .op = CHI_OP_PROBE, .body = &probed};
	chi_conn_answer(conn, &response);
}

/* One request by itself, after all together have failed: only those with a damaged record do. */
static void answer_alone(struct chi_worker *worker, struct chi_read *read,
			 const struct chi_batched_probe *request, const struct chi_key *keys)
{
	struct chi_fault fault = {0};
	struct chi_ask ask = {.read = read, .arena = &worker->results, .fault = &fault};
	const struct chi_positions asked = chi_positions_of(keys, request->n);
	struct chi_probed probed = {0};
	int status = chi_answer_probe(&ask, &asked, &probed);
	if (status < 0) {
		chi_conn_fail(request->conn, request->id, CHI_OP_PROBE, status, NULL,
			      fault.text[0] != '\0' ? fault.text : NULL);
		return;
	}
	answer_rows(request->conn, request->id, probed.rows, probed.n);
}

void chi_probe_batch_answer(struct chi_worker *worker)
{
	struct chi_probe_batch *probe_batch = &worker->probe_batch;
	struct chi_read *read = NULL;
	if (probe_batch->n_requests == 0) {
		return;
	}
	int begun = chi_worker_read(worker, probe_batch->served, &read);
	int found = begun < 0 ? begun
			      : chi_read_rows(read, probe_batch->keys, probe_batch->n_keys,
					      probe_batch->rows);
	size_t at = 0;
	/* They are answered together, so one look at the clock is enough. */
	worker->answer_us = chi_now_us();
	/* A failure is packed with scratch memory. */
	chi_arena_reset(&worker->results);
	for (size_t i = 0; i < probe_batch->n_requests; i++) {
		const struct chi_batched_probe *request = &probe_batch->requests[i];
		if (begun < 0) {
			chi_conn_fail(request->conn, request->id, CHI_OP_PROBE, begun, NULL, NULL);
		} else if (found < 0) {
			answer_alone(worker, read, request, probe_batch->keys + at);
		} else {
			answer_rows(request->conn, request->id, probe_batch->rows + at, request->n);
		}
		at += request->n;
		request->conn->batched = false;
	}
	worker->answer_us = 0;
	probe_batch->n_keys = 0;
	probe_batch->n_requests = 0;
}
