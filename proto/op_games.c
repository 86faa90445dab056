/* SPDX-License-Identifier: MIT */
/* GameQuery, GetGame, GetHeads and Stats: the archive of games. */
#include "proto/operations.h"

#include "base/record.h"
#include "proto/msg.h"
#include "proto/record.h"

#define ROW struct chi_game_row

/* ---- Requests ---------------------------------------------------------------------------- */

static const struct chi_member game_query[] = {
	CHI_M_TEXT(1, struct chi_game_spec, filter, CHI_FILTER_MAX),
	CHI_M_NUMBER(2, struct chi_game_spec, sort),
	CHI_M(3, CHI_BOOL, struct chi_game_spec, descending),
	CHI_M_NUMBER(4, struct chi_game_spec, want),
	CHI_M_NUMBER(5, struct chi_game_spec, limit),
	CHI_M_TEXT(6, struct chi_game_spec, cursor, CHI_GAMES_CURSOR_SIZE - 1),
	CHI_M(7, CHI_BOOL, struct chi_game_spec, want_total),
	CHI_M(9, CHI_BOOL, struct chi_game_spec, skip_ply),
	CHI_M_KEY_POINTER(10, struct chi_game_spec, position),
	CHI_M(11, CHI_BOOL, struct chi_game_spec, by_positions),
	CHI_M(12, CHI_BOOL, struct chi_game_spec, explain),
	CHI_M(13, CHI_BOOL, struct chi_game_spec, brief),
};
CHI_TABLE(chi_game_query_request, game_query, game_query, NULL);

static int check_number(struct chi_unpacker *u, void *out)
{
	const struct chi_game_request *request = out;
	return request->number > 0
		       ? CHI_OK
		       : chi_flaw_set(u->flaw, -CHI_EINVAL, "games are numbered from 1", "number");
}

static const struct chi_member get_game[] = {
	CHI_M_NUMBER(1, struct chi_game_request, number),
	CHI_M(2, CHI_BOOL, struct chi_game_request, whole),
};
CHI_TABLE(chi_get_game_request, get_game, get_game, check_number);

/* ---- Heads ------------------------------------------------------------------------------- */

int chi_numbers_unpack(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
		       const uint32_t **out, size_t *out_n)
{
	size_t n = len / sizeof(uint32_t);
	if (len % sizeof(uint32_t) != 0) {
		return -CHI_EPROTO;
	}
	uint32_t *numbers = chi_arena_array(u->arena, n, sizeof(*numbers));
	if (numbers == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, len);
	}
	struct chi_reader r = chi_reader_of(bytes, len);
	for (size_t i = 0; i < n; i++) {
		numbers[i] = (uint32_t)chi_read_le(&r, sizeof(*numbers));
	}
	*out = numbers;
	*out_n = n;
	return CHI_OK;
}

static const struct chi_member get_heads[] = {
	{CHI_POINTED(1, CHI_NUMBERS, struct chi_heads_request, numbers),
	 .other = offsetof(struct chi_heads_request, n),
	 .most = sizeof(uint32_t) * CHI_GAME_HEADS_MAX, .reason = "more than 1000 games"},
};
CHI_TABLE(chi_get_heads_request, get_heads, get_heads, NULL);

static const struct chi_member stats[] = {
	CHI_M_NUMBER(1, struct chi_stats_spec, by),
	CHI_M_TEXT(2, struct chi_stats_spec, filter, CHI_FILTER_MAX),
	CHI_M_NUMBER(3, struct chi_stats_spec, limit),
};
CHI_TABLE(chi_stats_request, stats, stats, NULL);

/* ---- Rows -------------------------------------------------------------------------------- */

static int check_row(struct chi_unpacker *u, void *out)
{
	const struct chi_game_row *row = out;
	if (row->head.number == 0) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "games are numbered from 1", "number");
	}
	return row->move == 0 || chi_move_possible(row->move)
		       ? CHI_OK
		       : chi_flaw_set(u->flaw, -CHI_EPROTO, "not a move", "move");
}

/* Titles and speeds of a later version are ones that are not known here. */
static const struct chi_member row[] = {
	CHI_M_NUMBER(1, ROW, head.number),
	CHI_M_UP_TO(2, ROW, head.result, CHI_RESULT_OTHER, "not a result"),
	CHI_M_UP_TO(3, ROW, head.year, 9999, "over 9999"),
	CHI_M_UP_TO(4, ROW, head.month, 12, "over 12"),
	CHI_M_UP_TO(5, ROW, head.day, 31, "over 31"),
	CHI_M_NUMBER(6, ROW, head.white_elo),
	CHI_M_NUMBER(7, ROW, head.black_elo),
	CHI_M_UP_TO(8, ROW, head.eco, CHI_ECO_CODES, "over 500"),
	CHI_M_NUMBER(9, ROW, head.plies),
	CHI_M_SIGNED(10, ROW, ply, -1, UINT16_MAX, "over 65535"),
	CHI_M_NUMBER(11, ROW, move),
	CHI_M_ALWAYS(12, CHI_STRING, ROW, white),
	CHI_M_ALWAYS(13, CHI_STRING, ROW, black),
	CHI_M_ALWAYS(14, CHI_STRING, ROW, event),
	CHI_M_ALWAYS(15, CHI_STRING, ROW, site),
	CHI_M_ALWAYS(16, CHI_STRING, ROW, round),
	CHI_M_ALWAYS(17, CHI_STRING, ROW, source),
	CHI_M_BYTES(18, ROW, pgn, pgn_len),
	CHI_M_NUMBER(19, ROW, head.white),
	CHI_M_NUMBER(20, ROW, head.black),
	CHI_M_NUMBER(21, ROW, head.event),
	CHI_M_NUMBER(22, ROW, head.site),
	CHI_M_NUMBER(23, ROW, head.source),
	CHI_M_CAPPED(24, ROW, head.white_title, CHI_TITLE_OTHER, CHI_TITLE_OTHER),
	CHI_M_CAPPED(25, ROW, head.black_title, CHI_TITLE_OTHER, CHI_TITLE_OTHER),
	CHI_M_CAPPED(26, ROW, head.speed, CHI_SPEEDS - 1, CHI_SPEED_UNKNOWN),
};
static CHI_TABLE(game_row_message, game_row, row, check_row);

size_t chi_game_row_size(const struct chi_game_row *from)
{
	size_t noted = 0;
	return chi_nested_len(1, chi_message_len(&game_row_message, from, &noted));
}

static const struct chi_member game_query_result[] = {
	CHI_M_ROWS(1, struct chi_games_page, games, n, &game_row_message, CHI_SCAN_ROWS_MAX),
	CHI_M_TEXT(2, struct chi_games_page, cursor, CHI_GAMES_CURSOR_SIZE - 1),
	CHI_M(3, CHI_BOOL, struct chi_games_page, has_total),
	CHI_M_NUMBER(4, struct chi_games_page, total),
	CHI_M_TEXT(6, struct chi_games_page, plan, CHI_PLAN_MAX),
};
CHI_TABLE(chi_game_query_result, game_query_result, game_query_result, NULL);

static const struct chi_member heads_result[] = {
	CHI_M_ROWS_OF(1, struct chi_heads, rows, n, &game_row_message, CHI_GAME_HEADS_MAX,
		      "more than 1000 games"),
};
CHI_TABLE(chi_get_heads_result, heads_result, heads_result, NULL);

/* ---- Whole games ------------------------------------------------------------------------- */

static const struct chi_member tag[] = {
	CHI_M_BYTES(1, struct chi_tag, name, name_len),
	CHI_M_BYTES(2, struct chi_tag, value, value_len),
};
static CHI_TABLE(tag_message, game_tag, tag, NULL);

static size_t moves_len(const void *from, size_t *noted)
{
	const struct chi_game *game = from;
	(void)noted;
	return game->n_plies * sizeof(chi_move);
}

static uint8_t *put_games_moves(uint8_t *at, const void *from, size_t noted)
{
	const struct chi_game *game = from;
	(void)noted;
	for (size_t i = 0; i < game->n_plies; i++) {
		*at++ = (uint8_t)game->moves[i];
		*at++ = (uint8_t)(game->moves[i] >> 8);
	}
	return at;
}

static int moves_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *to)
{
	struct chi_game *out = to;
	size_t n = len / sizeof(chi_move);
	if (n > UINT16_MAX || len % sizeof(chi_move) != 0) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "not a game's moves", "moves");
	}
	chi_move *moves = chi_arena_array(u->arena, n, sizeof(*moves));
	if (moves == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, len);
	}
	for (size_t i = 0; i < n; i++) {
		moves[i] = (chi_move)(bytes[2 * i] | bytes[2 * i + 1] << 8);
		if (!chi_move_possible(moves[i])) {
			return chi_flaw_set(u->flaw, -CHI_EPROTO, "not a move", "moves[%zu]", i);
		}
	}
	out->moves = moves;
	out->n_plies = n;
	return CHI_OK;
}

static const struct chi_message moves_message = {
	.len = moves_len, .put = put_games_moves, .read = moves_read};

static int check_game(struct chi_unpacker *u, void *out)
{
	struct chi_game *game = out;
	(void)u;
	game->has_start = game->start.len > 0;
	return CHI_OK;
}

static const struct chi_member game[] = {
	CHI_M_ALWAYS(1, CHI_FIXED, struct chi_game, id),
	CHI_M_ROWS(2, struct chi_game, tags, n_tags, &tag_message, CHI_TAGS_MAX),
	CHI_M(3, CHI_KEY, struct chi_game, start),
	{.field = 4, .kind = CHI_NESTED, .type = &moves_message},
	CHI_M_BYTES(5, struct chi_game, notes, n_notes),
	CHI_M_BYTES(6, struct chi_game, rest, n_rest),
};
static CHI_TABLE(game_message, game, game, check_game);

static const struct chi_member game_result[] = {
	CHI_M_FLAGGED(1, CHI_NESTED, struct chi_game_found, row, found, &game_row_message),
	CHI_M_FLAGGED(2, CHI_NESTED, struct chi_game_found, game, whole, &game_message),
};
CHI_TABLE(chi_get_game_result, game_result, game_result, NULL);

/* ---- Groups ------------------------------------------------------------------------------ */

static const struct chi_member group[] = {
	CHI_M_NUMBER(1, struct chi_stats_group, value),
	CHI_M_ALWAYS(2, CHI_STRING, struct chi_stats_group, text),
	CHI_M_NESTED(3, struct chi_stats_group, counts, CHI_IF_SET, &chi_counts_message),
	CHI_M_NUMBER(4, struct chi_stats_group, positions),
	CHI_M_NUMBER(5, struct chi_stats_group, rated),
	CHI_M_UP_TO(6, struct chi_stats_group, expected, CHI_STATS_POINT, "over a point"),
	CHI_M_SIGNED(7, struct chi_stats_group, beyond, -CHI_STATS_BEYOND_MAX, CHI_STATS_BEYOND_MAX,
		     "over 10,000 standard deviations"),
};
static CHI_TABLE(group_message, stats_group, group, NULL);

static const struct chi_member stats_result[] = {
	CHI_M_ROWS(1, struct chi_stats_result, groups, n, &group_message, CHI_SCAN_ROWS_MAX),
};
CHI_TABLE(chi_stats_result_message, stats_result, stats_result, NULL);
