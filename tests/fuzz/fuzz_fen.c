/* SPDX-License-Identifier: MIT */
/* Reaches chess/fen.h: any bytes as a FEN. What is accepted must be normalised, print to a FEN
 * that reads back as the same position, and have a key that decodes to it. */
#include <string.h>

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/statistic.h"
#include "tests/fuzz/fuzz.h"
#include "tests/chess/position_equal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_position position;
	struct chi_position again;
	struct chi_fault fault = {.text = ""};
	int status = chi_fen_parse((const char *)data, size, &position, &fault);
	if (status != CHI_OK) {
		REQUIRE(status == -CHI_EFEN ||
			(status == -CHI_ETOOBIG && size > CHI_FEN_INPUT_MAX));
		REQUIRE(fault.text[0] != '\0');
		return 0;
	}
	REQUIRE(size <= CHI_FEN_INPUT_MAX);
	char fen[CHI_FEN_SIZE];
	char fen_again[CHI_FEN_SIZE];
	size_t len = chi_fen_print(&position, fen);
	REQUIRE(len < CHI_FEN_SIZE && strlen(fen) == len);
	REQUIRE(chi_fen_parse(fen, len, &again, NULL) == CHI_OK);
	REQUIRE(chi_position_equal(&position, &again));
	REQUIRE(chi_fen_print(&again, fen_again) == len && strcmp(fen, fen_again) == 0);

	struct chi_key key;
	chi_key_encode(&position, &key);
	REQUIRE(key.len >= CHI_KEY_MIN && key.len <= CHI_KEY_MAX);
	REQUIRE(chi_key_decode(&key, &again, NULL) == CHI_OK);
	REQUIRE(chi_position_equal(&position, &again));
	REQUIRE(chi_statistic_control(&position) <= CHI_CHI2_MAX);
	return 0;
}
