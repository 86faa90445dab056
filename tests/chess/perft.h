/* SPDX-License-Identifier: MIT */
/* Counting the leaves of the tree of legal moves: the proof of the move generator. */
#pragma once

#include <stdint.h>

#include "chess/position.h"

/* Number of lines of `depth` legal moves from `position`; 1 for depth 0. */
uint64_t chi_perft(const struct chi_position *position, unsigned depth);
