/* SPDX-License-Identifier: MIT */
/* A message's way from one side to the other, for tests that are about what it says. */
#pragma once

#include "base/attr.h"
#include "base/buffer.h"
#include "proto/wire/frame.h"
#include "proto/msg.h"
#include "proto/wire/fields.h"
#include "tests/base/cases.h"

/* Above every limit of the protocol, so that no buffer decides what a message may be. */
#define WIRE_LIMIT ((size_t)64 << 20)

/* The body of the frame that `wire` holds alone; the buffer's memory. */
static inline const uint8_t *wire_body(const struct chi_buffer *wire, size_t *len)
{
	const uint8_t *body = NULL;
	size_t frame_len = 0;
	assert_int_equal(chi_frame_take(chi_buffer_bytes(wire), wire->len, WIRE_LIMIT, &body, len,
					&frame_len),
			 CHI_OK);
	assert_int_equal(frame_len, wire->len);
	return body;
}

/* Packs a request and unpacks it into `arena`: the status, and the field named by it. Neither
 * side is the test's subject if packing fails. */
static inline int wire_request(const struct chi_request *request, struct chi_arena *arena,
			       struct chi_request *again, const char **field)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer wire;
	struct chi_fault fault;
	size_t len = 0;
	chi_buffer_init(&wire, WIRE_LIMIT);
	assert_int_equal(chi_request_pack(request, &wire), CHI_OK);
	const uint8_t *body = wire_body(&wire, &len);
	return chi_request_unpack(body, len, arena, again, field, &fault);
}

static inline void wire_append(struct chi_buffer *out, const void *bytes, size_t len)
{
	assert_int_equal(chi_buffer_append(out, bytes, len), CHI_OK);
}

/* A field that is a number, 0 too; one that is bytes. */
static inline void wire_number(struct chi_buffer *out, uint32_t field, uint64_t number)
{
	uint8_t bytes[24];
	wire_append(out, bytes, (size_t)(chi_put_number(bytes, field, number) - bytes));
}

static inline void wire_bytes(struct chi_buffer *out, uint32_t field, const void *contents,
			      size_t len)
{
	uint8_t bytes[24];
	wire_append(out, bytes, (size_t)(chi_put_head(bytes, field, len) - bytes));
	wire_append(out, contents, len);
}

static inline void wire_nested(struct chi_buffer *out, uint32_t field,
			       const struct chi_buffer *contents)
{
	wire_bytes(out, field, chi_buffer_bytes(contents), contents->len);
}
