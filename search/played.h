/* SPDX-License-Identifier: MIT */
/* What games played at a position, by its list: none of them is unpacked. One thread. */
#pragma once

#include "chistore/types.h"
#include "store/archive.h"

struct chi_played;

/* Valid until the snapshot ends. CHI_NONE: no game of the archive reached the position;
 * -CHI_ENOMEM, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_played_open(struct chi_read *read, const struct chi_key *key,
				struct chi_played **out);
/* NULL is fine. */
void chi_played_close(struct chi_played *played);

/* A move that the game played there, 0: it ended. Numbers that ascend are read on to; a lower one
 * begins again. CHI_NONE: the game did not reach the position. */
CHI_MUSTUSE int chi_played_find(struct chi_played *played, uint32_t number, chi_move *move);
