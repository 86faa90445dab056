/* SPDX-License-Identifier: MIT */
/* A record as JSON: every field, numbers as they are meant, and null for what is not known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/out/record.h"
#include "tests/base/cases.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static struct chi_key start_key(void)
{
	struct chi_key key;
	assert_int_equal(chi_key_from_fen(START, strlen(START), &key, NULL), CHI_OK);
	return key;
}

static chi_move move_of(const struct chi_key *key, const char *text)
{
	chi_move move = 0;
	assert_int_equal(chi_key_move(key, text, strlen(text), &move, NULL), CHI_OK);
	return move;
}

static void expect(const struct chi_key *key, const struct chi_record *record, const char *text)
{
	struct chi_arena arena;
	const char *line = NULL;
	size_t len = 0;
	chi_arena_init(&arena, RECORD_ARENA);
	assert_int_equal(record_text(key, record, false, &arena, &line, &len), CHI_OK);
	assert_int_equal(len, strlen(text) + 1);
	assert_memory_equal(line, text, len - 1);
	assert_int_equal(line[len - 1], '\n');
	json_t *json = json_loadb(line, len, 0, NULL);
	assert_non_null(json);
	json_decref(json);
	chi_arena_deinit(&arena);
}

/* Every member is there, as null or empty: a script need not ask first. */
CASE(nothing_known)
{
	struct chi_key key = start_key();
	struct chi_record record = {.chi2 = CHI_CHI2_UNKNOWN};
	expect(&key, &record,
	       "{\"fen\":\"" START "\",\"chi2\":null,\"games\":0,\"white\":0,\"draws\":0,"
	       "\"black\":0,\"other\":0,\"min_ply\":null,\"plies\":[],\"moves\":[],\"evals\":[],"
	       "\"line\":[],\"note\":null}");
}

CASE(everything_known)
{
	struct chi_key key = start_key();
	struct chi_key next;
	chi_move e4 = move_of(&key, "e4");
	assert_int_equal(chi_key_play(&key, e4, &next), CHI_OK);
	chi_move line[] = {e4, move_of(&next, "e5")};
	struct chi_move_stat moves[] = {
		{.move = move_of(&key, "d4"), .counts = {.white = 1}},
		{.move = move_of(&key, "Nf3"), .counts = {.white = 2, .other = 7}},
		{.move = e4, .counts = {.draws = 1, .black = 1}},
	};
	struct chi_ply_stat plies[] = {{2, 1}, {6, 9}};
	struct chi_eval evals[] = {
		{.engine = "a",
		 .engine_len = 1,
		 .depth = 20,
		 .score = -35,
		 .nodes = 5,
		 .date = 1000000000,
		 .pv = line,
		 .n_pv = 2},
		{.engine = "b", .engine_len = 1, .is_mate = true, .score = 3},
	};
	struct chi_record record = {
		.chi2 = 5799,
		.counts = {.white = 3, .draws = 2, .black = 1, .other = 4},
		.moves = moves,
		.n_moves = 3,
		.plies = plies,
		.n_plies = 2,
		.evals = evals,
		.n_evals = 2,
		.line = line,
		.n_line = 2,
		.note = "say \"hm\"\n\xc3\xa9",
		.n_note = 11,
	};
	expect(&key, &record,
	       "{\"fen\":\"" START "\",\"chi2\":57.99,\"games\":6,\"white\":3,\"draws\":2,"
	       "\"black\":1,\"other\":4,\"min_ply\":2,\"plies\":["
	       "{\"ply\":2,\"games\":1},{\"ply\":6,\"games\":9}],\"moves\":["
	       "{\"uci\":\"e2e4\",\"san\":\"e4\",\"games\":2,\"white\":0,\"draws\":1,\"black\":1,"
	       "\"other\":0},"
	       "{\"uci\":\"g1f3\",\"san\":\"Nf3\",\"games\":2,\"white\":2,\"draws\":0,\"black\":0,"
	       "\"other\":7},"
	       "{\"uci\":\"d2d4\",\"san\":\"d4\",\"games\":1,\"white\":1,\"draws\":0,\"black\":0,"
	       "\"other\":0}],"
	       "\"evals\":["
	       "{\"engine\":\"a\",\"multipv\":1,\"depth\":20,\"cp\":-35,\"nodes\":5,\"pv\":["
	       "\"e2e4\",\"e7e5\"],"
	       "\"date\":\"2001-09-09T01:46:40Z\"},"
	       "{\"engine\":\"b\",\"multipv\":1,\"depth\":0,\"mate\":3,\"nodes\":null,\"pv\":[],"
	       "\"date\":null}],"
	       "\"line\":[\"e2e4\",\"e7e5\"],\"note\":\"say \\\"hm\\\"\\n\xc3\xa9\"}");
}

/* No hundredth is printed as another number, or with a tail of binary digits. */
CASE(every_hundredth)
{
	struct chi_key key = start_key();
	struct chi_arena arena;
	chi_arena_init(&arena, RECORD_ARENA);
	for (unsigned chi2 = 1; chi2 <= CHI_CHI2_MAX; chi2++) {
		struct chi_record record = {.chi2 = (uint16_t)chi2};
		const char *line = NULL;
		size_t len = 0;
		char expected[32];
		chi_arena_reset(&arena);
		assert_int_equal(record_text(&key, &record, false, &arena, &line, &len), CHI_OK);
		snprintf(expected, sizeof(expected), "\"chi2\":%u.%02u", chi2 / 100, chi2 % 100);
		if (expected[strlen(expected) - 1] == '0') {
			expected[strlen(expected) - 1] = '\0';
		}
		strcat(expected, ",");
		assert_non_null(memmem(line, len, expected, strlen(expected)));
	}
	chi_arena_deinit(&arena);
}

/* What a terminal would obey, or JSON forbids, is escaped; the rest stays as it is. */
CASE(controls_in_a_note)
{
	struct chi_key key = start_key();
	static const char note[] = "\x01\t\\/\x7f\xc2\x9b\xc2\xa0\xf0\x9f\x99\x82";
	struct chi_record record = {.note = note, .n_note = sizeof(note) - 1};
	expect(&key, &record,
	       "{\"fen\":\"" START "\",\"chi2\":null,\"games\":0,\"white\":0,\"draws\":0,"
	       "\"black\":0,\"other\":0,\"min_ply\":null,\"plies\":[],\"moves\":[],\"evals\":[],"
	       "\"line\":[],\"note\":\"\\u0001\\t\\\\/\\u007f\\u009b\xc2\xa0\xf0\x9f\x99\x82\"}");
}

/* After the first move no key can hold the position: Black is to move and has no king. */
CASE(line_without_a_black_king)
{
	static const char fen[] = "3r4/8/8/8/8/8/8/6K1 w - - 0 1";
	struct chi_key key;
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &key, NULL), CHI_OK);
	const chi_move line[] = {6 << 6 | 13, 59 << 6 | 51, 13 << 6 | 4}; /* g1f2 d8d7 f2e1 */
	struct chi_eval eval = {
		.engine = "a", .engine_len = 1, .depth = 1, .score = 1, .pv = line, .n_pv = 3};
	struct chi_record record = {.evals = &eval, .n_evals = 1, .line = line, .n_line = 2};
	expect(&key, &record,
	       "{\"fen\":\"3r4/8/8/8/8/8/8/6K1 w - - 0 1\",\"chi2\":null,\"games\":0,"
	       "\"white\":0,\"draws\":0,\"black\":0,\"other\":0,\"min_ply\":null,\"plies\":[],"
	       "\"moves\":[],\"evals\":["
	       "{\"engine\":\"a\",\"multipv\":1,\"depth\":1,\"cp\":1,\"nodes\":null,"
	       "\"pv\":[\"g1f2\",\"d8d7\",\"f2e1\"],\"date\":null}],"
	       "\"line\":[\"g1f2\",\"d8d7\"],\"note\":null}");
}

/* A store that another program wrote may hold them: no object, and no half one. */
CASE(moves_that_are_not_legal)
{
	struct chi_key key = start_key();
	chi_move line[] = {4095};
	struct chi_record record = {.line = line, .n_line = 1};
	struct chi_arena arena;
	const char *text = NULL;
	size_t len = 0;
	chi_arena_init(&arena, RECORD_ARENA);
	assert_int_equal(record_text(&key, &record, false, &arena, &text, &len), -CHI_ECORRUPT);
	struct chi_move_stat moves[] = {{.move = 4095}};
	record = (struct chi_record){.moves = moves, .n_moves = 1};
	assert_int_equal(record_text(&key, &record, false, &arena, &text, &len), -CHI_ECORRUPT);
	record = (struct chi_record){.note = "\xff", .n_note = 1};
	assert_int_equal(record_text(&key, &record, false, &arena, &text, &len), -CHI_ECORRUPT);
	chi_arena_deinit(&arena);
}
