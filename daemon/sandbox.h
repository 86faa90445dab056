/* SPDX-License-Identifier: MIT */
/*
 * What the daemon can reach once it serves: its stores, the directories of what SIGHUP makes it
 * read or open again, its clients, and nothing else. An attacker who takes it over has no more than
 * that. chistored(8) describes it to operators.
 */
#pragma once

#include "chistore/types.h"

struct chi_server;

/* For this thread and those it starts from now on, when all else is open. Says in the log what is
 * in force. -CHI_EUNSUPPORTED: the settings require what the kernel or the build does not have. */
CHI_MUSTUSE int chi_daemon_confine(const struct chi_server *server, struct chi_fault *fault);
