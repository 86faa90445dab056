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

/* A position and those after its moves, keys[i] with what is stored of it in rows[i]. */
struct cdb_ply {
	const struct chi_key *key;
	const struct chi_row *row;
	const struct chi_key *keys;
	const struct chi_row *rows;
	size_t n;
	size_t legal; /* moves, of which it may have fewer */
	bool check;   /* its king is attacked */
};

/*
 * Its value, and those of the positions after its moves. They and what is stored below are looked
 * into ply by ply: all of a ply, or none of it where it is too much.
 */
CHI_MUSTUSE int cdb_minimax(struct call *call, const struct cdb_ply *ply, struct cdb_value *value,
			    struct cdb_value *values);
