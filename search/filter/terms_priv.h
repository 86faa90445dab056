/* SPDX-License-Identifier: MIT */
/* What reading and printing filters share: the words of the language. Private to the room. */
#pragma once

#include "search/filter/terms.h"

/* How the value of a term is written. */
enum chi_term_shape {
	SHAPE_PLAYER,
	SHAPE_TEXT,
	SHAPE_DATE,
	SHAPE_RANGE,
	SHAPE_ECO,
	SHAPE_LIST,
	SHAPE_FEN,
	SHAPE_LINE,
	SHAPE_GAMESET,
	SHAPE_MOMENTS,
};

/* A kind of term. */
struct chi_term_word {
	const char *name;
	enum chi_term_shape shape;
	uint32_t least; /* of a range; of a list the bits that there are */
	uint32_t most;
};
extern const struct chi_term_word chi_term_words[CHI_TERM_KINDS];

/* The words of a list by their numbers; NULL after the last. */
const char *const *chi_term_list(enum chi_term_kind kind);

/* By enum chi_condition. */
extern const char *const chi_condition_words[CHI_CONDITIONS];

/* Where a condition may stand, and what its value is. */
enum chi_test_shape {
	TEST_PLAIN, /* it has none */
	TEST_TEXT,
	TEST_RANGE,
};

/* A kind of test; its name is NULL for patterns. */
struct chi_test_word {
	const char *name;
	enum chi_test_shape shape;
	int32_t scale; /* of a range: 100 if hundredths are possible */
	int32_t least; /* in these units */
	int32_t most;
};
extern const struct chi_test_word chi_test_words[CHI_TEST_KINDS];

/* The value of a term. Each CHI_OK, -CHI_ESYNTAX, or -CHI_EINVAL for an empty range; `fault` says
 * what is possible. */
CHI_MUSTUSE int chi_term_read_range(const char *value, struct chi_term *term,
				    struct chi_fault *fault);
CHI_MUSTUSE int chi_term_read_eco(const char *value, struct chi_term *term,
				  struct chi_fault *fault);
CHI_MUSTUSE int chi_term_read_date(const char *value, struct chi_term *term,
				   struct chi_fault *fault);
CHI_MUSTUSE int chi_term_read_list(const char *value, struct chi_term *term,
				   struct chi_fault *fault);
/* The range of a test. */
CHI_MUSTUSE int chi_test_read_range(const char *value, struct chi_term_test *test,
				    struct chi_fault *fault);

/* True if the text is read as one value without quotes. */
bool chi_term_is_bare(const char *text);

/* ---- Reading: what terms.c and terms_motif.c share ---------------------------------------- */

struct chi_word {
	size_t at; /* in the text */
	bool quoted;
	size_t len; /* 0 and not quoted: there is none */
	char text[CHI_TERM_VALUE_MAX + 1];
};

struct chi_parser {
	const char *text;
	size_t len;
	size_t at;
	struct chi_word next; /* always one word ahead, as some terms go on with it or do not */
	unsigned depth;	      /* parentheses that are open */
	struct chi_terms *out;
	struct chi_fault *fault;
};

#define AT "filter, character %zu: "

bool chi_parser_is_at(const struct chi_parser *p, const char *word);
/* A parenthesis, which is no word in quotes. */
bool chi_parser_ended(const struct chi_parser *p);
CHI_MUSTUSE int chi_parser_advance(struct chi_parser *p);
/* To a word that was the next one. */
CHI_MUSTUSE int chi_parser_return(struct chi_parser *p, size_t at);
/* A failure of a value, with its place. */
int chi_parser_blame(const struct chi_parser *p, size_t at, int rc, const struct chi_fault *why);
/* Copies the next word, which must be a value, to the texts. Does not go on. */
CHI_MUSTUSE int chi_parser_keep(struct chi_parser *p, const char *of, chi_term_text *out);
CHI_MUSTUSE int chi_parser_side(struct chi_parser *p, uint8_t *out);
/* Past `(` and `)`, of which only so many may be open. */
CHI_MUSTUSE int chi_parser_open(struct chi_parser *p);
CHI_MUSTUSE int chi_parser_close(struct chi_parser *p);
/* A leaf, and a node that joins what was read so far, which may be none (*node < 0), with another.
 * There is room for all that a filter's limits allow. */
int chi_parser_leaf(struct chi_parser *p, size_t number);
int chi_parser_join(struct chi_parser *p, int node, enum chi_term_join op, int other);

/* True if a condition of a moment, or `pattern`, is next. */
bool chi_motif_begins(const struct chi_parser *p);
/* True if a group of conditions alone is. `unit`: where a unit begins, and the group is all of it,
 * `not` in front of an alternative denies the game, so that the group is the filter's. */
bool chi_motif_group_begins(struct chi_parser *p, bool unit);
/* A motif: moments and links. */
CHI_MUSTUSE int chi_motif_parse_terms(struct chi_parser *p, struct chi_term *term);
