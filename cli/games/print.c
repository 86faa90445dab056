/* SPDX-License-Identifier: MIT */
/* Games as rows, and whole as JSON. */
#include "cli/games/print.h"

#include <stdio.h>
#include <string.h>

#include "chess/fen.h"
#include "cli/out/output.h"

struct cli_rows games_rows(const struct cli *cli)
{
	return (struct cli_rows)ROWS_OF(cli, chi_game_columns);
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
	json_t *object = columns_object(chi_game_columns, CHI_GAME_COLUMNS, row);
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

void games_print_plan(const struct cli *cli, struct chi_rows *query)
{
	const char *plan = chi_rows_state(query)->plan;
	if (cli->json) {
		output_json(json_pack("{s:s?}", "plan", plan));
	} else {
		printf("%s", plan != NULL ? plan : "");
	}
}
