/* SPDX-License-Identifier: MIT */
/*
 * Conditions on what pieces do and how pawns stand, of a position alone:
 *
 *    attacked  "WHERE by PIECES [RANGE]"   some square of WHERE is attacked by so many PIECES:
 *              h7 by A 2..   k+ by [QR]   d*  by p 0
 *              WHERE is squares, or a piece: where it stands; with '+' after it, the squares
 *              around it (of those of a king: k+). Without RANGE: 1..
 *    occupied  "WHERE by PIECES"           all squares of WHERE hold one of PIECES ('.': nothing):
 *              k+ by a
 *    pinned    "PIECES [RANGE]"            so many PIECES cannot leave a line to their own king
 *    passed, isolated, doubled  "[PAWN]SQUARES"   on some of these squares is a pawn that is so:
 *              Pd5   p**   d*. Passed: no enemy pawn is before it on its file and those beside;
 *              isolated: no own pawn is on the files beside; doubled: another own one is on its
 * file
 *
 * PIECES and SQUARES as chess/pattern/contents.h has them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chess/position.h"

enum chi_feature_kind {
	CHI_FEATURE_ATTACKED,
	CHI_FEATURE_OCCUPIED,
	CHI_FEATURE_PINNED,
	CHI_FEATURE_PASSED,
	CHI_FEATURE_ISOLATED,
	CHI_FEATURE_DOUBLED,
};

/* A condition, read. */
struct chi_feature {
	uint8_t kind; /* enum chi_feature_kind */
	bool around;  /* the squares around those of WHERE */
	uint8_t min;  /* of how many */
	uint8_t max;
	uint32_t on;	  /* pieces that stand on WHERE, or the pawns; a set of contents.h */
	uint32_t by;	  /* pieces that attack, or occupy */
	uint64_t squares; /* WHERE, SQUARES */
};

/* -CHI_ESYNTAX, naming the character (the first is 1) and what may be there. */
CHI_MUSTUSE int chi_feature_parse(enum chi_feature_kind kind, const char *text,
				  struct chi_feature *out, struct chi_fault *fault);

/* Moves the squares. CHI_NONE: some leave the board. */
CHI_MUSTUSE int chi_feature_shift(struct chi_feature *feature, struct chi_shift shift);

bool chi_feature_fits(const struct chi_feature *feature, const struct chi_position *position);

/* White's pieces less Black's: pawn 1, knight and bishop 3, rook 5, queen 9. */
int chi_position_points(const struct chi_position *position);
/* By numbers of pieces, of each colour and kind. */
int chi_counts_points(const uint8_t counts[2][CHI_KINDS]);
