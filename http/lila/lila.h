/* SPDX-License-Identifier: MIT */
/*
 * The interface of lichess' opening explorer, its cloud evaluations and the bodies of its imports.
 * All of its databases are this store: /masters asks by years, /lichess by speeds, ratings and
 * months, /player by a player. Fields that theirs do not have: reached, chi2, truncated.
 */
#pragma once

#include "http/net/call.h"

extern const struct route lila_routes[];

call_handler lila_masters, lila_lichess, lila_player, lila_pgn, lila_history, lila_cloud,
	lila_import_masters, lila_import_lichess;

#define LILA_GAMES_MOST	 50
#define LILA_YEAR_FIRST	 1952
#define LILA_MOVES_MOST	 256
#define LILA_MONTHS_MOST 1200

/* A word of the event of games that are not rated. */
#define LILA_CASUAL "casual"

/* What a query asks for. */
struct lila_query {
	struct chi_key key;
	const char *eco; /* of the last position on the way that is an opening; NULL: none */
	const char *opening;
	const char *filter; /* of games; "" */
	bool black;	    /* to move */
	uint64_t moves;
	uint64_t top;
	uint64_t recent;
	bool history;
	bool online;	    /* speed and mode are told */
	const char *player; /* NULL: no one's */
	bool as_black;
};

/* Sums over the games of one move. */
struct lila_move {
	chi_move move;
	uint64_t games;		  /* all, with a result or without */
	uint64_t rated;		  /* games whose player that made it has a rating */
	uint64_t ratings;	  /* the sum of these */
	uint64_t opponents_rated; /* the same of the other player */
	uint64_t opponents;
	uint32_t only; /* the number of one of them */
};

struct lila_month {
	uint16_t year;
	uint8_t month;
	struct chi_counts counts;
};

/* A list of games, the best first. */
struct lila_list {
	uint32_t numbers[LILA_GAMES_MOST];
	chi_move moves[LILA_GAMES_MOST];
	uint64_t worth[LILA_GAMES_MOST];
	size_t n;
	size_t most;
};

/* What one pass over the games of a position finds. */
struct lila_pass {
	struct lila_move moves[LILA_MOVES_MOST];
	size_t n_moves;
	struct lila_month *months; /* ascending */
	size_t n_months;
	struct lila_list top;
	struct lila_list recent;
	bool truncated; /* not all games could be looked at in time */
};

/* The parameters that all have: fen, play, moves, topGames, recentGames, variant; the last three
 * are as given if they are not there. */
CHI_MUSTUSE int lila_query_of(struct call *call, uint64_t moves, uint64_t top, uint64_t recent,
			      struct lila_query *out);

/* -CHI_EINVAL: the parameter asks for another game than chess, or Chess960. */
CHI_MUSTUSE int lila_check_variant(struct call *call);

/* Looks at the position's games. A store that keeps none has none. */
CHI_MUSTUSE int lila_pass_run(struct call *call, const struct lila_query *query,
			      struct lila_pass *out);

/* A move as lichess writes it: castling is king takes rook, in any kind of chess. */
void lila_uci(chi_move move, char out[CHI_MOVE_TEXT_SIZE]);

/* What a result is worth, by the table of FIDE's handbook (B.02, 8.1): the difference of ratings of
 * `score` points in `games`. */
double lila_rating_difference(double score, double games);

/* The answer. */
CHI_MUSTUSE int lila_say(struct call *call, const struct lila_query *query,
			 const struct lila_pass *pass);
