/* SPDX-License-Identifier: MIT */
/* Our own protocol. Answers are unpacked as our library does it, not just skipped over. */
#include <string.h>

#include "bench/bench.h"
#include "bench/load.h"
#include "proto/wire/frame.h"
#include "proto/msg.h"

static void pack(const struct chi_request *request, struct chi_buffer *out)
{
	int status = chi_request_pack(request, out);
	if (status != CHI_OK) {
		bench_die("a request cannot be packed: %s", chi_strerror(status));
	}
}

static void hello(struct chi_buffer *out)
{
	struct chi_request request = {.id = 1, .op = CHI_OP_HELLO};
	request.u.hello.version = CHI_PROTOCOL_VERSION;
	request.u.hello.client = (struct chi_text){"bench", 5};
	pack(&request, out);
}

static void get(struct chi_buffer *out, const struct chi_key *keys, size_t n)
{
	const struct chi_positions asked = chi_positions_of(keys, n);
	const struct chi_request request = {.id = 2, .op = CHI_OP_PROBE, .body = &asked};
	pack(&request, out);
}

/* Durable: answered when it is on the disk. */
static void put(struct chi_buffer *out, const struct chi_key *key, uint64_t turn)
{
	struct chi_put_entry entry = {.key = *key, .parts = CHI_PUT_COUNTS};
	const struct chi_put_request asked = {.durability = CHI_SYNC, .entries = &entry, .n = 1};
	struct chi_request request = {.id = 3, .op = CHI_OP_PUT, .body = &asked};
	entry.record.counts.white = 1 + turn;
	pack(&request, out);
}

static void count(const struct chi_response *response, size_t n, uint64_t *found)
{
	if (response->op != CHI_OP_PROBE) {
		return;
	}
	const struct chi_probed *probed = response->body;
	if (probed->n != n) {
		bench_die("%zu rows for %zu positions", probed->n, n);
	}
	for (size_t i = 0; i < n; i++) {
		*found += probed->rows[i].found;
	}
}

static size_t answer(const uint8_t *bytes, size_t len, size_t n, uint64_t *found)
{
	static struct chi_arena arena; /* one thread; lives as long as the process */
	struct chi_response response;
	struct chi_fault fault = {""};
	const uint8_t *body;
	size_t body_len;
	size_t frame_len;
	int status =
		chi_frame_take(bytes, len, CHI_FRAME_RESPONSE_MAX, &body, &body_len, &frame_len);
	if (status == CHI_NONE) {
		return 0;
	}
	if (arena.budget == 0) {
		chi_arena_init(&arena, CHI_DECODE_BUDGET);
	}
	chi_arena_reset(&arena);
	status = status == CHI_OK ? chi_response_unpack(body, body_len, &arena, &response, &fault)
				  : status;
	if (status != CHI_OK || response.status != CHI_OK) {
		bench_die("chistored: %s %.*s",
			  chi_strerror(status != CHI_OK ? status : response.status),
			  status == CHI_OK ? (int)response.message.len : 0,
			  status == CHI_OK && response.message.len > 0 ? response.message.bytes
								       : "");
	}
	count(&response, n, found);
	return frame_len;
}

const struct load_protocol load_chistore = {
	.name = "chistore",
	.hello = hello,
	.get = get,
	.put = put,
	.answer = answer,
};
