/* SPDX-License-Identifier: MIT */
/* Reaches chess/moves/movecode.h: the first line is a FEN, the rest a game's bytes. Whatever they
 * are, each move read is one of an own piece to a square without one, its bytes are the ones it is
 * written as, and it can be printed. */
#include <string.h>

#include "chess/fen.h"
#include "chess/moves/movecode.h"
#include "chess/notation.h"
#include "tests/fuzz/fuzz.h"

static void check_move(const struct chi_position *before, const struct chi_position *after,
		       chi_move move)
{
	char text[CHI_SAN_SIZE];
	uint64_t own = before->colour[before->side];
	REQUIRE((own >> chi_move_from(move) & 1) != 0);
	REQUIRE((own >> chi_move_to(move) & 1) == 0 || chi_position_is_castling(before, move));
	REQUIRE((before->kind[CHI_KING] >> chi_move_to(move) & 1) == 0);
	REQUIRE((after->colour[0] & after->colour[1]) == 0);
	REQUIRE(chi_san_write(before, move, after, text) < CHI_SAN_SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
	struct chi_position start;
	struct chi_replay replay;
	chi_move move = 0;
	int status = CHI_OK;
	if (end == NULL ||
	    chi_fen_parse((const char *)data, (size_t)(end - data), &start, NULL) != CHI_OK) {
		return 0;
	}
	chi_replay_init(&replay, &start, end + 1, size - (size_t)(end + 1 - data));
	do {
		struct chi_position before = *chi_replay_position(&replay);
		const uint8_t *at = replay.at;
		int last = replay.last;
		uint8_t again[CHI_MOVECODE_MAX];
		status = chi_replay_next(&replay, &move);
		if (status == CHI_OK) {
			check_move(&before, chi_replay_position(&replay), move);
			size_t len = chi_movecode_write(&before, last, move, again);
			REQUIRE(len == (size_t)(replay.at - at) && memcmp(again, at, len) == 0);
		}
	} while (status == CHI_OK);
	REQUIRE(status == CHI_NONE || status == -CHI_ECORRUPT);
	return 0;
}
