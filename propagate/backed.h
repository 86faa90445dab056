/* SPDX-License-Identifier: MIT */
/* Backed-up scores of the positions that moves lead to, as an exploration shows them: its rows have
 * the deepest evaluation only, and that is one of these just where there is no other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore.h"

struct chi_backed {
	size_t n;
	struct chi_backed_move {
		chi_move move;
		bool is_mate;
		int32_t score; /* as in struct chi_eval: the view of the side to move after it */
	} of[CHI_MOVES_MAX];
};

/* Of the positions after all legal moves, in one call: answers before it are gone. `engine`: the
 * name of the scores, which are evaluations: those that are not seen are left out; NULL: all are
 * seen. What chi_get_many returns; -CHI_EKEY. */
CHI_MUSTUSE int chi_backed_ask(struct chi_client *client, const char *engine,
			       const struct chi_evidence *evidence, const struct chi_key *key,
			       struct chi_backed *out);

/* That of a move, or NULL. */
const struct chi_backed_move *chi_backed_of(const struct chi_backed *backed, chi_move move);
