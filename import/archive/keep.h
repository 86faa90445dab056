/* SPDX-License-Identifier: MIT */
/* Games that the archive keeps, as the reader delivers them: packed, and spilled until the commit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "chess/pgn/pgn.h"
#include "chistore/types.h"
#include "import/archive/spill.h"

/* What one thread needs. */
struct chi_keeper {
	struct chi_spill *spill;
	struct chi_spill_chunk *chunk; /* owned */
	struct chi_buffer packed;
	bool bare; /* without annotations */
	/* The caller's: is put before each game. */
	const uint8_t *head;
	size_t head_len;
};

/* Makes the reader deliver whole games. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_keeper_init(struct chi_keeper *keeper, struct chi_spill *spill, bool bare,
				struct chi_pgn *pgn);
void chi_keeper_deinit(struct chi_keeper *keeper);

/* Keeps a game of the stream, which has the number in the session. */
CHI_MUSTUSE int chi_keeper_add(struct chi_keeper *keeper, const struct chi_pgn_game *game,
			       uint32_t stream, uint32_t number, struct chi_fault *fault);

/* Whether what is kept of such a game is less than its text says. */
bool chi_keeper_loses(const struct chi_keeper *keeper, const struct chi_pgn_whole *whole);

/* To be called when the thread has read all. */
CHI_MUSTUSE int chi_keeper_end(struct chi_keeper *keeper, struct chi_fault *fault);
