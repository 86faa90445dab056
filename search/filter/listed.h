/* SPDX-License-Identifier: MIT */
/*
 * The games that may have a motif, from the lists of games by trait (store/traits). A moment has
 * one material and one set of pawns at home: the games in the lists of all those that its
 * conditions leave possible are united. Of events, a moment's conditions may ask for one of some.
 * What several moments, or several kinds of traits, leave is intersected. Private to the room; one
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/traits/traits.h"
#include "search/filter/motif.h"
#include "search/filter/numbers.h"
#include "store/archive.h"

struct chi_listed;

/* `motif` and the view's snapshot must outlive it. Games below `from` may be missing. -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_listed_new(const struct chi_motif *motif, const struct chi_archive_view *view,
			       uint32_t from, struct chi_listed **out);
/* NULL is fine. */
void chi_listed_free(struct chi_listed *listed);

/* Reads lists. CHI_OK: it is done; CHI_NONE: the steps are used up; -CHI_ENOMEM, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_listed_step(struct chi_listed *listed, uint64_t *steps);

/* When it is done: the games; NULL: the lists do not help. */
const struct chi_numbers *chi_listed_games(const struct chi_listed *listed);
/* All these games have the motif. */
bool chi_listed_is_exact(const struct chi_listed *listed);
/* Kinds of traits that it is from, 1 << enum chi_trait_kind or'ed. */
unsigned chi_listed_kinds(const struct chi_listed *listed);

/* Bytes that it takes. */
size_t chi_listed_memory(const struct chi_listed *listed);
