/* SPDX-License-Identifier: MIT */
/* Positions by a pattern, or the games that reached them, as runs. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "ops/game_rows.h"
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
	struct chi_find *find;		 /* NULL: it has not begun */
	struct chi_game_rows rows;	 /* of games */
	char sent[CHI_FIND_CURSOR_SIZE]; /* after the last row of a response */
	uint64_t sequence;		 /* of the first snapshot */
	bool has_sequence;
	bool mixed;    /* a later snapshot showed another state */
	bool progress; /* is asked for */
	int64_t told_at;
	uint16_t thousandths;
	bool counted;
	uint64_t total;
	struct chi_find_spec spec; /* its texts are the first three: */
	char texts[];
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
	int status = find->find != NULL ? chi_find_attach(find->find, run->read, fault)
					: chi_find_open(run->read, &find->spec, &find->find, fault);
	if (status == CHI_OK && find->spec.games) {
		status = chi_game_rows_begin(&find->rows, run->read);
		return status < 0 ? chi_fault_plain(fault, status) : CHI_OK;
	}
	return status;
}

static void release(struct chi_run *run)
{
	struct find_run *find = find_of(run);
	if (find->find != NULL) {
		chi_find_detach(find->find);
	}
	chi_game_rows_end(&find->rows);
}

static bool may_move(const struct chi_run *run)
{
	return chi_find_may_detach(const_find_of(run)->find);
}

static bool forget_find(struct chi_run *run)
{
	struct find_run *find = find_of(run);
	chi_find_rewind(find->find, run->page.n + find->rows.has_held, find->sent);
	chi_game_rows_forget(&find->rows);
	return true;
}

/* ---- Searching ---------------------------------------------------------------------------- */

static int next_game(void *context, struct chi_games_row *row, size_t *n)
{
	struct find_run *find = context;
	return chi_find_games(find->find, row, 1, STEPS, n);
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

static int step_find(struct chi_run *run, struct chi_fault *fault)
{
	struct find_run *find = find_of(run);
	int status = find->spec.games
			     ? chi_game_rows_step(&find->rows, &run->page, next_game, find, fault)
			     : find_positions(find);
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

/* Where the page ends; where the last one did if it is empty. */
static void note_sent(struct find_run *find)
{
	const struct chi_page *page = &find->run.page;
	size_t len = strlen(find->sent);
	if (page->n > 0 && find->spec.games) {
		len = chi_find_game_cursor(page->game_rows[page->n - 1].head.number, find->sent);
	} else if (page->n > 0) {
		const struct chi_row *row = &page->rows[page->n - 1];
		const struct chi_cursor cursor = {.set = true, .chi2 = row->chi2, .key = row->key};
		len = chi_cursor_print(&cursor, find->sent);
	}
	find->sent[len] = '\0';
}

static void fill_find(struct chi_run *run, struct chi_response *response)
{
	struct find_run *find = find_of(run);
	const char *name = NULL;
	note_sent(find);
	if (find->spec.games) {
		response->u.find.games = run->page.game_rows;
		response->u.find.n_games = run->page.n;
	} else {
		response->u.find.rows = run->page.rows;
		response->u.find.n = run->page.n;
	}
	memcpy(response->u.find.cursor, find->sent, sizeof(find->sent));
	response->u.find.thousandths = find->thousandths;
	response->u.find.counted = find->counted;
	response->u.find.total = find->total;
	response->u.find.mixed = response->last && find->mixed;
	for (size_t i = 0; response->last && (name = chi_find_unknown(find->find, i)) != NULL;
	     i++) {
		chi_run_tell_unknown(run, response, name);
	}
	find->told_at = chi_now_ms();
}

static size_t memory_of(const struct chi_run *run)
{
	const struct find_run *find = const_find_of(run);
	return sizeof(*find) - sizeof(*run) + find->spec.pattern_len + find->spec.filter_len +
	       (find->find != NULL ? chi_find_memory(find->find) : 0) +
	       chi_game_rows_memory(&find->rows);
}

static void free_run(struct chi_run *run)
{
	struct find_run *find = find_of(run);
	if (find->find != NULL) {
		chi_find_close(find->find);
	}
	chi_game_rows_deinit(&find->rows);
	free(run);
}

static const struct chi_run_ops ops = {
	.pages = true,
	.open = open_find,
	.release = release,
	.step = step_find,
	.fill = fill_find,
	.may_move = may_move,
	.forget = forget_find,
	.due = is_due,
	.memory = memory_of,
	.free = free_run,
};

/* ---- The request -------------------------------------------------------------------------- */

/* A copy in `texts`, behind those before it. */
static const char *copy(char **at, const char *text)
{
	size_t size = strlen(text) + 1;
	const char *kept = memcpy(*at, text, size);
	*at += size;
	return kept;
}

static void make_spec(struct find_run *find, const struct chi_request *request)
{
	char *at = find->texts;
	find->spec = (struct chi_find_spec){
		.pattern = copy(&at, request->u.find.pattern),
		.filter = copy(&at, request->u.find.filter),
		.cursor = copy(&at, request->u.find.cursor),
		.games = request->u.find.games,
		.only_count = request->u.find.only_count,
		.want_total = request->u.find.want_total || request->u.find.only_count,
		.limit = request->u.find.limit,
	};
	find->spec.pattern_len = strlen(find->spec.pattern);
	find->spec.filter_len = strlen(find->spec.filter);
	find->spec.cursor_len = strlen(find->spec.cursor);
	memcpy(find->sent, find->spec.cursor, find->spec.cursor_len);
}

int chi_handle_find(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	const struct chi_text filter = {request->u.find.filter, strlen(request->u.find.filter)};
	int status = chi_task_filter(task, "find", "filter", &filter);
	if (status < 0) {
		return status;
	}
	struct find_run *find = calloc(1, sizeof(*find) + strlen(request->u.find.pattern) +
						  filter.len + strlen(request->u.find.cursor) + 3);
	if (find == NULL) {
		return -CHI_ENOMEM;
	}
	make_spec(find, request);
	find->rows.want = request->u.find.want;
	find->rows.passing = &task->worker->results;
	find->progress = request->u.find.progress;
	find->told_at = chi_now_ms();
	chi_page_init(&find->run.page,
		      find->spec.games ? sizeof(struct chi_game_row) : sizeof(struct chi_row),
		      CHI_SCAN_ROWS_MAX);
	chi_run_start(&find->run, &ops, task, chi_call_window(request->u.find.window));
	return CHI_OK;
}
