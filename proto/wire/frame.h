/* SPDX-License-Identifier: MIT */
/* Framing: a varint with the length of the message, then the message. Works on bytes; no I/O. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* Bytes that a frame's head can take: lengths are below 2^28. */
#define CHI_FRAME_HEAD_MAX 4

/* Default limits (PROTOCOL.md): body bytes of a request and of a response. */
#define CHI_FRAME_REQUEST_MAX  (1u << 20)
#define CHI_FRAME_RESPONSE_MAX (4u << 20)

/*
 * Looks for a whole frame at the start of `bytes`.
 * CHI_OK: *body and *body_len are the message inside `bytes`, *frame_len all of it.
 * CHI_NONE: more bytes are needed; *frame_len is how many the frame has in all, or 0 if its head
 * is not whole yet.
 * -CHI_ETOOBIG: the length is above `max` (known before the body has come).
 * -CHI_EPROTO: length 0, or a head longer than needed.
 */
CHI_MUSTUSE int chi_frame_take(const uint8_t *bytes, size_t len, size_t max, const uint8_t **body,
			       size_t *body_len, size_t *frame_len);

/* Writes the head for a body of `body_len` bytes; returns its length, 1..CHI_FRAME_HEAD_MAX. */
size_t chi_frame_head(size_t body_len, uint8_t out[CHI_FRAME_HEAD_MAX]);
