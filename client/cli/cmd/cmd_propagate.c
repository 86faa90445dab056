/* SPDX-License-Identifier: MIT */
/*
 * chistore propagate: scores backed up through stored moves. The store is read three times in the
 * order of its keys: for the positions with their direct scores, for the moves between them, and
 * for what is stored already, of which only what has changed is put.
 */
#include <inttypes.h>
#include <string.h>

#include "propagate/evals.h"
#include "propagate/graph.h"
#include "client/cli/command.h"
#include "client/cli/in/pgn_import.h"
#include "client/cli/out/explored.h"
#include "client/cli/out/output.h"
#include "client/cli/out/progress.h"

/* Positions put together. */
#define PAGE 4096

struct propagate_state {
	uint64_t decay;
	uint64_t memory;
	const char *engine;
};

static const struct propagate_state defaults = {
	.decay = 5, .memory = UINT64_C(1) << 30, .engine = CHI_BACKUP_ENGINE};

struct work {
	struct cli *cli;
	const struct propagate_state *state;
	struct chi_graph *graph;
	struct progress progress;
	const char *phase;
	uint64_t total; /* positions, about */
	uint64_t done;	/* of the phase */
	uint64_t direct;
	uint64_t backed;
	uint64_t changed;
	/* A page of puts; their moves and evaluations. */
	size_t n;
	struct chi_put *puts;
	struct chi_eval *evals;
	chi_move *best;
};

/* What is done with a position of a phase. A status; CHI_NONE is fine. */
typedef int take_row(struct work *work, const struct chi_row *row, const struct chi_record *record);

static void work_deinit(struct work *work)
{
	chi_graph_free(work->graph);
	free(work->puts);
	free(work->evals);
	free(work->best);
}

static int fail(struct work *work, int status)
{
	progress_clear(&work->progress);
	if (status == -CHI_ETOOBIG) {
		cli_message("more than --memory is needed: %" PRIu64 " positions and %" PRIu64
			    " moves between them have taken %" PRIu64 " MiB so far",
			    chi_graph_positions(work->graph), chi_graph_edges(work->graph),
			    chi_graph_held(work->graph) >> 20);
		return EXIT_USAGE;
	}
	return status == -CHI_ENOMEM ? cli_no_memory() : cli_fail(work->cli->client, status);
}

/* ---- The phases ---------------------------------------------------------------------------- */

static int add(struct work *work, const struct chi_row *row, const struct chi_record *record)
{
	const char *engine = work->state->engine;
	const struct chi_eval *eval = chi_eval_direct(record);
	chi_worth worth = eval != NULL ? chi_worth_of(eval->is_mate, eval->score) : CHI_WORTH_NONE;
	work->direct += eval != NULL;
	if (chi_eval_fits(record, engine)) {
		return chi_graph_add(work->graph, &row->key, worth,
				     eval != NULL && eval->n_pv > 0 ? eval->pv[0] : 0);
	}
	int rc = chi_worth_stored(&row->key, record, engine, &worth);
	return rc == CHI_OK ? chi_graph_fix(work->graph, &row->key, worth) : rc;
}

static int join(struct work *work, const struct chi_row *row, const struct chi_record *record)
{
	(void)record;
	return chi_graph_link(work->graph, &row->key);
}

static bool is_same(const struct chi_eval *a, const struct chi_eval *b)
{
	return a != NULL && a->depth == b->depth && a->is_mate == b->is_mate &&
	       a->score == b->score && a->n_pv == b->n_pv && (a->n_pv == 0 || a->pv[0] == b->pv[0]);
}

/* Where nothing is backed up, only what was before is put right. */
static int compare(struct work *work, const struct chi_row *row, const struct chi_record *record)
{
	const char *engine = work->state->engine;
	const struct chi_eval *old = chi_eval_backed(record, engine);
	struct chi_graph_answer answer;
	if (chi_graph_ask(work->graph, &row->key, &answer) != CHI_OK ||
	    (!answer.linked && old == NULL) || !chi_eval_fits(record, engine)) {
		return CHI_OK;
	}
	work->backed += answer.backed;
	struct chi_eval *eval = &work->evals[work->n];
	work->best[work->n] = answer.best;
	*eval = (struct chi_eval){.engine = engine,
				  .engine_len = strlen(engine),
				  .pv = &work->best[work->n],
				  .n_pv = answer.best != 0};
	if (answer.worth != CHI_WORTH_NONE) {
		eval->score = chi_worth_score(answer.worth, &eval->is_mate);
	}
	if (is_same(old, eval)) {
		return CHI_OK;
	}
	work->puts[work->n++] = (struct chi_put){
		.key = row->key, .parts = CHI_PUT_EVALS, .record = {.evals = eval, .n_evals = 1}};
	return CHI_OK;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int read_rows(struct work *work, struct chi_iter *iter, take_row *take, size_t *n)
{
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	int status;
	while ((status = chi_iter_next(iter, &row, &record)) == CHI_OK && cli_stop == 0) {
		status = take(work, row, record);
		if (status < 0) {
			return status;
		}
		++*n;
		if (++work->done % 1024 == 0) {
			progress_phase(&work->progress, work->phase, work->done, work->total);
		}
	}
	return status < 0 ? status : CHI_OK;
}

/* All of the store, or from spec->after on as many rows as its limit says. */
static int read_some(struct work *work, struct chi_scan_spec *spec, take_row *take, size_t *n)
{
	struct chi_iter *iter = NULL;
	*n = 0;
	int status = chi_iter_open(work->cli->client, spec, &iter);
	if (status == CHI_OK) {
		status = read_rows(work, iter, take, n);
	}
	if (status == CHI_OK && *n > 0) {
		chi_iter_cursor(iter, &spec->after);
	}
	chi_iter_close(iter);
	return status;
}

static struct chi_scan_spec spec_of(enum chi_want want, uint64_t limit)
{
	return (struct chi_scan_spec){.chi2_max = CHI_CHI2_MAX,
				      .order = CHI_ORDER_POSITION,
				      .want = (uint8_t)want,
				      .limit = limit};
}

static int read_all(struct work *work, const char *phase, enum chi_want want, take_row *take)
{
	struct chi_scan_spec spec = spec_of(want, 0);
	size_t n = 0;
	work->phase = phase;
	work->done = 0;
	return read_some(work, &spec, take, &n);
}

/* Other calls have to wait for the end of a scan: it is read by pages, each followed by its puts.
 */
static int store_all(struct work *work)
{
	struct chi_scan_spec spec = spec_of(CHI_WANT_RECORDS, PAGE);
	size_t n = PAGE;
	int status = CHI_OK;
	work->phase = "storing";
	work->done = 0;
	while (status == CHI_OK && n == PAGE && cli_stop == 0) {
		struct chi_put_result result = {0};
		work->n = 0;
		status = read_some(work, &spec, compare, &n);
		if (status == CHI_OK && work->n > 0 && cli_stop == 0) {
			status =
				chi_put(work->cli->client, work->puts, work->n, CHI_ASYNC, &result);
		}
		work->changed += result.updated + result.added;
	}
	int flushed = chi_flush(work->cli->client);
	return status == CHI_OK ? flushed : status;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static int work_init(struct work *work, struct cli *cli)
{
	struct chi_scan_spec all = spec_of(CHI_WANT_KEYS, 0);
	*work = (struct work){.cli = cli, .state = cli->state};
	progress_init(&work->progress, cli->quiet, 0);
	int status = chi_count(cli->client, &all, &work->total, NULL);
	if (status != CHI_OK) {
		return status;
	}
	work->puts = calloc(PAGE, sizeof(*work->puts));
	work->evals = calloc(PAGE, sizeof(*work->evals));
	work->best = calloc(PAGE, sizeof(*work->best));
	return work->puts != NULL && work->evals != NULL && work->best != NULL ? CHI_OK
									       : -CHI_ENOMEM;
}

static int propagate(struct work *work)
{
	const struct propagate_state *state = work->state;
	int status = read_all(work, "reading positions", CHI_WANT_RECORDS, add);
	if (status == CHI_OK && cli_stop == 0) {
		status = read_all(work, "finding moves", CHI_WANT_KEYS, join);
	}
	if (status == CHI_OK && cli_stop == 0) {
		status = chi_graph_run(work->graph, (unsigned)state->decay, &cli_stop);
	}
	return status == CHI_OK && cli_stop == 0 ? store_all(work) : status;
}

static int run(struct cli *cli)
{
	_cleanup_(work_deinit) struct work work = {.cli = cli};
	int status = work_init(&work, cli);
	if (status == CHI_OK) {
		status = chi_graph_new(work.total, work.state->memory, &work.graph);
	}
	if (status == -CHI_ETOOBIG) {
		return cli_usage(cli, "--memory: too little for %" PRIu64 " positions", work.total);
	}
	cli_catch_signals();
	status = status == CHI_OK ? propagate(&work) : status;
	progress_clear(&work.progress);
	if (status != CHI_OK) {
		return fail(&work, status);
	}
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	return output_object(cli, json_pack("{s:o, s:o, s:o, s:o, s:o}", "positions",
					    json_count(chi_graph_positions(work.graph)), "direct",
					    json_count(work.direct), "moves",
					    json_count(chi_graph_edges(work.graph)), "backed_up",
					    json_count(work.backed), "changed",
					    json_count(work.changed)));
}

static const struct cli_option options[] = {
	OPTION_NUMBER(propagate_state, decay, 0, 1000, "decay", "N",
		      "thousandths of a score lost at each ply (default: 5)"),
	OPTION(propagate_state, memory, games_memory, "memory", "SIZE",
	       "most memory to take, about 60 bytes a position (default: 1G)"),
	OPTION(propagate_state, engine, explored_take_engine, "engine", "NAME",
	       "name that the scores are stored under (default: " CHI_BACKUP_ENGINE ")"),
	OPTIONS_END,
};

const struct command cmd_propagate = {
	.name = "propagate",
	.arguments = "",
	.summary = "back up scores through stored moves",
	.help = "A position's backed-up score is the best of the scores after its moves, wherever\n"
		"these lead to stored positions, each seen from the other side; mates are counted\n"
		"in plies, centipawns shrink by --decay. The deepest evaluation of a position\n"
		"counts, too, unless the move it begins with, or every legal move, leads to a\n"
		"position with a score. Moves that go round for ever are a draw.\n"
		"\n"
		"The scores are stored as evaluations of an engine of their own, of depth 0, with\n"
		"the best move, where some move leads to a score. Every run goes through the "
		"whole\n"
		"store and writes what has changed. 'pv' prints the principal variation.",
	.example = "chistore -a ./positions propagate\n"
		   "chistore -a tcp:127.0.0.1:7228 propagate --decay 0 --engine plain",
	.options = options,
	.needs = NEEDS_WRITE,
	.slow = true,
	.state_size = sizeof(struct propagate_state),
	.defaults = &defaults,
	.run = run,
};
