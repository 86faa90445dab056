/* SPDX-License-Identifier: MIT */
/*
 * Position keys: the position itself in 9 to 24 bytes (types.h, store/FORMAT.md).
 *
 * Nibble codes, from C. James' record with P. Klausler's idea in the four free codes:
 *    0 black king, Black to move      8 pawn that can be captured en passant now
 *    1 white bishop                   9 black bishop
 *    2 white king                    10 black king, White to move
 *    3 white knight                  11 black knight
 *    4 white pawn                    12 black pawn
 *    5 white queen                   13 black queen
 *    6 white rook                    14 black rook
 *    7 white rook that may castle    15 black rook that may castle
 * A position without a black king has White to move.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

/* Encodes a normalised position. Every position that chi_fen_parse or chi_key_decode accept can be
 * encoded, and every position reached from one by legal moves if there is a black king. (Without
 * one, no key can say that Black is to move: it is written as if White were.) */
void chi_key_encode(const struct chi_position *position, struct chi_key *out);

/* The same, the bytes alone, zeros after the key. Its length follows from the mask. */
void chi_key_bytes(const struct chi_position *position, uint8_t out[CHI_KEY_MAX]);

/* The length of a key whose first eight bytes are these. */
size_t chi_key_length(const uint8_t mask[8]);

/*
 * Decodes, checking everything: length, padding, nibbles, and that the position is normalised,
 * i.e. encoding it again gives the same bytes. Returns CHI_OK or -CHI_EKEY.
 */
CHI_MUSTUSE int chi_key_decode(const struct chi_key *key, struct chi_position *out,
			       struct chi_fault *fault);

/* The cheap checks on bytes that were stored by Chistore: length fits the mask, padding is zero.
 */
bool chi_key_shape_ok(const uint8_t *bytes, size_t len);

/* FEN text straight to a key and back; errors as chi_fen_parse and chi_key_decode. */
CHI_MUSTUSE int chi_key_from_fen(const char *text, size_t len, struct chi_key *out,
				 struct chi_fault *fault);
CHI_MUSTUSE int chi_key_to_fen(const struct chi_key *key, char out[CHI_FEN_SIZE],
			       struct chi_fault *fault);
