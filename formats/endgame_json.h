/* SPDX-License-Identifier: MIT */
/* The class of an endgame as JSON. */
#pragma once

#include <stddef.h>

#include "chistore/types.h"

/* An object with family, signature, name, first, result, certain, note and figures, or null if the
 * position is no endgame; NUL-terminated; returns the length. */
#define CHI_ENDGAME_JSON_SIZE 1024
size_t chi_endgame_json(const struct chi_key *key, char out[CHI_ENDGAME_JSON_SIZE]);
