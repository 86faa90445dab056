/* SPDX-License-Identifier: MIT */
/* How fast a game was: one rule for all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"

/* By enum chi_speed; ended by NULL. */
extern const char *const chi_speed_names[CHI_SPEEDS + 1];

/* By the TimeControl tag, or where that says nothing by the first word of the Event tag that names
 * a speed. Neither text need end with a NUL. */
enum chi_speed chi_speed_of(const char *control, size_t control_len, const char *event,
			    size_t event_len);
