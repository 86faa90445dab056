/* SPDX-License-Identifier: MIT */
/* Counters as Prometheus reads them: sums over the loops. */
#include <inttypes.h>
#include <stddef.h>

#include "http/net/server.h"

static uint64_t sum(const struct http_server *server, size_t offset)
{
	uint64_t total = 0;
	for (size_t i = 0; i < server->n_loops; i++) {
		const char *counters = (const char *)&server->loops[i]->counters;
		total += atomic_load_explicit(
			(const _Atomic uint64_t *)(const void *)(counters + offset),
			memory_order_relaxed);
	}
	return total;
}

struct metric {
	const char *name;
	const char *type;
	const char *help;
	size_t offset;
};

#define METRIC(name, type, member, help)                                                           \
	{                                                                                          \
		"chistore_http_" name, type, help, offsetof(struct http_counters, member)          \
	}

static const struct metric metrics[] = {
	METRIC("connections", "gauge", open, "Open connections."),
	METRIC("connections_total", "counter", accepted, "Connections accepted."),
	METRIC("connections_refused_total", "counter", refused, "Connections over the limit."),
	METRIC("connections_expired_total", "counter", expired,
	       "Connections closed because the client was slow or silent."),
	METRIC("received_bytes_total", "counter", received, "Bytes received."),
	METRIC("sent_bytes_total", "counter", sent, "Bytes sent."),
	METRIC("cached_total", "counter", cached, "Requests answered from kept answers."),
	METRIC("compressed_total", "counter", compressed,
	       "Answers that were compressed; a kept one is once for each encoding."),
};

void server_metrics(struct http_server *server, struct writer *out)
{
	for (size_t i = 0; i < CHI_COUNT(metrics); i++) {
		const struct metric *m = &metrics[i];
		out_format(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n", m->name, m->help,
			   m->name, m->type, m->name, sum(server, m->offset));
	}
	out_raw(out, "# HELP chistore_http_requests_total Requests answered, by class of status.\n"
		     "# TYPE chistore_http_requests_total counter\n");
	for (size_t i = 1; i < STATUS_CLASSES; i++) {
		size_t offset = offsetof(struct http_counters, requests) + i * sizeof(uint64_t);
		out_format(out, "chistore_http_requests_total{class=\"%zuxx\"} %" PRIu64 "\n", i,
			   sum(server, offset));
	}
	out_format(out,
		   "# HELP chistore_http_request_seconds_total Time that requests took, waiting "
		   "included.\n# TYPE chistore_http_request_seconds_total counter\n"
		   "chistore_http_request_seconds_total %.6f\n",
		   (double)sum(server, offsetof(struct http_counters, busy_us)) / 1e6);
	pthread_mutex_lock(&server->pool.lock);
	uint64_t waiting = server->pool.waiting.used;
	uint64_t running = server->pool.running.used;
	pthread_mutex_unlock(&server->pool.lock);
	out_format(out,
		   "# HELP chistore_http_waiting Requests that wait for a worker.\n"
		   "# TYPE chistore_http_waiting gauge\nchistore_http_waiting %" PRIu64 "\n"
		   "# HELP chistore_http_running Requests that workers have.\n"
		   "# TYPE chistore_http_running gauge\nchistore_http_running %" PRIu64 "\n",
		   waiting, running);
	out_format(out,
		   "# HELP chistore_http_queued_total Unknown positions that were asked about and "
		   "added to the store's queue.\n# TYPE chistore_http_queued_total counter\n"
		   "chistore_http_queued_total %" PRIu64 "\n",
		   unknown_count(server->unknown));
}
