/* SPDX-License-Identifier: MIT */
/* The body of the targets that reach formats/evals: any bytes as a line. What is accepted must pass
 * the checks a store makes of what it is given. */
#pragma once

#include "base/arena.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

typedef int fuzz_evals_reader(const char *line, size_t len, const char *engine,
			      struct chi_arena *arena, struct chi_put_entry *put,
			      struct chi_fault *fault);

static inline int fuzz_evals(fuzz_evals_reader *reader, const uint8_t *data, size_t size)
{
	struct chi_arena arena;
	struct chi_put_entry put;
	struct chi_fault fault = {.text = ""};
	chi_arena_init(&arena, (size_t)64 << 20);
	int status = reader((const char *)data, size, "e", &arena, &put, &fault);
	if (status == CHI_OK) {
		REQUIRE(put.record.n_evals > 0);
		REQUIRE(chi_put_check(&put, CHI_STATISTIC_CONTROL, &fault) == CHI_OK);
	} else if (status != CHI_NONE) {
		REQUIRE(status == -CHI_EFEN || status == -CHI_ESYNTAX || status == -CHI_EMOVE ||
			status == -CHI_ETOOBIG);
		REQUIRE(fault.text[0] != '\0');
	}
	chi_arena_deinit(&arena);
	return 0;
}
