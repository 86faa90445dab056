/* SPDX-License-Identifier: MIT */
/* Names that may be the same: they are compared with each other, which takes seconds in a store of
 * a million, and cannot be done by halves. */
#include <stdlib.h>
#include <string.h>

#include "daemon/ops/aside.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "search/names.h"

#define NAMES_A_STEP  256
#define CHUNKS_A_STEP 64
#define OVERHEAD      64 /* what a name takes in a response beside its text, at most */

/* Names of groups; more than a client would look at. */
#define BUDGET ((size_t)64 << 20)

struct suspects {
	struct chi_aside aside;
	uint8_t kind;
	uint8_t least;
	uint32_t limit;
	struct chi_arena arena; /* owns the groups */
	struct chi_suspect_groups found;
	size_t group; /* the next name: which it is of which group */
	size_t name;
	size_t sent_group; /* the same for what was sent */
	size_t sent_name;
};

static void free_suspects(struct chi_aside *aside)
{
	struct suspects *suspects = (struct suspects *)aside;
	chi_arena_deinit(&suspects->arena);
	free(suspects);
}

/* ---- Sending ------------------------------------------------------------------------------ */

static void forget_suspects(struct chi_aside *aside)
{
	struct suspects *suspects = (struct suspects *)aside;
	suspects->group = suspects->sent_group;
	suspects->name = suspects->sent_name;
}

/* The next name, if there is one. */
static bool next(struct suspects *suspects, struct chi_name_entry *out)
{
	const struct chi_suspect_groups *found = &suspects->found;
	if (suspects->group == found->n) {
		return false;
	}
	const struct chi_name_suspects *group = &found->groups[suspects->group];
	*out = (struct chi_name_entry){.row = group->names[suspects->name],
				       .group = (uint32_t)suspects->group + 1,
				       .score = group->score};
	suspects->name++;
	if (suspects->name == group->n) {
		suspects->group++;
		suspects->name = 0;
	}
	return true;
}

static int step_suspects(struct chi_aside *aside, struct chi_page *page)
{
	for (size_t i = 0; i < NAMES_A_STEP && page->n < page->capacity; i++) {
		struct chi_name_entry *entry = &page->names[page->n];
		if (!next((struct suspects *)aside, entry)) {
			return CHI_NONE;
		}
		page->bytes += strlen(entry->row.text) + OVERHEAD;
		chi_page_added(page, 1);
	}
	return CHI_OK;
}

static void fill_suspects(struct chi_aside *aside, struct chi_run *run,
			  struct chi_response *response)
{
	struct suspects *suspects = (struct suspects *)aside;
	response->u.names.entries = run->page.names;
	response->u.names.n = run->page.n;
	response->u.names.total = suspects->found.total;
	suspects->sent_group = suspects->group;
	suspects->sent_name = suspects->name;
}

static size_t memory_of(const struct chi_aside *aside)
{
	const struct suspects *suspects = (const struct suspects *)aside;
	return sizeof(*suspects) + chi_arena_held(&suspects->arena);
}

/* ---- The thread --------------------------------------------------------------------------- */

static int count_games(struct suspects *suspects, struct chi_names_query *query)
{
	int status = CHI_OK;
	while (status == CHI_OK && !atomic_load(&suspects->aside.stop)) {
		status = chi_names_query_step(query, CHUNKS_A_STEP);
	}
	return status == CHI_OK ? -CHI_ECANCELED : status;
}

static int find_suspects(struct chi_aside *aside, struct chi_read *read)
{
	struct suspects *suspects = (struct suspects *)aside;
	struct chi_names_query *query = NULL;
	int status = chi_suspects_query_open(read, suspects->kind, suspects->least, suspects->limit,
					     &query, &aside->fault);
	status = status == CHI_OK
			 ? chi_aside_hold(aside, memory_of(aside) + chi_names_query_memory(query))
			 : status;
	status = status == CHI_OK ? count_games(suspects, query) : status;
	if (status == CHI_NONE) {
		status = chi_names_query_groups(query, &suspects->arena, &suspects->found);
	}
	chi_names_query_close(query);
	return status < 0 ? status : chi_aside_hold(aside, memory_of(aside));
}

static const struct chi_aside_ops ops = {
	.work = find_suspects,
	.item = sizeof(struct chi_name_entry),
	.items = CHI_NAMES_MAX,
	.step = step_suspects,
	.fill = fill_suspects,
	.forget = forget_suspects,
	.memory = memory_of,
	.free = free_suspects,
};

int chi_handle_suspects(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	struct suspects *suspects = calloc(1, sizeof(*suspects));
	if (suspects == NULL) {
		return -CHI_ENOMEM;
	}
	suspects->kind = request->u.suspects.kind;
	suspects->least = request->u.suspects.least;
	suspects->limit = request->u.suspects.limit;
	chi_arena_init(&suspects->arena, BUDGET);
	return chi_aside_start(&suspects->aside, &ops, task, request->u.suspects.window);
}
