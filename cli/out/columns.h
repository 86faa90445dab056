/* SPDX-License-Identifier: MIT */
/* The columns that --show chooses, for scan and export. */
#pragma once

#include <stdio.h>

#include "cli/cli.h"

#define COLUMNS_MAX 32

enum columns_form {
	COLUMNS_TABS,
	COLUMNS_CSV,
	COLUMNS_JSON,
};

struct columns {
	uint8_t shown[COLUMNS_MAX]; /* places in the table of columns.c */
	size_t n;		    /* 0: none were chosen */
	enum chi_want want;	    /* what a scan must deliver for them */
	bool score_is_statistic;    /* the store is a score store */
};

/* Reads "fen,eval,best" into a struct columns. */
cli_reader columns_take;

/* Their names, for the help. */
#define COLUMNS_NAMES                                                                              \
	"chi2, fen, key, games, white, draws, black, other, score,\n"                              \
	"eval, depth, engine, engines, best, ply, eco, opening"

/* Asks the store what has to be known of it. Returns an exit code. */
int columns_ready(struct cli *cli, struct columns *columns);

/* The names, but in JSON, where each row has them. */
void columns_head(FILE *file, const struct columns *columns, enum columns_form form);

/* `record` may be NULL where the columns want none. -CHI_ECORRUPT, -CHI_EKEY. */
CHI_MUSTUSE int columns_row(FILE *file, const struct columns *columns, enum columns_form form,
			    const struct chi_row *row, const struct chi_record *record);
