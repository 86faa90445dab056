/* SPDX-License-Identifier: MIT */
/* What scores mean: chessdb's formulas. The better the best move, the closer to it a good one is.
 */
#include <math.h>
#include <stdlib.h>

#include "http/cdb/cdb.h"

static double logistic(int score, double scale)
{
	return 1 / (1 + exp(-abs(score) / scale));
}

double cdb_throttle(int max)
{
	const double low = -30 - 10 * logistic(-30, 10); /* at -30 */
	if (max >= 75) {
		return max;
	}
	if (max >= -30) {
		double throttle = max - 10 * logistic(max, 10);
		/* From 50 on it rises linearly to the score itself, */
		return max <= 50 ? throttle : throttle + (max - throttle) * (max - 50) / 25.0;
	}
	/* and from -30 down to -50, where no move is good any more. */
	return max > -50 ? -50 + (max + 50) / 20.0 * (low + 50) : -50;
}

double cdb_best(int max)
{
	if (max >= 50) {
		return max;
	}
	if (max >= -30) {
		double best = max - 5 * logistic(max, 20);
		return max > 0 && best < 1 ? 1 : best;
	}
	return max;
}

double cdb_learn(int max)
{
	return max >= 50 ? max : max >= -30 ? max - 40 * logistic(max, 10) : -75;
}

int cdb_rank(int score, int max)
{
	double throttle = cdb_throttle(max);
	return score >= throttle && score >= cdb_best(max) ? 2 : score >= throttle ? 1 : 0;
}

double cdb_winrate(int score)
{
	return 100 / (1 + exp(-score / 330.0));
}

int cdb_score(bool is_mate, int32_t score)
{
	if (!is_mate) {
		return score > CDB_SHORT ? CDB_SHORT : score < -CDB_SHORT ? -CDB_SHORT : score;
	}
	return score > 0 ? CDB_MATE - (2 * score - 1) : -(CDB_MATE + 2 * score);
}

int cdb_back(int score)
{
	return score > CDB_SHORT ? -(score - 1) : score < -CDB_SHORT ? -(score + 1) : -score;
}
