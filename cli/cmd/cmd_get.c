/* SPDX-License-Identifier: MIT */
/* chistore get: everything known about positions, as JSON or, for people, with a board. */
#include <stdio.h>

#include "cli/command.h"
#include "base/evidence.h"
#include "cli/in/fens.h"
#include "cli/in/filter.h"
#include "cli/out/explored.h"
#include "cli/out/output.h"
#include "cli/out/record.h"

/* Positions that are asked for together. */
#define TOGETHER 256

struct get_state {
	bool as_table;
	struct chi_evidence evidence;
	struct table_options table;
};

struct gathered {
	struct chi_key keys[TOGETHER];
	struct place places[TOGETHER];
	struct table table; /* open: for people */
	enum chi_statistic statistic;
	const struct chi_evidence *evidence;
	bool printed; /* anything in the table */
	size_t n;
	size_t done;		/* of them: printed, or said to be missing */
	int code;		/* the worst so far */
	struct chi_arena arena; /* of a printed record */
};

/* A blank line between two. */
static void print_board(struct gathered *gathered, const struct place *place,
			const struct chi_record *record)
{
	const struct card card = {.key = place->key,
				  .eco = place->eco,
				  .opening = place->opening,
				  .plies = place->plies,
				  .record = record,
				  .statistic = gathered->statistic};
	if (gathered->printed) {
		(void)putc('\n', gathered->table.out);
	}
	gathered->printed = true;
	int status = card_print(&gathered->table, &card);
	if (status == CHI_OK) {
		status = explored_record(&place->key, record, &gathered->table);
	}
	if (status != CHI_OK) {
		cli_message("cannot print a record (%s)", chi_strerror(status));
		gathered->code = EXIT_STORE;
	}
}

/* A position that is not stored prints nothing, so that each line of output is a record. */
static int print_record(void *context, size_t i, const struct chi_record *record)
{
	struct gathered *gathered = context;
	const struct chi_key *key = &gathered->keys[gathered->done++];
	(void)i;
	struct chi_record seen = record != NULL ? *record : (struct chi_record){0};
	chi_arena_reset(&gathered->arena);
	int status = chi_evidence_apply(gathered->evidence, &gathered->arena, &seen);
	if (status < 0) {
		return status;
	}
	if (record != NULL && gathered->table.out != NULL) {
		print_board(gathered, &gathered->places[gathered->done - 1], &seen);
		return CHI_OK;
	}
	if (record != NULL) {
		const char *text = NULL;
		size_t len = 0;
		status = record_text(key, &seen, true, &gathered->arena, &text, &len);
		if (status == CHI_OK) {
			(void)fwrite(text, 1, len, stdout);
		} else {
			cli_message("cannot print a record (%s)", chi_strerror(status));
			cli_output_lost();
		}
		return CHI_OK;
	}
	gathered->code = cli_worse(gathered->code, cli_not_found(key));
	return CHI_OK;
}

/* A damaged record is skipped, as if each position were asked for by itself. */
static int answer_get(struct cli *cli, void *context)
{
	struct gathered *gathered = context;
	int status = CHI_OK;
	gathered->code = EXIT_DONE;
	gathered->done = 0;
	while (gathered->done < gathered->n && (status == CHI_OK || status == -CHI_ECORRUPT)) {
		status = chi_get_many(cli->client, gathered->keys + gathered->done,
				      gathered->n - gathered->done, print_record, gathered);
		if (status != CHI_OK) {
			gathered->code = cli_worse(gathered->code, cli_fail(cli->client, status));
			gathered->done++;
		}
	}
	gathered->n = 0;
	/* A program, or a person who types, waits for it. */
	if (gathered->table.out != NULL && cli->argc == 0) {
		table_flush(&gathered->table);
	}
	return gathered->code;
}

static int gather(struct cli *cli, void *context, const struct place *place)
{
	struct gathered *gathered = context;
	gathered->places[gathered->n] = *place;
	gathered->keys[gathered->n++] = place->key;
	return gathered->n < TOGETHER ? EXIT_DONE : answer_get(cli, context);
}

/* An option that would silently do nothing is a mistake. */
static int check_options(const struct cli *cli, const struct get_state *wanted)
{
	static const char *const of_tables[] = {"ascii", "color", "no-pager"};
	for (size_t i = 0; i < CHI_COUNT(of_tables) && !wanted->as_table; i++) {
		if (cli_given(cli, of_tables[i])) {
			return cli_usage(cli, "--%s goes with --table", of_tables[i]);
		}
	}
	if (wanted->as_table && cli->json) {
		return cli_usage(cli, "--table and --json exclude each other");
	}
	return EXIT_DONE;
}

static int run_get(struct cli *cli)
{
	const struct get_state *wanted = cli->state;
	static struct gathered gathered;
	const struct fens_user user = {.each = gather, .flush = answer_get, .context = &gathered};
	gathered.evidence = &wanted->evidence;
	int code = check_options(cli, wanted);
	if (code != EXIT_DONE) {
		return code;
	}
	if (wanted->as_table) {
		int status = card_statistic(cli->client, &gathered.statistic);
		if (status != CHI_OK) {
			return cli_fail(cli->client, status);
		}
		if (!table_open(&wanted->table, &gathered.table)) {
			return EXIT_STORE;
		}
	}
	chi_arena_init(&gathered.arena, RECORD_ARENA);
	code = fens_each(cli, &user);
	chi_arena_deinit(&gathered.arena);
	if (gathered.table.out != NULL) {
		table_close(&gathered.table);
	}
	return code;
}

static const struct cli_option options[] = {
	OPTION_FLAG(get_state, as_table, "table",
		    "for people: a board with what is known, and the moves"),
	EVIDENCE_OPTIONS(get_state, evidence),
	TABLE_OPTIONS(get_state),
	OPTIONS_END,
};

const struct command cmd_get = {
	.name = "get",
	.arguments = "[POSITION...]",
	.summary = "print everything known about positions",
	.help = "Prints for each position one line of JSON: fen, chi2 (null: not known), games,\n"
		"white, draws, black, other (games without a result), min_ply (the lowest ply at\n"
		"which a game reached it), plies (how many games at each), moves (played from\n"
		"here, the most played first), evals, line, note, endgame (its class, and what is\n"
		"known of it). A position that is not stored is named on standard error, and the\n"
		"exit code is 1.\n"
		"Without arguments positions are read from standard input, one a line; blank\n"
		"lines and lines starting with # are skipped.\n\n" PLACE_HELP,
	.example = "chistore -a ./positions get startpos\n"
		   "chistore -a ./positions get e4 c5 Nf3 --table\n"
		   "chistore -a ./positions get "
		   "'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'",
	.options = options,
	.args_max = -1,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct get_state),
	.run = run_get,
};
