/* SPDX-License-Identifier: MIT */
/*
 * Taking games out of a record again: the exact inverse of adding them. What is not there cannot be
 * taken away; the fault names the part, since a wrong subtraction is nearly always a
 * game that was never added.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/fault.h"
#include "base/arena.h"
#include "store/record/codec.h"
#include "store/record/merge.h"
#include "store/record/record_priv.h"

static const char *const result_names[] = {"White's wins", "draws", "Black's wins",
					   "games without result"};

/* `what` says whose counts these are. */
static int take_counts(struct chi_counts *counts, const struct chi_counts *less, const char *what,
		       struct chi_fault *fault)
{
	struct chi_counts given = *less;
	for (unsigned i = 0; i < CHI_COUNT(result_names); i++) {
		uint64_t *have = chi_counts_of(counts, i);
		uint64_t take = *chi_counts_of(&given, i);
		if (take > *have) {
			return chi_fail(fault, -CHI_EINVAL,
					"%s: %" PRIu64 " %s to subtract, %" PRIu64 " are there",
					what, take, result_names[i], *have);
		}
		*have -= take;
	}
	return CHI_OK;
}

static bool no_games(const struct chi_counts *counts)
{
	return chi_counts_equal(counts, &(struct chi_counts){0});
}

/* Both lists ascend by move. */
static int take_moves(const struct chi_record *less, struct chi_arena *arena,
		      struct chi_record *out, struct chi_fault *fault)
{
	struct chi_move_stat *moves = chi_arena_array(arena, out->n_moves + 1, sizeof(*moves));
	if (moves == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	size_t n = 0;
	size_t j = 0;
	for (size_t i = 0; i < out->n_moves; i++) {
		moves[n] = out->moves[i];
		while (j < less->n_moves && less->moves[j].move < moves[n].move &&
		       no_games(&less->moves[j].counts)) {
			j++;
		}
		if (j == less->n_moves || less->moves[j].move != moves[n].move) {
			n++;
			continue;
		}
		char what[16];
		(void)snprintf(what, sizeof(what), "move %#x", moves[n].move);
		int rc = take_counts(&moves[n].counts, &less->moves[j++].counts, what, fault);
		if (rc < 0) {
			return rc;
		}
		n += !no_games(&moves[n].counts);
	}
	for (; j < less->n_moves; j++) {
		if (!no_games(&less->moves[j].counts)) {
			return chi_fail(fault, -CHI_EINVAL, "move %#x to subtract was not played",
					less->moves[j].move);
		}
	}
	out->moves = moves;
	out->n_moves = n;
	return CHI_OK;
}

/* Both lists ascend by ply. */
static int take_plies(const struct chi_record *less, struct chi_arena *arena,
		      struct chi_record *out, struct chi_fault *fault)
{
	struct chi_ply_stat *plies = chi_arena_array(arena, out->n_plies + 1, sizeof(*plies));
	if (plies == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	size_t n = 0;
	size_t j = 0;
	for (size_t i = 0; i < out->n_plies; i++) {
		plies[n] = out->plies[i];
		if (j < less->n_plies && less->plies[j].ply == plies[n].ply) {
			if (less->plies[j].games > plies[n].games) {
				break;
			}
			plies[n].games -= less->plies[j++].games;
		}
		n += plies[n].games > 0;
	}
	if (j < less->n_plies) {
		return chi_fail(fault, -CHI_EINVAL,
				"ply %u: %" PRIu64 " games to subtract, fewer are there",
				less->plies[j].ply, less->plies[j].games);
	}
	out->plies = plies;
	out->n_plies = n;
	return CHI_OK;
}

int chi_subtract(const struct chi_record *less, struct chi_arena *arena, struct chi_record *out,
		 struct chi_fault *fault)
{
	int rc = take_counts(&out->counts, &less->counts, "counts", fault);
	if (rc == CHI_OK) {
		rc = take_moves(less, arena, out, fault);
	}
	if (rc == CHI_OK) {
		rc = take_plies(less, arena, out, fault);
	}
	if (rc == CHI_OK && !chi_plies_ok(out->plies, out->n_plies, &out->counts)) {
		rc = chi_fail(fault, -CHI_EINVAL,
			      "plies: more games than are left have a stored ply");
	}
	return rc;
}

bool chi_record_bare(const struct chi_record *record, const struct chi_record_rest *rest,
		     enum chi_statistic statistic)
{
	bool told = statistic == CHI_STATISTIC_EXTERNAL && record->chi2 != CHI_CHI2_UNKNOWN;
	return !told && no_games(&record->counts) && record->n_moves == 0 && record->n_plies == 0 &&
	       record->n_evals == 0 && record->n_line == 0 && record->n_note == 0 &&
	       rest->len == 0 && rest->n_games == 0 && rest->listed == 0;
}
