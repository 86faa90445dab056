/* SPDX-License-Identifier: MIT */
/* Bytes of records and strength entries: what FORMAT.md says, round trips, order, refusals. */
#include "tests/store/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "store/block/block.h"
#include "store/record/clients.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "tests/base/expect_row.h"
#include "tests/base/seed.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static uint8_t buffer[CHI_RECORD_BYTES_MAX];
static struct chi_arena arena;

/* ---- Round trips ---------------------------------------------------------------------------- */

static chi_move uci(const char *text)
{
	return chi_move_make(text[0] - 'a' + (text[1] - '1') * 8,
			     text[2] - 'a' + (text[3] - '1') * 8, 0);
}

static struct chi_counts random_counts(void)
{
	struct chi_counts counts = {0};
	uint64_t *at[] = {&counts.white, &counts.draws, &counts.black, &counts.other};
	unsigned kind = help_below(4);
	for (size_t i = 0; i < 4 && kind > 0; i++) {
		*at[i] = kind == 1 ? (i == help_below(4)) : help_random() >> (4 + help_below(60));
	}
	return counts;
}

static chi_move random_move(void)
{
	unsigned from = help_below(64);
	unsigned to = (from + 1 + help_below(63)) % 64;
	return (chi_move)(help_below(5) << 12 | from << 6 | to);
}

static const chi_move *random_moves(size_t n)
{
	chi_move *moves = chi_arena_alloc(&arena, n * sizeof(*moves) + 1);
	for (size_t i = 0; i < n; i++) {
		moves[i] = random_move();
	}
	return n > 0 ? moves : NULL;
}

/* Of all games, of some, or none. */
static void random_plies(struct chi_record *record)
{
	uint64_t left = 0;
	assert_true(chi_counts_total(&record->counts, &left));
	struct chi_ply_stat *plies = chi_arena_array(&arena, 20, sizeof(*plies));
	unsigned most = help_below(3) == 0 ? help_below(20) : help_below(2);
	unsigned ply = help_below(2) ? help_below(200) : help_below(CHI_PLY_MAX + 1);
	size_t n = 0;
	for (; n < most && left > 0 && ply <= CHI_PLY_MAX; n++) {
		uint64_t games = help_below(2) ? left : 1 + help_random() % left;
		plies[n] = (struct chi_ply_stat){(uint16_t)ply, games};
		left -= games;
		ply += 1 + help_below(help_below(2) ? 3 : 1000);
	}
	record->plies = plies;
	record->n_plies = n;
}

static void random_record(struct chi_record *record)
{
	*record = (struct chi_record){.counts = random_counts()};
	random_plies(record);
	if (help_below(2)) {
		record->chi2 = (uint16_t)(1 + help_below(CHI_CHI2_MAX));
	}
	struct chi_move_stat *moves = chi_arena_array(&arena, 20, sizeof(*moves));
	unsigned n = help_below(3) == 0 ? help_below(20) : help_below(2);
	unsigned code = 0;
	for (unsigned i = 0; i < n; i++) {
		do {
			code += 1 + help_below(500);
		} while ((code >> 6 & 63) == (code & 63));
		moves[i] = (struct chi_move_stat){(chi_move)code, random_counts()};
	}
	if (n == 1 && help_below(2)) {
		moves[0].counts = record->counts;
	}
	record->moves = moves;
	record->n_moves = n;
	record->n_line = help_below(3) == 0 ? help_below(CHI_LINE_MAX + 1) : 0;
	record->line = random_moves(record->n_line);
	struct chi_eval *evals = chi_arena_array(&arena, CHI_EVALS_MAX, sizeof(*evals));
	record->n_evals = help_below(3) == 0 ? help_below(CHI_EVALS_MAX + 1) : 0;
	for (size_t i = 0; i < record->n_evals; i++) {
		char name[CHI_ENGINE_MAX + 1];
		/* Several lines of an engine, of some without the best. */
		int len = snprintf(name, sizeof(name), "%-*zu", 2 + (int)i / 4 * 3, 10 + i / 4);
		bool mate = help_below(4) == 0;
		int32_t most = mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
		evals[i] = (struct chi_eval){.engine = chi_arena_text(&arena, name, (size_t)len),
					     .engine_len = (size_t)len,
					     .depth = help_below(65536),
					     .is_mate = mate,
					     .rank = (uint8_t)(i % 4 + i / 4 % 2),
					     .score = (int32_t)help_below(2 * (unsigned)most + 1) -
						      most,
					     .nodes = help_below(2) ? help_random() : 0,
					     .date = help_below(2) ? help_random() >> 30 : 0,
					     .n_pv = help_below(CHI_PV_MAX + 1)};
		evals[i].pv = random_moves(evals[i].n_pv);
	}
	record->evals = evals;
	if (help_below(4) == 0) {
		record->n_note = 1 + help_below(help_below(10) ? 200 : CHI_NOTE_MAX);
		char *note = chi_arena_alloc(&arena, record->n_note);
		memset(note, 'a' + (int)help_below(26), record->n_note);
		record->note = note;
	}
}

static void assert_same(const struct chi_record *a, const struct chi_record *b)
{
	assert_int_equal(a->chi2, b->chi2);
	assert_memory_equal(&a->counts, &b->counts, sizeof(a->counts));
	assert_int_equal(a->n_plies, b->n_plies);
	for (size_t i = 0; i < a->n_plies; i++) {
		assert_int_equal(a->plies[i].ply, b->plies[i].ply);
		assert_int_equal(a->plies[i].games, b->plies[i].games);
	}
	assert_int_equal(a->n_moves, b->n_moves);
	for (size_t i = 0; i < a->n_moves; i++) {
		assert_int_equal(a->moves[i].move, b->moves[i].move);
		assert_true(chi_counts_equal(&a->moves[i].counts, &b->moves[i].counts));
	}
	assert_int_equal(a->n_evals, b->n_evals);
	for (size_t i = 0; i < a->n_evals; i++) {
		const struct chi_eval *x = &a->evals[i];
		const struct chi_eval *y = &b->evals[i];
		assert_int_equal(chi_eval_compare(x, y), 0);
		assert_true(x->depth == y->depth && x->is_mate == y->is_mate &&
			    x->score == y->score && x->nodes == y->nodes && x->date == y->date &&
			    x->n_pv == y->n_pv);
		assert_true(x->n_pv == 0 || memcmp(x->pv, y->pv, 2 * x->n_pv) == 0);
	}
	assert_int_equal(a->n_line, b->n_line);
	assert_true(a->n_line == 0 || memcmp(a->line, b->line, 2 * a->n_line) == 0);
	assert_int_equal(a->n_note, b->n_note);
	assert_true(a->n_note == 0 || memcmp(a->note, b->note, a->n_note) == 0);
}

CASE(test_round_trip)
{
	for (size_t i = 0, n = seed_rounds(5000); i < n; i++) {
		struct chi_record record;
		struct chi_record back;
		size_t len;
		chi_arena_reset(&arena);
		random_record(&record);
		assert_int_equal(chi_record_encode(&record, NULL, buffer, sizeof(buffer), &len),
				 CHI_OK);
		assert_int_equal(chi_record_decode(buffer, len, &arena, &back, NULL), CHI_OK);
		assert_same(&record, &back);
		uint16_t chi2;
		struct chi_counts counts;
		assert_int_equal(chi_record_peek(buffer, len, &chi2, &counts), CHI_OK);
		assert_true(chi2 == record.chi2 && chi_counts_equal(&counts, &record.counts));
		struct chi_row rows[2] = {{.found = false}};
		expect_row(&record, &rows[1]);
		assert_int_equal(chi_record_decode_strength(buffer, len, NULL, rows), CHI_OK);
		assert_true(same_row(&rows[0], &rows[1]));
	}
}

/* Whatever decodes encodes to the same bytes: there is one form of each record. */
CASE(test_one_form)
{
	static uint8_t again[CHI_RECORD_BYTES_MAX];
	size_t decoded = 0;
	size_t rounds = seed_rounds(300000);
	for (size_t i = 0; i < rounds; i++) {
		uint8_t bytes[64];
		size_t len = 1 + help_below(help_below(2) ? 8 : 40);
		for (size_t j = 0; j < len; j++) {
			bytes[j] = (uint8_t)(help_below(3) ? help_below(8) : help_random());
		}
		struct chi_record record;
		struct chi_record_rest rest;
		chi_arena_reset(&arena);
		int rc = chi_record_decode(bytes, len, &arena, &record, &rest);
		if (rc != CHI_OK) {
			assert_int_equal(rc, -CHI_ECORRUPT);
			continue;
		}
		size_t n;
		decoded++;
		assert_int_equal(chi_record_encode(&record, &rest, again, sizeof(again), &n),
				 CHI_OK);
		assert_int_equal(n, len);
		assert_memory_equal(again, bytes, len);
	}
	assert_true(decoded > rounds / 300);
	print_message("# figures: %zu random records, %zu of them decoded and encoded again\n",
		      rounds, decoded);
}

CASE(test_truncated)
{
	chi_arena_reset(&arena);
	struct chi_move_stat moves[] = {{uci("d2d4"), {0, 2, 3, 0}}, {uci("e2e4"), {1, 0, 0, 0}}};
	struct chi_eval evals[] = {{.engine = "A", .engine_len = 1, .depth = 300, .score = 5},
				   {.engine = "Bee",
				    .engine_len = 3,
				    .nodes = 70000,
				    .date = 1,
				    .pv = random_moves(3),
				    .n_pv = 3}};
	struct chi_record record = {.chi2 = 7600,
				    .counts = {1, 200, 3, 0},
				    .moves = moves,
				    .n_moves = 2,
				    .evals = evals,
				    .n_evals = 2,
				    .line = random_moves(5),
				    .n_line = 5,
				    .note = "a note",
				    .n_note = 6};
	size_t len;
	assert_int_equal(chi_record_encode(&record, NULL, buffer, sizeof(buffer), &len), CHI_OK);
	for (size_t n = 0; n < len; n++) {
		uint8_t *bytes = malloc(n + 1);
		memcpy(bytes, buffer, n);
		struct chi_record back;
		int rc = chi_record_decode(bytes, n, &arena, &back, NULL);
		/* Where a section ends the rest may be missing: that is another record. */
		assert_true(rc == -CHI_ECORRUPT || (rc == CHI_OK && n > 10));
		free(bytes);
	}
}

CASE(test_unknown_sections)
{
	/* Note "a", then tags 9 and 300 that a later version may define. */
	uint8_t bytes[32] = {0x80, 3, 1, 'a', 9, 2, 0xff, 0xfe, 0xac, 0x02, 0};
	size_t len = 11;
	struct chi_record record;
	struct chi_record_rest rest;
	assert_int_equal(chi_record_decode(bytes, len, &arena, &record, &rest), CHI_OK);
	assert_string_equal(record.note, "a");
	assert_int_equal(rest.len, 7);
	size_t n;
	assert_int_equal(chi_record_encode(&record, &rest, buffer, sizeof(buffer), &n), CHI_OK);
	assert_int_equal(n, len);
	assert_memory_equal(buffer, bytes, len);
}

CASE(test_limits)
{
	size_t n;
	chi_arena_reset(&arena);
	struct chi_record record = {.n_note = CHI_NOTE_MAX};
	char *note = chi_arena_alloc(&arena, CHI_NOTE_MAX + 1);
	memset(note, 'n', CHI_NOTE_MAX + 1);
	record.note = note;
#define ENCODE() chi_record_encode(&record, NULL, buffer, sizeof(buffer), &n)
	assert_int_equal(ENCODE(), CHI_OK);
	record.n_note++;
	assert_int_equal(ENCODE(), -CHI_ETOOBIG);
	record =
		(struct chi_record){.n_line = CHI_LINE_MAX, .line = random_moves(CHI_LINE_MAX + 1)};
	assert_int_equal(ENCODE(), CHI_OK);
	record.n_line++;
	assert_int_equal(ENCODE(), -CHI_ETOOBIG);
	record = (struct chi_record){.chi2 = CHI_CHI2_MAX};
	assert_int_equal(ENCODE(), CHI_OK);
	record.chi2++;
	assert_int_equal(ENCODE(), -CHI_EINVAL);
	record = (struct chi_record){.counts = {UINT64_MAX, 0, 0, 0}};
	assert_int_equal(ENCODE(), CHI_OK);
	record.counts.other = 1;
	assert_int_equal(ENCODE(), -CHI_EINVAL);
	record = (struct chi_record){.note = "a\xff", .n_note = 2};
	assert_int_equal(ENCODE(), -CHI_EINVAL);
	struct chi_eval evals[2] = {{.engine = "b", .engine_len = 1},
				    {.engine = "a", .engine_len = 1}};
	record = (struct chi_record){.evals = evals, .n_evals = 2};
	assert_int_equal(ENCODE(), -CHI_EINVAL);
	record.n_evals = 1;
	assert_int_equal(ENCODE(), CHI_OK);
	assert_int_equal(chi_record_encode(&record, NULL, buffer, n - 1, &n), -CHI_ETOOBIG);
#undef ENCODE
}

/* ---- Order ---------------------------------------------------------------------------------- */

CASE(test_strength_order)
{
	struct chi_key keys[64];
	help_keys(keys, CHI_COUNT(keys));
	size_t rounds = seed_rounds(100000);
	for (size_t i = 0; i < rounds; i++) {
		const struct chi_key *ka = &keys[help_below(64)];
		const struct chi_key *kb = &keys[help_below(64)];
		uint16_t a = (uint16_t)(1 + help_below(CHI_CHI2_MAX));
		uint16_t b = help_below(3) ? (uint16_t)(1 + help_below(CHI_CHI2_MAX)) : a;
		uint8_t ea[CHI_STRENGTH_KEY_MAX];
		uint8_t eb[CHI_STRENGTH_KEY_MAX];
		size_t la = chi_strength_key(a, ka->bytes, ka->len, ea);
		size_t lb = chi_strength_key(b, kb->bytes, kb->len, eb);
		int order = chi_strength_compare(ea, la, eb, lb);
		int expected = a != b ? (a < b ? -1 : 1) : help_key_compare(ka, kb);
		assert_int_equal((order > 0) - (order < 0), (expected > 0) - (expected < 0));
		order = chi_strength_compare(eb, lb, ea, la);
		assert_int_equal((order > 0) - (order < 0), (expected < 0) - (expected > 0));
	}
	print_message("# figures: %zu pairs in the order of their encodings\n", rounds);
}

/* LMDB was told another comparator for the position tree than its own: the order is the same. */
CASE(test_order_of_positions)
{
	for (size_t left = seed_rounds(100000); left > 0; left--) {
		uint8_t k[2][12];
		size_t n[2];
		for (int j = 0; j < 2; j++) {
			n[j] = help_below(13);
			for (size_t m = 0; m < n[j]; m++) {
				/* Bytes above 127 too, and often a common start. */
				k[j][m] = (uint8_t)(help_below(2) * 255);
			}
		}
		int order = chi_position_compare(k[0], n[0], k[1], n[1]);
		int expected = memcmp(k[0], k[1], n[0] < n[1] ? n[0] : n[1]);
		expected = expected != 0 ? expected : (n[0] > n[1]) - (n[0] < n[1]);
		assert_int_equal((order > 0) - (order < 0), (expected > 0) - (expected < 0));
	}
}

/* A damaged page may hold keys of any length; the order must still be one. */
CASE(test_order_of_any_bytes)
{
	for (size_t left = seed_rounds(100000); left > 0; left--) {
		uint8_t k[3][4];
		size_t n[3];
		int order[3];
		for (int j = 0; j < 3; j++) {
			n[j] = help_below(5);
			for (size_t m = 0; m < n[j]; m++) {
				k[j][m] = (uint8_t)help_below(2);
			}
		}
		order[0] = chi_strength_compare(k[0], n[0], k[1], n[1]);
		order[1] = chi_strength_compare(k[1], n[1], k[2], n[2]);
		order[2] = chi_strength_compare(k[0], n[0], k[2], n[2]);
		if (order[0] <= 0 && order[1] <= 0) {
			assert_true(order[2] <= 0);
		}
		if (order[0] == 0) {
			assert_true(n[0] == n[1]);
		}
	}
}

CASE(test_strength_entries)
{
	for (int i = 0; i < 20000; i++) {
		struct chi_key key = i % 100 == 0 ? help_key() : help_fen(START);
		uint8_t entry[CHI_STRENGTH_KEY_MAX];
		uint8_t value[CHI_STRENGTH_VALUE_MAX];
		uint16_t chi2 = (uint16_t)(1 + help_below(CHI_CHI2_MAX));
		chi_arena_reset(&arena);
		size_t n_line = help_below(2) ? help_below(6) : 0;
		size_t len = chi_strength_key(chi2, key.bytes, key.len, entry);
		size_t n = chi_strength_value(random_moves(n_line), n_line, value);
		assert_int_equal(chi_chi2_of(entry), chi2);
		assert_true(chi_strength_ok(entry, len, n));
		assert_false(chi_strength_ok(entry, len, n + 1));
		assert_false(chi_strength_ok(entry, len - 1, n));
	}
	const uint8_t over[2] = {100, 5};
	assert_int_equal(chi_chi2_of(over), CHI_CHI2_UNKNOWN);
}

int main(void)
{
	chi_arena_init(&arena, 16u << 20);
	int failed = cases_run(NULL, NULL);
	chi_arena_deinit(&arena);
	return failed;
}
