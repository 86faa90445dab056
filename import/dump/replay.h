/* SPDX-License-Identifier: MIT */
/* Games of an archive played again: their positions become items to sort (import/count.h), as they
 * were when the games were imported. */
#pragma once

#include "import/count.h"
#include "base/sorter.h"
#include "store/archive.h"
#include "store/games/archive.h"

/* Zeroed at first. */
struct chi_replayer {
	struct chi_archive_reader *reader;
	struct chi_counter *counter;
	struct chi_position *positions; /* of one game, */
	chi_move *moves;		/* and its moves */
};

/* May fail half done: chi_replayer_deinit is called in every case. */
CHI_MUSTUSE int chi_replayer_init(struct chi_replayer *replayer,
				  const struct chi_archive_view *view);
void chi_replayer_deinit(struct chi_replayer *replayer);

/* Adds the items of a game to the filler, which are numbered as it is. -CHI_ECORRUPT: it is
 * damaged, or there is none. */
CHI_MUSTUSE int chi_replayer_count(struct chi_replayer *replayer, uint32_t number,
				   struct chi_filler *filler, struct chi_fault *fault);
