/* SPDX-License-Identifier: MIT */
/* How much memory there is to keep a file's pages in. */
#pragma once

#include <stdint.h>

/*
 * The least limit of memory that a control group sets to this process, its own or one above it, in
 * version 1 or 2; UINT64_MAX if there is none, or it cannot be read. `cgroups` is
 * /proc/self/cgroup, `mount` /sys/fs/cgroup.
 */
uint64_t chi_memory_limit(const char *cgroups, const char *mount);

/* The machine's memory, or that limit if it is less. */
uint64_t chi_memory_bytes(void);
