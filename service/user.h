/* SPDX-License-Identifier: MIT */
/*
 * Becoming someone else. A daemon that is started as root does as root what only root may -
 * sockets, keys, the log - and then permanently becomes the user named on the command line, before
 * it opens a store or reads a byte of a client's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_user {
	bool given; /* false: the user who started it */
	uint32_t uid;
	uint32_t gid;
	bool has_name;
	char name[256]; /* in the user database, for the groups; else the number */
};

/* NAME[:GROUP], each a name or a number; without GROUP the user's own. -CHI_EINVAL: there is none
 * of that name, or it is root. */
CHI_MUSTUSE int chi_user_parse(const char *text, struct chi_user *out, struct chi_fault *fault);

/* Before anything is made that would have to be given to the user. -CHI_EACCES: we are neither
 * root nor that user. */
CHI_MUSTUSE int chi_user_can(const struct chi_user *user, struct chi_fault *fault);

/*
 * Permanently: groups, group and user, with all capabilities gone, and tried whether there is a way
 * back. `log` is given to the user if it is a file. A process that is that user already, as
 * chi_user_can says, gives up capabilities. -CHI_EACCES: it cannot be done; then nothing may be
 * served.
 */
CHI_MUSTUSE int chi_user_become(const struct chi_user *user, int log, struct chi_fault *fault);
