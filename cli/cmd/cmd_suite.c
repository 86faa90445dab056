/* SPDX-License-Identifier: MIT */
/*
 * chistore suite: positions to begin matches of engines from, drawn at random among those that fit,
 * no two of which look alike. Each has a number, the hash of its key and the seed; those with the
 * least ones are drawn, so the same store and seed give the same suite, in whatever order a walk
 * meets them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/evidence.h"
#include "chess/key.h"
#include "cli/in/filter.h"
#include "cli/out/export_text.h"

#define ARENA_BUDGET ((size_t)4 << 20)
/* Drawn for each that is wanted: most of these may look like another. */
#define DRAWN_FOR_ONE 64
#define COUNT_MOST    100000

struct suite_state {
	struct chi_scan_spec spec;
	const char *path;
	uint64_t count;
	uint64_t apart;
	uint64_t seed;
};

static const struct suite_state defaults = {
	.spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .order = CHI_ORDER_POSITION},
	.count = 500,
	.apart = 4,
};

/* A position that fits. */
struct drawn {
	uint64_t number;
	struct chi_key key;
};

/* Those with the least numbers so far, and others. */
struct draw {
	struct drawn *drawn;
	size_t n;
	size_t most;	/* that are kept; there is room for half as many more */
	uint64_t limit; /* numbers above it are not kept */
	uint64_t fit;	/* positions that fit */
};

/* ---- Drawing ------------------------------------------------------------------------------ */

static int compare_drawn(const void *a, const void *b)
{
	const struct drawn *left = a;
	const struct drawn *right = b;
	if (left->number != right->number) {
		return left->number < right->number ? -1 : 1;
	}
	return memcmp(left->key.bytes, right->key.bytes, sizeof(left->key.bytes));
}

/* In order, and no more than are kept. */
static void sort_drawn(struct draw *draw)
{
	if (draw->n > 0) {
		qsort(draw->drawn, draw->n, sizeof(draw->drawn[0]), compare_drawn);
	}
	if (draw->n >= draw->most) {
		draw->n = draw->most;
		draw->limit = draw->drawn[draw->n - 1].number;
	}
}

static void draw_one(struct draw *draw, const struct chi_key *key, uint64_t seed)
{
	struct drawn drawn = {XXH3_64bits_withSeed(key->bytes, key->len, seed), *key};
	draw->fit++;
	if (drawn.number > draw->limit) {
		return;
	}
	if (draw->n == draw->most + draw->most / 2) {
		sort_drawn(draw);
	}
	draw->drawn[draw->n++] = drawn;
}

static int draw_all(struct cli *cli, struct draw *draw)
{
	const struct suite_state *state = cli->state;
	_cleanup_(chi_rows_closep) struct chi_rows *rows = NULL;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	int status = chi_scan_open(cli->client, &state->spec, &rows);
	while (status == CHI_OK && cli_stop == 0 &&
	       (status = chi_scan_next(rows, &row, &record)) == CHI_OK) {
		draw_one(draw, &row->key, state->seed);
	}
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	if (status < 0) {
		return cli_fail(cli->client, status);
	}
	sort_drawn(draw);
	return EXIT_DONE;
}

/* ---- Choosing ----------------------------------------------------------------------------- */

/* On how many squares the boards are not alike. */
static unsigned count_differing(const struct chi_position *a, const struct chi_position *b)
{
	uint64_t squares = (a->colour[CHI_WHITE] ^ b->colour[CHI_WHITE]) |
			   (a->colour[CHI_BLACK] ^ b->colour[CHI_BLACK]);
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		squares |= a->kind[kind] ^ b->kind[kind];
	}
	return (unsigned)__builtin_popcountll(squares);
}

/* What a run owns. */
struct suite {
	struct draw draw;
	struct chi_position *chosen;
	size_t n;
	struct chi_arena arena;
	struct target target;
};

static void suite_deinit(struct suite *suite)
{
	free(suite->draw.drawn);
	free(suite->chosen);
	chi_arena_deinit(&suite->arena);
	target_discard(&suite->target);
}

static bool is_apart(const struct suite *suite, const struct chi_position *position, uint64_t apart)
{
	for (size_t i = 0; i < suite->n; i++) {
		if (count_differing(&suite->chosen[i], position) < apart) {
			return false;
		}
	}
	return true;
}

/* The line of one that is chosen; one that went meanwhile is none. */
static int write_chosen(struct cli *cli, struct suite *suite, const struct chi_key *key)
{
	const struct suite_state *state = cli->state;
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_record record;
	chi_arena_init(&arena, CHI_EVALS_MAX * sizeof(struct chi_eval));
	int status = chi_get(cli->client, key, &record);
	if (status == CHI_OK) {
		status = chi_evidence_apply(&state->spec.filter.evidence, &arena, &record);
	}
	if (status < 0) {
		return cli_fail(cli->client, status);
	}
	return status == CHI_OK
		       ? export_row(&suite->target, EXPORT_EPD, key, &record, &suite->arena)
		       : EXIT_DONE;
}

static int choose_apart(struct cli *cli, struct suite *suite)
{
	const struct suite_state *state = cli->state;
	int code = EXIT_DONE;
	for (size_t i = 0; code == EXIT_DONE && i < suite->draw.n && suite->n < state->count; i++) {
		if (cli_stop != 0) {
			return 128 + cli_stop;
		}
		const struct chi_key *key = &suite->draw.drawn[i].key;
		struct chi_position position;
		if (chi_key_decode(key, &position, NULL) != CHI_OK) {
			return cli_fault(-CHI_EKEY, &(struct chi_fault){.text = "a stored key"});
		}
		if (is_apart(suite, &position, state->apart)) {
			suite->chosen[suite->n++] = position;
			code = write_chosen(cli, suite, key);
		}
	}
	return code;
}

/* ---- The command -------------------------------------------------------------------------- */

static int run_suite(struct cli *cli)
{
	_cleanup_(suite_deinit) struct suite suite = {.n = 0};
	struct suite_state *state = cli->state;
	int code = filter_take(cli, &state->spec);
	if (code != EXIT_DONE) {
		return code;
	}
	chi_arena_init(&suite.arena, ARENA_BUDGET);
	suite.draw.most = DRAWN_FOR_ONE * state->count;
	suite.draw.limit = UINT64_MAX;
	suite.draw.drawn = calloc(suite.draw.most + suite.draw.most / 2, sizeof(*suite.draw.drawn));
	suite.chosen = calloc(state->count, sizeof(*suite.chosen));
	if (suite.draw.drawn == NULL || suite.chosen == NULL) {
		return cli_no_memory();
	}
	code = draw_all(cli, &suite.draw);
	if (code == EXIT_DONE && suite.draw.fit == 0) {
		cli_message("no position fits");
		return EXIT_NOT_FOUND;
	}
	code = code == EXIT_DONE ? target_open(&suite.target, state->path) : code;
	code = code == EXIT_DONE ? choose_apart(cli, &suite) : code;
	code = code == EXIT_DONE ? target_finish(&suite.target) : code;
	if (code == EXIT_DONE && !cli->quiet) {
		cli_message("%zu of %" PRIu64 " positions that fit%s", suite.n, suite.draw.fit,
			    suite.n == state->count ? ""
			    : suite.draw.n < suite.draw.fit
				    ? ": of those that were drawn no more are so far apart"
				    : ": no more are so far apart");
	}
	return code;
}

static const struct cli_option options[] = {
	OPTION_NUMBER(suite_state, count, 1, COUNT_MOST, "count", "N",
		      "so many positions (default: 500)"),
	OPTION_NUMBER(suite_state, apart, 0, 64, "apart", "N",
		      "no two are alike on all but fewer than N squares (default: 4)"),
	OPTION_NUMBER(suite_state, seed, 0, UINT64_MAX, "seed", "N",
		      "another suite for another number (default: 0)"),
	OPTION_TEXT(suite_state, path, "output", "FILE",
		    "-o too: a file instead of standard output"),
	FILTER_OPTIONS(suite_state),
	EVIDENCE_OPTIONS(suite_state, spec.filter.evidence),
	OPTIONS_END,
};

const struct command cmd_suite = {
	.name = "suite",
	.arguments = "",
	.summary = "draw positions to begin matches of engines from, as EPD",
	.help = "Draws positions at random among those that fit, no two of which look alike, and\n"
		"writes them as 'export --format epd' does: the deepest evaluation with its "
		"engine\n"
		"and depth, and the results of its games, are in each line. --eval says how\n"
		"balanced they are, --ply how deep in the opening, --engines and --min-games how\n"
		"well that is known. The same store and --seed give the same suite.\n"
		"\n"
		"A move changes two squares, castling four. Of many that fit, 64 times --count "
		"are\n"
		"drawn before those are left out that look like another.",
	.example =
		"chistore -a ./evals suite --eval 0.9..1.1 --engines 2 --ply 12..20 "
		"--count 500 -o suite.epd\n"
		"chistore -a ./games suite --min-games 50 --score 45..55 --ply 8..16 -o even.epd",
	.options = options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct suite_state),
	.defaults = &defaults,
	.run = run_suite,
};
