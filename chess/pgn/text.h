/* SPDX-License-Identifier: MIT */
/*
 * The text of PGN files made plain: which bytes belong together, what typographers' signs mean
 * for, values of tags as clean UTF-8. For readers of PGN, and of names that must equal tags.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chess/pgn/game.h"

/* What a sign beyond ASCII means in a move text, where it is not a plain ASCII character. */
#define CHI_PGN_GAP	' '    /* a blank, or the dots after a move number */
#define CHI_PGN_HALF	'h'    /* one half, as one sign */
#define CHI_PGN_UNKNOWN '\x01' /* nothing that is part of a move */

/* The longest sign in bytes. */
#define CHI_PGN_SIGN_MAX 4

/*
 * The sign that starts at `at` (a byte >= 0x80): UTF-8 if it is well-formed, else one byte of
 * Windows Latin-1. Returns its length; `meaning` becomes an ASCII character ('-', 'x', a piece's
 * letter) or one of the above.
 */
size_t chi_pgn_sign(const char *at, const char *end, char *meaning);

/* Writes a token in plain ASCII, NUL-terminated; what does not fit is cut. Returns the length. */
size_t chi_pgn_fold(const char *text, size_t len, char *out, size_t size);

/*
 * A tag's value as UTF-8: converted from Windows Latin-1 unless it is well-formed, control
 * characters to blanks, blanks at the ends dropped, \" and \\ resolved, cut at `max` bytes; then
 * *cut becomes true. `out` has room for that and a NUL. Returns the length.
 */
size_t chi_pgn_value(const char *text, size_t len, char *out, size_t max, bool *cut);

/* A comment as UTF-8, the same way; line feeds stay, CR before them go, nothing is resolved, and
 * no NUL follows. No line of it but the first begins with `[Event "`. */
size_t chi_pgn_comment_text(const char *text, size_t len, char *out, size_t max);

/*
 * Movetext as UTF-8 such that the reader finds the same in it: each character beyond ASCII that is
 * not UTF-8 is converted, control characters that are part of words become '~', NUL a comma,
 * other blanks but line feeds a space, CR before a line feed goes. No line of it but the first
 * begins with `[Event "`. Returns the length, or SIZE_MAX if it does not fit in `max`.
 */
size_t chi_pgn_movetext(const char *text, size_t len, char *out, size_t max);

/* Copies a text for messages, bytes that are not printable ASCII as '?'. */
void chi_pgn_quote(const char *text, size_t len, char out[CHI_PGN_TEXT_SIZE]);

/* True if the ASCII text is a result; of plain ASCII as chi_pgn_fold writes it. */
bool chi_pgn_is_result(const char *text, size_t len, enum chi_result *out);
