/* SPDX-License-Identifier: MIT */
/*
 * Names, and groups of names that may be the same: they are found, and the games of all names
 * counted, on one snapshot; then those that are wanted come with their texts. To compare all names
 * with each other takes seconds in a store of a million, and cannot be done by halves. At the end
 * changes of names.
 */
#include "ops/queries.h"

#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "chess/names/words.h"
#include "ops/change.h"
#include "search/names.h"
#include "store/archive.h"

_Static_assert(CHI_NAME_TEXT_MAX == CHI_NAME_MAX && CHI_NAME_WANTED_MAX == CHI_NAME_MAX + 1,
	       "the protocol's limits are the store's");

/* Names whose texts are looked up between two looks at the clock, and groups. */
#define NAMES_A_HELPING	 32
#define GROUPS_A_HELPING 8

struct names_query {
	struct chi_query query;
	struct chi_names_query *names; /* NULL: not open */
};

static struct names_query *names_of(struct chi_query *query)
{
	return (struct names_query *)query;
}

static int check_kind(uint8_t kind, uint32_t limit, const char **field, struct chi_fault *fault)
{
	if (chi_name_kind_name(kind) == NULL) {
		*field = "kind";
		return chi_fail(fault, -CHI_EINVAL, "%u is no kind of names", kind);
	}
	if (limit < 1 || limit > CHI_NAMES_MAX) {
		*field = "limit";
		return chi_fail(fault, -CHI_EINVAL, "the limit of names is 1 to %d", CHI_NAMES_MAX);
	}
	return CHI_OK;
}

/* Once all is counted only texts are looked up; a name that has gone by then is left out. */
static int attach_counted(struct chi_query *query)
{
	return chi_names_query_attach(names_of(query)->names, query->read);
}

static int count_games_of_names(struct chi_query *query, struct chi_fault *fault)
{
	(void)fault;
	return chi_names_query_step(names_of(query)->names, query->steps);
}

static size_t memory_of_names(const struct chi_query *query)
{
	const struct chi_names_query *names = ((const struct names_query *)query)->names;
	return names != NULL ? chi_names_query_memory(names) : 0;
}

static void close_names(struct chi_query *query)
{
	chi_names_query_close(names_of(query)->names);
	names_of(query)->names = NULL;
}

/* ---- Names ------------------------------------------------------------------------------- */

static int open_names(struct chi_query *query, const char **field, struct chi_fault *fault)
{
	const struct chi_names_spec *asked = query->request;
	return check_kind(asked->kind, asked->limit, field, fault);
}

static int attach_names(struct chi_query *query, struct chi_fault *fault)
{
	(void)fault;
	return query->is_ready
		       ? attach_counted(query)
		       : chi_names_query_open(query->read, query->request, &names_of(query)->names);
}

static int send_names(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	struct names_query *names = names_of(query);
	size_t n = chi_names_query_n(names->names);
	(void)fault;
	for (size_t i = 0; i < NAMES_A_HELPING && query->at < n && !chi_page_full(page); i++) {
		int status = chi_page_grow(page);
		struct chi_name_row *rows = page->items;
		if (status == CHI_OK) {
			status = chi_names_query_row(names->names, query->at, &page->arena,
						     &rows[page->n]);
		}
		if (status < 0) {
			return status;
		}
		chi_page_added(page, status == CHI_OK ? 1 : 0);
		query->at++;
	}
	return query->at == n ? CHI_NONE : CHI_OK;
}

static void deliver_rows(struct chi_query *query, const struct chi_page *page, bool last,
			 void *result)
{
	(void)page;
	(void)last;
	((struct chi_names *)result)->total = chi_names_query_total(names_of(query)->names);
}

static uint64_t limit_of_names(const void *request)
{
	return ((const struct chi_names_spec *)request)->limit;
}

const struct chi_query_ops chi_names_ops = {
	.size = sizeof(struct names_query),
	.finds = true,
	.steps = 1,
	.open = open_names,
	.attach = attach_names,
	.work = count_games_of_names,
	.rows = send_names,
	.deliver = deliver_rows,
	.limit = limit_of_names,
	.memory = memory_of_names,
	.close = close_names,
};

/* ---- Suspects ---------------------------------------------------------------------------- */

static int open_suspects(struct chi_query *query, const char **field, struct chi_fault *fault)
{
	const struct chi_suspects_spec *asked = query->request;
	return check_kind(asked->kind, asked->limit, field, fault);
}

static int attach_suspects(struct chi_query *query, struct chi_fault *fault)
{
	const struct chi_suspects_spec *asked = query->request;
	(void)fault;
	return query->is_ready ? attach_counted(query)
			       : chi_suspects_query_open(query->read, asked->kind, asked->least,
							 asked->limit, &names_of(query)->names);
}

static int send_suspects(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	struct names_query *names = names_of(query);
	size_t n = chi_names_query_n(names->names);
	for (size_t i = 0; i < GROUPS_A_HELPING && query->at < n && !chi_page_full(page); i++) {
		int status = chi_page_grow(page);
		struct chi_name_suspects *groups = page->items;
		if (status == CHI_OK) {
			status = chi_names_query_group(names->names, query->at, &page->arena,
						       &groups[page->n]);
		}
		status = status == CHI_OK ? chi_page_take_row(page) : status;
		if (status == -CHI_ETOOBIG) {
			return chi_fail(fault, status, "%zu names in a group do not fit a response",
					groups[page->n].n);
		}
		if (status < 0) {
			return status;
		}
		query->at += !page->is_closed;
	}
	return query->at == n ? CHI_NONE : CHI_OK;
}

static void deliver_groups(struct chi_query *query, const struct chi_page *page, bool last,
			   void *result)
{
	(void)page;
	(void)last;
	((struct chi_suspect_groups *)result)->total =
		chi_names_query_total(names_of(query)->names);
}

static uint64_t limit_of_suspects(const void *request)
{
	return ((const struct chi_suspects_spec *)request)->limit;
}

const struct chi_query_ops chi_suspects_ops = {
	.size = sizeof(struct names_query),
	.whole = true,
	.finds = true,
	.steps = 64,
	.open = open_suspects,
	.attach = attach_suspects,
	.work = count_games_of_names,
	.rows = send_suspects,
	.deliver = deliver_groups,
	.limit = limit_of_suspects,
	.memory = memory_of_names,
	.close = close_names,
};

/* ---- Changes ------------------------------------------------------------------------------ */

struct refusals {
	struct chi_arena *arena;
	struct chi_names_done *done;
	struct chi_name_refusal *rows; /* NULL: none so far; else room for one of each change */
	size_t most;
	int status;
};

/* As much of the reason as may be sent. */
static void take_refusal(void *context, size_t i, const char *reason)
{
	struct refusals *refusals = context;
	size_t len = strnlen(reason, CHI_REFUSAL_TEXT_MAX);
	while (len > 0 && !chi_utf8_valid(reason, len)) {
		len--;
	}
	if (refusals->rows == NULL) {
		refusals->rows =
			chi_arena_array(refusals->arena, refusals->most, sizeof(*refusals->rows));
	}
	const char *text = chi_arena_text(refusals->arena, reason, len);
	if (text == NULL || refusals->rows == NULL) {
		refusals->status = -CHI_ENOMEM;
		return;
	}
	refusals->rows[refusals->done->n_refused++] =
		(struct chi_name_refusal){.entry = (uint32_t)i, .reason = text};
}

static int check_changes(struct chi_ask *ask, void *request)
{
	const struct chi_change_names_request *asked = request;
	ask->field = "changes";
	return chi_name_changes_check(asked->changes, asked->n, ask->fault);
}

/* A list of changes is a batch as positions are. */
static size_t records_of_changes(const void *request)
{
	return ((const struct chi_change_names_request *)request)->n;
}

static bool is_dry_run(const void *request)
{
	return ((const struct chi_change_names_request *)request)->dry_run;
}

static int change_names(struct chi_ask *ask, struct chi_write *write, const void *request,
			void *result)
{
	const struct chi_change_names_request *asked = request;
	struct chi_names_done *done = result;
	struct refusals refusals = {.arena = ask->arena, .done = done, .most = asked->n};
	int status = chi_write_names(write, asked->changes, asked->n, take_refusal, &refusals,
				     &done->counts);
	done->refused = refusals.rows;
	return status == CHI_OK ? refusals.status : status;
}

const struct chi_change_ops chi_change_names_ops = {
	.kind = CHI_IDEMPOTENCY_NAMES,
	.n_counts = 3,
	.check = check_changes,
	.records = records_of_changes,
	.is_trial = is_dry_run,
	.write = change_names,
};
