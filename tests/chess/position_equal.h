/* SPDX-License-Identifier: MIT */
#pragma once

#include "chess/position.h"

/* Same pieces, rights, en passant square and side. (Bytes of padding make memcmp unfit.) */
static inline bool chi_position_equal(const struct chi_position *a, const struct chi_position *b)
{
	return memcmp(a->kind, b->kind, sizeof(a->kind)) == 0 &&
	       memcmp(a->colour, b->colour, sizeof(a->colour)) == 0 && a->castle == b->castle &&
	       a->side == b->side && a->ep == b->ep;
}
