/* SPDX-License-Identifier: MIT */
/* Reaches formats/json_lines.h: any bytes as a line of JSON. What is accepted must pass the checks
 * a store makes of what it is given. */
#include <string.h>

#include "base/arena.h"
#include "formats/json_lines.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_arena arena;
	struct chi_put_entry put;
	struct chi_fault fault = {.text = ""};
	chi_arena_init(&arena, (size_t)64 << 20);
	struct chi_json_lines json = {.engine = "e", .add = size > 0 && data[size - 1] == ' '};
	int status = chi_json_read(&json, (const char *)data, size, &arena, &put, &fault);
	if (status == CHI_OK) {
		REQUIRE(chi_put_check(&put, CHI_STATISTIC_EXTERNAL, &fault) == CHI_OK);
	} else if (status != CHI_NONE) {
		REQUIRE(status == -CHI_EFEN || status == -CHI_ESYNTAX || status == -CHI_EMOVE ||
			status == -CHI_ETOOBIG);
		REQUIRE(fault.text[0] != '\0');
	}
	chi_arena_deinit(&arena);
	return 0;
}
