/* SPDX-License-Identifier: MIT */
/* A book is what games say (chess/polyglot/candidates.h), of the moves that were played often
 * enough. */
#include "uci/book.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/polyglot/candidates.h"
#include "chess/statistic.h"

/* 0..1, the same for the same seed and position; with seed 0 by chance. */
static double chance(int64_t seed, const struct chi_key *key)
{
	uint64_t z = (uint64_t)seed + UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < key->len; i++) {
		z = (z ^ key->bytes[i]) * UINT64_C(0xbf58476d1ce4e5b9);
		z ^= z >> 29;
	}
	if (seed == 0) {
		(void)!getrandom(&z, sizeof(z), GRND_NONBLOCK);
	}
	return (double)(z >> 11) / (double)(UINT64_C(1) << 53);
}

/* Those that may be played to the front; returns how many. */
static size_t keep_playable(const struct chi_uci_options *options,
			    const struct chi_position *position,
			    const struct chi_explored *explored, struct chi_candidate *all,
			    size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (all[i].games >= (uint64_t)options->book_games &&
		    chi_movegen_is_legal(position, explored->moves[all[i].index].move)) {
			all[kept++] = all[i];
		}
	}
	return kept;
}

static void tell_move(const struct chi_position *position, const struct chi_explore_move *move,
		      const struct chi_candidate *c, char *says)
{
	char san[CHI_SAN_SIZE];
	char chi2[CHI_CHI2_TEXT_SIZE] = "-";
	(void)chi_san_print(position, move->move, san);
	if (move->child.found) {
		(void)chi_chi2_print(move->child.chi2, chi2);
	}
	snprintf(says, CHI_BOOK_SAYS, "book: %s, %" PRIu64 " games, %.1f %%, chi-square %s", san,
		 c->games, 100 * c->share, chi2);
}

int chi_book_move(struct chi_client *client, const struct chi_uci_options *options,
		  const struct chi_position *position, chi_move *move, char *says)
{
	struct chi_counts played[CHI_MOVES_MAX];
	struct chi_candidate all[CHI_MOVES_MAX];
	const struct chi_candidate *chosen = NULL;
	struct chi_explored explored;
	struct chi_key key;
	size_t n = 0;
	chi_key_encode(position, &key);
	int rc = chi_explore(client, &key, options->filter, NULL, &explored);
	if (rc != CHI_OK) {
		return rc;
	}
	for (; n < explored.n_moves && n < CHI_MOVES_MAX; n++) {
		played[n] = explored.moves[n].played;
	}
	chi_candidates(played, n, position->side, all);
	n = keep_playable(options, position, &explored, all, n);
	if (options->book == CHI_BOOK_BEST) {
		chosen = chi_candidates_rank(all, n) > 0 ? all : NULL;
	} else {
		chosen = chi_candidates_draw(all, n, (double)options->variety / 100,
					     chance(options->seed, &key));
	}
	if (chosen == NULL) {
		return CHI_NONE;
	}
	*move = explored.moves[chosen->index].move;
	tell_move(position, &explored.moves[chosen->index], chosen, says);
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
