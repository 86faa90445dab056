/* SPDX-License-Identifier: MIT */
/* From a frame's bytes to the handler of its operation. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/access/access.h"
#include "proto/msg.h"

struct chi_conn;

/* Serves one request, the body of a frame. May end or drop the connection. */
void chi_dispatch(struct chi_conn *conn, const uint8_t *body, size_t len);

/* The least role that may ask for an operation; CHI_ROLE_NONE if there is no such operation. */
enum chi_role chi_dispatch_role(enum chi_op op);
