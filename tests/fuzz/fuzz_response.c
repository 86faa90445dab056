/* SPDX-License-Identifier: MIT */
/*
 * Reaches the unpacking of responses, which the client does with what a server sends. What is
 * accepted must pack, and the bytes packed must be a fixed point.
 */
#include "proto/msg.h"
#include "tests/fuzz/message.h"

#define BUDGET ((size_t)64 << 20)

/* Unpacks a body and packs it again; false if it is refused, or has nothing to say. */
static bool again(const uint8_t *data, size_t size, struct chi_buffer *out)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_response response;
	struct chi_fault fault = {""};
	chi_arena_init(&arena, BUDGET);
	int rc = chi_response_unpack(data, size, &arena, &response, &fault);
	REQUIRE(rc == CHI_OK || rc == -CHI_EPROTO || rc == -CHI_ENOMEM);
	REQUIRE((rc == CHI_OK) == (fault.text[0] == '\0'));
	if (rc != CHI_OK) {
		return false;
	}
	rc = chi_response_pack(&response, out);
	/* A message of nothing but defaults is no frame. */
	REQUIRE(rc == CHI_OK || (rc == -CHI_EINVAL && response.id == 0));
	return rc == CHI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	require_one_form(again, data, size, BUDGET);
	return 0;
}
