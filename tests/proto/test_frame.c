/* SPDX-License-Identifier: MIT */
/* Framing: every limit at n-1, n, n+1, every wrong head, and any split of a stream. */
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "proto/wire/frame.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

static const uint8_t *body;
static size_t body_len;
static size_t frame_len;

static int take(const void *bytes, size_t len, size_t max)
{
	body = NULL;
	body_len = 0;
	frame_len = SIZE_MAX;
	return chi_frame_take(bytes, len, max, &body, &body_len, &frame_len);
}

CASE(limit_is_exact)
{
	/* Heads of 99, 100 and 101; the third is refused before its body has come. */
	assert_int_equal(take("\x63", 1, 100), CHI_NONE);
	assert_int_equal(frame_len, 100);
	assert_int_equal(take("\x64", 1, 100), CHI_NONE);
	assert_int_equal(frame_len, 101);
	assert_int_equal(take("\x65", 1, 100), -CHI_ETOOBIG);
}

CASE(limits_of_the_protocol)
{
	static const size_t limits[] = {CHI_FRAME_REQUEST_MAX, CHI_FRAME_RESPONSE_MAX};
	assert_int_equal(limits[0], 1 << 20);
	assert_int_equal(limits[1], 4 << 20);
	for (size_t i = 0; i < CHI_COUNT(limits); i++) {
		uint8_t head[CHI_FRAME_HEAD_MAX];
		size_t n = chi_frame_head(limits[i] - 1, head);
		assert_int_equal(take(head, n, limits[i]), CHI_NONE);
		n = chi_frame_head(limits[i], head);
		assert_int_equal(take(head, n, limits[i]), CHI_NONE);
		assert_int_equal(frame_len, n + limits[i]);
		n = chi_frame_head(limits[i] + 1, head);
		assert_int_equal(take(head, n, limits[i]), -CHI_ETOOBIG);
	}
}

/* A socket cuts where it likes: at every byte the answer is "more", and takes nothing. */
CASE(body_may_come_in_parts)
{
	const uint8_t frame[] = {3, 'a', 'b', 'c', 'd'};
	assert_int_equal(take(frame, 0, 100), CHI_NONE);
	assert_int_equal(frame_len, 0);
	for (size_t n = 1; n < 4; n++) {
		assert_int_equal(take(frame, n, 100), CHI_NONE);
		assert_int_equal(frame_len, 4);
	}
	for (size_t n = 4; n <= 5; n++) {
		assert_int_equal(take(frame, n, 100), CHI_OK);
		assert_ptr_equal(body, frame + 1);
		assert_int_equal(body_len, 3);
		assert_int_equal(frame_len, 4);
	}
}

/* Refused by the head alone, before a body is waited for. */
CASE(wrong_heads)
{
	assert_int_equal(take("\x00", 1, 100), -CHI_EPROTO);
	assert_int_equal(take("\x80\x00", 2, 100), -CHI_EPROTO);
	assert_int_equal(take("\x81\x00", 2, 100), -CHI_EPROTO);
	assert_int_equal(take("\x81\x80\x00", 3, 100), -CHI_EPROTO);
	assert_int_equal(take("\x81\x80\x80\x00", 4, 100), -CHI_EPROTO);
	assert_int_equal(take("\x81", 1, 100), CHI_NONE);
	assert_int_equal(take("\x81\x80\x80", 3, 100), CHI_NONE);
	assert_int_equal(take("\x81\x80\x80\x80", 4, 100), -CHI_ETOOBIG);
	assert_int_equal(take("\xff\xff\xff\xff\xff", 5, SIZE_MAX / 2), -CHI_ETOOBIG);
	assert_int_equal(take("\xff\xff\xff\x7f", 4, (1u << 28) - 1), CHI_NONE);
}

/* Ours, at the edges of each length. */
CASE(heads_are_the_shortest)
{
	static const size_t edges[] = {1,      0x7f,	 0x80,	   0x3fff,
				       0x4000, 0x1fffff, 0x200000, 0xfffffff};
	static const size_t lengths[] = {1, 1, 2, 2, 3, 3, 4, 4};
	for (size_t i = 0; i < CHI_COUNT(edges); i++) {
		uint8_t head[CHI_FRAME_HEAD_MAX];
		assert_int_equal(chi_frame_head(edges[i], head), lengths[i]);
		assert_int_equal(take(head, lengths[i], edges[i]), CHI_NONE);
		assert_int_equal(frame_len, lengths[i] + edges[i]);
	}
}

/* Message k is filled with k and its length is random: whatever the chunks, they come out whole
 * and in order. */
CASE(any_split_gives_the_same)
{
	struct seed seed = seed_start("frame");
	size_t rounds = seed_rounds(2000);
	for (size_t round = 0; round < rounds; round++) {
		_cleanup_(chi_buffer_deinit) struct chi_buffer in;
		_cleanup_(chi_buffer_deinit) struct chi_buffer stream;
		chi_buffer_init(&in, 1 << 20);
		chi_buffer_init(&stream, 1 << 20);
		size_t lens[20];
		size_t n = 1 + seed_below(&seed, 20);
		for (size_t k = 0; k < n; k++) {
			uint8_t head[CHI_FRAME_HEAD_MAX];
			uint8_t fill[400];
			memset(fill, (int)k, sizeof(fill));
			lens[k] = 1 + seed_below(&seed, sizeof(fill));
			size_t head_len = chi_frame_head(lens[k], head);
			assert_int_equal(chi_buffer_append(&stream, head, head_len), CHI_OK);
			assert_int_equal(chi_buffer_append(&stream, fill, lens[k]), CHI_OK);
		}
		size_t got = 0;
		while (stream.len > 0) {
			size_t chunk = 1 + seed_below(&seed, stream.len < 300 ? stream.len : 300);
			assert_int_equal(chi_buffer_append(&in, chi_buffer_bytes(&stream), chunk),
					 CHI_OK);
			chi_buffer_consume(&stream, chunk);
			while (take(chi_buffer_bytes(&in), in.len, 400) == CHI_OK) {
				assert_int_equal(body_len, lens[got]);
				assert_int_equal(body[0], got);
				assert_int_equal(body[body_len - 1], got);
				chi_buffer_consume(&in, frame_len);
				got++;
			}
		}
		assert_int_equal(got, n);
		assert_int_equal(in.len, 0);
	}
	print_message("# figures: %zu streams of frames split at random\n", rounds);
}
