/* SPDX-License-Identifier: MIT */
/*
 * Each round asks every worker for a sign, by its mailbox, and looks whether all have given the one
 * of the round before. Four rounds fit the manager's time: one that is late by chance costs
 * nothing.
 */
#include "daemon/status/watchdog.h"

#include <event2/event.h>

#include "base/fault.h"
#include "service/log.h"
#include "service/notify.h"
#include "daemon/net/server.h"
#include "daemon/net/net.h"

#define ROUNDS 4

/* A worker's loop has turned. */
static void deliver_sign(struct chi_mail *mail, struct chi_worker *worker)
{
	(void)mail;
	atomic_store(&worker->asked, false);
}

bool chi_watchdog_round(struct chi_server *server)
{
	bool well = true;
	for (size_t i = 0; i < server->n_workers; i++) {
		if (atomic_load(&server->workers[i]->asked)) {
			log_warning("worker.stuck", "worker {worker} is stuck",
				    log_number("worker", i));
			well = false;
		}
	}
	if (well) {
		chi_notify("WATCHDOG=1");
		for (size_t i = 0; i < server->n_workers; i++) {
			struct chi_worker *worker = server->workers[i];
			atomic_store(&worker->asked, true);
			worker->sign_mail.deliver = deliver_sign;
			chi_mailbox_post(&worker->mailbox, &worker->sign_mail);
		}
	}
	return well;
}

static void on_round(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	chi_watchdog_round(context);
}

int chi_watchdog_new(struct chi_server *server, struct event **out, struct chi_fault *fault)
{
	uint64_t period = chi_notify_watchdog() / ROUNDS;
	struct timeval time = {(time_t)(period / 1000000), (suseconds_t)(period % 1000000)};
	if (period == 0) {
		return CHI_OK;
	}
	struct event *timer = event_new(server->base, -1, EV_PERSIST, on_round, server);
	if (timer == NULL || event_add(timer, &time) < 0) {
		if (timer != NULL) {
			event_free(timer);
		}
		return chi_fail(fault, -CHI_ENOMEM, "cannot start a timer");
	}
	*out = timer;
	return CHI_OK;
}
