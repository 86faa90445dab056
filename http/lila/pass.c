/* SPDX-License-Identifier: MIT */
/* One walk over the heads of a position's games: ratings by move, the games to be shown, months. */
#include <string.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/fault.h"
#include "http/lila/lila.h"

#define PASS_MS	   2000
#define LOOK_EVERY 4096 /* games between two looks at the clock */

static struct lila_move *move_of(struct lila_pass *pass, chi_move move)
{
	for (size_t i = 0; i < pass->n_moves; i++) {
		if (pass->moves[i].move == move) {
			return &pass->moves[i];
		}
	}
	if (move == 0 || pass->n_moves == LILA_MOVES_MOST) {
		return NULL;
	}
	struct lila_move *found = &pass->moves[pass->n_moves++];
	*found = (struct lila_move){.move = move};
	return found;
}

static void list_add(struct lila_list *list, uint32_t number, chi_move move, uint64_t worth)
{
	size_t at = list->n;
	if (list->most == 0 || (at == list->most && list->worth[at - 1] >= worth)) {
		return;
	}
	while (at > 0 && list->worth[at - 1] < worth) {
		at--;
	}
	size_t moved = (list->n < list->most ? list->n : list->most - 1) - at;
	memmove(&list->numbers[at + 1], &list->numbers[at], moved * sizeof(*list->numbers));
	memmove(&list->moves[at + 1], &list->moves[at], moved * sizeof(*list->moves));
	memmove(&list->worth[at + 1], &list->worth[at], moved * sizeof(*list->worth));
	list->n += list->n < list->most ? 1 : 0;
	list->numbers[at] = number;
	list->moves[at] = move;
	list->worth[at] = worth;
}

static void count_result(struct chi_counts *counts, uint8_t result)
{
	counts->white += result == CHI_RESULT_WHITE ? 1 : 0;
	counts->draws += result == CHI_RESULT_DRAW ? 1 : 0;
	counts->black += result == CHI_RESULT_BLACK ? 1 : 0;
}

/* Months are few, and most games of a list are of the latest. */
static void count_month(struct lila_pass *pass, const struct chi_game_head *head)
{
	size_t at = pass->n_months;
	unsigned wanted = head->year * 12u + head->month;
	if (head->year == 0 || head->month == 0) {
		return;
	}
	while (at > 0 && pass->months[at - 1].year * 12u + pass->months[at - 1].month > wanted) {
		at--;
	}
	bool there =
		at > 0 && pass->months[at - 1].year * 12u + pass->months[at - 1].month == wanted;
	if (!there) {
		if (pass->n_months == LILA_MONTHS_MOST) {
			pass->truncated = true;
			return;
		}
		memmove(&pass->months[at + 1], &pass->months[at],
			(pass->n_months - at) * sizeof(*pass->months));
		pass->months[at] = (struct lila_month){.year = head->year, .month = head->month};
		pass->n_months++;
		at++;
	}
	count_result(&pass->months[at - 1].counts, head->result);
}

static void look_at_game(struct lila_pass *pass, const struct lila_query *query,
			 const struct chi_game_row *row)
{
	const struct chi_game_head *head = &row->head;
	struct lila_move *move = move_of(pass, row->move);
	unsigned both = head->white_elo > 0 && head->black_elo > 0
				? ((unsigned)head->white_elo + head->black_elo) / 2
				: 0;
	unsigned mover = query->black ? head->black_elo : head->white_elo;
	unsigned opponent = query->as_black ? head->white_elo : head->black_elo;
	if (move != NULL) {
		move->games++;
		move->rated += mover > 0 ? 1 : 0;
		move->ratings += mover;
		move->opponents_rated += opponent > 0 ? 1 : 0;
		move->opponents += opponent;
		move->only = head->number;
	}
	uint64_t date = head->year * 400u + head->month * 32u + head->day;
	list_add(&pass->top, head->number, row->move, (uint64_t)both << 1);
	list_add(&pass->recent, head->number, row->move, date << 32 | head->number);
	if (query->history) {
		count_month(pass, head);
	}
}

int lila_pass_run(struct call *call, const struct lila_query *query, struct lila_pass *out)
{
	_cleanup_(chi_rows_closep) struct chi_rows *games = NULL;
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT,	    .filter = query->filter,
					   .position = &query->key, .want = CHI_GAMES_HEADS,
					   .skip_ply = true,	    .brief = true};
	const struct chi_game_row *row = NULL;
	int64_t end = chi_now_ms() + PASS_MS;
	uint64_t n = 0;
	memset(out, 0, sizeof(*out));
	out->top.most = query->top;
	out->recent.most = query->recent;
	out->months = chi_arena_array(&call->arena, query->history ? LILA_MONTHS_MOST : 1,
				      sizeof(*out->months));
	if (out->months == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	int status = chi_games_open(call->client, &spec, &games);
	if (status == -CHI_EUNSUPPORTED) {
		out->truncated = true;
		return CHI_OK;
	}
	while (status == CHI_OK && !out->truncated) {
		status = chi_games_next(games, &row);
		if (status == CHI_OK) {
			look_at_game(out, query, row);
		}
		if (++n % LOOK_EVERY == 0) {
			out->truncated = chi_now_ms() > end;
		}
	}
	return status < 0 ? call_failed(call, status) : CHI_OK;
}
