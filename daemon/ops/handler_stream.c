/* SPDX-License-Identifier: MIT */
/* Credit and Cancel: what a client says about a request that is being answered. A request that
 * has ended meanwhile is no mistake of the client's, and skipped. */
#include "daemon/ops/handler.h"

int chi_handle_credit(struct chi_task *task)
{
	struct chi_call *call = chi_call_find(task->conn, task->request->id);
	uint32_t more = task->request->u.credit.responses;
	if (call == NULL || call->ops == NULL) {
		return CHI_OK;
	}
	/* Never more than the largest window, regardless of the grant. */
	call->credits =
		more >= CHI_WINDOW_MAX - call->credits ? CHI_WINDOW_MAX : call->credits + more;
	call->ops->resume(call);
	return CHI_OK;
}

int chi_handle_cancel(struct chi_task *task)
{
	struct chi_call *call = chi_call_find(task->conn, task->request->id);
	if (call == NULL || call->ops == NULL) {
		return CHI_OK;
	}
	enum chi_op op = call->op;
	if (chi_call_give_up(task->conn, task->request->id)) {
		chi_conn_fail(task->conn, task->request->id, op, -CHI_ECANCELED, NULL, NULL);
	}
	return CHI_OK;
}
