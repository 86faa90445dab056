/* SPDX-License-Identifier: MIT */
/* chistore bench: sends load to an address, and tells how fast it was answered. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "client/cli/command.h"
#include "client/cli/bench/report.h"
#include "client/cli/out/output.h"
#include "client/cli/out/progress.h"

#define SECONDS_MAX   86400
#define REQUESTS_MAX  UINT64_C(1000000000000)
#define RATE_MAX      10000000
#define SECONDS_USUAL 10
#define SAMPLE_USUAL  1000000

/* Milliseconds between two looks at the progress. */
#define LOOK_MS 100

/* After a signal answers are waited for so long. */
#define GRACE_MS 1000

enum {
	OPT_CLIENTS = 1,
	OPT_SECONDS,
	OPT_REQUESTS,
	OPT_WARMUP,
	OPT_MIX,
	OPT_BATCH,
	OPT_ROWS,
	OPT_PUT_SIZE,
	OPT_PIPELINE,
	OPT_RATE,
	OPT_POSITIONS,
	OPT_SAMPLE,
	OPT_DRAW,
	OPT_DURABILITY,
	OPT_ALLOW_WRITES,
	OPT_KEEP,
	OPT_TIMEOUT,
	OPT_SEED,
};

struct bench_state {
	struct loadgen_plan plan;
	const char *positions; /* a file; NULL: the store's own */
	const char *draw;      /* NULL: as fits where the positions come from */
	uint64_t sample;
	uint64_t timeout; /* seconds; 0: the usual */
	bool allow_writes;
	bool keep;
	bool warmup_given;
};

/* Options that are numbers: where they go, and their bounds. */
struct number {
	int id;
	const char *name;
	size_t offset; /* of a uint64_t in struct bench_state */
	uint64_t min;
	uint64_t max;
};

#define PLAN(member) (offsetof(struct bench_state, plan) + offsetof(struct loadgen_plan, member))

static const struct number numbers[] = {
	{OPT_CLIENTS, "clients", PLAN(clients), 1, TRAFFIC_CLIENTS_MAX},
	{OPT_SECONDS, "seconds", PLAN(seconds), 1, SECONDS_MAX},
	{OPT_REQUESTS, "requests", PLAN(requests), 1, REQUESTS_MAX},
	{OPT_WARMUP, "warmup", PLAN(warmup), 0, SECONDS_MAX},
	{OPT_BATCH, "batch", PLAN(batch), 1, TRAFFIC_BATCH_MAX},
	{OPT_ROWS, "rows", PLAN(rows), 1, TRAFFIC_ROWS_MAX},
	{OPT_PUT_SIZE, "put-size", PLAN(put_size), 1, TRAFFIC_PUT_MAX},
	{OPT_PIPELINE, "pipeline", PLAN(pipeline), 1, TRAFFIC_PIPELINE_MAX},
	{OPT_RATE, "rate", PLAN(rate), 1, RATE_MAX},
	{OPT_SAMPLE, "sample", offsetof(struct bench_state, sample), 1, SAMPLE_MAX},
	{OPT_TIMEOUT, "timeout", offsetof(struct bench_state, timeout), 1, SECONDS_MAX},
	{OPT_SEED, "seed", PLAN(seed), 0, UINT64_MAX},
};

static int take_number(struct cli *cli, struct bench_state *bench, int id, const char *value)
{
	const struct number *number = numbers;
	uint64_t parsed = 0;
	while (number->id != id) {
		number++;
	}
	if (chi_num_u64(value, strlen(value), number->max, &parsed) != CHI_OK ||
	    parsed < number->min) {
		return cli_usage(cli, "--%s: '%s' is no number from %" PRIu64 " to %" PRIu64,
				 number->name, value, number->min, number->max);
	}
	memcpy((char *)bench + number->offset, &parsed, sizeof(parsed));
	return EXIT_DONE;
}

static int option(struct cli *cli, void *state, int id, const char *value)
{
	struct bench_state *bench = state;
	switch (id) {
	case OPT_MIX:
		return mix_parse(cli, value, &bench->plan.mix);
	case OPT_POSITIONS:
		bench->positions = value;
		return EXIT_DONE;
	case OPT_DRAW:
		bench->draw = value;
		if (strcmp(value, "random") != 0 && strcmp(value, "listed") != 0) {
			return cli_usage(cli, "--draw: '%s' is neither random nor listed", value);
		}
		return EXIT_DONE;
	case OPT_DURABILITY:
		if (strcmp(value, "sync") != 0 && strcmp(value, "none") != 0) {
			return cli_usage(cli, "--durability: '%s' is neither sync nor none", value);
		}
		bench->plan.durability = strcmp(value, "none") == 0 ? CHI_ASYNC : CHI_SYNC;
		return EXIT_DONE;
	case OPT_ALLOW_WRITES:
		bench->allow_writes = true;
		return EXIT_DONE;
	case OPT_KEEP:
		bench->keep = true;
		return EXIT_DONE;
	case OPT_WARMUP:
		bench->warmup_given = true;
		return take_number(cli, bench, id, value);
	default:
		return take_number(cli, bench, id, value);
	}
}

static void set_default(uint64_t *number, uint64_t value)
{
	*number = *number > 0 ? *number : value;
}

/* No number option may be 0 but the warm-up and the seed, for which 0 is as good as any. */
static void set_defaults(struct bench_state *bench)
{
	struct loadgen_plan *plan = &bench->plan;
	if (plan->mix.sum == 0) {
		plan->mix = (struct mix){
			.weights = {[MIX_PROBE] = 90, [MIX_BATCH] = 8, [MIX_SCAN] = 2}, .sum = 100};
	}
	if (plan->requests == 0) {
		set_default(&plan->seconds, SECONDS_USUAL);
	}
	if (!bench->warmup_given) {
		plan->warmup = 1;
	}
	set_default(&plan->clients, 1);
	set_default(&plan->batch, 100);
	set_default(&plan->rows, 100);
	set_default(&plan->put_size, 1);
	set_default(&plan->pipeline, 1);
	set_default(&bench->sample, SAMPLE_USUAL);
	plan->listed =
		bench->draw != NULL ? strcmp(bench->draw, "listed") == 0 : bench->positions != NULL;
}

/* What does not go together; nothing has been opened yet. */
static int check(const struct cli *cli, const struct bench_state *bench)
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
				 "for its commit keeps all others from writing; use one client");
	}
	return EXIT_DONE;
}

/* Opens the address and gathers what is asked for. */
static int prepare(struct cli *cli, struct bench_state *bench)
{
	struct loadgen_plan *plan = &bench->plan;
	struct chi_info info;
	cli->call_ms = (uint32_t)(bench->timeout * 1000);
	int code = cli_open(cli, plan->mix.weights[MIX_PUT] > 0, &cli->client);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_get_info(cli->client, &info);
	if (status == CHI_OK) {
		status = synthetic_init(&plan->synthetic, info.statistic);
	}
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	if (!mix_reads(&plan->mix)) {
		return EXIT_DONE;
	}
	return bench->positions != NULL ? sample_from_file(cli, bench->positions, &plan->sample)
					: sample_from_store(cli, bench->sample, &plan->sample);
}

/* What is measured, in words: without them the figures mean nothing. */
static void describe(const struct cli *cli, const struct bench_state *bench)
{
	const struct loadgen_plan *plan = &bench->plan;
	const struct sample *sample = &plan->sample;
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
	(void)chi_num_chi2_print(sample->least, least);
	(void)chi_num_chi2_print(sample->greatest, greatest);
	cli_message("asking for %zu of %" PRIu64 " positions, from all over the statistic (%s to "
		    "%s), %s (seed %" PRIu64 ")",
		    sample->n, sample->out_of, least, greatest, order, plan->seed);
}

/* Waits for the end, and shows how far it is. False: some clients still wait for an answer. */
static bool wait_for_end(const struct cli *cli, struct load *load)
{
	const struct loadgen_plan *plan = &load->plan;
	uint64_t total_ms = (plan->warmup + plan->seconds) * 1000;
	uint64_t begin = loadgen_clock();
	struct progress progress;
	progress_init(&progress, cli->quiet, plan->requests > 0 ? plan->requests : total_ms);
	progress.unit = "requests";
	bool ended = false;
	while (!ended && cli_stop == 0) {
		ended = loadgen_wait(load, LOOK_MS);
		uint64_t done = loadgen_done(load);
		uint64_t ms = (loadgen_clock() - begin) / 1000000;
		progress_update(&progress, plan->requests > 0 ? done : ms, done);
	}
	progress_clear(&progress);
	loadgen_stop(load);
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
		cli_message("what was put stays, with the note '%s'", note);
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
		cli_message("the %" PRIu64 " positions that were put are removed again", removed);
	}
	return EXIT_DONE;
}

/* Things that make the figures mean something else than was asked for. */
static int judge(const struct load *load, uint64_t answered, uint64_t failed)
{
	size_t lost = loadgen_lost(load);
	size_t window = loadgen_window(load);
	if (window < load->plan.pipeline) {
		cli_message("the server takes %zu unanswered requests of a client, so that is what "
			    "was sent",
			    window);
	}
	if (lost > 0) {
		cli_message("%zu of %" PRIu64 " clients had no connection at the end", lost,
			    load->plan.clients);
	}
	return lost > 0 || (answered == 0 && failed > 0) ? EXIT_STORE : EXIT_DONE;
}

/* Runs, prints, cleans up. *out: NULL if clients still use it when the command is over. */
static int measure(struct cli *cli, const struct bench_state *bench, struct load **out)
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
		cli_message("out of memory");
		return EXIT_STORE;
	}
	/* What was measured is out, whatever becomes of cleaning up. */
	(void)fflush(stdout);
	int code = judge(load, answered, failed);
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

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	struct bench_state *bench = state;
	_cleanup_(loadgen_freep) struct load *load = NULL;
	enum mix_kind kind = MIX_PROBE;
	(void)argc;
	(void)argv;
	set_defaults(bench);
	int code = check(cli, bench);
	if (code == EXIT_DONE) {
		code = prepare(cli, bench);
	}
	if (code == EXIT_DONE && loadgen_new(&bench->plan, &load) != CHI_OK) {
		cli_message("out of memory");
		code = EXIT_STORE;
	}
	if (code != EXIT_DONE) {
		sample_deinit(&bench->plan.sample);
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
	return measure(cli, bench, &load);
}

static const struct cli_option options[] = {
	{OPT_CLIENTS, "clients", "N", "clients, each with a thread and a connection (default: 1)"},
	{OPT_SECONDS, "seconds", "N", "how long to measure (default: 10)"},
	{OPT_REQUESTS, "requests", "N", "how many requests of all clients to measure, instead"},
	{OPT_WARMUP, "warmup", "N", "seconds before, which are not counted (default: 1)"},
	{OPT_MIX, "mix", "KIND=N,...",
	 "how often each kind is sent (default: probe=90,batch=8,scan=2)"},
	{OPT_BATCH, "batch", "N", "positions of a batch (default: 100)"},
	{OPT_ROWS, "rows", "N", "rows of a scan (default: 100)"},
	{OPT_PUT_SIZE, "put-size", "N", "positions of a put (default: 1)"},
	{OPT_PIPELINE, "pipeline", "N", "unanswered requests of a client, 1 to 64 (default: 1)"},
	{OPT_RATE, "rate", "N",
	 "send N requests a second, answered or not (default: as fast as they are answered)"},
	{OPT_POSITIONS, "positions", "FILE", "ask for the FENs of a file, - being standard input"},
	{OPT_SAMPLE, "sample", "N", "ask for N of the store's positions (default: 1000000)"},
	{OPT_DRAW, "draw", "HOW",
	 "positions at random, or listed: one after the other (default with a FILE)"},
	{OPT_DURABILITY, "durability", "sync|none", "what a put waits for (default: sync)"},
	{OPT_ALLOW_WRITES, "allow-writes", NULL, "let the mix have puts, of new positions"},
	{OPT_KEEP, "keep", NULL, "leave what was put in the store"},
	{OPT_TIMEOUT, "timeout", "N", "seconds that a request may take (default: 30)"},
	{OPT_SEED, "seed", "N", "of the random numbers (default: 0)"},
	{0, NULL, NULL, NULL},
};

const struct command cmd_bench = {
	.name = "bench",
	.arguments = "",
	.summary = "send load, and measure how fast it is answered",
	.help = "Sends requests to the address, a directory or a server, and prints for each kind, "
		"and\n"
		"for all: how many were answered, how many failed, positions asked for (rows of a\n"
		"scan), the seconds measured, requests and positions a second, and the latency in\n"
		"microseconds: mean, median, 90, 99 and 99.9 per cent, longest.\n"
		"Kinds are probe (a position's statistic and counts), batch (those of many), get,\n"
		"explore, scan (from a position on) and put.\n"
		"The positions are drawn from the store itself, or from a file. Puts store "
		"positions\n"
		"that were made up, marked by a note, and removed when the run is over: nothing "
		"that\n"
		"is stored already changes.",
	.example = "chistore -a unix:/run/chistore/sock bench --clients 50 --seconds 30\n"
		   "chistore -a ./positions bench --clients 4 --mix probe=1\n"
		   "chistore -a tcp:127.0.0.1:7227 bench --rate 20000 --clients 20",
	.options = options,
	.needs = NEEDS_ADDRESS,
	.measures = true,
	.state_size = sizeof(struct bench_state),
	.option = option,
	.run = run,
};
