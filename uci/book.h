/* SPDX-License-Identifier: MIT */
/* Moves and answers from the store, without a search. */
#pragma once

#include "chess/position.h"
#include "chistore.h"
#include "uci/options.h"

#define CHI_BOOK_SAYS 160

/* A move that the games in the store recommend; CHI_NONE: they do not. `says` (CHI_BOOK_SAYS
 * bytes) tells why. The same seed, but 0, chooses the same move in the same position. Negative: as
 * chi_explore. */
CHI_MUSTUSE int chi_book_move(struct chi_client *client, const struct chi_uci_options *options,
			      const struct chi_position *position, chi_move *move, char *says);

/* The deepest evaluation of at least `depth` plies with a line that begins with a move, until the
 * next call on `client`; CHI_NONE: there is none. */
CHI_MUSTUSE int chi_book_answer(struct chi_client *client, const struct chi_position *position,
				uint32_t depth, const struct chi_eval **out);
