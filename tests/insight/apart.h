/* SPDX-License-Identifier: MIT */
/*
 * A store of positions that have no game in common: each game begins at the position of its group
 * and has one move, so that what is found of one group is independent of all others.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/key.h"

#define APART_GROUPS (3 * 24 * 24) /* at most */

struct apart_game {
	unsigned group;
	int elo[2];	 /* White's, Black's; 0: none */
	unsigned points; /* White's, twice */
	unsigned year;	 /* 0: none */
};

struct chi_key apart_key(unsigned group);

/* White's points, twice, drawn by what ratings let expect (Elo's own scale, a move worth 30), and
 * by `off` more. Their variance is 0.7 e (1 - e). */
unsigned apart_points(const int elo[2], double off);

/* Into a new store, all in one session. */
void apart_store(const char *name, const struct apart_game *games, size_t n);
