/* SPDX-License-Identifier: MIT */
/*
 * An exploration on standard output: a table for people, with bars; tab-separated rows and JSON for
 * programs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/cli/cli.h"

enum explored_form {
	EXPLORED_TSV = 0, /* a row for each move */
	EXPLORED_TABLE,	  /* what the position is, then the moves in aligned columns */
	EXPLORED_JSON,	  /* one object */
};

struct explored_style {
	enum explored_form form;
	bool ascii; /* bars of ASCII characters */
};

/* True if the environment's locale (LC_ALL, LC_CTYPE, LANG) is one of UTF-8. */
bool explored_utf8(void);

/*
 * Prints the position and its first `n` moves. -CHI_EKEY, -CHI_EMOVE: what is told fits no
 * position; then nothing is printed. -CHI_ENOMEM.
 */
CHI_MUSTUSE int explored_print(const struct chi_explore *explore, size_t n,
			       const struct explored_style *style);
