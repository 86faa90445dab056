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
	SHAPE_PATTERN,
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

/* True if the text is read as one value without quotes. */
bool chi_term_is_bare(const char *text);
