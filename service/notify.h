/* SPDX-License-Identifier: MIT */
/*
 * What a service manager (systemd) and the daemon tell each other, by environment variables and
 * datagrams, as sd_notify(3), sd_listen_fds(3) and sd_watchdog_enabled(3) describe it. Without one,
 * nothing happens here.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "service/listen.h"

/* Sends it "READY=1", "STOPPING=1", "WATCHDOG=1"; what cannot be sent is lost. */
void chi_notify(const char *state);

/* How often it wants to hear "WATCHDOG=1" at least, in microseconds; 0: not at all. */
uint64_t chi_notify_watchdog(void);

/* A listening socket that was passed. */
struct chi_passed {
	int fd;
	char name[CHI_ACTIVATION_NAME_MAX + 1];
};

struct chi_passed_list {
	struct chi_passed sockets[CHI_LISTENS_MAX];
	size_t n;
};

/* What was passed to this process, closed in children, with the environment cleared of it, so that
 * it is found once. To be called before anything is opened, which would be taken for it.
 * -CHI_EINVAL: the environment makes no sense, or there are too many. */
CHI_MUSTUSE int chi_notify_passed(struct chi_passed_list *out, struct chi_fault *fault);
