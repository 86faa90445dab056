/* SPDX-License-Identifier: MIT */
/* What is answered at once (ops/answer.h), from this turn's snapshot. */
#include "ops/answer.h"

#include "base/fault.h"
#include "daemon/net/server.h"
#include "daemon/ops/handler.h"
#include "ops/op.h"
#include "ops/page.h"
#include "proto/operations.h"
#include "search/texts.h"
#include "store/store.h"

int chi_task_name_field(struct chi_task *task, int status, const char *field)
{
	const char *name = chi_op_name(task->request->op);
	return field == NULL ? status
			     : chi_task_field(task, status, "%s%s%s", name,
					      field[0] != '\0' ? "." : "", field);
}

int chi_handle_answer(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	struct chi_game_texts *texts = NULL;
	struct chi_ask ask = {.arena = &task->worker->results,
			      .texts = &texts,
			      .most = CHI_RESULT_BYTES_MAX,
			      .read_only = (uint8_t)chi_served_read_only(task->served),
			      .fault = &task->fault};
	void *result = chi_arena_array(ask.arena, 1, chi_operation_of(request->op)->result_size);
	int status = result != NULL ? chi_worker_read(task->worker, task->served, &ask.read)
				    : -CHI_ENOMEM;
	if (status == CHI_OK) {
		status = chi_op_row_of(request->op)->answer(&ask, request->made, result);
	}
	if (status == CHI_OK) {
		const struct chi_response response = {
			.id = request->id, .last = true, .op = request->op, .body = result};
		chi_conn_answer(task->conn, &response);
	}
	chi_game_texts_free(texts);
	return chi_task_name_field(task, status, ask.field);
}
