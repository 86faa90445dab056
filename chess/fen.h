/* SPDX-License-Identifier: MIT */
/*
 * FEN, X-FEN and Shredder-FEN text to a normalised position and back. Text is outside data: any
 * bytes may come, and each refusal says which field is wrong and why.
 */
#pragma once

#include <stddef.h>

#include "chess/position.h"
#include "chistore/types.h"

/* The initial position of chess. */
#define CHI_FEN_START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

/*
 * Reads 4 to 6 fields separated by spaces, '_' or '+' (one or more; leading and trailing ones
 * ignored): placement, side, castling, en passant, and the two counters, which are checked and
 * dropped. `len` at most CHI_FEN_INPUT_MAX. The result is normalised:
 *  - a castling right whose king or rook is not in place is dropped; KQkq mean the outermost
 *    rook of that side, letters A-H a-h the rook on that file;
 *  - en passant is kept only if a legal en passant capture exists.
 * Returns CHI_OK, or -CHI_EFEN (malformed, or no key can hold it), -CHI_ETOOBIG.
 */
CHI_MUSTUSE int chi_fen_parse(const char *text, size_t len, struct chi_position *out,
			      struct chi_fault *fault);

/*
 * Prints normalised X-FEN with six fields, counters "0 1", NUL-terminated. Castling letters are
 * KQkq for the outermost rook on its side of the king, a file letter otherwise. Returns the
 * length, below CHI_FEN_SIZE.
 */
size_t chi_fen_print(const struct chi_position *position, char out[CHI_FEN_SIZE]);
