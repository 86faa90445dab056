/* SPDX-License-Identifier: MIT */
/*
 * Where the games of a PGN file are in it: a file beside it, of lines of one width, ascending, each
 * with what tells a game from others (a hash of its players, date, result and moves) and its
 * place. Games that agree in these are one, and the first of them counts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chess/pgn/game.h"
#include "chistore.h"

/* Being made; not shared between threads. */
struct pgn_offsets;

CHI_MUSTUSE int pgn_offsets_new(struct pgn_offsets **out); /* -CHI_ENOMEM */
void pgn_offsets_free(struct pgn_offsets *offsets);	   /* NULL is fine */

/* A game of the file, which is at `offset`. -CHI_ENOMEM. */
CHI_MUSTUSE int pgn_offsets_add(struct pgn_offsets *offsets, const struct chi_pgn_game *game,
				uint64_t offset);

/* Writes the file, whole or not at all; *bytes is its size. -CHI_EIO, -CHI_EACCES, -CHI_EFULL. */
CHI_MUSTUSE int pgn_offsets_save(struct pgn_offsets *offsets, const char *path, uint64_t *bytes,
				 struct chi_fault *fault);

/* Opens such a file: a descriptor, the caller's to close. -CHI_ENOSTORE: it is not there; -CHI_EIO,
 * -CHI_EACCES; -CHI_ECORRUPT: it is another kind of file. */
CHI_MUSTUSE int pgn_offsets_open(const char *path, int *out, struct chi_fault *fault);

/* The games of the file at `path`, if there is one, that `offsets` has not; *out is NULL if there
 * are none. Another kind of file has none. -CHI_ENOMEM, -CHI_EIO; -CHI_ECORRUPT: a line is damaged,
 * and which games those are is not known. */
CHI_MUSTUSE int pgn_offsets_lost(struct pgn_offsets *offsets, const char *path,
				 struct pgn_offsets **out, struct chi_fault *fault);

/* Of what pgn_offsets_lost has made: whether a game of the store is among them. */
bool pgn_offsets_has(const struct pgn_offsets *offsets, const struct chi_game *game);

/* Finds a game of the store in the file at `path`, which `fd` is of. CHI_NONE: it has no such game;
 * -CHI_EIO, -CHI_ECORRUPT. */
CHI_MUSTUSE int pgn_offsets_find(int fd, const char *path, const struct chi_game *game,
				 uint64_t *offset, struct chi_fault *fault);
