/* SPDX-License-Identifier: MIT */
/*
 * What was played from a position and where it led: the position's record, and the positions
 * after all of its legal moves, looked up together. The moves played are in the record; others
 * are delivered if their position is stored, reached by another order of moves.
 */
#include "store/store.h"

#include <stdlib.h>

#include "base/fault.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/openings/openings.h"
#include "store/record/codec.h"

/* One exploration; its memory is the arena's. */
struct work {
	struct chi_position position;
	struct chi_move_list legal; /* ascending */
	struct chi_record record;
	struct chi_key *keys; /* of the positions after `legal`, those that have one; */
	struct chi_row *rows; /* what is stored of these */
	size_t n_keys;
	struct chi_explore_move *moves; /* one for each of `legal`, until those of no interest go */
};

static int compare_explored(const void *left, const void *right)
{
	chi_move a = *(const chi_move *)left;
	chi_move b = *(const chi_move *)right;
	return a < b ? -1 : a > b;
}

static int compare_counts(const struct chi_counts *a, const struct chi_counts *b)
{
	/* Stored counts have a sum that fits; a record where it does not is damaged. */
	uint64_t sum_a = 0;
	uint64_t sum_b = 0;
	(void)chi_counts_total(a, &sum_a);
	(void)chi_counts_total(b, &sum_b);
	return sum_a > sum_b ? -1 : sum_a < sum_b;
}

/* Most played first, then most reached, then by the move. */
static int compare_interest(const void *left, const void *right)
{
	const struct chi_explore_move *a = left;
	const struct chi_explore_move *b = right;
	int order = compare_counts(&a->played, &b->played);
	if (order == 0) {
		order = compare_counts(&a->child.counts, &b->child.counts);
	}
	return order != 0 ? order : compare_explored(&a->move, &b->move);
}

/*
 * The keys after all legal moves. Without a black king there is no key for the positions in which
 * Black is to move: these moves keep a child without a key (length 0), and nothing is looked up.
 */
static void make_children(struct work *work)
{
	bool keyless = work->position.side == CHI_WHITE &&
		       chi_position_king(&work->position, CHI_BLACK) == CHI_NO_SQUARE;
	for (size_t i = 0; i < work->legal.n; i++) {
		struct chi_position next;
		work->moves[i].move = work->legal.moves[i];
		if (!keyless) {
			chi_position_play(&work->position, work->legal.moves[i], &next);
			chi_key_encode(&next, &work->keys[work->n_keys++]);
		}
	}
}

static int take_memory(struct work *work, struct chi_arena *arena)
{
	size_t n = work->legal.n;
	work->keys = chi_arena_array(arena, n, sizeof(*work->keys));
	work->rows = chi_arena_array(arena, n, sizeof(*work->rows));
	work->moves = chi_arena_array(arena, n, sizeof(*work->moves));
	return work->keys != NULL && work->rows != NULL && work->moves != NULL ? CHI_OK
									       : -CHI_ENOMEM;
}

/*
 * Keeps of the legal moves those that were played, with their counts, and those that lead to
 * stored positions. Both lists ascend, so that a move of the record that is not legal is never
 * met, and nothing after it.
 */
static int unite(struct work *work, size_t *n, struct chi_fault *fault)
{
	size_t next = 0; /* of the record's moves */
	*n = 0;
	for (size_t i = 0; i < work->legal.n; i++) {
		struct chi_explore_move move = work->moves[i];
		bool played =
			next < work->record.n_moves && work->record.moves[next].move == move.move;
		if (played) {
			move.played = work->record.moves[next++].counts;
		}
		if (work->n_keys > 0) {
			move.child = work->rows[i];
		}
		if (played || move.child.found) {
			chi_opening_find(&move.child.key, &move.eco, &move.opening);
			work->moves[(*n)++] = move;
		}
	}
	if (next < work->record.n_moves) {
		return chi_fail(fault, -CHI_ECORRUPT,
				"the record has move %u, which is not legal in its position",
				(unsigned)work->record.moves[next].move);
	}
	return CHI_OK;
}

/* Everything that is read, from one snapshot. */
static int read_snapshot(void *context, const struct chi_explore_reading *reading,
			 struct chi_fault *fault)
{
	struct chi_read *read = context;
	int status = chi_read_record(read, reading->key, reading->arena, reading->record);
	if (status >= 0) {
		status = chi_read_rows(read, reading->key, 1, reading->position);
	}
	if (status < 0) {
		return chi_fail(fault, status, "cannot read the position's record (%s)",
				chi_strerror(status));
	}
	status = chi_read_rows(read, reading->keys, reading->n, reading->rows);
	if (status < 0) {
		return chi_fail(fault, status, "cannot read the record of a position after it (%s)",
				chi_strerror(status));
	}
	return CHI_OK;
}

int chi_read_explore(struct chi_read *read, const struct chi_key *key, struct chi_arena *arena,
		     struct chi_explored *out, struct chi_fault *fault)
{
	return chi_explore_by(read_snapshot, read, key, arena, out, fault);
}

int chi_explore_by(chi_explore_read *read, void *context, const struct chi_key *key,
		   struct chi_arena *arena, struct chi_explored *out, struct chi_fault *fault)
{
	struct work work = {.n_keys = 0};
	*out = (struct chi_explored){.position.key = *key, .min_ply = -1};
	int status = chi_key_decode(key, &work.position, fault);
	if (status < 0) {
		return status;
	}
	chi_movegen_legal(&work.position, &work.legal);
	qsort(work.legal.moves, work.legal.n, sizeof(*work.legal.moves), compare_explored);
	status = take_memory(&work, arena);
	if (status < 0) {
		return chi_fault_plain(fault, status);
	}
	make_children(&work);
	const struct chi_explore_reading reading = {.key = key,
						    .arena = arena,
						    .record = &work.record,
						    .position = &out->position,
						    .keys = work.keys,
						    .n = work.n_keys,
						    .rows = work.rows};
	status = read(context, &reading, fault);
	if (status < 0) {
		return status;
	}
	if (work.record.n_plies > 0) {
		out->min_ply = work.record.plies[0].ply;
	}
	size_t n = 0;
	status = unite(&work, &n, fault);
	if (status < 0) {
		return status;
	}
	qsort(work.moves, n, sizeof(*work.moves), compare_interest);
	out->moves = work.moves;
	/* Only placements that no game reaches have more; the least of them go. */
	out->n_moves = n < CHI_MOVES_MAX ? n : CHI_MOVES_MAX;
	chi_opening_find(key, &out->eco, &out->opening);
	return CHI_OK;
}
