/* SPDX-License-Identifier: MIT */
/*
 * A store's contents as nothing but an array, and random operations that are done to both: puts of
 * every part, games added and taken away, refused ones, deletes, aborted batches.
 */
#pragma once

#include "tests/store/help.h"

#include "chess/position.h"

#define POSITIONS 250
#define MOVES	  3
#define PLIES	  4
#define ENGINES	  3

/* What the model knows of a position; moves are kept for the first MOVES legal ones. */
struct model {
	struct chi_key key;
	struct chi_position position;
	chi_move legal[MOVES]; /* ascending */
	size_t n_legal;
	uint16_t control;
	bool stored;
	uint16_t chi2;
	struct chi_counts counts;
	bool played[MOVES];
	struct chi_counts by_move[MOVES];
	uint64_t by_ply[PLIES]; /* games at model_plies[i] */
	bool evaluated[ENGINES];
	struct chi_eval evals[ENGINES];
	bool line;
	char note[16];
};

extern struct model models[POSITIONS];
extern const char *const engines[ENGINES];
extern const uint16_t model_plies[PLIES]; /* ascending */

/* Forgets all: the positions are others, and not stored. */
void model_reset(enum chi_statistic statistic, const struct chi_counts *base);

/* What the eval statistic is of it; CHI_CHI2_UNKNOWN without an evaluation. */
uint16_t model_eval(const struct model *m);

/* A transaction of random operations; now and then it is aborted. */
void model_batch(struct chi_dir *store);
