/* SPDX-License-Identifier: MIT */
/* The moves of a game as bytes: two for each, little-endian. */
#include "store/games/moves.h"

#include "base/wire.h"

int chi_moves_pack(const struct chi_key *start, const chi_move *moves, size_t n, uint8_t *out,
		   size_t *len)
{
	struct chi_writer to = chi_writer_of(out, n * CHI_MOVES_ROOM);
	(void)start;
	for (size_t i = 0; i < n; i++) {
		chi_write_le(&to, moves[i], 2);
	}
	*len = (size_t)(to.at - out);
	return CHI_OK;
}

int chi_moves_unpack(const struct chi_key *start, const uint8_t *bytes, size_t len, chi_move *moves,
		     size_t n)
{
	struct chi_reader from = chi_reader_of(bytes, len);
	(void)start;
	for (size_t i = 0; i < n; i++) {
		moves[i] = (chi_move)chi_read_le(&from, 2);
	}
	return from.bad || from.at != from.end ? -CHI_ECORRUPT : CHI_OK;
}
