/* SPDX-License-Identifier: MIT */
/* The examples of PROTOCOL.md that ask for games. */
#include "tests/proto/examples.h"

#include <string.h>

const struct chi_request example_game_query = {
	.id = 21,
	.op = CHI_OP_GAME_QUERY,
	.body =
		&(const struct chi_game_spec){
			.filter = "player Tal result 1-0",
			.sort = CHI_GAMES_DATE,
			.descending = true,
			.want = CHI_GAMES_TEXTS,
			.want_total = true,
			.limit = 20,
		},
};

static const struct chi_game_row query_rows[] = {
	{
		.head = {.number = 300,
			 .white = 7,
			 .black = 12,
			 .event = 3,
			 .source = 1,
			 .year = 1960,
			 .month = 3,
			 .day = 15,
			 .eco = 219,
			 .plies = 63,
			 .result = CHI_RESULT_WHITE},
		.ply = -1,
		.white = "Tal, M",
		.black = "Botvinnik, M",
		.event = "World Championship",
		.site = "",
		.round = "1",
		.source = "wch.pgn",
	},
};

const struct chi_response example_game_query_result = {
	.id = 21,
	.last = true,
	.op = CHI_OP_GAME_QUERY,
	.body = &(const struct chi_games_page){.games = query_rows,
					       .n = 1,
					       .cursor = "D2c010000bb132b01",
					       .has_total = true,
					       .total = 1},
};

static const struct chi_game_request get_game = {.number = 2, .whole = true};
const struct chi_request example_get_game = {
	.id = 22,
	.op = CHI_OP_GET_GAME,
	.body = &get_game,
};

static const struct chi_tag tags[] = {{"White", 5, "a", 1}, {"Black", 5, "b", 1}};
static const chi_move moves[] = {796, 3364};

static const struct chi_game_found game_found = {
	.found = true,
	.row = {.head = {.number = 2,
			 .white = 1,
			 .black = 2,
			 .plies = 2,
			 .result = CHI_RESULT_DRAW},
		.ply = -1,
		.white = "a",
		.black = "b",
		.event = "",
		.site = "",
		.round = "",
		.source = "",
		.pgn = "1. e4 e5 1/2-1/2\n\n",
		.pgn_len = 18},
	.whole = true,
	.game = {.id = {0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255},
		 .tags = tags,
		 .n_tags = 2,
		 .moves = moves,
		 .n_plies = 2},
};

const struct chi_response example_get_game_result = {
	.id = 22,
	.last = true,
	.op = CHI_OP_GET_GAME,
	.body = &game_found,
};

static const uint32_t head_numbers[] = {300, 301};

static const struct chi_heads_request get_heads = {.numbers = head_numbers, .n = 2};

const struct chi_request example_get_heads = {
	.id = 40,
	.op = CHI_OP_GET_HEADS,
	.body = &get_heads,
};

static const struct chi_game_row head_rows[] = {
	{
		.head = {.number = 300, .white = 7, .black = 12, .year = 1960, .plies = 63},
		.ply = -1,
		.white = "Tal, M",
		.black = "Botvinnik, M",
		.event = "",
		.site = "",
		.round = "",
		.source = "",
	},
};

static const struct chi_heads heads = {.rows = head_rows, .n = 1};

const struct chi_response example_get_heads_result = {
	.id = 40,
	.last = true,
	.op = CHI_OP_GET_HEADS,
	.body = &heads,
};

const struct chi_request example_explore_games = {
	.id = 23,
	.op = CHI_OP_EXPLORE,
	.body =
		&(const struct chi_explore_request){
			.fen = "8/8/8/8/3k4/8/3P4/R3K3 w - - 0 1",
			.filter = "since 2020",
		},
};

const struct chi_request example_stats = {
	.id = 24,
	.op = CHI_OP_STATS,
	.body = &(const struct chi_stats_spec){.by = CHI_STATS_ECO,
					       .filter = "year 2020",
					       .limit = 1},
};

static const struct chi_stats_group groups[] = {
	{.value = 191, .text = "B90", .counts = {.white = 310, .draws = 402, .black = 255}},
};

const struct chi_response example_stats_result = {
	.id = 24,
	.last = true,
	.op = CHI_OP_STATS,
	.body = &(const struct chi_stats_result){.groups = groups, .n = 1},
};
