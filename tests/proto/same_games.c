/* SPDX-License-Identifier: MIT */
/* Whether two messages of the archive of games say the same. */
#include "tests/proto/sample.h"

#include <string.h>

static struct chi_text span(const void *bytes, size_t len)
{
	return (struct chi_text){bytes, len};
}

bool same_archive_request(const struct chi_request *a, const struct chi_request *b)
{
	switch (a->op) {
	case CHI_OP_EXPLORE_GAMES:
		return same_key(&a->u.explore.key, &b->u.explore.key) &&
		       same_text(a->u.explore.fen, b->u.explore.fen) &&
		       same_text(a->u.explore.filter, b->u.explore.filter);
	default:
		return same_search_request(a, b);
	}
}

static bool same_head(const struct chi_game_head *a, const struct chi_game_head *b)
{
	return a->number == b->number && a->white == b->white && a->black == b->black &&
	       a->event == b->event && a->site == b->site && a->source == b->source &&
	       a->year == b->year && a->month == b->month && a->day == b->day &&
	       a->white_elo == b->white_elo && a->black_elo == b->black_elo && a->eco == b->eco &&
	       a->plies == b->plies && a->result == b->result && a->white_title == b->white_title &&
	       a->black_title == b->black_title && a->speed == b->speed;
}

static bool same_row(const struct chi_game_row *a, const struct chi_game_row *b)
{
	return same_head(&a->head, &b->head) && a->ply == b->ply && a->move == b->move &&
	       same_string(a->white, b->white) && same_string(a->black, b->black) &&
	       same_string(a->event, b->event) && same_string(a->site, b->site) &&
	       same_string(a->round, b->round) && same_string(a->source, b->source) &&
	       same_text(span(a->pgn, a->pgn_len), span(b->pgn, b->pgn_len));
}

bool same_game_rows(const struct chi_game_row *a, const struct chi_game_row *b, size_t n)
{
	bool same = true;
	for (size_t i = 0; same && i < n; i++) {
		same = same_row(&a[i], &b[i]);
	}
	return same;
}

bool same_archive_response(const struct chi_response *a, const struct chi_response *b)
{
	switch (a->op) {
	case CHI_OP_EXPLORE_GAMES:
		return same_explore(&a->u.explore, &b->u.explore);
	default:
		return same_search_response(a, b);
	}
}
