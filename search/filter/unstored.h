/* SPDX-License-Identifier: MIT */
/*
 * Filters of games that are in no store yet, as imports read them. The same terms mean the same as
 * of games of a store, but for aliases and FIDE ids, which only a store knows.
 */
#pragma once

#include "chess/pgn/game.h"
#include "search/filter/terms.h"

/* As chi_terms_parse. -CHI_EINVAL also: a term asks for what only a store knows: the game's number,
 * its source, a gameset, a position by its list of games, what a store has of a position. Thread
 * safe. */
CHI_MUSTUSE int chi_unstored_parse(const char *text, struct chi_terms *out,
				   struct chi_fault *fault);

/* What tests games, for one thread. `terms`, which chi_unstored_parse made, must outlive it.
 * -CHI_ENOMEM, -CHI_ETOOBIG: as chi_motif_new. */
struct chi_unstored;
CHI_MUSTUSE int chi_unstored_new(const struct chi_terms *terms, struct chi_unstored **out,
				 struct chi_fault *fault);
/* NULL is fine. */
void chi_unstored_free(struct chi_unstored *unstored);

/* True if the game fits. */
bool chi_unstored_fits(struct chi_unstored *unstored, const struct chi_pgn_game *game);
