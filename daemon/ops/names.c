/* SPDX-License-Identifier: MIT */
/*
 * Lists of names, as runs: first the games of all names are counted, then the names that are wanted
 * go out. On another snapshot a list begins again after the last name it has collected.
 */
#include <stdlib.h>
#include <string.h>

#include "chess/names/words.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "search/names.h"

_Static_assert(CHI_NAME_TEXT_MAX == CHI_NAME_MAX && CHI_NAME_WANTED_MAX == CHI_NAME_MAX + 1,
	       "the protocol's limits are the store's");

/* Names collected between two looks at the clock, and chunks of games counted. */
#define NAMES_A_STEP  32
#define CHUNKS_A_STEP 1

/* What a name takes in a response beside its text, at most. */
#define OVERHEAD 48

struct names_run {
	struct chi_run run;
	struct chi_names_spec spec; /* of the names that are not collected yet */
	char *wanted;
	struct chi_names_query *query; /* NULL between two snapshots */
	bool counted;
	size_t taken; /* of this query */
	uint64_t total;
	uint32_t sent; /* the last name of a response */
};

static struct names_run *names_of(struct chi_run *run)
{
	return (struct names_run *)run;
}

static const struct names_run *const_names_of(const struct chi_run *run)
{
	return (const struct names_run *)run;
}

static int open_names(struct chi_run *run, struct chi_fault *fault)
{
	struct names_run *names = names_of(run);
	names->counted = false;
	names->taken = 0;
	return chi_names_query_open(run->read, &names->spec, &names->query, fault);
}

static void release(struct chi_run *run)
{
	struct names_run *names = names_of(run);
	chi_names_query_close(names->query);
	names->query = NULL;
}

static bool may_move(const struct chi_run *run)
{
	return const_names_of(run)->counted;
}

static bool forget_names(struct chi_run *run)
{
	struct names_run *names = names_of(run);
	names->spec.after = names->sent;
	names->spec.limit += (uint32_t)run->page.n;
	return true;
}

static void add_names(struct chi_page *page, const struct chi_names *some, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		page->names[page->n + i] = (struct chi_name_entry){.row = some->rows[i]};
		page->bytes += strlen(some->rows[i].text) + OVERHEAD;
	}
	chi_page_added(page, n);
}

static int collect(struct names_run *names)
{
	struct chi_page *page = &names->run.page;
	struct chi_names some;
	int status = chi_page_grow(page);
	if (status < 0) {
		return status;
	}
	size_t room = page->capacity - page->n;
	size_t max = room < NAMES_A_STEP ? room : NAMES_A_STEP;
	status = chi_names_query_rows(names->query, names->taken, max, &page->arena, &some);
	if (status < 0) {
		return status;
	}
	add_names(page, &some, some.n);
	names->total = some.total;
	names->taken += some.n;
	names->spec.limit -= (uint32_t)some.n;
	names->spec.after = some.n > 0 ? some.rows[some.n - 1].id : names->spec.after;
	return some.n < max || names->spec.limit == 0 ? CHI_NONE : CHI_OK;
}

static int step_names(struct chi_run *run, struct chi_fault *fault)
{
	struct names_run *names = names_of(run);
	(void)fault;
	if (names->counted) {
		return collect(names);
	}
	int status = chi_names_query_step(names->query, CHUNKS_A_STEP);
	names->counted = status == CHI_NONE;
	return status < 0 ? status : CHI_OK;
}

static void fill_names(struct chi_run *run, struct chi_response *response)
{
	struct names_run *names = names_of(run);
	response->u.names.entries = run->page.names;
	response->u.names.n = run->page.n;
	response->u.names.total = names->total;
	names->sent = names->spec.after;
}

static size_t memory_of(const struct chi_run *run)
{
	const struct names_run *names = const_names_of(run);
	return sizeof(*names) - sizeof(*run) +
	       (names->query != NULL ? chi_names_query_memory(names->query) : 0);
}

static void free_run(struct chi_run *run)
{
	free(names_of(run)->wanted);
	free(run);
}

static const struct chi_run_ops ops = {
	.pages = true,
	.open = open_names,
	.release = release,
	.step = step_names,
	.fill = fill_names,
	.may_move = may_move,
	.forget = forget_names,
	.memory = memory_of,
	.free = free_run,
};

int chi_handle_names(struct chi_task *task)
{
	const struct chi_names_spec *spec = &task->request->u.names.spec;
	struct names_run *names = calloc(1, sizeof(*names));
	if (names == NULL) {
		return -CHI_ENOMEM;
	}
	names->wanted = spec->wanted != NULL ? strdup(spec->wanted) : NULL;
	if (spec->wanted != NULL && names->wanted == NULL) {
		free(names);
		return -CHI_ENOMEM;
	}
	names->spec = *spec;
	names->spec.wanted = names->wanted;
	names->sent = spec->after;
	chi_page_init(&names->run.page, sizeof(struct chi_name_entry), CHI_NAMES_MAX);
	chi_run_start(&names->run, &ops, task, chi_call_window(task->request->u.names.window));
	return CHI_OK;
}
