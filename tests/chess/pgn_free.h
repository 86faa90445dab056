/* SPDX-License-Identifier: MIT */
/* For `_cleanup_(chi_pgn_freep) struct chi_pgn *x = NULL;` */
#pragma once

#include "chess/pgn/pgn.h"

static inline void chi_pgn_freep(struct chi_pgn **pgn)
{
	chi_pgn_free(*pgn);
}
