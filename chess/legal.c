/* SPDX-License-Identifier: MIT */
#include "chess/legal.h"

#include "base/fault.h"
#include "chess/movegen.h"
#include "chess/notation.h"

int chi_record_legal(const struct chi_position *position, const struct chi_record *record,
		     struct chi_fault *fault)
{
	struct chi_fault detail;
	for (size_t i = 0; i < record->n_moves; i++) {
		if (!chi_movegen_is_legal(position, record->moves[i].move)) {
			return chi_fail(fault, -CHI_EMOVE, "moves[%zu]: %#x is not legal", i,
					record->moves[i].move);
		}
	}
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (chi_line_check(position, eval->pv, eval->n_pv, &detail) < 0) {
			return chi_fail(fault, -CHI_EMOVE, "evals[%zu].pv: %s", i, detail.text);
		}
	}
	if (chi_line_check(position, record->line, record->n_line, &detail) < 0) {
		return chi_fail(fault, -CHI_EMOVE, "line: %s", detail.text);
	}
	return CHI_OK;
}
