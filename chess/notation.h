/* SPDX-License-Identifier: MIT */
/* Moves as text: UCI (e2e4, e7e8q, castling e1g1 or, in Chess960, king takes rook) and SAN. */
#pragma once

#include <stddef.h>

#include "chess/position.h"
#include "chistore/types.h"

#define CHI_UCI_SIZE	  6  /* "e7e8q" and a NUL */
#define CHI_SAN_SIZE	  12 /* "Qa1xb2+" and longer, and a NUL */
#define CHI_SAN_INPUT_MAX 16

/*
 * Prints UCI. Castling with the king on the e-file and the rook on the a- or h-file is written
 * as the king's step of two squares (e1g1), every other castling as king takes rook (b1a1).
 * Returns the length.
 */
size_t chi_uci_print(const struct chi_position *position, chi_move move, char out[CHI_UCI_SIZE]);

/* Reads UCI and finds the legal move it names; castling in either form. -CHI_EMOVE otherwise. */
CHI_MUSTUSE int chi_uci_parse(const struct chi_position *position, const char *text, size_t len,
			      chi_move *out, struct chi_fault *fault);

/*
 * Prints SAN with least disambiguation and '+' or '#', NUL-terminated; returns the length. `next`
 * is the position after the move, which must be legal, or at least one that chess/moves/movecode.h
 * reads.
 */
size_t chi_san_write(const struct chi_position *position, chi_move move,
		     const struct chi_position *next, char out[CHI_SAN_SIZE]);

/* The same, from the position alone; a move that is not legal is printed as UCI. Slower. */
size_t chi_san_print(const struct chi_position *position, chi_move move, char out[CHI_SAN_SIZE]);

/*
 * Reads SAN as people write it and finds the one legal move it names: check and annotation marks
 * (+ # ! ?) ignored, "x" and "=" optional, 0-0 for O-O, more disambiguation than needed accepted.
 * -CHI_EMOVE if no legal move fits, or more than one.
 */
CHI_MUSTUSE int chi_san_parse(const struct chi_position *position, const char *text, size_t len,
			      chi_move *out, struct chi_fault *fault);

/* SAN or, failing that, UCI. */
CHI_MUSTUSE int chi_move_parse(const struct chi_position *position, const char *text, size_t len,
			       chi_move *out, struct chi_fault *fault);

/*
 * Reads moves separated by white space (SAN or UCI, move numbers such as "12." or "3..."
 * skipped) played one after the other from `position`, at most `max`. Fills `out` and `n`.
 * -CHI_EMOVE names the move that failed, -CHI_ETOOBIG more than `max`.
 */
CHI_MUSTUSE int chi_line_parse(const struct chi_position *position, const char *text, size_t len,
			       chi_move *out, size_t max, size_t *n, struct chi_fault *fault);

/* CHI_OK if each move is legal in its turn, else -CHI_EMOVE naming the first that is not. */
CHI_MUSTUSE int chi_line_check(const struct chi_position *position, const chi_move *moves, size_t n,
			       struct chi_fault *fault);
