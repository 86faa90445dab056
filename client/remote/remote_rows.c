/* SPDX-License-Identifier: MIT */
/* Operations over a socket. Of a query the answer comes in many responses. Where the connection
 * breaks it goes on, over another, after the row delivered last; a list is asked for again from the
 * beginning. */
#include "client/core/pages.h"
#include "client/remote/remote.h"

#include <string.h>

#include "client/remote/repeat.h"
#include "client/remote/stream.h"
#include "ops/change.h"
#include "ops/op.h"
#include "proto/operations.h"

static int check_result(struct chi_client *client, enum chi_op op, const void *request,
			const void *result)
{
	const struct chi_op_row *row = chi_op_row_of(op);
	return row->fits == NULL || row->fits(request, result)
		       ? CHI_OK
		       : chi_peer_fail(client, -CHI_EPROTO,
				       "the answer to %s is one to another request",
				       chi_op_name(op));
}

/* Whether it must not be done twice. */
static bool is_marked(const struct chi_request *request)
{
	const struct chi_change_ops *change = chi_op_row_of(request->op)->change;
	return change != NULL && chi_operation_of(request->op)->marked &&
	       !chi_change_is_trial(change, request->body);
}

int chi_remote_call(struct chi_client *client, const struct chi_request *request, void *out)
{
	struct chi_request sent = {.op = request->op, .body = request->body};
	const struct chi_change_ops *change = chi_op_row_of(request->op)->change;
	bool async = change != NULL && change->durability != NULL &&
		     change->durability(request->body) == CHI_ASYNC;
	struct chi_response response;
	int status = is_marked(request)
			     ? chi_remote_repeat_write(client, &sent, async ? CHI_ASYNC : CHI_SYNC,
						       &response)
			     : chi_repeat_call(client, &sent, &response);
	/* Compact and Rescore do no harm when repeated: they carry no mark. */
	if ((chi_op_row_of(request->op)->flags & CHI_NEEDS_WRITABLE) != 0 &&
	    !chi_operation_of(request->op)->marked) {
		status = chi_peer_doubt(client, status);
	}
	if (status != CHI_OK) {
		return status;
	}
	if (async) {
		chi_remote_written(client->peer, change->records(request->body), true);
	}
	memcpy(out, response.body, chi_operation_of(request->op)->result_size);
	return check_result(client, request->op, request->body, response.body);
}

/* ---- Rows --------------------------------------------------------------------------------- */

static int ask_for_rows(struct chi_client *client, struct chi_row_pages *rows)
{
	struct chi_request request = {.op = rows->op,
				      .window = CHI_WINDOW_DEFAULT,
				      .progress = client->progress != NULL,
				      .body = rows->request};
	rows->n = 0;
	rows->at = 0;
	rows->last = false;
	return chi_stream_begin(client, &rows->stream, &request);
}

/* Rows that are still wanted; 0: all. */
static uint64_t limit_of(const struct chi_row_pages *rows)
{
	const struct chi_query_ops *ops = chi_query_ops_of(rows->op);
	return ops->limit != NULL ? ops->limit(rows->request) : 0;
}

/* A server may send more rows than it was asked for. */
static void cut_rows(struct chi_row_pages *rows, uint64_t limit, size_t before)
{
	if (limit > 0 && rows->n > limit - before) {
		rows->n = limit - before;
	}
}

static int receive_page(struct chi_client *client, struct chi_row_pages *rows)
{
	struct chi_response response;
	int status = chi_stream_next(client, &rows->stream, rows->op, &response);
	if (status < 0) {
		return status;
	}
	/* A list is looked at when it is whole. */
	status = client->peer->gathers
			 ? CHI_OK
			 : check_result(client, rows->op, rows->request, response.body);
	if (status < 0) {
		rows->stream.id = 0;
		return status;
	}
	memcpy(rows->result, response.body, chi_operation_of(rows->op)->result_size);
	rows->last = response.last;
	if (rows->list != NULL) {
		memcpy(&rows->rows, rows->result + rows->list->at, sizeof(rows->rows));
		memcpy(&rows->n, rows->result + rows->list->other, sizeof(rows->n));
		cut_rows(rows, limit_of(rows), 0);
	}
	rows->n = rows->is_full ? 0 : rows->n;
	rows->at = 0;
	return rows->last ? CHI_OK : chi_client_tell_progress(client, response.thousandths);
}

/* Until the first response, or the one that is due, has come; if need be over a new connection. */
static int receive_again(struct chi_client *client, struct chi_row_pages *rows, int status)
{
	struct chi_repeat repeat = {0};
	while (chi_repeat_again(client, &repeat, status)) {
		status = ask_for_rows(client, rows);
		if (status == CHI_OK) {
			rows->is_mixed = rows->is_mixed || (rows->has_delivered && !rows->is_full);
			status = receive_page(client, rows);
		}
	}
	return status;
}

/* The first response is waited for: it says what is wrong with the filter. */
int chi_remote_rows_open(struct chi_client *client, struct chi_row_pages *rows,
			 const struct chi_request *request)
{
	rows->request = request->made;
	int status = ask_for_rows(client, rows);
	status = status == CHI_OK ? receive_page(client, rows) : status;
	return receive_again(client, rows, status);
}

/* All rows at hand are delivered. */
int chi_remote_rows_more(struct chi_client *client, struct chi_row_pages *rows)
{
	const struct chi_query_ops *ops = chi_query_ops_of(rows->op);
	if (rows->at > 0) {
		const void *row = rows->rows + (rows->at - 1) * rows->size;
		int status = ops->resume(rows->request, row, rows->at, rows->cursor);
		rows->has_delivered = true;
		rows->is_full = status == CHI_NONE;
		rows->is_bound = status < 0;
	}
	int status = rows->stream.id != 0 ? receive_page(client, rows) : -CHI_EINTERNAL;
	return rows->is_bound ? status : receive_again(client, rows, status);
}

void chi_remote_rows_close(struct chi_client *client, struct chi_row_pages *rows)
{
	chi_stream_cancel(client, &rows->stream);
}

/* ---- As one list -------------------------------------------------------------------------- */

/* Of the responses, which client->answer->gathered keeps all. */
struct gathered {
	struct gathered *older;
	const uint8_t *rows;
	size_t n;
};

static int keep_page(struct chi_client *client, const struct chi_row_pages *rows,
		     struct gathered **last)
{
	struct gathered *page = chi_arena_alloc(&client->answer->gathered, sizeof(*page));
	if (page == NULL) {
		return -CHI_ENOMEM;
	}
	*page = (struct gathered){.older = *last, .rows = rows->rows, .n = rows->n};
	*last = page;
	return CHI_OK;
}

static int gather_rows(struct chi_client *client, struct chi_row_pages *rows,
		       struct gathered **last, size_t *n)
{
	uint64_t limit = limit_of(rows);
	*last = NULL;
	*n = 0;
	chi_arena_reset(&client->answer->gathered);
	int status = ask_for_rows(client, rows);
	client->peer->gathers = true;
	while (status == CHI_OK && !rows->last) {
		status = receive_page(client, rows);
		cut_rows(rows, limit, *n);
		if (status == CHI_OK && rows->n > 0) {
			status = keep_page(client, rows, last);
			*n += rows->n;
		}
	}
	client->peer->gathers = false;
	chi_stream_cancel(client, &rows->stream);
	return status;
}

/* The rows of several responses move together, once. */
static int join_pages(struct chi_client *client, const struct gathered *last, size_t n, size_t size,
		      const void **out)
{
	if (last == NULL || last->older == NULL) {
		*out = last != NULL ? last->rows : NULL;
		return CHI_OK;
	}
	uint8_t *items = chi_arena_array(&client->answer->gathered, n, size);
	if (items == NULL) {
		return -CHI_ENOMEM;
	}
	for (*out = items; last != NULL; last = last->older) {
		n -= last->n;
		memcpy(items + n * size, last->rows, last->n * size);
	}
	return CHI_OK;
}

int chi_remote_rows_all(struct chi_client *client, struct chi_row_pages *rows,
			const struct chi_request *request, void *out)
{
	struct gathered *last = NULL;
	struct chi_repeat repeat = {0};
	const void *items = NULL;
	size_t n = 0;
	int status = CHI_OK;
	rows->request = request->made;
	do {
		status = gather_rows(client, rows, &last, &n);
	} while (chi_repeat_again(client, &repeat, status));
	status = status == CHI_OK ? join_pages(client, last, n, rows->size, &items) : status;
	if (status == CHI_OK) {
		memcpy(out, rows->result, chi_operation_of(rows->op)->result_size);
		if (rows->list != NULL) {
			memcpy((uint8_t *)out + rows->list->at, &items, sizeof(items));
			memcpy((uint8_t *)out + rows->list->other, &n, sizeof(n));
		}
		status = check_result(client, rows->op, rows->request, out);
	}
	return status;
}
