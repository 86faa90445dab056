/* SPDX-License-Identifier: MIT */
/* The queue of positions, listed. */
#include "ops/answer.h"

#include "base/fault.h"
#include "proto/types.h"
#include "store/queue.h"

/* NULL: nothing is wrong. */
static const char *list_flaw(const struct chi_queue_list_request *asked)
{
	if (chi_queue_state_name((int)asked->state) == NULL) {
		return "the state is unknown";
	}
	if (asked->limit > CHI_QUEUE_BATCH_MAX) {
		return "more than 4096 positions";
	}
	return asked->after != NULL && asked->after->state != asked->state
		       ? "the position to begin after is in another state"
		       : NULL;
}

int chi_answer_queue_list(struct chi_ask *ask, const void *request, void *result)
{
	const struct chi_queue_list_request *asked = request;
	const char *flaw = list_flaw(asked);
	if (flaw != NULL) {
		ask->field = "";
		return chi_fault(ask->fault, -CHI_EINVAL, "%s", flaw);
	}
	return chi_read_queue(ask->read, (enum chi_queue_state)asked->state, asked->after,
			      asked->limit, ask->arena, result);
}
