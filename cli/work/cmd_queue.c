/* SPDX-License-Identifier: MIT */
/* chistore queue: positions that someone wants analysed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/in/fens.h"
#include "cli/out/columns.h"
#include "cli/out/output.h"

/* Positions that are asked for together. */
#define TOGETHER 1000

struct queue_state {
	uint64_t priority;
	uint64_t limit;
	enum chi_queue_state state; /* 0: not given */
	bool all;
};

/* Not given. */
#define NO_PRIORITY UINT64_MAX

static const struct queue_state defaults = {.priority = NO_PRIORITY};

/* ---- Adding and dropping ------------------------------------------------------------------- */

struct gathered {
	struct chi_key keys[TOGETHER];
	size_t n;
	bool drop;
	uint32_t priority;
	struct chi_queue_added added;
	uint64_t dropped;
};

static int flush_keys(struct cli *cli, void *context)
{
	struct gathered *gathered = context;
	struct chi_queue_added added = {0};
	uint64_t dropped = 0;
	if (gathered->n == 0) {
		return EXIT_DONE;
	}
	int status = gathered->drop ? chi_queue_settle(cli->client, 0, CHI_QUEUE_DROP,
						       gathered->keys, gathered->n, 0, &dropped)
				    : chi_queue_add(cli->client, gathered->keys, gathered->n,
						    gathered->priority, &added);
	gathered->n = 0;
	gathered->added.added += added.added;
	gathered->added.raised += added.raised;
	gathered->added.refused += added.refused;
	gathered->dropped += dropped;
	return status == CHI_OK ? EXIT_DONE : cli_fail(cli->client, status);
}

static int gather(struct cli *cli, void *context, const struct place *place)
{
	struct gathered *gathered = context;
	gathered->keys[gathered->n++] = place->key;
	return gathered->n < TOGETHER ? EXIT_DONE : flush_keys(cli, context);
}

static int each_position(struct cli *cli, struct gathered *gathered)
{
	const struct fens_user user = {.each = gather, .flush = flush_keys, .context = gathered};
	cli->argc--;
	cli->argv++;
	return fens_each(cli, &user);
}

static int run_add(struct cli *cli)
{
	const struct queue_state *state = cli->state;
	struct gathered *gathered = calloc(1, sizeof(*gathered));
	if (gathered == NULL) {
		return cli_no_memory();
	}
	gathered->priority = state->priority != NO_PRIORITY ? (uint32_t)state->priority : 1;
	int code = each_position(cli, gathered);
	const struct chi_queue_added *added = &gathered->added;
	if (added->refused > 0) {
		cli_message("the queue is full: %" PRIu64 " positions are left out",
			    added->refused);
		code = cli_worse(code, EXIT_STORE);
	}
	if (code == EXIT_DONE || added->added + added->raised + added->refused > 0) {
		(void)output_object(cli,
				    json_pack("{s:o, s:o, s:o}", "added", json_count(added->added),
					      "raised", json_count(added->raised), "refused",
					      json_count(added->refused)));
	}
	free(gathered);
	return code;
}

static int run_drop(struct cli *cli)
{
	const struct queue_state *state = cli->state;
	struct gathered *gathered = calloc(1, sizeof(*gathered));
	int code = EXIT_DONE;
	if (gathered == NULL) {
		return cli_no_memory();
	}
	if (state->all && cli->argc > 1) {
		free(gathered);
		return cli_usage(cli, "queue drop takes positions or --all");
	}
	gathered->drop = true;
	if (state->all) {
		int status = chi_queue_settle(cli->client, 0, CHI_QUEUE_DROP, NULL, 0, 0,
					      &gathered->dropped);
		code = status == CHI_OK ? EXIT_DONE : cli_fail(cli->client, status);
	} else {
		code = each_position(cli, gathered);
	}
	if (code == EXIT_DONE || gathered->dropped > 0) {
		(void)output_object(cli,
				    json_pack("{s:o}", "dropped", json_count(gathered->dropped)));
	}
	free(gathered);
	return code;
}

/* ---- Lists --------------------------------------------------------------------------------- */

static void fen_cell(const void *at, struct chi_cell *out)
{
	const struct chi_queue_row *row = at;
	chi_cell_name(out, chi_key_to_fen(&row->key, out->own, NULL) == CHI_OK ? out->own : NULL);
}

static void state_cell(const void *at, struct chi_cell *out)
{
	chi_cell_name(out, chi_queue_state_name(((const struct chi_queue_row *)at)->state));
}

static const struct chi_row_column columns[] = {
	COLUMN_MADE("fen", fen_cell),
	COLUMN_MADE("state", state_cell),
	COLUMN(SHOW_COUNT, struct chi_queue_row, priority, "priority"),
	COLUMN(SHOW_COUNT, struct chi_queue_row, tries, "tries"),
	COLUMN(SHOW_MS, struct chi_queue_row, asked, "asked"),
	COLUMN(SHOW_COUNT, struct chi_queue_row, lease, "lease"),
	COLUMN(SHOW_MS, struct chi_queue_row, expires, "until"),
	COLUMN(SHOW_TEXT, struct chi_queue_row, holder, "holder"),
};

/* A key that is of no position is damage, or another program's: no row is made of it. */
static int print_rows(struct cli_rows *rows, const struct chi_queue_page *list)
{
	struct chi_fault fault = {.text = ""};
	char fen[CHI_FEN_SIZE];
	for (size_t i = 0; i < list->n; i++) {
		int status = chi_key_to_fen(&list->rows[i].key, fen, &fault);
		if (status != CHI_OK) {
			return cli_fault(status, &fault);
		}
		rows_print(rows, &list->rows[i]);
	}
	return EXIT_DONE;
}

static int run_list(struct cli *cli)
{
	const struct queue_state *state = cli->state;
	enum chi_queue_state wanted = state->state != 0 ? state->state : CHI_QUEUE_WAITING;
	struct chi_queue_page list = {.more = true};
	struct chi_queue_row last = {.state = 0};
	uint64_t left = state->limit != 0 ? state->limit : 100;
	struct cli_rows rows = ROWS_OF(cli, columns);
	while (left > 0 && list.more && !cli_output_failed()) {
		uint32_t part = left < TOGETHER ? (uint32_t)left : TOGETHER;
		int status = chi_queue_list(cli->client, wanted, last.state != 0 ? &last : NULL,
					    part, &list);
		if (status != CHI_OK) {
			return cli_fail(cli->client, status);
		}
		int code = print_rows(&rows, &list);
		if (code != EXIT_DONE) {
			return code;
		}
		last = list.n > 0 ? list.rows[list.n - 1] : last;
		left -= list.n;
	}
	rows_head(&rows);
	return EXIT_DONE;
}

static int run_count(struct cli *cli)
{
	struct chi_queue_page list;
	int status = chi_queue_list(cli->client, CHI_QUEUE_WAITING, NULL, 0, &list);
	return status != CHI_OK
		       ? cli_fail(cli->client, status)
		       : output_object(cli, json_pack("{s:o, s:o, s:o}", "waiting",
						      json_count(list.counts.waiting), "leased",
						      json_count(list.counts.leased), "failed",
						      json_count(list.counts.failed)));
}

/* ---- The command --------------------------------------------------------------------------- */

static const struct verb verbs[] = {
	{"add", NULL, -1, true, run_add},
	{"list", NULL, 0, false, run_list},
	{"count", NULL, 0, false, run_count},
	{"drop", NULL, -1, true, run_drop},
};

/* Each option belongs to one of them. */
static int check_options(struct cli *cli, const struct verb *verb)
{
	const struct queue_state *state = cli->state;
	const struct {
		const char *name;
		const char *verb;
		bool given;
	} given[] = {
		{"--priority", "add", state->priority != NO_PRIORITY},
		{"--state", "list", state->state != 0},
		{"--limit", "list", state->limit != 0},
		{"--all", "drop", state->all},
	};
	for (size_t i = 0; i < CHI_COUNT(given); i++) {
		if (given[i].given && strcmp(given[i].verb, verb->name) != 0) {
			return cli_usage(cli, "queue %s: %s is of queue %s", verb->name,
					 given[i].name, given[i].verb);
		}
	}
	return EXIT_DONE;
}

static int run_queue(struct cli *cli)
{
	const struct verb *verb = NULL;
	int code = verb_find(cli, verbs, CHI_COUNT(verbs), &verb);
	code = code == EXIT_DONE ? check_options(cli, verb) : code;
	code = code == EXIT_DONE ? cli_open(cli, verb->writes, &cli->client) : code;
	return code == EXIT_DONE ? verb->run(cli) : code;
}

static const char *const states[] = {
	[CHI_QUEUE_WAITING] = "waiting",
	[CHI_QUEUE_LEASED] = "leased",
	[CHI_QUEUE_FAILED] = "failed",
};

static const struct cli_option options[] = {
	OPTION_NUMBER(queue_state, priority, 0, UINT32_MAX, "priority", "N",
		      "add: the highest is taken first (default 1)"),
	OPTION_WORD(queue_state, state, states, "state", "STATE",
		    "list: those waiting (default), leased or failed"),
	OPTION_NUMBER(queue_state, limit, 1, UINT64_MAX, "limit", "N",
		      "list: at most so many (default 100)"),
	OPTION_FLAG(queue_state, all, "all", "drop: all that there are"),
	OPTIONS_END,
};

const struct command cmd_queue = {
	.name = "queue",
	.arguments = "add [POSITION...]|list|count|drop [POSITION...]",
	.summary = "positions that are to be analysed",
	.help = "add asks for positions to be analysed. One that is in the queue already is "
		"raised:\n"
		"its priority becomes one more, or N if that is higher. The queue takes 1,000,000\n"
		"positions. Analysers take positions for a time, by priority; what they have not\n"
		"finished by then comes back, and after five times is given up (failed) until it\n"
		"is added again.\n"
		"\n"
		"list prints positions in the order in which they will be taken or come back;\n"
		"count prints how many there are in each state. drop takes positions out. Without\n"
		"arguments add and drop read positions from standard input, one a line.\n"
		"\n"
		"The queue belongs to the store's directory: backup, compact and publish keep it,\n"
		"dump, merge and repair leave it out.\n\n" PLACE_HELP,
	.example = "chistore -a ./positions queue add e4 c5 Nf3 --priority 10\n"
		   "chistore -a ./positions queue list --state leased",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.state_size = sizeof(struct queue_state),
	.defaults = &defaults,
	.run = run_queue,
};
