/* SPDX-License-Identifier: MIT */
/*
 * Checksums, counts and the entries of the strength tree: the parts of the format that both the
 * encoder and the decoder of records stand on.
 */
#include "store/record/codec.h"

#include <endian.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "chess/key.h"
#include "store/record/checksum.h"
#include "store/record/record_priv.h"

uint64_t chi_checksum(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len)
{
	return chi_checksum_inline(key, key_len, value, len);
}

bool chi_counts_total(const struct chi_counts *counts, uint64_t *total)
{
	uint64_t sum;
	return !__builtin_add_overflow(counts->white, counts->draws, &sum) &&
	       !__builtin_add_overflow(sum, counts->black, &sum) &&
	       !__builtin_add_overflow(sum, counts->other, total);
}

bool chi_counts_add(struct chi_counts *sum, const struct chi_counts *more)
{
	uint64_t a;
	uint64_t b;
	uint64_t both;
	if (!chi_counts_total(sum, &a) || !chi_counts_total(more, &b) ||
	    __builtin_add_overflow(a, b, &both)) {
		return false;
	}
	sum->white += more->white;
	sum->draws += more->draws;
	sum->black += more->black;
	sum->other += more->other;
	return true;
}

bool chi_counts_equal(const struct chi_counts *a, const struct chi_counts *b)
{
	return a->white == b->white && a->draws == b->draws && a->black == b->black &&
	       a->other == b->other;
}

bool chi_plies_ok(const struct chi_ply_stat *plies, size_t n, const struct chi_counts *counts)
{
	uint64_t left;
	if (!chi_counts_total(counts, &left)) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (plies[i].ply > CHI_PLY_MAX || plies[i].games == 0 || plies[i].games > left ||
		    (i > 0 && plies[i].ply <= plies[i - 1].ply)) {
			return false;
		}
		left -= plies[i].games;
	}
	return true;
}

/* UTF-8 without NUL, which no C string can hold; an engine's name without control characters
 * too, because it is printed in tables. */
bool chi_record_text_ok(const char *text, size_t len, bool engine)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == 0 || (engine && (c < 0x20 || c == 0x7f))) {
			return false;
		}
	}
	return chi_utf8_valid(text, len);
}

int chi_engine_compare(const struct chi_eval *a, const struct chi_eval *b)
{
	size_t least = a->engine_len < b->engine_len ? a->engine_len : b->engine_len;
	int order = memcmp(a->engine, b->engine, least);
	if (order != 0) {
		return order;
	}
	return (a->engine_len > b->engine_len) - (a->engine_len < b->engine_len);
}

size_t chi_strength_key(uint16_t chi2, const uint8_t *key, size_t key_len,
			uint8_t out[CHI_STRENGTH_KEY_MAX])
{
	chi_chi2_bytes(chi2, out);
	memcpy(out + 2, key, key_len);
	return 2 + key_len;
}

size_t chi_strength_value(const uint8_t *entry_key, size_t key_len, const chi_move *line,
			  size_t n_line, uint8_t out[CHI_STRENGTH_VALUE_MAX])
{
	for (size_t i = 0; i < n_line; i++) {
		out[2 * i] = (uint8_t)line[i];
		out[2 * i + 1] = (uint8_t)(line[i] >> 8);
	}
	uint64_t sum = chi_checksum(entry_key, key_len, out, 2 * n_line);
	out[2 * n_line] = (uint8_t)sum;
	out[2 * n_line + 1] = (uint8_t)(sum >> 8);
	return 2 * n_line + 2;
}

bool chi_strength_ok(const uint8_t *entry_key, size_t key_len, const uint8_t *value, size_t len)
{
	if (key_len < 2 + CHI_KEY_MIN || key_len > CHI_STRENGTH_KEY_MAX || len < 2 ||
	    len > CHI_STRENGTH_VALUE_MAX || len % 2 != 0) {
		return false;
	}
	return chi_strength_sum_ok(entry_key, key_len, value, len) &&
	       chi_chi2_of(entry_key) != CHI_CHI2_UNKNOWN &&
	       chi_key_shape_ok(entry_key + 2, key_len - 2);
}

int chi_position_compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	/* Most keys differ in their mask of 8 bytes: two loads are less than a call. */
	if (CHI_LIKELY(a_len >= sizeof(uint64_t) && b_len >= sizeof(uint64_t))) {
		uint64_t a_mask;
		uint64_t b_mask;
		memcpy(&a_mask, a, sizeof(a_mask));
		memcpy(&b_mask, b, sizeof(b_mask));
		if (a_mask != b_mask) {
			return be64toh(a_mask) < be64toh(b_mask) ? -1 : 1;
		}
	}
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
	if (order != 0) {
		return order;
	}
	return (a_len > b_len) - (a_len < b_len);
}

int chi_strength_compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	/* Only a damaged page holds keys too short for a statistic; they sort before all others
	 * so that the order stays total. */
	if (CHI_UNLIKELY(a_len < 2 || b_len < 2)) {
		if (a_len < 2 && b_len < 2) {
			return chi_position_compare(a, a_len, b, b_len);
		}
		return a_len < 2 ? -1 : 1;
	}
	unsigned a_chi2 = (unsigned)a[1] << 8 | a[0];
	unsigned b_chi2 = (unsigned)b[1] << 8 | b[0];
	if (a_chi2 != b_chi2) {
		return a_chi2 < b_chi2 ? -1 : 1;
	}
	return chi_position_compare(a + 2, a_len - 2, b + 2, b_len - 2);
}
