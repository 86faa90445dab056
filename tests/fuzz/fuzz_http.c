/* SPDX-License-Identifier: MIT */
/* Reaches service/net/http_head.h and params.h: the bytes that a client of chistore-http sends.
 * However they are cut, what is asked for more is asked for no other reason, and texts are text. */
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "service/net/http_head.h"
#include "http/net/params.h"
#include "tests/fuzz/fuzz.h"

static void check_inside(struct chi_slice text, const char *bytes, size_t len)
{
	REQUIRE(text.len == 0 || (text.at >= bytes && text.at + text.len <= bytes + len));
}

static void check_params(struct chi_slice query)
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
	struct chi_http_head head;
	struct chi_http_head again;
	size_t used = 0;
	size_t less = 0;
	int status = chi_http_head_parse(bytes, size, &head, &used, &why);
	REQUIRE(status == 0 || status == 1 || (status >= 400 && status <= 505));
	REQUIRE(status < 400 || why[0] != '\0');
	if (status == 1) {
		REQUIRE(size < CHI_HTTP_HEAD_MAX);
		return 0;
	}
	if (status == 0) {
		REQUIRE(used > 0 && used <= size && used <= CHI_HTTP_HEAD_MAX);
		check_inside(head.path, bytes, used);
		check_inside(head.query, bytes, used);
		check_inside(head.authorization, bytes, used);
		check_inside(head.tags, bytes, used);
		REQUIRE(head.version == 9 || head.version == 10 || head.version == 11);
		/* Less of it is not a whole head. */
		REQUIRE(chi_http_head_parse(bytes, used - 1, &again, &less, &why) != 0);
		(void)chi_http_list_has(head.encodings, "gzip");
		check_params(head.query);
	}
	return 0;
}
