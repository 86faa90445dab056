/* SPDX-License-Identifier: MIT */
/* Which moves left the book, lost much, or had worse results than another. */
#include "cli/work/review.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "chess/movegen.h"
#include "chess/names/fits.h"
#include "chess/notation.h"

#define VALUE_CP     1500 /* evaluations beyond it are won, whatever they are */
#define VALUE_MATE   2000
#define RESULTS_MIN  10 /* games of a move whose results say something */
#define RESULTS_GAIN 10 /* points of a hundred, for a better move by results */

static CHI_PRINTF(2, 3) void say(struct remark *remark, const char *format, ...)
{
	va_list arguments;
	size_t room = sizeof(remark->text) - remark->len;
	va_start(arguments, format);
	int n = vsnprintf(remark->text + remark->len, room, format, arguments);
	va_end(arguments);
	remark->len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void say_move(struct remark *remark, const struct chi_position *position, chi_move move)
{
	char san[CHI_SAN_SIZE] = "";
	if (chi_movegen_is_legal(position, move)) {
		(void)chi_san_print(position, move, san);
	}
	say(remark, "%s", san);
}

/* White's view: "+0.31", "#-3". */
static void say_score(struct remark *remark, const struct chi_row *row, int side)
{
	int score = side == CHI_WHITE ? row->score : -row->score;
	if (row->is_mate) {
		say(remark, "#%d", score);
	} else {
		say(remark, "%c%d.%02d", score < 0 ? '-' : '+', abs(score) / 100, abs(score) % 100);
	}
}

static int value_of(const struct chi_row *row)
{
	if (row->is_mate) {
		return row->score > 0 ? VALUE_MATE : -VALUE_MATE;
	}
	return row->score > VALUE_CP ? VALUE_CP : row->score < -VALUE_CP ? -VALUE_CP : row->score;
}

static void judge_swing(const struct review *review, size_t i, struct remark *remark)
{
	const struct review_state *state = review->state;
	const struct chi_position *position = &review->game->positions[i];
	const struct chi_row *before = &review->rows[i];
	const struct chi_row *after = before + 1;
	const struct known *known = &review->known[i];
	chi_move move = review->game->moves[i];
	if (!before->has_eval || !after->has_eval || (known->n_pv > 0 && known->pv[0] == move)) {
		return;
	}
	int lost = value_of(before) + value_of(after);
	int swing = (int)state->swing;
	if (lost < swing) {
		return;
	}
	remark->nag = lost >= 4 * swing ? 4 : lost >= 2 * swing ? 2 : 6;
	say(remark, "%s", remark->len > 0 ? "; " : "");
	remark->swing = remark->len;
	say(remark, "from ");
	say_score(remark, before, position->side);
	say(remark, " to ");
	say_score(remark, after, position->side ^ 1);
	remark->better = remark->len;
	if (known->n_pv > 0 && chi_movegen_is_legal(position, known->pv[0])) {
		say(remark, "; better: ");
		say_move(remark, position, known->pv[0]);
		remark->variation = true;
	}
}

static void judge_results(const struct review *review, size_t i, struct remark *remark)
{
	const struct chi_position *position = &review->game->positions[i];
	const struct known *known = &review->known[i];
	if (remark->nag != 0 || known->move.games < RESULTS_MIN ||
	    known->better.share < known->move.share + RESULTS_GAIN) {
		return;
	}
	say(remark, "%sbetter results: ", remark->len > 0 ? "; " : "");
	say_move(remark, position, known->better.move);
	say(remark, " %u%% of %" PRIu64 " games, this move %u%% of %" PRIu64, known->better.share,
	    known->better.games, known->move.share, known->move.games);
}

static void leave_book(const struct review *review, size_t i, struct remark *remark)
{
	const struct known *known = &review->known[i];
	if (remark->len == 0) {
		say(remark, "out of book");
	}
	for (size_t j = 0; j < known->n_most; j++) {
		say(remark, "%s ", j == 0 ? "; played here:" : ",");
		say_move(remark, &review->game->positions[i], known->most[j].move);
		say(remark, " %" PRIu64, known->most[j].games);
	}
}

static void tell_new(const struct review *review, struct remark *remark)
{
	const struct played *before = &review->before;
	say(remark, "novelty (so far: %" PRIu64 " game%s", review->n_before,
	    review->n_before == 1 ? "" : "s");
	if (before->move != 0) {
		say(remark, ", ");
		say_move(remark, &review->game->positions[review->new_at], before->move);
		say(remark, " %u%%", before->share);
	}
	say(remark, ")");
}

bool review_judges(const struct review *review, size_t i)
{
	const struct review_state *state = review->state;
	const struct chi_pgn_game *game = review->game;
	bool white = game->positions[i].side == CHI_WHITE;
	const char *name = game->tags[white ? CHI_PGN_WHITE : CHI_PGN_BLACK].text;
	return state->player == NULL || (name != NULL && chi_player_fits(state->player, name));
}

void review_remark(struct review *review)
{
	bool book = true;
	for (size_t i = 0; i < review->game->n_plies; i++) {
		struct remark *remark = &review->remarks[i];
		*remark = (struct remark){.len = 0};
		if (review->is_new && i == review->new_at) {
			tell_new(review, remark);
		}
		if (book && review->known[i].move.games == 0) {
			leave_book(review, i, remark);
			book = false;
		}
		if (review_judges(review, i)) {
			judge_swing(review, i, remark);
			judge_results(review, i, remark);
		}
	}
}
