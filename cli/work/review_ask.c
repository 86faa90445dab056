/* SPDX-License-Identifier: MIT */
/* All positions of a game are asked for in two calls, so that a server is as near as a directory.
 */
#include "cli/work/review.h"

#include <string.h>

#include "chess/key.h"
#include "chess/movegen.h"

#define RESULTS_MIN 10 /* games of a move whose results say something */

struct played review_played(chi_move move, const struct chi_counts *counts, int side)
{
	uint64_t decided = counts->white + counts->draws + counts->black;
	uint64_t won = side == CHI_WHITE ? counts->white : counts->black;
	return (struct played){
		.move = move,
		.games = decided + counts->other,
		.share = decided > 0 ? (unsigned)((200 * won + 100 * counts->draws) / decided / 2)
				     : 0,
	};
}

static void add_most(struct known *known, struct played played)
{
	for (size_t i = 0; i < REVIEW_SHOWN; i++) {
		if (i == known->n_most) {
			known->most[known->n_most++] = played;
			return;
		}
		if (played.games > known->most[i].games) {
			struct played other = known->most[i];
			known->most[i] = played;
			played = other;
		}
	}
}

/* The moves of the evaluation that the row tells of. */
static void take_pv(struct known *known, const struct chi_row *row, const struct chi_record *record)
{
	for (size_t i = 0; row->has_eval && known->n_pv == 0 && i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (eval->rank == 0 && eval->depth == row->depth && eval->score == row->score &&
		    eval->n_pv > 0 && eval->pv[0] == row->best) {
			known->n_pv = eval->n_pv < REVIEW_VARIATION ? eval->n_pv : REVIEW_VARIATION;
			memcpy(known->pv, eval->pv, known->n_pv * sizeof(*known->pv));
		}
	}
}

static int take_record(void *context, size_t i, const struct chi_record *record)
{
	struct review *review = context;
	const struct review_state *state = review->state;
	const struct chi_pgn_game *game = review->game;
	struct known *known = &review->known[i];
	*known = (struct known){.n_most = 0};
	for (size_t j = 0; record != NULL && j < record->n_moves; j++) {
		struct played played = review_played(
			record->moves[j].move, &record->moves[j].counts, game->positions[i].side);
		if (played.games < state->min_games) {
			continue;
		}
		add_most(known, played);
		if (i < game->n_plies && played.move == game->moves[i]) {
			known->move = played;
		}
		if (played.games >= RESULTS_MIN && played.share > known->better.share) {
			known->better = played;
		}
	}
	if (record != NULL) {
		take_pv(known, &review->rows[i], record);
	}
	return CHI_OK;
}

/* A game may end by mate or stalemate: no engine evaluates that. */
static void take_end(const struct chi_position *last, struct chi_row *row)
{
	struct chi_move_list moves;
	chi_movegen_legal(last, &moves);
	if (moves.n == 0) {
		row->has_eval = true;
		row->is_mate = chi_position_in_check(last, last->side);
		row->score = 0;
	}
}

int review_ask(struct review *review)
{
	const struct chi_pgn_game *game = review->game;
	struct chi_client *client = review->cli->client;
	size_t n = game->n_plies + 1;
	for (size_t i = 0; i < n; i++) {
		chi_key_encode(&game->positions[i], &review->keys[i]);
	}
	int status = chi_probe(client, review->keys, n, review->rows);
	if (status != CHI_OK) {
		return status;
	}
	take_end(&game->positions[n - 1], &review->rows[n - 1]);
	return chi_get_many(client, review->keys, n, take_record, review);
}
