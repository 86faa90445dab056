/* SPDX-License-Identifier: MIT */
/*
 * Reaches store/record/codec.h: any bytes as the value of a record. What decodes must encode to the
 * same bytes, and the two short looks must see what the whole decoding sees.
 */
#include <string.h>

#include "base/arena.h"
#include "base/record.h"
#include "store/record/codec.h"
#include "tests/base/expect_row.h"
#include "tests/fuzz/fuzz.h"

static void check_glance(const uint8_t *value, size_t len, const struct chi_record *record)
{
	struct chi_row seen = {0};
	struct chi_row wanted;
	expect_row(record, &wanted);
	REQUIRE(chi_record_decode_strength(value, len, NULL, &seen) == CHI_OK);
	REQUIRE(same_row(&seen, &wanted));
}

static void check(const uint8_t *value, size_t len, struct chi_arena *arena)
{
	static uint8_t again[CHI_RECORD_BYTES_MAX];
	struct chi_record record;
	struct chi_record_rest rest;
	struct chi_counts counts;
	uint16_t chi2;
	size_t n;
	int status = chi_record_decode(value, len, arena, &record, &rest);
	if (status != CHI_OK) {
		struct chi_row seen = {0};
		REQUIRE(status == -CHI_ECORRUPT);
		(void)!chi_record_decode_strength(value, len, NULL, &seen);
		return;
	}
	REQUIRE(chi_record_encode(&record, &rest, again, sizeof(again), &n) == CHI_OK);
	REQUIRE(n == len && memcmp(again, value, n) == 0);
	REQUIRE(chi_record_peek(value, len, &chi2, &counts) == CHI_OK);
	REQUIRE(chi2 == record.chi2 && chi_counts_equal(&counts, &record.counts));
	check_glance(value, len, &record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_arena arena;
	chi_arena_init(&arena, CHI_RECORD_ARENA);
	check(data, size, &arena);
	chi_arena_deinit(&arena);
	return 0;
}
