/* SPDX-License-Identifier: MIT */
/* Reaches formats/evals/lichess.h: lines of lichess.org's evaluations. */
#include "formats/evals/lichess.h"
#include "tests/fuzz/evals.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_evals(chi_lichess_read, data, size);
}
