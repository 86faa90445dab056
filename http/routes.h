/* SPDX-License-Identifier: MIT */
/* Every address that is answered. */
#pragma once

#include "http/net/server.h"

/* Reads the page's files. */
CHI_MUSTUSE int routes_init(struct http_server *server, struct chi_fault *fault);
void routes_deinit(struct http_server *server);

route_finder routes_find;
