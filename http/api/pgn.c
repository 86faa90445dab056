/* SPDX-License-Identifier: MIT */
/* POST /api/pgn: a text that someone pastes, as moves. Nothing is stored. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "chess/pgn/pgn.h"
#include "http/api/api.h"

static const char *const tag_names[CHI_PGN_TAGS] = {
	[CHI_PGN_EVENT] = "Event",
	[CHI_PGN_SITE] = "Site",
	[CHI_PGN_DATE] = "Date",
	[CHI_PGN_ROUND] = "Round",
	[CHI_PGN_WHITE] = "White",
	[CHI_PGN_BLACK] = "Black",
	[CHI_PGN_ECO] = "ECO",
	[CHI_PGN_WHITE_ELO] = "WhiteElo",
	[CHI_PGN_BLACK_ELO] = "BlackElo",
	[CHI_PGN_TIME_CONTROL] = "TimeControl",
};

static const char *end_of(enum chi_pgn_end end)
{
	switch (end) {
	case CHI_PGN_COMPLETE:
		return NULL;
	case CHI_PGN_NULL_MOVE:
		return "a null move";
	case CHI_PGN_ILLEGAL:
		return "this move is not legal";
	case CHI_PGN_AMBIGUOUS:
		return "several pieces can move so";
	case CHI_PGN_BAD_START:
		return "the FEN tag cannot be read";
	case CHI_PGN_LONG_TAG:
		return "a tag is too long";
	case CHI_PGN_NO_START:
	case CHI_PGN_OTHER_RULES:
		return "other variants are not read";
	default:
		return "this is no move";
	}
}

static void pgn_freep(struct chi_pgn **pgn)
{
	chi_pgn_free(*pgn);
}

static void say_moves(struct call *call, const struct chi_pgn_game *game)
{
	struct writer *out = &call->out;
	struct chi_key key;
	char san[CHI_SAN_SIZE];
	char uci[CHI_UCI_SIZE];
	out_array(out, "moves");
	for (size_t i = 0; i < game->n_plies; i++) {
		chi_key_encode(&game->positions[i + 1], &key);
		(void)chi_san_print(&game->positions[i], game->moves[i], san);
		(void)chi_uci_print(&game->positions[i], game->moves[i], uci);
		out_object(out, NULL);
		out_text(out, "san", san);
		out_text(out, "uci", uci);
		say_fen(out, "fen", &key);
		out_end(out, '}');
	}
	out_end(out, ']');
}

static int say_game(struct call *call, const struct chi_pgn_game *game)
{
	struct writer *out = &call->out;
	struct chi_key start;
	const char *end = end_of(game->end);
	if (end != NULL) {
		char san[CHI_SAN_SIZE] = "";
		size_t n = game->n_plies;
		if (n > 0) {
			(void)chi_san_print(&game->positions[n - 1], game->moves[n - 1], san);
		}
		return chi_fail(&call->fault, -CHI_EMOVE, "'%s', after %s%s: %s", game->end_text,
				n > 0 ? san : "the start", n > 0 ? "" : " of the game", end);
	}
	chi_key_encode(&game->positions[0], &start);
	out_object(out, NULL);
	out_object(out, "tags");
	for (size_t i = 0; i < CHI_PGN_TAGS; i++) {
		if (tag_names[i] != NULL && game->tags[i].text != NULL) {
			out_text_n(out, tag_names[i], game->tags[i].text, game->tags[i].len);
		}
	}
	out_end(out, '}');
	say_fen(out, "start", &start);
	out_text(out, "result", chi_result_word((uint8_t)game->result));
	say_moves(call, game);
	out_end(out, '}');
	return CHI_OK;
}

/* Where bare moves begin, said as a game's tags say it. */
static int feed_start(struct call *call, struct chi_pgn *pgn)
{
	struct chi_key key;
	char fen[CHI_FEN_SIZE];
	char tags[CHI_FEN_SIZE + 64];
	if (params_get(&call->params, "fen") == NULL || strstr(call->body, "[FEN ") != NULL) {
		return CHI_OK;
	}
	int status = call_fen_param(call, "fen", &key);
	status = status == CHI_OK ? chi_key_to_fen(&key, fen, &call->fault) : status;
	if (status == CHI_OK) {
		int n = snprintf(tags, sizeof(tags), "[SetUp \"1\"]\n[FEN \"%s\"]\n\n", fen);
		(void)chi_pgn_feed(pgn, tags, (size_t)n);
	}
	return status;
}

int api_pgn(struct call *call)
{
	_cleanup_(pgn_freep) struct chi_pgn *pgn = NULL;
	const struct chi_pgn_game *game = NULL;
	const char *at = call->body;
	size_t left = call->body_len;
	if (chi_pgn_new(&pgn) < 0) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	int status = feed_start(call, pgn);
	if (status < 0) {
		return status;
	}
	status = CHI_NONE;
	while (status == CHI_NONE && left > 0) {
		size_t n = chi_pgn_feed(pgn, at, left);
		at += n;
		left -= n;
		status = chi_pgn_next(pgn, &game);
	}
	if (status == CHI_NONE) {
		chi_pgn_finish(pgn);
		status = chi_pgn_next(pgn, &game);
	}
	return status == CHI_OK ? say_game(call, game)
				: chi_fail(&call->fault, -CHI_ESYNTAX,
					   "the text holds neither a game nor moves");
}
