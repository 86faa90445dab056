/* SPDX-License-Identifier: MIT */
/* The options of chistore-uci: one table, from which they are listed, checked and set. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "chistore/types.h"

#define CHI_UCI_TEXT 4096 /* of an option, with its NUL */

enum chi_uci_book {
	CHI_BOOK_OFF,
	CHI_BOOK_BEST,
	CHI_BOOK_WEIGHTED
};
enum chi_uci_learn {
	CHI_LEARN_OFF,
	CHI_LEARN_ROOT,
	CHI_LEARN_PV
};

/* Numbers, checks and choices are int64_t; choices are indexes. */
struct chi_uci_options {
	int64_t hash;	  /* MiB */
	int64_t lines;	  /* MultiPV */
	int64_t ponder;	  /* whether the program may ask for it; it says when */
	int64_t chess960; /* castling is written as king takes rook */
	int64_t lag;	  /* ms that the GUI's clock runs on after an answer */
	char store[CHI_UCI_TEXT];
	int64_t probe; /* the search asks the store at nodes with so many plies to go; 0: never */
	int64_t book;  /* enum chi_uci_book */
	int64_t book_games;	   /* a move must have been played in so many */
	int64_t book_depth;	   /* plies of a game in which the book is asked */
	int64_t variety;	   /* 0..100: how even the chances of weighted moves are */
	char filter[CHI_UCI_TEXT]; /* of the book's games, as in chistore-filters(7) */
	int64_t learn;		   /* enum chi_uci_learn */
	int64_t answer; /* stored evaluations of so many plies are the answer; 0: never */
	int64_t seed;
	char engine[CHI_UCI_TEXT]; /* command of the engine that searches; "": we do */
};

void chi_uci_options_init(struct chi_uci_options *options);

/* The lines that answer `uci`. */
void chi_uci_options_print(FILE *out);

/* Whether there is an option of that name; whether another engine that has it is told of it. */
bool chi_uci_options_has(const char *name);
bool chi_uci_options_shared(const char *name);

/* Whether there is the option that a line "option name N type ..." of another engine is of. */
bool chi_uci_options_has_line(const char *line);

/* The i-th that is shared, as a line of setoption with its value; false: there are no more. */
#define CHI_UCI_LINE 128
bool chi_uci_options_line(const struct chi_uci_options *options, size_t i, const char **name,
			  char *line, size_t size);

/* Sets the option `name` (case does not matter). `value` is NULL for a button. -CHI_EINVAL says
 * what is wrong. */
CHI_MUSTUSE int chi_uci_options_set(struct chi_uci_options *options, const char *name,
				    const char *value, struct chi_fault *fault);
