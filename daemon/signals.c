/* SPDX-License-Identifier: MIT */
/* Signals arrive through the event loop, so that their handlers are ordinary code. */
#include "daemon/signals.h"

#include <event2/event.h>
#include <signal.h>
#include <stddef.h>

#include "base/fault.h"
#include "daemon/events.h"
#include "daemon/status/log.h"
#include "daemon/server.h"

static void on_stop(evutil_socket_t number, short what, void *context)
{
	(void)what;
	log_info("stopping", "stopping (signal {signal})", log_number("signal", (uint64_t)number));
	chi_server_stop(context);
}

static void on_reload(evutil_socket_t number, short what, void *context)
{
	(void)number;
	(void)what;
	chi_server_reload(context);
}

void chi_signals_ignore(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Until the log can be reopened, and again when the server stops: libevent puts back the
	 * handler that it found. Rotating logs must not end a process that has writes to commit. */
	signal(SIGHUP, SIG_IGN);
}

static struct event *add(struct event_base *base, int number, event_callback_fn callback,
			 struct chi_server *server)
{
	struct event *event = evsignal_new(base, number, callback, server);
	if (event != NULL && event_add(event, NULL) < 0) {
		event_free(event);
		return NULL;
	}
	return event;
}

int chi_signals_init(struct chi_signals *signals, struct event_base *base,
		     struct chi_server *server, struct chi_fault *fault)
{
	signals->stop_term = add(base, SIGTERM, on_stop, server);
	signals->stop_int = add(base, SIGINT, on_stop, server);
	signals->reload = add(base, SIGHUP, on_reload, server);
	if (signals->stop_term == NULL || signals->stop_int == NULL || signals->reload == NULL) {
		return chi_fault(fault, -CHI_ENOMEM, "cannot watch signals");
	}
	return CHI_OK;
}

/* libevent puts the handlers back that were there before. */
void chi_signals_deinit(struct chi_signals *signals)
{
	chi_event_drop(&signals->stop_int);
	chi_event_drop(&signals->stop_term);
	chi_event_drop(&signals->reload);
}
