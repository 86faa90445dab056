/* SPDX-License-Identifier: MIT */
/* What all changes have in common. */
#include "ops/change.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "chess/key.h"
#include "store/store.h"

int chi_change_check(const struct chi_change_ops *ops, struct chi_ask *ask, void *request)
{
	return ops->check != NULL ? ops->check(ask, request) : CHI_OK;
}

bool chi_change_is_trial(const struct chi_change_ops *ops, const void *request)
{
	return ops->is_trial != NULL && ops->is_trial(request);
}

int chi_change_explain(const struct chi_write *write, int status, struct chi_fault *fault)
{
	const char *why = chi_write_why(write);
	if (why[0] != '\0') {
		return chi_fail(fault, status, "%s", why);
	}
	return fault->text[0] == '\0' ? chi_fault_plain(fault, status) : status;
}

int chi_change_keys(struct chi_ask *ask, struct chi_positions *positions)
{
	struct chi_key *keys = positions->keys + (positions->n - positions->n_fens);
	for (size_t i = 0; i < positions->n_fens; i++) {
		const struct chi_text *fen = &positions->fens[i];
		int status = chi_key_from_fen(fen->bytes, fen->len, &keys[i], ask->fault);
		if (status < 0) {
			(void)snprintf(ask->place, sizeof(ask->place), "fens[%zu]", i);
			ask->field = ask->place;
			return status;
		}
	}
	return CHI_OK;
}
