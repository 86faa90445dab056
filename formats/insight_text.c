/* SPDX-License-Identifier: MIT */
#include "formats/insight_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"

/* The moves of a game up to a ply, numbered from its beginning. */
static void print_moves(const struct chi_game *game, uint32_t plies,
			char out[CHI_INSIGHT_LINE_SIZE])
{
	struct chi_position position[2] = {chi_position_initial};
	size_t len = 0;
	if (game->has_start && chi_key_decode(&game->start, &position[0], NULL) != CHI_OK) {
		return;
	}
	uint32_t later = position[0].side == CHI_BLACK;
	for (uint32_t ply = 0; ply < plies && ply < game->n_plies; ply++) {
		const struct chi_position *at = &position[ply & 1];
		char san[CHI_SAN_SIZE];
		char number[16] = "";
		if (!chi_movegen_is_legal(at, game->moves[ply])) {
			return;
		}
		(void)chi_san_print(at, game->moves[ply], san);
		if (at->side == CHI_WHITE || ply == 0) {
			(void)snprintf(number, sizeof(number), "%" PRIu32 "%s",
				       (ply + later) / 2 + 1, at->side == CHI_WHITE ? "." : "...");
		}
		len += (size_t)snprintf(out + len, CHI_INSIGHT_LINE_SIZE - len, "%s%s%s",
					ply > 0 ? " " : "", number, san);
		if (len >= CHI_INSIGHT_LINE_SIZE - 1) {
			return;
		}
		chi_position_play(at, game->moves[ply], &position[~ply & 1]);
	}
}

int chi_insight_tell(const struct chi_insight_row *row, const struct chi_game *game,
		     struct chi_insight_text *out)
{
	struct chi_position position;
	struct chi_position next;
	int rc = chi_key_decode(&row->key, &position, NULL);
	*out = (struct chi_insight_text){.fen = ""};
	if (rc != CHI_OK) {
		return rc;
	}
	next = position;
	if (row->move != 0) {
		if (!chi_movegen_is_legal(&position, row->move)) {
			return -CHI_EMOVE;
		}
		(void)chi_san_print(&position, row->move, out->move);
		chi_position_play(&position, row->move, &next);
	}
	chi_fen_print(&position, out->fen);
	chi_fen_print(&next, out->after);
	if (game != NULL) {
		print_moves(game, row->ply, out->line);
	}
	return CHI_OK;
}
