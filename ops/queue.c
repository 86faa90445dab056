/* SPDX-License-Identifier: MIT */
/* The queue of positions. */
#include "ops/change.h"

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
		return chi_fail(ask->fault, -CHI_EINVAL, "%s", flaw);
	}
	return chi_read_queue(ask->read, (enum chi_queue_state)asked->state, asked->after,
			      asked->limit, ask->arena, result);
}

/* ---- Changes ------------------------------------------------------------------------------ */

/* What counts where nothing says how many positions it is: as much as writes that share a
 * transaction. */
#define UNKNOWN_NUMBER 20000

/* The request, where `status` is a failure. */
static int check_positions(struct chi_ask *ask, int status, struct chi_positions *positions)
{
	ask->field = status < 0 ? "" : NULL;
	return status < 0 ? status : chi_ask_keys(ask, positions);
}

static int check_add(struct chi_ask *ask, void *request)
{
	struct chi_queue_add_request *asked = request;
	return check_positions(ask, CHI_OK, &asked->positions);
}

static size_t records_of_add(const void *request)
{
	return ((const struct chi_queue_add_request *)request)->positions.n;
}

static int add_positions(struct chi_ask *ask, struct chi_write *write, const void *request,
			 void *result)
{
	const struct chi_queue_add_request *asked = request;
	(void)ask;
	return chi_write_queue_add(write, asked->positions.keys, asked->positions.n,
				   asked->priority, chi_queue_clock(), result);
}

static struct chi_queue_take_spec take_of(const struct chi_queue_take_request *asked)
{
	size_t n = asked->positions.n;
	return (struct chi_queue_take_spec){.holder = asked->holder,
					    .lease_ms = asked->lease_ms,
					    .limit = asked->limit,
					    .keys = n > 0 ? asked->positions.keys : NULL,
					    .n_keys = n};
}

static int check_take(struct chi_ask *ask, void *request)
{
	struct chi_queue_take_request *asked = request;
	const struct chi_queue_take_spec take = take_of(asked);
	return check_positions(ask, chi_queue_take_check(&take, ask->fault), &asked->positions);
}

static size_t records_of_take(const void *request)
{
	const struct chi_queue_take_request *asked = request;
	return asked->positions.n > 0 ? asked->positions.n : asked->limit;
}

static int take_positions(struct chi_ask *ask, struct chi_write *write, const void *request,
			  void *result)
{
	const struct chi_queue_take_spec take = take_of(request);
	return chi_write_queue_take(write, &take, chi_queue_clock(), ask->arena, result);
}

/* Those that are still held. */
static int recall_take(struct chi_ask *ask, struct chi_write *write, void *result)
{
	struct chi_queue_lease *lease = result;
	return chi_write_queue_held(write, lease->lease, lease->expires, ask->arena, lease);
}

static int check_settle(struct chi_ask *ask, void *request)
{
	struct chi_queue_settle_request *asked = request;
	int status = chi_queue_settle_check(asked->action, asked->positions.n, asked->lease_ms,
					    ask->fault);
	return check_positions(ask, status, &asked->positions);
}

static size_t records_of_settle(const void *request)
{
	size_t n = ((const struct chi_queue_settle_request *)request)->positions.n;
	return n > 0 ? n : UNKNOWN_NUMBER;
}

static int settle_positions(struct chi_ask *ask, struct chi_write *write, const void *request,
			    void *result)
{
	const struct chi_queue_settle_request *asked = request;
	const struct chi_positions *positions = &asked->positions;
	struct chi_affected *done = result;
	(void)ask;
	if (asked->action == CHI_QUEUE_DROP) {
		return chi_write_queue_drop(write, positions->n > 0 ? positions->keys : NULL,
					    positions->n, &done->n);
	}
	return chi_write_queue_settle(write, asked->lease, (enum chi_queue_action)asked->action,
				      positions->keys, positions->n,
				      chi_queue_clock() + asked->lease_ms, &done->n);
}

const struct chi_change_ops chi_queue_add_ops = {
	.kind = CHI_IDEMPOTENCY_QUEUE_ADD,
	.n_counts = 3,
	.check = check_add,
	.records = records_of_add,
	.write = add_positions,
};

const struct chi_change_ops chi_queue_take_ops = {
	.kind = CHI_IDEMPOTENCY_QUEUE_TAKE,
	.n_counts = 2,
	.check = check_take,
	.records = records_of_take,
	.write = take_positions,
	.recall = recall_take,
};

const struct chi_change_ops chi_queue_settle_ops = {
	.kind = CHI_IDEMPOTENCY_QUEUE_SETTLE,
	.n_counts = 1,
	.check = check_settle,
	.records = records_of_settle,
	.write = settle_positions,
};
