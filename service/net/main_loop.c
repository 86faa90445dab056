/* SPDX-License-Identifier: MIT */
/*
 * Each round of the watchdog asks every loop for a sign, by its mailbox, and looks whether all have
 * given the one of the round before. Four rounds fit the manager's time: one that is late by chance
 * costs nothing.
 */
#include "service/net/main_loop.h"

#include <event2/event.h>
#include <signal.h>

#include "base/fault.h"
#include "service/events.h"
#include "service/log.h"
#include "service/notify.h"

#define ROUNDS 4

#define LOG_TICK_MS 2000

/* ---- Timers ------------------------------------------------------------------------------ */

bool chi_main_loop_round(struct chi_main_loop *loop)
{
	bool well = true;
	uint64_t n = 0;
	for (struct chi_loop *each = loop->watched; each != NULL; each = each->next_watched) {
		if (atomic_load(&each->asked)) {
			log_warning("worker.stuck", "worker {worker} is stuck",
				    log_number("worker", n));
			well = false;
		}
		n++;
	}
	if (well) {
		chi_notify("WATCHDOG=1");
	}
	for (struct chi_loop *each = well ? loop->watched : NULL; each != NULL;
	     each = each->next_watched) {
		chi_loop_ask(each);
	}
	return well;
}

static void on_round(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	chi_main_loop_round(context);
}

static void on_log_tick(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
	chi_log_tick();
}

/* ---- Signals ----------------------------------------------------------------------------- */

static void on_stop(evutil_socket_t number, short what, void *context)
{
	(void)what;
	const struct chi_main_loop *loop = context;
	log_info("stopping", "stopping (signal {signal})", log_number("signal", (uint64_t)number));
	event_base_loopbreak(loop->base);
}

static void on_reload(evutil_socket_t number, short what, void *context)
{
	(void)number;
	(void)what;
	const struct chi_main_loop *loop = context;
	chi_log_reopen();
	loop->reload(loop->context);
}

/* ---- Life -------------------------------------------------------------------------------- */

static bool add_event(struct chi_main_loop *loop, struct event **out, int number, short what,
		      event_callback_fn callback, uint64_t ms)
{
	struct timeval period = chi_event_ms(ms);
	*out = event_new(loop->base, number, what | EV_PERSIST, callback, loop);
	return *out != NULL && event_add(*out, ms > 0 ? &period : NULL) == 0;
}

int chi_main_loop_init(struct chi_main_loop *loop, void (*reload)(void *context), void *context,
		       struct chi_fault *fault)
{
	*loop = (struct chi_main_loop){
		.base = event_base_new(), .reload = reload, .context = context};
	if (loop->base == NULL ||
	    !add_event(loop, &loop->signals[0], SIGTERM, EV_SIGNAL, on_stop, 0) ||
	    !add_event(loop, &loop->signals[1], SIGINT, EV_SIGNAL, on_stop, 0) ||
	    !add_event(loop, &loop->signals[2], SIGHUP, EV_SIGNAL, on_reload, 0)) {
		return chi_fail(fault, -CHI_ENOMEM, "cannot make an event loop");
	}
	return CHI_OK;
}

void chi_main_loop_watch(struct chi_main_loop *loop, struct chi_loop *watched)
{
	struct chi_loop **end = &loop->watched;
	while (*end != NULL) {
		end = &(*end)->next_watched;
	}
	*end = watched;
}

/* libevent puts the handlers back that were there before. */
static void drop_events(struct chi_main_loop *loop)
{
	for (size_t i = 0; i < CHI_COUNT(loop->signals); i++) {
		chi_event_drop(&loop->signals[i]);
	}
	chi_event_drop(&loop->watchdog);
	chi_event_drop(&loop->log_tick);
}

int chi_main_loop_run(struct chi_main_loop *loop, const struct chi_sockets *sockets,
		      struct chi_fault *fault)
{
	char addresses[CHI_ADDRESSES_SIZE];
	uint64_t round_ms = chi_notify_watchdog() / 1000 / ROUNDS;
	if (!add_event(loop, &loop->log_tick, -1, 0, on_log_tick, LOG_TICK_MS) ||
	    (round_ms > 0 && !add_event(loop, &loop->watchdog, -1, 0, on_round, round_ms))) {
		return chi_fail(fault, -CHI_ENOMEM, "cannot watch signals and timers");
	}
	chi_sockets_print(sockets, addresses);
	chi_log_ready(addresses);
	chi_notify("READY=1");
	event_base_dispatch(loop->base);
	chi_notify("STOPPING=1");
	drop_events(loop);
	return CHI_OK;
}

void chi_main_loop_deinit(struct chi_main_loop *loop)
{
	drop_events(loop);
	if (loop->base != NULL) {
		event_base_free(loop->base);
		loop->base = NULL;
	}
}
