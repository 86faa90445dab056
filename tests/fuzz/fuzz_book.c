/* SPDX-License-Identifier: MIT */
/* Reaches formats/polyglot.h: any bytes as a Polyglot book. Every position of a book that is
 * accepted must pass the checks a store makes of what it is given, and come once. */
#include <stdlib.h>
#include <string.h>

#include "formats/polyglot.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

static int visit(void *context, const struct chi_put_entry *put)
{
	uint64_t *n = context;
	uint64_t weight = 0;
	struct chi_fault fault = {.text = ""};
	REQUIRE(put->record.n_moves > 0);
	for (size_t i = 0; i < put->record.n_moves; i++) {
		weight += put->record.moves[i].counts.other;
	}
	REQUIRE(put->parts == CHI_PUT_ADD && weight == put->record.counts.other);
	REQUIRE(chi_put_check(put, CHI_STATISTIC_CONTROL, &fault) == CHI_OK);
	++*n;
	return CHI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_fault fault = {.text = ""};
	struct chi_book *book = NULL;
	struct chi_book_result result;
	uint64_t n = 0;
	uint8_t *bytes = malloc(size + 1);
	REQUIRE(bytes != NULL);
	if (size > 0) {
		memcpy(bytes, data, size);
	}
	int status = chi_book_take(bytes, size, &book, &fault);
	REQUIRE(status == CHI_OK);
	REQUIRE(chi_book_walk(book, visit, &n, NULL, &result) == CHI_OK);
	REQUIRE(n == result.positions && result.entries == size / 16);
	REQUIRE(result.moves + result.illegal + result.weightless + result.unreachable <=
		result.entries);
	chi_book_close(book);
	return 0;
}
