/* SPDX-License-Identifier: MIT */
/* The engine is asked where the store knows nothing, or too little; what it finds is stored. */
#include "cli/work/review.h"

#include <string.h>

#include "chess/movegen.h"

/* Of a search by nodes or time the depth is not known before: any evaluation is enough. */
static bool is_known(const struct review *review, size_t i)
{
	const struct chi_row *row = &review->rows[i];
	return row->has_eval && (row->is_mate || row->depth >= review->state->limits.depth);
}

static bool is_over(const struct chi_position *position)
{
	struct chi_move_list moves;
	chi_movegen_legal(position, &moves);
	return moves.n == 0;
}

/* Before or after a move that is judged. */
static bool is_wanted(const struct review *review, size_t i)
{
	return (i < review->game->n_plies && review_judges(review, i)) ||
	       (i > 0 && review_judges(review, i - 1));
}

static bool tick(void *context)
{
	struct review *review = context;
	progress_update(&review->progress, 0, review->searched);
	return cli_stop == 0;
}

static int take_found(struct review *review, size_t i)
{
	struct chi_eval evals[ENGINE_LINES_MAX];
	const struct chi_uci_info *best = &review->engine.found.lines[0];
	struct chi_row *row = &review->rows[i];
	struct known *known = &review->known[i];
	const struct chi_put_entry put = {
		.key = review->keys[i],
		.parts = CHI_PUT_EVALS,
		.record = {.evals = evals, .n_evals = engine_evals(&review->engine, evals)}};
	row->has_eval = true;
	row->is_mate = best->is_mate;
	row->depth = (uint16_t)best->depth;
	row->score = best->score;
	row->best = best->pv[0];
	known->n_pv = best->n_pv < REVIEW_VARIATION ? best->n_pv : REVIEW_VARIATION;
	memcpy(known->pv, best->pv, known->n_pv * sizeof(*known->pv));
	int status = chi_put(review->cli->client, &put, 1, CHI_SYNC, NULL);
	return status == CHI_OK ? EXIT_DONE : cli_fail(review->cli->client, status);
}

static int search_ply(struct review *review, size_t i)
{
	struct chi_fault fault;
	char fen[CHI_FEN_SIZE];
	switch (engine_search(&review->engine, &review->keys[i], tick, review, &fault)) {
	case ENGINE_FOUND:
		review->searched++;
		return take_found(review, i);
	case ENGINE_STOPPED:
		return 128 + cli_stop;
	case ENGINE_ABSENT:
		cli_message("%s", fault.text);
		return EXIT_USAGE;
	default:
		if (chi_key_to_fen(&review->keys[i], fen, NULL) == CHI_OK) {
			cli_message("the engine gave no answer to %s", fen);
		}
		return EXIT_DONE;
	}
}

int review_search(struct review *review)
{
	int code = EXIT_DONE;
	for (size_t i = 0; i <= review->game->n_plies && code == EXIT_DONE; i++) {
		if (is_wanted(review, i) && !is_known(review, i) &&
		    !is_over(&review->game->positions[i])) {
			code = search_ply(review, i);
		}
	}
	progress_clear(&review->progress);
	return code;
}
