/* SPDX-License-Identifier: MIT */
/*
 * Reaches proto/wire/frame.h with a stream: the first byte is the size of the chunks it comes in,
 * and the messages must be the same as when it comes at once.
 */
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "proto/wire/frame.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT ((size_t)1 << 12)

/* What a stream amounts to: its messages, and how it ends. */
struct outcome {
	size_t messages;
	size_t bytes;
	uint64_t hash;
	int status;
};

/* Takes all whole messages off the front. */
static void take_all(struct chi_buffer *in, struct outcome *outcome)
{
	while (outcome->status >= 0) {
		const uint8_t *body = NULL;
		size_t len = 0;
		size_t frame = 0;
		outcome->status =
			chi_frame_take(chi_buffer_bytes(in), in->len, LIMIT, &body, &len, &frame);
		if (outcome->status != CHI_OK) {
			REQUIRE(frame == 0 || frame > in->len || outcome->status < 0);
			return;
		}
		REQUIRE(len > 0 && len <= LIMIT && frame <= in->len && frame > len);
		uint8_t head[CHI_FRAME_HEAD_MAX];
		size_t head_len = chi_frame_head(len, head);
		REQUIRE(head_len == frame - len);
		REQUIRE(memcmp(head, chi_buffer_bytes(in), head_len) == 0);
		for (size_t i = 0; i < len; i++) {
			outcome->hash = (outcome->hash ^ body[i]) * 0x100000001b3u;
		}
		outcome->messages++;
		outcome->bytes += len;
		chi_buffer_consume(in, frame);
	}
}

static struct outcome read_stream(const uint8_t *data, size_t size, size_t chunk)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer in;
	struct outcome outcome = {.status = CHI_NONE};
	chi_buffer_init(&in, size + 1);
	for (size_t at = 0; at < size && outcome.status >= 0; at += chunk) {
		size_t n = chunk < size - at ? chunk : size - at;
		REQUIRE(chi_buffer_append(&in, data + at, n) == CHI_OK);
		take_all(&in, &outcome);
	}
	return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2) {
		return 0;
	}
	struct outcome whole = read_stream(data + 1, size - 1, size);
	struct outcome parts = read_stream(data + 1, size - 1, (size_t)data[0] + 1);
	REQUIRE(whole.messages == parts.messages && whole.bytes == parts.bytes);
	REQUIRE(whole.hash == parts.hash && whole.status == parts.status);
	return 0;
}
