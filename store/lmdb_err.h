/* SPDX-License-Identifier: MIT */
/* The one place where LMDB's and the operating system's error numbers become ours. */
#pragma once
#include <limits.h>
#include <lmdb.h>
#include <stddef.h>

#include "chistore/types.h"

/* 0 -> CHI_OK, MDB_NOTFOUND -> CHI_NONE, all others negative. */
CHI_MUSTUSE int chi_lmdb_status(int rc);

/* The same with a text: what was being done to what, and the reason. CHI_OK and CHI_NONE write
 * nothing. */
int chi_lmdb_fault(struct chi_fault *fault, int rc, const char *doing, const char *path);

/* A directory that is reached by its descriptor (/proc/self/fd/N) as people know it: the path
 * itself or its name, in `named`. */
const char *chi_path_said(const char *path, char named[static PATH_MAX]);

/*
 * For a failed commit or copy: LMDB reports a full disk as an input/output error, because the
 * write was only cut short. `dir`, the store's, is asked whether space is left.
 */
int chi_lmdb_write_fault(struct chi_fault *fault, int rc, const char *doing, const char *dir);

/* Bytes of an MDB_val, and the reverse. */
static inline MDB_val chi_val(const void *bytes, size_t len)
{
	/* LMDB takes what it only reads through the same struct as what it gives. */
	union {
		const void *in;
		void *out;
	} pointer = {.in = bytes};
	return (MDB_val){.mv_size = len, .mv_data = pointer.out};
}
