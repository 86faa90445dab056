/* SPDX-License-Identifier: MIT */
/*
 * The page of counters over HTTP, for a collector on this machine: GET /metrics on a loopback
 * address, nothing else. Runs in main's loop; few connections, each for one request and not for
 * long.
 */
#pragma once

#include "chistore/types.h"

struct chi_http;
struct chi_listen;
struct chi_server;

/* Listens and answers until freed. -CHI_EINVAL if the address is no loopback one, -CHI_EBUSY if it
 * is taken, -CHI_ENOMEM and the like. Not while threads run (chi_socket_bind). */
CHI_MUSTUSE int chi_http_new(struct chi_server *server, const struct chi_listen *address,
			     struct chi_http **out, struct chi_fault *fault);

/* Closes it and all its connections. NULL is fine. */
void chi_http_free(struct chi_http *http);
