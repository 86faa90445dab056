/* SPDX-License-Identifier: MIT */
/*
 * Is between the program and the C library's calls that change files: the definitions in
 * shim.c take the place of libc's for this program and for liblmdb, since a program's own symbols
 * come before those of shared libraries. So nothing has to be preloaded, and it works in the same
 * way under a sanitizer.
 *
 * Only what lies below one directory is watched; everything else passes through. Mapped memory
 * needs no watching: the store maps its file for reading only.
 */
#pragma once

#include <stdbool.h>

#include "tests/faults/journal.h"

/* The directory to watch: absolute, without symbolic links; copied. */
void shim_watch(const char *root);

/* Writes the calls down from now on; NULL: no more. */
void shim_record(struct journal *journal);

/* Whether syncs of watched files reach the disk. They take most of a test's time, and where no
 * machine is switched off they change nothing. */
void shim_sync(bool real);

enum shim_fault {
	SHIM_EIO,
	SHIM_ENOSPC,
	SHIM_SHORT,   /* a write takes half of what it is given; no other call fails */
	SHIM_LASTING, /* EIO, and so every later call */
	SHIM_HEAD,    /* EIO of a write with O_DSYNC, as meta pages are written; of no other call */
};

/* From now on the nth call, counted from 1, fails. 0: none does. */
void shim_fail(unsigned nth, enum shim_fault fault);

/* And the `gap`th call after it, counted from 1, if `gap` is not 0. */
void shim_fail_again(unsigned gap, enum shim_fault fault);

/* True if a call has failed since shim_fail. */
bool shim_failed(void);
/* The name of the call that failed first, "" before. */
const char *shim_failed_call(void);
