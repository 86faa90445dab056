/* SPDX-License-Identifier: MIT */
/* Random messages that have to do with games. */
#include "tests/proto/sample.h"

#include <string.h>

void sample_games_request(struct sample *s, struct chi_request *out)
{
	switch (out->op) {
	case CHI_OP_EXPLORE:
	case CHI_OP_EXPLORE_GAMES:
		out->u.explore.filter =
			out->op == CHI_OP_EXPLORE_GAMES ? sample_text(s, 40) : (struct chi_text){0};
		out->u.explore.fen = sample_coin(s) ? sample_text(s, 30) : (struct chi_text){0};
		out->u.explore.key =
			out->u.explore.fen.len == 0 ? sample_key(s) : (struct chi_key){0};
		break;
	case CHI_OP_IMPORT:
		sample_import(s, out);
		break;
	case CHI_OP_IMPORT_DATA:
		out->u.import_data.file = sample_text(s, 20);
		out->u.import_data.bytes = (const uint8_t *)sample_text(s, 100).bytes;
		out->u.import_data.len = sample_below(s, 100);
		break;
	case CHI_OP_GAME_IDS:
		out->u.games.after_set = sample_coin(s);
		memcpy(out->u.games.after, sample_ids(s, 1)->id,
		       CHI_GAME_ID_SIZE * out->u.games.after_set);
		out->u.games.limit = (uint32_t)sample_number(s);
		break;
	default:
		sample_search_request(s, out);
		break;
	}
}

/* ---- Responses --------------------------------------------------------------------------- */

static const char *string(struct sample *s, size_t max)
{
	return sample_text(s, max).bytes;
}

static void head(struct sample *s, struct chi_game_head *out)
{
	out->number = (uint32_t)(1 + sample_number(s) % UINT32_MAX);
	out->white = (uint32_t)sample_number(s);
	out->black = (uint32_t)sample_number(s);
	out->event = (uint32_t)sample_number(s);
	out->site = (uint32_t)sample_number(s);
	out->source = (uint32_t)sample_number(s);
	out->year = (uint16_t)sample_below(s, 10000);
	out->month = (uint8_t)sample_below(s, 13);
	out->day = (uint8_t)sample_below(s, 32);
	out->white_elo = (uint16_t)sample_number(s);
	out->black_elo = (uint16_t)sample_number(s);
	out->eco = (uint16_t)sample_below(s, CHI_ECO_CODES + 1);
	out->plies = (uint16_t)sample_number(s);
	out->result = (uint8_t)sample_below(s, CHI_RESULT_OTHER + 1);
	out->white_title = (uint8_t)sample_below(s, CHI_TITLES);
	out->black_title = (uint8_t)sample_below(s, CHI_TITLES);
	out->speed = (uint8_t)sample_below(s, CHI_SPEEDS);
}

static void row(struct sample *s, struct chi_game_row *out)
{
	memset(out, 0, sizeof(*out));
	head(s, &out->head);
	out->ply = (int32_t)sample_below(s, UINT16_MAX + 2) - 1;
	out->move = sample_coin(s) ? sample_move(s) : 0;
	out->white = string(s, 20);
	out->black = string(s, 20);
	out->event = string(s, 20);
	out->site = string(s, 20);
	out->round = string(s, 20);
	out->source = string(s, 20);
	struct chi_text pgn = sample_text(s, 100);
	out->pgn = pgn.len > 0 ? pgn.bytes : NULL;
	out->pgn_len = pgn.len;
}

const struct chi_game_row *sample_games(struct sample *s, size_t n)
{
	struct chi_game_row *rows = sample_take(s, n, sizeof(*rows));
	for (size_t i = 0; i < n; i++) {
		row(s, &rows[i]);
	}
	return rows;
}

bool sample_games_response(struct sample *s, struct chi_response *out)
{
	switch (out->op) {
	case CHI_OP_EXPLORE_GAMES:
		sample_explore(s, &out->u.explore);
		return true;
	default:
		return sample_search_response(s, out);
	}
}
