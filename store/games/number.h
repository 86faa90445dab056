/* SPDX-License-Identifier: MIT */
/* Keys of the trees of games: the number of a chunk's first game, big-endian. */
#pragma once

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

#include "store/chain/chain.h"

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

/* The last chunk that begins at `number` or before. An LMDB code; MDB_NOTFOUND: there is none. */
int chi_number_before(MDB_cursor *cursor, enum chi_chain chain, uint32_t number, MDB_val *key,
		      MDB_val *value);
