/* SPDX-License-Identifier: MIT */
/*
 * What a thread that runs handlers keeps open: a client of the store, and, once something is
 * written, one of the daemon that takes writes. Not shared between threads.
 */
#pragma once

#include <stdint.h>

#include "chistore.h"

struct session {
	const struct http_config *config;
	struct chi_client *client; /* NULL: to be opened */
	struct chi_client *writer; /* the same */
	int64_t checked_ms;	   /* when it was asked whether the store is still that one */
	unsigned opened;	   /* how often a store was opened */
};

/* Opens the store. */
CHI_MUSTUSE int session_open(struct session *session, const struct http_config *config,
			     struct chi_fault *fault);
void session_close(struct session *session);

/* Before a call: opens the store again if another is at its address, as looked at within a second.
 */
CHI_MUSTUSE int session_ready(struct session *session, struct chi_fault *fault);

/* Makes the next session_ready look at once. */
void session_doubt(struct session *session);

/* The client that writes; -CHI_EREADONLY: the server was not given one. */
CHI_MUSTUSE int session_writer(struct session *session, struct chi_client **out,
			       struct chi_fault *fault);
