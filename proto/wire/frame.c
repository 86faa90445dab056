/* SPDX-License-Identifier: MIT */
/*
 * Framing as every protobuf runtime knows it: the delimited form. The head is read by hand and
 * not with chi_read_varint, because here "more bytes are needed" and "wrong" are two answers.
 */
#include "proto/wire/frame.h"

/* Low seven bits of a group carry the value, the top bit says that another group follows. */
#define GROUP_BITS 7
#define GROUP_MASK 0x7fu
#define GROUP_MORE 0x80u

int chi_frame_take(const uint8_t *bytes, size_t len, size_t max, const uint8_t **body,
		   size_t *body_len, size_t *frame_len)
{
	size_t value = 0;
	*frame_len = 0;
	for (size_t i = 0; i < CHI_FRAME_HEAD_MAX; i++) {
		if (i == len) {
			return CHI_NONE;
		}
		value |= (size_t)(bytes[i] & GROUP_MASK) << (GROUP_BITS * i);
		if ((bytes[i] & GROUP_MORE) != 0) {
			continue;
		}
		/* Length 0 ("00") and heads longer than needed ("81 00") both end in a zero. */
		if (bytes[i] == 0) {
			return -CHI_EPROTO;
		}
		if (value > max) {
			return -CHI_ETOOBIG;
		}
		size_t head = i + 1;
		*frame_len = head + value;
		if (len - head < value) {
			return CHI_NONE;
		}
		*body = bytes + head;
		*body_len = value;
		return CHI_OK;
	}
	/* A fifth group: 2^28 bytes or more, or an overlong head. Both end the connection. */
	return -CHI_ETOOBIG;
}

size_t chi_frame_head(size_t body_len, uint8_t out[CHI_FRAME_HEAD_MAX])
{
	size_t n = 0;
	while (body_len > GROUP_MASK && n < CHI_FRAME_HEAD_MAX - 1) {
		out[n++] = (uint8_t)(body_len | GROUP_MORE);
		body_len >>= GROUP_BITS;
	}
	out[n++] = (uint8_t)(body_len & GROUP_MASK);
	return n;
}
