/* SPDX-License-Identifier: MIT */
/*
 * The language of filters of games: a text of terms, all of which must hold ("and" may be written
 * between them), each with `not` before it if its opposite is wanted:
 *
 *    player NAME [as white|black] [opponent NAME]     one of the two
 *    white NAME, black NAME       the same as player NAME as white, as black
 *    event TEXT, site TEXT, source TEXT               names that have all these words
 *    since DATE, until DATE       2015, 2015-06 or 2015-06-30; if a game's
 *                                 is known in part, all that it may be fits
 *    year RANGE, number RANGE     5, 5..9, 5.. or ..9; the number is the game's in the archive
 *    rating RANGE                 of at least one of the two
 *    elo-white, elo-black, both, average RANGE
 *    eco RANGE                    B90..B99, B90, B9, B, B90.. or ..C19
 *    result LIST                  1-0, 0-1, 1/2-1/2 or *, with commas between them
 *    length RANGE, plies RANGE    a move is two plies, the last one may be half
 *    speed LIST                   bullet, blitz, rapid, classical, correspondence, ultraBullet
 *    title LIST                   of at least one of the two: GM, IM, ...
 *    position FEN                 that the game reached
 *    moves LINE                   the same, the position after these moves from the initial one
 *    gameset NAME, in NAME        a named filter
 *    pattern CONDITIONS           some position of the game has all that follows:
 *       has, fen, pawns, material, balance TEXT       (chess/pattern/pattern.h)
 *       endgame FAMILY                                (chess/endgame/endgame.h)
 *       to-move white|black, mirror, either-colour
 *    The word `pattern` may be left out before the first condition.
 *
 * Words and values are separated by white space. A value with other characters than letters,
 * digits and -.,/=+:_* of ASCII is put between double quotes, where \" and \\ mean the character
 * itself. How names and texts are found, names.h of store/names says; what is not known of a game
 * fits no term that asks for it, and so does fit the term with `not`.
 *
 * Nothing here knows a store. Thread safe, allocates nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/pattern/pattern.h"
#include "chistore/types.h"

/* Bytes of a filter's text, and its terms. */
#define CHI_TERMS_TEXT_MAX 4096
#define CHI_TERMS_MAX	   32
/* Bytes of a value, without quotes. */
#define CHI_TERM_VALUE_MAX 1024
/* Bytes of a gameset's name: letters, digits and -._ of ASCII, not beginning with a dot. */
#define CHI_GAMESET_NAME_MAX 64

enum chi_term_kind {
	CHI_TERM_PLAYER,
	CHI_TERM_EVENT,
	CHI_TERM_SITE,
	CHI_TERM_SOURCE,
	CHI_TERM_SINCE,
	CHI_TERM_UNTIL,
	CHI_TERM_YEAR,
	CHI_TERM_NUMBER,
	CHI_TERM_RATING,
	CHI_TERM_ELO_WHITE,
	CHI_TERM_ELO_BLACK,
	CHI_TERM_BOTH,
	CHI_TERM_AVERAGE,
	CHI_TERM_ECO,
	CHI_TERM_RESULT,
	CHI_TERM_LENGTH,
	CHI_TERM_PLIES,
	CHI_TERM_SPEED,
	CHI_TERM_TITLE,
	CHI_TERM_POSITION,
	CHI_TERM_MOVES,
	CHI_TERM_GAMESET,
	CHI_TERM_PATTERN,
	CHI_TERM_KINDS
};

/* Conditions of a pattern that are texts, in the order in which they are printed. */
enum chi_condition {
	CHI_CONDITION_HAS,
	CHI_CONDITION_FEN,
	CHI_CONDITION_PAWNS,
	CHI_CONDITION_MATERIAL,
	CHI_CONDITION_BALANCE,
	CHI_CONDITION_ENDGAME,
	CHI_CONDITIONS
};

/* A text of a term: where it begins in chi_terms.texts, with a NUL after it; 0: there is none. */
typedef uint16_t chi_term_text;

/* What of it means something depends on the kind. */
struct chi_term {
	uint8_t kind; /* enum chi_term_kind */
	bool negated;
	uint8_t side;		/* player: enum chi_side, ANY for either */
	uint32_t min;		/* ranges, included; a date is year * 10000 + month * 100 + day, */
	uint32_t max;		/* month and day 0 if not given; ECO codes as in columns */
	uint32_t set;		/* 1 << result, speed or title, or'ed */
	chi_term_text text;	/* name, moves */
	chi_term_text opponent; /* player; 0: any */
	struct chi_key key;	/* position, moves */
	struct {
		chi_term_text texts[CHI_CONDITIONS];
		uint8_t family; /* enum chi_endgame_family; NONE: not asked */
		uint8_t side;	/* enum chi_side */
		bool mirror;
		bool either_colour;
	} pattern;
};

/* A filter, parsed. No terms: all games. Holds no pointers. */
struct chi_terms {
	size_t n;
	struct chi_term term[CHI_TERMS_MAX];
	size_t used; /* of the texts */
	char texts[CHI_TERMS_TEXT_MAX + 2 * CHI_TERMS_MAX];
};

static inline const char *chi_term_text_of(const struct chi_terms *terms, chi_term_text text)
{
	return terms->texts + text;
}

/*
 * Reads a filter. -CHI_ESYNTAX says at which character (the first is 1), what is wrong there and
 * what may be there; -CHI_ETOOBIG: over a limit above; -CHI_EINVAL: a range that is empty, or a
 * pattern that no position fits. Names and gamesets are not looked up.
 */
CHI_MUSTUSE int chi_terms_parse(const char *text, size_t len, struct chi_terms *out,
				struct chi_fault *fault);

/* Prints one text for all that mean the same term by term, and that reads as `terms` again. Returns
 * the length; NUL-terminated. */
#define CHI_TERMS_PRINT_SIZE (4 * CHI_TERMS_TEXT_MAX)
size_t chi_terms_print(const struct chi_terms *terms, char out[CHI_TERMS_PRINT_SIZE]);

/* What a pattern term asks, its texts in `terms`. */
void chi_term_pattern(const struct chi_terms *terms, const struct chi_term *term,
		      struct chi_pattern_spec *out);

/* -CHI_EINVAL: no gameset can have that name. */
CHI_MUSTUSE int chi_gameset_name_check(const char *name, size_t len, struct chi_fault *fault);
