/* SPDX-License-Identifier: MIT */
/* Reaches formats/evals/cdb.h: lines of chessdb.cn's scores. */
#include "formats/evals/cdb.h"
#include "tests/fuzz/evals.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_evals(chi_cdb_read, data, size);
}
