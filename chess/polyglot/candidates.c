/* SPDX-License-Identifier: MIT */
#include "chess/polyglot/candidates.h"

#include <math.h>
#include <stdlib.h>

#include "chess/position.h"

/* Of the normal distribution, for 95 % between the two ends. */
#define Z 1.96

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t results_of(const struct chi_counts *c)
{
	return add_capped(add_capped(c->white, c->draws), c->black);
}

/* Games without a result count only where no game of the position has one: so are the weights of a
 * book that was imported. */
static struct chi_candidate weigh(const struct chi_counts *c, int side, bool results)
{
	uint64_t wins = side == CHI_WHITE ? c->white : c->black;
	uint64_t games = results ? results_of(c) : c->other;
	uint64_t points = add_capped(add_capped(wins, wins), c->draws);
	double share = !results ? 0.5 : games > 0 ? (double)points / 2 / (double)games : 0;
	return (struct chi_candidate){
		.games = games, .weight = results ? points : games, .share = share};
}

void chi_candidates(const struct chi_counts *played, size_t n, int side, struct chi_candidate *out)
{
	uint64_t games = 0;
	bool results = false;
	for (size_t i = 0; i < n; i++) {
		results = results || results_of(&played[i]) > 0;
	}
	for (size_t i = 0; i < n; i++) {
		out[i] = weigh(&played[i], side, results);
		out[i].index = i;
		games = add_capped(games, out[i].games);
	}
	for (size_t i = 0; i < n; i++) {
		out[i].supported =
			out[i].games >= CHI_SUPPORT_GAMES &&
			(double)out[i].games * 100 >= (double)games * CHI_SUPPORT_PERCENT;
	}
}

double chi_candidate_bound(const struct chi_candidate *candidate)
{
	double n = (double)candidate->games;
	double s = candidate->share;
	return n > 0 ? (s + Z * Z / (2 * n) - Z * sqrt(s * (1 - s) / n + Z * Z / (4 * n * n))) /
			       (1 + Z * Z / n)
		     : 0;
}

/* Equal bounds: the move that was played more, then the earlier one. */
static int by_bound(const void *left, const void *right)
{
	const struct chi_candidate *a = left;
	const struct chi_candidate *b = right;
	double x = chi_candidate_bound(a);
	double y = chi_candidate_bound(b);
	if (a->supported != b->supported) {
		return a->supported ? -1 : 1;
	}
	if (x < y || x > y) {
		return x > y ? -1 : 1;
	}
	return a->games != b->games ? (a->games > b->games ? -1 : 1)
				    : (a->index > b->index) - (a->index < b->index);
}

size_t chi_candidates_rank(struct chi_candidate *all, size_t n)
{
	size_t supported = 0;
	qsort(all, n, sizeof(*all), by_bound);
	while (supported < n && all[supported].supported) {
		supported++;
	}
	return supported;
}

static double chance_of(const struct chi_candidate *c, double variety)
{
	return c->weight > 0 ? (double)c->weight * pow((double)c->games, -variety) : 0;
}

const struct chi_candidate *chi_candidates_draw(const struct chi_candidate *all, size_t n,
						double variety, double at)
{
	const struct chi_candidate *drawn = NULL;
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += chance_of(&all[i], variety);
	}
	at *= sum;
	/* The last with a chance stays where rounding left a rest of `at`. */
	for (size_t i = 0; i < n && (drawn == NULL || at >= 0); i++) {
		double chance = chance_of(&all[i], variety);
		drawn = chance > 0 ? &all[i] : drawn;
		at -= chance;
	}
	return drawn;
}
