/* SPDX-License-Identifier: MIT */
/* Reaches http/api/filter.c with any parameters: what becomes of them is a filter that the store
 * takes or refuses with a reason, and a scan within its bounds. */
#include <string.h>

#include "chistore.h"
#include "http/api/api.h"
#include "tests/fuzz/fuzz.h"

static void check_filter(struct call *call, enum filter_part part)
{
	struct chi_fault fault = {{0}};
	const char *text = NULL;
	call->fault.text[0] = '\0';
	if (filter_of(call, part, &text) < 0) {
		REQUIRE(call->fault.text[0] != '\0');
		return;
	}
	REQUIRE(text != NULL && strlen(text) < CHI_FILTER_TEXT_SIZE);
	if (part == FILTER_ALL && chi_games_filter_check(text, &fault) < 0) {
		REQUIRE(fault.text[0] != '\0');
	}
}

static void check_scan(struct call *call)
{
	struct chi_scan_spec spec;
	call->fault.text[0] = '\0';
	if (filter_scan(call, &spec) < 0) {
		REQUIRE(call->fault.text[0] != '\0');
		return;
	}
	REQUIRE(spec.chi2_min <= spec.chi2_max && spec.chi2_max <= CHI_CHI2_MAX);
	REQUIRE(spec.filter.pieces_max <= 32 && spec.filter.side <= CHI_SIDE_BLACK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct call call = {.arena = {.budget = 1 << 20}, .tags = "", .type_in = ""};
	struct chi_key key;
	if (params_parse(&call.params, (const char *)data, size, &call.arena, &call.fault) ==
	    CHI_OK) {
		check_filter(&call, FILTER_ALL);
		check_filter(&call, FILTER_GAMES);
		check_filter(&call, FILTER_BOARDS);
		check_scan(&call);
		if (call_fen_param(&call, "fen", &key) == CHI_OK) {
			REQUIRE(key.len >= CHI_KEY_MIN && key.len <= CHI_KEY_MAX);
		}
	}
	chi_arena_deinit(&call.arena);
	return 0;
}
