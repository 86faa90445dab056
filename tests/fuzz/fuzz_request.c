/* SPDX-License-Identifier: MIT */
/*
 * Reaches the unpacking of requests with the body of a frame, under the daemon's own budget. What
 * is accepted must pack, and the bytes packed must be a fixed point. What the short way of a Probe
 * takes, this way must take with the same meaning.
 */
#include <string.h>

#include "proto/msg.h"
#include "proto/probe.h"
#include "tests/fuzz/message.h"

/* Unpacks a body and packs it again; false if it is refused, or has no operation. */
static bool again(const uint8_t *data, size_t size, struct chi_buffer *out)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_request request;
	struct chi_fault fault = {""};
	const char *field = NULL;
	chi_arena_init(&arena, CHI_DECODE_BUDGET);
	int rc = chi_request_unpack(data, size, &arena, &request, &field, &fault);
	REQUIRE(arena.used <= CHI_DECODE_BUDGET);
	REQUIRE(field != NULL && strlen(field) < 128);
	REQUIRE((rc == CHI_OK) == (fault.text[0] == '\0'));
	if (rc != CHI_OK || request.op == CHI_OP_UNKNOWN) {
		return false;
	}
	REQUIRE(chi_request_pack(&request, out) == CHI_OK);
	return true;
}

static void check_probe(const uint8_t *data, size_t size)
{
	static struct chi_key keys[CHI_PROBE_MAX];
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_request request;
	struct chi_probe_answer probe;
	const char *field = NULL;
	chi_arena_init(&arena, CHI_DECODE_BUDGET);
	if (!chi_probe_read(data, size, keys, &probe)) {
		return;
	}
	if (chi_request_unpack(data, size, &arena, &request, &field, NULL) != CHI_OK) {
		/* A name that no store can have is found nowhere. */
		REQUIRE(strcmp(field, "store") == 0);
		return;
	}
	REQUIRE(request.op == CHI_OP_PROBE && request.id == probe.id);
	REQUIRE(request.store.len == probe.store_len);
	REQUIRE(probe.store_len == 0 ||
		memcmp(request.store.bytes, probe.store, probe.store_len) == 0);
	const struct chi_positions *positions = request.body;
	REQUIRE(positions->n == probe.n && positions->n_fens == 0);
	REQUIRE(memcmp(positions->keys, keys, probe.n * sizeof(*keys)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_probe(data, size);
	require_one_form(again, data, size, (size_t)64 << 20);
	return 0;
}
