/* SPDX-License-Identifier: MIT */
/* chistore bench: sends requests to an address and measures how fast they are answered. */
#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"
#include "cli/command.h"
#include "cli/bench/loadgen.h"
#include "cli/out/output.h"
#include "cli/out/progress.h"

#define SECONDS_MAX   86400
#define REQUESTS_MAX  UINT64_C(1000000000000)
#define RATE_MAX      10000000
#define SECONDS_USUAL 10

/* Milliseconds between two looks at the progress. */
#define LOOK_MS 100

/* After a signal wait so long for answers. */
#define GRACE_MS 1000

enum draw {
	DRAW_USUAL = 0, /* as fits where the positions come from */
	DRAW_RANDOM,
	DRAW_LISTED,
};

struct bench_state {
	struct loadgen_plan plan;
	const char *positions; /* a file; NULL: the store's own */
	enum draw draw;
	uint64_t sample;
	uint64_t timeout; /* seconds; 0: the usual */
	bool allow_writes;
	bool keep;
};

static const struct bench_state defaults = {
	.plan = {.mix = {.weights = {[MIX_PROBE] = 90, [MIX_BATCH] = 8, [MIX_SCAN] = 2},
			 .sum = 100},
		 .warmup = 1,
		 .clients = 1,
		 .batch = 100,
		 .rows = 100,
		 .put_size = 1,
		 .pipeline = 1},
	.sample = 1000000,
};

static const char *const draws[] = {
	[DRAW_RANDOM] = "random",
	[DRAW_LISTED] = "listed",
};

static const char *const durabilities[] = {[CHI_SYNC] = "sync", [CHI_ASYNC] = "none"};

/* What does not go together; nothing has been opened yet. */
static int check_plan(const struct cli *cli, const struct bench_state *bench)
{
	const struct loadgen_plan *plan = &bench->plan;
	bool puts = plan->mix.weights[MIX_PUT] > 0;
	if (plan->seconds > 0 && plan->requests > 0) {
		return cli_usage(cli, "--seconds and --requests exclude each other");
	}
	if (puts && !bench->allow_writes) {
		return cli_usage(cli, "--mix: puts change the store; if that is meant, say "
				      "--allow-writes too");
	}
	if (!puts && (bench->allow_writes || bench->keep)) {
		return cli_usage(cli, "--%s: the mix has no puts",
				 bench->keep ? "keep" : "allow-writes");
	}
	if (puts && plan->durability == CHI_ASYNC && plan->clients > 1 && !cli_is_remote(cli)) {
		return cli_usage(cli,
				 "--durability none: in a directory a client that does not wait "
				 "for its commit blocks all other writers; use one client");
	}
	return EXIT_DONE;
}

/* Opens the address and gathers what is asked for. */
static int prepare_bench(struct cli *cli, struct bench_state *bench)
{
	struct loadgen_plan *plan = &bench->plan;
	struct chi_info info;
	cli->call_ms = (uint32_t)(bench->timeout * 1000);
	int code = cli_open(cli, plan->mix.weights[MIX_PUT] > 0, &cli->client);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_store_info(cli->client, &info);
	if (status == CHI_OK) {
		status = synthetic_init(&plan->synthetic, info.statistic);
	}
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	/* Puts alone ask for nothing that is there already. */
	if (plan->mix.weights[MIX_PUT] == plan->mix.sum) {
		return EXIT_DONE;
	}
	return bench->positions != NULL ? sample_from_file(cli, bench->positions, &plan->sample)
					: sample_from_store(cli, bench->sample, &plan->sample);
}

/* What is measured, in words: without them the figures mean nothing. */
static void describe(const struct cli *cli, const struct bench_state *bench)
{
	const struct loadgen_plan *plan = &bench->plan;
	const struct position_sample *sample = &plan->sample;
	char least[CHI_CHI2_TEXT_SIZE];
	char greatest[CHI_CHI2_TEXT_SIZE];
	if (cli->quiet || sample->n == 0) {
		return;
	}
	const char *order = plan->listed ? "in this order" : "at random";
	if (bench->positions != NULL) {
		cli_message("asking for %zu positions of %s, %zu of them stored, %s (seed %" PRIu64
			    ")",
			    sample->n, bench->positions, sample->stored, order, plan->seed);
		return;
	}
	(void)chi_chi2_print(sample->least, least);
	(void)chi_chi2_print(sample->greatest, greatest);
	cli_message("asking for %zu of %" PRIu64 " positions, across the whole statistic (%s to "
		    "%s), %s (seed %" PRIu64 ")",
		    sample->n, sample->out_of, least, greatest, order, plan->seed);
}

/* Waits for the end, and shows how far it is. False: some clients still wait for an answer. */
static bool wait_for_end(const struct cli *cli, struct load *load)
{
	const struct loadgen_plan *plan = &load->plan;
	uint64_t total_ms = (plan->warmup + plan->seconds) * 1000;
	uint64_t begin = cli_clock();
	struct progress progress;
	progress_init(&progress, cli->quiet, plan->requests > 0 ? plan->requests : total_ms);
	progress.unit = "requests";
	bool ended = false;
	while (!ended && cli_stop == 0) {
		ended = loadgen_wait(load, LOOK_MS);
		struct loadgen_total total;
		loadgen_total(load, &total);
		uint64_t ms = (cli_clock() - begin) / 1000000;
		progress_update(&progress, plan->requests > 0 ? total.done : ms, total.done);
	}
	progress_clear(&progress);
	atomic_store(&load->stop, true);
	return ended || loadgen_wait(load, GRACE_MS);
}

/* Puts are taken back unless they are to stay; those of a run that was killed are known by their
 * note. */
static int clean(struct cli *cli, const struct bench_state *bench, struct load *load)
{
	const char *note = load->plan.synthetic.note;
	struct progress progress;
	uint64_t removed = 0;
	if (load->plan.mix.weights[MIX_PUT] == 0) {
		return EXIT_DONE;
	}
	if (bench->keep) {
		cli_message("what was put is kept, with the note '%s'", note);
		return EXIT_DONE;
	}
	progress_init(&progress, cli->quiet, 0);
	int status = loadgen_clean(load, &progress, &removed);
	progress_clear(&progress);
	if (status != CHI_OK) {
		cli_message("positions with the note '%s' may still be in the store: %s", note,
			    chi_error(cli->client));
		return cli_exit_of(status);
	}
	if (!cli->quiet) {
		cli_message("removed the %" PRIu64 " positions that were put", removed);
	}
	return EXIT_DONE;
}

/* Things that make the figures mean something else than was asked for. */
static int judge_load(const struct load *load, uint64_t answered, uint64_t failed)
{
	struct loadgen_total total;
	loadgen_total(load, &total);
	if (total.window < load->plan.pipeline) {
		cli_message("the server takes %" PRIu64
			    " unanswered requests per client, so no more were sent",
			    total.window);
	}
	if (total.lost > 0) {
		cli_message("%" PRIu64 " of %" PRIu64 " clients had no connection at the end",
			    total.lost, load->plan.clients);
	}
	return total.lost > 0 || (answered == 0 && failed > 0) ? EXIT_STORE : EXIT_DONE;
}

/* Runs, prints, cleans up. *out: NULL if clients still use it when the command is over. */
static int measure_load(struct cli *cli, const struct bench_state *bench, struct load **out)
{
	struct load *load = *out;
	uint64_t answered = 0;
	uint64_t failed = 0;
	if (loadgen_start(load) != CHI_OK) {
		cli_message("cannot start %" PRIu64 " threads", load->plan.clients);
		return EXIT_STORE;
	}
	bool ended = wait_for_end(cli, load);
	if (measured_print(cli, load, &answered, &failed) != CHI_OK) {
		return cli_no_memory();
	}
	/* What was measured is printed, even if cleaning up fails. */
	(void)fflush(stdout);
	int code = judge_load(load, answered, failed);
	if (ended) {
		code = cli_worse(code, clean(cli, bench, load));
	} else {
		cli_message("clients were still waiting for answers; positions with the note '%s' "
			    "may be in the store",
			    load->plan.synthetic.note);
		cli->client = NULL;
		*out = NULL;
	}
	return cli_stop != 0 ? 128 + cli_stop : code;
}

static void loadgen_freep(struct load **load)
{
	loadgen_free(*load);
}

static int run_bench(struct cli *cli)
{
	struct bench_state *bench = cli->state;
	struct loadgen_plan *plan = &bench->plan;
	_cleanup_(loadgen_freep) struct load *load = NULL;
	enum mix_kind kind = MIX_PROBE;
	int code = check_plan(cli, bench);
	if (plan->requests == 0 && plan->seconds == 0) {
		plan->seconds = SECONDS_USUAL;
	}
	plan->listed = bench->draw == DRAW_LISTED ||
		       (bench->draw == DRAW_USUAL && bench->positions != NULL);
	if (code == EXIT_DONE) {
		code = prepare_bench(cli, bench);
	}
	if (code == EXIT_DONE && loadgen_new(plan, &load) != CHI_OK) {
		code = cli_no_memory();
	}
	if (code != EXIT_DONE) {
		sample_deinit(&plan->sample);
		return code;
	}
	describe(cli, bench);
	cli_catch_signals();
	code = loadgen_connect(cli, load);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = loadgen_try(load, &kind);
	if (status != CHI_OK) {
		cli_message("%s: %s", mix_name(kind), chi_error(cli->client));
		return cli_worse(cli_exit_of(status), clean(cli, bench, load));
	}
	return measure_load(cli, bench, &load);
}

static const struct cli_option options[] = {
	OPTION_NUMBER(bench_state, plan.clients, 1, TRAFFIC_CLIENTS_MAX, "clients", "N",
		      "clients, each with a thread and a connection (default: 1)"),
	OPTION_NUMBER(bench_state, plan.seconds, 1, SECONDS_MAX, "seconds", "N",
		      "how long to measure (default: 10)"),
	OPTION_NUMBER(bench_state, plan.requests, 1, REQUESTS_MAX, "requests", "N",
		      "measure so many requests of all clients instead"),
	OPTION_NUMBER(bench_state, plan.warmup, 0, SECONDS_MAX, "warmup", "N",
		      "seconds to run before, not measured (default: 1)"),
	OPTION(bench_state, plan.mix, mix_parse, "mix", "KIND=N,...",
	       "how often each kind is sent (default: probe=90,batch=8,scan=2)"),
	OPTION_NUMBER(bench_state, plan.batch, 1, TRAFFIC_BATCH_MAX, "batch", "N",
		      "positions of a batch (default: 100)"),
	OPTION_NUMBER(bench_state, plan.rows, 1, TRAFFIC_ROWS_MAX, "rows", "N",
		      "rows of a scan (default: 100)"),
	OPTION_NUMBER(bench_state, plan.put_size, 1, TRAFFIC_PUT_MAX, "put-size", "N",
		      "positions of a put (default: 1)"),
	OPTION_NUMBER(bench_state, plan.pipeline, 1, TRAFFIC_PIPELINE_MAX, "pipeline", "N",
		      "unanswered requests of a client, 1 to 64 (default: 1)"),
	OPTION_NUMBER(bench_state, plan.rate, 1, RATE_MAX, "rate", "N",
		      "send N requests a second (default: as fast as answered)"),
	OPTION_TEXT(bench_state, positions, "positions", "FILE",
		    "ask for the FENs of a file; - is standard input"),
	OPTION_NUMBER(bench_state, sample, 1, SAMPLE_MAX, "sample", "N",
		      "ask for N of the store's positions (default: 1000000)"),
	OPTION_WORD(bench_state, draw, draws, "draw", "HOW",
		    "random, or listed: in the given order (default with --positions)"),
	OPTION_WORD(bench_state, plan.durability, durabilities, "durability", "sync|none",
		    "what a put waits for (default: sync)"),
	OPTION_FLAG(bench_state, allow_writes, "allow-writes",
		    "allow puts, of new positions, in the mix"),
	OPTION_FLAG(bench_state, keep, "keep", "do not remove what was put"),
	OPTION_NUMBER(bench_state, timeout, 1, SECONDS_MAX, "timeout", "N",
		      "seconds that a request may take (default: 30)"),
	OPTION_NUMBER(bench_state, plan.seed, 0, UINT64_MAX, "seed", "N",
		      "seed of the random numbers (default: 0)"),
	OPTIONS_END,
};

const struct command cmd_bench = {
	.name = "bench",
	.arguments = "",
	.summary = "send requests, and measure how fast they are answered",
	.help = "Sends requests to the address, a directory or a server, and prints for each kind, "
		"and\n"
		"for all: how many were answered, how many failed, positions requested (rows of a\n"
		"scan), the seconds measured, requests and positions a second, and the latency in\n"
		"microseconds: mean, median, 90, 99 and 99.9 per cent, longest.\n"
		"Kinds are probe (a position's statistic and counts), batch (those of many), get,\n"
		"explore, scan (starting at a position) and put.\n"
		"The positions are drawn from the store itself, or from a file. Puts store "
		"made-up\n"
		"positions, marked by a note and removed when the run is over: nothing already\n"
		"stored changes.",
	.example = "chistore -a unix:/run/chistore/socket bench --clients 50 --seconds 30\n"
		   "chistore -a ./positions bench --clients 4 --mix probe=1\n"
		   "chistore -a tcp:127.0.0.1:7227 bench --rate 20000 --clients 20",
	.options = options,
	.needs = NEEDS_ADDRESS,
	.measures = true,
	.state_size = sizeof(struct bench_state),
	.defaults = &defaults,
	.run = run_bench,
};
