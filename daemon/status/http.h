/* SPDX-License-Identifier: MIT */
/*
 * The page of counters over HTTP, for a collector on this machine: GET /metrics on a loopback
 * address, nothing else. Runs in main's loop; few connections, each for one request and not for
 * long.
 */
#pragma once

#include "chistore/types.h"

struct chi_buffer;
struct chi_http;
struct chi_listen;
struct chi_server;

/* Listens and answers until freed. -CHI_EINVAL if the address is no loopback one, -CHI_EBUSY if it
 * is taken, -CHI_ENOMEM and the like. Not while threads run (chi_socket_bind). */
CHI_MUSTUSE int chi_http_new(struct chi_server *server, const struct chi_listen *address,
			     struct chi_http **out, struct chi_fault *fault);

/* Closes it and all its connections. NULL is fine. */
void chi_http_free(struct chi_http *http);

/*
 * Appends the page as of now: the sums of what all threads have counted, and what the stores say
 * of themselves, which is left out while one of them is being exchanged by a compaction. Main
 * thread, while workers exist. -CHI_ENOMEM: the page is not whole.
 */
CHI_MUSTUSE int chi_metrics_page(struct chi_server *server, struct chi_buffer *out);
