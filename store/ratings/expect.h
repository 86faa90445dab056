/* SPDX-License-Identifier: MIT */
/*
 * The result that ratings let expect, fitted on all rated games of a snapshot: White's points are
 * 1 / (1 + 10^(-(d + move) / scale)) of a difference d of ratings, White's less Black's. `move`, in
 * rating points, is what it is worth to move first; `scale` is 400 in Elo's own formula; both are
 * the most likely ones (differences below 800, in bands of 25, each taken at its mean). `spread` is
 * what the squares of results less expectations are of e (1 - e): draws make it less than 1. Of
 * fewer than 500 rated games 35, 400 and 0.65 are taken.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/games.h"

#define CHI_EXPECT_BANDS                                                                           \
	128 /* of differences from -1,600 on, 25 each; what is beyond is in the last */

struct chi_expect {
	double move; /* rating points */
	double scale;
	double spread;
	uint64_t games; /* rated ones with a result */
	bool is_fitted; /* the numbers are not Elo's own, or those for few games */
	/* While it is fitted. */
	uint32_t next; /* number of the first game that was not looked at */
	uint64_t band_games[CHI_EXPECT_BANDS];
	double band_differences[CHI_EXPECT_BANDS];
	double band_points[CHI_EXPECT_BANDS];
	double band_squares[CHI_EXPECT_BANDS];
};

/* A game, if it is rated and has a result; after all of them the fit. */
bool chi_expect_add(struct chi_expect *expect, uint32_t white_elo, uint32_t black_elo,
		    uint32_t result);
/* Or so many games of a difference. */
void chi_expect_add_many(struct chi_expect *expect, int difference, uint64_t games, double points,
			 double squares);
void chi_expect_fit(struct chi_expect *expect);

/* Looks at the columns of games from expect->next on, a chunk a step. CHI_OK: call again; CHI_NONE:
 * it is fitted; -CHI_ECORRUPT, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_expect_step(struct chi_expect *expect, MDB_txn *txn, MDB_dbi columns,
				uint64_t *steps);

/* White's points that are expected, and how much they vary. False: a rating or the result is not
 * known. `result`: enum chi_result. */
bool chi_expect_of(const struct chi_expect *expect, uint32_t white_elo, uint32_t black_elo,
		   uint32_t result, double *points, double *variance);

/* The same of a difference. */
double chi_expect_at(const struct chi_expect *expect, double difference, double *variance);

/* In place of a difference, for a curve of results by evaluations: centipawns as White sees them,
 * -1,599 to 1,599, of an eval statistic; mates and what is farther count as 16 pawns. */
int chi_expect_centipawns(uint16_t eval);

/* White's points of a result; 0 is no loss if it is not one of a win, draw and loss. */
double chi_expect_points(uint32_t result);
