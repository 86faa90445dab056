/* SPDX-License-Identifier: MIT */
/*
 * The language of filters of games. Terms side by side must all hold (`and` may be written between
 * them), `or` joins them more loosely, parentheses more tightly, `not` before a term or a group
 * means its opposite:
 *
 *    filter = conj { "or" conj }
 *    conj   = unit { ["and"] unit }
 *    unit   = { "not" } ( term | motif | "(" filter ")" )
 *
 * Terms, of a game's head and of sets of games:
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
 *
 * Motifs, of what happened in a game. A moment is a position of the game and the move played there;
 * conditions side by side hold of one moment:
 *    motif   = moment { link moment }
 *    link   = "next"                     the very next ply
 *           | "then" [ "within" N ]      any later one, or at most N plies later
 *    moment = [ "pattern" ] cond { cond } [ "for" N ] [ "times" RANGE ]
 *                                        on N plies in a row; on so many plies of the game (of a
 *                                        motif that is one moment)
 *    cond   = { "not" } ( test | "(" conds { "or" conds } ")" )      conds: some of them
 *    has, fen, pawns, material, balance TEXT            (chess/pattern/pattern.h)
 *    endgame FAMILY, to-move white|black                (chess/endgame/endgame.h)
 *    attacked, occupied, pinned, passed, isolated, doubled TEXT   (chess/moment/features.h)
 *    points RANGE                 White's pieces less Black's, as 1 3 3 5 9
 *    check, mate, stalemate, dead of the side to move; dead: no moves whatever can mate
 *    played MOVES                 the move from here (chess/moment/played.h)
 *    first, last, ply RANGE, any  no ply before, no move after; plies from 0 on; all moments
 *    reached RANGE                how many games the store has of the position; 0: not stored
 *    score RANGE                  White's score in them, per cent
 *    eval RANGE                   for White, in pawns, the deepest stored; mates are beyond all
 *    chi2 RANGE                   the position's statistic
 *    share RANGE                  of the games here, per cent that played this move
 *    loss RANGE                   centipawns: how much worse for the mover the position after it
 *                                 is by stored evaluations than the one before
 *    Of a whole motif: mirror (also with files turned round), either-colour (also with colours,
 *    ranks and the side to move), shift [files|ranks] (also with all squares moved alike).
 * `not` before a motif denies the game, after a condition that condition: `not check next mate` are
 * the games without these two, `pattern not check next mate` those with them. `and` and `pattern`
 * begin another motif, which may hold anywhere in the game: `has X and check` is two moments, `has
 * X check` is one. Parentheses around conditions alone stay in the moment; where they are all of a
 * unit they mean what is in them: `(not check)` is `not check`, `(not check) mate` is a moment.
 * What is not known makes a condition false, and its `not` true.
 *
 * Words and values are separated by white space. A value with other characters than letters,
 * digits and -.,/=+:_* of ASCII is put between double quotes, where \" and \\ mean the character
 * itself; ( and ) outside of quotes are words. How names and texts are found, names.h of
 * store/names says; what is not known of a game fits no term that asks for it, and so does fit the
 * term with `not`.
 *
 * Nothing here knows a store. Thread safe, allocates nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/pattern/pattern.h"
#include "chistore/types.h"

/* Bytes of a filter's text, and its terms, a motif being one. */
#define CHI_TERMS_TEXT_MAX 4096
#define CHI_TERMS_MAX	   32
/* Moments of all motifs, conditions of all moments, and parentheses around one place. */
#define CHI_MOMENTS_MAX 32
#define CHI_TESTS_MAX	64
#define CHI_NESTED_MAX	17 /* 16, and those that an option puts around its filter */
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
	CHI_TERM_MOTIF,
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

/* Kinds of tests of a moment, what they look at ascending. */
enum chi_test_kind {
	/* At a position: conditions of chess/pattern together, endgame, to-move; the others alone.
	 */
	CHI_TEST_PATTERN,
	CHI_TEST_ANY,
	CHI_TEST_POINTS,
	CHI_TEST_ATTACKED,
	CHI_TEST_OCCUPIED,
	CHI_TEST_PINNED,
	CHI_TEST_PASSED,
	CHI_TEST_ISOLATED,
	CHI_TEST_DOUBLED,
	CHI_TEST_CHECK,
	CHI_TEST_MATE,
	CHI_TEST_STALEMATE,
	CHI_TEST_DEAD,
	/* At its game, too. */
	CHI_TEST_FIRST,
	CHI_TEST_LAST,
	CHI_TEST_PLY,
	CHI_TEST_PLAYED,
	/* At the store, too. */
	CHI_TEST_REACHED,
	CHI_TEST_SCORE,
	CHI_TEST_EVAL,
	CHI_TEST_CHI2,
	CHI_TEST_SHARE,
	CHI_TEST_LOSS,
	CHI_TEST_KINDS
};

/* A text of a term: where it begins in chi_terms.texts, with a NUL after it; 0: there is none. */
typedef uint16_t chi_term_text;

struct chi_term_pattern {
	chi_term_text texts[CHI_CONDITIONS];
	uint8_t family; /* enum chi_endgame_family; NONE: not asked */
	uint8_t side;	/* enum chi_side */
};

struct chi_term_test {
	uint8_t kind; /* enum chi_test_kind */
	bool negated;
	int32_t min; /* ranges, included; hundredths where a value may have them (terms_priv.h) */
	int32_t max;
	chi_term_text text;
	struct chi_term_pattern pattern;
};

/* How a moment follows the one before. */
enum chi_link {
	CHI_LINK_NONE, /* it is the first */
	CHI_LINK_NEXT,
	CHI_LINK_THEN,
};

struct chi_term_moment {
	uint8_t root;	 /* node of its tests */
	uint8_t link;	 /* enum chi_link */
	uint16_t within; /* plies; 0: any number */
	uint16_t run;	 /* on so many plies in a row; 1 */
	bool counted;	 /* on `least` to `most` plies of the game */
	uint16_t least;
	uint16_t most;
};

/* An inner node joins two; a leaf is a term, or a test of a moment. */
enum chi_term_join {
	CHI_NODE_LEAF,
	CHI_NODE_AND,
	CHI_NODE_OR,
};

struct chi_term_node {
	uint8_t op;
	uint8_t left; /* a leaf: the number of its term or test */
	uint8_t right;
};

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
		uint8_t number; /* among the motifs of the filter */
		uint8_t first;	/* moment */
		uint8_t n;
		bool mirror;
		bool either_colour;
		bool shift_files;
		bool shift_ranks;
	} motif;
};

/* A filter, parsed: a tree of terms, `not` is only at leaves. No terms: all games. Holds no
 * pointers. */
struct chi_terms {
	size_t n;
	struct chi_term term[CHI_TERMS_MAX];
	uint8_t root; /* node, if there are terms */
	bool joined;  /* all terms by "and", there is no "or" */
	size_t n_nodes;
	struct chi_term_node nodes[2 * (CHI_TERMS_MAX + CHI_TESTS_MAX)];
	size_t n_moments;
	struct chi_term_moment moments[CHI_MOMENTS_MAX];
	size_t n_tests;
	struct chi_term_test tests[CHI_TESTS_MAX];
	size_t used; /* of the texts */
	char texts[CHI_TERMS_TEXT_MAX + 2 * CHI_TERMS_MAX + CHI_TESTS_MAX];
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

/* What a test that is a pattern asks, its texts in `terms`. */
void chi_term_pattern_spec(const struct chi_terms *terms, const struct chi_term_pattern *pattern,
			   struct chi_pattern_spec *out);

/* The first condition that asks what the store knows, which changes; NULL: there is none. */
const char *chi_terms_ask_store(const struct chi_terms *terms);

/* -CHI_EINVAL: no gameset can have that name. */
CHI_MUSTUSE int chi_gameset_name_check(const char *name, size_t len, struct chi_fault *fault);
