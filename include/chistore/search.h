/* SPDX-License-Identifier: MIT */
/*
 * Searches of a whole store: named filters, statistics, twins. A filter is a text in the language
 * of chistore-filters(7); NULL or "": all games.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "chistore/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chi_client;

/* ---- Gamesets ---------------------------------------------------------------------------- */

struct chi_gameset_row {
	const char *name;   /* letters, digits and -._ of ASCII, 1..64 of them */
	const char *filter; /* as given, in the printed form of filters */
	uint64_t games;	    /* its games; in a list, when it was last used */
	uint32_t upto;	    /* ... when this was the last game */
	uint64_t bytes;	    /* of its bitmap */
};

struct chi_gamesets {
	const struct chi_gameset_row *rows; /* by name */
	size_t n;
};

/*
 * Gives a filter a name, which every other filter can use: `in NAME`. It always has the games that
 * match its filter, also after imports, removals and changes of names. *games (may be NULL): their
 * number now. -CHI_EINVAL (the name, the filter, or a missing gameset in the filter), -CHI_ESYNTAX,
 * -CHI_ETOOBIG, -CHI_EEXIST, and what writing gives.
 */
CHI_MUSTUSE int chi_gameset_make(struct chi_client *client, const char *name, const char *filter,
				 uint64_t *games);

/* All gamesets, or (`name` not NULL) one, with its games counted now. CHI_NONE: there is none of
 * that name. */
CHI_MUSTUSE int chi_gamesets_list(struct chi_client *client, const char *name,
				  struct chi_gamesets *out);

/* CHI_NONE: there is none of that name. -CHI_EINVAL: another filter uses it. */
CHI_MUSTUSE int chi_gameset_drop(struct chi_client *client, const char *name);

/* ---- Statistics -------------------------------------------------------------------------- */

enum chi_stats_by {
	CHI_STATS_YEAR,
	CHI_STATS_RATING,  /* average of both, in hundreds: 2600 is 2600..2699.5 */
	CHI_STATS_ECO,	   /* a code */
	CHI_STATS_OPENING, /* its letter */
	CHI_STATS_LENGTH,  /* moves */
	CHI_STATS_SPEED,
	CHI_STATS_EVENT,
	CHI_STATS_SITE,
	CHI_STATS_SOURCE,
	CHI_STATS_PLAYER, /* each game counts for both; results are the player's, not White's */
	CHI_STATS_WHITE,  /* the same of games as White */
	CHI_STATS_BLACK,  /* the same of games as Black */
	/* For positions: */
	CHI_STATS_PIECES,
	CHI_STATS_MATERIAL,
	CHI_STATS_ENDGAME,
	CHI_STATS_KINDS
};

struct chi_stats_spec {
	size_t size;
	uint8_t by;	    /* enum chi_stats_by */
	const char *filter; /* of games; NULL: all. Not with the kinds for positions */
	uint64_t limit;	    /* groups, those with most games or positions first; 0: all, by value */
};
#define CHI_STATS_SPEC_INIT .size = sizeof(struct chi_stats_spec)

struct chi_stats_group {
	uint32_t value; /* year, rating, ECO as in a head, moves, speed, number of a name, pieces or
			   family; 0: not known */
	const char *text; /* the same for people; "" if not known */
	/* Games; for positions, games of all positions in the group. For a player `white` are the
	 * games won, `black` those lost, with either colour. */
	struct chi_counts counts;
	uint64_t positions; /* with the kinds for positions; else 0 */
	/* Of games with two ratings and a result; 0 with the kinds for positions. */
	uint64_t rated;
	uint32_t expected; /* White's points a game, or the player's, that the ratings let expect,
			      as insights do (chistore/insight.h): of CHI_STATS_POINT */
	int32_t beyond;	   /* by so many standard deviations the results are beyond these, in
			      hundredths; -CHI_STATS_BEYOND_MAX to CHI_STATS_BEYOND_MAX */
};

#define CHI_STATS_POINT	     10000
#define CHI_STATS_BEYOND_MAX 1000000

struct chi_stats_result {
	const struct chi_stats_group *groups;
	size_t n;
};

/* Games of a filter, or positions, in groups. A filter with a kind for positions:
 * -CHI_EINVAL. */
CHI_MUSTUSE int chi_stats_list(struct chi_client *client, const struct chi_stats_spec *spec,
			       struct chi_stats_result *out);

/* ---- Twins ------------------------------------------------------------------------------- */

struct chi_twin_spec {
	size_t size;
	const char *filter; /* search twins among these games */
	uint32_t days;	    /* largest difference of dates; a date known in part may be any day */
	uint32_t plies;	    /* shorter games are left out; 0: none */
	/* A game of at least so many plies is a twin of a longer one that it is the beginning of,
	 * if both have the same opening (ECO code), both players' names are known and alike, and
	 * both dates are known to the day and near; then twins of the one are twins of the other,
	 * if names and dates allow it. 0: only games of the same moves are twins. */
	uint32_t beginning;
};
#define CHI_TWIN_SPEC_INIT .size = sizeof(struct chi_twin_spec)

/* In what the games of a group differ: bits, 0 if they differ in none of these. */
enum chi_twins_why {
	CHI_TWINS_BEGINNING = 1, /* one is the beginning of another, else all have the same moves */
	CHI_TWINS_NAMES = 2,	 /* a player's name */
	CHI_TWINS_DATES = 4,
};

/* Likely duplicates, each with each: the same moves from the same start or the first of these,
 * similar names, close dates. No game is in two groups. */
struct chi_twin_group {
	const uint32_t *games; /* numbers, ascending */
	size_t n;	       /* 2 or more */
	uint32_t why;	       /* enum chi_twins_why */
};

struct chi_twin_groups {
	const struct chi_twin_group *groups; /* by their first game */
	size_t n;
};

/* All groups. Games with different results may be twins. -CHI_ESYNTAX, -CHI_ETOOBIG, -CHI_EINVAL:
 * the filter. */
CHI_MUSTUSE int chi_twins_list(struct chi_client *client, const struct chi_twin_spec *spec,
			       struct chi_twin_groups *out);

#ifdef __cplusplus
}
#endif
