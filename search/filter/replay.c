/* SPDX-License-Identifier: MIT */
#include "search/filter/replay.h"

#include <string.h>

#include "chess/moves/movecode.h"

/* The move played from where the replay is. */
static int move_there(struct chi_replay *replay, chi_move *move)
{
	*move = 0;
	int rc = chi_replay_next(replay, move);
	return rc < 0 ? rc : CHI_OK;
}

static bool is_same_position(const struct chi_position *a, const struct chi_position *b)
{
	return a->colour[0] == b->colour[0] && a->colour[1] == b->colour[1] &&
	       memcmp(a->kind, b->kind, sizeof(a->kind)) == 0 && a->castle == b->castle &&
	       a->side == b->side && a->ep == b->ep;
}

int chi_replay_find(struct chi_archive_reader *reader, uint32_t number,
		    const struct chi_position *position, int32_t *ply, chi_move *move)
{
	struct chi_game_moves moves;
	struct chi_replay replay;
	int rc = chi_archive_moves(reader, number, &moves);
	*ply = 0;
	*move = 0;
	if (rc != CHI_OK) {
		return rc;
	}
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	while (rc == CHI_OK && !is_same_position(chi_replay_position(&replay), position)) {
		rc = chi_replay_next(&replay, move);
		(*ply)++;
	}
	if (rc == CHI_OK) {
		return move_there(&replay, move);
	}
	*ply = -1;
	*move = 0;
	return rc == CHI_NONE ? CHI_OK : rc;
}
