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
	case CHI_OP_GET_GAME:
		return a->u.get_game.number == b->u.get_game.number &&
		       a->u.get_game.whole == b->u.get_game.whole;
	case CHI_OP_GET_HEADS:
		return same_text(span(a->u.get_heads.numbers, a->u.get_heads.n * sizeof(uint32_t)),
				 span(b->u.get_heads.numbers, b->u.get_heads.n * sizeof(uint32_t)));
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

static bool same_game(const struct chi_game *a, const struct chi_game *b)
{
	bool same = memcmp(a->id, b->id, sizeof(a->id)) == 0 && a->n_tags == b->n_tags &&
		    a->has_start == b->has_start && same_key(&a->start, &b->start) &&
		    same_text(span(a->moves, a->n_plies * sizeof(*a->moves)),
			      span(b->moves, b->n_plies * sizeof(*b->moves))) &&
		    same_text(span(a->notes, a->n_notes), span(b->notes, b->n_notes)) &&
		    same_text(span(a->rest, a->n_rest), span(b->rest, b->n_rest));
	for (size_t i = 0; same && i < a->n_tags; i++) {
		const struct chi_tag *x = &a->tags[i];
		const struct chi_tag *y = &b->tags[i];
		same = same_text(span(x->name, x->name_len), span(y->name, y->name_len)) &&
		       same_text(span(x->value, x->value_len), span(y->value, y->value_len));
	}
	return same;
}

bool same_archive_response(const struct chi_response *a, const struct chi_response *b)
{
	switch (a->op) {
	case CHI_OP_GET_GAME:
		return a->u.get_game.found == b->u.get_game.found &&
		       a->u.get_game.whole == b->u.get_game.whole &&
		       (!a->u.get_game.found || same_row(&a->u.get_game.row, &b->u.get_game.row)) &&
		       same_game(&a->u.get_game.game, &b->u.get_game.game);
	case CHI_OP_GET_HEADS:
		return a->u.get_heads.n == b->u.get_heads.n &&
		       same_game_rows(a->u.get_heads.rows, b->u.get_heads.rows, a->u.get_heads.n);
	case CHI_OP_EXPLORE_GAMES:
		return same_explore(&a->u.explore, &b->u.explore);
	default:
		return same_search_response(a, b);
	}
}
