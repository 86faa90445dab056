/* SPDX-License-Identifier: MIT */
/*
 * Games of the archive in memory: the fields of filters, and whole games. Plain data; the function
 * that filled the struct owns the memory of its pointers, and says how long it is valid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A game whose positions are counted in the store. The id is the first 16 bytes (big-endian) of
 * XXH3-128 over players, date, result, start, moves, and the page, id and time of an online game
 * (store/FORMAT.md): games with the same id are one game, and it counts once.
 */
#define CHI_GAME_ID_SIZE 16
struct chi_game_id {
	uint8_t id[CHI_GAME_ID_SIZE];
	uint8_t result;	  /* enum chi_result */
	bool pruned;	  /* not all of its positions were kept: it cannot be subtracted */
	uint16_t max_ply; /* counted up to this ply; 0: to its end */
	uint32_t number;  /* in the archive; 0: the game is not kept there */
};

/* Kinds of names. The numbers are stored. */
enum chi_name_kind {
	CHI_NAME_PLAYER = 1,
	CHI_NAME_EVENT = 2,
	CHI_NAME_SITE = 3,
	CHI_NAME_SOURCE = 4, /* origin of games: a file, or the import's option */
	CHI_NAME_KINDS	     /* number of kinds, plus one */
};

/* Titles of players, the highest first. The numbers are stored. */
enum chi_title {
	CHI_TITLE_NONE,
	CHI_TITLE_GM,
	CHI_TITLE_IM,
	CHI_TITLE_FM,
	CHI_TITLE_CM,
	CHI_TITLE_WGM,
	CHI_TITLE_WIM,
	CHI_TITLE_WFM,
	CHI_TITLE_WCM,
	CHI_TITLE_NM,
	CHI_TITLE_WNM,
	CHI_TITLE_LM,
	CHI_TITLE_BOT,
	CHI_TITLE_OTHER,
	CHI_TITLES
};

/* Classes of time controls, by a player's time for 40 moves, increments included. The numbers are
 * stored. */
enum chi_speed {
	CHI_SPEED_UNKNOWN,
	CHI_SPEED_BULLET, /* less than 3 minutes, but not less than half a minute */
	CHI_SPEED_BLITZ,  /* less than 8 minutes */
	CHI_SPEED_RAPID,  /* less than 25 minutes */
	CHI_SPEED_CLASSICAL,
	CHI_SPEED_CORRESPONDENCE, /* days for a move */
	CHI_SPEED_ULTRABULLET,	  /* less than half a minute */
	CHI_SPEEDS
};

#define CHI_GAME_ELO_MAX 65535
#define CHI_ECO_CODES	 500 /* A00..E99 */

/* The columns of a game. */
struct chi_game_head {
	uint32_t number; /* 1 or more */
	uint32_t white;	 /* ids of names, 1 or more; 0: none */
	uint32_t black;
	uint32_t event;
	uint32_t site;
	uint32_t source;
	uint16_t year;	    /* 0..9999; 0: not known, */
	uint8_t month;	    /* 1..12, the same, */
	uint8_t day;	    /* 1..31, the same */
	uint16_t white_elo; /* 0: none */
	uint16_t black_elo;
	uint16_t eco;	     /* 1 + 100 * (letter - 'A') + number: 1..CHI_ECO_CODES; 0: none */
	uint16_t plies;	     /* moves that could be read */
	uint8_t result;	     /* enum chi_result */
	uint8_t white_title; /* enum chi_title */
	uint8_t black_title;
	uint8_t speed; /* enum chi_speed */
};

/* A tag pair: UTF-8 without control characters. Not NUL-terminated. */
struct chi_tag {
	const char *name;
	size_t name_len; /* 1..255 */
	const char *value;
	size_t value_len;
};

/* A whole game. */
struct chi_game {
	struct chi_game_head head;
	uint8_t id[CHI_GAME_ID_SIZE];
	/* In the order of the input, the first of each name; without Result, FEN and SetUp, which
	 * follow from the members below. */
	const struct chi_tag *tags;
	size_t n_tags;
	bool has_start; /* else the initial position of chess */
	struct chi_key start;
	const chi_move *moves; /* each legal */
	size_t n_plies;
	const uint8_t *notes; /* comments, marks and variations (chess/pgn/notes.h) */
	size_t n_notes;
	const char *rest; /* movetext from the first move on that could not be read: UTF-8 */
	size_t n_rest;
};

/* An entry of a position's list of games: the game, and the move that it played there; 0: it ended
 * there. A game that repeats the position with another move has an entry for each. */
struct chi_posting {
	uint32_t game;
	chi_move move;
};

/* ---- Queries of games -------------------------------------------------------------------- */

/*
 * A filter of games is a text in a small language, see chistore-filters(7): `player
 * "Carlsen, Magnus" as white since 2015 not result 1-0`. An empty one is all games.
 */

/* Reads a filter without a store: -CHI_ESYNTAX, -CHI_ETOOBIG and -CHI_EINVAL name the character of
 * the text and the error; -CHI_EINVAL also: it is no UTF-8. Names and gamesets are not looked up.
 * Thread safe. */
CHI_MUSTUSE int chi_games_filter_check(const char *filter, struct chi_fault *fault);

struct chi_client;
struct chi_rows;

enum chi_games_sort {
	CHI_GAMES_NUMBER = 0, /* the order of import */
	CHI_GAMES_DATE = 1,   /* not known, or in parts: counts as 0 */
	CHI_GAMES_RATING = 2, /* the average of both; not known: 0 */
};

/* Rows of a query in any order but ascending numbers. */
#define CHI_GAMES_SORT_MAX 10000

/* With its NUL. */
#define CHI_GAMES_CURSOR_SIZE 32

/* What a query delivers of each game. */
enum chi_games_want {
	CHI_GAMES_HEADS = 0, /* the head, where it reached the position, and the move there */
	CHI_GAMES_TEXTS = 1, /* and the names as texts */
	CHI_GAMES_PGN = 2,   /* and the whole game */
};

struct chi_game_spec {
	size_t size;
	const char *filter;		/* NUL-terminated; NULL: all games */
	const struct chi_key *position; /* games that reached it; NULL: any */
	uint8_t sort;	    /* enum chi_games_sort; equal ones are in order of numbers */
	bool descending;    /* both */
	uint8_t want;	    /* enum chi_games_want */
	bool want_total;    /* counts also the games after the last row */
	bool by_positions;  /* search the filter's patterns in the positions of the store, each
			       once, and not in games played again: a position that is not stored
			       is not found. Where each game is listed in all of its positions
			       (chi_info.partial), what is faster is done in any case */
	bool explain;	    /* no rows: the plan of the query, chi_rows_place.plan */
	bool skip_ply;	    /* rows have no ply, only a move that the game played at the position:
			       many times faster, since no game is replayed */
	uint64_t limit;	    /* rows; 0: no limit, which only ascending numbers may have */
	const char *cursor; /* from a query of the same filter and order; "" or NULL: begin */
	bool brief;	    /* of heads no more is asked for than number, result, date and ratings:
			       the rest may be 0, and games of a position come faster */
};
#define CHI_GAME_SPEC_INIT .size = sizeof(struct chi_game_spec)

/* A game of a query. Texts are NUL-terminated, UTF-8, "" where there is none. */
struct chi_game_row {
	struct chi_game_head head;
	int32_t ply;   /* where it reached `position`, or else first matches the filter's first
			  position, line of moves or pattern; -1: it has none, or skip_ply */
	chi_move move; /* played there; 0: it ended there */
	const char *white;
	const char *black;
	const char *event;
	const char *site;
	const char *round;
	const char *source;
	const char *pgn; /* with an empty line at its end */
	size_t pgn_len;
};

/*
 * Begins a query; one per client at a time, and as with a scan other calls on the client give
 * -CHI_EBUSY until chi_rows_close (chistore.h, which has the rows' state, too). -CHI_ESYNTAX,
 * -CHI_ETOOBIG, -CHI_EINVAL name the error in the filter and its place, or in the cursor or the
 * order.
 *
 * In a directory all rows are of one snapshot. A server continues with another one after a second:
 * it then misses additions and removals before its place. From a server a game with a PGN too large
 * for a response of 4 MiB is -CHI_ETOOBIG, from chi_game_get too.
 */
CHI_MUSTUSE int chi_games_open(struct chi_client *client, const struct chi_game_spec *spec,
			       struct chi_rows **out);

/* The next game. CHI_NONE after the last: all are counted if requested. */
CHI_MUSTUSE int chi_games_next(struct chi_rows *rows, const struct chi_game_row **row);

/*
 * After a call with a filter of games, and after the last row of a scan or a query with one: the
 * names in it that match none in the store, from i = 0 on, so that a user sees why no game matches.
 * NULL: there are no more. They may be passed into the next call, and are valid until it has
 * returned.
 */
const char *chi_unknown_name(const struct chi_client *client, size_t i);

/* A game by its number, as a row (its ply is -1) and whole. `game` may be
 * NULL. CHI_NONE: there is none. */
CHI_MUSTUSE int chi_game_get(struct chi_client *client, uint32_t number, struct chi_game_row *row,
			     struct chi_game *game);

/* Numbers that chi_game_heads takes. */
#define CHI_GAME_HEADS_MAX 1000

/*
 * Rows of games by their numbers, rows[i] of numbers[i]: heads and names, without unpacking games,
 * so that it is many times faster than chi_game_get. Names have the store's spelling, which a
 * game's own tags may differ from; round and PGN are "". head.number is 0 for a missing game.
 * -CHI_ETOOBIG: too many.
 */
CHI_MUSTUSE int chi_game_heads(struct chi_client *client, const uint32_t *numbers, size_t n,
			       struct chi_game_row *rows);

#ifdef __cplusplus
}
#endif
