/* SPDX-License-Identifier: MIT */
/*
 * Filters of games that are in no store yet, as imports read them. The same terms mean the same as
 * of games of a store, but for aliases and FIDE ids, which only a store knows. Thread safe.
 */
#pragma once

#include "chess/pgn/game.h"
#include "search/filter/terms.h"

/* As chi_terms_parse. -CHI_EINVAL also: a term asks for what only a store knows: the game's number,
 * its source, a gameset, or what was on the boards. */
CHI_MUSTUSE int chi_unstored_parse(const char *text, struct chi_terms *out,
				   struct chi_fault *fault);

/* True if the game fits. */
bool chi_unstored_fits(const struct chi_terms *terms, const struct chi_pgn_game *game);
