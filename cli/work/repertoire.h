/* SPDX-License-Identifier: MIT */
/*
 * A repertoire: the positions and moves of a PGN file's games, variations in one another included.
 * Games that come to one position by other moves share it.
 */
#pragma once

#include "chess/position.h"
#include "cli/cli.h"
#include "cli/work/keyset.h"

/* A move; or the start of a game, if `move` is 0: both positions are that. Returns an exit code. */
typedef int repertoire_each(void *context, const struct chi_position *before, chi_move move,
			    const struct chi_position *after);

/* Calls `each` for all of a file, "-" is standard input: game after game, first the start and the
 * main line, then its variations as they are written. Says which games and variations cannot be
 * read to their ends, and uses the rest. Returns an exit code, the first of `each` if it is not
 * EXIT_DONE. */
int repertoire_read(struct cli *cli, const char *path, repertoire_each *each, void *context);

/* Positions of a repertoire at most. */
#define REPERTOIRE_MAX 1000000

/* A position of it. */
struct repertoire_place {
	uint32_t parent;  /* number of the position before it, where the file has it first */
	chi_move arrived; /* the move from there; 0: a game starts here */
	chi_move answer;  /* the first move that the file has from here; 0: none */
	uint8_t side;	  /* to move */
};

struct repertoire {
	struct keyset set;
	struct repertoire_place *places; /* by number */
	size_t n;			 /* of them; the set may have more positions */
	size_t room;
};

/* Reads a file into one that is zeroed. Says what is wrong; returns an exit code. */
int repertoire_load(struct cli *cli, const char *path, struct repertoire *out);

void repertoire_deinit(struct repertoire *repertoire);
