/* SPDX-License-Identifier: MIT */
/*
 * Reaches the values of the command line's options: the first byte chooses the option, the rest is
 * its value. What is refused is refused with one line that has no control characters in it; what
 * is taken stays within its bounds.
 */
#include <string.h>

#include "chess/key.h"
#include "chess/material.h"
#include "cli/in/filter.h"
#include "cli/bench/mix.h"
#include "cli/in/put_text.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

#define TEXT_MAX 1024
#define START	 "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

struct filter_state {
	struct chi_scan_spec spec;
};

static const struct cli_option filters[] = {FILTER_OPTIONS(filter_state)};

static int take_filter(struct cli *cli, const struct cli_option *option, const char *text)
{
	struct filter_state state = {.spec = {.chi2_max = CHI_CHI2_MAX}};
	const struct chi_scan_spec *spec = &state.spec;
	int code = option->read(cli, option, text, (char *)&state + option->offset);
	if (code == EXIT_DONE) {
		code = filter_check(cli, spec);
	}
	if (code == EXIT_DONE) {
		REQUIRE(spec->chi2_min <= spec->chi2_max && spec->chi2_max <= CHI_CHI2_MAX);
		REQUIRE(chi_filter_check(&spec->filter, NULL) == CHI_OK ||
			spec->filter.has_material);
	}
	return code;
}

static int take_mix(struct cli *cli, const char *text)
{
	struct mix mix;
	struct rng rng = {0};
	uint32_t sum = 0;
	int code = mix_parse(cli, NULL, text, &mix);
	if (code == EXIT_DONE) {
		for (size_t i = 0; i < MIX_KINDS; i++) {
			sum += mix.weights[i];
		}
		REQUIRE(sum == mix.sum && sum > 0);
		REQUIRE(mix.weights[mix_draw(&mix, &rng)] > 0);
	}
	return code;
}

static int take_eval(struct cli *cli, const char *text)
{
	struct chi_eval eval;
	int code = text_eval(cli, text, &eval);
	if (code == EXIT_DONE) {
		REQUIRE(eval.engine_len > 0 && eval.engine_len <= CHI_ENGINE_MAX);
		REQUIRE(eval.depth <= UINT16_MAX);
		REQUIRE(abs(eval.score) <= (eval.is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX));
	}
	return code;
}

static int take_line(struct cli *cli, const char *text)
{
	struct chi_put_entry put = {.parts = CHI_PUT_LINE};
	struct chi_arena arena;
	chi_arena_init(&arena, 1 << 20);
	REQUIRE(chi_key_from_fen(START, strlen(START), &put.key, NULL) == CHI_OK);
	int code = text_line(cli, &put.key, text, &arena, &put.record.line, &put.record.n_line);
	if (code == EXIT_DONE && put.record.n_line > 0) {
		REQUIRE(chi_put_check(&put, CHI_STATISTIC_EXTERNAL, NULL) == CHI_OK);
	}
	chi_arena_deinit(&arena);
	return code;
}

static int take_cursor(const char *text)
{
	struct chi_cursor cursor;
	char again[CHI_CURSOR_TEXT_SIZE];
	if (chi_cursor_parse(text, strlen(text), &cursor) == CHI_OK) {
		REQUIRE(chi_cursor_print(&cursor, again) == strlen(text));
		REQUIRE(strcasecmp(again, text) == 0);
	}
	return EXIT_DONE;
}

static int take(struct cli *cli, uint8_t choice, const char *text)
{
	static const struct cli_option option = {.name = "counts"};
	struct chi_counts counts;
	switch (choice % 16) {
	case 0:
		return take_mix(cli, text);
	case 1:
		return option_counts(cli, &option, text, &counts);
	case 2:
		return take_eval(cli, text);
	case 3:
		return take_line(cli, text);
	case 4:
		return take_cursor(text);
	default:
		return take_filter(cli, &filters[choice % 16 - 5], text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *quiet;
	static char said[8192];
	char text[TEXT_MAX];
	struct cli cli = {0};
	if (size == 0 || size > TEXT_MAX) {
		return 0;
	}
	if (quiet == NULL) {
		quiet = fmemopen(said, sizeof(said), "w");
		REQUIRE(quiet != NULL);
	}
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	rewind(quiet);
	FILE *loud = stderr;
	stderr = quiet;
	int code = take(&cli, data[0], text);
	stderr = loud;
	long len = ftell(quiet);
	REQUIRE((code == EXIT_DONE) == (len == 0));
	REQUIRE(fflush(quiet) == 0);
	for (long i = 0; i < len; i++) {
		REQUIRE((uint8_t)said[i] >= ' ' || said[i] == '\n');
	}
	return 0;
}
