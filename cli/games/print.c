/* SPDX-License-Identifier: MIT */
/* Games as rows, and whole as JSON. */
#include "cli/games/print.h"

#include <stdio.h>
#include <string.h>

#include "chess/fen.h"
#include "cli/out/output.h"

#define DATE_SIZE 8

static void date_cell(const void *at, struct cli_value *out)
{
	const struct chi_game_head *head = &((const struct chi_game_row *)at)->head;
	char month[DATE_SIZE] = "??";
	char day[DATE_SIZE] = "??";
	if (head->month > 0) {
		(void)snprintf(month, sizeof(month), "%02u", head->month);
	}
	if (head->day > 0) {
		(void)snprintf(day, sizeof(day), "%02u", head->day);
	}
	(void)snprintf(out->own, sizeof(out->own), "%04u.%.2s.%.2s", head->year, month, day);
	value_name(out, head->year > 0 ? out->own : NULL);
}

static void eco_cell(const void *at, struct cli_value *out)
{
	unsigned eco = ((const struct chi_game_row *)at)->head.eco;
	if (eco >= 1 && eco <= CHI_ECO_CODES) {
		(void)snprintf(out->own, sizeof(out->own), "%c%02u", "ABCDE"[(eco - 1) / 100],
			       (eco - 1) % 100);
		value_name(out, out->own);
	}
}

static void result_cell(const void *at, struct cli_value *out)
{
	uint8_t result = ((const struct chi_game_row *)at)->head.result;
	value_name(out, result == CHI_RESULT_WHITE   ? "1-0"
			: result == CHI_RESULT_BLACK ? "0-1"
			: result == CHI_RESULT_DRAW  ? "1/2-1/2"
						     : "*");
}

static void ply_cell(const void *at, struct cli_value *out)
{
	int32_t ply = ((const struct chi_game_row *)at)->ply;
	if (ply >= 0) {
		value_count(out, (uint64_t)ply);
	}
}

const struct cli_column games_columns[GAMES_N] = {
	COLUMN(SHOW_COUNT, struct chi_game_row, head.number, "game"),
	COLUMN(SHOW_NAME, struct chi_game_row, white, "white"),
	COLUMN(SHOW_NAME, struct chi_game_row, black, "black"),
	COLUMN_MADE("result", result_cell),
	COLUMN_MADE("date", date_cell),
	COLUMN(SHOW_NAME, struct chi_game_row, event, "event"),
	COLUMN(SHOW_NAME, struct chi_game_row, site, "site"),
	COLUMN(SHOW_NAME, struct chi_game_row, round, "round"),
	COLUMN_MADE("eco", eco_cell),
	COLUMN(SHOW_NUMBER, struct chi_game_row, head.white_elo, "white_elo"),
	COLUMN(SHOW_NUMBER, struct chi_game_row, head.black_elo, "black_elo"),
	COLUMN(SHOW_COUNT, struct chi_game_row, head.plies, "plies"),
	COLUMN_MADE("ply", ply_cell),
	COLUMN(SHOW_NAME, struct chi_game_row, source, "source"),
};

struct cli_rows games_rows(const struct cli *cli)
{
	return (struct cli_rows)ROWS_OF(cli, games_columns);
}

/* ---- Whole games ------------------------------------------------------------------------- */

static json_t *tags_of(const struct chi_game *game)
{
	json_t *tags = json_object();
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		char name[256];
		(void)snprintf(name, sizeof(name), "%.*s", (int)tag->name_len, tag->name);
		(void)json_object_set_new(tags, name, json_text(tag->value, tag->value_len));
	}
	return tags;
}

static int moves_of(const struct chi_game *game, const struct chi_key *start, json_t *moves)
{
	struct chi_key key = *start;
	int status = CHI_OK;
	for (size_t i = 0; status == CHI_OK && i < game->n_plies; i++) {
		char san[CHI_MOVE_TEXT_SIZE];
		status = chi_key_san(&key, game->moves[i], san);
		if (status == CHI_OK) {
			(void)json_array_append_new(moves, json_string(san));
			status = chi_key_play(&key, game->moves[i], &key);
		}
		if (status == -CHI_EKEY && i + 1 == game->n_plies) {
			status = CHI_OK; /* a last move after which no key can hold the position */
		}
	}
	return status;
}

int games_whole(const struct chi_game_row *row, const struct chi_game *game, json_t **out)
{
	char fen[CHI_FEN_SIZE] = "";
	struct chi_key start = game->start;
	json_t *moves = json_array();
	int status = game->has_start
			     ? chi_key_to_fen(&start, fen, NULL)
			     : chi_key_from_fen(CHI_FEN_START, strlen(CHI_FEN_START), &start, NULL);
	status = status == CHI_OK ? moves_of(game, &start, moves) : status;
	json_t *object = columns_object(games_columns, GAMES_N, row);
	(void)json_object_set_new(object, "tags", tags_of(game));
	(void)json_object_set_new(object, "start", fen[0] != '\0' ? json_string(fen) : json_null());
	(void)json_object_set_new(object, "moves", moves);
	(void)json_object_set_new(object, "pgn", json_text(row->pgn, row->pgn_len));
	if (status != CHI_OK) {
		json_decref(object);
		object = NULL;
	}
	*out = object;
	return status;
}
