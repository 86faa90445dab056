/* SPDX-License-Identifier: MIT */
/* What the targets of requests and of responses have in common. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "proto/wire/frame.h"
#include "tests/fuzz/fuzz.h"

/* Unpacks a message and packs it to a frame in `out`; false if the bytes are none. */
typedef bool message_again(const uint8_t *body, size_t len, struct chi_buffer *out);

/* What was packed once unpacks, and packs to the same bytes: there is one form of each message. */
static inline void require_one_form(message_again *again, const uint8_t *data, size_t size,
				    size_t limit)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer first;
	_cleanup_(chi_buffer_deinit) struct chi_buffer second;
	const uint8_t *body = NULL;
	size_t len = 0;
	size_t frame = 0;
	chi_buffer_init(&first, limit);
	chi_buffer_init(&second, limit);
	if (size == 0 || !again(data, size, &first)) {
		return;
	}
	REQUIRE(chi_frame_take(chi_buffer_bytes(&first), first.len, first.limit, &body, &len,
			       &frame) == CHI_OK);
	REQUIRE(again(body, len, &second));
	REQUIRE(first.len == second.len);
	REQUIRE(memcmp(chi_buffer_bytes(&first), chi_buffer_bytes(&second), first.len) == 0);
}
