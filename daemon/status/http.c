/* SPDX-License-Identifier: MIT */
/*
 * libevent's server keeps no count of its connections and bounds only the time that one says
 * nothing, so both are seen to here: of every connection's bufferevent we hold a reference, which
 * is alone once the server has let go of it (it takes its callbacks off then), and closes the
 * socket when we let go, too. One that lives too long, or is one too many, has its socket shut
 * down, and the server closes it as if the client had.
 */
#include "daemon/status/http.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/fault.h"
#include "daemon/clock.h"
#include "daemon/limits.h"
#include "daemon/status/log.h"
#include "daemon/status/metrics.h"
#include "daemon/server.h"
#include "daemon/net/socket.h"

struct visit {
	TAILQ_ENTRY(visit) link;
	struct bufferevent *stream;
	int64_t leave_by; /* ms */
};

struct chi_http {
	struct chi_server *server;
	struct evhttp *evhttp;
	struct event *watch; /* runs while there are visits */
	TAILQ_HEAD(, visit) visits;
	size_t n_visits;
};

static void forget(struct chi_http *http, struct visit *visit)
{
	TAILQ_REMOVE(&http->visits, visit, link);
	http->n_visits--;
	bufferevent_decref(visit->stream);
	free(visit);
}

static bool is_over(const struct visit *visit)
{
	bufferevent_data_cb reader = NULL;
	bufferevent_getcb(visit->stream, &reader, NULL, NULL, NULL);
	return reader == NULL;
}

static void forget_those_over(struct chi_http *http)
{
	struct visit *next = NULL;
	for (struct visit *visit = TAILQ_FIRST(&http->visits); visit != NULL; visit = next) {
		next = TAILQ_NEXT(visit, link);
		if (is_over(visit)) {
			forget(http, visit);
		}
	}
}

static void watch(struct chi_http *http, int ms)
{
	struct timeval period = {ms / 1000, ms % 1000 * 1000L};
	event_add(http->watch, &period);
}

static void on_watch(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_http *http = context;
	int64_t now = chi_now_ms();
	struct visit *visit = NULL;
	forget_those_over(http);
	TAILQ_FOREACH(visit, &http->visits, link)
	{
		if (now >= visit->leave_by) {
			shutdown(bufferevent_getfd(visit->stream), SHUT_RDWR);
		}
	}
	if (!TAILQ_EMPTY(&http->visits)) {
		watch(http, CHI_HTTP_WATCH_MS);
	}
}

/* The server asks for what a new connection is read with; its socket comes after. */
static struct bufferevent *on_connection(struct event_base *base, void *context)
{
	struct chi_http *http = context;
	struct visit *visit = malloc(sizeof(*visit));
	struct bufferevent *stream = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (visit == NULL || stream == NULL) {
		/* The server tries by itself then, and most likely fails as well. */
		free(visit);
		return stream;
	}
	forget_those_over(http);
	bool fits = http->n_visits < CHI_HTTP_CONNECTIONS;
	bufferevent_incref(stream);
	*visit =
		(struct visit){.stream = stream, .leave_by = fits ? chi_now_ms() + CHI_HTTP_MS : 0};
	TAILQ_INSERT_TAIL(&http->visits, visit, link);
	http->n_visits++;
	watch(http, fits ? CHI_HTTP_WATCH_MS : 0);
	return stream;
}

static void answer(struct evhttp_request *request, int code, const char *reason,
		   struct evbuffer *body)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	evhttp_add_header(headers, "Connection", "close");
	evhttp_add_header(headers, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
	evhttp_send_reply(request, code, reason, body);
}

static void on_request(struct evhttp_request *request, void *context)
{
	struct chi_http *http = context;
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri != NULL ? evhttp_uri_get_path(uri) : NULL;
	if (path == NULL || strcmp(path, "/metrics") != 0) {
		answer(request, HTTP_NOTFOUND, "Not Found", NULL);
		return;
	}
	if (evhttp_request_get_command(request) != EVHTTP_REQ_GET) {
		evhttp_add_header(evhttp_request_get_output_headers(request), "Allow", "GET");
		answer(request, HTTP_BADMETHOD, "Method Not Allowed", NULL);
		return;
	}
	struct evbuffer *page = evbuffer_new();
	if (page == NULL || chi_metrics_page(http->server, page) < 0) {
		answer(request, HTTP_INTERNAL, "Internal Server Error", NULL);
	} else {
		answer(request, HTTP_OK, "OK", page);
	}
	if (page != NULL) {
		evbuffer_free(page);
	}
}

/* All methods are let through, because those that are not would be answered 501. */
static void set_up(struct chi_http *http)
{
	evhttp_set_allowed_methods(
		http->evhttp, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
				      EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |
				      EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH);
	evhttp_set_max_headers_size(http->evhttp, CHI_HTTP_HEADERS);
	evhttp_set_max_body_size(http->evhttp, 0);
	evhttp_set_timeout(http->evhttp, CHI_HTTP_MS / 1000);
	evhttp_set_bevcb(http->evhttp, on_connection, http);
	evhttp_set_gencb(http->evhttp, on_request, http);
}

static int begin(struct chi_http *http, const struct chi_listen *address, struct chi_fault *fault)
{
	struct event_base *base = http->server->base;
	struct chi_socket socket;
	int status =
		chi_socket_bind(address, &(struct chi_socket_owner){.mode = 0}, &socket, fault);
	if (status < 0) {
		return status;
	}
	http->watch = evtimer_new(base, on_watch, http);
	http->evhttp = evhttp_new(base);
	if (http->watch == NULL || http->evhttp == NULL) {
		chi_socket_close(&socket);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	set_up(http);
	if (evhttp_accept_socket(http->evhttp, socket.fd) < 0) {
		chi_socket_close(&socket);
		return chi_fault(fault, -CHI_ENOMEM, "cannot watch '%s'", socket.text);
	}
	/* The socket is the server's from now on. */
	log_info("metrics.listen", "counters are at 'http://{address}/metrics'",
		 log_text("address", socket.text + strlen("tcp:")));
	return CHI_OK;
}

int chi_http_new(struct chi_server *server, const struct chi_listen *address, struct chi_http **out,
		 struct chi_fault *fault)
{
	struct chi_http *http = calloc(1, sizeof(*http));
	if (http == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	http->server = server;
	TAILQ_INIT(&http->visits);
	int status = begin(http, address, fault);
	if (status < 0) {
		chi_http_free(http);
		return status;
	}
	*out = http;
	return CHI_OK;
}

void chi_http_free(struct chi_http *http)
{
	if (http == NULL) {
		return;
	}
	if (http->evhttp != NULL) {
		evhttp_free(http->evhttp);
	}
	while (!TAILQ_EMPTY(&http->visits)) {
		forget(http, TAILQ_FIRST(&http->visits));
	}
	if (http->watch != NULL) {
		event_free(http->watch);
	}
	free(http);
}
