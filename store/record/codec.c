/* SPDX-License-Identifier: MIT */
/*
 * Checksums and the entries of the strength tree: the parts of the format that both the
 * encoder and the decoder of records rest on.
 */
#include "store/record/codec.h"

#include <endian.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "store/record/checksum.h"
#include "store/record/record_priv.h"

uint64_t chi_checksum_apart(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len)
{
	if (CHI_LIKELY(key_len <= CHI_HASH_KEY && len <= CHI_HASH_VALUE)) {
		uint8_t bytes[CHI_HASH_KEY + CHI_HASH_VALUE];
		memcpy(bytes, key, key_len);
		memcpy(bytes + key_len, value, len);
		return XXH3_64bits(bytes, key_len + len);
	}
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	XXH3_64bits_update(&state, key, key_len);
	XXH3_64bits_update(&state, value, len);
	return XXH3_64bits_digest(&state);
}

uint64_t chi_checksum(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len)
{
	return chi_checksum_inline(key, key_len, value, len);
}

size_t chi_strength_key(uint16_t chi2, const uint8_t *key, size_t key_len,
			uint8_t out[CHI_STRENGTH_KEY_MAX])
{
	chi_chi2_bytes(chi2, out);
	memcpy(out + 2, key, key_len);
	return 2 + key_len;
}

size_t chi_strength_value(const chi_move *line, size_t n_line, uint8_t out[CHI_STRENGTH_VALUE_MAX])
{
	for (size_t i = 0; i < n_line; i++) {
		out[2 * i] = (uint8_t)line[i];
		out[2 * i + 1] = (uint8_t)(line[i] >> 8);
	}
	return 2 * n_line;
}

bool chi_strength_ok(const uint8_t *entry_key, size_t key_len, size_t len)
{
	return key_len >= 2 + CHI_KEY_MIN && key_len <= CHI_STRENGTH_KEY_MAX &&
	       len <= CHI_STRENGTH_VALUE_MAX && len % 2 == 0 &&
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
