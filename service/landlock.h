/* SPDX-License-Identifier: MIT */
/*
 * Landlock: a process tells the kernel which files it will use, and can use no others from then on,
 * nor can its threads and children. Asked for by system calls, since C libraries have no functions
 * for it; an older kernel that knows less keeps less away.
 */
#pragma once

#include <linux/landlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What may be done beneath a directory, or with a file. */
#define CHI_MAY_READ   LANDLOCK_ACCESS_FS_READ_FILE   /* files */
#define CHI_MAY_LIST   LANDLOCK_ACCESS_FS_READ_DIR    /* directories */
#define CHI_MAY_WRITE  LANDLOCK_ACCESS_FS_WRITE_FILE  /* files that are there */
#define CHI_MAY_CUT    (UINT64_C(1) << 14)	      /* them, to another length; version 3 */
#define CHI_MAY_CREATE LANDLOCK_ACCESS_FS_MAKE_REG    /* files */
#define CHI_MAY_REMOVE LANDLOCK_ACCESS_FS_REMOVE_FILE /* files */

struct chi_landlock_rule {
	const char *path; /* what is not there needs no rule and gets none */
	uint64_t rights;
};

/* What the kernel knows: 0 nothing, 1 files, 4 also TCP, 6 also signals and sockets without a file.
 */
int chi_landlock_version(void);

/*
 * Leaves this thread, and what it starts from now on, only what the rules say: of files; of TCP no
 * new connections and addresses; no signals to other processes; and no sockets without a file that
 * others listen on, unless `abstract` allows them. The process can never again gain privileges by
 * starting a program. 0, or an errno.
 */
int chi_landlock_enter(const struct chi_landlock_rule *rules, size_t n, bool abstract);
