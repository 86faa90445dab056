/* SPDX-License-Identifier: MIT */
/* chistore put: stores one position, or more about it. */
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "base/record.h"
#include "cli/command.h"
#include "cli/in/lines_import.h"
#include "cli/in/place.h"
#include "cli/in/put_text.h"
#include "cli/out/output.h"
#include "store/store.h"

/* Enough for the longest line. */
#define ARENA_BUDGET (1u << 20)

struct put_state {
	const char *line; /* needs the position: read when the FEN is known */
	const char *note;
	uint16_t chi2;
	bool add;
	bool batch;
	bool strict;
	bool verbose;
	struct chi_counts counts;
	struct chi_eval evals[CHI_EVALS_MAX];
	size_t n_evals;
};

/* Takes an evaluation to its place in a record: ascending by engine and rank, one of each, the
 * deeper, of equal depth the later. */
static int take_eval(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct put_state *put = out;
	struct chi_eval eval;
	size_t at = 0;
	int code = text_eval(cli, value, &eval);
	if (code != EXIT_DONE) {
		return code;
	}
	while (at < put->n_evals && chi_eval_compare(&put->evals[at], &eval) < 0) {
		at++;
	}
	if (at < put->n_evals && chi_eval_compare(&put->evals[at], &eval) == 0) {
		put->evals[at] = put->evals[at].depth > eval.depth ? put->evals[at] : eval;
		return EXIT_DONE;
	}
	if (put->n_evals == CHI_EVALS_MAX) {
		return cli_usage(cli, "--%s: at most %d evaluations in one put", option->name,
				 CHI_EVALS_MAX);
	}
	memmove(&put->evals[at + 1], &put->evals[at], (put->n_evals - at) * sizeof(put->evals[0]));
	put->evals[at] = eval;
	put->n_evals++;
	return EXIT_DONE;
}

static int take_chi2(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	char stored[CHI_CHI2_TEXT_SIZE];
	uint16_t *chi2 = out;
	if (chi_chi2_parse(value, strlen(value), chi2) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is not a number", option->name, value);
	}
	if (chi_num_chi2_clamped(value, strlen(value))) {
		(void)chi_chi2_print(*chi2, stored);
		cli_message("--%s: %s is beyond the scale, stored as %s", option->name, value,
			    stored);
	}
	return EXIT_DONE;
}

/* What the options gave becomes the parts of a put; what they did not stays as it is stored. */
static void take_parts(const struct cli *cli, struct chi_put_entry *put)
{
	struct put_state *state = cli->state;
	if (cli_given(cli, "chi2")) {
		put->parts |= CHI_PUT_CHI2;
		put->record.chi2 = state->chi2;
	}
	if (cli_given(cli, "counts")) {
		put->parts |= state->add ? CHI_PUT_ADD : CHI_PUT_COUNTS;
		put->record.counts = state->counts;
	}
	if (state->note != NULL) {
		put->parts |= CHI_PUT_NOTE;
		put->record.note = state->note;
		put->record.n_note = strlen(state->note);
	}
	if (state->n_evals > 0) {
		put->parts |= CHI_PUT_EVALS;
		put->record.evals = state->evals;
		put->record.n_evals = state->n_evals;
	}
}

/* Said here because it is the one mistake that the store's kind decides. */
static int check_statistic(struct cli *cli)
{
	struct chi_info info;
	int status = chi_store_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (info.statistic == CHI_STATISTIC_EXTERNAL) {
		return EXIT_DONE;
	}
	const char *kind = chi_statistic_name(info.statistic);
	return cli_usage(cli,
			 "--chi2: this store holds the %s statistic, which is computed; only "
			 "an external store takes a value",
			 kind != NULL ? kind : "unknown");
}

/* Puts the position durably and says what became of it. */
static int put_entry(struct cli *cli, const struct chi_put_entry *put)
{
	struct chi_put_result result = {0};
	char fen[CHI_FEN_SIZE];
	int status = chi_put(cli->client, put, 1, CHI_SYNC, &result);
	if (status == CHI_OK) {
		status = chi_key_to_fen(&put->key, fen, NULL);
	}
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	const char *what = result.added > 0	? "added"
			   : result.updated > 0 ? "updated"
						: "unchanged";
	return output_object(cli, cli->json ? json_pack("{s:s, s:s}", "result", what, "fen", fen)
					    : json_pack("{s:s}", what, fen));
}

/* Lines of JSON, which say everything themselves. */
static int run_batch(struct cli *cli)
{
	static const char *const of_one[] = {"chi2", "note", "line", "eval", "counts"};
	const struct put_state *options = cli->state;
	struct line_files files = {.run.options = {.format = CHI_FORMAT_JSONL, .add = options->add},
				   .verbose = options->verbose,
				   .strict = options->strict};
	for (size_t i = 0; i < CHI_COUNT(of_one); i++) {
		if (cli_given(cli, of_one[i])) {
			return cli_usage(cli, "--%s goes with a FEN, not with --batch", of_one[i]);
		}
	}
	if (cli->argc > 0) {
		return cli_usage(cli, "--batch reads positions from standard input, not '%s'",
				 cli->argv[0]);
	}
	return lines_pipe(cli, &files);
}

/* Everything that can be wrong with the options is found before anything is sent. */
static int run_one(struct cli *cli)
{
	struct put_state *options = cli->state;
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_put_entry put = {.parts = 0};
	chi_arena_init(&arena, ARENA_BUDGET);
	if (options->add && !cli_given(cli, "counts")) {
		return cli_usage(cli, "--add says something only with --counts");
	}
	struct place place;
	int code = place_take_all(cli, &place);
	put.key = place.key;
	if (code == EXIT_DONE && options->line != NULL) {
		code = text_line(cli, &put.key, options->line, &arena, &put.record.line,
				 &put.record.n_line);
		put.parts |= CHI_PUT_LINE;
	}
	if (code == EXIT_DONE && cli_given(cli, "chi2")) {
		code = check_statistic(cli);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	take_parts(cli, &put);
	/* Here too, so that a text is refused with the same words for every address. */
	struct chi_fault fault = {.text = ""};
	if (chi_put_check(&put, CHI_STATISTIC_EXTERNAL, &fault) != CHI_OK) {
		return cli_usage(cli, "%s", fault.text);
	}
	return put_entry(cli, &put);
}

static int run_put(struct cli *cli)
{
	const struct put_state *options = cli->state;
	if (options->batch) {
		return run_batch(cli);
	}
	if (cli->argc == 0) {
		return cli_usage(cli, "a position is missing; with --batch positions are read from "
				      "standard input");
	}
	if (options->strict || options->verbose) {
		return cli_usage(cli, "--%s says something only with --batch",
				 options->strict ? "strict" : "verbose");
	}
	return run_one(cli);
}

static const struct cli_option options[] = {
	OPTION(put_state, chi2, take_chi2, "chi2", "X",
	       "the statistic, 0.01 to 255.99 (external stores only)"),
	OPTION_TEXT(put_state, note, "note", "TEXT", "set the note; an empty text removes it"),
	OPTION_TEXT(put_state, line, "line", "MOVES",
		    "set the line, \"e2e4 e7e5\" or \"e4 e5\"; empty removes it"),
	{"eval", "E:D:SCORE", "engine, depth, centipawns or mateN, /LINE (MultiPV); repeatable",
	 take_eval, 0, 0, 0, NULL, NULL},
	OPTION(put_state, counts, option_counts, "counts", "W,D,L",
	       "set the games won by White, drawn, won by Black"),
	OPTION_FLAG(put_state, add, "add", "add the counts to those stored"),
	OPTION_FLAG(put_state, batch, "batch",
		    "read positions from standard input: lines of JSON as 'get' prints them"),
	OPTION_FLAG(put_state, strict, "strict", "batch: exit 3 if a line was rejected"),
	OPTION_FLAG(put_state, verbose, "verbose",
		    "batch: report every bad line, not only the first 20"),
	OPTIONS_END,
};

const struct command cmd_put = {
	.name = "put",
	.arguments = "POSITION [MOVE...] | --batch",
	.summary = "store a position, or more about it",
	.help = "Stores the position if it is new, and sets what the options give; everything\n"
		"else is left unchanged. Prints 'added', 'updated' or 'unchanged' and the FEN as\n"
		"it is stored. What has been printed is on disk.\n"
		"For each engine and line the deeper evaluation is kept, at equal depth the "
		"later.\n"
		"Scores are from the side to move's view: mate3 mates in three, mate-2 is mated\n"
		"in two.\n\n" PLACE_HELP,
	.example =
		"chistore -a ./positions put 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq "
		"- 0 1' \\\n      --line \"e4 e5\" --eval stockfish:20:35 --note 'where all "
		"begins'",
	.options = options,
	.args_max = -1,
	.needs = NEEDS_WRITE,
	.state_size = sizeof(struct put_state),
	.run = run_put,
};
