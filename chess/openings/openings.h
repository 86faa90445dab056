/* SPDX-License-Identifier: MIT */
/*
 * Names of openings by position, by any order of moves. The names are those
 * of chess/openings/, compiled in; a look-up is a search in a constant table.
 */
#pragma once

#include <stddef.h>

#include "chess/position.h"
#include "chistore/types.h"

/*
 * The opening that the position is: its ECO code ("C50") and its name (UTF-8), both NUL-terminated
 * and of static storage. CHI_NONE, and NULL in both, if it has no name; any key may be asked for.
 * The result may be skipped: the pointers say the same.
 */
int chi_opening_find(const struct chi_key *key, const char **eco, const char **name);

/* The same of the last of n positions that has a name: of a game's positions the opening that was
 * played, by any order of moves. */
int chi_opening_of_game(const struct chi_position *positions, size_t n, const char **eco,
			const char **name);

/* What a search found. */
struct chi_opening_match {
	struct chi_key key; /* the position after its shortest line */
	const char *eco;    /* of static storage, as is the name */
	const char *name;
};

/*
 * The openings that `text` may mean: an ECO code ("B90") or words of a name, whatever their case,
 * accents and punctuation. Of a code it is the shortest line. Of names those that fit best (the
 * whole; its beginning; that of a variation, "Najdorf", or of a part of one; all words; the
 * beginnings of all words), each once, and a variation only if its opening is not among them.
 * *n: how many there are; the first `max`, by name, are in `out`. CHI_NONE: no opening is called
 * that. -CHI_ENOMEM.
 */
int chi_opening_search(const char *text, struct chi_opening_match *out, size_t max, size_t *n);
