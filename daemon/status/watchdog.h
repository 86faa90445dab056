/* SPDX-License-Identifier: MIT */
/*
 * Tells the service manager that the daemon is well, which is more than being there: since the last
 * time main's loop has turned, and the loop of every worker. Otherwise it says nothing, and the
 * manager starts the daemon again.
 */
#pragma once

#include <stdbool.h>

#include "chistore/types.h"

struct chi_server;
struct event;

/* Starts a timer in main's loop; *out is the caller's to free (event_free), and NULL if the manager
 * has not asked. The workers must outlive it. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_watchdog_new(struct chi_server *server, struct event **out,
				 struct chi_fault *fault);

/* One round, by the timer; apart for tests. True if all was well, and reported. */
bool chi_watchdog_round(struct chi_server *server);
