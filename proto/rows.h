/* SPDX-License-Identifier: MIT */
/*
 * Packed rows (PROTOCOL.md): what probes and scans answer with. Protobuf would spend a sub-message
 * and its allocation on each; these are read and written at memory speed.
 *
 *	+-------+---------------+---------+-------------+ - - - - - - - + - - - - - - - + - - - - -
 *+ | flags | chi2, 2 bytes | key len | key         | white, draws, | depth, score  | best move | |
 *| little-endian | 9..24   | 9..24 bytes | black, other  |               | 2 bytes   |
 *	+-------+---------------+---------+-------------+ - - - - - - - + - - - - - - - + - - - - -
 *+ if bit 1 is set, if bit 2 is,    if bits 4, 5
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/record.h"

/* Bytes after the rows that chi_put_rows may overwrite, for copies of fixed size. */
#define CHI_ROWS_SLACK CHI_KEY_MAX

/* Bytes of the rows; 0 if a key has a length no key has, or there are no rows. */
size_t chi_rows_len(const struct chi_row *rows, size_t n, bool counts);

/* `at` has room for chi_rows_len + CHI_ROWS_SLACK bytes. */
uint8_t *chi_put_rows(uint8_t *at, const struct chi_row *rows, size_t n, bool counts);

/*
 * Exactly `n` rows from exactly `len` bytes, into the arena. `n` is checked against `len` before
 * memory is taken. *counts: the rows found have counts; refused are those of which only some do.
 */
CHI_MUSTUSE int chi_rows_from(const uint8_t *bytes, size_t len, size_t n, struct chi_unpacker *u,
			      struct chi_row **out, bool *counts);

/* ---- Fields of results ------------------------------------------------------------------- */

/* Rows and their number, fields 1 and 2 of a result; *noted is for the writing. */
size_t chi_rows_fields_len(const struct chi_row *rows, size_t n, bool counts, size_t *noted);
uint8_t *chi_put_rows_fields(uint8_t *at, const struct chi_row *rows, size_t n, bool counts,
			     size_t noted);
CHI_MUSTUSE int chi_rows_fields_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
				     size_t max, struct chi_row **rows, size_t *n, bool *counts);

/* What results that are packed have: bytes in field 1, and in field 2 of how many, which is
 * returned. */
uint64_t chi_packed_of(const uint8_t *bytes, size_t len, struct chi_field *packed);
