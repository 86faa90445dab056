/* SPDX-License-Identifier: MIT */
/* GET /api/games and /api/game/N: lists of games, and whole ones. */
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/fen.h"
#include "http/api/api.h"

#define GAMES_INITIAL 50
#define GAMES_MOST    10000

/* ---- Rows -------------------------------------------------------------------------------- */

/* The last two columns are the ply, which a whole game has not, and the source. */
static void say_head(struct writer *out, const struct chi_game_row *row)
{
	say_columns(out, chi_game_columns, CHI_GAME_COLUMNS - 2, row);
	say_columns(out, &chi_game_columns[CHI_GAME_COLUMNS - 1], 1, row);
}

/* `key`: the position asked for; NULL: none. */
static int say_row(struct writer *out, const struct chi_game_row *row, const struct chi_key *key)
{
	char san[CHI_MOVE_TEXT_SIZE];
	int status = CHI_OK;
	out_object(out, NULL);
	say_head(out, row);
	say_columns(out, &chi_game_columns[CHI_GAME_COLUMNS - 2], 1, row);
	bool moved = key != NULL && row->move != 0;
	status = moved ? chi_key_san(key, row->move, san) : CHI_OK;
	out_text(out, "move", moved ? san : NULL);
	out_end(out, '}');
	return status;
}

static int say_rows(struct call *call, struct chi_rows *query, const struct chi_key *key,
		    uint64_t *n)
{
	const struct chi_game_row *row = NULL;
	int status = CHI_OK;
	out_array(&call->out, "games");
	while ((status = chi_games_next(query, &row)) == CHI_OK) {
		status = say_row(&call->out, row, key);
		status = status == CHI_OK ? call_check(call) : status;
		if (status < 0) {
			return status;
		}
		(*n)++;
	}
	out_end(&call->out, ']');
	return status == CHI_NONE ? CHI_OK : call_failed(call, status);
}

static void say_end(struct call *call, struct chi_rows *query, uint64_t n, uint64_t limit)
{
	struct writer *out = &call->out;
	const struct chi_rows_place *place = chi_rows_state(query);
	const char *name = NULL;
	if (place->has_total) {
		out_number(out, "total", place->total);
	} else {
		out_null(out, "total");
	}
	out_text(out, "next", n == limit && place->games[0] != '\0' ? place->games : NULL);
	if (place->plan != NULL) {
		out_text(out, "plan", place->plan);
	}
	out_array(out, "unknown");
	for (size_t i = 0; (name = chi_unknown_name(call->client, i)) != NULL; i++) {
		out_text(out, NULL, name);
	}
	out_end(out, ']');
}

static int spec_of(struct call *call, struct chi_game_spec *spec)
{
	static const char *const sorts[] = {"number", "date", "rating"};
	int status = filter_of(call, FILTER_ALL, &spec->filter);
	status = status == CHI_OK ? filter_word(call, "sort", sorts, 3, &spec->sort) : status;
	status = status == CHI_OK ? params_number(&call->params, "limit", 1, GAMES_MOST,
						  GAMES_INITIAL, &spec->limit, &call->fault)
				  : status;
	spec->descending = params_flag(&call->params, "descending");
	spec->want = CHI_GAMES_TEXTS;
	spec->cursor = params_get(&call->params, "cursor");
	const char *total = params_get(&call->params, "total");
	spec->want_total = total == NULL || params_flag(&call->params, "total");
	spec->explain = params_flag(&call->params, "explain");
	return status;
}

static int list_games(struct call *call, const struct chi_game_spec *spec)
{
	_cleanup_(chi_rows_closep) struct chi_rows *query = NULL;
	uint64_t n = 0;
	int status = chi_games_open(call->client, spec, &query);
	if (status < 0) {
		return call_failed(call, status);
	}
	out_object(&call->out, NULL);
	status = say_rows(call, query, spec->position, &n);
	if (status == CHI_OK) {
		say_end(call, query, n, spec->limit);
	}
	out_end(&call->out, '}');
	return status;
}

int api_games(struct call *call)
{
	struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = ""};
	struct chi_key key;
	int status = spec_of(call, &spec);
	if (status == CHI_OK && params_get(&call->params, "fen") != NULL) {
		status = call_fen_param(call, "fen", &key);
		spec.position = &key;
	}
	return status == CHI_OK ? list_games(call, &spec) : status;
}

/* ---- Whole games ------------------------------------------------------------------------- */

/* The positions of a game, each with the move that leads to it. */
struct line {
	struct chi_key start;
	struct chi_key *keys; /* after each move; len 0: no key can hold it */
	struct chi_row *rows; /* the store's, of these */
	size_t n;
};

static int play(struct call *call, const struct chi_game *game, struct line *line)
{
	struct chi_key key;
	int status = CHI_OK;
	line->n = game->n_plies;
	line->keys = chi_arena_array(&call->arena, line->n + 1, sizeof(*line->keys));
	line->rows = chi_arena_array(&call->arena, line->n + 1, sizeof(*line->rows));
	if (line->keys == NULL || line->rows == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	if (game->has_start) {
		line->start = game->start;
	} else {
		status = chi_key_from_fen(CHI_FEN_START, strlen(CHI_FEN_START), &line->start,
					  &call->fault);
	}
	key = line->start;
	for (size_t i = 0; status == CHI_OK && i < line->n; i++) {
		status = chi_key_play(&key, game->moves[i], &line->keys[i]);
		key = line->keys[i];
		if (status == -CHI_EKEY && i + 1 == line->n) {
			line->keys[i] = (struct chi_key){0};
			return CHI_OK;
		}
	}
	return status;
}

static void say_tags(struct writer *out, const struct chi_game *game, struct chi_arena *arena)
{
	out_object(out, "tags");
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		const char *name = chi_arena_text(arena, tag->name, tag->name_len);
		if (name != NULL && name[strcspn(name, "\"\\")] == '\0') {
			out_text_n(out, name, tag->value, tag->value_len);
		}
	}
	out_end(out, '}');
}

static int say_game_move(struct call *call, const struct chi_key *before, chi_move move,
			 const struct chi_key *after, const struct chi_row *row)
{
	struct writer *out = &call->out;
	out_object(out, NULL);
	int status = say_move(call, before, move);
	say_fen(out, "fen", after);
	say_chi2(out, "chi2", row->chi2);
	if (row->found) {
		out_number(out, "reached", say_games(&row->counts) + row->counts.other);
	} else {
		out_null(out, "reached");
	}
	say_score(out, "score", &row->counts, false);
	say_eval(out, "eval", row);
	out_end(out, '}');
	return status;
}

static int say_game(struct call *call, const struct chi_game_row *row, const struct chi_game *game)
{
	struct writer *out = &call->out;
	struct line line = {.n = 0};
	chi_move *moves = chi_arena_array(&call->arena, game->n_plies + 1, sizeof(*moves));
	int status = moves == NULL ? chi_fault_plain(&call->fault, -CHI_ENOMEM)
				   : play(call, game, &line);
	if (status < 0) {
		return status;
	}
	out_object(out, NULL);
	say_head(out, row);
	say_tags(out, game, &call->arena);
	say_fen(out, "start", &line.start);
	if (line.n > 0) {
		/* The next call on the client ends the game's life. */
		memcpy(moves, game->moves, line.n * sizeof(*moves));
		size_t keyed = line.n - (line.keys[line.n - 1].len == 0 ? 1 : 0);
		status = chi_probe(call->client, line.keys, keyed, line.rows);
		status = status < 0 ? call_failed(call, status) : status;
	}
	out_array(out, "moves");
	for (size_t i = 0; status == CHI_OK && i < line.n; i++) {
		const struct chi_key *before = i == 0 ? &line.start : &line.keys[i - 1];
		status = say_game_move(call, before, moves[i], &line.keys[i], &line.rows[i]);
	}
	out_end(out, ']');
	out_end(out, '}');
	return status;
}

/* /api/game/17 or /api/game/17.pgn */
int api_game(struct call *call)
{
	const char *text = call->path + strlen(call->route->path);
	size_t len = strlen(text);
	struct chi_game_row row;
	struct chi_game game;
	uint64_t number = 0;
	bool pgn = len > 4 && strcmp(text + len - 4, ".pgn") == 0;
	len -= pgn ? 4 : 0;
	if (chi_num_u64(text, len, UINT32_MAX, &number) != CHI_OK) {
		return call_not_found(call, "a game is asked for by its number");
	}
	int status = chi_game_get(call->client, (uint32_t)number, &row, &game);
	if (status < 0) {
		return call_failed(call, status);
	}
	if (status == CHI_NONE) {
		return call_not_found(call, "there is no game of that number");
	}
	if (!pgn) {
		return say_game(call, &row, &game);
	}
	call->type = "application/x-chess-pgn";
	out_bytes(&call->out, row.pgn, row.pgn_len);
	return CHI_OK;
}
