/* SPDX-License-Identifier: MIT */
/*
 * Strict text to number: the whole text, no spaces, no sign where none can be, no overflow.
 * Each returns CHI_OK or -CHI_ESYNTAX and leaves *out alone on failure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* Decimal, at most `max`. */
CHI_MUSTUSE int chi_num_u64(const char *text, size_t len, uint64_t max, uint64_t *out);

/* Decimal with an optional sign, |value| <= `max`. */
CHI_MUSTUSE int chi_num_i64(const char *text, size_t len, int64_t max, int64_t *out);

/* Bytes with an optional suffix K, M, G, T (powers of 1024). */
CHI_MUSTUSE int chi_num_size(const char *text, size_t len, uint64_t *out);

/* A statistic as text ("76", "76.0", "57.995", "-" = not known) to hundredths, rounded half up
 * at the second decimal. Known values are clamped to 1..CHI_CHI2_MAX; 0 or "0.00" is not known. */
CHI_MUSTUSE int chi_chi2_parse(const char *text, size_t len, uint16_t *out);

/* Whether chi_chi2_parse takes such a text to an end of the scale: it means less than 0.005 or,
 * rounded, more than 255.99. */
bool chi_num_chi2_clamped(const char *text, size_t len);

/* "76.00", or "-" for not known, NUL-terminated; returns the length. */
#define CHI_CHI2_TEXT_SIZE 8
size_t chi_chi2_print(uint16_t chi2, char out[CHI_CHI2_TEXT_SIZE]);

/* "2026-11-22T09:30:00Z" (ISO 8601, UTC; the time may be left out) to seconds since 1970, and back
 * with a NUL; the length, or 0 for what has no such text: 0 seconds, which say "not given", and
 * years over 9999. */
#define CHI_TIME_TEXT_SIZE 21
CHI_MUSTUSE int chi_num_time(const char *text, size_t len, uint64_t *out);
size_t chi_num_time_print(uint64_t seconds, char out[CHI_TIME_TEXT_SIZE]);

/* Bytes to lower-case hex and back; `out` has room for 2 * len + 1, resp. len / 2 bytes. */
void chi_hex_print(const void *bytes, size_t len, char *out);
CHI_MUSTUSE int chi_hex_parse(const char *text, size_t len, uint8_t *out);

/* True if the bytes are well-formed UTF-8 (Unicode 15, table 3-7). */
bool chi_utf8_valid(const char *text, size_t len);
