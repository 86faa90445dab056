/* SPDX-License-Identifier: MIT */
/* The sandbox of chistore-http: the store's files, and no more of the system than serving needs. */
#pragma once

#include "http/net/server.h"

/* When all is open. -CHI_EUNSUPPORTED: required, and not to be had. */
CHI_MUSTUSE int jail_enter(const struct http_server *server, struct chi_fault *fault);
