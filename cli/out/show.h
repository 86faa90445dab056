/* SPDX-License-Identifier: MIT */
/* A command for a shell, in a row of a table, that shows what the row is made of. */
#pragma once

#include "chistore/types.h"
#include "formats/filter_text.h"

#define SHOW_SIZE (CHI_FEN_SIZE + CHI_FILTER_TEXT_SIZE + 64)

/* One that lists the games that came to a position and fit the filter; "": all. */
void show_games(const char *fen, const char *filter, char out[SHOW_SIZE]);

/* One that shows all that is known of a position, each evaluation. */
void show_position(const char *fen, char out[SHOW_SIZE]);
