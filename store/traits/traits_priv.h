/* SPDX-License-Identifier: MIT */
/* Private to the room. */
#pragma once

#include "store/traits/traits.h"

/* The key of a list's chunks begins with the trait, its lower 7 bytes, big-endian. */
#define CHI_TRAIT_SIZE 7
void chi_trait_key(chi_trait trait, uint8_t out[CHI_TRAIT_SIZE]);
