/* SPDX-License-Identifier: MIT */
#include "client/core/rows.h"

#include <assert.h>
#include <string.h>

#include "base/fault.h"
#include "proto/operations.h"
#include "proto/wire/frame.h"

int chi_rows_request(struct chi_client *client, enum chi_op op, const void *spec,
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
	return status == CHI_OK ? chi_request_unpack(body, len, arena, out, &field, &client->error)
				: status;
}

void chi_rows_init(struct chi_rows *rows, enum chi_op op)
{
	*rows = (struct chi_rows){.op = op, .list = chi_query_list(chi_operation_of(op))};
	chi_arena_init(&rows->arena, CHI_DECODE_BUDGET);
}

static int check_backend(struct chi_client *client, enum chi_op op)
{
	return client->backend->rows_open != NULL ? CHI_OK
						  : chi_fault(&client->error, -CHI_EUNSUPPORTED,
							      "not on RADOS: %s", chi_op_name(op));
}

int chi_rows_open(struct chi_client *client, enum chi_op op, const void *spec,
		  struct chi_rows *rows)
{
	assert(chi_query_ops_of(op)->resume != NULL);
	chi_rows_init(rows, op);
	int status = check_backend(client, op);
	return status == CHI_OK ? client->backend->rows_open(client, rows, spec) : status;
}

int chi_rows_next(struct chi_client *client, struct chi_rows *rows, const void **row)
{
	while (rows->at == rows->n || rows->is_full) {
		int status = rows->last ? CHI_NONE : client->backend->rows_more(client, rows);
		if (status != CHI_OK) {
			return status;
		}
	}
	*row = rows->rows + rows->at++ * rows->list->size;
	return CHI_OK;
}

void chi_rows_close(struct chi_client *client, struct chi_rows *rows)
{
	if (client->backend->rows_close != NULL) {
		client->backend->rows_close(client, rows);
	}
	chi_arena_deinit(&rows->arena);
}

int chi_rows_all(struct chi_client *client, enum chi_op op, const void *spec, void *out)
{
	int status = chi_client_settle(client, chi_client_begin(client));
	if (status == CHI_OK) {
		status = check_backend(client, op);
	}
	if (status == CHI_OK) {
		status = client->backend->rows_all(client, op, spec, out);
	}
	if (status != CHI_OK) {
		memset(out, 0, chi_operation_of(op)->result_size);
	}
	return chi_client_answer(client, status);
}
