/* SPDX-License-Identifier: MIT */
#include "import/dump/replay.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fault.h"
#include "chess/moves/movecode.h"
#include "chess/pgn/pgn.h"

int chi_replayer_init(struct chi_replayer *replayer, const struct chi_archive_view *view)
{
	replayer->counter = malloc(sizeof(*replayer->counter));
	replayer->positions = malloc((CHI_PGN_PLIES_MAX + 1) * sizeof(*replayer->positions));
	replayer->moves = malloc(CHI_PGN_PLIES_MAX * sizeof(*replayer->moves));
	int rc = replayer->counter != NULL && replayer->positions != NULL && replayer->moves != NULL
			 ? chi_archive_reader_new(&replayer->reader)
			 : -CHI_ENOMEM;
	return rc == CHI_OK ? chi_archive_reader_begin(replayer->reader, view->txn, &view->trees)
			    : rc;
}

void chi_replayer_deinit(struct chi_replayer *replayer)
{
	chi_archive_reader_free(replayer->reader);
	free(replayer->counter);
	free(replayer->positions);
	free(replayer->moves);
	*replayer = (struct chi_replayer){0};
}

/* Positions and moves of the whole game. */
static int play_game(struct chi_replayer *replayer, uint32_t number, struct chi_pgn_game *out)
{
	struct chi_game_head head;
	struct chi_game_moves moves;
	struct chi_replay replay;
	int rc = chi_archive_head(replayer->reader, number, &head);
	rc = rc == CHI_OK ? chi_archive_moves(replayer->reader, number, &moves) : rc;
	if (rc != CHI_OK || head.plies > CHI_PGN_PLIES_MAX) {
		return rc < 0 ? rc : -CHI_ECORRUPT;
	}
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	replayer->positions[0] = moves.start;
	size_t n = 0;
	while (n < head.plies && (rc = chi_replay_next(&replay, &replayer->moves[n])) == CHI_OK) {
		replayer->positions[++n] = *chi_replay_position(&replay);
	}
	*out = (struct chi_pgn_game){.result = (enum chi_result)head.result,
				     .n_plies = n,
				     .moves = replayer->moves,
				     .positions = replayer->positions};
	return n == head.plies && replay.at == replay.end ? CHI_OK : -CHI_ECORRUPT;
}

int chi_replayer_count(struct chi_replayer *replayer, uint32_t number, struct chi_filler *filler,
		       struct chi_fault *fault)
{
	struct chi_pgn_game game;
	int rc = play_game(replayer, number, &game);
	if (rc != CHI_OK) {
		return rc == -CHI_ECORRUPT
			       ? chi_fail(fault, rc, "game %" PRIu32 " is damaged", number)
			       : chi_fault_plain(fault, rc);
	}
	size_t n = chi_count_game_items(replayer->counter, &game, chi_count_plies(&game), number);
	return chi_filler_add(filler, replayer->counter->items, n, fault);
}
