/* SPDX-License-Identifier: MIT */
/* Moves taken back: the positions before a position. */
#pragma once

#include "base/attr.h"
#include "chess/position.h"
#include "chistore/types.h"

/* Anything but CHI_OK ends the call, which returns it. */
typedef int chi_retro_each(void *context, const struct chi_position *before, chi_move move);

/*
 * Calls `each` for every position from which a legal move leads to `position`, once: whatever was
 * captured, and whatever rights to castle and to capture en passant there were before, as
 * normalised positions (chess/validate.h). Some 100 in a middle game, most of which no game
 * reached.
 */
CHI_MUSTUSE int chi_retro(const struct chi_position *position, chi_retro_each *each, void *context);
