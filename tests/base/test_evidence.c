/* SPDX-License-Identifier: MIT */
/* Which evaluations are seen. Patterns are tried against fnmatch(3), bounds at their ends. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/evidence.h"
#include "base/fault.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

static bool fits(const char *pattern, const char *name)
{
	struct chi_evidence evidence = {.since = 0};
	(void)snprintf(evidence.engine, sizeof(evidence.engine), "%s", pattern);
	return chi_evidence_sees(&evidence, name, strlen(name), 0, 0);
}

CASE(patterns)
{
	assert_true(fits("stockfish 1[67]", "Stockfish 16"));
	assert_true(fits("stockfish 1[67]", "STOCKFISH 17"));
	assert_false(fits("stockfish 1[67]", "Stockfish 17.1"));
	assert_false(fits("stockfish 1[67]", "Stockfish 18"));
	assert_true(fits("stockfish 1[67]*", "Stockfish 17.1"));
	assert_true(fits("*", "anything") && fits("***", "x") && fits("", "x"));
	assert_false(fits("*a", "ab"));
	assert_true(fits("*a*b", "aabab"));
	assert_true(fits("a[b", "A[B"));
	assert_false(fits("a[b", "ab"));
	assert_true(fits("[]x]1[!]x]", "]1y"));
	/* A character, not a byte of one. */
	assert_true(fits("?r?s", "\xc3\x86r\xc3\xb8s"));
	assert_true(fits("[!a]rs", "\xc3\x86rs"));
}

static void draw_text(struct seed *seed, const char *letters, char *out, size_t most)
{
	size_t n = seed_below(seed, most);
	for (size_t i = 0; i < n; i++) {
		out[i] = letters[seed_below(seed, strlen(letters))];
	}
	out[n] = '\0';
}

CASE(patterns_as_fnmatch_has_them)
{
	struct seed seed = seed_start("patterns_as_fnmatch_has_them");
	for (size_t left = seed_rounds(200000); left > 0; left--) {
		char pattern[12];
		char name[10];
		draw_text(&seed, "abBc*?[]!-", pattern, sizeof(pattern) - 1);
		draw_text(&seed, "aAbc-]!", name, sizeof(name) - 1);
		if (pattern[0] == '\0') {
			continue;
		}
		bool want = fnmatch(pattern, name, FNM_CASEFOLD | FNM_NOESCAPE) == 0;
		if (fits(pattern, name) != want) {
			fail_msg("'%s' and '%s': fnmatch says %d", pattern, name, want);
		}
	}
}

/* What takes fnmatch, and others that try again from each star, longer than anyone waits. */
CASE(a_pattern_of_stars_is_cheap)
{
	char pattern[CHI_ENGINE_MAX + 1];
	char name[CHI_ENGINE_MAX + 1];
	memset(name, 'a', CHI_ENGINE_MAX);
	name[CHI_ENGINE_MAX] = '\0';
	for (size_t i = 0; i < CHI_ENGINE_MAX; i++) {
		pattern[i] = i % 2 == 0 ? '*' : 'a';
	}
	pattern[CHI_ENGINE_MAX - 1] = 'b';
	pattern[CHI_ENGINE_MAX] = '\0';
	for (int i = 0; i < 10000; i++) {
		assert_false(fits(pattern, name));
	}
}

CASE(depths_and_dates)
{
	struct chi_evidence evidence = {.depth = {true, 20, 30}};
	assert_false(chi_evidence_sees(&evidence, "x", 1, 19, 5));
	assert_true(chi_evidence_sees(&evidence, "x", 1, 20, 5));
	assert_true(chi_evidence_sees(&evidence, "x", 1, 30, 0));
	assert_false(chi_evidence_sees(&evidence, "x", 1, 31, 0));
	evidence = (struct chi_evidence){.since = 10, .until = 20};
	assert_false(chi_evidence_sees(&evidence, "x", 1, 1, 9));
	assert_true(chi_evidence_sees(&evidence, "x", 1, 1, 10));
	assert_true(chi_evidence_sees(&evidence, "x", 1, 1, 20));
	assert_false(chi_evidence_sees(&evidence, "x", 1, 1, 21));
	/* Not known is in no span, however wide. */
	assert_false(chi_evidence_sees(&evidence, "x", 1, 1, 0));
	evidence.since = 0;
	assert_false(chi_evidence_sees(&evidence, "x", 1, 1, 0));
}

CASE(a_record_keeps_what_is_seen)
{
	const struct chi_eval evals[] = {
		{.engine = "A", .engine_len = 1, .depth = 9},
		{.engine = "B", .engine_len = 1, .depth = 8},
		{.engine = "B", .engine_len = 1, .depth = 7, .rank = 1},
	};
	struct chi_record record = {.evals = evals, .n_evals = 3};
	struct chi_evidence evidence = {.engine = "b"};
	struct chi_arena arena;
	chi_arena_init(&arena, 3 * sizeof(evals[0]));
	assert_null(chi_evidence_or_null(&(struct chi_evidence){.since = 0}));
	assert_null(chi_evidence_or_null(NULL));
	assert_int_equal(chi_evidence_apply(NULL, &arena, &record), CHI_OK);
	assert_ptr_equal(record.evals, evals);
	assert_int_equal(chi_evidence_apply(&evidence, &arena, &record), CHI_OK);
	assert_int_equal(record.n_evals, 2);
	assert_int_equal(record.evals[0].depth, 8);
	assert_int_equal(record.evals[1].depth, 7);
	record = (struct chi_record){.evals = evals, .n_evals = 3};
	assert_int_equal(chi_evidence_apply(&evidence, &arena, &record), -CHI_ENOMEM);
	chi_arena_deinit(&arena);
}

CASE(refused)
{
	struct chi_fault fault = {.text = ""};
	struct chi_evidence evidence = {.depth = {true, 5, 5}, .since = 7, .until = 7};
	assert_int_equal(chi_evidence_check(&evidence, &fault), CHI_OK);
	evidence.depth.max = 4;
	assert_int_equal(chi_evidence_check(&evidence, &fault), -CHI_EINVAL);
	assert_string_equal(fault.text, "depth: 5..4 is no range");
	evidence = (struct chi_evidence){.since = 7, .until = 6};
	assert_int_equal(chi_evidence_check(&evidence, &fault), -CHI_EINVAL);
	evidence = (struct chi_evidence){.since = 7};
	assert_int_equal(chi_evidence_check(&evidence, &fault), CHI_OK);
	memset(evidence.engine, 'x', sizeof(evidence.engine));
	assert_int_equal(chi_evidence_check(&evidence, &fault), -CHI_EINVAL);
}
