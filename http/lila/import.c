/* SPDX-License-Identifier: MIT */
/* Bodies of lila's imports, as PGN for the daemon that takes writes: it counts a game once. */
#include <jansson.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "http/lila/lila.h"
#include "http/net/config.h"
#include "http/net/session.h"

#define GAMES_MOST 1000

static void tag(struct writer *out, const char *name, const char *value)
{
	if (value == NULL) {
		return;
	}
	out_format(out, "[%s \"", name);
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\') {
			out_bytes(out, "\\", 1);
		}
		out_bytes(out, (unsigned char)*value < ' ' ? " " : value, 1);
	}
	out_raw(out, "\"]\n");
}

static void side_tags(struct writer *out, const json_t *side, const char *name, const char *elo)
{
	const json_t *rating = json_object_get(side, "rating");
	char text[32];
	tag(out, name, json_string_value(json_object_get(side, "name")));
	if (json_is_integer(rating)) {
		(void)snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(rating));
		tag(out, elo, text);
	}
}

/* lichess writes 2021-12-30 or 2021-12, PGN 2021.12.30. */
static void date_tag(struct writer *out, const char *date)
{
	char text[16] = "????.??.??";
	for (size_t i = 0; date != NULL && i < 10 && date[i] != '\0'; i++) {
		text[i] = (char)(date[i] == '-' ? '.' : date[i]);
	}
	tag(out, "Date", text);
}

static const char *text_at(const json_t *game, const char *name)
{
	return json_string_value(json_object_get(game, name));
}

/* Moves are text between tags: nothing in them may begin a tag or a comment. */
static bool are_moves(const char *text)
{
	return text != NULL && strpbrk(text, "[]{}();%\n\r\"") == NULL;
}

/* NULL: it is no winner. */
static const char *result_of(const json_t *game)
{
	const json_t *winner = json_object_get(game, "winner");
	const char *name = json_string_value(winner);
	if (winner == NULL || json_is_null(winner)) {
		return "1/2-1/2";
	}
	return name == NULL		    ? NULL
	       : strcmp(name, "white") == 0 ? "1-0"
	       : strcmp(name, "black") == 0 ? "0-1"
					    : NULL;
}

/* The event's name says how fast it was, as lichess' own do; a variant that is not played by the
 * rules of chess is for the import to leave out. */
static void online_tags(struct writer *out, const json_t *game)
{
	static const char *const standard[] = {"standard", "chess", "fromPosition"};
	const char *variant = text_at(game, "variant");
	const char *speed = text_at(game, "speed");
	char event[64];
	(void)snprintf(event, sizeof(event), "lichess %.20s game", speed != NULL ? speed : "");
	tag(out, "Event", event);
	for (size_t i = 0; variant != NULL && i < CHI_COUNT(standard); i++) {
		variant = strcmp(variant, standard[i]) == 0 ? NULL : variant;
	}
	tag(out, "Variant", variant);
}

static int put_game(struct call *call, struct writer *out, const json_t *game, bool online)
{
	const char *moves = text_at(game, "moves");
	const char *id = text_at(game, "id");
	const char *result = result_of(game);
	if (!json_is_object(game) || !are_moves(moves)) {
		return chi_fail(&call->fault, -CHI_EINVAL, "a game of the body has no moves");
	}
	if (result == NULL) {
		return chi_fail(&call->fault, -CHI_EINVAL,
				"a game's winner is white, black or null");
	}
	if (online) {
		online_tags(out, game);
	} else {
		tag(out, "Event", text_at(game, "event"));
	}
	tag(out, "Site", text_at(game, "site"));
	date_tag(out, text_at(game, "date"));
	tag(out, "Round", text_at(game, "round"));
	side_tags(out, json_object_get(game, "white"), "White", "WhiteElo");
	side_tags(out, json_object_get(game, "black"), "Black", "BlackElo");
	tag(out, "GameId", id);
	tag(out, "FEN", text_at(game, "fen"));
	tag(out, "Result", result);
	out_format(out, "\n");
	out_raw(out, moves);
	out_format(out, " %s\n\n", result);
	return CHI_OK;
}

static void import_closep(struct chi_import **games)
{
	chi_import_close(*games);
}

static int feed_pgn(struct call *call, const struct writer *pgn, struct chi_import_result *result)
{
	_cleanup_(import_closep) struct chi_import *games = NULL;
	const struct http_config *config = call->session->config;
	const struct chi_options options = {CHI_OPTIONS_INIT,
					    .store = config->store,
					    .token_file = config->token_file,
					    .tls_ca = config->tls_ca,
					    .tls_cert = config->tls_cert,
					    .tls_key = config->tls_key,
					    .client_name = "chistore-http"};
	struct chi_import_options kind = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD,
					  .source = "http"};
	if (config->write_to == NULL) {
		return chi_fail(&call->fault, -CHI_EREADONLY,
				"this server only reads: it was started without --write-to");
	}
	int status = chi_import_open(config->write_to, &options, 0, &kind, &games, &call->fault);
	status = status == CHI_OK ? chi_import_file(games, "http") : status;
	status = status == CHI_OK
			 ? chi_import_feed(games, chi_buffer_bytes(&pgn->buffer), pgn->buffer.len)
			 : status;
	status = status == CHI_OK ? chi_import_commit(games, result) : status;
	return status < 0 && games != NULL
		       ? chi_fail(&call->fault, status, "%s", chi_import_error(games))
		       : status;
}

static int import(struct call *call, bool online)
{
	json_error_t error;
	json_t *body = json_loadb(call->body, call->body_len, 0, &error);
	struct chi_import_result result = {.games = 0};
	struct writer pgn;
	size_t n = online ? json_array_size(body) : 1;
	int status = CHI_OK;
	if (body == NULL || n > GAMES_MOST || (online && !json_is_array(body))) {
		json_decref(body);
		return chi_fail(&call->fault, -CHI_EINVAL, "the body is no %s of games: %s",
				online ? "array" : "object", error.text);
	}
	out_init(&pgn, (size_t)64 << 20);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = put_game(call, &pgn, online ? json_array_get(body, i) : body, online);
	}
	status = status == CHI_OK && pgn.failed ? chi_fault_plain(&call->fault, -CHI_ENOMEM)
						: status;
	status = status == CHI_OK ? feed_pgn(call, &pgn, &result) : status;
	out_deinit(&pgn);
	json_decref(body);
	out_object(&call->out, NULL);
	out_number(&call->out, "games", result.games);
	out_number(&call->out, "added", result.taken);
	out_number(&call->out, "known", result.known);
	out_end(&call->out, '}');
	return status;
}

int lila_import_masters(struct call *call)
{
	return import(call, false);
}

int lila_import_lichess(struct call *call)
{
	return import(call, true);
}

const struct route lila_routes[] = {
	{"/masters", ROUTE_LONG, lila_masters, NULL, NULL},
	{"/master", ROUTE_LONG, lila_masters, NULL, NULL},
	{"/masters/pgn/", ROUTE_UNDER, lila_pgn, NULL, NULL},
	{"/master/pgn/", ROUTE_UNDER, lila_pgn, NULL, NULL},
	{"/lichess", ROUTE_LONG, lila_lichess, NULL, NULL},
	{"/lichess/history", ROUTE_LONG, lila_history, NULL, NULL},
	{"/player", ROUTE_LONG, lila_player, NULL, NULL},
	{"/personal", ROUTE_LONG, lila_player, NULL, NULL},
	{"/api/cloud-eval", 0, lila_cloud, NULL, NULL},
	{"/import/masters", ROUTE_PUT | ROUTE_NO_GET | ROUTE_WRITE | ROUTE_LARGE,
	 lila_import_masters, NULL, NULL},
	{"/import/lichess", ROUTE_PUT | ROUTE_NO_GET | ROUTE_WRITE | ROUTE_LARGE,
	 lila_import_lichess, NULL, NULL},
	{.path = NULL},
};
