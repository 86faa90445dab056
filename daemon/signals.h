/* SPDX-License-Identifier: MIT */
/* SIGTERM and SIGINT stop the server, SIGHUP reopens its log and reads its files anew, SIGPIPE and
 * SIGXFSZ are errors of the calls that caused them and no reason to die. While the server starts or
 * stops SIGHUP is ignored. */
#pragma once

#include "chistore/types.h"

struct chi_server;
struct event_base;

struct chi_signals {
	struct event *stop_term;
	struct event *stop_int;
	struct event *reload;
};

CHI_MUSTUSE int chi_signals_init(struct chi_signals *signals, struct event_base *base,
				 struct chi_server *server, struct chi_fault *fault);

/* From here on the default action: a second SIGINT or SIGTERM ends the process at once. */
void chi_signals_deinit(struct chi_signals *signals);

/* Before any thread starts. */
void chi_signals_ignore(void);
