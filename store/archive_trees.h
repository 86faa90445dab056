/* SPDX-License-Identifier: MIT */
/* Handles of the trees that the archive of games is kept in (FORMAT.md, "Archive"). */
#pragma once

#include <lmdb.h>

struct chi_briefs;
struct chi_seen;

struct chi_archive_trees {
	MDB_dbi games;	  /* what is not in the columns: moves, other tags, annotations */
	MDB_dbi columns;  /* what filters ask for, by number */
	MDB_dbi names;	  /* of players, events, sites and so on, each once */
	MDB_dbi postings; /* of positions that many games reached */
	MDB_dbi traits;	  /* lists of games by what their positions and moves have */
	MDB_dbi gamesets; /* named filters, with the games that fit */
	/* What was verified in the snapshot that is read (store/games/seen.h); NULL: not known. */
	struct chi_seen *seen;
	struct chi_briefs
		*briefs; /* of committed games (store/record/briefs.h); NULL: none are kept */
};
