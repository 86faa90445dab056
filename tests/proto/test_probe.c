/* SPDX-License-Identifier: MIT */
/* The quick way to read a Probe: what it takes the usual way takes too, and reads the same. */
#include <string.h>

#include "proto/wire/frame.h"
#include "proto/probe.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

static struct chi_key keys[CHI_PROBE_MAX + 1];
static struct chi_arena arena;

static int init(void **state)
{
	(void)state;
	chi_arena_init(&arena, CHI_DECODE_BUDGET);
	return 0;
}

static int deinit(void **state)
{
	(void)state;
	chi_arena_deinit(&arena);
	return 0;
}

static struct chi_key random_key(struct seed *seed)
{
	struct chi_key key = {0};
	unsigned pieces = (unsigned)(seed_next(seed) % 32) + 1;
	for (unsigned n = 0; n < pieces;) {
		unsigned square = seed_next(seed) % 64;
		uint8_t bit = (uint8_t)(0x80 >> square % 8);
		n += (key.bytes[square / 8] & bit) == 0;
		key.bytes[square / 8] |= bit;
	}
	key.len = (uint8_t)(8 + (pieces + 1) / 2);
	for (unsigned i = 8; i < key.len; i++) {
		key.bytes[i] = (uint8_t)seed_next(seed);
	}
	key.bytes[key.len - 1] &= pieces % 2 == 1 ? 0xf0 : 0xff;
	return key;
}

/* The body of a frame with a probe for `n` random positions. */
static void make(struct seed *seed, size_t n, const char *store, struct chi_buffer *out,
		 const uint8_t **body, size_t *len)
{
	static struct chi_key asked[CHI_PROBE_MAX + 1];
	struct chi_request request = {.id = seed_next(seed) >> seed_next(seed) % 64,
				      .op = CHI_OP_PROBE,
				      .store = {store, strlen(store)}};
	const struct chi_positions positions = {.keys = asked, .n = n};
	size_t frame_len = 0;
	request.id += request.id == 0;
	for (size_t i = 0; i < n; i++) {
		asked[i] = random_key(seed);
	}
	request.body = &positions;
	chi_buffer_init(out, CHI_FRAME_REQUEST_MAX + 64);
	assert_int_equal(chi_request_pack(&request, out), CHI_OK);
	assert_int_equal(chi_frame_take(chi_buffer_bytes(out), out->len, CHI_FRAME_REQUEST_MAX,
					body, len, &frame_len),
			 CHI_OK);
}

/* True if the quick way takes the bytes; then both ways must agree. */
static bool agrees(const uint8_t *bytes, size_t len)
{
	struct chi_probe_answer probe;
	struct chi_request request;
	struct chi_fault fault = {0};
	const char *field = NULL;
	/* In an allocation of its own size, so that reading beyond it is seen. */
	uint8_t *copy = test_malloc(len + 1);
	memcpy(copy + 1, bytes, len);
	bool taken = chi_probe_read(copy + 1, len, keys, &probe);
	if (taken) {
		chi_arena_reset(&arena);
		int rc = chi_request_unpack(copy + 1, len, &arena, &request, &field, &fault);
		if (rc < 0 && strcmp(field, "store") == 0) {
			/* Names that no store can have: found nowhere. */
			test_free(copy);
			return true;
		}
		assert_int_equal(rc, CHI_OK);
		assert_int_equal(request.op, CHI_OP_PROBE);
		assert_int_equal(request.id, probe.id);
		assert_int_equal(request.store.len, probe.store_len);
		assert_memory_equal(request.store.bytes, probe.store_len > 0 ? probe.store : "",
				    probe.store_len);
		const struct chi_positions *positions = request.body;
		assert_int_equal(positions->n_fens, 0);
		assert_int_equal(positions->n, probe.n);
		assert_memory_equal(positions->keys, keys, probe.n * sizeof(*keys));
	}
	test_free(copy);
	return taken;
}

CASE(plain_probes_are_taken, init, deinit)
{
	static const size_t sizes[] = {1, 2, 7, 100, CHI_PROBE_MAX};
	struct seed seed = seed_start("plain_probes_are_taken");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct chi_buffer out;
		const uint8_t *body = NULL;
		size_t len = 0;
		make(&seed, sizes[i], i % 2 == 0 ? "" : "games", &out, &body, &len);
		assert_true(agrees(body, len));
		/* Cut short anywhere it is none. */
		for (size_t cut = 0; cut < len && cut < 300; cut++) {
			assert_false(agrees(body, cut));
		}
		assert_false(agrees(body, len - 1));
		chi_buffer_deinit(&out);
	}
}

CASE(changed_bytes_mean_the_same_both_ways, init, deinit)
{
	struct seed seed = seed_start("changed_bytes_mean_the_same_both_ways");
	size_t taken = 0;
	for (unsigned i = 0; i < 2000; i++) {
		struct chi_buffer out;
		const uint8_t *body = NULL;
		uint8_t bytes[512];
		size_t len = 0;
		make(&seed, seed_next(&seed) % 8 + 1, i % 3 == 0 ? "x" : "", &out, &body, &len);
		assert_true(len <= sizeof(bytes));
		for (unsigned j = 0; j < 20; j++) {
			memcpy(bytes, body, len);
			/* Mostly near the start, where the structure is. */
			size_t span = j % 4 == 0 ? len : len < 16 ? len : 16;
			bytes[seed_next(&seed) % span] ^= (uint8_t)(1u << seed_next(&seed) % 8);
			taken += agrees(bytes, len);
		}
		chi_buffer_deinit(&out);
	}
	/* Other ids and other pieces are still probes. */
	assert_in_range(taken, 1000, 39999);
}

CASE(others_are_left, init, deinit)
{
	/* A king each: 9 bytes. */
	static const uint8_t good[] = {0x08, 7, 0x9a, 1, 12, 0x0a, 10, 9,   8,
				       0,    0, 0,    0, 0,  0,	   8,  0x2a};
	uint8_t bytes[sizeof(good) + 4];
	assert_true(agrees(good, sizeof(good)));
	memcpy(bytes, good, sizeof(good));
	/* One length says 11 bytes where the other says 10. */
	bytes[4] = 13;
	assert_false(agrees(bytes, sizeof(good)));
	/* A field after the probe. */
	memcpy(bytes, good, sizeof(good));
	bytes[sizeof(good)] = 0x10;
	bytes[sizeof(good) + 1] = 1;
	assert_false(agrees(bytes, sizeof(good) + 2));
	/* Id 0. */
	bytes[1] = 0;
	assert_false(agrees(bytes, sizeof(good)));
	/* Get in place of Probe. */
	memcpy(bytes, good, sizeof(good));
	bytes[2] = 0xa2;
	assert_false(agrees(bytes, sizeof(good)));
}

/* One position more than a probe may have. */
CASE(too_many_are_left)
{
	struct seed seed = seed_start("too_many_are_left");
	for (size_t n = CHI_PROBE_MAX - 1; n <= CHI_PROBE_MAX + 1; n++) {
		struct chi_buffer out;
		const uint8_t *body = NULL;
		size_t len = 0;
		struct chi_probe_answer probe;
		make(&seed, n, "", &out, &body, &len);
		assert_int_equal(chi_probe_read(body, len, keys, &probe), n <= CHI_PROBE_MAX);
		chi_buffer_deinit(&out);
	}
}
