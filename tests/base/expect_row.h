/* SPDX-License-Identifier: MIT */
/* What a probe tells of a record, by the rules of chistore/types.h, written out once more. */
#pragma once

#include "chistore/types.h"

static inline void expect_best(struct chi_row *out, chi_move move, enum chi_best source)
{
	out->best = move;
	out->best_source = (uint8_t)source;
}

/* All but the key. */
static inline void expect_row(const struct chi_record *record, struct chi_row *out)
{
	const struct chi_eval *deepest = NULL;
	uint64_t most = 0;
	*out = (struct chi_row){.found = true, .chi2 = record->chi2, .counts = record->counts};
	for (size_t i = 0; i < record->n_moves; i++) {
		const struct chi_counts *c = &record->moves[i].counts;
		if (c->white + c->draws + c->black + c->other > most) {
			most = c->white + c->draws + c->black + c->other;
			expect_best(out, record->moves[i].move, CHI_BEST_PLAYED);
		}
	}
	if (record->n_line > 0) {
		expect_best(out, record->line[0], CHI_BEST_LINE);
	}
	/* From the end: of equal ones the first wins. */
	for (size_t i = record->n_evals; i-- > 0;) {
		const struct chi_eval *eval = &record->evals[i];
		if (eval->rank == 0 &&
		    (deepest == NULL || eval->depth > deepest->depth ||
		     (eval->depth == deepest->depth && eval->date >= deepest->date))) {
			deepest = eval;
		}
	}
	if (deepest == NULL) {
		return;
	}
	out->has_eval = true;
	out->is_mate = deepest->is_mate;
	out->depth = (uint16_t)deepest->depth;
	out->score = deepest->score;
	if (deepest->n_pv > 0) {
		expect_best(out, deepest->pv[0], CHI_BEST_EVAL);
	}
}

static inline bool same_row(const struct chi_row *a, const struct chi_row *b)
{
	return a->found == b->found && a->has_eval == b->has_eval && a->is_mate == b->is_mate &&
	       a->chi2 == b->chi2 && a->depth == b->depth && a->score == b->score &&
	       a->best == b->best && a->best_source == b->best_source &&
	       a->counts.white == b->counts.white && a->counts.draws == b->counts.draws &&
	       a->counts.black == b->counts.black && a->counts.other == b->counts.other;
}
