/* SPDX-License-Identifier: MIT */
/* Games of an archive played again: their positions become items to sort (import/count.h), as they
 * were when the games were imported. */
#pragma once

#include "import/dump/carry.h"
#include "store/archive.h"

/* Adds the items of the plan's games, numbered as there: of those that are known, or else of those
 * that have a number in the store. -CHI_ECORRUPT: one is damaged, or not there. */
CHI_MUSTUSE int chi_replay_games(const struct chi_importer *importer,
				 const struct chi_archive_view *view,
				 const struct chi_carried_plan *plan, bool known,
				 struct chi_sorter *items, struct chi_fault *fault);
