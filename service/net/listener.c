/* SPDX-License-Identifier: MIT */
#include "service/net/listener.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "service/events.h"
#include "service/log.h"

/* Connections taken from one socket before the others have their turn. */
#define ACCEPTS_A_TURN 32

/* How long listening rests when descriptors have run out. */
#define PAUSE_MS 500

/* Any descriptor will do: it only keeps a place. */
static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Takes all sockets out of the loop for a while. */
static void rest(struct chi_listener *listener)
{
	struct timeval pause = chi_event_ms(PAUSE_MS);
	for (size_t i = 0; i < listener->sockets->n; i++) {
		event_del(listener->sockets->list[i].event);
	}
	chi_event_add(listener->rested, &pause);
}

static void on_rested(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_listener *listener = context;
	if (listener->spare < 0 && listener->ops->make_room == NULL) {
		listener->spare = open_spare();
	}
	for (size_t i = 0; i < listener->sockets->n; i++) {
		chi_event_add(listener->sockets->list[i].event, NULL);
	}
}

/* Nothing can be accepted: the longest waiting client is told so through the spare descriptor,
 * and then listening rests, because the loop would wake for the others at once, for ever. */
static void out_of_descriptors(struct chi_listener *listener, int from, int error)
{
	log_limited_warning("listen.rest", "not accepting for {ms} ms ({cause})",
			    log_number("ms", PAUSE_MS), log_text("cause", strerror(error)));
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

/* Without a descriptor accept fails before it has looked whether a client is there. */
static bool is_waited_for(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};
	return poll(&one, 1, 0) > 0;
}

/* False when nothing more is to be accepted now. */
static bool accept_one(const struct chi_socket *socket)
{
	struct chi_listener *listener = socket->listener;
	int fd = accept4(socket->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int error = errno;
	if (fd >= 0) {
		listener->ops->take(listener->owner, fd, &socket->listen);
		return true;
	}
	if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) {
		return error == ECONNABORTED || error == EINTR;
	}
	if (!is_waited_for(socket->fd)) {
		return false;
	}
	if (listener->ops->make_room != NULL && listener->ops->make_room(listener->owner)) {
		return true;
	}
	out_of_descriptors(listener, socket->fd, error);
	return false;
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

int chi_listener_start(struct chi_listener *listener, struct event_base *base,
		       struct chi_sockets *sockets, const struct chi_listener_ops *ops, void *owner,
		       struct chi_fault *fault)
{
	*listener = (struct chi_listener){.ops = ops,
					  .owner = owner,
					  .sockets = sockets,
					  .rested = evtimer_new(base, on_rested, listener),
					  .spare = ops->make_room == NULL ? open_spare() : -1};
	bool bad = listener->rested == NULL;
	for (size_t i = 0; i < sockets->n; i++) {
		struct chi_socket *socket = &sockets->list[i];
		int status = chi_socket_listen(socket, fault);
		if (status < 0) {
			return status;
		}
		socket->listener = listener;
		socket->event =
			event_new(base, socket->fd, EV_READ | EV_PERSIST, on_acceptable, socket);
		bad = bad || socket->event == NULL || event_add(socket->event, NULL) < 0;
	}
	return bad ? chi_fail(fault, -CHI_ENOMEM, "cannot watch the listening sockets") : CHI_OK;
}

void chi_listener_stop(struct chi_listener *listener)
{
	if (listener->ops == NULL) {
		return;
	}
	chi_event_drop(&listener->rested);
	for (size_t i = 0; i < listener->sockets->n; i++) {
		chi_event_drop(&listener->sockets->list[i].event);
	}
	if (listener->spare >= 0) {
		close(listener->spare);
	}
	listener->ops = NULL;
}
