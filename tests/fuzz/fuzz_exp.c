/* SPDX-License-Identifier: MIT */
/* Reaches formats/evals/exp.h: any bytes as a file of experience. Every position of a file that is
 * accepted must pass the checks a store makes of what it is given, and every entry is counted once.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/evals/exp.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

static int visit(void *context, const struct chi_put_entry *position)
{
	struct chi_exp_result *seen = context;
	struct chi_eval evals[CHI_EXP_LINES];
	struct chi_fault fault = {.text = ""};
	REQUIRE(position->record.n_evals > 0 && position->record.n_evals <= CHI_EXP_LINES);
	for (size_t i = 0; i < position->record.n_evals; i++) {
		evals[i] = position->record.evals[i];
		evals[i].engine = "me";
		evals[i].engine_len = 2;
		REQUIRE(i == 0 || evals[i].depth <= evals[i - 1].depth);
	}
	const struct chi_put_entry put = {
		.key = position->key,
		.parts = CHI_PUT_EVALS,
		.record = {.evals = evals, .n_evals = position->record.n_evals},
	};
	REQUIRE(chi_put_check(&put, CHI_STATISTIC_CONTROL, &fault) == CHI_OK);
	seen->positions++;
	seen->lines += position->record.n_evals;
	return CHI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_fault fault = {.text = ""};
	struct chi_exp *exp = NULL;
	struct chi_exp_result result;
	struct chi_exp_result seen = {0};
	uint8_t *bytes = malloc(size + 1);
	REQUIRE(bytes != NULL);
	if (size > 0) {
		memcpy(bytes, data, size);
	}
	if (chi_exp_take(bytes, size, &exp, &fault) != CHI_OK) {
		REQUIRE(fault.text[0] != '\0');
		return 0;
	}
	REQUIRE(chi_exp_walk(exp, visit, &seen, NULL, &result) == CHI_OK);
	REQUIRE(seen.positions == result.positions && seen.lines == result.lines);
	REQUIRE(result.entries == size / CHI_EXP_ENTRY ||
		result.entries == (size - 5) / CHI_EXP_ENTRY ||
		result.entries == (size - 26) / CHI_EXP_ENTRY);
	REQUIRE(result.lines + result.illegal + result.unscored + result.repeated +
			result.unplaced ==
		result.entries);
	chi_exp_close(exp);
	return 0;
}
