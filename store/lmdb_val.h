/* SPDX-License-Identifier: MIT */
/* Bytes as LMDB takes them. */
#pragma once

#include <lmdb.h>
#include <stddef.h>

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
