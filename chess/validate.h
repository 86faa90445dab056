/* SPDX-License-Identifier: MIT */
/*
 * What a position must fulfil to have a key, in one place: FEN and key readers, and the tests,
 * ask here.
 */
#pragma once

#include "chess/position.h"
#include "chistore/types.h"

/*
 * Checks that
 *  - there are 1 to 32 pieces, at most one king a colour, no pawn on the first or last rank;
 *  - there is a black king if Black is to move;
 *  - each rook that may castle is on its back rank with its king, at most one on each side
 *    of the king;
 *  - the en passant square is set only if a legal en passant capture goes there.
 * Returns CHI_OK, or `status` with the reason in `fault`.
 */
CHI_MUSTUSE int chi_position_check(const struct chi_position *position, int status,
				   struct chi_fault *fault);
