/* SPDX-License-Identifier: MIT */
/*
 * One move, or candidates. chessdb draws among the moves that are good enough for the action, so
 * that programs which take their openings from it do not repeat themselves; with stable=1 the best
 * of them is the answer each time.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "http/cdb/answer.h"

/* A best move that is worse than that is no book's; it is left to the engine. */
#define LOST	   (-50)
#define LOST_LEARN (-75)

void cdb_say_best(struct answer *answer, const char *uci)
{
	struct writer *out = &answer->call->out;
	if (answer->json) {
		cdb_begin_ok(answer);
		out_text(out, "move", uci);
		out_end(out, '}');
	} else {
		out_format(out, "move:%s", uci);
	}
}

/* 0..1, below 1; 0, the best, where the answer is to be the same each time. */
static double draw(struct answer *answer, size_t n)
{
	uint32_t chance = 0;
	if (n < 2 || params_flag(&answer->call->params, "stable")) {
		return 0;
	}
	answer->call->live = true;
	(void)!getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
	return chance / ((double)UINT32_MAX + 1);
}

/* A move that enough games support: the best, or one drawn by its weight. */
static const struct cdb_move *choose_played(struct answer *answer, bool drawn)
{
	const struct cdb_board *board = &answer->board;
	struct chi_candidate all[CHI_LEGAL_MAX];
	for (size_t i = 0; i < board->n_book; i++) {
		all[i] = board->moves[i].book;
		all[i].index = i;
	}
	const struct chi_candidate *chosen =
		chi_candidates_draw(all, board->n_book, 0, drawn ? draw(answer, board->n_book) : 0);
	return chosen != NULL ? &board->moves[chosen->index] : NULL;
}

/* One of the moves that are worth at least what `least` says of the best; without scores what the
 * record names, then what games say. */
static int say_one(struct answer *answer, double (*least)(int max), int lost)
{
	const struct cdb_board *board = &answer->board;
	int max = board->n_known > 0 ? board->moves[0].score : 0;
	size_t n = 0;
	if (cdb_is_over(answer)) {
		return CHI_OK;
	}
	while (n < board->n_known && board->moves[n].score >= least(max)) {
		n++;
	}
	if (n > 0 && max >= lost) {
		cdb_say_best(answer, board->moves[(size_t)(draw(answer, n) * (double)n)].uci);
		return CHI_OK;
	}
	for (size_t i = 0; board->n_known == 0 && i < board->n; i++) {
		if (board->row.best != 0 && board->moves[i].move == board->row.best &&
		    board->row.best_source != CHI_BEST_PLAYED) {
			cdb_say_best(answer, board->moves[i].uci);
			return CHI_OK;
		}
	}
	const struct cdb_move *played = choose_played(answer, least != cdb_best);
	if (played != NULL) {
		cdb_say_best(answer, played->uci);
		return CHI_OK;
	}
	cdb_say_word(answer, board->n_known > 0 || board->known || board->row.found ? "nobestmove"
										    : "unknown");
	return CHI_OK;
}

int cdb_query_best(struct answer *answer)
{
	return say_one(answer, cdb_best, LOST);
}

int cdb_query_any(struct answer *answer)
{
	return say_one(answer, cdb_throttle, LOST);
}

int cdb_query_learn(struct answer *answer)
{
	return say_one(answer, cdb_learn, LOST_LEARN);
}

int cdb_query_search(struct answer *answer)
{
	const struct cdb_board *board = &answer->board;
	struct writer *out = &answer->call->out;
	size_t n = 0;
	while (n < board->n && board->moves[n].rank > 0) {
		n++;
	}
	/* In JSON there is a list in any case: clients ask again without end where it is missing.
	 */
	if (board->n == 0 || n == 0 || (board->n_known + board->n_book == 1 && !answer->json)) {
		return cdb_query_best(answer);
	}
	if (answer->json) {
		cdb_begin_ok(answer);
		out_array(out, "search_moves");
	}
	for (size_t i = 0; i < n; i++) {
		if (!answer->json) {
			out_format(out, "%ssearch:%s", i > 0 ? "|" : "", board->moves[i].uci);
			continue;
		}
		out_object(out, NULL);
		out_text(out, "uci", board->moves[i].uci);
		out_text(out, "san", board->moves[i].san);
		out_end(out, '}');
	}
	if (answer->json) {
		out_end(out, ']');
		out_end(out, '}');
	}
	return CHI_OK;
}
