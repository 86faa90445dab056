/* SPDX-License-Identifier: MIT */
/* Games that are likely one: all are sorted by their moves, which cannot be done by halves. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/ops/aside.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "search/twins.h"

/* Between two looks whether it is to stop. */
#define STEPS 64

/* Numbers of all groups: 64 MiB, more than a client would look at. */
#define NUMBERS_MAX ((size_t)16 << 20)

struct twins {
	struct chi_aside aside;
	uint32_t days;
	uint32_t plies;
	uint32_t *numbers; /* of each group how many it has, and then these */
	size_t n;
	size_t room;
	struct chi_arena names; /* of the filter that no name fits: */
	const char *unknown[CHI_UNKNOWN_MAX];
	size_t n_unknown;
	size_t at;   /* the next number that is sent */
	size_t sent; /* and the one after the last response */
	char filter[];
};

static void free_twins(struct chi_aside *aside)
{
	struct twins *twins = (struct twins *)aside;
	chi_arena_deinit(&twins->names);
	free(twins->numbers);
	free(twins);
}

/* ---- Sending ------------------------------------------------------------------------------ */

static void forget(struct chi_aside *aside)
{
	struct twins *twins = (struct twins *)aside;
	twins->at = twins->sent;
}

static int step(struct chi_aside *aside, struct chi_page *page)
{
	struct twins *twins = (struct twins *)aside;
	size_t left = twins->n - twins->at;
	size_t n = page->capacity - page->n < left ? page->capacity - page->n : left;
	if (n > 0) {
		memcpy(page->numbers + page->n, twins->numbers + twins->at,
		       n * sizeof(*page->numbers));
	}
	twins->at += n;
	chi_page_added(page, n);
	return n == left ? CHI_NONE : CHI_OK;
}

static void fill(struct chi_aside *aside, struct chi_run *run, struct chi_response *response)
{
	struct twins *twins = (struct twins *)aside;
	response->u.twins.numbers = run->page.numbers;
	response->u.twins.n = run->page.n;
	twins->sent = twins->at;
	for (size_t i = 0; response->last && i < twins->n_unknown; i++) {
		chi_run_tell_unknown(run, response, twins->unknown[i]);
	}
}

static size_t memory_of(const struct chi_aside *aside)
{
	const struct twins *twins = (const struct twins *)aside;
	return sizeof(*twins) + twins->room * sizeof(*twins->numbers) +
	       chi_arena_held(&twins->names);
}

/* ---- The thread --------------------------------------------------------------------------- */

static int grow(struct twins *twins, size_t n)
{
	size_t room = twins->room > 0 ? twins->room : 256;
	if (n > NUMBERS_MAX - twins->n) {
		return chi_fault(&twins->aside.fault, -CHI_ETOOBIG,
				 "more than %zu games are there twice: ask for fewer by a filter",
				 NUMBERS_MAX);
	}
	while (room < twins->n + n) {
		room *= 2;
	}
	uint32_t *numbers = realloc(twins->numbers, room * sizeof(*numbers));
	if (numbers == NULL) {
		return -CHI_ENOMEM;
	}
	twins->numbers = numbers;
	twins->room = room;
	return CHI_OK;
}

static int keep_groups(struct twins *twins, struct chi_twins *found)
{
	const uint32_t *games;
	size_t n = 0;
	while (chi_twins_next(found, &games, &n) == CHI_OK) {
		int status = n + 1 > twins->room - twins->n ? grow(twins, n + 1) : CHI_OK;
		if (status < 0) {
			return status;
		}
		twins->numbers[twins->n++] = (uint32_t)n;
		memcpy(twins->numbers + twins->n, games, n * sizeof(*games));
		twins->n += n;
	}
	return CHI_OK;
}

static void keep_unknown(struct twins *twins, const struct chi_twins *found)
{
	const char *name = NULL;
	while (twins->n_unknown < CHI_UNKNOWN_MAX &&
	       (name = chi_twins_unknown(found, twins->n_unknown)) != NULL &&
	       (name = chi_arena_text(&twins->names, name, strlen(name))) != NULL) {
		twins->unknown[twins->n_unknown++] = name;
	}
}

static int find(struct chi_aside *aside, struct chi_read *read)
{
	struct twins *twins = (struct twins *)aside;
	const struct chi_twins_spec spec = {.filter = twins->filter,
					    .filter_len = strlen(twins->filter),
					    .days = twins->days,
					    .plies = twins->plies};
	struct chi_twins *found = NULL;
	int status = chi_twins_open(read, &spec, &found, &aside->fault);
	if (status < 0) {
		return status;
	}
	keep_unknown(twins, found);
	while (status == CHI_OK && !atomic_load(&aside->stop)) {
		int held = chi_aside_hold(aside, memory_of(aside) + chi_twins_memory(found));
		status = held < 0 ? held : chi_twins_step(found, STEPS);
	}
	status = status == CHI_NONE ? keep_groups(twins, found)
		 : status == CHI_OK ? -CHI_ECANCELED
				    : status;
	chi_twins_close(found);
	return status < 0 ? status : chi_aside_hold(aside, memory_of(aside));
}

static const struct chi_aside_ops ops = {
	.work = find,
	.item = sizeof(uint32_t),
	.items = CHI_TWINS_MAX,
	.step = step,
	.fill = fill,
	.forget = forget,
	.memory = memory_of,
	.free = free_twins,
};

int chi_handle_twins(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	const struct chi_text filter = {request->u.twins.filter, strlen(request->u.twins.filter)};
	int status = chi_task_filter(task, "twins", "filter", &filter);
	if (status < 0) {
		return status;
	}
	struct twins *twins = calloc(1, sizeof(*twins) + filter.len + 1);
	if (twins == NULL) {
		return -CHI_ENOMEM;
	}
	twins->days = request->u.twins.days;
	twins->plies = request->u.twins.plies;
	memcpy(twins->filter, filter.bytes, filter.len);
	chi_arena_init(&twins->names, 2 * (size_t)CHI_FILTER_MAX);
	return chi_aside_start(&twins->aside, &ops, task, request->u.twins.window);
}
