/* SPDX-License-Identifier: MIT */
/* Tests of columns, whose loops take 64 rows at a time, against one row at a time: columns of all
 * widths and lengths, and bounds below, within and above what a column can have. */
#include "search/filter/tester.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define CHUNKS 20000

static const uint32_t masks[] = {0, 0xff, 0xffff, 0xffffff, 0xffffffff};
static struct seed seed;

static uint32_t below(uint32_t bound)
{
	return (uint32_t)seed_below(&seed, bound);
}

/* A column of random numbers; no more bytes are there than a chunk has after its last row. */
static uint8_t *make_column(struct chi_columns_chunk *chunk, enum chi_column column, uint32_t width,
			    uint32_t base, uint32_t most)
{
	uint8_t *bytes = malloc((size_t)width * chunk->n + 4);
	assert_non_null(bytes);
	memset(bytes, 0, (size_t)width * chunk->n + 4);
	for (uint32_t i = 0; i < chunk->n; i++) {
		uint32_t value = below(most) & masks[width];
		memcpy(bytes + (size_t)i * width, &value, width);
	}
	chunk->columns[column] = (struct chi_column_span){bytes, base, masks[width], width};
	return bytes;
}

static void check_term(const char *filter, const struct chi_columns_chunk *chunk,
		       enum chi_column column)
{
	static struct chi_terms terms;
	struct chi_tester *tester;
	struct chi_hits hits;
	assert_int_equal(chi_terms_parse(filter, strlen(filter), &terms, NULL), CHI_OK);
	assert_int_equal(chi_tester_new(NULL, &terms, &tester), CHI_OK);
	const struct chi_term *term = &terms.term[0];
	chi_tester_run(tester, 0, chunk, &hits);
	uint64_t n = 0;
	for (uint32_t i = 0; i < 64 * CHI_HIT_WORDS; i++) {
		uint32_t value = i < chunk->n ? chi_column_value(chunk, column, i) : 0;
		bool wanted = term->kind == CHI_TERM_RESULT
				      ? (term->set >> (value & 31) & 1) != 0
				      : value >= term->min && value <= term->max;
		wanted = i < chunk->n && wanted != term->negated;
		n += wanted;
		if ((hits.words[i / 64] >> (i % 64) & 1) != wanted) {
			fail_msg("%s: row %u of %u has %u", filter, i, chunk->n, value);
		}
	}
	assert_int_equal(chi_hits_count(&hits), n);
	chi_tester_free(tester);
}

CASE(ranges_of_columns_of_all_widths)
{
	char filter[64];
	seed = seed_start("tester");
	for (size_t round = seed_rounds(CHUNKS); round > 0; round--) {
		struct chi_columns_chunk chunk = {.first = 1, .n = 1 + below(CHI_COLUMNS_ROWS)};
		uint32_t width = below(5);
		uint32_t base = below(2) * below(1000);
		uint32_t most = below(2) == 0 ? 70 : 70000;
		uint8_t *bytes = make_column(&chunk, CHI_COLUMN_PLIES, width, base, most);
		uint32_t from = below(2) == 0 ? below(1200) : below(65536);
		uint32_t to = from + (below(3) == 0 ? 0 : below(65536 - from));
		(void)snprintf(filter, sizeof(filter), "%splies %u..%u",
			       below(2) == 0 ? "not " : "", from, to);
		check_term(filter, &chunk, CHI_COLUMN_PLIES);
		free(bytes);
	}
}

CASE(sets_are_unions_of_ranges)
{
	static const char *const filters[] = {"result 1-0", "result 0-1", "result 1-0,0-1",
					      "result 1-0,1/2-1/2,*", "not result 1/2-1/2"};
	seed = seed_start("tester");
	for (uint32_t n = 1; n <= 200; n++) {
		struct chi_columns_chunk chunk = {.first = 1, .n = n};
		uint8_t *bytes = make_column(&chunk, CHI_COLUMN_RESULT, n % 4 != 0, 0, 4);
		for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
			check_term(filters[i], &chunk, CHI_COLUMN_RESULT);
		}
		free(bytes);
	}
}
