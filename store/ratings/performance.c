/* SPDX-License-Identifier: MIT */
#include "store/ratings/performance.h"

#include <math.h>
#include <stdlib.h>

#include "base/record.h"
#include "store/games/columns.h"
#include "store/postings/postings.h"
#include "store/ratings/expect.h"
#include "store/record/codec.h"

#define ONE	  65536 /* point */
#define THOUSAND  1000.0
#define NOT_RATED 0 /* no game's expected points are */

struct chi_performance {
	struct chi_expectation expectation;
	struct chi_expect expect; /* the same */
	uint64_t games;		  /* rated */
	uint32_t last;
	uint32_t *of; /* [0..last]: expected points in 65,536ths << 2 | White's points, doubled */
};

static void keep_fit(const struct chi_expect *fit, struct chi_expectation *out)
{
	*out = (struct chi_expectation){0};
	if (fit->games == 0) {
		return;
	}
	*out = (struct chi_expectation){.games = fit->games,
					.move = llround(fit->move * THOUSAND),
					.scale = (uint64_t)llround(fit->scale * THOUSAND),
					.spread = (uint64_t)llround(fit->spread * THOUSAND)};
}

static int fit_expectation(MDB_txn *txn, MDB_dbi columns, struct chi_expectation *out)
{
	struct chi_expect fit = {0};
	uint64_t steps = UINT64_MAX;
	int rc = chi_expect_step(&fit, txn, columns, &steps);
	keep_fit(&fit, out);
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_performance_new(const struct chi_expectation *expectation, uint32_t last,
			struct chi_performance **out)
{
	struct chi_performance *p = calloc(1, sizeof(*p));
	*out = p;
	if (p == NULL) {
		return -CHI_ENOMEM;
	}
	p->expectation = *expectation;
	p->expect = (struct chi_expect){.move = (double)expectation->move / THOUSAND,
					.scale = (double)expectation->scale / THOUSAND,
					.spread = (double)expectation->spread / THOUSAND};
	p->last = last;
	p->of = calloc((size_t)last + 1, sizeof(p->of[0]));
	if (p->of == NULL) {
		chi_performance_free(p);
		*out = NULL;
	}
	return *out != NULL ? CHI_OK : -CHI_ENOMEM;
}

void chi_performance_add_games(struct chi_performance *p, const struct chi_columns_chunk *chunk)
{
	for (uint32_t row = 0; row < chunk->n && chunk->first + row <= p->last; row++) {
		double points;
		double variance;
		uint32_t result = chi_column_value(chunk, CHI_COLUMN_RESULT, row);
		if (!chi_expect_of(&p->expect, chi_column_value(chunk, CHI_COLUMN_WHITE_ELO, row),
				   chi_column_value(chunk, CHI_COLUMN_BLACK_ELO, row), result,
				   &points, &variance)) {
			continue;
		}
		long e = lround(points * ONE);
		e = e < 1 ? 1 : e >= ONE ? ONE - 1 : e;
		p->of[chunk->first + row] =
			(uint32_t)e << 2 | (uint32_t)(2 * chi_expect_points(result));
		p->games++;
	}
}

static int load_games(struct chi_performance *p, MDB_txn *txn, MDB_dbi columns)
{
	struct chi_columns_reader reader;
	int rc = chi_columns_reader_init(&reader, txn, columns);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_columns_seek(&reader, 1);
	for (; rc == CHI_OK; rc = chi_columns_next(&reader)) {
		chi_performance_add_games(p, &reader.chunk);
	}
	chi_columns_reader_deinit(&reader);
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_performance_load(MDB_txn *txn, MDB_dbi columns, uint32_t last,
			 const struct chi_expectation *given, struct chi_performance **out)
{
	struct chi_expectation fitted;
	bool fits = given == NULL || given->games == 0;
	int rc = fits ? fit_expectation(txn, columns, &fitted) : CHI_OK;
	rc = rc == CHI_OK ? chi_performance_new(fits ? &fitted : given, last, out) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	rc = load_games(*out, txn, columns);
	if (rc != CHI_OK) {
		chi_performance_free(*out);
		*out = NULL;
	}
	return rc;
}

void chi_performance_free(struct chi_performance *performance)
{
	if (performance != NULL) {
		free(performance->of);
		free(performance);
	}
}

const struct chi_expectation *chi_performance_expectation(const struct chi_performance *performance)
{
	return &performance->expectation;
}

uint64_t chi_performance_games(const struct chi_performance *performance)
{
	return performance->games;
}

void chi_performance_add(const struct chi_performance *performance,
			 const struct chi_posting *entries, size_t n,
			 struct chi_performance_sums *sums)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t number = entries[i].game;
		uint32_t of = number <= performance->last ? performance->of[number] : NOT_RATED;
		uint32_t e = of >> 2;
		if (number != sums->last && of != NOT_RATED) {
			sums->games++;
			sums->beyond += (int64_t)(of & 3) * (ONE / 2) - (int64_t)e;
			sums->variance += (uint64_t)e * (ONE - e);
		}
		sums->last = number;
	}
}

static int add_listed(const struct chi_performance *performance, MDB_txn *txn, MDB_dbi postings,
		      const struct chi_key *key, struct chi_performance_sums *sums)
{
	struct chi_posting entries[CHI_POSTINGS_CHUNK_ENTRIES];
	struct chi_postings_walk walk;
	size_t n;
	int rc = chi_postings_open(&walk, txn, postings, CHI_CHAIN_POSTINGS, key->bytes, key->len);
	if (rc != 0) {
		return rc;
	}
	rc = chi_postings_seek(&walk, 0, entries, &n);
	int first = rc;
	while (rc == 0) {
		chi_performance_add(performance, entries, n, sums);
		rc = chi_postings_next(&walk, entries, &n);
	}
	chi_postings_close(&walk);
	return rc == MDB_NOTFOUND && first == 0 ? 0 : rc;
}

uint16_t chi_performance_of(const struct chi_performance *performance,
			    const struct chi_performance_sums *sums)
{
	double variance = (double)sums->variance / ((double)ONE * ONE) *
			  ((double)performance->expectation.spread / THOUSAND);
	if (sums->games < CHI_PERFORMANCE_GAMES || !(variance > 0)) {
		return CHI_CHI2_UNKNOWN;
	}
	double z = (double)sums->beyond / ONE / sqrt(variance);
	double hundredths = round(CHI_PERFORMANCE_EVEN + 100 * z);
	return hundredths < 1 ? 1 : hundredths > CHI_CHI2_MAX ? CHI_CHI2_MAX : (uint16_t)hundredths;
}

int chi_performance_of_list(const struct chi_performance *performance, MDB_txn *txn,
			    MDB_dbi postings, const struct chi_key *key,
			    const struct chi_record_rest *rest, uint16_t *chi2)
{
	struct chi_performance_sums sums = {0};
	chi_performance_add(performance, rest->games, rest->n_games, &sums);
	int rc = rest->listed > 0 ? add_listed(performance, txn, postings, key, &sums) : 0;
	*chi2 = chi_performance_of(performance, &sums);
	return rc;
}
