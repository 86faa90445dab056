/* SPDX-License-Identifier: MIT */
/*
 * The loop of a server's main thread: signals, the service manager's watchdog, which hears of the
 * server only while every loop turns, and lines that the log has left out.
 */
#pragma once

#include "chistore/types.h"
#include "service/net/loop.h"
#include "service/net/socket.h"

struct event;
struct event_base;

struct chi_main_loop {
	struct event_base *base;
	/* SIGHUP opens the log again, and has this called. */
	void (*reload)(void *context);
	void *context;
	struct chi_loop *watched; /* by the watchdog */
	struct event *signals[3];
	struct event *watchdog;
	struct event *log_tick;
};

/* Before anything is started: from here on signals are caught, and take effect when the loop runs.
 * -CHI_ENOMEM; to be freed also then. */
CHI_MUSTUSE int chi_main_loop_init(struct chi_main_loop *loop, void (*reload)(void *context),
				   void *context, struct chi_fault *fault);

/* Before it runs: the watchdog asks that loop, too. */
void chi_main_loop_watch(struct chi_main_loop *loop, struct chi_loop *watched);

/* Says that the server is ready at those sockets, and serves until SIGTERM, SIGINT or an end of its
 * own. After that a second one ends the process at once. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_main_loop_run(struct chi_main_loop *loop, const struct chi_sockets *sockets,
				  struct chi_fault *fault);

/* A round of the watchdog; false: a loop is stuck. */
bool chi_main_loop_round(struct chi_main_loop *loop);

/* Harmless if it was never made. */
void chi_main_loop_deinit(struct chi_main_loop *loop);
