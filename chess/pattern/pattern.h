/* SPDX-License-Identifier: MIT */
/*
 * Patterns: conditions on what is on the board, compiled once and matched on position keys, of
 * which only the bytes asked for are looked at. All conditions of a pattern must hold together.
 *
 * CONTENTS, what a square may hold:
 *    K Q R B N P    that white piece; k q r b n p  that black piece
 *    A a            any white piece, any black piece
 *    .              nothing
 *    ?              anything
 *    [Nb.]          any one of those in the brackets
 *    !Q  ![Nb]      anything but those (an empty square too)
 *
 * `has`: conditions with spaces or commas between them, each of them contents and a square:
 *    Nd5 kg8 .e6 !Pc4 [RQ]d1
 *    Rd*  P*7  N**  some square of the d-file, of rank 7, of the board has them
 *    !Pd*           none of these squares has them
 *    Nd5|Nf5|Qh*    at least one of these holds
 *
 * `fen`: the placement of a FEN, of which only the pieces count: digits are so many squares with
 * anything on them, `.` one that must be empty, other contents as above. After it, if wanted, the
 * side to move, w or b:
 *    8/8/8/3Np3/4P3/8/PPP2.../6K1 w
 *
 * `pawns`: the squares of White's pawns, '/', those of Black's. A colour has these pawns and no
 * others, or with a '+' among them at least these:
 *    a2 b2 c4 / a7 b7 d6        c4 d4 + / +
 *
 * `material`: words with spaces or commas between them, joined by and:
 *    KRPvKR         just these pieces; as chess/material.h reads it
 *    KRP*vKRP*      with 'v', a letter followed by '*': any number of them, 0 included
 *    P=5..8 q=1     numbers of a piece; one end may be left out: P=..3
 *    men=..7        pieces of both sides, kings included
 *    bishops=opposite  each side has one bishop, on squares of different colours; or bishops=same
 *
 * `balance`: the difference of material, what both sides have cancelled:
 *    Q v RR         White has a queen more, Black two rooks more, and all else is equal
 *    QP* v RRP*     the same, with any difference of pawns
 *    v              material is equal
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/bitboard.h"
#include "chess/masks.h"
#include "chistore/types.h"

/* Bytes of one of the texts. */
#define CHI_PATTERN_TEXT_MAX 1024

/* Conditions that name more than one square, and the squares or lines in all of them together. */
#define CHI_PATTERN_CLAUSES_MAX 32
#define CHI_PATTERN_TERMS_MAX	64

/* What is asked; a zeroed one matches every position. The texts end in NUL; NULL: not asked. */
struct chi_pattern_spec {
	const char *has;
	const char *fen;
	const char *pawns;
	const char *material;
	const char *balance;
	uint8_t side;	    /* to move; enum chi_side */
	bool mirror;	    /* files a..h may be swapped with h..a */
	bool either_colour; /* colours, ranks and side to move may be swapped together */
	/* All squares of `has`, `fen` and `pawns` are moved. */
	struct chi_shift shift;
};

/* One square that holds a piece: the codes of key.h that it may be, bit by bit. */
struct chi_pattern_test {
	uint32_t codes;
	uint8_t shift; /* of its bit in the mask */
};

/* Some of these squares (as bits of the mask) has one of these codes; bit 16: or is empty. */
struct chi_pattern_term {
	uint64_t squares;
	uint32_t codes;
	bool last; /* of its clause, of which one term must hold */
};

/* Bounds of counters of a byte each, below 128; in `most` each byte has its highest bit set. */
struct chi_pattern_bounds {
	uint64_t least;
	uint64_t most;
};

/* A pattern as given, or mirrored, or with colours swapped, or both. */
struct chi_pattern_view {
	uint64_t occupied; /* bits of the mask that must be set */
	uint64_t empty;	   /* or must not */
	uint8_t least;	   /* pieces */
	uint8_t span;	   /* so many more at most */
	uint8_t side;	   /* enum chi_side */
	uint8_t bishops;   /* enum chi_pattern_bishops */
	bool has_counts;
	bool has_balance;
	bool has_rest; /* something else than numbers is asked */
	uint8_t n_tests;
	uint8_t n_terms;
	struct chi_pattern_bounds counts[2]; /* by colour, each of kinds */
	struct chi_pattern_bounds balance;   /* 64 + White's - Black's */
	struct chi_pattern_bounds follow[2]; /* `counts`, narrowed by all that is asked */
	uint16_t home[2]; /* squares of chi_trait_home where no pawn may be, where one must */
	struct chi_pattern_test tests[64];
	uint64_t limited;   /* bits of the mask: if one is set, only some pieces may be there, */
	uint16_t codes[64]; /* these, by the bit's number */
	struct chi_pattern_term terms[2 * CHI_PATTERN_TERMS_MAX];
};

/* Compiled. Holds no pointers; is copied freely, read by any number of threads. */
struct chi_pattern {
	bool idle;	  /* asks nothing: every position matches */
	bool fast_count;  /* the processor counts bits */
	uint32_t n_views; /* 1..4 */
	struct chi_pattern_view views[4];
};

/*
 * Compiles. -CHI_ESYNTAX: a text does not parse; -CHI_ETOOBIG: over a limit above; -CHI_EINVAL: no
 * position can match, since two conditions contradict each other. `fault` says which text, at which
 * character (the first is 1), and why. CHI_NONE: moved, some square leaves the board.
 */
CHI_MUSTUSE int chi_pattern_compile(const struct chi_pattern_spec *spec, struct chi_pattern *out,
				    struct chi_fault *fault);

/*
 * Whether a position matches. `key` is a well-shaped one (chi_key_shape_ok) with CHI_KEY_MAX bytes
 * that can be read; it does not matter what is in those after its length.
 */
bool chi_pattern_matches(const struct chi_pattern *pattern, const uint8_t *key);

/* What a part of a position says of whether all of it matches. */
enum chi_pattern_verdict {
	CHI_PATTERN_NEVER,
	CHI_PATTERN_MAYBE,
	CHI_PATTERN_ALWAYS,
};

/* By numbers of pieces, of each colour and kind. `moved`: in all places that the pattern's squares
 * could be moved to. */
enum chi_pattern_verdict chi_pattern_by_counts(const struct chi_pattern *pattern,
					       const uint8_t counts[2][CHI_KINDS], bool moved);

/* What every position has that matches. Of pawns and men, also every one before it in a game. */
struct chi_pattern_needs {
	uint64_t occupied; /* squares with a piece on them */
	uint64_t home[2];  /* by colour: squares with a pawn that has not moved */
	uint8_t pawns[2];  /* so many or more */
	uint8_t men;
};
void chi_pattern_needs_of(const struct chi_pattern *pattern, struct chi_pattern_needs *out);

/* What is asked of the masks of positions that match: what does not fit it, does not match. */
void chi_pattern_masks_of(const struct chi_pattern *pattern, struct chi_mask_wants *out);

/* By which pawns stand at home, as chi_trait_home says (chess/traits/traits.h): never ALWAYS. */
enum chi_pattern_verdict chi_pattern_by_home(const struct chi_pattern *pattern, uint64_t home);
