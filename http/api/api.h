/* SPDX-License-Identifier: MIT */
/* Our own JSON: the routes of openapi.json, and what their handlers share. */
#pragma once

#include "formats/filter_text.h"
#include "formats/rows/rows.h"
#include "http/net/call.h"

/* Ends with a row without a path. */
extern const struct route api_routes[];

call_handler api_info, api_position, api_explore, api_games, api_game, api_pgn, api_find, api_scan,
	api_histogram, api_names, api_gamesets, api_stats, api_insight, api_openapi;

/* ---- say.c: values that several answers have --------------------------------------------- */

/* white + draws + black; a server may tell any numbers. */
uint64_t say_games(const struct chi_counts *counts);
/* games, white, draws, black, other; null unless `known`. */
void say_counts(struct writer *out, const struct chi_counts *counts, bool known);
/* null if it is not known. */
void say_chi2(struct writer *out, const char *name, uint16_t chi2);
/* Percent for White, or for the side to move; null without games. */
void say_score(struct writer *out, const char *name, const struct chi_counts *counts, bool black);
/* {"depth", "cp" or "mate"}, or null. */
void say_eval(struct writer *out, const char *name, const struct chi_row *row);
/* The FEN; null if no key can hold the position. */
void say_fen(struct writer *out, const char *name, const struct chi_key *key);
/* {"eco", "name"} or null. */
void say_opening(struct writer *out, const char *name, const char *eco, const char *opening);
/* fen, chi2, games, white, draws, black: a position of a list. */
void say_position_row(struct writer *out, const struct chi_row *row);
/* SAN and UCI of a legal move. */
CHI_MUSTUSE int say_move(struct call *call, const struct chi_key *key, chi_move move);
/* As UCI of a legal move: castling in standard chess is the king's move, e1g1. */
CHI_MUSTUSE int say_uci(const struct chi_key *key, chi_move move, char out[CHI_MOVE_TEXT_SIZE]);
/* The row's cells as members of the object that is begun. */
void say_columns(struct writer *out, const struct chi_row_column *columns, size_t n,
		 const void *row);
bool is_black_to_move(const struct chi_key *key);

/* ---- filter.c: parameters to filters ----------------------------------------------------- */

enum filter_part {
	FILTER_ALL,    /* everything */
	FILTER_GAMES,  /* of /api/find: what is asked of games, */
	FILTER_BOARDS, /* and of the one position */
};

/* The i-th parameter that is a filter of games; NULL after the last. */
const char *filter_name(size_t i);

/* The filter's text, in the arena; "" if no parameter asks for anything. */
CHI_MUSTUSE int filter_of(struct call *call, enum filter_part part, const char **out);

/* Which evaluations are seen: engine, depth, eval-date. -CHI_EINVAL. */
CHI_MUSTUSE int filter_evidence(struct call *call, struct chi_evidence *out);

/* What a scan is asked for: band, filter, order. */
CHI_MUSTUSE int filter_scan(struct call *call, struct chi_scan_spec *out);

/* A word of a list as its index; 0 if the parameter is not there. -CHI_EINVAL. */
CHI_MUSTUSE int filter_word(struct call *call, const char *name, const char *const *words, size_t n,
			    uint8_t *out);
