/* SPDX-License-Identifier: MIT */
/*
 * The filter of system calls (seccomp), by libseccomp where the build has it. What is not on a list
 * is refused: calls known to be of harm with EPERM, all others with ENOSYS, which C libraries take
 * for an older kernel and do with another call. Nobody is killed for a call, but for one in the way
 * of another architecture: a C library that is newer than the lists must not stop the service.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Who is filtered, from much to little. */
enum chi_caller {
	CHI_CALLER_SERVER, /* serves clients and writes stores */
	CHI_CALLER_VERIFY, /* reads a store and prints what it finds */
	CHI_CALLERS,
};

/* What depends on the settings. */
struct chi_syscalls_options {
	pid_t server; /* the only process to which it may send signals: itself */
	bool names;   /* unix sockets that connect, for users and groups of directory services */
	bool notify;  /* unix sockets that send to a service manager */
};

/* Makes the filters, for this process and those forked from it, in a child that has ended when this
 * returns; before there are threads, once. 0, or an errno; ENOSYS: the build has no libseccomp;
 * ECANCELED: the child was killed. */
int chi_syscalls_prepare(const struct chi_syscalls_options *options);

/* For this thread and what it starts from now on, for good. 0, or an errno; ENOMEM: none was made.
 */
int chi_syscalls_enter(enum chi_caller caller);
