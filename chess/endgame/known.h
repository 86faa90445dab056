/* SPDX-License-Identifier: MIT */
/* What is known of a signature, and names made from one. Private to the room. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/endgame/endgame.h"

struct chi_known {
	const char *signature;
	char usual; /* of the first side: 'w'ins, 'l'oses, 'd'raws, '?' depends */
	uint16_t won;
	uint16_t drawn;
	uint16_t lost;
	uint16_t longest; /* 0: the four are not given */
	const char *note;
};

/* NULL: not in the table. The signature's sides are in the table's order or not there. */
const struct chi_known *chi_known_find(const char *signature);

/* Writes "rook and two pawns against rook"; counts by kind. */
void chi_endgame_name(const uint8_t first[6], const uint8_t second[6],
		      char out[CHI_ENDGAME_NAME_SIZE]);
