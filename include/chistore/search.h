/* SPDX-License-Identifier: MIT */
/*
 * Searches of a whole store: filters with a name. A filter is a text as chistore(1) describes it
 * under "Filters of games"; NULL or "": all games.
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
	const char *filter; /* as it was given, in the form in which filters are printed */
	uint64_t games;	    /* that it has; in a list, that it had when it was used last */
	uint32_t upto;	    /* ... when this was the last game */
	uint64_t bytes;	    /* that its bitmap takes */
};

struct chi_gamesets {
	const struct chi_gameset_row *rows; /* by name; until the client's next call */
	size_t n;
};

/*
 * Gives a filter a name, by which every other filter can ask for its games: `in NAME`. It always
 * has the games that its filter fits, whatever is imported, taken out or joined later. *games
 * (may be NULL): how many it has now. -CHI_EINVAL (the name, the filter, a gameset that the filter
 * names is not there), -CHI_ESYNTAX, -CHI_ETOOBIG, -CHI_EEXIST, and what writing gives.
 */
CHI_MUSTUSE int chi_make_gameset(struct chi_client *client, const char *name, const char *filter,
				 uint64_t *games);

/* All gamesets, or (`name` not NULL) one, whose games are then counted. CHI_NONE: there is none of
 * that name. */
CHI_MUSTUSE int chi_get_gamesets(struct chi_client *client, const char *name,
				 struct chi_gamesets *out);

/* CHI_NONE: there is none of that name. -CHI_EINVAL: another one's filter names it. */
CHI_MUSTUSE int chi_drop_gameset(struct chi_client *client, const char *name);

#ifdef __cplusplus
}
#endif
