/* SPDX-License-Identifier: MIT */
/* Games are counted by the entries of the position's list; the rest is as it is without a filter.
 */
#include "search/explore.h"

#include <stdlib.h>

#include "base/attr.h"
#include "base/fault.h"
#include "search/filter/matcher.h"
#include "search/filter/terms.h"

struct chi_filtered_explore {
	struct chi_read *read;
	struct chi_key key;
	struct chi_terms terms;
	struct chi_matcher *matcher;
	struct chi_unknown_names unknown;
	struct chi_reached *reached; /* NULL: no game reached the position */
	const struct chi_posting *entries;
	size_t n_entries;
	uint32_t last; /* game that was counted */
	struct chi_counts counts;
	size_t n_moves;
	struct chi_move_stat moves[CHI_MOVES_MAX];
};

void chi_filtered_explore_close(struct chi_filtered_explore *explore)
{
	if (explore != NULL) {
		chi_matcher_free(explore->matcher);
		chi_reached_close(explore->reached);
		free(explore);
	}
}

static void closep(struct chi_filtered_explore **explore)
{
	chi_filtered_explore_close(*explore);
}

int chi_filtered_explore_open(struct chi_read *read, const struct chi_key *key, const char *filter,
			      size_t len, struct chi_filtered_explore **out,
			      struct chi_fault *fault)
{
	const struct chi_matcher_spec spec = {.from = 1, .asked = true};
	_cleanup_(closep) struct chi_filtered_explore *explore = calloc(1, sizeof(*explore));
	if (explore == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	explore->read = read;
	explore->key = *key;
	int rc = chi_terms_parse(filter != NULL ? filter : "", len, &explore->terms, fault);
	rc = rc == CHI_OK ? chi_matcher_new(read, &explore->terms, &spec, &explore->matcher, fault)
			  : rc;
	if (rc < 0) {
		return rc;
	}
	chi_matcher_unknown(explore->matcher, &explore->unknown);
	rc = chi_reached_open(read, key, 1, &explore->reached);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	*out = explore;
	explore = NULL;
	return CHI_OK;
}

size_t chi_filtered_explore_memory(const struct chi_filtered_explore *explore)
{
	return sizeof(*explore) + chi_matcher_memory(explore->matcher);
}

/* ---- Counting ----------------------------------------------------------------------------- */

static void count(struct chi_counts *counts, uint32_t result)
{
	switch (result) {
	case CHI_RESULT_WHITE:
		counts->white++;
		break;
	case CHI_RESULT_DRAW:
		counts->draws++;
		break;
	case CHI_RESULT_BLACK:
		counts->black++;
		break;
	default:
		counts->other++;
		break;
	}
}

/* The counts of a move; there are no more moves than a record may have. */
static struct chi_counts *counts_of(struct chi_filtered_explore *explore, chi_move move)
{
	size_t i = 0;
	while (i < explore->n_moves && explore->moves[i].move != move) {
		i++;
	}
	if (i == CHI_MOVES_MAX) {
		return NULL;
	}
	if (i == explore->n_moves) {
		explore->moves[explore->n_moves++] = (struct chi_move_stat){.move = move};
	}
	return &explore->moves[i].counts;
}

/* An entry: a game counts once, and once for each move that it played. */
static int count_entry(struct chi_filtered_explore *explore, const struct chi_posting *entry,
		       uint64_t *steps)
{
	uint32_t row = 0;
	int rc = chi_matcher_ask(explore->matcher, entry->game, steps, &row);
	if (rc != CHI_OK) {
		return rc < 0 ? rc : CHI_OK;
	}
	const struct chi_columns_chunk *chunk = chi_matcher_chunk(explore->matcher);
	uint32_t result = chi_column_value(chunk, CHI_COLUMN_RESULT, row);
	if (entry->game != explore->last) {
		count(&explore->counts, result);
		explore->last = entry->game;
	}
	if (entry->move != 0) {
		struct chi_counts *counts = counts_of(explore, entry->move);
		if (counts == NULL) {
			return -CHI_ECORRUPT;
		}
		count(counts, result);
	}
	return CHI_OK;
}

int chi_filtered_explore_step(struct chi_filtered_explore *explore, uint64_t steps)
{
	if (explore->reached == NULL) {
		return CHI_NONE;
	}
	int rc = chi_matcher_prepare(explore->matcher, &steps);
	if (rc != CHI_OK) {
		return rc < 0 ? rc : CHI_OK;
	}
	while (rc == CHI_OK && steps > 0) {
		if (explore->n_entries == 0) {
			rc = chi_reached_next(explore->reached, &explore->entries,
					      &explore->n_entries);
			if (rc != CHI_OK) {
				return rc;
			}
			steps--;
		}
		for (; rc == CHI_OK && explore->n_entries > 0 && steps > 0; explore->n_entries--) {
			rc = count_entry(explore, explore->entries++, &steps);
		}
	}
	return rc;
}

/* ---- The answer --------------------------------------------------------------------------- */

static uint64_t games_of(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black + counts->other;
}

/* Most played first, then by the move. */
static int compare(const void *left, const void *right)
{
	const struct chi_explore_move *a = left;
	const struct chi_explore_move *b = right;
	uint64_t games_a = games_of(&a->played);
	uint64_t games_b = games_of(&b->played);
	if (games_a != games_b) {
		return games_a > games_b ? -1 : 1;
	}
	return a->move < b->move ? -1 : a->move > b->move;
}

int chi_filtered_explore_result(struct chi_filtered_explore *explore, struct chi_arena *arena,
				struct chi_explore *out, struct chi_fault *fault)
{
	size_t n = 0;
	int rc = chi_read_explore(explore->read, &explore->key, arena, out, fault);
	if (rc < 0) {
		return rc;
	}
	struct chi_explore_move *moves = chi_arena_array(arena, out->n_moves, sizeof(*moves));
	if (moves == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	for (size_t i = 0; i < out->n_moves; i++) {
		size_t k = 0;
		while (k < explore->n_moves && explore->moves[k].move != out->moves[i].move) {
			k++;
		}
		if (k < explore->n_moves) {
			moves[n] = out->moves[i];
			moves[n++].played = explore->moves[k].counts;
		}
	}
	qsort(moves, n, sizeof(*moves), compare);
	out->moves = moves;
	out->n_moves = n;
	out->position.counts = explore->counts;
	out->min_ply = -1;
	return CHI_OK;
}

const char *chi_filtered_explore_unknown(const struct chi_filtered_explore *explore, size_t i)
{
	return i < explore->unknown.n ? explore->unknown.name[i] : NULL;
}
