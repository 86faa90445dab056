/* SPDX-License-Identifier: MIT */
/* Whether a bitmap is still what its filter says of the games it was made of. Private to the room.
 */
#pragma once

#include <stdint.h>

#include "search/filter/terms.h"
#include "store/archive.h"
#include "store/gamesets/gamesets.h"

/* Gamesets whose filters name gamesets, one in the other, at most. */
#define CHI_GAMESET_DEPTH 8

/* The state of the archive, and what the filter's texts mean in it. Statuses as of stamp_of. */
CHI_MUSTUSE int chi_stamp_mark(const struct chi_archive_view *view, const struct chi_terms *terms,
			       struct chi_gameset_mark *out);

/*
 * What the filter's texts mean, as far as names are concerned that were there when `mark` was made,
 * and what the gamesets that it names are. -CHI_EINVAL: one is not there; -CHI_ETOOBIG: they are
 * nested too deeply; -CHI_ECORRUPT, -CHI_ENOMEM, -CHI_EIO.
 */
CHI_MUSTUSE int chi_stamp_of(const struct chi_archive_view *view, const struct chi_terms *terms,
			     const struct chi_gameset_mark *mark, uint64_t *out);
