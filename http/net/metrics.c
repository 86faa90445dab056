/* SPDX-License-Identifier: MIT */
/* Counters as Prometheus reads them: sums over the loops. */
#include "http/net/server.h"

#define METRIC(name, type, member, help)                                                           \
	{                                                                                          \
		"chistore_http_" name, type, help, offsetof(struct http_counters, member)          \
	}

static const struct {
	const char *name;
	const char *type;
	const char *help;
	size_t offset;
} metrics[] = {
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
	struct http_counters totals = {.open = 0};
	struct chi_metrics page = {.out = &out->buffer};
	for (size_t i = 0; i < server->n_loops; i++) {
		chi_counters_add(&totals, &server->loops[i]->counters, sizeof(totals));
	}
	for (size_t i = 0; i < CHI_COUNT(metrics); i++) {
		const char *value = (const char *)&totals + metrics[i].offset;
		chi_metrics_value(&page, metrics[i].name, metrics[i].type, metrics[i].help,
				  chi_counter_value((const chi_counter *)(const void *)value));
	}
	chi_metrics_head(&page, "chistore_http_requests_total", "counter",
			 "Requests answered, by class of status.");
	for (size_t i = 1; i < STATUS_CLASSES; i++) {
		chi_metrics_print(&page, "chistore_http_requests_total{class=\"%zuxx\"} %llu\n", i,
				  (unsigned long long)totals.requests[i]);
	}
	chi_metrics_time(&page, "chistore_http_request_seconds_total", "counter",
			 "Time that requests took, waiting included.", totals.busy_us);
	pthread_mutex_lock(&server->pool.lock);
	uint64_t waiting = server->pool.waiting.used;
	uint64_t running = server->pool.running.used;
	pthread_mutex_unlock(&server->pool.lock);
	chi_metrics_value(&page, "chistore_http_waiting", "gauge",
			  "Requests that wait for a worker.", waiting);
	chi_metrics_value(&page, "chistore_http_running", "gauge", "Requests that workers have.",
			  running);
	chi_metrics_value(&page, "chistore_http_queued_total", "counter",
			  "Unknown positions that were asked about and added to the store's queue.",
			  unknown_count(server->unknown));
	chi_metrics_value(&page, "chistore_http_looks_total", "counter",
			  "Looks where the store's address leads to.",
			  chi_counter_value(&server->place.moves.looks));
	chi_metrics_value(&page, "chistore_http_moves_total", "counter",
			  "Moves to another copy at the store's address.",
			  atomic_load(&server->place.moves.count));
	chi_metrics_value(&page, "chistore_http_moved_timestamp_seconds", "gauge",
			  "Time of the last of these, in seconds since 1970; 0: there was none.",
			  atomic_load(&server->place.moves.last_s));
	out->failed = out->failed || page.failed;
}
