/* SPDX-License-Identifier: MIT */
/* Reaches formats/epd.h: any bytes as a line of EPD. What is accepted must pass the checks a
 * store makes of what it is given. */
#include <string.h>

#include "base/arena.h"
#include "formats/epd.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_arena arena;
	struct chi_put_entry put;
	struct chi_fault fault = {.text = ""};
	chi_arena_init(&arena, (size_t)64 << 20);
	int status = chi_epd_read((const char *)data, size, CHI_EPD_ENGINE, &arena, &put, &fault);
	if (status == CHI_OK) {
		REQUIRE(chi_put_check(&put, CHI_STATISTIC_CONTROL, &fault) == CHI_OK);
		REQUIRE((put.parts & CHI_PUT_EVALS) == 0 || put.record.n_evals == 1);
	} else if (status != CHI_NONE) {
		REQUIRE(status == -CHI_EFEN || status == -CHI_ESYNTAX || status == -CHI_EMOVE ||
			status == -CHI_ETOOBIG);
		REQUIRE(fault.text[0] != '\0');
	}
	chi_arena_deinit(&arena);
	return 0;
}
