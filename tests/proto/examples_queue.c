/* SPDX-License-Identifier: MIT */
/* The examples of PROTOCOL.md that have to do with the queue. */
#include "tests/proto/examples.h"

#include "base/attr.h"

#define MARK                                                                                       \
	{                                                                                          \
		.client =                                                                          \
			{0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255}, \
		.since = 1200, .sequence = 43, .unanswered = 43                                    \
	}
/* Two bare kings, White to move. */
#define KINGS                                                                                      \
	{                                                                                          \
		.len = 9, .bytes = { 0x08, 0, 0, 0, 0, 0, 0, 0x08, 0x2a }                          \
	}

static struct chi_key keys[] = {KINGS};
static struct chi_text fens[] = {{"4k3/8/8/8/8/8/8/4K3 w - - 0 1", 29}};

static const struct chi_request add_request = {
	.id = 40,
	.idempotency_key = MARK,
	.op = CHI_OP_QUEUE_ADD,
	.body =
		&(const struct chi_queue_add_request){
			.positions = {.keys = keys, .n = 1, .fens = fens, .n_fens = 1},
			.priority = 7},
};
static const struct chi_response add_response = {
	.id = 40,
	.last = true,
	.op = CHI_OP_QUEUE_ADD,
	.body = &(const struct chi_queue_added){.added = 1}};

static const struct chi_request take_request = {
	.id = 41,
	.op = CHI_OP_QUEUE_TAKE,
	.body = &(const struct chi_queue_take_request){.holder = "host-1",
						       .lease_ms = 60000,
						       .limit = 4},
};
static const struct chi_queue_row rows[] = {
	{.key = KINGS,
	 .state = CHI_QUEUE_LEASED,
	 .priority = 7,
	 .tries = 1,
	 .asked = UINT64_C(1767225600000),
	 .number = 1,
	 .lease = 2,
	 .expires = UINT64_C(1767225660000),
	 .holder = "host-1"},
};
static const struct chi_response take_response = {
	.id = 41,
	.last = true,
	.op = CHI_OP_QUEUE_TAKE,
	.body = &(const struct chi_queue_lease){2, UINT64_C(1767225660000), rows, 1},
};

static const struct chi_request settle_request = {
	.id = 42,
	.op = CHI_OP_QUEUE_SETTLE,
	.body = &(const struct chi_queue_settle_request){.positions = {.keys = keys, .n = 1},
							 .lease = 2,
							 .action = CHI_QUEUE_DONE},
};
static const struct chi_response settle_response = {
	.id = 42, .last = true, .op = CHI_OP_QUEUE_SETTLE, .body = &(const struct chi_affected){1}};

static const struct chi_queue_list_request list = {.state = CHI_QUEUE_WAITING, .limit = 1};
static const struct chi_request list_request = {
	.id = 43,
	.op = CHI_OP_QUEUE_LIST,
	.body = &list,
};
static const struct chi_queue_row waiting[] = {
	{.key = KINGS,
	 .state = CHI_QUEUE_WAITING,
	 .priority = 7,
	 .asked = UINT64_C(1767225600000),
	 .number = 1,
	 .holder = ""},
};
static const struct chi_queue_page listed = {
	.rows = waiting, .n = 1, .more = true, .counts = {3, 1, 0}};
static const struct chi_response list_response = {
	.id = 43,
	.last = true,
	.op = CHI_OP_QUEUE_LIST,
	.body = &listed,
};

const struct example queue_examples[] = {
	{"queue-add-request", &add_request, NULL},
	{"queue-add-response", NULL, &add_response},
	{"queue-take-request", &take_request, NULL},
	{"queue-take-response", NULL, &take_response},
	{"queue-settle-request", &settle_request, NULL},
	{"queue-settle-response", NULL, &settle_response},
	{"queue-list-request", &list_request, NULL},
	{"queue-list-response", NULL, &list_response},
};
const size_t n_queue_examples = CHI_COUNT(queue_examples);
