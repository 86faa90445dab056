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

/* ---- The files of a store, onto which nothing else is written -------------------------- */

#define DATA_NAME     "data.mdb"
#define COMPACT_NAME  "data.mdb.compact"
#define LMDB_LOCK     "lock.mdb"
#define CHI_LOCK_NAME "chistore.lock"

/* Before a file of another kind is made, replaced or added to: -CHI_EINVAL if `path`, itself or
 * by links, is a file of a store, or has the name of one in the directory of a store. */
CHI_MUSTUSE int chi_dir_files_spare(const char *path, struct chi_fault *fault);

/* Before a store is made in the open directory `dir`, named `path` in messages: -CHI_EINVAL if it
 * is the directory of a store, or below one. */
CHI_MUSTUSE int chi_dir_files_outside(int dir, const char *path, struct chi_fault *fault);
