/* SPDX-License-Identifier: MIT */
/* How names and gamesets are spilled: a head, and after it the name's text, or the gameset's name
 * and its filter. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chess/names/words.h"
#include "store/gamesets/gamesets.h"

struct chi_carried_head {
	uint32_t kind; /* 0: a gameset */
	uint32_t id;
	uint32_t root;
	uint32_t fide;
	bool given;   /* the FIDE id, by hand or by a spelling file */
	uint32_t len; /* of the name, or of the gameset's */
};

#define CHI_CARRIED_TEXT_MAX                                                                       \
	(sizeof(struct chi_carried_head) + CHI_NAME_MAX + CHI_GAMESET_KEY_MAX +                    \
	 CHI_GAMESET_FILTER_MAX)
