/* SPDX-License-Identifier: MIT */
/*
 * chistore analyse: engines work off positions, and what they find goes to the store.
 *
 * Each worker is a thread with a connection and an engine of its own. It takes one position under a
 * lease, has it searched, stores the evaluation, and only then says that it is done. A worker that
 * is killed anywhere before leaves a lease that ends, and another takes the position.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/cli/in/filter.h"
#include "client/cli/in/game_terms.h"
#include "client/cli/in/place.h"
#include "client/cli/out/output.h"
#include "client/cli/out/progress.h"
#include "client/cli/work/engine.h"
#include "client/cli/work/positions.h"
#include "client/cli/work/source.h"

#define PROCESSES_MAX 256
#define LOCK_WAIT_MS  60000 /* for others that write the directory */
#define IDLE_MS	      100   /* when there is nothing to take */
#define TRIES	      2	    /* of a position that an engine dies of */
#define STARTS	      3	    /* of an engine that does not come up again */

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
	bool queue;
	bool wait;
};

static const struct analyse_state defaults = {.spec = {.chi2_max = CHI_CHI2_MAX},
					      .patience = 600,
					      .lease = 120000,
					      .processes = 1,
					      .nice = 5};

struct work {
	struct cli *cli;
	const struct analyse_state *state;
	struct source source;
	atomic_bool stops; /* a worker failed, or the user wants it */
	atomic_int code;   /* the worst exit code */
	_Atomic uint64_t analysed;
	_Atomic uint64_t stored_before;
	_Atomic uint64_t failed;
	_Atomic uint64_t waiting; /* in the queue, when it was looked at last */
	atomic_uint running;
};

struct worker {
	struct work *work;
	pthread_t thread;
	struct chi_client *client;
	struct chi_child *child;
	bool came_up; /* the engine has been ready once */
	char holder[CHI_QUEUE_HOLDER_MAX + 1];
	struct chi_key key; /* the position at hand, */
	uint64_t lease;	    /* its lease, */
	int64_t extend_at;  /* and when that is to be made longer; chi_now_ms */
};

static bool stops(const struct work *work)
{
	return cli_stop != 0 || atomic_load(&work->stops);
}

static void fail(struct worker *worker, int code)
{
	struct work *work = worker->work;
	atomic_store(&work->stops, true);
	atomic_store(&work->code, cli_worse(atomic_load(&work->code), code));
}

static void fail_store(struct worker *worker, int status)
{
	if (!atomic_load(&worker->work->stops)) {
		fail(worker, cli_fail(worker->client, status));
	}
}

static void idle(void)
{
	const struct timespec pause = {.tv_nsec = IDLE_MS * 1000000L};
	(void)nanosleep(&pause, NULL);
}

/* ---- The engine ---------------------------------------------------------------------------- */

static void close_engine(struct worker *worker)
{
	chi_child_close(worker->child);
	worker->child = NULL;
}

/* An engine that is ready; false: there is none, and that was said. */
static bool need_engine(struct worker *worker)
{
	const struct analyse_state *state = worker->work->state;
	struct chi_fault fault = {.text = "it does not answer 'isready'"};
	int tries = worker->came_up ? STARTS : 1;
	for (int i = 0; worker->child == NULL && i < tries && !stops(worker->work); i++) {
		int status = chi_child_open(state->engine, &worker->child, &fault);
		if (status == CHI_OK && !engine_set_options(worker->child, state->options)) {
			close_engine(worker);
		}
	}
	worker->came_up |= worker->child != NULL;
	if (worker->child == NULL && !stops(worker->work)) {
		cli_message("%s", fault.text);
		fail(worker, EXIT_USAGE);
	}
	return worker->child != NULL;
}

/* While it searches: the lease must not end. A failure shows when the evaluation is stored. */
static bool tick(void *context)
{
	struct worker *worker = context;
	uint32_t lease = (uint32_t)worker->work->state->lease;
	if (chi_now_ms() >= worker->extend_at) {
		worker->extend_at = chi_now_ms() + lease / 3;
		(void)!chi_queue_settle(worker->client, worker->lease, CHI_QUEUE_EXTEND,
					&worker->key, 1, lease, NULL);
	}
	return !stops(worker->work);
}

/* ---- What is there already ----------------------------------------------------------------- */

static bool enough(const struct engine_limits *limits, const struct chi_eval *eval)
{
	return limits->depth != 0   ? eval->depth >= limits->depth
	       : limits->nodes != 0 ? eval->nodes >= limits->nodes
				    : true;
}

/* CHI_OK: this engine has looked at it as far as is wanted, or it has no legal move. */
static int known(struct worker *worker, const struct chi_key *key)
{
	const char *name = chi_child_name(worker->child);
	struct chi_record record;
	size_t moves = 0;
	if (chi_key_moves(key, 0, NULL, 0, &moves, NULL) != CHI_OK || moves == 0) {
		return CHI_OK;
	}
	int status = chi_get(worker->client, key, &record);
	for (size_t i = 0; status == CHI_OK && i < record.n_evals; i++) {
		const struct chi_eval *eval = &record.evals[i];
		if (eval->rank == 0 && eval->engine_len == strlen(name) &&
		    memcmp(eval->engine, name, eval->engine_len) == 0 &&
		    enough(&worker->work->state->limits, eval)) {
			return CHI_OK;
		}
	}
	return status < 0 ? status : CHI_NONE;
}

/* ---- One position -------------------------------------------------------------------------- */

static int store(struct worker *worker, const struct chi_uci_info *info)
{
	const char *name = chi_child_name(worker->child);
	const struct chi_eval eval = {.engine = name,
				      .engine_len = strlen(name),
				      .depth = info->depth,
				      .is_mate = info->is_mate,
				      .score = info->score,
				      .nodes = info->nodes,
				      .date = (uint64_t)time(NULL),
				      .pv = info->pv,
				      .n_pv = info->n_pv};
	const struct chi_put put = {.key = worker->key,
				    .parts = CHI_PUT_EVALS,
				    .record = {.evals = &eval, .n_evals = 1}};
	return chi_put(worker->client, &put, 1, CHI_SYNC, NULL);
}

/* An engine that dies of it is started again; one that hangs has had its time. */
static enum engine_end search(struct worker *worker, struct chi_uci_info *info)
{
	enum engine_end end = ENGINE_DIED;
	for (int i = 0; i < TRIES && end == ENGINE_DIED; i++) {
		if (!need_engine(worker)) {
			return ENGINE_STOPPED;
		}
		end = engine_search(worker->child, &worker->key, &worker->work->state->limits, tick,
				    worker, info);
		if (end == ENGINE_DIED || end == ENGINE_HUNG) {
			close_engine(worker);
		}
	}
	return end;
}

static void tell_failed(const struct worker *worker)
{
	char fen[CHI_FEN_SIZE];
	if (chi_key_to_fen(&worker->key, fen, NULL) == CHI_OK) {
		cli_message("the engine gave no answer to %s", fen);
	}
}

/* The position at hand, up to what became of it. */
static void analyse(struct worker *worker)
{
	struct work *work = worker->work;
	struct chi_uci_info info;
	enum chi_queue_action action = CHI_QUEUE_DONE;
	int status = known(worker, &worker->key);
	worker->extend_at = chi_now_ms() + (int64_t)work->state->lease / 3;
	if (status == CHI_OK) {
		work->stored_before++;
	} else if (status == CHI_NONE) {
		enum engine_end end = search(worker, &info);
		status = end == ENGINE_FOUND ? store(worker, &info) : CHI_OK;
		action = end == ENGINE_FOUND	 ? CHI_QUEUE_DONE
			 : end == ENGINE_STOPPED ? CHI_QUEUE_RELEASE
						 : CHI_QUEUE_FAIL;
		work->analysed += end == ENGINE_FOUND && status == CHI_OK;
	}
	if (action == CHI_QUEUE_FAIL) {
		work->failed++;
		tell_failed(worker);
	}
	if (status >= 0) {
		status = chi_queue_settle(worker->client, worker->lease, action, &worker->key, 1, 0,
					  NULL);
	}
	if (status < 0) {
		fail_store(worker, status);
	}
}

/* Takes the next of the queue, or that one, under a lease. CHI_NONE: it could not be had. */
static int lease(struct worker *worker, const struct chi_key *key)
{
	const struct chi_queue_take take = {.holder = worker->holder,
					    .lease_ms = (uint32_t)worker->work->state->lease,
					    .limit = 1,
					    .keys = key,
					    .n_keys = 1};
	struct chi_queue_lease got;
	int status = chi_queue_take(worker->client, &take, &got);
	if (status != CHI_OK || got.n == 0) {
		return status != CHI_OK ? status : CHI_NONE;
	}
	worker->key = got.rows[0].key;
	worker->lease = got.lease;
	return CHI_OK;
}

/* ---- Workers ------------------------------------------------------------------------------- */

/* How many others hold, and how many wait. */
static int look(struct worker *worker, struct chi_queue_counts *out)
{
	struct chi_queue_list list;
	int status = chi_queue_list(worker->client, CHI_QUEUE_WAITING, NULL, 0, &list);
	*out = list.counts;
	worker->work->waiting = list.counts.waiting;
	return status;
}

/* The queue, until it is empty and no one holds any of it. */
static void work_queue(struct worker *worker)
{
	struct chi_queue_counts counts;
	while (!stops(worker->work) && need_engine(worker)) {
		int status = lease(worker, NULL);
		if (status == CHI_OK) {
			analyse(worker);
		}
		status = status >= 0 && look(worker, &counts) < 0 ? -CHI_EIO : status;
		if (status < 0) {
			fail_store(worker, status);
		} else if (status == CHI_NONE) {
			if (!worker->work->state->wait && counts.leased == 0 &&
			    counts.waiting == 0) {
				return;
			}
			idle();
		}
	}
}

/* A position of the list: done, or kept as another has it. */
static void work_one(struct worker *worker, const struct chi_key *key, bool last)
{
	struct work *work = worker->work;
	int status = known(worker, key);
	if (status == CHI_OK) {
		work->stored_before++;
	} else if (status == CHI_NONE) {
		status = lease(worker, key);
		if (status == CHI_OK) {
			analyse(worker);
		} else if (status == CHI_NONE && !last) {
			source_keep(&work->source, key);
			return;
		}
		work->failed += status == CHI_NONE;
	}
	if (status < 0) {
		fail_store(worker, status);
	}
	source_done(&work->source);
}

/* The list, in rounds: what others held is asked for again, until no one holds anything. */
static void work_list(struct worker *worker)
{
	struct chi_queue_counts counts = {.leased = 1};
	struct chi_key key;
	while (!stops(worker->work) && need_engine(worker)) {
		switch (source_take(&worker->work->source, &key)) {
		case SOURCE_TAKEN:
			work_one(worker, &key, counts.leased == 0);
			break;
		case SOURCE_ROUND:
			if (look(worker, &counts) < 0) {
				fail_store(worker, -CHI_EIO);
			}
			idle();
			break;
		case SOURCE_WAIT:
			idle();
			break;
		default:
			return;
		}
	}
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;
	if (worker->work->state->queue) {
		work_queue(worker);
	} else {
		work_list(worker);
	}
	close_engine(worker);
	worker->work->running--;
	return NULL;
}

static int start(struct work *work, struct worker *worker, unsigned number)
{
	struct chi_options options;
	struct chi_fault fault;
	char host[40] = "";
	(void)gethostname(host, sizeof(host) - 1);
	*worker = (struct worker){.work = work};
	(void)snprintf(worker->holder, sizeof(worker->holder), "%s/%ld/%u",
		       host[0] != '\0' ? host : "analyse", (long)getpid(), number);
	cli_options(work->cli, true, &options);
	options.lock_wait_ms = LOCK_WAIT_MS;
	int status = chi_open(work->cli->address, &options, &worker->client, &fault);
	if (status != CHI_OK) {
		return cli_fault(status, &fault);
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

static uint64_t done_of(const struct work *work)
{
	return work->analysed + work->stored_before + work->failed;
}

static void show_progress(struct work *work)
{
	struct progress progress;
	progress_init(&progress, work->cli->quiet, work->source.n);
	progress.unit = "positions";
	uint64_t total = work->source.n;
	while (work->running > 0) {
		uint64_t done = done_of(work);
		progress.total = work->state->queue ? done + work->waiting : total;
		progress_update(&progress, done, done);
		idle();
	}
	progress_clear(&progress);
}

static int run_all(struct work *work)
{
	static struct worker workers[PROCESSES_MAX];
	unsigned n = 0;
	int code = EXIT_DONE;
	while (n < work->state->processes && code == EXIT_DONE) {
		code = start(work, &workers[n], n + 1);
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
	return cli_worse(code, atomic_load(&work->code));
}

/* ---- The command --------------------------------------------------------------------------- */

static int check(struct cli *cli, struct analyse_state *state)
{
	const struct engine_limits *limits = &state->limits;
	int kinds = (limits->depth != 0) + (limits->nodes != 0) + (limits->movetime != 0);
	if (state->engine == NULL) {
		return cli_usage(cli, "--engine says which engine to run");
	}
	if (kinds != 1) {
		return cli_usage(cli, "one of --depth, --nodes and --movetime says how far");
	}
	if ((state->queue || state->line != NULL) && cli->argc > 0) {
		return cli_usage(cli, "positions go without --queue and --line");
	}
	if (state->queue && state->line != NULL) {
		return cli_usage(cli, "--queue and --line exclude each other");
	}
	if (state->wait && !state->queue) {
		return cli_usage(cli, "--wait goes with --queue");
	}
	state->limits.patience_ms = 1000 * state->patience;
	int code = filter_take(cli, &state->spec);
	return code == EXIT_DONE ? game_terms_take(cli, &state->terms) : code;
}

static int run(struct cli *cli)
{
	struct analyse_state *state = cli->state;
	struct work work = {.cli = cli, .state = state};
	int code = check(cli, state);
	if (code != EXIT_DONE) {
		return code;
	}
	source_init(&work.source);
	state->spec.games = state->terms.text;
	code = state->queue ? EXIT_DONE
			    : positions_take(cli, state->line, &state->spec, &work.source);
	errno = 0;
	if (code == EXIT_DONE && nice((int)state->nice) == -1 && errno != 0) {
		cli_message("cannot be nice (%s)", strerror(errno));
	}
	if (code == EXIT_DONE) {
		cli_catch_signals();
		/* An engine that is gone is found out by reading; children have the default. */
		(void)signal(SIGPIPE, SIG_IGN);
		code = run_all(&work);
		(void)output_object(cli, json_pack("{s:o, s:o, s:o}", "analysed",
						   json_count(work.analysed), "stored_before",
						   json_count(work.stored_before), "failed",
						   json_count(work.failed)));
	}
	source_free(&work.source);
	return cli_stop != 0 ? 128 + cli_stop : code;
}

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
	OPTION_TEXT(analyse_state, line, "line", "MOVES",
		    "each position of this line from the initial one"),
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

const struct command cmd_analyse = {
	.name = "analyse",
	.arguments = "[POSITION...]",
	.summary = "have engines evaluate positions",
	.help = "Has a UCI engine search the positions named, those of --line, of the --queue, or "
		"all\n"
		"that the options choose as in scan, and stores the evaluations. What this engine\n"
		"has evaluated as far as is wanted is passed over, so a run that was stopped goes\n"
		"on where it was.\n"
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
		"chistore -a ./games analyse --line 'e4 c5 Nf3 d6' --engine stockfish --depth 20",
	.options = options,
	.args_max = -1,
	.needs = NEEDS_WRITE,
	.slow = true,
	.state_size = sizeof(struct analyse_state),
	.defaults = &defaults,
	.run = run,
};
