/* SPDX-License-Identifier: MIT */
/*
 * Logistic regression of results on differences of ratings, a draw being half a win (quasi-binomial
 * likelihood: McCullagh and Nelder, Generalized Linear Models, 2nd edition, chapters 4 and 9).
 */
#include "store/ratings/expect.h"

#include <math.h>

#include "store/games/columns.h"

#define BAND	     25
#define CP_MOST	     1599
#define FARTHEST     (BAND * CHI_EXPECT_BANDS / 2)
#define FITTED	     800
#define GAMES_LEAST  500 /* that are fitted; of fewer the numbers below are taken */
#define MOVE_PLAIN   35.0
#define SCALE_PLAIN  400.0
#define SPREAD_PLAIN 0.65
#define SPREAD_LEAST 0.05 /* nearly all games are drawn */
#define ROUNDS_MOST  100

double chi_expect_points(uint32_t result)
{
	return result == CHI_RESULT_WHITE ? 1.0 : result == CHI_RESULT_DRAW ? 0.5 : 0.0;
}

static double logistic(double x)
{
	return 1.0 / (1.0 + exp(-x));
}

/* The mean of a band's differences, not its middle: ratings were rounded for decades. */
static double band_mean(const struct chi_expect *expect, int band)
{
	uint64_t games = expect->band_games[band];
	return games > 0 ? expect->band_differences[band] / (double)games : 0;
}

static int band_of(int difference)
{
	int band = (difference + FARTHEST) / BAND;
	return band < 0 ? 0 : band >= CHI_EXPECT_BANDS ? CHI_EXPECT_BANDS - 1 : band;
}

/* Differences that are fitted: beyond, a rating is often not one. */
static bool is_fitted(int band)
{
	return band * BAND >= FARTHEST - FITTED && band * BAND < FARTHEST + FITTED;
}

/* Of points = logistic(a + b d / 400): the logarithm of how likely they are, its slopes, and its
 * curvature. It has one maximum. */
struct likelihood {
	double value;
	double slope[2];
	double curve[3];
};

static struct likelihood likelihood_of(const struct chi_expect *expect, const double line[2])
{
	struct likelihood out = {0};
	for (int i = 0; i < CHI_EXPECT_BANDS; i++) {
		double n = (double)expect->band_games[i];
		double d = band_mean(expect, i) / SCALE_PLAIN;
		double x = line[0] + line[1] * d;
		double e = logistic(x);
		double off = expect->band_points[i] - n * e;
		if (!is_fitted(i)) {
			continue;
		}
		out.value += expect->band_points[i] * x -
			     n * (x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)));
		out.slope[0] += off;
		out.slope[1] += off * d;
		out.curve[0] += n * e * (1 - e);
		out.curve[1] += n * e * (1 - e) * d;
		out.curve[2] += n * e * (1 - e) * d * d;
	}
	return out;
}

/* Newton's method from even chances on, whence it does not go astray. False: there is no maximum,
 * as where all differences are one, or all results, or it was not reached. */
static bool find_line(const struct chi_expect *expect, double line[2])
{
	for (int round = 0; round < ROUNDS_MOST; round++) {
		struct likelihood at = likelihood_of(expect, line);
		double det = at.curve[0] * at.curve[2] - at.curve[1] * at.curve[1];
		if (!(det > 1e-9 * at.curve[0] * at.curve[0])) {
			return false;
		}
		double step[2] = {(at.curve[2] * at.slope[0] - at.curve[1] * at.slope[1]) / det,
				  (at.curve[0] * at.slope[1] - at.curve[1] * at.slope[0]) / det};
		line[0] += step[0];
		line[1] += step[1];
		/* What is still to be gained is less than what the sums are exact to. */
		if (step[0] * at.slope[0] + step[1] * at.slope[1] <= 1e-10 * (1 + fabs(at.value))) {
			return true;
		}
	}
	return false;
}

/* Ratings that say nothing, or the opposite, are no ground to expect anything by. */
static void fit_curve(struct chi_expect *expect)
{
	double line[2] = {0, 0};
	if (find_line(expect, line) && line[1] > M_LN10 / 100) {
		expect->scale = SCALE_PLAIN * M_LN10 / line[1];
		expect->move = SCALE_PLAIN * line[0] / line[1];
		expect->is_fitted = true;
	}
}

static void fit_spread(struct chi_expect *expect)
{
	double squares = 0;
	double most = 0;
	for (int i = 0; i < CHI_EXPECT_BANDS; i++) {
		double n = is_fitted(i) ? (double)expect->band_games[i] : 0;
		double e = logistic((band_mean(expect, i) + expect->move) * M_LN10 / expect->scale);
		if (n == 0) {
			continue;
		}
		squares += expect->band_squares[i] - 2 * e * expect->band_points[i] + n * e * e;
		most += n * e * (1 - e);
	}
	if (most > 0) {
		double spread = squares / most;
		expect->spread = spread < SPREAD_LEAST ? SPREAD_LEAST : spread > 1 ? 1 : spread;
	}
}

void chi_expect_add_many(struct chi_expect *expect, int difference, uint64_t games, double points,
			 double squares)
{
	int band = band_of(difference);
	expect->games += games;
	expect->band_games[band] += games;
	expect->band_differences[band] += (double)difference * (double)games;
	expect->band_points[band] += points;
	expect->band_squares[band] += squares;
}

bool chi_expect_add(struct chi_expect *expect, uint32_t white_elo, uint32_t black_elo,
		    uint32_t result)
{
	if (white_elo == 0 || black_elo == 0 || result >= CHI_RESULT_OTHER) {
		return false;
	}
	double points = chi_expect_points(result);
	chi_expect_add_many(expect, (int)white_elo - (int)black_elo, 1, points, points * points);
	return true;
}

void chi_expect_fit(struct chi_expect *expect)
{
	expect->move = MOVE_PLAIN;
	expect->scale = SCALE_PLAIN;
	expect->spread = SPREAD_PLAIN;
	if (expect->games >= GAMES_LEAST) {
		fit_curve(expect);
		fit_spread(expect);
	}
}

static void add_chunk(struct chi_expect *expect, const struct chi_columns_chunk *chunk)
{
	for (uint32_t row = 0; row < chunk->n; row++) {
		(void)chi_expect_add(expect, chi_column_value(chunk, CHI_COLUMN_WHITE_ELO, row),
				     chi_column_value(chunk, CHI_COLUMN_BLACK_ELO, row),
				     chi_column_value(chunk, CHI_COLUMN_RESULT, row));
	}
	expect->next = chunk->first + chunk->n;
}

int chi_expect_step(struct chi_expect *expect, MDB_txn *txn, MDB_dbi columns, uint64_t *steps)
{
	struct chi_columns_reader reader;
	int rc = chi_columns_reader_init(&reader, txn, columns);
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
		chi_expect_fit(expect);
	}
	return rc;
}

bool chi_expect_of(const struct chi_expect *expect, uint32_t white_elo, uint32_t black_elo,
		   uint32_t result, double *points, double *variance)
{
	if (white_elo == 0 || black_elo == 0 || result >= CHI_RESULT_OTHER) {
		return false;
	}
	*points = chi_expect_at(expect, (double)white_elo - (double)black_elo, variance);
	return true;
}

double chi_expect_at(const struct chi_expect *expect, double difference, double *variance)
{
	double d = difference < -FARTHEST  ? -FARTHEST
		   : difference > FARTHEST ? FARTHEST
					   : difference;
	double points = logistic((d + expect->move) * M_LN10 / expect->scale);
	*variance = expect->spread * points * (1 - points);
	return points;
}

int chi_expect_centipawns(uint16_t eval)
{
	int cp = eval - CHI_EVAL_EVEN;
	return cp > CP_MOST ? CP_MOST : cp < -CP_MOST ? -CP_MOST : cp;
}
