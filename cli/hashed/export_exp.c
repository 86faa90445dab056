/* SPDX-License-Identifier: MIT */
#include "cli/hashed/export_exp.h"

#include <inttypes.h>
#include <stdlib.h>

#include "chess/key.h"
#include "chess/movegen.h"
#include "formats/evals/exp.h"
#include "formats/evals/stockfish.h"

struct export_exp {
	struct chi_sf_keys keys;
	uint64_t bare; /* evaluations without a move or a depth */
};

struct export_exp *export_exp_new(void)
{
	struct export_exp *exp = calloc(1, sizeof(*exp));
	if (exp != NULL) {
		chi_sf_keys_init(&exp->keys);
	}
	return exp;
}

void export_exp_free(struct export_exp *exp)
{
	free(exp);
}

void export_exp_tell(const struct export_exp *exp)
{
	if (exp->bare > 0) {
		cli_message("%" PRIu64 " evaluations have no move or no depth: left out",
			    exp->bare);
	}
}

static bool is_bare(const struct chi_eval *eval)
{
	return eval->n_pv == 0 || eval->depth == 0;
}

/* Another of the same move is deeper, or as deep and before it. */
static bool is_beaten(const struct chi_record *record, size_t i)
{
	const struct chi_eval *eval = &record->evals[i];
	for (size_t k = 0; k < record->n_evals; k++) {
		const struct chi_eval *other = &record->evals[k];
		if (k != i && !is_bare(other) && other->pv[0] == eval->pv[0] &&
		    (other->depth > eval->depth || (other->depth == eval->depth && k < i))) {
			return true;
		}
	}
	return false;
}

int export_exp_add(struct export_exp *exp, struct target *target, const struct chi_key *key,
		   const struct chi_record *record)
{
	struct chi_position position;
	uint8_t entry[CHI_EXP_ENTRY];
	int code = EXIT_DONE;
	int status = record->n_evals > 0 ? chi_key_decode(key, &position, NULL) : CHI_OK;
	for (size_t i = 0; status == CHI_OK && code == EXIT_DONE && i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (is_bare(eval)) {
			exp->bare++;
		} else if (!chi_movegen_is_legal(&position, eval->pv[0])) {
			status = -CHI_ECORRUPT;
		} else if (!is_beaten(record, i)) {
			chi_exp_pack(&exp->keys, &position, eval, entry);
			code = target_write(target, entry, sizeof(entry));
		}
	}
	if (status != CHI_OK) {
		cli_message("cannot write a record (%s)", chi_strerror(status));
		return EXIT_STORE;
	}
	return code;
}
