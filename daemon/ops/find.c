/* SPDX-License-Identifier: MIT */
/*
 * Positions by a pattern, as runs. One goes on where it was on another snapshot, as a scan does;
 * but games that fit a filter have to be found again for that, so that then it is done only while
 * the client reads nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "search/find.h"

_Static_assert(CHI_SEARCH_CURSOR_SIZE == CHI_FIND_CURSOR_SIZE, "one cursor");

/* Between two looks at the clock; a step is some hundred positions. */
#define STEPS 4

/* Between two responses that tell how far it is. */
#define PROGRESS_MS 200

struct find_run {
	struct chi_run run;
	struct chi_find_spec spec; /* of what is still to be found */
	char *pattern;		   /* these two are the spec's */
	char *filter;
	char cursor[CHI_FIND_CURSOR_SIZE]; /* likewise */
	char sent[CHI_FIND_CURSOR_SIZE];   /* after the last row of a response */
	struct chi_find *find;		   /* NULL between two snapshots */
	uint64_t sequence;		   /* of the first snapshot */
	bool has_sequence;
	bool mixed;    /* a later snapshot showed another state */
	bool progress; /* is asked for */
	int64_t told_at;
	uint16_t thousandths;
	bool counted;
	uint64_t total;
};

static struct find_run *find_of(struct chi_run *run)
{
	return (struct find_run *)run;
}

static const struct find_run *const_find_of(const struct chi_run *run)
{
	return (const struct find_run *)run;
}

/* ---- Snapshots ---------------------------------------------------------------------------- */

static int open_find(struct chi_run *run, struct chi_fault *fault)
{
	struct find_run *find = find_of(run);
	uint64_t sequence = chi_read_sequence(run->read);
	find->mixed = find->mixed || (find->has_sequence && sequence != find->sequence);
	find->sequence = find->has_sequence ? find->sequence : sequence;
	find->has_sequence = true;
	return chi_find_open(run->read, &find->spec, &find->find, fault);
}

/* Games are collected again from the first; positions go on after the last that was looked at. */
static void release(struct chi_run *run)
{
	struct find_run *find = find_of(run);
	if (find->find == NULL) {
		return;
	}
	chi_find_rest(find->find, &find->spec, find->cursor);
	chi_find_close(find->find);
	find->find = NULL;
}

static bool may_move(const struct chi_run *run)
{
	const struct find_run *find = const_find_of(run);
	return !find->spec.games && (find->spec.filter_len == 0 || !chi_call_may_send(&run->call));
}

/* With all rows it counts on, and keeps them. */
static bool forget(struct chi_run *run)
{
	struct find_run *find = find_of(run);
	if (find->spec.only_count) {
		return false;
	}
	memcpy(find->cursor, find->sent, sizeof(find->cursor));
	find->spec.cursor_len = strlen(find->cursor);
	find->spec.before -= run->page.n;
	find->spec.limit += find->spec.limit > 0 ? run->page.n : 0;
	return true;
}

/* ---- Searching ---------------------------------------------------------------------------- */

static int find_games(struct find_run *find)
{
	struct chi_games_row none[1];
	size_t n = 0;
	return chi_find_games(find->find, none, 1, STEPS, &n);
}

static int find_positions(struct find_run *find)
{
	struct chi_page *page = &find->run.page;
	size_t n = 0;
	int status = chi_page_grow(page);
	if (status < 0) {
		return status;
	}
	status = chi_find_positions(find->find, page->rows + page->n, page->capacity - page->n,
				    STEPS, &n);
	chi_page_added(page, n);
	return status;
}

static int step(struct chi_run *run, struct chi_fault *fault)
{
	struct find_run *find = find_of(run);
	(void)fault;
	int status = find->spec.games ? find_games(find) : find_positions(find);
	find->thousandths = (uint16_t)chi_find_progress(find->find);
	if (status == CHI_NONE) {
		find->counted = chi_find_total(find->find, &find->total);
	}
	return status;
}

static bool is_due(const struct chi_run *run, int64_t now)
{
	const struct find_run *find = const_find_of(run);
	return find->progress && now - find->told_at >= PROGRESS_MS;
}

static void fill(struct chi_run *run, struct chi_response *response)
{
	struct find_run *find = find_of(run);
	size_t n = run->page.n;
	if (n > 0) {
		const struct chi_row *row = &run->page.rows[n - 1];
		const struct chi_cursor cursor = {.set = true, .chi2 = row->chi2, .key = row->key};
		size_t len = chi_cursor_print(&cursor, find->sent);
		find->sent[len] = '\0';
	}
	response->u.find.rows = run->page.rows;
	response->u.find.n = n;
	memcpy(response->u.find.cursor, find->sent, sizeof(find->sent));
	response->u.find.thousandths = find->thousandths;
	response->u.find.counted = find->counted;
	response->u.find.total = find->total;
	response->u.find.mixed = response->last && find->mixed;
	find->told_at = chi_now_ms();
}

static size_t memory_of(const struct chi_run *run)
{
	return sizeof(struct find_run) - sizeof(*run);
}

static void free_run(struct chi_run *run)
{
	struct find_run *find = find_of(run);
	free(find->pattern);
	free(find->filter);
	free(run);
}

static const struct chi_run_ops ops = {
	.pages = true,
	.open = open_find,
	.release = release,
	.step = step,
	.fill = fill,
	.may_move = may_move,
	.forget = forget,
	.due = is_due,
	.memory = memory_of,
	.free = free_run,
};

/* ---- The request -------------------------------------------------------------------------- */

static bool take_texts(struct find_run *find, const struct chi_request *request)
{
	find->pattern = strdup(request->u.find.pattern);
	find->filter = strdup(request->u.find.filter);
	if (find->pattern == NULL || find->filter == NULL) {
		return false;
	}
	memcpy(find->cursor, request->u.find.cursor, strlen(request->u.find.cursor));
	return true;
}

int chi_handle_find(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	if (request->u.find.games && !request->u.find.only_count) {
		task->field = "find.games";
		return chi_fault(&task->fault, -CHI_EINVAL, "games are only counted");
	}
	struct find_run *find = calloc(1, sizeof(*find));
	if (find == NULL || !take_texts(find, request)) {
		if (find != NULL) {
			free_run(&find->run);
		}
		return -CHI_ENOMEM;
	}
	find->spec = (struct chi_find_spec){
		.pattern = find->pattern,
		.pattern_len = strlen(find->pattern),
		.filter = find->filter,
		.filter_len = strlen(find->filter),
		.cursor = find->cursor,
		.cursor_len = strlen(find->cursor),
		.games = request->u.find.games,
		.only_count = request->u.find.only_count,
		.want_total = request->u.find.want_total || request->u.find.only_count,
		.limit = request->u.find.limit,
	};
	find->progress = request->u.find.progress;
	find->told_at = chi_now_ms();
	memcpy(find->sent, find->cursor, sizeof(find->sent));
	chi_page_init(&find->run.page, sizeof(struct chi_row), CHI_SCAN_ROWS_MAX);
	chi_run_start(&find->run, &ops, task, chi_call_window(request->u.find.window));
	return CHI_OK;
}
