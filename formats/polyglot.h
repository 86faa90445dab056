/* SPDX-License-Identifier: MIT */
/*
 * Reading a Polyglot book (chess/polyglot/polyglot.h), which holds hashes: what no walk over it
 * (formats/hash_walk.h) reaches cannot be identified; it is counted.
 */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "formats/hash_walk.h"

struct chi_book;

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

/* Every position that can be reached, once; twice where the book's keys tell positions apart that
 * are the same for us (chess/polyglot/polyglot.h). Weights are games without a result, to be added.
 * Once for a book. *result says what was done so far also when it fails. As chi_hash_walk_run. */
CHI_MUSTUSE int chi_book_walk(struct chi_book *book, chi_hashed_take *take, void *context,
			      const volatile sig_atomic_t *cancel, struct chi_book_result *result);
