/* SPDX-License-Identifier: MIT */
/*
 * Logistic regression of results on differences of ratings, a draw being half a win (quasi-binomial
 * likelihood: McCullagh and Nelder, Generalized Linear Models, 2nd edition, chapters 4 and 9).
 */
#include "insight/expect.h"

#include <math.h>

#include "base/attr.h"
#include "store/games/columns.h"

#define BAND	     25
#define FARTHEST     (BAND * CHI_EXPECT_BANDS / 2)
#define GAMES_LEAST  500 /* that are fitted; of fewer the numbers below are taken */
#define MOVE_PLAIN   35.0
#define SCALE_PLAIN  400.0
#define SPREAD_PLAIN 0.65
#define ROUNDS_MOST  50

double chi_expect_points(uint32_t result)
{
	return result == CHI_RESULT_WHITE ? 1.0 : result == CHI_RESULT_DRAW ? 0.5 : 0.0;
}

static double logistic(double x)
{
	return 1.0 / (1.0 + exp(-x));
}

/* The middle of a band's differences. */
static double band_middle(int band)
{
	return band * BAND - FARTHEST + (BAND - 1) / 2.0;
}

static int band_of(uint32_t white_elo, uint32_t black_elo)
{
	int band = ((int)white_elo - (int)black_elo + FARTHEST) / BAND;
	return band < 0 ? 0 : band >= CHI_EXPECT_BANDS ? CHI_EXPECT_BANDS - 1 : band;
}

/* Newton's method for points = logistic(a + b d): from Elo's own numbers a few rounds do. */
static void fit_curve(struct chi_expect *expect)
{
	double b = M_LN10 / SCALE_PLAIN;
	double a = MOVE_PLAIN * b;
	for (int round = 0; round < ROUNDS_MOST; round++) {
		double slope[2] = {0};
		double curve[3] = {0};
		for (int i = 0; i < CHI_EXPECT_BANDS; i++) {
			double n = (double)expect->band_games[i];
			double d = band_middle(i);
			double e = logistic(a + b * d);
			double weight = n * e * (1 - e);
			slope[0] += expect->band_points[i] - n * e;
			slope[1] += (expect->band_points[i] - n * e) * d;
			curve[0] += weight;
			curve[1] += weight * d;
			curve[2] += weight * d * d;
		}
		double det = curve[0] * curve[2] - curve[1] * curve[1];
		if (!(det > 0)) { /* all differences are one */
			break;
		}
		double step = (curve[0] * slope[1] - curve[1] * slope[0]) / det;
		a += (curve[2] * slope[0] - curve[1] * slope[1]) / det;
		b += step;
		if (fabs(step) < 1e-12) {
			break;
		}
	}
	/* Ratings that say nothing, or the opposite, are no ground to expect anything by. */
	if (isfinite(a) && isfinite(b) && b > M_LN10 / (100 * SCALE_PLAIN)) {
		expect->scale = M_LN10 / b;
		expect->move = a / b;
	}
}

static void fit_spread(struct chi_expect *expect)
{
	double squares = 0;
	double most = 0;
	for (int i = 0; i < CHI_EXPECT_BANDS; i++) {
		double n = (double)expect->band_games[i];
		double e = logistic((band_middle(i) + expect->move) * M_LN10 / expect->scale);
		squares += expect->band_squares[i] - 2 * e * expect->band_points[i] + n * e * e;
		most += n * e * (1 - e);
	}
	if (squares > 0 && most > 0) {
		expect->spread = squares / most;
	}
}

static void add_chunk(struct chi_expect *expect, const struct chi_columns_chunk *chunk)
{
	for (uint32_t row = 0; row < chunk->n; row++) {
		uint32_t white = chi_column_value(chunk, CHI_COLUMN_WHITE_ELO, row);
		uint32_t black = chi_column_value(chunk, CHI_COLUMN_BLACK_ELO, row);
		uint32_t result = chi_column_value(chunk, CHI_COLUMN_RESULT, row);
		if (white != 0 && black != 0 && result < CHI_RESULT_OTHER) {
			int band = band_of(white, black);
			double points = chi_expect_points(result);
			expect->games++;
			expect->band_games[band]++;
			expect->band_points[band] += points;
			expect->band_squares[band] += points * points;
		}
	}
	expect->next = chunk->first + chunk->n;
}

int chi_expect_step(struct chi_expect *expect, const struct chi_archive_view *view, uint64_t *steps)
{
	struct chi_columns_reader reader;
	int rc = chi_columns_reader_init(&reader, view->txn, view->trees.columns);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_columns_seek(&reader, expect->next);
	for (; rc == CHI_OK && *steps > 0; --*steps) {
		add_chunk(expect, &reader.chunk);
		rc = chi_columns_next(&reader);
	}
	chi_columns_reader_deinit(&reader);
	if (rc == CHI_NONE) {
		expect->move = MOVE_PLAIN;
		expect->scale = SCALE_PLAIN;
		expect->spread = SPREAD_PLAIN;
		if (expect->games >= GAMES_LEAST) {
			fit_curve(expect);
			fit_spread(expect);
		}
	}
	return rc;
}

bool chi_expect_of(const struct chi_expect *expect, uint32_t white_elo, uint32_t black_elo,
		   uint32_t result, double *points, double *variance)
{
	if (white_elo == 0 || black_elo == 0 || result >= CHI_RESULT_OTHER) {
		return false;
	}
	double d = (double)white_elo - (double)black_elo;
	d = d < -FARTHEST ? -FARTHEST : d > FARTHEST ? FARTHEST : d;
	*points = logistic((d + expect->move) * M_LN10 / expect->scale);
	*variance = expect->spread * *points * (1 - *points);
	return true;
}
