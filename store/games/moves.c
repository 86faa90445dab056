/* SPDX-License-Identifier: MIT */
/* The moves of a game as bytes. */
#include "store/games/moves.h"

#include "chess/key.h"
#include "chess/moves/movecode.h"

static int position_of(const struct chi_key *start, struct chi_position *out)
{
	*out = chi_position_initial;
	return start != NULL ? chi_key_decode(start, out, NULL) : CHI_OK;
}

int chi_moves_pack(const struct chi_key *start, const chi_move *moves, size_t n, uint8_t *out,
		   size_t *len)
{
	struct chi_position position;
	int rc = position_of(start, &position);
	return rc == CHI_OK ? chi_movecode_encode(&position, moves, n, out, len) : rc;
}

int chi_moves_unpack(const struct chi_key *start, const uint8_t *bytes, size_t len, chi_move *moves,
		     size_t n)
{
	struct chi_position position;
	return position_of(start, &position) == CHI_OK
		       ? chi_movecode_decode(&position, bytes, len, moves, n)
		       : -CHI_ECORRUPT;
}
