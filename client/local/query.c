/* SPDX-License-Identifier: MIT */
/* Operations on a directory, each on one snapshot, or in one transaction. */
#include "client/core/pages.h"
#include "client/local/local.h"

#include <string.h>

#include "base/thread.h"
#include "ops/change.h"
#include "ops/op.h"
#include "proto/operations.h"
#include "search/texts.h"

static int answer(struct chi_client *client, const struct chi_request *request, void *out)
{
	struct chi_ask ask = {.arena = &client->answer->arena,
			      .texts = &client->inproc.texts,
			      .most = SIZE_MAX,
			      .fault = &client->error};
	int status = chi_read_begin(client->inproc.store, &ask.read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_op_row_of(request->op)->answer(&ask, request->made, out);
	if (client->inproc.texts != NULL) {
		chi_game_texts_end(client->inproc.texts);
	}
	chi_read_end(ask.read);
	return status;
}

/* ---- Changes ------------------------------------------------------------------------------ */

static int make(struct chi_client *client, const struct chi_making *making, struct chi_ask *ask,
		const void *request)
{
	int status = chi_read_begin(client->inproc.store, &ask->read);
	if (status != CHI_OK) {
		return status;
	}
	status = making->open(ask, request);
	while (status == CHI_OK) {
		status = making->step(ask->made, UINT64_MAX);
	}
	chi_read_end(ask->read);
	return status == CHI_NONE ? CHI_OK : status;
}

static int write_change(struct chi_client *client, const struct chi_change_ops *ops,
			struct chi_ask *ask, const void *request, void *out)
{
	struct chi_write *write = NULL;
	int status = chi_write_begin(client->inproc.store, &write, &client->error);
	if (status != CHI_OK) {
		return status;
	}
	status = ops->write(ask, write, request, out);
	if (status < 0) {
		(void)chi_change_explain(write, status, &client->error);
	}
	if (status != CHI_OK || chi_change_is_trial(ops, request)) {
		chi_write_abort(write);
		return status;
	}
	return chi_write_commit(write, &client->error);
}

static int change_store(struct chi_client *client, const struct chi_request *request, void *out)
{
	const struct chi_change_ops *ops = chi_op_row_of(request->op)->change;
	struct chi_ask ask = {.arena = &client->answer->arena,
			      .statistic = chi_dir_statistic(client->inproc.store),
			      .fault = &client->error};
	int status = chi_change_check(ops, &ask, request->made);
	if (status == CHI_OK && ops->making != NULL) {
		status = make(client, ops->making, &ask, request->made);
	}
	if (status == CHI_OK) {
		status = write_change(client, ops, &ask, request->made, out);
	}
	if (ask.made != NULL) {
		ops->making->close(ask.made);
	}
	return status;
}

int chi_inproc_bytes(struct chi_client *client, enum chi_op op, const struct chi_sink *sink,
		     void *result)
{
	struct chi_sink own = sink != NULL ? *sink : (struct chi_sink){.fd = -1};
	own.threads = chi_threads_useful();
	return chi_op_row_of(op)->whole(client->inproc.store, &own, result, &client->error);
}

int chi_inproc_call(struct chi_client *client, const struct chi_request *request, void *out)
{
	const struct chi_op_row *row = chi_op_row_of(request->op);
	return row->change != NULL  ? change_store(client, request, out)
	       : row->whole != NULL ? chi_inproc_bytes(client, request->op, NULL, out)
				    : answer(client, request, out);
}

/* ---- Rows --------------------------------------------------------------------------------- */

/* Rows made ahead, unless the query says it: few at first, so that the first come soon. */
#define ROWS_MAX 64

/* Slices of a server between two words of progress: some 10 ms. */
#define STEPS_TOLD 1024

static void tell_unknown(struct chi_client *client, const struct chi_query *query)
{
	const char *name = NULL;
	for (size_t i = 0; (name = chi_query_unknown(query, i)) != NULL; i++) {
		chi_client_tell_unknown(client, name);
	}
}

/* Begins on a snapshot; the page is for a list. */
static int open_query(struct chi_client *client, struct chi_row_pages *rows,
		      const struct chi_request *request)
{
	const char *field = NULL;
	int status = chi_query_open(request, &rows->arena, &rows->query, &field, &client->error);
	if (status != CHI_OK) {
		return status;
	}
	rows->query->steps =
		client->progress != NULL ? STEPS_TOLD * rows->query->steps : UINT64_MAX;
	rows->query->threads = chi_threads_useful();
	rows->query->passing = &client->answer->arena;
	status = client->inproc.texts == NULL ? chi_game_texts_new(&client->inproc.texts) : CHI_OK;
	rows->query->texts = client->inproc.texts;
	chi_page_init_unbounded(&rows->page, rows->size, CHI_CLIENT_BUDGET);
	status = status == CHI_OK ? chi_read_begin(client->inproc.store, &rows->read) : status;
	return status == CHI_OK ? chi_query_attach(rows->query, rows->read, &client->error)
				: status;
}

int chi_inproc_rows_open(struct chi_client *client, struct chi_row_pages *rows,
			 const struct chi_request *request)
{
	int status = open_query(client, rows, request);
	rows->page.most = 1;
	rows->page.bytes_full = CHI_PAGE_BYTES;
	if (status == CHI_OK) {
		tell_unknown(client, rows->query);
	}
	return status;
}

/* Works until the page is full, or all is done: CHI_NONE. */
static int fill_page(struct chi_client *client, struct chi_row_pages *rows)
{
	int status = CHI_OK;
	while (status == CHI_OK && !chi_page_full(&rows->page)) {
		status = chi_query_step(rows->query, &rows->page, &client->error);
		if (status == CHI_OK) {
			status = chi_client_tell_progress(client, chi_query_progress(rows->query));
		}
	}
	rows->last = status == CHI_NONE;
	if (status >= 0) {
		chi_query_result(rows->query, &rows->page, rows->last, rows->result);
	}
	return status;
}

int chi_inproc_rows_more(struct chi_client *client, struct chi_row_pages *rows)
{
	struct chi_page *page = &rows->page;
	size_t ahead = rows->query->ahead != 0 ? rows->query->ahead : ROWS_MAX;
	size_t most = page->most * 4;
	if (page->n > 0) {
		page->most = most < ahead ? most : ahead;
	}
	chi_page_clear(page);
	int status = fill_page(client, rows);
	rows->rows = page->items;
	rows->n = page->n;
	rows->at = 0;
	return status < 0 ? status : CHI_OK;
}

void chi_inproc_rows_close(struct chi_client *client, struct chi_row_pages *rows)
{
	(void)client;
	if (rows->query != NULL) {
		chi_query_detach(rows->query);
		chi_query_close(rows->query);
		chi_page_deinit(&rows->page);
	}
	chi_read_end(rows->read);
}

/* Texts of a result beside its rows, as a cursor: they are the query's. */
static int keep_texts(struct chi_arena *arena, const struct chi_message *type, void *out)
{
	for (size_t i = 0; i < type->n; i++) {
		void *at = chi_member_room(out, type->members[i].at);
		const char *text = type->members[i].kind == CHI_STRING ? chi_pointer_at(at) : NULL;
		const char *kept = text != NULL ? chi_arena_text(arena, text, strlen(text)) : NULL;
		if (text != NULL && kept == NULL) {
			return -CHI_ENOMEM;
		}
		if (text != NULL) {
			memcpy(at, &kept, sizeof(kept));
		}
	}
	return CHI_OK;
}

/* The rows move into the client's arena, and what they lead to with the page's. */
static int keep_list(struct chi_client *client, struct chi_row_pages *rows, void *out)
{
	memcpy(out, rows->result, chi_operation_of(rows->op)->result_size);
	if (rows->list == NULL) {
		return CHI_OK;
	}
	size_t size = rows->page.n * rows->size;
	void *items = chi_arena_alloc(&rows->page.arena, size);
	if (items == NULL) {
		return -CHI_ENOMEM;
	}
	if (size > 0) {
		memcpy(items, rows->page.items, size);
	}
	memcpy((uint8_t *)out + rows->list->at, &items, sizeof(items));
	int status = keep_texts(&rows->page.arena, chi_operation_of(rows->op)->result, out);
	struct chi_arena arena = client->answer->arena;
	client->answer->arena = rows->page.arena;
	rows->page.arena = arena;
	return status;
}

int chi_inproc_rows_all(struct chi_client *client, struct chi_row_pages *rows,
			const struct chi_request *request, void *out)
{
	int status = open_query(client, rows, request);
	status = status == CHI_OK ? fill_page(client, rows) : status;
	status = status == CHI_NONE ? keep_list(client, rows, out) : status;
	if (status == CHI_OK) {
		tell_unknown(client, rows->query);
	}
	return status;
}
