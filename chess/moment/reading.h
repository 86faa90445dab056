/* SPDX-License-Identifier: MIT */
/* What reading conditions of moments shares: a text, and where in it something is wrong. Private to
 * the room. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_condition_text {
	const char *field; /* what the text is called */
	const char *text;
	const char *at; /* in it */
	struct chi_fault *fault;
};

/* -CHI_ESYNTAX, naming the field and the character (the first is 1). */
int chi_condition_refuse(const struct chi_condition_text *text, const char *why);

/* Contents (chess/pattern/contents.h), of which those in `of` count; `none` says that there are
 * none of these. */
CHI_MUSTUSE int chi_condition_pieces(struct chi_condition_text *text, uint32_t of, const char *none,
				     uint32_t *set);

/* Squares, if they are next. */
bool chi_condition_squares(struct chi_condition_text *text, uint64_t *squares);
