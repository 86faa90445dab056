/* SPDX-License-Identifier: MIT */
/*
 * Games are counted by the entries of the position's list, then those that reached the position
 * after a move by the list of that: of all these lists together, one chunk of columns after the
 * other, and those that had games of the position are not tested again. Where such a list is as
 * long as the move was played no game came by another way, and it is not walked. The rest is as it
 * is without a filter.
 */
#include "search/explore.h"

#include <stdlib.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "search/filter/matcher.h"
#include "search/filter/terms.h"
#include "search/filter/tested.h"

/* What moves have in common but a promotion. */
#define SQUARES_OF(move) ((move)&0xfff)

/* The list of the position after a move, as far as it is not counted. */
struct child {
	struct chi_reached *reached; /* NULL: it is */
	const struct chi_posting *entries;
	size_t n_entries;
	uint32_t last;
	struct chi_counts counts;
};

struct chi_filtered_explore {
	struct chi_read *read;
	struct chi_key key;
	struct chi_terms terms;
	struct chi_matcher *matcher;
	struct chi_tested *tested;
	struct chi_unknown_names unknown;
	struct chi_reached *reached; /* NULL: no game reached the position */
	const struct chi_posting *entries;
	size_t n_entries;
	uint32_t last; /* game that was counted */
	struct chi_counts counts;
	bool has_children;
	uint32_t listed[SQUARES_OF(UINT16_MAX) + 1]; /* entries with such a move, of all games */
	size_t n_moves;
	/* As many are set: clearing all takes longer than most answers. */
	struct chi_move_stat moves[CHI_MOVES_MAX];
	struct child children[CHI_MOVES_MAX]; /* by the move */
};

void chi_filtered_explore_close(struct chi_filtered_explore *explore)
{
	if (explore != NULL) {
		chi_tested_free(explore->tested);
		chi_matcher_free(explore->matcher);
		chi_reached_close(explore->reached);
		for (size_t i = 0; i < explore->n_moves; i++) {
			chi_reached_close(explore->children[i].reached);
		}
		free(explore);
	}
}

static void explore_closep(struct chi_filtered_explore **explore)
{
	chi_filtered_explore_close(*explore);
}

int chi_filtered_explore_open(struct chi_read *read, const struct chi_key *key, const char *filter,
			      size_t len, struct chi_filtered_explore **out,
			      struct chi_fault *fault)
{
	struct chi_matcher_spec spec = {.from = 1, .asked = 1};
	_cleanup_(explore_closep) struct chi_filtered_explore *explore = malloc(sizeof(*explore));
	if (explore == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	memset(explore, 0, offsetof(struct chi_filtered_explore, moves));
	explore->read = read;
	explore->key = *key;
	int rc = chi_terms_parse(filter != NULL ? filter : "", len, &explore->terms, fault);
	if (rc == CHI_OK) {
		rc = chi_reached_open(read, key, 1, &explore->reached);
		rc = rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
	}
	if (explore->reached != NULL) {
		spec.asked = chi_reached_games(explore->reached);
	}
	rc = rc == CHI_OK ? chi_matcher_new(read, &explore->terms, &spec, &explore->matcher, fault)
			  : rc;
	if (rc < 0) {
		return rc;
	}
	chi_matcher_unknown(explore->matcher, &explore->unknown);
	rc = chi_tested_new(explore->matcher, &explore->tested);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	*out = explore;
	explore = NULL;
	return CHI_OK;
}

size_t chi_filtered_explore_memory(const struct chi_filtered_explore *explore)
{
	return sizeof(*explore) + chi_matcher_memory(explore->matcher) +
	       chi_tested_memory(explore->tested);
}

/* ---- Counting ----------------------------------------------------------------------------- */

static void count_result(struct chi_counts *counts, uint32_t result)
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
		explore->children[i] = (struct child){.reached = NULL};
		explore->moves[explore->n_moves++] = (struct chi_move_stat){.move = move};
	}
	return &explore->moves[i].counts;
}

/* An entry: a game counts once, and once for each move that it played. */
static int count_entry(struct chi_filtered_explore *explore, const struct chi_posting *entry,
		       uint64_t *steps)
{
	uint32_t result = 0;
	explore->listed[SQUARES_OF(entry->move)]++;
	int rc = chi_tested_ask(explore->tested, entry->game, steps, &result);
	if (rc != CHI_OK) {
		return rc < 0 ? rc : CHI_OK;
	}
	if (entry->game != explore->last) {
		count_result(&explore->counts, result);
		explore->last = entry->game;
	}
	if (entry->move != 0) {
		struct chi_counts *counts = counts_of(explore, entry->move);
		if (counts == NULL) {
			return -CHI_ECORRUPT;
		}
		count_result(counts, result);
	}
	return CHI_OK;
}

/* The position's own list. CHI_NONE: all of it is counted. */
static int step_position(struct chi_filtered_explore *explore, uint64_t *steps)
{
	int rc = CHI_OK;
	while (rc == CHI_OK && *steps > 0) {
		if (explore->n_entries == 0) {
			rc = chi_reached_next(explore->reached, &explore->entries,
					      &explore->n_entries);
			if (rc != CHI_OK) {
				return rc;
			}
			--*steps;
		}
		for (; rc == CHI_OK && explore->n_entries > 0 && *steps > 0; explore->n_entries--) {
			rc = count_entry(explore, explore->entries++, steps);
		}
	}
	return rc;
}

/* ---- Positions after the moves --------------------------------------------------------------- */

/* The list after a move, unless it has only games that played the move here. */
static int open_child(struct chi_filtered_explore *explore, const struct chi_position *position,
		      size_t i)
{
	struct child *child = &explore->children[i];
	const struct chi_move_stat *move = &explore->moves[i];
	struct chi_position next;
	struct chi_key key;
	child->counts = move->counts;
	if (!chi_movegen_is_legal(position, move->move)) {
		return -CHI_ECORRUPT;
	}
	chi_position_play(position, move->move, &next);
	chi_key_encode(&next, &key);
	int rc = chi_reached_open(explore->read, &key, 1, &child->reached);
	if (rc != CHI_OK) {
		return rc < 0 ? rc : CHI_OK; /* it is not stored */
	}
	if (chi_move_promotion(move->move) == 0 &&
	    chi_reached_entries(child->reached) == explore->listed[SQUARES_OF(move->move)]) {
		chi_reached_close(child->reached);
		child->reached = NULL;
	} else {
		child->counts = (struct chi_counts){0};
	}
	return CHI_OK;
}

static int open_children(struct chi_filtered_explore *explore)
{
	struct chi_position position;
	int rc = chi_key_decode(&explore->key, &position, NULL);
	rc = rc == CHI_OK ? chi_tested_rewind(explore->tested) : rc;
	for (size_t i = 0; rc == CHI_OK && i < explore->n_moves; i++) {
		rc = open_child(explore, &position, i);
	}
	explore->has_children = true;
	return rc;
}

/* The lowest game of all lists; *out is 0 where they are at their ends. */
static int find_lowest(struct chi_filtered_explore *explore, uint32_t *out)
{
	*out = 0;
	for (size_t i = 0; i < explore->n_moves; i++) {
		struct child *child = &explore->children[i];
		if (child->reached == NULL) {
			continue;
		}
		int rc = child->n_entries > 0 ? CHI_OK
					      : chi_reached_next(child->reached, &child->entries,
								 &child->n_entries);
		if (rc < 0) {
			return rc;
		}
		if (rc == CHI_NONE) {
			chi_reached_close(child->reached);
			child->reached = NULL;
		} else if (*out == 0 || child->entries->game < *out) {
			*out = child->entries->game;
		}
	}
	return CHI_OK;
}

/* A child's games below `end`, as far as they are at hand. */
static int count_child(struct chi_filtered_explore *explore, struct child *child, uint64_t end,
		       uint64_t *steps)
{
	int rc = CHI_OK;
	for (; rc >= 0 && child->n_entries > 0 && child->entries->game<end && * steps> 0;
	     child->entries++, child->n_entries--) {
		uint32_t game = child->entries->game;
		uint32_t result = 0;
		if (game != child->last) {
			child->last = game;
			rc = chi_tested_ask(explore->tested, game, steps, &result);
			if (rc == CHI_OK) {
				count_result(&child->counts, result);
			}
		}
	}
	return rc < 0 ? rc : CHI_OK;
}

/* The games of all lists that are in a chunk of columns, and further. CHI_NONE: all are counted. */
static int step_children(struct chi_filtered_explore *explore, uint64_t *steps)
{
	int rc = explore->has_children ? CHI_OK : open_children(explore);
	while (rc == CHI_OK && *steps > 0) {
		uint32_t game = 0;
		uint32_t result = 0;
		rc = find_lowest(explore, &game);
		if (rc < 0 || game == 0) {
			return rc < 0 ? rc : CHI_NONE;
		}
		rc = chi_tested_ask(explore->tested, game, steps, &result);
		uint64_t end = chi_tested_end(explore->tested, game);
		for (size_t i = 0; rc >= 0 && i < explore->n_moves; i++) {
			rc = count_child(explore, &explore->children[i], end, steps);
		}
		rc = rc < 0 ? rc : CHI_OK;
		*steps -= *steps > 0;
	}
	return rc;
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
	rc = explore->has_children ? CHI_NONE : step_position(explore, &steps);
	return rc == CHI_NONE ? step_children(explore, &steps) : rc;
}

/* ---- The answer --------------------------------------------------------------------------- */

static uint64_t games_of(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black + counts->other;
}

/* Most played first, then by the move. */
static int compare_moves(const void *left, const void *right)
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
				struct chi_explored *out, struct chi_fault *fault)
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
			moves[n].played = explore->moves[k].counts;
			if (moves[n].child.found) {
				moves[n].child.counts = explore->children[k].counts;
			}
			n++;
		}
	}
	qsort(moves, n, sizeof(*moves), compare_moves);
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
