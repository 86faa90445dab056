/* SPDX-License-Identifier: MIT */
/*
 * Reaches the decoders of the names tree, and what is done with a name: the first byte chooses, the
 * next ones are a key, the rest a value, whose checksum is set right. A chunk that decodes must
 * encode to the same bytes; a list ascends; words are no longer than their name.
 */
#include <string.h>

#include "chess/names/fits.h"
#include "store/names/names_priv.h"
#include "store/record/codec.h"
#include "tests/fuzz/fuzz.h"

static uint8_t bytes[CHI_CHUNK_MAX];
static uint8_t again[CHI_CHUNK_MAX];

/* The value with a checksum of so many bytes; its length, 0 if it is too long. */
static size_t seal(const uint8_t *key, size_t key_len, const uint8_t *data, size_t len, size_t sum)
{
	if (len + sum > sizeof(bytes)) {
		return 0;
	}
	memcpy(bytes, data, len);
	uint64_t hash = chi_checksum(key, key_len, bytes, len);
	for (size_t i = 0; i < sum; i++) {
		bytes[len + i] = (uint8_t)(hash >> (8 * i));
	}
	return len + sum;
}

static void check_chunk(const MDB_val *key, const MDB_val *value)
{
	static struct chi_name_chunk chunk;
	if (chi_chunk_decode(key, value, CHI_CHUNK_NAMES, &chunk) == CHI_OK) {
		REQUIRE(chi_chunk_encode(key->mv_data, &chunk, again) == value->mv_size);
		REQUIRE(memcmp(again, value->mv_data, value->mv_size) == 0);
	}
}

static void check_list(const MDB_val *key, const MDB_val *value)
{
	struct chi_list_part part = {0};
	if (chi_list_decode(key, value, &part) == CHI_OK) {
		REQUIRE(part.n > 0 && part.id[0] > 0);
		for (size_t i = 1; i < part.n; i++) {
			REQUIRE(part.id[i] > part.id[i - 1]);
		}
	}
	chi_list_part_deinit(&part);
}

static void check_words(const uint8_t *data, size_t size)
{
	static struct chi_name_words words;
	static struct chi_name_words others;
	struct chi_name_mask masks[2];
	uint64_t keys[CHI_ALIKE_KEYS];
	size_t half = size / 2;
	chi_name_split((const char *)data, half, &words);
	chi_name_split((const char *)data + half, size - half, &others);
	REQUIRE(words.len <= half && words.n <= CHI_NAME_WORDS);
	REQUIRE(chi_player_alike(&words, &others) == chi_player_alike(&others, &words));
	REQUIRE(chi_title_alike(&words, &others) == chi_title_alike(&others, &words));
	REQUIRE(chi_player_alike_keys(&words, keys) <= CHI_ALIKE_KEYS);
	if (words.n > 0) {
		REQUIRE(chi_player_fits_words(&words, &words));
		REQUIRE(chi_name_has_words(&words, &words));
	}
	bool fits = chi_player_fits_words(&words, &others);
	chi_player_alike_mask(&words, 0, &masks[0]);
	chi_player_alike_mask(&others, 0, &masks[1]);
	REQUIRE(chi_name_masks_share(&masks[0], &masks[1]) ||
		(!fits && chi_player_alike(&words, &others) == CHI_ALIKE_NOT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t key_len = size > 0 && data[0] == 'c' ? CHI_CHUNK_KEY : CHI_LIST_KEY;
	if (size > 0 && data[0] == 'w') {
		check_words(data + 1, size - 1);
	} else if (size > key_len && (data[0] == 'c' || data[0] == 'l')) {
		bool chunk = data[0] == 'c';
		uint8_t key_bytes[CHI_NAMES_KEY_MAX];
		memcpy(key_bytes, data + 1, key_len);
		MDB_val key = {key_len, key_bytes};
		MDB_val value = {seal(key_bytes, key_len, data + 1 + key_len, size - 1 - key_len,
				      chunk ? CHI_CHUNK_SUM : CHI_LIST_SUM),
				 bytes};
		(chunk ? check_chunk : check_list)(&key, &value);
	}
	return 0;
}
