/* SPDX-License-Identifier: MIT */
/* What reading and writing chunks of columns share. */
#pragma once

#include "store/games/columns.h"

/* Bytes before the first column. */
#define COLUMNS_HEAD (2 + 5 * (size_t)CHI_COLUMNS)

/* Over the key, and the chunk without its last four bytes. */
uint32_t chi_columns_checksum(const MDB_val *key, const uint8_t *bytes, size_t len);
