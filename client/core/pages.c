/* SPDX-License-Identifier: MIT */
#include "client/core/pages.h"

#include <assert.h>
#include <string.h>

#include "base/fault.h"
#include "ops/op.h"
#include "proto/operations.h"
#include "proto/wire/frame.h"

/* As it comes out of the wire's checks. */
static int make_request(struct chi_client *client, enum chi_op op, const void *spec,
			struct chi_arena *arena, struct chi_request *out)
{
	const struct chi_request asked = {
		.id = 1, .op = op, .window = CHI_WINDOW_DEFAULT, .body = spec};
	_cleanup_(chi_buffer_deinit) struct chi_buffer bytes;
	const uint8_t *body = NULL;
	const char *field = NULL;
	size_t len = 0;
	size_t frame_len = 0;
	chi_buffer_init(&bytes, CHI_FRAME_REQUEST_MAX + CHI_FRAME_HEAD_MAX);
	int status = chi_request_pack(&asked, &bytes);
	if (status == CHI_OK) {
		status = chi_frame_take(chi_buffer_bytes(&bytes), bytes.len, CHI_FRAME_REQUEST_MAX,
					&body, &len, &frame_len);
	}
	if (status == CHI_OK) {
		status = chi_request_unpack(body, len, arena, out, &field, &client->error);
	}
	return status == CHI_OK ? chi_client_can(client, out) : status;
}

static void init_rows(struct chi_row_pages *rows, enum chi_op op)
{
	*rows = (struct chi_row_pages){.op = op, .list = chi_query_list(chi_operation_of(op))};
	chi_arena_init(&rows->arena, CHI_DECODE_BUDGET);
}

int chi_pages_begin(struct chi_client *client, enum chi_op op, const void *spec,
		    struct chi_row_pages *rows)
{
	assert(chi_query_ops_of(op)->resume != NULL);
	init_rows(rows, op);
	struct chi_request request;
	int status = make_request(client, op, spec, &rows->arena, &request);
	if (status != CHI_OK) {
		return status;
	}
	rows->size = chi_query_row_size(op, request.body);
	return client->backend->rows_open(client, rows, &request);
}

int chi_pages_more(struct chi_client *client, struct chi_row_pages *rows)
{
	while (rows->at == rows->n) {
		if (rows->failed < 0) {
			client->error = rows->fault;
			return rows->failed;
		}
		if (rows->last) {
			return CHI_NONE;
		}
		if (client->in_next) {
			return -CHI_EBUSY;
		}
		chi_dir_forget_damage();
		client->in_next = true;
		rows->failed = client->backend->rows_more(client, rows);
		client->in_next = false;
		rows->failed = chi_client_fail(client, rows->failed);
		if (rows->failed < 0) {
			rows->fault = client->error;
		}
	}
	return CHI_OK;
}

int chi_pages_next(struct chi_client *client, struct chi_row_pages *rows, const void **row)
{
	int status = chi_pages_more(client, rows);
	if (status == CHI_OK) {
		*row = rows->rows + rows->at++ * rows->size;
		/* A failure after rows that are still delivered has left its text. */
		client->error.text[0] = '\0';
	}
	return status;
}

void chi_pages_end(struct chi_client *client, struct chi_row_pages *rows)
{
	if (client->backend->rows_close != NULL) {
		client->backend->rows_close(client, rows);
	}
	chi_arena_deinit(&rows->arena);
}

int chi_client_call(struct chi_client *client, enum chi_op op, const void *spec, void *out)
{
	struct chi_row_pages rows;
	struct chi_request request;
	memset(out, 0, chi_operation_of(op)->result_size);
	init_rows(&rows, op);
	int status = make_request(client, op, spec, &rows.arena, &request);
	if (status == CHI_OK) {
		rows.size = chi_query_row_size(op, request.body);
		status = chi_op_is_query(&request)
				 ? client->backend->rows_all(client, &rows, &request, out)
				 : client->backend->call(client, &request, out);
	}
	if (status != CHI_OK) {
		memset(out, 0, chi_operation_of(op)->result_size);
	}
	chi_pages_end(client, &rows);
	return status;
}

int chi_client_ask(struct chi_client *client, int status, enum chi_op op, const void *spec,
		   void *out)
{
	memset(out, 0, chi_operation_of(op)->result_size);
	status = chi_client_settle(client, status);
	return status == CHI_OK ? chi_client_call(client, op, spec, out) : status;
}

int chi_pages_all(struct chi_client *client, int status, enum chi_op op, const void *spec,
		  void *out)
{
	return chi_client_answer(client, chi_client_ask(client, status, op, spec, out));
}
