/* SPDX-License-Identifier: MIT */
#include "import/dump/replay.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fault.h"
#include "chess/moves/movecode.h"
#include "chess/pgn/pgn.h"
#include "import/count.h"
#include "store/games/archive.h"

/* Games between two looks at whether to go on. */
#define CHECK_EVERY 4096

struct replayer {
	struct chi_archive_reader *reader;
	struct chi_counter *counter;
	struct chi_position *positions; /* of one game, */
	chi_move *moves;		/* and its moves */
};

/* May fail half done. */
static int replayer_init(struct replayer *replayer, const struct chi_archive_view *view)
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

static void replayer_deinit(struct replayer *replayer)
{
	chi_archive_reader_free(replayer->reader);
	free(replayer->counter);
	free(replayer->positions);
	free(replayer->moves);
}

/* Positions and moves of the whole game. */
static int play_game(struct replayer *replayer, uint32_t number, struct chi_pgn_game *out)
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

static int count_game_items(struct replayer *replayer, uint32_t number, struct chi_filler *filler,
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

int chi_replay_games(const struct chi_importer *importer, const struct chi_archive_view *view,
		     const struct chi_carried_plan *plan, bool known, struct chi_sorter *items,
		     struct chi_fault *fault)
{
	struct chi_filler filler = {.sorter = items};
	struct replayer replayer = {.moves = NULL};
	int rc = replayer_init(&replayer, view);
	rc = rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
	for (uint64_t i = 1; rc == CHI_OK && i <= plan->last; i++) {
		bool wanted =
			known ? chi_carried_bit(plan->known, (uint32_t)i) : plan->numbers[i] != 0;
		if (i % CHECK_EVERY == 0) {
			rc = chi_importer_check(importer, NULL, 0, 0, fault);
		}
		if (rc == CHI_OK && wanted) {
			rc = count_game_items(&replayer, (uint32_t)i, &filler, fault);
		}
	}
	replayer_deinit(&replayer);
	if (rc == CHI_OK) {
		return chi_filler_end(&filler, fault);
	}
	chi_filler_drop(&filler);
	return rc;
}
