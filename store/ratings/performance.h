/* SPDX-License-Identifier: MIT */
/*
 * The performance statistic: how far White's results in a position's games are beyond what the
 * ratings let expect (expect.h). z is the sum of White's points less those expected, by its
 * standard deviation; kept is 128.00 + z, so that what went well for White is high, and for Black
 * low.
 *
 * The last hundredth must be the same on every machine. The expectation is therefore kept in
 * thousandths, a game's expected points are a number of 16 bits, and sums are of integers; a
 * square root and a division of IEEE doubles come last.
 */
#pragma once

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/games.h"
#include "chistore/types.h"

/* The expected and the scored points of all games, 4 bytes each. For any number of threads that
 * read. */
struct chi_performance;

struct chi_columns_chunk;

/* For games up to number `last`, none of which is there yet. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_performance_new(const struct chi_expectation *expectation, uint32_t last,
				    struct chi_performance **out);
void chi_performance_add_games(struct chi_performance *performance,
			       const struct chi_columns_chunk *chunk);

/* With the games of the columns tree. An expectation of no games, or NULL, is fitted on them.
 * -CHI_ENOMEM, -CHI_ECORRUPT, -CHI_EIO. */
CHI_MUSTUSE int chi_performance_load(MDB_txn *txn, MDB_dbi columns, uint32_t last,
				     const struct chi_expectation *given,
				     struct chi_performance **out);
/* NULL is fine. */
void chi_performance_free(struct chi_performance *performance);

/* What was given, or fitted. */
const struct chi_expectation *
chi_performance_expectation(const struct chi_performance *performance);

/* How many of the games have two ratings and a result. */
uint64_t chi_performance_games(const struct chi_performance *performance);

/* Of a list of games; zeroed at first. */
struct chi_performance_sums {
	uint32_t last;	   /* number of the game that was added last */
	uint64_t games;	   /* that count, */
	int64_t beyond;	   /* White's points in them less those expected, in 65,536ths, */
	uint64_t variance; /* and the sum of e (1 - e) of what was expected, in 2^-32 */
};

/* Adds entries of a list, ascending. Games that are not there count as not rated. */
void chi_performance_add(const struct chi_performance *performance,
			 const struct chi_posting *entries, size_t n,
			 struct chi_performance_sums *sums);

/* The statistic, in hundredths; CHI_CHI2_UNKNOWN below CHI_PERFORMANCE_GAMES games that count. */
uint16_t chi_performance_of(const struct chi_performance *performance,
			    const struct chi_performance_sums *sums);

/* That of a position whose list is in its record, or in the postings tree. LMDB's code;
 * MDB_NOTFOUND: the tree has none; MDB_CORRUPTED. */
struct chi_record_rest;
CHI_MUSTUSE int chi_performance_of_list(const struct chi_performance *performance, MDB_txn *txn,
					MDB_dbi postings, const struct chi_key *key,
					const struct chi_record_rest *rest, uint16_t *chi2);
