/* SPDX-License-Identifier: MIT */
/*
 * Reaches the unpacking of requests with the body of a frame, under the daemon's own budget. What
 * is accepted must pack, and the bytes packed must be a fixed point.
 */
#include <string.h>

#include "base/attr.h"
#include "proto/frame.h"
#include "proto/msg.h"
#include "tests/fuzz/fuzz.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer first;
	_cleanup_(chi_buffer_deinit) struct chi_buffer second;
	const uint8_t *body = NULL;
	size_t len = 0;
	size_t frame = 0;
	chi_buffer_init(&first, (size_t)64 << 20);
	chi_buffer_init(&second, (size_t)64 << 20);
	if (size == 0 || !again(data, size, &first)) {
		return 0;
	}
	REQUIRE(chi_frame_take(chi_buffer_bytes(&first), first.len, first.limit, &body, &len,
			       &frame) == CHI_OK);
	REQUIRE(again(body, len, &second));
	REQUIRE(first.len == second.len);
	REQUIRE(memcmp(chi_buffer_bytes(&first), chi_buffer_bytes(&second), first.len) == 0);
	return 0;
}
