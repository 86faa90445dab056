/* SPDX-License-Identifier: MIT */
/* A PGN file whose games are in a store of its own, and that was edited or replaced since. */
#pragma once

#include "cli/games/pgn_offsets.h"

/* Takes the games out of the store that the file had when it was read last, as the index at `book`
 * says, and that it no longer has, as `now` says. Without such an index none. */
CHI_MUSTUSE int pgn_lost_take_out(const char *address, const struct chi_options *options,
				  struct pgn_offsets *now, const char *book,
				  struct chi_fault *fault);
