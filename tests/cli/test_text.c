/* SPDX-License-Identifier: MIT */
/* The small notations of the command line, its filters, and its guesses at mistyped words. */
#include <string.h>

#include "base/attr.h"
#include "cli/in/filter.h"
#include "cli/in/put_text.h"
#include "tests/base/cases.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static struct cli cli;

static const struct cli_option counts_option = {.name = "counts"};

struct chosen {
	struct chi_scan_spec spec;
};

static const struct cli_option filter_options[] = {FILTER_OPTIONS(chosen)};
static const struct chosen all = {.spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX}};
static struct chosen chosen;

/* Takes one of the options above. */
static int set(const char *name, const char *value)
{
	const struct cli_option *option = filter_options;
	while (strcmp(option->name, name) != 0) {
		option++;
	}
	return option->read(&cli, option, value, (char *)&chosen + option->offset);
}

/* Three numbers, no more and no fewer, and no sign. */
CASE(counts)
{
	struct chi_counts out = {0};
	assert_int_equal(option_counts(&cli, &counts_option, "1,22,4294967295", &out), EXIT_DONE);
	assert_int_equal(out.white, 1);
	assert_int_equal(out.draws, 22);
	assert_int_equal(out.black, 4294967295u);
	static const char *const bad[] = {"",	   "1",	     "1,2",    "1,2,",		"1,2,3,4",
					  "a,b,c", "1,-2,3", " 1,2,3", "1,2,4294967296"};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		assert_int_equal(option_counts(&cli, &counts_option, bad[i], &out), EXIT_USAGE);
	}
}

/* Read from the end, as a name may have colons. */
CASE(evals)
{
	struct chi_eval eval;
	assert_int_equal(text_eval(&cli, "stockfish:20:35", &eval), EXIT_DONE);
	assert_int_equal(eval.engine_len, 9);
	assert_int_equal(eval.depth, 20);
	assert_int_equal(eval.score, 35);
	assert_false(eval.is_mate);
	assert_int_equal(text_eval(&cli, "a:b:1:-7", &eval), EXIT_DONE);
	assert_int_equal(eval.engine_len, 3);
	assert_int_equal(eval.score, -7);
	assert_int_equal(text_eval(&cli, "x:9:mate3", &eval), EXIT_DONE);
	assert_true(eval.is_mate);
	assert_int_equal(eval.score, 3);
	assert_int_equal(text_eval(&cli, "x:9:mate-3", &eval), EXIT_DONE);
	assert_int_equal(eval.score, -3);
	static const char *const bad[] = {"",	      "x",	     "x:1",    ":1:2",
					  "x::1",     "x:1:",	     "x:-1:2", "x:65536:1",
					  "x:1:mate", "x:1:1000001", "x:1:cp", "x:1:mate10001"};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		assert_int_equal(text_eval(&cli, bad[i], &eval), EXIT_USAGE);
	}
	char longest[CHI_ENGINE_MAX + 16];
	for (size_t n = CHI_ENGINE_MAX; n <= CHI_ENGINE_MAX + 1; n++) {
		memset(longest, 'e', n);
		strcpy(longest + n, ":1:1");
		assert_int_equal(text_eval(&cli, longest, &eval),
				 n == CHI_ENGINE_MAX ? EXIT_DONE : EXIT_USAGE);
	}
}

CASE(lines)
{
	struct chi_arena arena;
	struct chi_key key;
	const chi_move *moves = NULL;
	size_t n = 99;
	chi_arena_init(&arena, 1u << 20);
	assert_int_equal(chi_key_from_fen(START, strlen(START), &key, NULL), CHI_OK);
	assert_int_equal(text_line(&cli, &key, "e2e4 e5 1. Nf3", &arena, &moves, &n), EXIT_DONE);
	assert_int_equal(n, 3);
	assert_int_equal(text_line(&cli, &key, "", &arena, &moves, &n), EXIT_DONE);
	assert_int_equal(n, 0);
	assert_int_equal(text_line(&cli, &key, "e2e5", &arena, &moves, &n), EXIT_USAGE);
	chi_arena_deinit(&arena);
}

/* Every form of a range, and those that look like one. */
CASE(pieces)
{
	static const struct {
		const char *text;
		uint8_t min;
		uint8_t max;
	} good[] = {{"3..5", 3, 5}, {"7", 7, 7}, {"..4", 1, 4}, {"30..", 30, 32}, {"1..32", 1, 32}};
	for (size_t i = 0; i < CHI_COUNT(good); i++) {
		chosen = all;
		assert_int_equal(set("pieces", good[i].text), 0);
		assert_int_equal(chosen.spec.filter.pieces_min, good[i].min);
		assert_int_equal(chosen.spec.filter.pieces_max, good[i].max);
	}
	static const char *const bad[] = {"", "..", "0", "33", "5..3", "a..b", "3.5", "3..5..7"};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		assert_int_equal(set("pieces", bad[i]), EXIT_USAGE);
	}
}

CASE(filters)
{
	chosen = all;
	assert_int_equal(chosen.spec.chi2_min, 0);
	assert_int_equal(chosen.spec.chi2_max, CHI_CHI2_MAX);
	assert_int_equal(set("min", "39.82"), EXIT_DONE);
	assert_int_equal(set("max", "0"), EXIT_DONE);
	assert_int_equal(chosen.spec.chi2_min, 3982);
	assert_int_equal(chosen.spec.chi2_max, 0);
	assert_int_equal(filter_check(&cli, &chosen.spec), EXIT_USAGE);
	assert_int_equal(set("max", "x"), EXIT_USAGE);
	assert_int_equal(set("side", "b"), EXIT_DONE);
	assert_int_equal(chosen.spec.filter.side, CHI_SIDE_BLACK);
	assert_int_equal(set("side", "white"), EXIT_USAGE);
	assert_int_equal(set("min-games", "-1"), EXIT_USAGE);
	assert_int_equal(set("material", "KRvXK"), EXIT_USAGE);
	chosen = all;
	assert_int_equal(set("either-colour", NULL), EXIT_DONE);
	assert_int_equal(filter_check(&cli, &chosen.spec), EXIT_USAGE);
	assert_int_equal(set("material", "KRPvKR"), EXIT_DONE);
	assert_int_equal(filter_check(&cli, &chosen.spec), EXIT_DONE);
	assert_int_equal(chosen.spec.filter.material.white[0], 1);
	assert_int_equal(chosen.spec.filter.material.black[0], 0);
}

/* Two slips are seen through; words that have little in common are not guessed at. */
CASE(mistyped)
{
	assert_int_equal(text_distance("", ""), 0);
	assert_int_equal(text_distance("get", ""), 3);
	assert_int_equal(text_distance("scna", "scan"), 1);
	assert_int_equal(text_distance("kitten", "sitting"), 3);
	static const struct {
		const char *typed;
		const char *meant;
	} words[] = {
		{"scna", "scan"},
		{"gte", "get"},
		{"improt", "import"},
		{"dmup", "dump"},
		{"lod", "load"},
		{"inof", "info"},
		{"verfy", "verify"},
		{"xyzzy", NULL},
		{"backupp", "backup"},
		{"", NULL},
		{"a-command-that-is-far-longer-than-any-that-there-are", NULL},
	};
	for (size_t i = 0; i < CHI_COUNT(words); i++) {
		const char *near = command_nearest(words[i].typed);
		if (words[i].meant == NULL) {
			assert_null(near);
		} else {
			assert_string_equal(near, words[i].meant);
		}
	}
}

/* Each command says what it does, how, and shows it. */
CASE(complete_texts)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command *command = commands[i];
		assert_ptr_equal(command_find(command->name), command);
		assert_true(strlen(command->summary) > 10 && strlen(command->summary) < 70);
		assert_true(strlen(command->help) > 40);
		assert_non_null(strstr(command->example, "chistore"));
		assert_non_null(strstr(command->example, command->name));
		/* cli->given has a bit for each. */
		size_t n = 0;
		while (command->options != NULL && command->options[n].name != NULL) {
			assert_non_null(command->options[n++].read);
		}
		assert_true(n < 64);
	}
	assert_null(command_find("nonesuch"));
}
