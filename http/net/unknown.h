/* SPDX-License-Identifier: MIT */
/*
 * Positions that clients asked about and of which nothing is known, on their way to the store's
 * queue. A thread of its own adds them, many at a time and not more than once a second: no client
 * waits for that, and answers that are kept until the store changes are of use meanwhile.
 */
#pragma once

#include <stdbool.h>

#include "http/net/config.h"

struct chi_key;
struct unknown;

/* Starts the thread. -CHI_ENOMEM. */
CHI_MUSTUSE int unknown_start(const struct http_config *config, struct unknown **out,
			      struct chi_fault *fault);

/* From any thread. False: it is passed over, as it came lately, or there is no room for it, or
 * `unknown` is NULL. */
bool unknown_add(struct unknown *unknown, const struct chi_key *key);

/* How many were added to the queue, or raised in it; 0 of NULL. */
uint64_t unknown_count(struct unknown *unknown);

/* Ends the thread, without what waits. NULL is fine. */
void unknown_stop(struct unknown *unknown);
