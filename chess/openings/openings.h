/* SPDX-License-Identifier: MIT */
/*
 * Names of openings by position, whatever the order of moves that led there. The names are those
 * of chess/openings/, compiled in; a look-up is a search in a constant table.
 */
#pragma once

#include "chistore/types.h"

/*
 * The opening that the position is: its ECO code ("C50") and its name (UTF-8), both NUL-terminated
 * and of static storage. CHI_NONE, and NULL in both, if it has no name; any key may be asked for.
 * The result may be skipped: the pointers say the same.
 */
int chi_opening_find(const struct chi_key *key, const char **eco, const char **name);
