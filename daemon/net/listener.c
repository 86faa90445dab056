/* SPDX-License-Identifier: MIT */
/*
 * Accepting. Sockets are watched level-triggered, so what is not taken now wakes the loop
 * again: that is what makes running out of descriptors dangerous, and why listening then rests.
 */
#include "daemon/net/listener.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fault.h"
#include "daemon/access/certificate.h"
#include "daemon/settings/limits.h"
#include "service/events.h"
#include "service/log.h"
#include "daemon/net/server.h"
#include "daemon/net/socket.h"
#include "proto/msg.h"
#include "daemon/net/net.h"

/* Connections taken from one socket before the others have their turn. */
#define ACCEPTS_A_TURN 32

struct source {
	struct chi_listener *listener;
	const struct chi_listen *listen;
	struct chi_socket socket;
	struct event *event;
};

struct chi_listener {
	struct chi_server *server;
	struct source sources[CHI_LISTENS_MAX];
	size_t n;
	struct event *rested; /* the end of a pause */
	int spare;	      /* given up for a moment when descriptors have run out; or -1 */
	bool full;	      /* the limit was logged, until a place is free again */
	char addresses[CHI_LISTENS_MAX * sizeof(((struct chi_socket *)NULL)->text)];
};

/* Any descriptor will do: it only keeps a place. */
static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Takes all sockets out of the loop for a while. */
static void rest(struct chi_listener *listener)
{
	struct timeval pause = chi_event_ms(CHI_ACCEPT_PAUSE_MS);
	for (size_t i = 0; i < listener->n; i++) {
		event_del(listener->sources[i].event);
	}
	chi_event_add(listener->rested, &pause);
}

static void on_rested(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_listener *listener = context;
	if (listener->spare < 0) {
		listener->spare = open_spare();
	}
	for (size_t i = 0; i < listener->n; i++) {
		chi_event_add(listener->sources[i].event, NULL);
	}
}

/* Nothing can be accepted: the longest waiting client is told so through the spare descriptor,
 * and then listening rests, because the loop would wake for the others at once, for ever. */
static void out_of_descriptors(struct chi_listener *listener, int from, int error)
{
	log_limited_warning("listen.rest", "not accepting for {ms} ms ({cause})",
			    log_number("ms", CHI_ACCEPT_PAUSE_MS),
			    log_text("cause", strerror(error)));
	if (listener->spare >= 0) {
		close(listener->spare);
		int fd = accept4(from, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0) {
			close(fd);
		}
		listener->spare = open_spare();
	}
	rest(listener);
}

/* Over the limit: an answer without a request, so that the client knows why; one that expects TLS
 * could not read it. */
static void turn_away(struct chi_listener *listener, int fd, bool plain)
{
	static const char text[] = "too many connections";
	struct chi_response response = {
		.status = -CHI_EBUSY, .message = {text, sizeof(text) - 1}, .last = true};
	struct chi_buffer out;
	if (!listener->full) {
		log_limited_warning("listen.full",
				    "refusing connections, '{peer}' first ({connections} are open)",
				    log_text("peer", chi_peer_name_of(fd, NULL).text),
				    log_number("connections", listener->server->connections_max));
		listener->full = true;
	}
	chi_count(&listener->server->turned_away, 1);
	chi_buffer_init(&out, 4096);
	if (plain && chi_response_pack(&response, &out) == CHI_OK) {
		ssize_t sent =
			send(fd, chi_buffer_bytes(&out), out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		(void)sent;
	}
	chi_buffer_deinit(&out);
	close(fd);
}

/* Hands a socket accepted at `listen` to the next worker; takes the descriptor in every case. */
static void give_to_worker(struct chi_server *server, int fd, const struct chi_listen *listen)
{
	struct chi_worker *worker = server->workers[server->next_worker];
	server->next_worker = (server->next_worker + 1) % server->n_workers;
	atomic_fetch_add(&server->connections, 1);
	if (chi_worker_give(worker, fd, listen) < 0) {
		atomic_fetch_sub(&server->connections, 1);
		close(fd);
	}
}

/* False when nothing more is to be accepted now. */
static bool accept_one(const struct source *source)
{
	struct chi_listener *listener = source->listener;
	struct chi_server *server = listener->server;
	int from = source->socket.fd;
	int fd = accept4(from, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			out_of_descriptors(listener, from, errno);
		}
		return errno == ECONNABORTED || errno == EINTR;
	}
	if (atomic_load(&server->connections) >= server->connections_max) {
		turn_away(listener, fd, source->listen->kind != CHI_LISTEN_TLS);
		return true;
	}
	listener->full = false;
	chi_count(&server->accepted, 1);
	give_to_worker(server, fd, source->listen);
	return true;
}

static void on_acceptable(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	for (int i = 0; i < ACCEPTS_A_TURN; i++) {
		if (!accept_one(context)) {
			return;
		}
	}
}

/* The readiness line's list. */
static void join_addresses(struct chi_listener *listener)
{
	char *at = listener->addresses;
	for (size_t i = 0; i < listener->n; i++) {
		at = stpcpy(i > 0 ? stpcpy(at, " ") : at, listener->sources[i].socket.text);
	}
}

static struct source *new_source(struct chi_listener *listener, struct chi_fault *fault)
{
	if (listener->n == CHI_LISTENS_MAX) {
		(void)chi_fault(fault, -CHI_EINVAL, "more than %d sockets to listen on",
				CHI_LISTENS_MAX);
		return NULL;
	}
	struct source *source = &listener->sources[listener->n];
	source->listener = listener;
	return source;
}

static int open_source(struct chi_listener *listener, const struct chi_listen *listen,
		       struct chi_fault *fault)
{
	struct source *source = new_source(listener, fault);
	if (source == NULL) {
		return -CHI_EINVAL;
	}
	source->listen = listen;
	int status = chi_socket_bind(listen, listener->server->config, &source->socket, fault);
	listener->n += status == CHI_OK ? 1 : 0;
	return status;
}

/* All sockets of that name: a unit may have several. */
static int take_passed(struct chi_listener *listener, const struct chi_listen *listen,
		       struct chi_passed_list *passed, struct chi_fault *fault)
{
	bool found = false;
	for (size_t i = 0; i < passed->n; i++) {
		struct chi_passed *one = &passed->sockets[i];
		if (one->fd < 0 || strcmp(one->name, listen->host) != 0) {
			continue;
		}
		struct source *source = new_source(listener, fault);
		if (source == NULL) {
			return -CHI_EINVAL;
		}
		struct chi_listen *adopted = &listener->server->adopted[listener->n];
		*adopted = *listen;
		source->listen = adopted;
		int status = chi_socket_adopt(one->fd, adopted, &source->socket, fault);
		if (status < 0) {
			return status;
		}
		one->fd = -1;
		listener->n++;
		found = true;
	}
	return found ? CHI_OK
		     : chi_fault(fault, -CHI_EINVAL,
				 "--listen: no socket named '%s' was passed (LISTEN_FDNAMES)",
				 listen->host);
}

/* Left open they would take connections that no one answers. */
static void close_rest(const struct chi_passed_list *passed)
{
	for (size_t i = 0; i < passed->n; i++) {
		const struct chi_passed *one = &passed->sockets[i];
		if (one->fd >= 0) {
			log_warning("listen.unused",
				    "nothing listens on the socket passed as '{name}': --listen "
				    "fd:{name} is missing",
				    log_text("name", one->name));
			close(one->fd);
		}
	}
}

int chi_listener_new(struct chi_server *server, const struct chi_config *config,
		     struct chi_listener **out, struct chi_fault *fault)
{
	struct chi_listener *listener = calloc(1, sizeof(*listener));
	if (listener == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	listener->server = server;
	listener->spare = open_spare();
	struct chi_passed_list passed = config->passed;
	int status = CHI_OK;
	for (size_t i = 0; status == CHI_OK && i < config->n_listens; i++) {
		const struct chi_listen *listen = &config->listens[i];
		status = listen->kind == CHI_LISTEN_PASSED
				 ? take_passed(listener, listen, &passed, fault)
				 : open_source(listener, listen, fault);
	}
	close_rest(&passed);
	join_addresses(listener);
	if (status < 0) {
		chi_listener_free(listener);
		return status;
	}
	*out = listener;
	return CHI_OK;
}

int chi_listener_start(struct chi_listener *listener, struct chi_fault *fault)
{
	struct event_base *base = listener->server->base;
	listener->rested = evtimer_new(base, on_rested, listener);
	bool bad = listener->rested == NULL;
	for (size_t i = 0; i < listener->n; i++) {
		struct source *source = &listener->sources[i];
		int status = chi_socket_listen(&source->socket, fault);
		if (status < 0) {
			return status;
		}
		source->event = event_new(base, source->socket.fd, EV_READ | EV_PERSIST,
					  on_acceptable, source);
		bad = bad || source->event == NULL || event_add(source->event, NULL) < 0;
	}
	return bad ? chi_fault(fault, -CHI_ENOMEM, "cannot watch the listening sockets") : CHI_OK;
}

void chi_listener_free(struct chi_listener *listener)
{
	if (listener == NULL) {
		return;
	}
	chi_event_drop(&listener->rested);
	for (size_t i = 0; i < listener->n; i++) {
		chi_event_drop(&listener->sources[i].event);
		chi_socket_close(&listener->sources[i].socket);
	}
	if (listener->spare >= 0) {
		close(listener->spare);
	}
	free(listener);
}

const char *chi_listener_addresses(const struct chi_listener *listener)
{
	return listener->addresses;
}
