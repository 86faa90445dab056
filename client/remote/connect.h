/* SPDX-License-Identifier: MIT */
/* From an address to a connected, non-blocking socket within a time. */
#pragma once

#include <stdint.h>

#include "base/clock.h"
#include "client/core/address.h"

/*
 * Connects to a UNIX, TCP or TLS address; of a host with several addresses each is tried in turn,
 * all within `ms` together (looking the name up is not interrupted). The descriptor is
 * non-blocking, close-on-exec, and the caller's. `text` is the address for messages. -CHI_ECONNECT,
 * -CHI_ETIMEOUT, -CHI_EACCES, -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_connect(const struct chi_address *address, const char *text, uint32_t ms,
			    int *fd, struct chi_fault *fault);

/*
 * Breaks a connection over TCP whose peer acknowledges nothing of what was sent: after `call_ms`,
 * the longest wait without progress, and a second at least. A server's machine that is gone answers
 * no retransmission, which the kernel would go on with for a quarter of an hour; broken, the
 * request is repeated on a new connection, to whatever machine has the address by then. The kernel
 * counts the time in which the peer's window is full, too: less than `call_ms` would cut off a
 * server that reads late but within it. Nothing on a UNIX socket.
 */
void chi_connect_limit(int fd, const struct chi_address *address, uint32_t call_ms);

/* Keeps the address that `fd` is connected to, so that the host's name is not looked up again. */
void chi_connect_keep(int fd, struct chi_address *address);

/*
 * poll() on one descriptor until `deadline` (chi_now_ms), going on after signals. Returns the
 * events that came, 0 when the time is over.
 */
short chi_wait(int fd, short events, int64_t deadline);
