/* SPDX-License-Identifier: MIT */
/*
 * Reading a Polyglot book (chess/polyglot/polyglot.h). A book holds hashes and no positions, so it
 * is walked from the initial position, breadth first: by every legal move of its positions, and by
 * every reply to a move of the book that leads out of it. What no such walk reaches cannot be
 * identified; it is counted.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_book;

/* A position of the book; valid during the call that gets it. */
struct chi_book_position {
	struct chi_key key;
	const struct chi_move_stat *moves; /* ascending; the weight as games without result */
	size_t n_moves;			   /* 1 or more */
	uint64_t weight;		   /* of all moves together */
};

/* Returns a status; a negative one ends the walk, which returns it. */
typedef int chi_book_visit(void *context, const struct chi_book_position *position);

struct chi_book_result {
	uint64_t entries;
	uint64_t positions;   /* visited */
	uint64_t moves;	      /* of these */
	uint64_t illegal;     /* entries whose move is not legal in the position they are for */
	uint64_t weightless;  /* entries of weight 0: followed, but given no visit */
	uint64_t unreachable; /* entries of positions that are not reached; of them: */
	uint64_t no_move;     /* those that hold no move at all: padding, other data */
	uint64_t shadowed;    /* those of a position that is in the book under another key, too */
	uint64_t unsorted;    /* entries with a lower key than the one before: all were sorted */
	uint64_t cut;	      /* bytes after the last whole entry, not looked at */
};

/*
 * Reads a file, "-" for standard input; all of it is held in memory. See chi_source_whole.
 */
CHI_MUSTUSE int chi_book_open(const char *path, struct chi_book **out, struct chi_fault *fault);

/* The same for bytes in memory, which it takes over and frees, also if it fails. */
CHI_MUSTUSE int chi_book_take(uint8_t *bytes, size_t len, struct chi_book **out,
			      struct chi_fault *fault);

/* NULL is fine. */
void chi_book_close(struct chi_book *book);

/* Visits every position that can be reached, once; twice where the book's keys tell positions apart
 * that are the same for us (chess/polyglot/polyglot.h). `cancel` may be NULL; not 0:
 * -CHI_ECANCELED. *result says what was done so far also when it fails. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_book_walk(struct chi_book *book, chi_book_visit *visit, void *context,
			      const volatile sig_atomic_t *cancel, struct chi_book_result *result);
