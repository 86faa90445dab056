/* SPDX-License-Identifier: MIT */
/* Reaches http/net/head.h and params.h: the bytes that a client of chistore-http sends. However
 * they are cut, what is asked for more is asked for no other reason, and texts are text. */
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "http/net/head.h"
#include "http/net/params.h"
#include "tests/fuzz/fuzz.h"

static void check_inside(struct text text, const char *bytes, size_t len)
{
	REQUIRE(text.len == 0 || (text.at >= bytes && text.at + text.len <= bytes + len));
}

static void check_params(struct text query)
{
	struct chi_arena arena = {.budget = 1 << 20};
	struct params params = {.n = 0};
	struct chi_fault fault = {{0}};
	int status = params_parse(&params, query.at, query.len, &arena, &fault);
	REQUIRE(status == CHI_OK || fault.text[0] != '\0');
	REQUIRE(params.n <= PARAMS_MAX);
	for (size_t i = 0; i < params.n; i++) {
		REQUIRE(chi_utf8_valid(params.list[i].name, strlen(params.list[i].name)));
		REQUIRE(chi_utf8_valid(params.list[i].value, strlen(params.list[i].value)));
		(void)params_get(&params, params.list[i].name);
		(void)params_flag(&params, params.list[i].name);
	}
	chi_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	const char *why = NULL;
	struct head head;
	struct head again;
	size_t used = 0;
	size_t less = 0;
	int status = head_parse(bytes, size, &head, &used, &why);
	REQUIRE(status == 0 || status == 1 || (status >= 400 && status <= 505));
	REQUIRE(status < 400 || why[0] != '\0');
	if (status == 1) {
		REQUIRE(size < HEAD_MAX);
		return 0;
	}
	if (status == 0) {
		REQUIRE(used > 0 && used <= size && used <= HEAD_MAX);
		check_inside(head.path, bytes, used);
		check_inside(head.query, bytes, used);
		check_inside(head.authorization, bytes, used);
		check_inside(head.tags, bytes, used);
		REQUIRE(head.version == 9 || head.version == 10 || head.version == 11);
		/* Less of it is not a whole head. */
		REQUIRE(head_parse(bytes, used - 1, &again, &less, &why) != 0);
		(void)head_list_has(head.encodings, "gzip");
		check_params(head.query);
	}
	return 0;
}
