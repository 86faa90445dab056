/* SPDX-License-Identifier: MIT */
/*
 * To join findings, each game has a list of those that it is in. A new finding goes over the lists
 * of its own games, and so counts the games that it has in common with each of the others, without
 * looking at any pair that has none.
 */
#include "insight/tested.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buffer.h"

#define NESTED 0.9 /* of the games of the smaller one, or the larger */

struct insight_link {
	uint32_t head;
	uint32_t next;
};

struct insight_head {
	uint64_t games;
	uint64_t both; /* that the new finding has too */
};

uint64_t insight_game_hash(uint32_t number)
{
	return XXH3_64bits(&number, sizeof(number));
}

double insight_two_sided(double z)
{
	return erfc(fabs(z) / M_SQRT2);
}

/* ---- Chances ------------------------------------------------------------------------------ */

static struct insight_chance *chance_at(void *tested, size_t i, size_t size)
{
	return (struct insight_chance *)((char *)tested + i * size);
}

static int compare_games(const void *a, const void *b)
{
	const struct insight_chance *x = a;
	const struct insight_chance *y = b;
	if (x->games_hash != y->games_hash) {
		return x->games_hash < y->games_hash ? -1 : 1;
	}
	return (x->ply > y->ply) - (x->ply < y->ply);
}

size_t insight_join_equal(void *tested, size_t n, size_t size)
{
	size_t kept = 0;
	if (n > 0) {
		qsort(tested, n, size, compare_games);
	}
	for (size_t i = 0; i < n; i++) {
		struct insight_chance *last = chance_at(tested, kept > 0 ? kept - 1 : 0, size);
		struct insight_chance *one = chance_at(tested, i, size);
		if (kept > 0 && last->games_hash == one->games_hash) {
			last->positions += one->positions;
		} else {
			memmove(chance_at(tested, kept++, size), one, size);
		}
	}
	return kept;
}

static int compare_chances(const void *a, const void *b)
{
	const struct insight_chance *x = a;
	const struct insight_chance *y = b;
	if (x->chance < y->chance || x->chance > y->chance) {
		return x->chance < y->chance ? -1 : 1;
	}
	if (x->rank < y->rank || x->rank > y->rank) {
		return x->rank < y->rank ? -1 : 1;
	}
	return (x->games_hash > y->games_hash) - (x->games_hash < y->games_hash);
}

size_t insight_correct(void *tested, size_t n, size_t size, uint32_t fdr)
{
	double least = 1;
	size_t found = 0;
	if (n > 0) {
		qsort(tested, n, size, compare_chances);
	}
	for (size_t i = n; i > 0; i--) {
		struct insight_chance *one = chance_at(tested, i - 1, size);
		double raised = one->chance * (double)n / (double)i;
		least = raised < least ? raised : least;
		one->adjusted = least;
		bool is_found = least <= fdr / 1000.0;
		found = is_found && found == 0 ? i : found;
	}
	return found;
}

/* ---- Joining ------------------------------------------------------------------------------ */

int insight_join_begin(struct insight_join *join, size_t n, bool alike)
{
	*join = (struct insight_join){.alike = alike, .n_links = 1}; /* a link of 0 is none */
	join->newest = calloc(n + 1, sizeof(join->newest[0]));
	return join->newest != NULL ? CHI_OK : -CHI_ENOMEM;
}

int insight_join_game(struct insight_join *join, uint32_t game)
{
	int rc = chi_grow(&join->games, &join->max_games, join->n_games + 1, sizeof(*join->games));
	if (rc != CHI_OK) {
		return rc;
	}
	join->games[join->n_games++] = game;
	for (uint32_t at = join->newest[game]; at != 0; at = join->links[at].next) {
		join->heads[join->links[at].head].both++;
	}
	return CHI_OK;
}

static int add_link(struct insight_join *join, uint32_t game, uint32_t head)
{
	int rc = join->n_links < join->max_links ? CHI_OK
		 : join->n_links < UINT32_MAX	 ? chi_grow(&join->links, &join->max_links,
							    join->n_links + 1, sizeof(*join->links))
						 : -CHI_ENOMEM;
	if (rc == CHI_OK) {
		join->links[join->n_links] = (struct insight_link){head, join->newest[game]};
		join->newest[game] = (uint32_t)join->n_links++;
	}
	return rc;
}

static int add_head(struct insight_join *join, size_t *head)
{
	int rc = chi_grow(&join->heads, &join->max_heads, join->n_heads + 1, sizeof(*join->heads));
	if (rc != CHI_OK) {
		return rc;
	}
	*head = join->n_heads++;
	join->heads[*head] = (struct insight_head){.games = join->n_games};
	for (size_t i = 0; rc == CHI_OK && i < join->n_games; i++) {
		rc = add_link(join, join->games[i], (uint32_t)*head);
	}
	return rc;
}

int insight_join_settle(struct insight_join *join, size_t *head)
{
	size_t first = join->n_heads;
	for (size_t i = join->n_heads; i > 0; i--) {
		struct insight_head *one = &join->heads[i - 1];
		uint64_t least = one->games < join->n_games ? one->games : join->n_games;
		uint64_t most = one->games < join->n_games ? join->n_games : one->games;
		double wanted = NESTED * (double)(join->alike ? most : least);
		first = (double)one->both >= wanted ? i - 1 : first;
		one->both = 0;
	}
	int rc = CHI_OK;
	*head = first;
	if (first == join->n_heads) {
		rc = add_head(join, head);
		rc = rc == CHI_OK ? CHI_NONE : rc;
	}
	join->n_games = 0;
	return rc;
}

void insight_join_end(struct insight_join *join)
{
	free(join->newest);
	free(join->links);
	free(join->heads);
	free(join->games);
	*join = (struct insight_join){.newest = NULL};
}

size_t insight_join_memory(const struct insight_join *join, size_t n)
{
	return join->newest == NULL ? 0
				    : (n + 1) * sizeof(join->newest[0]) +
					      join->max_links * sizeof(join->links[0]) +
					      join->max_heads * sizeof(join->heads[0]) +
					      join->max_games * sizeof(join->games[0]);
}
