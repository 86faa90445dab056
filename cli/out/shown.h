/* SPDX-License-Identifier: MIT */
/* The columns of positions, which --show chooses. */
#pragma once

#include "cli/out/columns.h"

struct shown {
	struct chi_row_column columns[COLUMNS_MAX];
	size_t n;		      /* 0: none were chosen */
	enum chi_want want;	      /* what a scan must deliver for them */
	enum chi_statistic statistic; /* of the store, if a column depends on it */
};

/* Reads "fen,eval,best" into a struct shown. */
cli_reader shown_take;

/* Their names, for the help. */
#define SHOWN_NAMES                                                                                \
	"chi2, fen, key, games, white, draws, black, other, score,\n"                              \
	"eval, depth, engine, engines, best, ply, eco, opening"

/* Where none were chosen: chi2 and fen, with `counts` games, white, draws and black as well. */
void shown_usual(struct shown *shown, bool counts);

/* Asks the store what has to be known of it. Returns an exit code. */
int shown_ready(struct cli *cli, struct shown *shown);

void shown_head(FILE *file, const struct shown *shown, enum columns_form form);

/* A line; `record` may be NULL where the columns want none. -CHI_ECORRUPT, -CHI_EKEY. */
CHI_MUSTUSE int shown_print(FILE *file, const struct shown *shown, enum columns_form form,
			    const struct chi_row *row, const struct chi_record *record);
