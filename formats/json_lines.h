/* SPDX-License-Identifier: MIT */
/*
 * A line of JSON to one position to store: an object as `get` and `export --format jsonl` print it.
 *
 *   fen                          the position; the only member that must be there
 *   chi2                         the statistic, a number
 *   white, draws, black, other   games by result; with `plies` they are set, or added, as a whole
 *   plies                        [{"ply": N, "games": N}]
 *   moves                        [{"uci": or "san":, white, draws, black, other}]
 *   evals                        [{"engine":, "multipv":, "depth":, "cp": or "mate":, "nodes":,
 *                                "pv":, "date":}]
 *   line                         moves, UCI or SAN, in a list or a text
 *   note                         text
 *   games, min_ply               accepted and ignored: they follow from the others
 *
 * A member that is null, empty or not there leaves what is stored alone, and so do counts that are
 * all 0: what a position does not have does not take it from another store's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "chistore/types.h"

struct chi_json_lines {
	bool add;		      /* counts, moves and plies are added to those stored */
	const char *engine;	      /* of evaluations that name none; NUL-terminated */
	char ignored[CHI_FAULT_SIZE]; /* names of members that mean nothing here, "" if none */
	uint64_t clamped;	      /* statistics beyond the scale, taken to its end */
};

/* Fills *put, its memory in `arena` (and the engine's name above). CHI_NONE: a blank line or a
 * comment (#). -CHI_EFEN, -CHI_ESYNTAX, -CHI_EMOVE, -CHI_ETOOBIG, -CHI_ENOMEM with the reason. */
CHI_MUSTUSE int chi_json_read(struct chi_json_lines *json, const char *line, size_t len,
			      struct chi_arena *arena, struct chi_put_entry *put,
			      struct chi_fault *fault);
