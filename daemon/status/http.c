/* SPDX-License-Identifier: MIT */
/*
 * As much of HTTP as a collector needs: one GET a connection, answered with Connection: close. At
 * most CHI_HTTP_CONNECTIONS are open, each for CHI_HTTP_MS at most; one more is closed at once.
 * After the answer the input is read and thrown away until the client closes, because closing first
 * could take away what it has not read.
 */
#include "daemon/status/http.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buffer.h"
#include "base/fault.h"
#include "daemon/settings/limits.h"
#include "service/events.h"
#include "service/log.h"
#include "daemon/net/server.h"
#include "service/net/http_head.h"

struct visit {
	struct chi_http *http;
	struct bufferevent *stream; /* NULL: not in use */
	struct event *deadline;
	bool answered;
	bool at_end; /* the client has ended its input, and nothing more comes of it */
};

struct chi_http {
	struct chi_server *server;
	struct chi_sockets sockets;
	struct chi_listener listener;
	struct visit visits[CHI_HTTP_CONNECTIONS];
};

static void end_visit(struct visit *visit)
{
	event_del(visit->deadline);
	bufferevent_free(visit->stream);
	visit->stream = NULL;
}

/* `page`: of 200. */
static void answer_visit(struct visit *visit, int status, const struct chi_buffer *page)
{
	struct evbuffer *out = bufferevent_get_output(visit->stream);
	visit->answered = true;
	evbuffer_add_printf(out,
			    "HTTP/1.1 %d %s\r\nConnection: close\r\n%s"
			    "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
			    "Content-Length: %zu\r\n\r\n",
			    status, chi_http_reason(status), status == 405 ? "Allow: GET\r\n" : "",
			    page->len);
	evbuffer_add(out, chi_buffer_bytes(page), page->len);
}

static int status_of(const struct chi_http_head *head)
{
	static const char path[] = "/metrics";
	if (head->version == 9) {
		return 400;
	}
	if (head->path.len != strlen(path) || memcmp(head->path.at, path, strlen(path)) != 0) {
		return 404;
	}
	return head->method == CHI_HTTP_GET ? 200 : 405;
}

static void on_input(struct bufferevent *stream, void *context)
{
	struct visit *visit = context;
	struct evbuffer *in = bufferevent_get_input(stream);
	size_t len = evbuffer_get_length(in);
	const char *bytes = (const char *)evbuffer_pullup(in, -1);
	struct chi_http_head head;
	struct chi_buffer page;
	size_t used = 0;
	const char *why = "";
	int status = visit->answered || bytes == NULL
			     ? 1
			     : chi_http_head_parse(bytes, len, &head, &used, &why);
	chi_buffer_init(&page, SIZE_MAX);
	status = status == 0 ? status_of(&head) : status;
	if (status == 200 && chi_metrics_page(visit->http->server, &page) < 0) {
		chi_buffer_consume(&page, page.len);
		status = 500;
	}
	if (status != 1) {
		answer_visit(visit, status, &page);
	}
	chi_buffer_deinit(&page);
	if (visit->answered) {
		evbuffer_drain(in, evbuffer_get_length(in));
	}
}

/* All that was to be sent is. */
static void on_sent(struct bufferevent *stream, void *context)
{
	struct visit *visit = context;
	if (visit->at_end) {
		end_visit(visit);
	} else if (visit->answered) {
		shutdown(bufferevent_getfd(stream), SHUT_WR);
	}
}

/* The client has closed, or the connection is broken. One that has only ended its input may still
 * wait for its answer. */
static void on_end(struct bufferevent *stream, short what, void *context)
{
	struct visit *visit = context;
	if ((what & BEV_EVENT_ERROR) != 0 || !visit->answered ||
	    evbuffer_get_length(bufferevent_get_output(stream)) == 0) {
		end_visit(visit);
	} else {
		visit->at_end = true;
	}
}

static void on_deadline(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	end_visit(context);
}

static void take_visit(void *owner, int fd, const struct chi_listen *listen)
{
	struct timeval life = chi_event_ms(CHI_HTTP_MS);
	struct chi_http *http = owner;
	struct visit *visit = http->visits;
	(void)listen;
	while (visit < http->visits + CHI_HTTP_CONNECTIONS && visit->stream != NULL) {
		visit++;
	}
	bool fits = visit < http->visits + CHI_HTTP_CONNECTIONS;
	struct bufferevent *stream =
		fits ? bufferevent_socket_new(http->server->main.base, fd, BEV_OPT_CLOSE_ON_FREE)
		     : NULL;
	if (stream == NULL) {
		evutil_closesocket(fd);
		return;
	}
	visit->stream = stream;
	visit->answered = false;
	visit->at_end = false;
	bufferevent_setcb(stream, on_input, on_sent, on_end, visit);
	bufferevent_setwatermark(stream, EV_READ, 0, CHI_HTTP_HEAD_MAX);
	if (event_add(visit->deadline, &life) < 0 ||
	    bufferevent_enable(stream, EV_READ | EV_WRITE) < 0) {
		end_visit(visit);
	}
}

static const struct chi_listener_ops door = {.take = take_visit};

static int listen_http(struct chi_http *http, const struct chi_listen *address,
		       struct chi_fault *fault)
{
	struct event_base *base = http->server->main.base;
	const struct chi_binding how = {
		.listens = address, .n = 1, .http = true, .local = ", as --metrics needs it"};
	int status = chi_sockets_open(&http->sockets, &how, NULL, fault);
	for (size_t i = 0; status == CHI_OK && i < CHI_HTTP_CONNECTIONS; i++) {
		struct visit *visit = &http->visits[i];
		visit->http = http;
		visit->deadline = evtimer_new(base, on_deadline, visit);
		status = visit->deadline != NULL ? CHI_OK : chi_fault_plain(fault, -CHI_ENOMEM);
	}
	return status == CHI_OK ? chi_listener_start(&http->listener, base, &http->sockets, &door,
						     http, fault)
				: status;
}

int chi_http_new(struct chi_server *server, const struct chi_listen *address, struct chi_http **out,
		 struct chi_fault *fault)
{
	struct chi_http *http = calloc(1, sizeof(*http));
	if (http == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	http->server = server;
	int status = listen_http(http, address, fault);
	if (status < 0) {
		chi_http_free(http);
		return status;
	}
	log_info("metrics.listen", "counters are at '{address}metrics'",
		 log_text("address", http->sockets.list[0].text));
	*out = http;
	return CHI_OK;
}

void chi_http_free(struct chi_http *http)
{
	if (http == NULL) {
		return;
	}
	chi_listener_stop(&http->listener);
	for (size_t i = 0; i < CHI_HTTP_CONNECTIONS; i++) {
		if (http->visits[i].stream != NULL) {
			end_visit(&http->visits[i]);
		}
		chi_event_drop(&http->visits[i].deadline);
	}
	chi_sockets_close(&http->sockets);
	free(http);
}
