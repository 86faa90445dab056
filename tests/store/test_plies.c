/* SPDX-License-Identifier: MIT */
/* Plies of positions: their bytes, each wrong form refused, their limits. */
#include "tests/store/help.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/record/codec.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static uint8_t buffer[CHI_RECORD_BYTES_MAX];
static struct chi_arena arena;

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* Decodes a value written as hex. */
static int decode(const char *hex, struct chi_record *record)
{
	uint8_t bytes[64];
	size_t n = 0;
	for (const char *at = hex; *at != '\0'; at += at[2] == ' ' ? 3 : 2) {
		const char digits[3] = {at[0], at[1], '\0'};
		bytes[n++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	chi_arena_reset(&arena);
	return chi_record_decode(bytes, n, &arena, record, NULL);
}

CASE(test_forms)
{
	/* Head 42: one game, White won, plies; 44: counts in full, plies. 01 02 counts: 2 White
	 * wins; 11: one. */
	static const struct {
		const char *hex;
		size_t n;
		struct chi_ply_stat plies[3];
	} good[] = {
		{"42 00", 1, {{0, 1}}},
		{"5a 7f", 1, {{127, 1}}},
		{"42 80 01", 1, {{128, 1}}},
		{"42 80 20", 1, {{4096, 1}}},
		{"62 05 1c 03", 1, {{5, 1}}},
		{"44 01 02 01", 1, {{0, 2}}},
		{"44 01 02 81 40", 1, {{4096, 2}}},
		{"44 01 02 02 00 01", 1, {{0, 1}}},
		{"44 01 03 04 00 01 01 01", 2, {{0, 1}, {1, 1}}},
		{"44 01 03 06 00 01 01 01 ff 1f 01", 3, {{0, 1}, {1, 1}, {4096, 1}}},
		/* Two moves of one game: the counts in full, though they are one. */
		{"64 11 03 02 db 02 11 1c 03 11", 1, {{1, 1}}},
		/* Games without a result have plies too. */
		{"44 08 02 05", 1, {{2, 2}}},
		{"44 01 ff ff ff ff ff ff ff ff ff 01 05", 1, {{2, UINT64_MAX}}},
	};
	for (size_t i = 0; i < CHI_COUNT(good); i++) {
		struct chi_record record;
		print_message("# %s\n", good[i].hex);
		assert_int_equal(decode(good[i].hex, &record), CHI_OK);
		assert_int_equal(record.n_plies, good[i].n);
		for (size_t j = 0; j < record.n_plies; j++) {
			assert_int_equal(record.plies[j].ply, good[i].plies[j].ply);
			assert_int_equal(record.plies[j].games, good[i].plies[j].games);
		}
		size_t n;
		uint16_t chi2;
		struct chi_counts counts;
		assert_int_equal(chi_record_encode(&record, NULL, buffer, sizeof(buffer), &n),
				 CHI_OK);
		assert_int_equal(n, (strlen(good[i].hex) + 1) / 3);
		assert_int_equal(chi_record_peek(buffer, n, &chi2, &counts), CHI_OK);
		assert_true(chi_counts_equal(&counts, &record.counts));
	}
}

CASE(test_wrong_forms)
{
	static const char *const bad[] = {
		"40",			      /* no games, and cut short */
		"40 00",		      /* no games */
		"40 01",		      /* no games, of which all ... */
		"40 02 00 01",		      /* no games, a list */
		"42",			      /* cut short */
		"42 80",		      /* in the middle of a number */
		"42 80 00",		      /* a number with a byte too many */
		"42 81 20",		      /* ply 4097 */
		"42 00 00",		      /* something after it */
		"44 01 02",		      /* cut short */
		"44 01 02 00",		      /* an empty list */
		"44 01 02 83 40",	      /* ply 4097 of all games */
		"44 01 02 02 00 02",	      /* a list that is one ply of all games */
		"44 01 02 02 00 03",	      /* more games than there are */
		"44 01 02 02 00 00",	      /* a ply without games */
		"44 01 02 02 81 20 01",	      /* ply 4097 */
		"44 01 02 02 00",	      /* an entry cut short */
		"44 01 02 04 00 01",	      /* an entry too few */
		"44 01 02 04 00 01 00 01",    /* one ply twice */
		"44 01 02 04 00 01 01 02",    /* together more games than there are */
		"44 01 02 04 01 01 80 20 01", /* ply 4097 by its distance */
		"44 01 02 04 00 01 01 01 02", /* an entry too many */
		"44 01 02 04 00 01 01 00",    /* a ply without games after one with */
		/* Numbers that would overflow a sum. */
		"44 01 02 04 00 ff ff ff ff ff ff ff ff ff 01 01 03",
		"44 01 02 04 01 01 ff ff ff ff ff ff ff ff ff 01 01",
		"44 01 02 fe ff ff ff ff ff ff ff ff 01 00 01",
		/* A move without a ply before it. */
		"62 1c 03",
	};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		struct chi_record record;
		print_message("# %s\n", bad[i]);
		assert_int_equal(decode(bad[i], &record), -CHI_ECORRUPT);
	}
}

static int encode(const struct chi_record *record, size_t *n)
{
	return chi_record_encode(record, NULL, buffer, sizeof(buffer), n);
}

CASE(test_limits)
{
	size_t n;
	struct chi_ply_stat plies[2] = {{127, 1}, {CHI_PLY_MAX, 1}};
	struct chi_move_stat move = {12 << 6 | 28, {.black = 1}};
	struct chi_record record = {
		.counts.black = 1, .moves = &move, .n_moves = 1, .plies = plies, .n_plies = 1};
	assert_int_equal(encode(&record, &n), CHI_OK);
	assert_int_equal(n, 4);
	plies[0].ply++;
	assert_int_equal(encode(&record, &n), CHI_OK);
	assert_int_equal(n, 5);
	record = (struct chi_record){.counts = {1, 0, 0, 1}, .plies = plies, .n_plies = 2};
	assert_int_equal(encode(&record, &n), CHI_OK);
	plies[1].games++;
	assert_int_equal(encode(&record, &n), -CHI_EINVAL);
	plies[1].games = UINT64_MAX;
	assert_int_equal(encode(&record, &n), -CHI_EINVAL);
	plies[1].games = 0;
	assert_int_equal(encode(&record, &n), -CHI_EINVAL);
	plies[1] = (struct chi_ply_stat){CHI_PLY_MAX + 1, 1};
	assert_int_equal(encode(&record, &n), -CHI_EINVAL);
	plies[1].ply = plies[0].ply;
	assert_int_equal(encode(&record, &n), -CHI_EINVAL);
	plies[1].ply--;
	assert_int_equal(encode(&record, &n), -CHI_EINVAL);
	record.n_plies = 1;
	record.counts = (struct chi_counts){0};
	assert_int_equal(encode(&record, &n), -CHI_EINVAL);
}

/* The largest record there can be, with every ply in as many bytes as it can take. */
CASE(test_largest)
{
	static struct chi_ply_stat plies[CHI_PLY_MAX + 1];
	static struct chi_move_stat moves[CHI_MOVES_MAX];
	static chi_move line[CHI_LINE_MAX];
	static struct chi_eval evals[CHI_EVALS_MAX];
	static char names[CHI_EVALS_MAX][CHI_ENGINE_MAX];
	static char note[CHI_NOTE_MAX];
	for (size_t i = 0; i < CHI_COUNT(line); i++) {
		line[i] = 0x7ff - 1;
	}
	for (size_t i = 0; i < CHI_COUNT(plies); i++) {
		/* 225 of nine bytes, the others of eight: more does not fit into the sum. */
		uint64_t games = UINT64_C(1) << (i < 225 ? 56 : 49);
		plies[i] = (struct chi_ply_stat){(uint16_t)i, games};
	}
	for (size_t i = 0; i < CHI_COUNT(moves); i++) {
		/* Square i / 63 to all others in turn, which ascends. */
		moves[i].move = (chi_move)(i / 63 << 6 | (i % 63 + (i % 63 >= i / 63)));
		moves[i].counts = (struct chi_counts){UINT64_C(1) << 62, UINT64_C(1) << 62,
						      UINT64_C(1) << 62, UINT64_C(1) << 62};
		moves[i].counts.other--;
	}
	for (size_t i = 0; i < CHI_COUNT(evals); i++) {
		memset(names[i], 'e', sizeof(names[i]));
		names[i][0] = (char)('0' + i);
		evals[i] = (struct chi_eval){.engine = names[i],
					     .engine_len = sizeof(names[i]),
					     .depth = 65535,
					     .score = -CHI_SCORE_MAX,
					     .rank = CHI_RANK_MAX,
					     .nodes = UINT64_MAX,
					     .date = UINT64_MAX,
					     .pv = line,
					     .n_pv = CHI_PV_MAX};
	}
	memset(note, 'n', sizeof(note));
	struct chi_record back;
	struct chi_record record = {CHI_CHI2_MAX, moves[0].counts,  moves, CHI_COUNT(moves),
				    plies,	  CHI_COUNT(plies), evals, CHI_COUNT(evals),
				    line,	  CHI_COUNT(line),  note,  sizeof(note)};
	size_t n;
	assert_int_equal(encode(&record, &n), CHI_OK);
	print_message("# the largest record: %zu bytes\n", n);
	assert_true(n <= 150 << 10);
	struct chi_arena small;
	chi_arena_init(&small, CHI_RECORD_ARENA);
	assert_int_equal(chi_record_decode(buffer, n, &small, &back, NULL), CHI_OK);
	assert_int_equal(back.n_plies, CHI_COUNT(plies));
	for (size_t i = 0; i < CHI_COUNT(plies); i++) {
		assert_int_equal(back.plies[i].ply, plies[i].ply);
		assert_int_equal(back.plies[i].games, plies[i].games);
	}
	chi_arena_deinit(&small);
}

int main(void)
{
	chi_arena_init(&arena, 16u << 20);
	int failed = cases_run(NULL, NULL);
	chi_arena_deinit(&arena);
	return failed;
}
