/* SPDX-License-Identifier: MIT */
/* Checking a stored record with all that chess knows. */
#pragma once

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_arena;
struct chi_record_rest;

/* Checks a position's key and record with all that chess knows. CHI_OK: the record is in memory of
 * `arena`, which is reset first, and so is *rest, which may be NULL; -CHI_ECORRUPT: *problem says
 * what is wrong; -CHI_ENOMEM: not known. */
CHI_MUSTUSE int chi_record_examine(enum chi_statistic statistic, const MDB_val *key,
				   const MDB_val *value, struct chi_arena *arena,
				   struct chi_record *record, struct chi_record_rest *rest,
				   const char **problem);

/* A position key's bytes as FEN, or in hex if they are no position. Returns `out`. */
const char *chi_key_name(const uint8_t *bytes, size_t len, char out[CHI_FEN_SIZE]);
