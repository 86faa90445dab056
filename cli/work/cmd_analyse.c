/* SPDX-License-Identifier: MIT */
/* chistore analyse: engines work off positions, and what they find goes to the store. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/in/filter.h"
#include "cli/in/game_terms.h"
#include "cli/in/place.h"
#include "cli/out/output.h"
#include "cli/out/progress.h"
#include "cli/work/expand.h"
#include "cli/work/positions.h"
#include "cli/work/worker.h"

#define PROCESSES_MAX 256
#define BREADTH_MAX   2000
#define LINES	      4 /* of a tree, if no number is given */

struct analyse_state {
	struct chi_scan_spec spec;
	struct game_terms terms;
	const char *engine;
	const char *options;
	struct engine_limits limits;
	uint64_t patience; /* seconds */
	uint64_t lease;	   /* milliseconds */
	uint64_t processes;
	uint64_t nice;
	const char *line;
	const char *repertoire;
	bool queue;
	bool wait;
	uint64_t expand;
	uint64_t breadth;
};

static const struct analyse_state defaults = {
	.spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX},
	.patience = 600,
	.lease = 120000,
	.processes = 1,
	.nice = 5,
	.breadth = 30};

/* ---- Workers ------------------------------------------------------------------------------- */

/* The queue, until it is empty and no one holds any of it. */
static void work_queue(struct worker *worker)
{
	const struct analyse_state *state = worker->work->cli->state;
	while (!worker_stops(worker->work) && worker_need_engine(worker)) {
		struct chi_queue_page list;
		int leased = worker_lease(worker, NULL);
		if (leased == CHI_OK) {
			(void)worker_analyse(worker);
		}
		int status = leased >= 0 ? chi_queue_list(worker->client, CHI_QUEUE_WAITING, NULL,
							  0, &list)
					 : leased;
		if (status < 0) {
			worker_fail(worker, status);
			return;
		}
		worker->work->left = list.counts.waiting;
		if (leased == CHI_NONE && !state->wait && list.counts.leased == 0 &&
		    list.counts.waiting == 0) {
			return;
		}
		if (leased == CHI_NONE) {
			worker_idle();
		}
	}
}

/* A position of the list: done, or kept as another has it. */
static void work_one(struct worker *worker, const struct chi_key *key)
{
	struct analysis_work *work = worker->work;
	int status = worker_known(worker, key);
	if (status == CHI_OK) {
		work->stored_before++;
	} else if (status == CHI_NONE) {
		status = worker_lease(worker, key);
		if (status == CHI_OK) {
			(void)worker_analyse(worker);
		} else if (status == CHI_NONE) {
			status = worker_given_up(worker, key);
		}
	}
	if (status == CHI_NONE) {
		source_keep(&work->source, key);
		return;
	}
	if (status < 0) {
		worker_fail(worker, status);
	}
	source_done(&work->source);
}

/* The list, in rounds: what others held is asked for again, until no one holds anything. */
static void work_list(struct worker *worker)
{
	struct chi_key key;
	while (!worker_stops(worker->work) && worker_need_engine(worker)) {
		switch (source_take(&worker->work->source, &key)) {
		case SOURCE_TAKEN:
			work_one(worker, &key);
			break;
		case SOURCE_END:
			return;
		default:
			worker_idle();
		}
	}
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;
	const struct analyse_state *state = worker->work->cli->state;
	if (state->queue) {
		work_queue(worker);
	} else if (state->expand > 0) {
		expand_work(worker);
	} else {
		work_list(worker);
	}
	engine_close(&worker->engine);
	worker->work->running--;
	return NULL;
}

static int start_worker(struct analysis_work *work, struct worker *worker, unsigned number)
{
	char host[40] = "";
	(void)gethostname(host, sizeof(host) - 1);
	const struct analyse_state *state = work->cli->state;
	*worker = (struct worker){.work = work,
				  .engine = {.command = state->engine,
					     .options = state->options,
					     .limits = state->limits}};
	(void)snprintf(worker->holder, sizeof(worker->holder), "%s/%ld/%u",
		       host[0] != '\0' ? host : "analyse", (long)getpid(), number);
	int code = worker_open(work->cli, &worker->client);
	if (code != EXIT_DONE) {
		return code;
	}
	work->running++;
	if (pthread_create(&worker->thread, NULL, run_worker, worker) != 0) {
		work->running--;
		chi_close(worker->client);
		worker->client = NULL;
		return cli_no_memory();
	}
	return EXIT_DONE;
}

/* What is done in this run, and what is left of it as far as is known. */
static void show_progress(struct analysis_work *work)
{
	const struct analyse_state *state = work->cli->state;
	struct progress progress;
	progress_init(&progress, work->cli->quiet, 0);
	progress.unit = "positions";
	while (work->running > 0) {
		uint64_t done = work->analysed + work->failed;
		progress.total =
			done + (state->queue || state->expand > 0 ? (uint64_t)work->left
								  : source_left(&work->source));
		progress_update(&progress, done, done);
		worker_idle();
	}
	progress_clear(&progress);
}

static int run_all(struct analysis_work *work)
{
	const struct analyse_state *state = work->cli->state;
	struct worker *workers = calloc(state->processes, sizeof(*workers));
	unsigned n = 0;
	int code = workers != NULL ? EXIT_DONE : cli_no_memory();
	while (code == EXIT_DONE && n < state->processes) {
		code = start_worker(work, &workers[n], n + 1);
		n += code == EXIT_DONE;
	}
	if (code != EXIT_DONE) {
		atomic_store(&work->stops, true);
	}
	show_progress(work);
	for (unsigned i = 0; i < n; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		chi_close(workers[i].client);
	}
	free(workers);
	return cli_worse(code, atomic_load(&work->code));
}

/* ---- The command --------------------------------------------------------------------------- */

static const struct cli_option options[] = {
	OPTION_TEXT(analyse_state, engine, "engine", "COMMAND", "the UCI engine, with its words"),
	OPTION_NUMBER(analyse_state, limits.depth, 1, 65535, "depth", "N", "to this depth"),
	OPTION_NUMBER(analyse_state, limits.nodes, 1, UINT32_MAX, "nodes", "N", "so many nodes"),
	OPTION_NUMBER(analyse_state, limits.movetime, 1, 86400000, "movetime", "MS",
		      "so long for each position"),
	OPTION_NUMBER(analyse_state, processes, 1, PROCESSES_MAX, "processes", "N",
		      "engines at once (default 1)"),
	OPTION_TEXT(analyse_state, options, "set", "NAME=VALUE[;..]", "options of the engine"),
	OPTION_FLAG(analyse_state, queue, "queue", "the positions of the store's queue"),
	OPTION_FLAG(analyse_state, wait, "wait", "... and then those that come later"),
	OPTION_NUMBER(analyse_state, limits.lines, 1, ENGINE_LINES_MAX, "lines", "N",
		      "so many lines of each position (MultiPV; default 1, of a tree 4)"),
	OPTION_TEXT(analyse_state, line, "line", "MOVES",
		    "each position of this line from the initial one"),
	OPTION_TEXT(analyse_state, repertoire, "repertoire", "FILE.pgn",
		    "each position of these games and their variations"),
	OPTION_NUMBER(analyse_state, expand, 1, SOURCE_MAX, "expand", "N",
		      "grow a tree from there, the best leaf first, to N positions"),
	OPTION_NUMBER(analyse_state, breadth, 1, BREADTH_MAX, "breadth", "CENTIPAWNS",
		      "a ply deeper counts as a move that loses so much (default 30)"),
	OPTION_NUMBER(analyse_state, patience, 1, 86400, "patience", "SECONDS",
		      "an engine that takes longer hangs (default 600; of --movetime: beyond it)"),
	OPTION_NUMBER(analyse_state, lease, 1, CHI_QUEUE_LEASE_MAX, "lease", "MS",
		      "what a killed analyser held comes back after this (default 120000)"),
	OPTION_NUMBER(analyse_state, nice, 0, 19, "nice", "N",
		      "give way to other programs (default 5)"),
	FILTER_OPTIONS(analyse_state),
	OPTION_NUMBER(analyse_state, spec.limit, 1, SOURCE_MAX, "limit", "N",
		      "at most N positions of the store"),
	GAME_HEAD_OPTIONS(analyse_state, terms),
	OPTIONS_END,
};

/* Whether options of scan were given: those from --min on. */
static bool chooses(const struct cli *cli)
{
	size_t i = 0;
	while (strcmp(options[i].name, "min") != 0) {
		i++;
	}
	return cli->given >> i != 0;
}

static int check_places(struct cli *cli, const struct analyse_state *state)
{
	int places = (cli->argc > 0) + state->queue + (state->line != NULL) +
		     (state->repertoire != NULL);
	if (places > 1) {
		return cli_usage(cli, "positions, --line, --repertoire and --queue exclude each "
				      "other");
	}
	if (places > 0 && chooses(cli)) {
		return cli_usage(cli, "options of scan go without positions, --line, --repertoire "
				      "and --queue");
	}
	if (state->wait && !state->queue) {
		return cli_usage(cli, "--wait goes with --queue");
	}
	if (state->queue && state->expand > 0) {
		return cli_usage(cli, "--queue and --expand exclude each other");
	}
	if (cli_given(cli, "breadth") && state->expand == 0) {
		return cli_usage(cli, "--breadth goes with --expand");
	}
	return EXIT_DONE;
}

static int check_analyse(struct cli *cli, struct analyse_state *state)
{
	struct engine_limits *limits = &state->limits;
	int kinds = (limits->depth != 0) + (limits->nodes != 0) + (limits->movetime != 0);
	if (state->engine == NULL) {
		return cli_usage(cli, "--engine says which engine to run");
	}
	if (kinds != 1) {
		return cli_usage(cli, "one of --depth, --nodes and --movetime says how far");
	}
	if (state->options != NULL && strlen(state->options) > ENGINE_OPTIONS_MAX) {
		return cli_usage(cli, "--set takes up to %d bytes", ENGINE_OPTIONS_MAX);
	}
	if (limits->lines == 0) {
		limits->lines = state->expand > 0 ? LINES : 1;
	}
	if (state->expand * limits->lines > TREE_NODES_MAX) {
		return cli_usage(cli, "--expand times --lines is over %d", TREE_NODES_MAX);
	}
	limits->patience_ms = 1000 * state->patience;
	int code = check_places(cli, state);
	code = code == EXIT_DONE ? filter_take(cli, &state->spec) : code;
	return code == EXIT_DONE ? game_terms_take(cli, &state->terms) : code;
}

static int add_source(void *context, const struct chi_key *key)
{
	return source_add(&((struct analysis_work *)context)->source, key);
}

static int add_root(void *context, const struct chi_key *key)
{
	return tree_root(&((struct analysis_work *)context)->tree, key);
}

static int take_positions(struct analysis_work *work)
{
	struct analyse_state *state = work->cli->state;
	bool tree = state->expand > 0;
	const struct positions positions = {.line = state->line,
					    .repertoire = state->repertoire,
					    .scan = &state->spec,
					    .initial = tree && !chooses(work->cli),
					    .add = tree ? add_root : add_source,
					    .context = work,
					    .max = tree ? TREE_NODES_MAX : SOURCE_MAX};
	state->spec.games = state->terms.text;
	return state->queue ? EXIT_DONE : positions_take(work->cli, &positions);
}

static int print_analysis(struct analysis_work *work)
{
	json_t *told = json_pack("{s:o, s:o, s:o}", "analysed", json_count(work->analysed),
				 "stored_before", json_count(work->stored_before), "failed",
				 json_count(work->failed));
	if (work->grow_to > 0) {
		(void)json_object_set_new(told, "tree", json_count(work->tree.known));
	}
	return output_object(work->cli, told);
}

static int run_analyse(struct cli *cli)
{
	struct analyse_state *state = cli->state;
	int code = check_analyse(cli, state);
	if (code != EXIT_DONE) {
		return code;
	}
	struct analysis_work work = {.cli = cli, .lease = state->lease, .grow_to = state->expand};
	source_init(&work.source);
	tree_init(&work.tree, (unsigned)state->breadth);
	(void)pthread_mutex_init(&work.mutex, NULL);
	code = take_positions(&work);
	errno = 0;
	if (code == EXIT_DONE && nice((int)state->nice) == -1 && errno != 0) {
		cli_message("cannot be nice (%s)", strerror(errno));
	}
	if (code == EXIT_DONE) {
		cli_catch_signals();
		/* An engine that is gone is found out by reading; children have the default. */
		(void)signal(SIGPIPE, SIG_IGN);
		code = run_all(&work);
		(void)print_analysis(&work);
	}
	(void)pthread_mutex_destroy(&work.mutex);
	tree_deinit(&work.tree);
	source_free(&work.source);
	return cli_stop != 0 ? 128 + cli_stop : code;
}

const struct command cmd_analyse = {
	.name = "analyse",
	.arguments = "[POSITION...]",
	.summary = "have engines evaluate positions",
	.help = "Has a UCI engine search the positions named, those of --line, --repertoire or "
		"the\n"
		"--queue, or all that the options choose as in scan, and stores the evaluations.\n"
		"What this engine has evaluated as far as is wanted is passed over, so a run that\n"
		"was stopped goes on where it was.\n"
		"\n"
		"With --expand they are where a tree begins (without any: at the initial "
		"position).\n"
		"The moves of a position's lines lead to further ones, of which that of the least\n"
		"cost is searched next: the sum over the moves to it of --breadth and of what "
		"each\n"
		"is worse than the best one there, by scores backed up through the tree. So good\n"
		"moves are followed deep and poor ones a little. What is after a mate is left "
		"out.\n"
		"\n"
		"Any number of these may run on one store, on many machines: each position is "
		"held\n"
		"under a lease while it is searched. One that was killed loses its leases, and\n"
		"others take its positions. An engine that dies or hangs is started again, and a\n"
		"position that it gives no answer to is given up ('queue list --state failed').\n"
		"At most 1,000,000 positions at a time.\n\n" PLACE_HELP,
	.example =
		"chistore -a unix:/run/chistore/socket analyse --queue --wait "
		"--engine stockfish --depth 24 --processes 4\n"
		"chistore -a ./games analyse --min-games 50 --engine stockfish --nodes 1000000\n"
		"chistore -a ./games analyse --line 'e4 c5 Nf3 d6' --engine stockfish --depth 20\n"
		"chistore -a ./book analyse --expand 10000 Najdorf --engine stockfish --depth 20",
	.options = options,
	.args_max = -1,
	.needs = NEEDS_WRITE,
	.slow = true,
	.state_size = sizeof(struct analyse_state),
	.defaults = &defaults,
	.run = run_analyse,
};
