/* SPDX-License-Identifier: MIT */
/* Random messages that have to do with the queue, and whether two say the same. */
#include "tests/proto/sample.h"

#include <string.h>

static struct chi_positions positions(struct sample *s)
{
	struct chi_positions out = {.n = sample_below(s, 5)};
	out.n_fens = out.n > 0 ? sample_below(s, out.n + 1) : 0;
	out.keys = sample_take(s, out.n, sizeof(*out.keys));
	out.fens = sample_take(s, out.n_fens, sizeof(*out.fens));
	for (size_t i = 0; i < out.n - out.n_fens; i++) {
		out.keys[i] = sample_key(s);
	}
	for (size_t i = 0; i < out.n_fens; i++) {
		out.fens[i] = sample_text(s, 40);
	}
	return out;
}

static bool same_positions(const struct chi_positions *a, const struct chi_positions *b)
{
	bool same = a->n == b->n && a->n_fens == b->n_fens;
	for (size_t i = 0; same && i < a->n - a->n_fens; i++) {
		same = same_key(&a->keys[i], &b->keys[i]);
	}
	for (size_t i = 0; same && i < a->n_fens; i++) {
		same = same_text(a->fens[i], b->fens[i]);
	}
	return same;
}

static struct chi_queue_row row(struct sample *s)
{
	return (struct chi_queue_row){.key = sample_key(s),
				      .state = (uint8_t)sample_below(s, CHI_QUEUE_FAILED + 1),
				      .claimed = sample_coin(s),
				      .priority = (uint32_t)sample_number(s),
				      .tries = (uint32_t)sample_number(s),
				      .asked = sample_number(s),
				      .number = sample_number(s),
				      .lease = sample_number(s),
				      .expires = sample_number(s),
				      .holder = sample_text(s, 20).bytes};
}

static bool same_row(const struct chi_queue_row *a, const struct chi_queue_row *b)
{
	return same_key(&a->key, &b->key) && a->state == b->state && a->claimed == b->claimed &&
	       a->priority == b->priority && a->tries == b->tries && a->asked == b->asked &&
	       a->number == b->number && a->lease == b->lease && a->expires == b->expires &&
	       same_string(a->holder, b->holder);
}

static const struct chi_queue_row *rows(struct sample *s, size_t n)
{
	struct chi_queue_row *out = sample_take(s, n, sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		out[i] = row(s);
	}
	return out;
}

static bool same_rows(const struct chi_queue_row *a, size_t n, const struct chi_queue_row *b,
		      size_t m)
{
	bool same = n == m;
	for (size_t i = 0; same && i < n; i++) {
		same = same_row(&a[i], &b[i]);
	}
	return same;
}

void sample_queue_request(struct sample *s, struct chi_request *out)
{
	switch (out->op) {
	case CHI_OP_QUEUE_ADD:
		out->u.queue_add.positions = positions(s);
		out->u.queue_add.priority = (uint32_t)sample_number(s);
		break;
	case CHI_OP_QUEUE_TAKE:
		out->u.queue_take.positions = positions(s);
		out->u.queue_take.holder = sample_text(s, CHI_QUEUE_HOLDER_MAX).bytes;
		out->u.queue_take.lease_ms = (uint32_t)sample_number(s);
		out->u.queue_take.limit = (uint32_t)sample_number(s);
		break;
	case CHI_OP_QUEUE_SETTLE:
		out->u.queue_settle.positions = positions(s);
		out->u.queue_settle.lease = sample_number(s);
		out->u.queue_settle.action = (uint32_t)sample_below(s, CHI_QUEUE_DROP + 1);
		out->u.queue_settle.lease_ms = (uint32_t)sample_number(s);
		break;
	default:
		break;
	}
}

bool same_queue_request(const struct chi_request *a, const struct chi_request *b)
{
	switch (a->op) {
	case CHI_OP_QUEUE_ADD:
		return same_positions(&a->u.queue_add.positions, &b->u.queue_add.positions) &&
		       a->u.queue_add.priority == b->u.queue_add.priority;
	case CHI_OP_QUEUE_TAKE:
		return same_positions(&a->u.queue_take.positions, &b->u.queue_take.positions) &&
		       same_string(a->u.queue_take.holder, b->u.queue_take.holder) &&
		       a->u.queue_take.lease_ms == b->u.queue_take.lease_ms &&
		       a->u.queue_take.limit == b->u.queue_take.limit;
	case CHI_OP_QUEUE_SETTLE:
		return same_positions(&a->u.queue_settle.positions, &b->u.queue_settle.positions) &&
		       a->u.queue_settle.lease == b->u.queue_settle.lease &&
		       a->u.queue_settle.action == b->u.queue_settle.action &&
		       a->u.queue_settle.lease_ms == b->u.queue_settle.lease_ms;
	default:
		return true;
	}
}

bool sample_queue_response(struct sample *s, struct chi_response *out)
{
	switch (out->op) {
	case CHI_OP_QUEUE_ADD:
		out->u.outcome.queue_added = (struct chi_queue_added){
			sample_number(s), sample_number(s), sample_number(s)};
		return true;
	case CHI_OP_QUEUE_TAKE:
		out->u.queue_take.outcome.leased.lease = sample_number(s);
		out->u.queue_take.outcome.leased.expires = sample_number(s);
		out->u.queue_take.n = sample_below(s, 4);
		out->u.queue_take.rows = rows(s, out->u.queue_take.n);
		return true;
	case CHI_OP_QUEUE_SETTLE:
		out->u.outcome.settled = sample_number(s);
		return true;
	default:
		return false;
	}
}

bool same_queue_response(const struct chi_response *a, const struct chi_response *b)
{
	const struct chi_queue_taken *x = &a->u.queue_take;
	const struct chi_queue_taken *y = &b->u.queue_take;
	switch (a->op) {
	case CHI_OP_QUEUE_ADD:
		return memcmp(&a->u.outcome.queue_added, &b->u.outcome.queue_added,
			      sizeof(a->u.outcome.queue_added)) == 0;
	case CHI_OP_QUEUE_TAKE:
		return memcmp(&x->outcome.leased, &y->outcome.leased, sizeof(x->outcome.leased)) ==
			       0 &&
		       same_rows(x->rows, x->n, y->rows, y->n);
	case CHI_OP_QUEUE_SETTLE:
		return a->u.outcome.settled == b->u.outcome.settled;
	default:
		return true;
	}
}
