/* SPDX-License-Identifier: MIT */
/*
 * The filter of system calls (seccomp), by libseccomp where the build has it. A call that is not on
 * a list fails with ENOSYS, which C libraries take for an older kernel and do with another call: a
 * C library that is newer than the lists must not stop the service. Only a call in the way of
 * another architecture kills the process.
 */
#pragma once

#include <stdbool.h>

/* What depends on the settings. */
struct chi_syscalls_options {
	bool names;  /* unix sockets that connect, for users and groups of directory services */
	bool notify; /* unix sockets that send to a service manager */
};

/* For this thread and what it starts from now on, permanently. 0, or an errno; ENOSYS: the build
 * has no libseccomp. */
int chi_syscalls_enter(const struct chi_syscalls_options *options);
