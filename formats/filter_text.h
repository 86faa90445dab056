/* SPDX-License-Identifier: MIT */
/*
 * Options that choose games, by their names on the command line, to the text of a filter in the
 * language of chistore(1), "Filters of games". What terms mean is not known here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chistore/types.h"

/* Bytes of a filter's text made of options, with its NUL; the store takes fewer. */
#define CHI_FILTER_TEXT_SIZE 8192

/* An option as it was given. The texts are the caller's. */
struct chi_filter_term {
	const char *name;
	const char *value;    /* NULL: it takes none */
	const char *opponent; /* of a player; NULL: any */
	const char *side;     /* the same */
	bool negated;
	size_t at; /* set: where it begins in the text */
};

/* What an option is called in the language. */
const char *chi_filter_word(const char *name);

/* NUL-terminated; "" of no terms. -CHI_ETOOBIG: it does not fit. */
CHI_MUSTUSE int chi_filter_text(struct chi_filter_term *terms, size_t n, char *out, size_t size);
