/* SPDX-License-Identifier: MIT */
/* Packed rows: the bytes of PROTOCOL.md, and that nothing else passes for rows. */
#include <string.h>

#include "base/num.h"
#include "proto/rows.h"
#include "tests/base/cases.h"

#define BUDGET ((size_t)16 << 20)

static struct chi_arena arena;
static struct chi_row *rows;
static bool counted;
static struct chi_flaw flaw;

static int init(void **state)
{
	(void)state;
	chi_arena_init(&arena, BUDGET);
	return 0;
}

static int deinit(void **state)
{
	(void)state;
	chi_arena_deinit(&arena);
	return 0;
}

static int read_rows(const uint8_t *bytes, size_t len, size_t n)
{
	struct chi_unpacker u = {.arena = &arena, .flaw = &flaw};
	return chi_rows_from(bytes, len, n, &u, &rows, &counted);
}

/* In an allocation of its own size, so that reading beyond it is seen. Cut anywhere it is none. */
static int read_hex(const char *hex, size_t n)
{
	size_t len = strlen(hex) / 2;
	uint8_t *bytes = test_malloc(len + 1);
	assert_int_equal(chi_hex_parse(hex, 2 * len, bytes + 1), CHI_OK);
	size_t good = 0;
	for (size_t cut = 0; cut < len; cut++) {
		good += read_rows(bytes + 1, cut, n) == CHI_OK;
	}
	int rc = read_rows(bytes + 1, len, n);
	assert_true(rc != CHI_OK || good == 0);
	test_free(bytes);
	return rc;
}

#define KINGS "08000000000000082a" /* white king e1, black king e8, White to move */

CASE(single_rows)
{
	assert_int_equal(read_hex("00000009" KINGS, 1), CHI_OK);
	assert_false(rows[0].found);
	assert_false(counted);
	assert_int_equal(read_hex("01b01d09" KINGS, 1), CHI_OK);
	assert_true(rows[0].found);
	assert_int_equal(rows[0].chi2, 7600);
	assert_int_equal(rows[0].key.len, 9);
	assert_int_equal(rows[0].key.bytes[8], 0x2a);
	assert_false(counted);
	assert_int_equal(read_hex("03b01d09" KINGS "01ac0200ffffffffffffffffff01", 1), CHI_OK);
	assert_int_equal(rows[0].counts.white, 1);
	assert_int_equal(rows[0].counts.draws, 300);
	assert_int_equal(rows[0].counts.black, 0);
	assert_true(rows[0].counts.other == UINT64_MAX);
	assert_true(counted);
	/* 40 plies deep, one centipawn lost; and a mate in 10,000 without counts. */
	assert_int_equal(read_hex("07b01d09" KINGS "01000000"
				  "2801",
				  1),
			 CHI_OK);
	assert_true(rows[0].has_eval && !rows[0].is_mate);
	assert_int_equal(rows[0].depth, 40);
	assert_int_equal(rows[0].score, -1);
	assert_int_equal(read_hex("0d000009" KINGS "ffff03a09c01", 1), CHI_OK);
	assert_true(rows[0].has_eval && rows[0].is_mate);
	assert_int_equal(rows[0].depth, 65535);
	assert_int_equal(rows[0].score, CHI_MATE_MAX);
	assert_int_equal(read_rows((const uint8_t *)"", 0, 0), CHI_OK);
	assert_null(rows);
}

/* Of one response all found rows have counts, or none has. */
CASE(kinds)
{
	assert_int_equal(read_hex("03000009" KINGS "00000000"
				  "00000009" KINGS,
				  2),
			 CHI_OK);
	assert_true(counted);
	assert_int_equal(read_hex("03000009" KINGS "00000000"
				  "01000009" KINGS,
				  2),
			 -CHI_EPROTO);
}

/* Nothing is an answer, too; bytes without rows are none. */
CASE(no_rows)
{
	static const struct {
		const char *hex;
		size_t n;
	} wrong[] = {
		{"11000009" KINGS, 1},		    /* unknown flag */
		{"04000009" KINGS "0000", 1},	    /* evaluation of what was not found */
		{"09000009" KINGS, 1},		    /* mate without an evaluation */
		{"05000009" KINGS "00", 1},	    /* evaluation cut short */
		{"05000009" KINGS "80800400", 1},   /* 65536 plies */
		{"05000009" KINGS "0082897a", 1},   /* 1,000,001 centipawns */
		{"0d000009" KINGS "00a29c01", 1},   /* mate in 10,001 */
		{"02000009" KINGS "00000000", 1},   /* counts of what was not found */
		{"01006409" KINGS, 1},		    /* statistic 25600 */
		{"01000008" KINGS, 1},		    /* key of 8 bytes */
		{"01000019" KINGS KINGS KINGS, 1},  /* key of 25 bytes */
		{"0100000a" KINGS, 1},		    /* key cut short */
		{"01000009" KINGS "00", 1},	    /* a byte too many */
		{"01000009" KINGS, 2},		    /* a row too few */
		{"01000009" KINGS, 0},		    /* a row too many */
		{"03000009" KINGS "000000", 1},	    /* counts cut short */
		{"03000009" KINGS "0000008000", 1}, /* a count longer than needed */
		{"", 1},
	};
	for (size_t i = 0; i < CHI_COUNT(wrong); i++) {
		assert_int_equal(read_hex(wrong[i].hex, wrong[i].n), -CHI_EPROTO);
		assert_null(rows);
	}
	/* A number of rows that the bytes cannot hold takes no memory. */
	size_t used = arena.used;
	assert_int_equal(read_hex("01000009" KINGS, SIZE_MAX / 2), -CHI_EPROTO);
	assert_int_equal(arena.used, used);
}

/* Our own mistake, found before it is on the wire. */
CASE(keys_of_no_length_are_not_packed)
{
	struct chi_row row = {.key = {.len = CHI_KEY_MAX + 1}};
	assert_int_equal(chi_rows_len(&row, 1, false), 0);
	row.key.len = CHI_KEY_MIN - 1;
	assert_int_equal(chi_rows_len(&row, 1, true), 0);
	row.key.len = CHI_KEY_MIN;
	assert_int_equal(chi_rows_len(&row, 1, true), 4 + CHI_KEY_MIN);
}

CASES_MAIN(init, deinit)
