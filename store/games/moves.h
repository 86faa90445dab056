/* SPDX-License-Identifier: MIT */
/* The moves of a game as bytes: those of chess/moves/movecode.h, from a key. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/moves/movecode.h"
#include "chistore/types.h"

/* Bytes of a move at most. */
#define CHI_MOVES_ROOM CHI_MOVECODE_MAX

/* `start` NULL: the initial position. `out` has room for n * CHI_MOVES_ROOM bytes. -CHI_EMOVE: one
 * is not legal; -CHI_EKEY: no such start position. */
CHI_MUSTUSE int chi_moves_pack(const struct chi_key *start, const chi_move *moves, size_t n,
			       uint8_t *out, size_t *len);

/* Exactly `n` moves. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_moves_unpack(const struct chi_key *start, const uint8_t *bytes, size_t len,
				 chi_move *moves, size_t n);
