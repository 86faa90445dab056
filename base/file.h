/* SPDX-License-Identifier: MIT */
/* What is done with files in more than one room. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "chistore/types.h"

/* A file in directory `dir` without a name: what is written to it is gone with the process, however
 * it ends. Open for reading and writing, closed on exec; the caller's to close. -1, and errno tells
 * why. */
int chi_file_nameless(const char *dir);

/* Reads to the end of the file, or until `room` is full; the number of bytes. -1, and errno tells
 * why. */
ssize_t chi_file_read(int fd, void *out, size_t room);

/* Reads or writes all bytes at `offset`, or fails: -CHI_EIO, also at the file's end, -CHI_EFULL. */
CHI_MUSTUSE int chi_file_pread(int fd, void *bytes, size_t len, uint64_t offset);
CHI_MUSTUSE int chi_file_pwrite(int fd, const void *bytes, size_t len, uint64_t offset);
