/* SPDX-License-Identifier: MIT */
/*
 * Classes of endgames, from a position's material and, where that decides, its squares.
 *
 * A position is an endgame if both kings are there and at most four pieces beside kings and pawns,
 * with any number of pawns (Minev's rule). All positions of six men are. Its family follows from
 * which of these pieces there are, of either colour: none, minor pieces (bishops, knights), rooks,
 * queens, and the mixtures.
 *
 * What is known comes from three places, the first that says something:
 *  - squares: positions that cannot be won by any moves (chi_position_insufficient), rook's pawns
 *    whose bishop is of the wrong colour or not there, bishops of opposite colours;
 *  - a table by signature: all endings of five men with figures, the rest by name (known.c);
 *  - rules: a lone king against enough to mate loses; without pawns, who has less than a rook
 *    more seldom wins, who has a rook more usually does.
 * Unless `certain`, the result is the usual one, with no piece about to be lost, and says nothing
 * for sure of this position.
 *
 * Thread safe, allocates nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/bitboard.h"
#include "chess/material.h"
#include "chistore/types.h"

enum chi_endgame_family {
	CHI_ENDGAME_NONE = 0, /* no endgame */
	CHI_ENDGAME_BARE,     /* kings alone */
	CHI_ENDGAME_PAWN,
	CHI_ENDGAME_MINOR,
	CHI_ENDGAME_ROOK,
	CHI_ENDGAME_ROOK_MINOR,
	CHI_ENDGAME_QUEEN,
	CHI_ENDGAME_QUEEN_MINOR,
	CHI_ENDGAME_QUEEN_ROOK,
	CHI_ENDGAME_MIXED, /* queens, rooks and minor pieces */
	CHI_ENDGAME_FAMILIES,
};

enum chi_endgame_result {
	CHI_ENDGAME_OPEN = 0, /* depends on the position, or not known */
	CHI_ENDGAME_WHITE,
	CHI_ENDGAME_BLACK,
	CHI_ENDGAME_DRAW,
	CHI_ENDGAME_DEAD, /* no moves whatever mate: drawn by the rules */
};

/* "two bishops and eight pawns against ..." fits. */
#define CHI_ENDGAME_NAME_SIZE 192

struct chi_endgame {
	uint8_t family;	       /* enum chi_endgame_family; with NONE all else is zero */
	uint8_t result;	       /* enum chi_endgame_result */
	bool certain;	       /* the result is that of this position, not only the usual one */
	bool opposite_bishops; /* of each colour one, on squares of different colours */
	uint8_t first;	       /* colour of the side named first in `signature` */
	bool has_figures;      /* the next four are given */
	/* Of all legal positions in which the side named first in `signature` is to move, in
	 * thousandths: how many it wins, draws, loses; and the moves of the longest mate of either
	 * side. */
	uint16_t won;
	uint16_t drawn;
	uint16_t lost;
	uint16_t longest;
	const char *note; /* a sentence without a full stop; static storage; or NULL */
	char signature[CHI_MATERIAL_TEXT_SIZE]; /* the stronger side first, or as in the table */
	char name[CHI_ENDGAME_NAME_SIZE]; /* "rook and pawn against rook", in the same order */
};

/* A key of an endgame is classified; of others, or bytes that are no key, family is NONE. */
void chi_endgame_classify(const struct chi_key *key, struct chi_endgame *out);

/* The family alone. `key` as for chi_pattern_matches: well-shaped, CHI_KEY_MAX readable bytes. */
uint8_t chi_endgame_family_of(const uint8_t *key);

/* The same by numbers of pieces, of each colour and kind. */
uint8_t chi_endgame_family_by(const uint8_t counts[2][CHI_KINDS]);

/* "rook endings"; "" for CHI_ENDGAME_NONE; static storage. */
const char *chi_endgame_family_name(uint8_t family);

/* The family that a text names: case, plurals, hyphens, "endings" and "endgames" do not matter.
 * -CHI_ESYNTAX lists all of them. */
CHI_MUSTUSE int chi_endgame_family_find(const char *text, size_t len, uint8_t *out,
					struct chi_fault *fault);

/* "white usually wins", "drawn: no moves can mate"; "" for OPEN; static storage. */
const char *chi_endgame_result_text(const struct chi_endgame *endgame);
