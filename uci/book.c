/* SPDX-License-Identifier: MIT */
/*
 * A book is what games say. Of a move played in n games with the share s of the points, "best"
 * takes the one whose share is surely high: s less two standard errors, with ten drawn games more,
 * so that some lucky games do not win. "weighted" draws: a move's chance is its games to the power
 * 1 - variety / 100, times its share.
 */
#include "uci/book.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/statistic.h"

#define DRAWS_MORE 10

struct candidate {
	const struct chi_explore_move *move;
	double games;
	double share; /* of the points, for the side to move */
};

static struct candidate candidate_of(const struct chi_explore_move *move, uint8_t side)
{
	const struct chi_counts *c = &move->played;
	double games = (double)c->white + (double)c->draws + (double)c->black;
	double points = (double)(side == CHI_WHITE ? c->white : c->black) + (double)c->draws / 2;
	return (struct candidate){move, games, games > 0 ? points / games : 0};
}

static double surely(const struct candidate *c)
{
	double n = c->games + DRAWS_MORE;
	double share = (c->share * c->games + 0.5 * DRAWS_MORE) / n;
	return share - 2 * sqrt(share * (1 - share) / n);
}

/* 0..1, the same for the same seed and position. */
static double chance(int64_t seed, const struct chi_key *key)
{
	uint64_t z = (uint64_t)seed + UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < key->len; i++) {
		z = (z ^ key->bytes[i]) * UINT64_C(0xbf58476d1ce4e5b9);
		z ^= z >> 29;
	}
	return (double)(z >> 11) / (double)(UINT64_C(1) << 53);
}

static double weight(const struct candidate *c, int64_t variety)
{
	return pow(c->games, 1 - (double)variety / 100) * (c->share + 0.01);
}

static const struct candidate *draw(const struct candidate *all, size_t n, int64_t variety,
				    double at)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += weight(&all[i], variety);
	}
	for (size_t i = 0; i < n; i++) {
		at -= weight(&all[i], variety) / sum;
		if (at < 0) {
			return &all[i];
		}
	}
	return &all[n - 1];
}

static const struct candidate *best_of(const struct candidate *all, size_t n)
{
	const struct candidate *best = all;
	for (size_t i = 1; i < n; i++) {
		best = surely(&all[i]) > surely(best) ? &all[i] : best;
	}
	return best;
}

static void tell(const struct chi_position *position, const struct candidate *c, char *says)
{
	char san[CHI_SAN_SIZE];
	char chi2[CHI_CHI2_TEXT_SIZE] = "-";
	(void)chi_san_print(position, c->move->move, san);
	if (c->move->child.found) {
		(void)chi_num_chi2_print(c->move->child.chi2, chi2);
	}
	snprintf(says, CHI_BOOK_SAYS, "book: %s, %.0f games, %.1f %%, chi-square %s", san, c->games,
		 100 * c->share, chi2);
}

int chi_book_move(struct chi_client *client, const struct chi_uci_options *options,
		  const struct chi_position *position, chi_move *move, char *says)
{
	struct candidate all[CHI_MOVES_MAX];
	struct chi_explore explored;
	struct chi_key key;
	size_t n = 0;
	chi_key_encode(position, &key);
	int rc = options->filter[0] != '\0'
			 ? chi_explore_filtered(client, &key, options->filter, &explored)
			 : chi_explore(client, &key, &explored);
	if (rc != CHI_OK) {
		return rc;
	}
	for (size_t i = 0; i < explored.n_moves && n < CHI_MOVES_MAX; i++) {
		all[n] = candidate_of(&explored.moves[i], position->side);
		n += all[n].games >= (double)options->book_games &&
		     chi_movegen_is_legal(position, explored.moves[i].move);
	}
	if (n == 0) {
		return CHI_NONE;
	}
	const struct candidate *chosen =
		options->book == CHI_BOOK_BEST
			? best_of(all, n)
			: draw(all, n, options->variety, chance(options->seed, &key));
	*move = chosen->move->move;
	tell(position, chosen, says);
	return CHI_OK;
}

int chi_book_answer(struct chi_client *client, const struct chi_position *position, uint32_t depth,
		    const struct chi_eval **out)
{
	struct chi_key key;
	struct chi_record record;
	chi_key_encode(position, &key);
	int rc = chi_get(client, &key, &record);
	*out = NULL;
	for (size_t i = 0; rc == CHI_OK && i < record.n_evals; i++) {
		const struct chi_eval *eval = &record.evals[i];
		if (eval->rank == 0 && eval->depth >= depth && eval->n_pv > 0 &&
		    chi_movegen_is_legal(position, eval->pv[0]) &&
		    (*out == NULL || eval->depth > (*out)->depth)) {
			*out = eval;
		}
	}
	return rc != CHI_OK ? rc : *out != NULL ? CHI_OK : CHI_NONE;
}
