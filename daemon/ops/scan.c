/* SPDX-License-Identifier: MIT */
/* Scans and counts, as runs. */
#include "daemon/ops/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "chess/material.h"
#include "daemon/ops/handler.h"
#include "daemon/settings/limits.h"
#include "search/among.h"
#include "store/store.h"

/* Positions of which the games are looked at between two looks at the clock. */
#define JUDGED_STEPS 16

static struct chi_scan_run *scan_of(struct chi_run *run)
{
	return (struct chi_scan_run *)run;
}

static const struct chi_scan_run *const_scan_of(const struct chi_run *run)
{
	return (const struct chi_scan_run *)run;
}

/* ---- Snapshots --------------------------------------------------------------------------- */

/* A sorted scan that has all its rows. */
static bool is_collected(const struct chi_scan_run *scan)
{
	return scan->scan != NULL && chi_scan_collected(scan->scan);
}

/* A sorted scan goes on with the rows that it has, if it has all; else it begins again. */
static void release(struct chi_run *run)
{
	struct chi_scan_run *scan = scan_of(run);
	if (scan->scan != NULL && !is_collected(scan)) {
		chi_scan_where(scan->scan, &scan->spec.after);
		scan->spec.limit = scan->left;
		scan->has_sequence = scan->has_sequence && scan->spec.sort == CHI_SORT_NONE;
		chi_scan_close(scan->scan);
		scan->scan = NULL;
	}
	if (scan->among != NULL) {
		chi_among_detach(scan->among);
	}
}

/* A sorted one waits for no one while it collects. */
static bool may_move(const struct chi_run *run)
{
	const struct chi_scan_run *scan = const_scan_of(run);
	return (scan->among == NULL || chi_among_may_detach(scan->among)) &&
	       (scan->spec.sort == CHI_SORT_NONE || is_collected(scan));
}

/* Gives up what was collected and not sent: the scan finds it again when it goes on. */
static bool forget_scan(struct chi_run *run)
{
	struct chi_scan_run *scan = scan_of(run);
	if (scan->spec.sort != CHI_SORT_NONE) {
		return false;
	}
	scan->left += scan->spec.limit > 0 ? run->page.n : 0;
	scan->spec.limit = scan->left;
	scan->spec.after = scan->sent;
	return true;
}

/* The games of the filter, which are kept once they are all found: of later snapshots too. */
static int open_among(struct chi_scan_run *scan, struct chi_fault *fault)
{
	struct chi_read *read = scan->run.read;
	if (scan->games[0] == '\0') {
		return CHI_OK;
	}
	return scan->among != NULL ? chi_among_attach(scan->among, read, fault)
				   : chi_among_open(read, scan->games, strlen(scan->games),
						    &scan->among, fault);
}

/* The scan goes on where it stood, on the state of now. Two snapshots of the same sequence
 * number show the same, so only another number makes the result a mixed one. */
static int open_scan(struct chi_run *run, struct chi_fault *fault)
{
	struct chi_scan_run *scan = scan_of(run);
	uint64_t sequence = chi_read_sequence(run->read);
	bool needed = !is_collected(scan) || scan->spec.want == CHI_WANT_RECORDS;
	scan->mixed = scan->mixed || (scan->has_sequence && sequence != scan->sequence && needed);
	scan->sequence = scan->has_sequence ? scan->sequence : sequence;
	scan->has_sequence = true;
	if (scan->scan != NULL) {
		chi_scan_attach(scan->scan, run->read);
		return CHI_OK;
	}
	int status = open_among(scan, fault);
	status = status == CHI_OK ? chi_scan_open(run->read, &scan->spec, &scan->scan, fault)
				  : status;
	if (status == CHI_OK && scan->among != NULL) {
		chi_among_judge(scan->among, scan->scan);
	}
	return status;
}

/* Looks for the games first. CHI_OK: they are found; CHI_NONE: not yet. */
static int find_games(struct chi_scan_run *scan)
{
	uint64_t steps = CHI_SEARCH_STEPS;
	int status = scan->among != NULL ? chi_among_step(scan->among, &steps) : CHI_NONE;
	return status < 0 ? status : status == CHI_NONE ? CHI_OK : CHI_NONE;
}

static void tell_unknown(struct chi_run *run, struct chi_response *response)
{
	const struct chi_among *among = scan_of(run)->among;
	const char *name = NULL;
	for (size_t i = 0;
	     among != NULL && response->last && (name = chi_among_unknown(among, i)) != NULL; i++) {
		chi_run_tell_unknown(run, response, name);
	}
}

static size_t memory_of(const struct chi_run *run)
{
	const struct chi_scan_run *scan = const_scan_of(run);
	return sizeof(*scan) - sizeof(*run) + strlen(scan->games) +
	       (scan->among != NULL ? chi_among_memory(scan->among) : 0) +
	       (scan->scan != NULL ? chi_scan_memory(scan->scan) : 0);
}

static void free_run(struct chi_run *run)
{
	chi_scan_close(scan_of(run)->scan);
	chi_among_close(scan_of(run)->among);
	free(run);
}

/* Of a judged scan each entry is a position's list of games, which may have a million. */
static uint64_t steps_of(const struct chi_scan_run *scan)
{
	return scan->among != NULL ? JUDGED_STEPS : CHI_HELPING_STEPS;
}

/* ---- Scans ------------------------------------------------------------------------------- */

/* A scan opened again must deliver the rest only; the store never exceeds it. */
static int take_page(struct chi_scan_run *scan, size_t before, int status)
{
	if (scan->spec.limit > 0) {
		scan->left -= scan->run.page.n - before;
	}
	return status == CHI_OK && scan->spec.limit > 0 && scan->left == 0 ? CHI_NONE : status;
}

static int step_scan(struct chi_run *run, struct chi_fault *fault)
{
	struct chi_scan_run *scan = scan_of(run);
	size_t before = run->page.n;
	(void)fault;
	int status = find_games(scan);
	if (status != CHI_OK) {
		return status < 0 ? status : CHI_OK;
	}
	return take_page(scan, before,
			 chi_page_fill(&run->page, scan->scan, scan->spec.want, steps_of(scan)));
}

/* The cursor is after the last row of the page. */
static void fill_scan(struct chi_run *run, struct chi_response *response)
{
	struct chi_scan_run *scan = scan_of(run);
	response->u.scan.want = scan->spec.want;
	response->u.scan.rows = run->page.rows;
	response->u.scan.entries = run->page.entries;
	response->u.scan.n = run->page.n;
	response->u.scan.mixed = response->last && scan->mixed;
	chi_scan_where(scan->scan, &response->u.scan.cursor);
	scan->sent = response->u.scan.cursor;
	tell_unknown(run, response);
}

static const struct chi_run_ops scan_ops = {
	.pages = true,
	.open = open_scan,
	.release = release,
	.step = step_scan,
	.fill = fill_scan,
	.may_move = may_move,
	.forget = forget_scan,
	.memory = memory_of,
	.free = free_run,
};

/* ---- Counts ------------------------------------------------------------------------------ */

static int step_count(struct chi_run *run, struct chi_fault *fault)
{
	struct chi_scan_run *scan = scan_of(run);
	(void)fault;
	int status = find_games(scan);
	if (status != CHI_OK) {
		return status < 0 ? status : CHI_OK;
	}
	return chi_scan_count(scan->scan, steps_of(scan), &scan->count);
}

static void fill_count(struct chi_run *run, struct chi_response *response)
{
	const struct chi_scan_run *scan = const_scan_of(run);
	response->u.count.count = scan->count;
	response->u.count.mixed = scan->mixed;
	tell_unknown(run, response);
}

static const struct chi_run_ops count_ops = {
	.open = open_scan,
	.release = release,
	.step = step_count,
	.fill = fill_count,
	.may_move = may_move,
	.memory = memory_of,
	.free = free_run,
};

/* `spec` has been checked. NULL: out of memory. */
static struct chi_scan_run *make_scan(const struct chi_scan_spec *spec, size_t size, size_t most)
{
	size_t len = spec->games != NULL ? strlen(spec->games) : 0;
	struct chi_scan_run *scan = calloc(1, sizeof(*scan) + len + 1);
	if (scan != NULL) {
		if (len > 0) {
			memcpy(scan->games, spec->games, len);
		}
		scan->spec = *spec;
		scan->spec.games = scan->games;
		scan->sent = spec->after;
		scan->left = spec->limit;
		chi_page_init(&scan->run.page, size, most);
	}
	return scan;
}

/* ---- Scan and Count ------------------------------------------------------------------------ */

/* The filter's material comes as text, because the room of the protocol knows no chess. */
static int begin_scan(struct chi_task *task, const char *name, const struct chi_run_ops *ops)
{
	struct chi_request *request = task->request;
	struct chi_scan_spec spec = request->u.scan.spec;
	const struct chi_text *material = &request->u.scan.material;
	int status = CHI_OK;
	if (material->len > 0) {
		status = chi_material_parse(material->bytes, material->len, &spec.filter.material,
					    &task->fault);
		spec.filter.has_material = true;
	}
	if (status < 0) {
		return chi_task_field(task, status, "%s.filter.material", name);
	}
	status = chi_scan_check(&spec, &task->fault);
	if (status < 0) {
		return chi_task_field(task, status, "%s", name);
	}
	if (spec.games != NULL) {
		const struct chi_text games = {spec.games, strlen(spec.games)};
		status = chi_task_filter(task, name, "games", &games);
	}
	if (status < 0) {
		return status;
	}
	struct chi_scan_run *scan = make_scan(
		&spec,
		spec.want == CHI_WANT_RECORDS ? sizeof(struct chi_entry) : sizeof(struct chi_row),
		CHI_SCAN_ROWS_MAX);
	if (scan == NULL) {
		return -CHI_ENOMEM;
	}
	chi_run_start(&scan->run, ops, task, chi_call_window(request->u.scan.window));
	return CHI_OK;
}

int chi_handle_scan(struct chi_task *task)
{
	return begin_scan(task, "scan", &scan_ops);
}

int chi_handle_count(struct chi_task *task)
{
	/* A count walks the band forwards and delivers nothing but a number. */
	task->request->u.scan.spec.limit = 0;
	task->request->u.scan.spec.want = CHI_WANT_KEYS;
	task->request->u.scan.window = 1;
	return begin_scan(task, "count", &count_ops);
}
