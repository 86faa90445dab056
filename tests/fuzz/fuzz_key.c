/* SPDX-License-Identifier: MIT */
/* Reaches chess/key.h: any bytes as a position key. A key that decodes is the key of what it
 * decodes to, byte for byte, and survives the way over a FEN. */
#include <string.h>

#include "chess/key.h"
#include "tests/fuzz/fuzz.h"

static bool same_key(const struct chi_key *a, const struct chi_key *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static void check_decode(const struct chi_key *key)
{
	struct chi_position position;
	struct chi_fault fault = {.text = ""};
	struct chi_key again;
	char fen[CHI_FEN_SIZE];
	int status = chi_key_decode(key, &position, &fault);
	REQUIRE(chi_key_to_fen(key, fen, NULL) == status);
	if (status != CHI_OK) {
		REQUIRE(status == -CHI_EKEY && fault.text[0] != '\0');
		return;
	}
	chi_key_encode(&position, &again);
	REQUIRE(same_key(key, &again));
	REQUIRE(chi_key_shape_ok(key->bytes, key->len));
	REQUIRE(chi_key_from_fen(fen, strlen(fen), &again, NULL) == CHI_OK);
	REQUIRE(same_key(key, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* With the length the input claims, which the mask may contradict. */
	if (size <= CHI_KEY_MAX) {
		struct chi_key key = {.len = (uint8_t)size};
		if (size > 0) {
			memcpy(key.bytes, data, size);
		}
		check_decode(&key);
	} else {
		REQUIRE(!chi_key_shape_ok(data, size));
	}
	return 0;
}
