/* SPDX-License-Identifier: MIT */
/* Sockets to listen on, one for each loop, so that the kernel deals out the connections. */
#pragma once

#include "http/net/server.h"

/* sockets[loop * n_listens + i] listen on config->listens[i]; the addresses as they turned out go
 * to server->addresses. On failure none is open. -CHI_EINVAL: an address that is not loopback,
 * without rules for who may read; -CHI_EBUSY, -CHI_EACCES, -CHI_EIO. */
CHI_MUSTUSE int bind_all(struct http_server *server, int *sockets, struct chi_fault *fault);
