/* SPDX-License-Identifier: MIT */
/* Keys of the trees of games: the number of a chunk's first game, big-endian. */
#pragma once

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

#include "store/chain/chain.h"
#include "store/lmdb_err.h"

#define CHI_NUMBER_SIZE 4

static inline void chi_number_key(uint32_t number, uint8_t out[CHI_NUMBER_SIZE])
{
	for (size_t i = 0; i < CHI_NUMBER_SIZE; i++) {
		out[i] = (uint8_t)(number >> (8 * (CHI_NUMBER_SIZE - 1 - i)));
	}
}

static inline uint32_t chi_number_of(const uint8_t *key)
{
	return (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
}

/* The last chunk that begins at `number` or before, else the first one. An LMDB code; MDB_NOTFOUND:
 * there is none. */
static inline int chi_number_seek(MDB_cursor *cursor, enum chi_chain chain, uint32_t number,
				  MDB_val *key, MDB_val *value)
{
	uint8_t wanted[CHI_NUMBER_SIZE];
	chi_number_key(number, wanted);
	*key = chi_val(wanted, sizeof(wanted));
	return chi_chain_seek(cursor, chain, 0, key, value);
}
