/* SPDX-License-Identifier: MIT */
/* Minimax over what is stored below a position. */
#pragma once

#include "http/cdb/cdb.h"

/* What is known of a position, to its side to move. */
struct cdb_value {
	bool known;
	int score;
	int replies; /* known ones, and of these the good */
	int good;
	struct chi_key key;
	const struct cdb_value *next; /* of the position after its best move, in the call's arena;
					 NULL: the score is that of its own evaluation */
};

/*
 * The values of positions, keys[i] with what is stored of it in rows[i]; they and what is stored
 * below are looked into ply by ply: all of a ply, or none of it where it is too much.
 */
CHI_MUSTUSE int cdb_minimax(struct call *call, const struct chi_key *keys,
			    const struct chi_row *rows, size_t n, struct cdb_value *values);

/*
 * A position's value from those of its moves, below[i]; *value comes as what is stored of the
 * position itself, which stands for moves that nothing is known of. `moves`: all that it has, of
 * which `below` may leave out those; `check`: its king is attacked. value->next is one of `below`.
 */
void cdb_combine(const struct cdb_value *const *below, size_t n, size_t moves, bool check,
		 struct cdb_value *value);
