/* SPDX-License-Identifier: MIT */
/* An engine that dies or hangs is started again; a lease is made longer while it searches. */
#include "cli/work/worker.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "chistore.h"

#define IDLE_MS	     100
#define PART	     1000  /* of the list of what was given up */
#define LOCK_WAIT_MS 60000 /* for others that write the directory */

bool worker_stops(const struct analysis_work *work)
{
	return cli_stop != 0 || atomic_load(&work->stops);
}

static void end_work(struct worker *worker, int code)
{
	struct analysis_work *work = worker->work;
	atomic_store(&work->stops, true);
	atomic_store(&work->code, cli_worse(atomic_load(&work->code), code));
}

void worker_fail(struct worker *worker, int status)
{
	if (!atomic_load(&worker->work->stops)) {
		end_work(worker, cli_fail(worker->client, status));
	}
}

void worker_idle(void)
{
	const struct timespec pause = {.tv_nsec = IDLE_MS * 1000000L};
	(void)nanosleep(&pause, NULL);
}

int worker_open(const struct cli *cli, struct chi_client **out)
{
	struct chi_options options;
	struct chi_fault fault;
	cli_options(cli, true, &options);
	options.lock_wait_ms = LOCK_WAIT_MS;
	return cli_fault(chi_open(cli->address, &options, out, &fault), &fault);
}

/* ---- The engine ---------------------------------------------------------------------------- */

static bool goes_on(void *context)
{
	return !worker_stops(((struct worker *)context)->work);
}

static void fail_engine(struct worker *worker, const struct chi_fault *fault)
{
	if (!worker_stops(worker->work)) {
		end_work(worker, EXIT_USAGE);
		cli_message("%s", fault->text);
	}
}

bool worker_need_engine(struct worker *worker)
{
	struct chi_fault fault;
	int status = engine_need(&worker->engine, goes_on, worker, &fault);
	if (status < 0) {
		fail_engine(worker, &fault);
	}
	return status == CHI_OK;
}

/* While it searches: the lease must not end. A failure shows when the evaluation is stored. */
static bool tick(void *context)
{
	struct worker *worker = context;
	uint32_t lease = (uint32_t)worker->work->lease;
	if (chi_now_ms() >= worker->extend_at) {
		worker->extend_at = chi_now_ms() + lease / 3;
		(void)!chi_queue_settle(worker->client, worker->lease, CHI_QUEUE_EXTEND,
					&worker->key, 1, lease, NULL);
	}
	return goes_on(worker);
}

/* ---- What is there already ----------------------------------------------------------------- */

bool worker_reads(struct worker *worker, const struct chi_record *record, size_t n_moves)
{
	const struct engine_limits *limits = &worker->engine.limits;
	const char *name = chi_child_name(worker->engine.child);
	size_t wanted = limits->lines < n_moves ? (size_t)limits->lines : n_moves;
	worker->n_lines = 0;
	for (size_t i = 0; record != NULL && i < record->n_evals && worker->n_lines < wanted; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (eval->engine_len != strlen(name) ||
		    memcmp(eval->engine, name, eval->engine_len) != 0) {
			continue;
		}
		/* The best line says how far the search went. */
		if (eval->rank != worker->n_lines ||
		    (eval->n_pv == 0 && worker->work->grow_to > 0) ||
		    (eval->rank == 0 && !engine_enough(limits, eval))) {
			break;
		}
		worker->lines[worker->n_lines++] =
			(struct tree_line){.move = eval->n_pv > 0 ? eval->pv[0] : 0,
					   .is_mate = eval->is_mate,
					   .score = eval->score};
	}
	return worker->n_lines == wanted;
}

int worker_known(struct worker *worker, const struct chi_key *key)
{
	struct chi_record record;
	size_t moves = 0;
	if (chi_key_moves(key, 0, NULL, 0, &moves, NULL) != CHI_OK || moves == 0) {
		worker->n_lines = 0;
		return CHI_OK;
	}
	int status = chi_get(worker->client, key, &record);
	if (status < 0) {
		return status;
	}
	return worker_reads(worker, status == CHI_OK ? &record : NULL, moves) ? CHI_OK : CHI_NONE;
}

/* ---- One position -------------------------------------------------------------------------- */

static int store_answers(struct worker *worker)
{
	struct chi_eval evals[ENGINE_LINES_MAX];
	const struct engine_found *found = &worker->engine.found;
	(void)engine_evals(&worker->engine, evals);
	const struct chi_put_entry put = {.key = worker->key,
					  .parts = CHI_PUT_EVALS,
					  .record = {.evals = evals, .n_evals = found->n}};
	for (size_t i = 0; i < found->n; i++) {
		worker->lines[i] = (struct tree_line){.move = found->lines[i].pv[0],
						      .is_mate = found->lines[i].is_mate,
						      .score = found->lines[i].score};
	}
	worker->n_lines = found->n;
	return chi_put(worker->client, &put, 1, CHI_SYNC, NULL);
}

static enum worker_end analyse_unknown(struct worker *worker, int *status)
{
	struct analysis_work *work = worker->work;
	struct chi_fault fault;
	char fen[CHI_FEN_SIZE];
	switch (engine_search(&worker->engine, &worker->key, tick, worker, &fault)) {
	case ENGINE_FOUND:
		*status = store_answers(worker);
		work->analysed += *status == CHI_OK;
		return WORKER_FOUND;
	case ENGINE_ABSENT:
		fail_engine(worker, &fault);
		return WORKER_STOPPED;
	case ENGINE_STOPPED:
		return WORKER_STOPPED;
	default:
		work->failed++;
		if (chi_key_to_fen(&worker->key, fen, NULL) == CHI_OK) {
			cli_message("the engine gave no answer to %s", fen);
		}
		return WORKER_FAILED;
	}
}

enum worker_end worker_analyse(struct worker *worker)
{
	static const enum chi_queue_action actions[] = {[WORKER_FOUND] = CHI_QUEUE_DONE,
							[WORKER_FAILED] = CHI_QUEUE_FAIL,
							[WORKER_STOPPED] = CHI_QUEUE_RELEASE};
	enum worker_end end = WORKER_FOUND;
	int status = worker_known(worker, &worker->key);
	worker->extend_at = chi_now_ms() + (int64_t)worker->work->lease / 3;
	if (status == CHI_OK) {
		worker->work->stored_before++;
	} else if (status == CHI_NONE) {
		status = CHI_OK;
		end = analyse_unknown(worker, &status);
	}
	if (status >= 0) {
		status = chi_queue_settle(worker->client, worker->lease, actions[end], &worker->key,
					  1, 0, NULL);
	}
	if (status < 0) {
		worker_fail(worker, status);
		return WORKER_STOPPED;
	}
	return end;
}

int worker_lease(struct worker *worker, const struct chi_key *key)
{
	const struct chi_queue_take_spec take = {CHI_QUEUE_TAKE_SPEC_INIT,
						 .holder = worker->holder,
						 .lease_ms = (uint32_t)worker->work->lease,
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

static bool has_key(const struct chi_queue_page *list, const struct chi_key *key)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct chi_key *one = &list->rows[i].key;
		if (one->len == key->len && memcmp(one->bytes, key->bytes, key->len) == 0) {
			return true;
		}
	}
	return false;
}

int worker_given_up(struct worker *worker, const struct chi_key *key)
{
	struct chi_queue_page list = {.more = true};
	struct chi_queue_row last = {.state = 0};
	while (list.more) {
		int status = chi_queue_list(worker->client, CHI_QUEUE_FAILED,
					    last.state != 0 ? &last : NULL, PART, &list);
		if (status != CHI_OK) {
			return status;
		}
		if (has_key(&list, key)) {
			worker->work->failed++;
			return CHI_OK;
		}
		if (list.n > 0) {
			last = list.rows[list.n - 1];
		}
	}
	return CHI_NONE;
}
