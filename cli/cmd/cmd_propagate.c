/* SPDX-License-Identifier: MIT */
/*
 * chistore propagate: scores backed up through stored moves. The store is read three times in the
 * order of its keys: for the positions with their direct scores, for the moves between them, and
 * for what is stored already, of which only what has changed is put. With a file that remembers
 * the direct scores of the run before it is read once, and compared: then only positions from which
 * moves lead to changed ones are worked on (propagate/cone.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "propagate/cone.h"
#include "propagate/evals.h"
#include "propagate/inputs.h"
#include "cli/command.h"
#include "cli/in/pgn_import.h"
#include "cli/out/explored.h"
#include "cli/out/output.h"
#include "cli/out/progress.h"
#include "cli/out/target.h"

/* Positions put together. */
#define PAGE 4096

/* A cone of more than this part of the store takes longer than the whole. */
#define CONE_PART 16
#define CONE_MIN  1024

struct propagate_state {
	uint64_t decay;
	uint64_t memory;
	const char *engine;
	const char *since;
};

static const struct propagate_state defaults = {
	.decay = 5, .memory = UINT64_C(1) << 30, .engine = CHI_BACKUP_ENGINE};

struct work {
	struct cli *cli;
	const struct propagate_state *state;
	struct chi_graph *graph;	/* of the whole store */
	struct chi_cone *cone;		/* or of what has changed, which has a graph of its own */
	const struct chi_graph *worths; /* the one that is asked */
	struct progress progress;
	const char *phase;
	uint64_t total; /* positions, about */
	uint64_t done;	/* of the phase */
	uint64_t direct;
	uint64_t backed;
	uint64_t changed;
	/* The file of --since: what it says, what is written in its place. */
	FILE *file;
	struct chi_inputs_reader *before;
	const struct chi_input *input; /* the next one, or NULL */
	struct target target;
	struct chi_inputs_writer *after;
	struct chi_fault fault; /* of it; "": of something else */
	bool written;		/* all that it is to say */
	bool too_much;		/* the cone has grown too large */
	/* A page of puts; their moves and evaluations. */
	size_t n;
	struct chi_put_entry *puts;
	struct chi_eval *evals;
	chi_move *best;
	const struct chi_key *page; /* of the cone */
};

/* What is done with a position of a phase. A status; CHI_NONE is fine. */
typedef int take_row(struct work *work, const struct chi_row *row, const struct chi_record *record);

static void work_deinit(struct work *work)
{
	chi_graph_free(work->graph);
	chi_cone_free(work->cone);
	chi_inputs_close(work->before);
	chi_inputs_drop(work->after);
	target_discard(&work->target);
	if (work->file != NULL) {
		(void)fclose(work->file);
	}
	free(work->puts);
	free(work->evals);
	free(work->best);
}

static int fail_propagate(struct work *work, int status)
{
	progress_clear(&work->progress);
	if (work->fault.text[0] != '\0') {
		cli_message("--since: %s: %s", work->state->since, work->fault.text);
		return status == -CHI_EINVAL ? EXIT_USAGE : EXIT_STORE;
	}
	if (status == -CHI_ETOOBIG && work->graph == NULL) {
		cli_message("more than --memory is needed for what has changed");
		return EXIT_USAGE;
	}
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

/* For the next run. */
static int remember_input(struct work *work, const struct chi_input *input)
{
	work->direct += input->direct != CHI_WORTH_NONE;
	if (work->after == NULL || work->written) {
		return CHI_OK;
	}
	chi_inputs_add(work->after, input);
	return ferror(work->target.file) == 0
		       ? CHI_OK
		       : chi_fail(&work->fault, -CHI_EIO, "%s", strerror(errno));
}

static int add_row(struct work *work, const struct chi_row *row, const struct chi_record *record)
{
	struct chi_input input = chi_input_of(&row->key, record, work->state->engine);
	int status = remember_input(work, &input);
	return status == CHI_OK
		       ? chi_graph_add_record(work->graph, &row->key, record, work->state->engine)
		       : status;
}

static int join_row(struct work *work, const struct chi_row *row, const struct chi_record *record)
{
	(void)record;
	return chi_graph_link(work->graph, &row->key);
}

static bool is_same_eval(const struct chi_eval *a, const struct chi_eval *b)
{
	return a != NULL && a->depth == b->depth && a->is_mate == b->is_mate &&
	       a->score == b->score && a->n_pv == b->n_pv && (a->n_pv == 0 || a->pv[0] == b->pv[0]);
}

static void add_put(struct work *work, const struct chi_key *key, uint32_t parts)
{
	work->puts[work->n] = (struct chi_put_entry){
		.key = *key,
		.parts = parts,
		.record = {.evals = &work->evals[work->n], .n_evals = 1},
	};
	work->n++;
}

/* Where nothing is backed up, what was before is taken away. */
static int compare_stored(struct work *work, const struct chi_key *key,
			  const struct chi_record *record)
{
	const char *engine = work->state->engine;
	const struct chi_eval *old = chi_eval_backed(record, engine);
	struct chi_graph_answer answer;
	if (chi_graph_ask(work->worths, key, &answer) != CHI_OK ||
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
	if (!answer.linked) {
		add_put(work, key, CHI_PUT_DROP_EVALS);
		return CHI_OK;
	}
	eval->score = chi_worth_score(answer.worth, &eval->is_mate);
	if (!is_same_eval(old, eval)) {
		add_put(work, key, CHI_PUT_EVALS);
	}
	return CHI_OK;
}

static int compare_row(struct work *work, const struct chi_row *row,
		       const struct chi_record *record)
{
	return compare_stored(work, &row->key, record);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int read_rows(struct work *work, struct chi_rows *iter, take_row *take, size_t *n)
{
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	int status;
	while ((status = chi_scan_next(iter, &row, &record)) == CHI_OK && cli_stop == 0) {
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
	struct chi_rows *iter = NULL;
	*n = 0;
	int status = chi_scan_open(work->cli->client, spec, &iter);
	if (status == CHI_OK) {
		status = read_rows(work, iter, take, n);
	}
	if (status == CHI_OK && *n > 0) {
		spec->after = chi_rows_state(iter)->cursor;
	}
	chi_rows_close(iter);
	return status;
}

static struct chi_scan_spec spec_of(enum chi_want want, uint64_t limit)
{
	return (struct chi_scan_spec){CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
				      .order = CHI_ORDER_POSITION, .want = (uint8_t)want,
				      .limit = limit};
}

static int read_all_rows(struct work *work, const char *phase, enum chi_want want, take_row *take)
{
	struct chi_scan_spec spec = spec_of(want, 0);
	size_t n = 0;
	work->phase = phase;
	work->done = 0;
	return read_some(work, &spec, take, &n);
}

/* What the file says is not what the scores are from, once the first is changed: it must not be
 * there if the run ends before it is written again. */
static int drop_file(struct work *work)
{
	if (work->file == NULL) {
		return CHI_OK;
	}
	(void)fclose(work->file);
	work->file = NULL;
	return target_remove_old(&work->target)
		       ? CHI_OK
		       : chi_fail(&work->fault, -CHI_EIO, "%s", strerror(errno));
}

static int put_page(struct work *work)
{
	struct chi_put_result result = {0};
	if (work->n == 0 || cli_stop != 0) {
		return CHI_OK;
	}
	int status = drop_file(work);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_put(work->cli->client, work->puts, work->n, CHI_ASYNC, &result);
	work->changed += result.updated + result.added;
	return status;
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
		work->n = 0;
		status = read_some(work, &spec, compare_row, &n);
		status = status == CHI_OK ? put_page(work) : status;
	}
	int flushed = chi_flush(work->cli->client);
	return status == CHI_OK ? flushed : status;
}

/* ---- What has changed ---------------------------------------------------------------------- */

static int change_position(struct work *work, const struct chi_key *key)
{
	int status = work->too_much ? CHI_OK : chi_cone_add(work->cone, key);
	work->too_much = work->too_much || status == CHI_NONE;
	return status;
}

static int next_input(struct work *work)
{
	int status = chi_inputs_next(work->before, &work->input, &work->fault);
	work->input = status == CHI_OK ? work->input : NULL;
	return status;
}

/* Positions of the file before `key` (NULL: all that are left) are not in the store any more. */
static int pass_deleted(struct work *work, const struct chi_key *key)
{
	int status = CHI_OK;
	while (status >= 0 && work->input != NULL &&
	       (key == NULL ||
		memcmp(work->input->key.bytes, key->bytes, sizeof(key->bytes)) < 0)) {
		status = change_position(work, &work->input->key);
		status = status >= 0 ? next_input(work) : status;
	}
	return status;
}

static int find_change(struct work *work, const struct chi_row *row,
		       const struct chi_record *record)
{
	struct chi_input input = chi_input_of(&row->key, record, work->state->engine);
	int status = pass_deleted(work, &row->key);
	status = status >= 0 ? remember_input(work, &input) : status;
	const struct chi_input *old = work->input;
	if (status < 0 || old == NULL || memcmp(&old->key, &row->key, sizeof(row->key)) != 0) {
		return status < 0 ? status : change_position(work, &row->key);
	}
	if (old->direct != input.direct || old->first != input.first || old->full != input.full) {
		status = change_position(work, &row->key);
	}
	return status >= 0 ? next_input(work) : status;
}

static int compare_asked(void *context, size_t i, const struct chi_record *record)
{
	struct work *work = context;
	return record != NULL ? compare_stored(work, &work->page[i], record) : CHI_OK;
}

static int store_cone(struct work *work)
{
	size_t n = 0;
	const struct chi_key *keys = chi_cone_keys(work->cone, &n);
	int status = CHI_OK;
	for (size_t done = 0; done < n && status == CHI_OK && cli_stop == 0; done += PAGE) {
		work->n = 0;
		work->page = keys + done;
		status = chi_get_many(work->cli->client, work->page,
				      n - done < PAGE ? n - done : PAGE, compare_asked, work);
		status = status == CHI_OK ? put_page(work) : status;
	}
	int flushed = chi_flush(work->cli->client);
	return status == CHI_OK ? flushed : status;
}

/* CHI_NONE: too much has changed. */
static int update(struct work *work)
{
	const struct propagate_state *state = work->state;
	uint64_t most = work->total / CONE_PART > CONE_MIN ? work->total / CONE_PART : CONE_MIN;
	int status = chi_cone_new(work->cli->client, most, state->memory, &work->cone);
	status = status == CHI_OK ? next_input(work) : status;
	if (status >= 0) {
		status = read_all_rows(work, "comparing", CHI_WANT_RECORDS, find_change);
	}
	if (status >= 0 && cli_stop == 0) {
		status = pass_deleted(work, NULL);
	}
	if (status >= 0 && !work->too_much && cli_stop == 0) {
		status = chi_cone_grow(work->cone, &cli_stop);
		work->too_much = status == CHI_NONE;
	}
	if (status < 0 || work->too_much || cli_stop != 0) {
		return status < 0 ? status : CHI_NONE;
	}
	status = chi_cone_run(work->cone, state->engine, (unsigned)state->decay, &cli_stop,
			      &work->worths);
	return status == CHI_OK && cli_stop == 0 ? store_cone(work) : status;
}

/* The file of the run before, if there is one, and the one that takes its place. */
static int open_files(struct work *work)
{
	const struct propagate_state *state = work->state;
	struct chi_info info;
	struct chi_inputs_of of = {.decay = (uint16_t)state->decay, .engine = state->engine};
	int status = chi_store_info(work->cli->client, &info);
	if (status != CHI_OK) {
		return status;
	}
	memcpy(of.uuid, info.uuid, sizeof(of.uuid));
	work->file = fopen(state->since, "re");
	if (work->file != NULL) {
		status = chi_inputs_open(work->file, &of, &work->before, &work->fault);
	} else if (errno != ENOENT) {
		return chi_fail(&work->fault, -CHI_EIO, "%s", strerror(errno));
	}
	return status == CHI_OK ? chi_inputs_create(work->target.file, &of, &work->after) : status;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static int work_init(struct work *work)
{
	struct chi_scan_spec all = spec_of(CHI_WANT_KEYS, 0);
	int status = chi_scan_count(work->cli->client, &all, &work->total, NULL);
	if (status != CHI_OK) {
		return status;
	}
	work->puts = calloc(PAGE, sizeof(*work->puts));
	work->evals = calloc(PAGE, sizeof(*work->evals));
	work->best = calloc(PAGE, sizeof(*work->best));
	if (work->puts == NULL || work->evals == NULL || work->best == NULL) {
		return -CHI_ENOMEM;
	}
	return work->state->since != NULL ? open_files(work) : CHI_OK;
}

static int propagate(struct work *work)
{
	const struct propagate_state *state = work->state;
	int status = chi_graph_new(work->total, state->memory, &work->graph);
	work->worths = work->graph;
	work->direct = 0;
	if (status == CHI_OK) {
		status = read_all_rows(work, "reading positions", CHI_WANT_RECORDS, add_row);
	}
	if (status == CHI_OK && cli_stop == 0) {
		status = read_all_rows(work, "finding moves", CHI_WANT_KEYS, join_row);
	}
	if (status == CHI_OK && cli_stop == 0) {
		status = chi_graph_run(work->graph, (unsigned)state->decay, &cli_stop);
	}
	return status == CHI_OK && cli_stop == 0 ? store_all(work) : status;
}

/* As much as has to be done. */
static int work_off(struct work *work)
{
	int status = work->before != NULL ? update(work) : CHI_NONE;
	if (status != CHI_NONE || cli_stop != 0) {
		return status < 0 ? status : CHI_OK;
	}
	chi_cone_free(work->cone);
	work->cone = NULL;
	work->written = work->before != NULL; /* by update() */
	return propagate(work);
}

static int print_work(struct work *work)
{
	uint64_t positions = chi_graph_positions(work->worths);
	if (work->cone != NULL) {
		size_t n = 0;
		(void)chi_cone_keys(work->cone, &n);
		positions = n;
	}
	return output_object(work->cli,
			     json_pack("{s:o, s:o, s:o, s:o, s:o}", "positions",
				       json_count(positions), "direct", json_count(work->direct),
				       "moves", json_count(chi_graph_edges(work->worths)),
				       "backed_up", json_count(work->backed), "changed",
				       json_count(work->changed)));
}

static int run_propagate(struct cli *cli)
{
	_cleanup_(work_deinit) struct work work = {.cli = cli, .state = cli->state};
	progress_init(&work.progress, cli->quiet, 0);
	int code = work.state->since != NULL ? target_open(&work.target, work.state->since)
					     : EXIT_DONE;
	if (code != EXIT_DONE) {
		return code;
	}
	cli_catch_signals();
	int status = work_init(&work);
	status = status == CHI_OK ? work_off(&work) : status;
	progress_clear(&work.progress);
	if (status == -CHI_ETOOBIG && work.graph == NULL && work.cone == NULL) {
		return cli_usage(cli, "--memory: too little for %" PRIu64 " positions", work.total);
	}
	if (status != CHI_OK) {
		return fail_propagate(&work, status);
	}
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	if (work.after != NULL) {
		chi_inputs_finish(work.after);
		code = ferror(work.target.file) == 0 ? target_finish(&work.target)
						     : target_fail(&work.target);
	}
	return code == EXIT_DONE ? print_work(&work) : code;
}

static int take_file(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	*(const char **)out = value;
	return strcmp(value, "-") != 0 && value[0] != '\0'
		       ? EXIT_DONE
		       : cli_usage(cli, "--%s: a file's name is needed", option->name);
}

static const struct cli_option options[] = {
	OPTION_NUMBER(propagate_state, decay, 0, 1000, "decay", "N",
		      "thousandths of a score lost at each ply (default: 5)"),
	OPTION(propagate_state, memory, games_memory, "memory", "SIZE",
	       "most memory to take, about 80 bytes a position (default: 1G)"),
	OPTION(propagate_state, engine, explored_take_engine, "engine", "NAME",
	       "name that the scores are stored under (default: " CHI_BACKUP_ENGINE ")"),
	OPTION(propagate_state, since, take_file, "since", "FILE",
	       "only what has changed since the run that wrote FILE; write it again"),
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
		"position with a score. Without one a position has a score only if all its moves\n"
		"are stored and have one. Moves that go round for ever are a draw. A mate is told\n"
		"only if it is proven: all replies are stored, up to mates on the board.\n"
		"\n"
		"The scores are stored as evaluations of an engine of their own, of depth 0, with\n"
		"the best move, where some move leads to a score. A run goes through the whole\n"
		"store and writes what has changed; with --since FILE it remembers in FILE what\n"
		"it saw, and the next one works only on positions from which moves lead to what\n"
		"has changed since. 'pv' prints the principal variation.",
	.example = "chistore -a ./positions propagate\n"
		   "chistore -a tcp:127.0.0.1:7228 propagate --since /var/lib/chess/backed-up",
	.options = options,
	.needs = NEEDS_WRITE,
	.slow = true,
	.state_size = sizeof(struct propagate_state),
	.defaults = &defaults,
	.run = run_propagate,
};
