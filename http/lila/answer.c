/* SPDX-License-Identifier: MIT */
/* What was found, with the explorer's names. Moves are those played; one without games is none. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "chess/pgn/speed.h"
#include "http/lila/lila.h"

static void say_named(struct writer *out, const char *eco, const char *name)
{
	if (name == NULL) {
		out_null(out, "opening");
		return;
	}
	out_object(out, "opening");
	out_text(out, "eco", eco);
	out_text(out, "name", name);
	out_end(out, '}');
}

static void say_results(struct writer *out, const struct chi_counts *counts)
{
	out_number(out, "white", counts->white);
	out_number(out, "draws", counts->draws);
	out_number(out, "black", counts->black);
}

static uint64_t total_of(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black;
}

/* ---- Games --------------------------------------------------------------------------------- */

static void say_side(struct writer *out, const char *side, const char *name, uint16_t elo)
{
	out_object(out, side);
	out_text(out, "name", name[0] != '\0' ? name : "?");
	out_number(out, "rating", elo);
	out_end(out, '}');
}

static const char *speed_of(uint8_t speed)
{
	bool known = speed > CHI_SPEED_UNKNOWN && speed < CHI_SPEEDS;
	return chi_speed_names[known ? speed : CHI_SPEED_CLASSICAL];
}

/* The word, wherever it is: names of events are found by their words. */
static bool is_casual(const char *event)
{
	const size_t len = strlen(LILA_CASUAL);
	const char *at = event;
	while ((at = strcasestr(at, LILA_CASUAL)) != NULL) {
		bool begins = at == event || !isalnum((unsigned char)at[-1]);
		if (begins && !isalnum((unsigned char)at[len])) {
			return true;
		}
		at += len;
	}
	return false;
}

/* lila knows the month of each game, and no year before 1952. Programs take both as they are: one
 * that is not known is the first there is, of the year or of all. */
static void say_date(struct writer *out, const struct chi_game_head *head)
{
	char month[16];
	unsigned year = head->year > 0 ? head->year : LILA_YEAR_FIRST;
	bool known = head->year > 0 && head->month > 0;
	(void)snprintf(month, sizeof(month), "%04u-%02u", year % 10000u,
		       known ? head->month % 100u : 1u);
	out_number(out, "year", year);
	out_text(out, "month", month);
}

/* The members of a game. */
static int say_game(struct call *call, const struct lila_query *query,
		    const struct chi_game_row *row)
{
	struct writer *out = &call->out;
	char text[16];
	if (row->head.number == 0) {
		return chi_fail(&call->fault, -CHI_EBUSY, "the games have just changed");
	}
	const struct chi_game_head *head = &row->head;
	(void)snprintf(text, sizeof(text), "%u", head->number);
	out_text(out, "id", text);
	out_text(out, "winner",
		 head->result == CHI_RESULT_WHITE   ? "white"
		 : head->result == CHI_RESULT_BLACK ? "black"
						    : NULL);
	if (query->online) {
		out_text(out, "speed", speed_of(head->speed));
		out_text(out, "mode", is_casual(row->event) ? "casual" : "rated");
	}
	say_side(out, "black", row->black, head->black_elo);
	say_side(out, "white", row->white, head->white_elo);
	say_date(out, head);
	return CHI_OK;
}

static int say_list(struct call *call, const struct lila_query *query, const char *name,
		    const struct lila_list *list, const struct chi_game_row *rows)
{
	struct writer *out = &call->out;
	int status = CHI_OK;
	out_array(out, name);
	for (size_t i = 0; status == CHI_OK && i < list->n; i++) {
		char uci[CHI_MOVE_TEXT_SIZE] = "";
		if (list->moves[i] == 0) {
			continue; /* it ended here */
		}
		lila_uci(list->moves[i], uci);
		out_object(out, NULL);
		out_text(out, "uci", uci);
		status = say_game(call, query, &rows[i]);
		out_end(out, '}');
	}
	out_end(out, ']');
	return status;
}

/* Rows of all games that the answer names: those of the moves with a game of their own, then both
 * lists. */
struct named {
	const struct chi_game_row *moves; /* of the pass' moves that is_named, in their order */
	const struct chi_game_row *recent;
	const struct chi_game_row *top;
};

static bool is_named(const struct lila_pass *pass, const struct lila_move *sums)
{
	return sums != NULL && sums->games == 1 && !pass->truncated;
}

/* In one call, after which nothing is asked of the client: its texts live until the next. */
static int read_named(struct call *call, const struct lila_pass *pass, struct named *out)
{
	uint32_t numbers[LILA_MOVES_MOST + 2 * LILA_GAMES_MOST];
	size_t n = 0;
	for (size_t i = 0; i < pass->n_moves; i++) {
		if (is_named(pass, &pass->moves[i])) {
			numbers[n++] = pass->moves[i].only;
		}
	}
	size_t moves = n;
	for (size_t i = 0; i < pass->recent.n; i++) {
		numbers[n++] = pass->recent.numbers[i];
	}
	for (size_t i = 0; i < pass->top.n; i++) {
		numbers[n++] = pass->top.numbers[i];
	}
	struct chi_game_row *rows = chi_arena_array(&call->arena, n + 1, sizeof(*rows));
	if (rows == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	*out = (struct named){rows, rows + moves, rows + moves + pass->recent.n};
	int status = chi_game_heads(call->client, numbers, n, rows);
	return status < 0 ? call_failed(call, status) : CHI_OK;
}

/* The row of the only game of a move; NULL: it has more. */
static const struct chi_game_row *only_of(const struct named *named, const struct lila_pass *pass,
					  const struct lila_move *sums)
{
	size_t n = 0;
	if (!is_named(pass, sums)) {
		return NULL;
	}
	for (const struct lila_move *move = pass->moves; move < sums; move++) {
		n += is_named(pass, move) ? 1 : 0;
	}
	return &named->moves[n];
}

/* ---- Moves --------------------------------------------------------------------------------- */

static const struct lila_move *sums_of(const struct lila_pass *pass, chi_move move)
{
	for (size_t i = 0; i < pass->n_moves; i++) {
		if (pass->moves[i].move == move) {
			return &pass->moves[i];
		}
	}
	return NULL;
}

static double performance(const struct lila_query *query, const struct chi_counts *counts,
			  double opponents)
{
	double wins = (double)(query->as_black ? counts->black : counts->white);
	return opponents +
	       lila_rating_difference(wins + (double)counts->draws / 2, (double)total_of(counts));
}

static void say_ratings(struct writer *out, const struct lila_query *query,
			const struct chi_counts *counts, const struct lila_move *sums)
{
	if (query->player == NULL) {
		bool any = sums != NULL && sums->rated > 0;
		out_number(out, "averageRating",
			   any ? (sums->ratings + sums->rated / 2) / sums->rated : 0);
	} else {
		bool any = sums != NULL && sums->opponents_rated > 0;
		double average = any ? (double)sums->opponents / (double)sums->opponents_rated : 0;
		out_real(out, "averageOpponentRating", average, 0);
		out_real(out, "performance", performance(query, counts, average), 0);
	}
}

struct one_move {
	char uci[CHI_MOVE_TEXT_SIZE];
	char san[CHI_MOVE_TEXT_SIZE];
	struct chi_explore_move explored;
};

static int say_played(struct call *call, const struct lila_query *query, const struct one_move *one,
		      const struct lila_pass *pass, const struct named *named)
{
	struct writer *out = &call->out;
	const struct chi_explore_move *move = &one->explored;
	const struct lila_move *sums = sums_of(pass, move->move);
	const struct chi_game_row *only = only_of(named, pass, sums);
	int status = CHI_OK;
	out_object(out, NULL);
	out_text(out, "uci", one->uci);
	out_text(out, "san", one->san);
	say_ratings(out, query, &move->played, sums);
	say_results(out, &move->played);
	if (only != NULL) {
		out_object(out, "game");
		status = say_game(call, query, only);
		out_end(out, '}');
	} else {
		out_null(out, "game");
	}
	say_named(out, move->eco, move->opening);
	out_number(out, "reached", move->child.found ? total_of(&move->child.counts) : 0);
	if (move->child.chi2 != CHI_CHI2_UNKNOWN) {
		out_real(out, "chi2", move->child.chi2 / 100.0, 2);
	}
	out_end(out, '}');
	return status;
}

/* In the answer's memory; NULL stays NULL. */
static int keep_text(struct call *call, const char **text)
{
	if (*text == NULL) {
		return CHI_OK;
	}
	*text = chi_arena_text(&call->arena, *text, strlen(*text));
	return *text != NULL ? CHI_OK : chi_fault_plain(&call->fault, -CHI_ENOMEM);
}

/* The next answer that the client gives ends the exploration's life. */
static int copy_moves(struct call *call, const struct lila_query *query,
		      const struct chi_explored *explore, struct one_move **out, size_t *n)
{
	int status = CHI_OK;
	*n = 0;
	*out = chi_arena_array(&call->arena, explore->n_moves + 1, sizeof(**out));
	if (*out == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	for (size_t i = 0; status == CHI_OK && i < explore->n_moves && *n < query->moves; i++) {
		const struct chi_explore_move *move = &explore->moves[i];
		struct one_move *one = &(*out)[*n];
		if (total_of(&move->played) == 0) {
			continue;
		}
		one->explored = *move;
		lila_uci(move->move, one->uci);
		status = chi_key_san(&query->key, move->move, one->san);
		status = status == CHI_OK ? keep_text(call, &one->explored.eco) : status;
		status = status == CHI_OK ? keep_text(call, &one->explored.opening) : status;
		(*n)++;
	}
	return status;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static void say_month(struct writer *out, unsigned month, const struct chi_counts *counts)
{
	char text[16];
	(void)snprintf(text, sizeof(text), "%04u-%02u", month / 12 % 10000, month % 12 + 1);
	out_object(out, NULL);
	out_text(out, "month", text);
	say_results(out, counts);
	out_end(out, '}');
}

/* Months without games have zeros, as what is drawn from it goes on by months; a gap of a century
 * is a date that is wrong. */
static void say_history(struct writer *out, const struct lila_pass *pass)
{
	static const struct chi_counts none;
	unsigned next = 0;
	out_array(out, "history");
	for (size_t i = 0; i < pass->n_months; i++) {
		unsigned month = pass->months[i].year * 12u + pass->months[i].month - 1;
		while (i > 0 && next < month && month - next < LILA_MONTHS_MOST) {
			say_month(out, next++, &none);
		}
		say_month(out, month, &pass->months[i].counts);
		next = month + 1;
	}
	out_end(out, ']');
}

int lila_say(struct call *call, const struct lila_query *query, const struct lila_pass *pass)
{
	struct writer *out = &call->out;
	struct chi_explored explore;
	struct one_move *moves = NULL;
	struct named named = {NULL, NULL, NULL};
	size_t n = 0;
	int status = chi_explore(call->client, &query->key, query->filter, NULL, &explore);
	if (status < 0) {
		return call_failed(call, status);
	}
	struct chi_row position = explore.position;
	status = copy_moves(call, query, &explore, &moves, &n);
	status = status == CHI_OK ? read_named(call, pass, &named) : status;
	out_object(out, NULL);
	say_results(out, &position.counts);
	out_array(out, "moves");
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = say_played(call, query, &moves[i], pass, &named);
	}
	out_end(out, ']');
	if (query->online && status == CHI_OK) {
		status = say_list(call, query, "recentGames", &pass->recent, named.recent);
	}
	if (query->player == NULL && status == CHI_OK) {
		status = say_list(call, query, "topGames", &pass->top, named.top);
	}
	say_named(out, query->eco, query->opening);
	if (query->player != NULL) {
		out_number(out, "queuePosition", 0);
	}
	if (query->history) {
		say_history(out, pass);
	}
	if (position.chi2 != CHI_CHI2_UNKNOWN) {
		out_real(out, "chi2", position.chi2 / 100.0, 2);
	}
	out_bool(out, "truncated", pass->truncated);
	out_end(out, '}');
	return status;
}
