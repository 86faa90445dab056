/* SPDX-License-Identifier: MIT */
/* chistore review: one's games with remarks of the store, as PGN; review.h has its parts. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "chess/key.h"
#include "chess/pgn/write.h"
#include "cli/command.h"
#include "cli/in/files.h"
#include "cli/work/pgn_file.h"
#include "cli/work/review.h"
#include "cli/work/worker.h"

#define PGN_MAX	  (256u << 20) /* of a game written */
#define SWING_MAX 1500

static const struct review_state defaults = {
	.swing = 50, .min_games = 1, .patience = 600, .limits = {.lines = 1}};

static void review_deinit(struct review *review)
{
	engine_close(&review->engine);
	target_discard(&review->missed);
	chi_pgn_free(review->pgn);
	free(review->keys);
	free(review->rows);
	free(review->known);
	free(review->remarks);
	free(review->notes);
}

static bool review_init(struct review *review, struct cli *cli)
{
	const struct review_state *state = cli->state;
	*review = (struct review){.cli = cli,
				  .state = state,
				  .engine = {.command = state->engine,
					     .options = state->options,
					     .limits = state->limits}};
	review->keys = calloc(REVIEW_POSITIONS, sizeof(*review->keys));
	review->rows = calloc(REVIEW_POSITIONS, sizeof(*review->rows));
	review->known = calloc(REVIEW_POSITIONS, sizeof(*review->known));
	review->remarks = calloc(REVIEW_POSITIONS, sizeof(*review->remarks));
	return review->keys != NULL && review->rows != NULL && review->known != NULL &&
	       review->remarks != NULL && chi_pgn_new(&review->pgn) == CHI_OK &&
	       chi_pgn_keep_all(review->pgn) == CHI_OK;
}

static int write_game(struct review *review, struct chi_buffer *text)
{
	const struct chi_pgn_game *game = review->game;
	const struct chi_pgn_whole *whole = game->whole;
	struct chi_tag tags[CHI_PGN_ALL_TAGS_MAX];
	struct chi_game out = {
		.head = {.result = (uint8_t)game->result},
		.tags = tags,
		.n_tags = whole->n_tags,
		.start = review->keys[0],
		.moves = game->moves,
		.n_plies = game->n_plies,
		.notes = review->notes,
		.n_notes = review->n_notes,
		.rest = whole->rest,
		.n_rest = whole->n_rest,
	};
	struct chi_key initial;
	chi_key_encode(&chi_position_initial, &initial);
	out.has_start = memcmp(&initial, &out.start, sizeof(initial)) != 0;
	for (size_t i = 0; i < whole->n_tags; i++) {
		const struct chi_pgn_named *tag = &whole->tags[i];
		tags[i] = (struct chi_tag){tag->name.text, tag->name.len, tag->value.text,
					   tag->value.len};
	}
	chi_buffer_consume(text, text->len);
	int status = chi_pgn_write(&out, text);
	if (status != CHI_OK) {
		cli_message("cannot write game %" PRIu64 " (%s)", game->number,
			    chi_strerror(status));
		return EXIT_STORE;
	}
	(void)fwrite(chi_buffer_bytes(text), 1, text->len, stdout);
	return EXIT_DONE;
}

static int write_annotated(struct review *review)
{
	struct chi_buffer text;
	chi_buffer_init(&text, PGN_MAX);
	int code = review_annotate(review) ? write_game(review, &text) : cli_no_memory();
	chi_buffer_deinit(&text);
	return code;
}

static int review_game(void *context, const char *path, const struct chi_pgn_game *game)
{
	struct review *review = context;
	int code = EXIT_DONE;
	(void)path;
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	review->game = game;
	int status = review_ask(review);
	status = status < 0 ? status : review_find_new(review);
	if (status < 0) {
		return cli_fail(review->cli->client, status);
	}
	if (review->state->engine != NULL) {
		code = review_search(review);
	}
	if (code == EXIT_DONE) {
		review_remark(review);
		code = write_annotated(review);
	}
	return code == EXIT_DONE && review->missed.file != NULL ? review_write_missed(review)
								: code;
}

/* ---- The command --------------------------------------------------------------------------- */

static int check_review(struct cli *cli, struct review_state *state)
{
	struct engine_limits *limits = &state->limits;
	int kinds = (limits->depth != 0) + (limits->nodes != 0) + (limits->movetime != 0);
	if (cli->json) {
		return cli_usage(cli, "what it prints is PGN, not JSON");
	}
	if (state->engine == NULL &&
	    (kinds > 0 || state->options != NULL || cli_given(cli, "patience"))) {
		return cli_usage(cli, "--depth, --nodes, --movetime, --set and --patience go with "
				      "--engine");
	}
	if (state->engine != NULL && kinds != 1) {
		return cli_usage(cli, "one of --depth, --nodes and --movetime says how far");
	}
	if (state->options != NULL && strlen(state->options) > ENGINE_OPTIONS_MAX) {
		return cli_usage(cli, "--set takes up to %d bytes", ENGINE_OPTIONS_MAX);
	}
	if (state->missed != NULL && strcmp(state->missed, "-") == 0) {
		return cli_usage(cli, "--missed: the games go to standard output");
	}
	limits->patience_ms = 1000 * state->patience;
	return EXIT_DONE;
}

static int open_all(struct review *review)
{
	struct cli *cli = review->cli;
	struct chi_info info = {.keep = CHI_KEEP_COUNTS};
	int code = review->state->engine != NULL ? worker_open(cli, &cli->client)
						 : cli_open(cli, false, &cli->client);
	if (code == EXIT_DONE) {
		int status = chi_store_info(cli->client, &info);
		code = status == CHI_OK ? EXIT_DONE : cli_fail(cli->client, status);
	}
	review->has_games = info.keep == CHI_KEEP_GAMES && info.shards == 0 && !info.partial;
	if (code == EXIT_DONE && review->state->missed != NULL) {
		code = target_open(&review->missed, review->state->missed);
	}
	if (review->state->engine != NULL) {
		cli_catch_signals();
		/* An engine that is gone is found out by reading; children have the default. */
		(void)signal(SIGPIPE, SIG_IGN);
		progress_init(&review->progress, cli->quiet, 0);
	}
	return code;
}

/* The file stays as it was where the games themselves could not be printed. */
static int finish_missed(struct review *review)
{
	errno = 0;
	if (fflush(stdout) != 0 || cli_output_failed()) {
		cli_output_tell(errno);
		return EXIT_STORE;
	}
	return target_finish(&review->missed);
}

static int run_review(struct cli *cli)
{
	_cleanup_(review_deinit) struct review review;
	uint64_t total = 0;
	if (!review_init(&review, cli)) {
		return cli_no_memory();
	}
	int code = check_review(cli, cli->state);
	review.engine.limits = review.state->limits;
	code = code == EXIT_DONE ? files_check(cli, cli->argc, cli->argv, &total) : code;
	code = code == EXIT_DONE ? open_all(&review) : code;
	for (int i = 0; i < cli->argc && code == EXIT_DONE && !cli_output_failed(); i++) {
		code = pgn_file(cli, cli->argv[i], review.pgn, review_game, &review);
	}
	return code == EXIT_DONE && review.missed.file != NULL ? finish_missed(&review) : code;
}

static const struct cli_option options[] = {
	OPTION_TEXT(review_state, player, "player", "NAME", "judge the moves of this player alone"),
	OPTION_NUMBER(review_state, swing, 1, SWING_MAX, "swing", "CENTIPAWNS",
		      "tell moves that lose so much (default: 50)"),
	OPTION_NUMBER(review_state, min_games, 1, UINT32_MAX, "min-games", "N",
		      "a move of fewer games is not of the book (default: 1)"),
	OPTION_TEXT(review_state, missed, "missed", "FILE",
		    "write positions whose moves lost so much, as EPD with bm"),
	OPTION_TEXT(review_state, engine, "engine", "COMMAND",
		    "ask this UCI engine where the store knows too little; store what it says"),
	OPTION_NUMBER(review_state, limits.depth, 1, 65535, "depth", "N",
		      "... that is less than this depth, to this depth"),
	OPTION_NUMBER(review_state, limits.nodes, 1, UINT32_MAX, "nodes", "N",
		      "... or nothing; so many nodes"),
	OPTION_NUMBER(review_state, limits.movetime, 1, 86400000, "movetime", "MS",
		      "... or nothing; so long for each position"),
	OPTION_TEXT(review_state, options, "set", "NAME=VALUE[;..]", "options of the engine"),
	OPTION_NUMBER(review_state, patience, 1, 86400, "patience", "SECONDS",
		      "an engine that takes longer hangs (default 600; of --movetime: beyond it)"),
	OPTIONS_END,
};

const struct command cmd_review = {
	.name = "review",
	.arguments = "GAMES.pgn...",
	.summary = "print one's games with remarks of the store",
	.help = "Prints the games of PGN files, - for standard input, with remarks:\n"
		"  novelty          the first move to a position that no earlier game of the "
		"store\n"
		"                   reached, from one that --min-games had; how many, and what "
		"most\n"
		"                   of them played, with its score\n"
		"  out of book      the first move that no game of the store played, if it is no\n"
		"                   novelty; and those that were played most instead\n"
		"  ?!, ?, ??        ($6, $2, $4) moves that by the stored evaluations before and\n"
		"                   after them lose --swing, twice and four times as much; both\n"
		"                   evaluations from White's view, and what was better as a "
		"variation\n"
		"  better results   another move of 10 games or more that made 10 points of a "
		"hundred\n"
		"                   more\n"
		"Without --engine nothing is searched or stored. The games' own tags,\n"
		"comments and variations stay. Earlier are games with an earlier date; of a game\n"
		"without a date all but itself. If the games are in the store themselves, "
		"--min-games\n"
		"2 is what others played.\n"
		"\n"
		"A line of --missed has what was better (bm), what was played (am), the game (id) "
		"and\n"
		"both evaluations (c0). The trainer of chistore-http's page takes the file.",
	.example = "chistore -a ./positions review my-games.pgn\n"
		   "chistore -a ./positions review --player Velan --swing 100 my-games.pgn\n"
		   "chistore -a ./positions review --player Velan --engine stockfish --depth 16 "
		   "--missed missed.epd my-games.pgn",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.state_size = sizeof(struct review_state),
	.defaults = &defaults,
	.run = run_review,
};
