/* SPDX-License-Identifier: MIT */
/* Columns of games are made once, as JSON; what is not known is null there and a dash in rows. */
#include "cli/games/print.h"

#include <stdio.h>
#include <string.h>

#include "chess/fen.h"
#include "cli/out/output.h"

#define DATE_SIZE 32

static json_t *date_of(const struct chi_game_head *head)
{
	char text[DATE_SIZE];
	char month[DATE_SIZE / 2] = "??";
	char day[DATE_SIZE / 2] = "??";
	if (head->year == 0) {
		return json_null();
	}
	if (head->month > 0) {
		(void)snprintf(month, sizeof(month), "%02u", head->month);
	}
	if (head->day > 0) {
		(void)snprintf(day, sizeof(day), "%02u", head->day);
	}
	(void)snprintf(text, sizeof(text), "%04u.%.2s.%.2s", head->year, month, day);
	return json_string(text);
}

static json_t *eco_of(uint16_t eco)
{
	char text[DATE_SIZE];
	if (eco < 1 || eco > CHI_ECO_CODES) {
		return json_null();
	}
	unsigned code = (unsigned)eco - 1;
	(void)snprintf(text, sizeof(text), "%c%02u", "ABCDE"[code / 100], code % 100);
	return json_string(text);
}

static const char *result_of(uint8_t result)
{
	return result == CHI_RESULT_WHITE   ? "1-0"
	       : result == CHI_RESULT_BLACK ? "0-1"
	       : result == CHI_RESULT_DRAW  ? "1/2-1/2"
					    : "*";
}

/* "?" is how PGN says that something is not known. */
static json_t *text_of(const char *text)
{
	return text[0] != '\0' && strcmp(text, "?") != 0 ? json_string(text) : json_null();
}

static json_t *number_of(uint32_t number)
{
	return number > 0 ? json_integer(number) : json_null();
}

json_t *games_object(const struct chi_game_row *row)
{
	const struct chi_game_head *head = &row->head;
	return json_pack("{s:I, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o}",
			 "game", (json_int_t)head->number, "white", text_of(row->white), "black",
			 text_of(row->black), "result", result_of(head->result), "date",
			 date_of(head), "event", text_of(row->event), "site", text_of(row->site),
			 "round", text_of(row->round), "eco", eco_of(head->eco), "white_elo",
			 number_of(head->white_elo), "black_elo", number_of(head->black_elo),
			 "plies", (int)head->plies, "ply",
			 row->ply >= 0 ? json_integer(row->ply) : json_null(), "source",
			 text_of(row->source));
}

void games_end(const struct cli *cli, bool head)
{
	const struct chi_game_row none = {
		.white = "", .black = "", .event = "", .site = "", .round = "", .source = ""};
	output_table_end(cli, games_object(&none), head);
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
	json_t *object = games_object(row);
	(void)json_object_set_new(object, "tags", tags_of(game));
	(void)json_object_set_new(object, "start", text_of(fen));
	(void)json_object_set_new(object, "moves", moves);
	(void)json_object_set_new(object, "pgn", json_text(row->pgn, row->pgn_len));
	if (status != CHI_OK) {
		json_decref(object);
		object = NULL;
	}
	*out = object;
	return status;
}
