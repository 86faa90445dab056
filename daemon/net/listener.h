/* SPDX-License-Identifier: MIT */
/*
 * The listening sockets: unix ones with their mode and their file's care, TCP ones on loopback
 * addresses only unless they speak TLS. When descriptors run out, listening rests for
 * half a second instead of spinning.
 */
#pragma once

#include "chistore/types.h"
#include "daemon/settings/config.h"

struct chi_listener;
struct chi_server;

/* Binds and listens everywhere, accepting nothing yet. -CHI_EBUSY: another server answers there;
 * -CHI_EEXIST: something that is no socket; -CHI_EACCES, -CHI_EINVAL, -CHI_EIO. */
CHI_MUSTUSE int chi_listener_new(struct chi_server *server, const struct chi_config *config,
				 struct chi_listener **out, struct chi_fault *fault);

/* Closes the sockets and removes the files that are still ours. NULL is fine. */
void chi_listener_free(struct chi_listener *listener);

/* Listens and accepts, as the user that the server is now. */
CHI_MUSTUSE int chi_listener_start(struct chi_listener *listener, struct chi_fault *fault);

/* The addresses as they turned out, with a space between; valid while the listener lives. */
const char *chi_listener_addresses(const struct chi_listener *listener);
