/* SPDX-License-Identifier: MIT */
/* Looking for a position in games, played again. Private to the room; one thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/archive.h"
#include "store/games/archive.h"

/* The first ply at which the game reached the position, -1 if it did not, and the move that it
 * played there, 0 if it ended. CHI_NONE: there is no such game. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_replay_find(struct chi_archive_reader *reader, uint32_t number,
				const struct chi_position *position, int32_t *ply, chi_move *move);
