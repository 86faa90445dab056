/* SPDX-License-Identifier: MIT */
/* The values of put's options, from text to what a record holds. Each says what is wrong and
 * returns an exit code. */
#pragma once

#include "base/arena.h"
#include "cli/cli.h"

/* "W,D,L", games won by White, drawn, won by Black, to a struct chi_counts. */
cli_reader option_counts;

/* Moves in SAN or UCI, played one after the other from `key`; memory of *moves in `arena`. An
 * empty text gives none. */
int text_line(struct cli *cli, const struct chi_key *key, const char *text, struct chi_arena *arena,
	      const chi_move **moves, size_t *n);

/* "ENGINE:DEPTH:CP" or "ENGINE:DEPTH:mateN", with "/LINE" or without; out->engine points into
 * `text`. The engine's name may hold colons, as the last two decide. */
int text_eval(struct cli *cli, const char *text, struct chi_eval *out);
