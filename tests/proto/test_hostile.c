/* SPDX-License-Identifier: MIT */
/*
 * Bytes that are not trusted: cut, changed, blown up, and beyond every budget there is. Made to
 * be run with the sanitizers too.
 */
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/num.h"
#include "proto/operations.h"
#include "proto/wire/frame.h"
#include "tests/base/cases.h"
#include "tests/proto/sample.h"
#include "tests/proto/wire.h"

#define BUDGET ((size_t)64 << 20)

static void make(struct seed *seed, enum chi_op op, bool is_request, struct chi_buffer *out)
{
	chi_buffer_init(out, BUDGET);
	sample_wire(seed, op, is_request, out);
}

/* Unpacks from an allocation of exactly `len` bytes; the answer must be one of those promised. */
static int unpack_request(const uint8_t *bytes, size_t len, size_t budget)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	_cleanup_(chi_freep) uint8_t *copy = malloc(len > 0 ? len : 1);
	struct chi_request request;
	struct chi_fault fault = {""};
	const char *field = NULL;
	assert_non_null(copy);
	memcpy(copy, bytes, len);
	chi_arena_init(&arena, budget);
	int rc = chi_request_unpack(copy, len, &arena, &request, &field, &fault);
	assert_true(rc == CHI_OK || rc == -CHI_EPROTO || rc == -CHI_EINVAL || rc == -CHI_EKEY ||
		    rc == -CHI_ETOOBIG || rc == -CHI_ENOMEM);
	assert_true(arena.used <= budget);
	assert_non_null(field);
	assert_int_equal(rc != CHI_OK, fault.text[0] != '\0');
	return rc;
}

static int unpack_response(const uint8_t *bytes, size_t len, size_t budget)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	_cleanup_(chi_freep) uint8_t *copy = malloc(len > 0 ? len : 1);
	struct chi_response response;
	struct chi_fault fault = {""};
	assert_non_null(copy);
	memcpy(copy, bytes, len);
	chi_arena_init(&arena, budget);
	int rc = chi_response_unpack(copy, len, &arena, &response, &fault);
	assert_true(rc == CHI_OK || rc == -CHI_EPROTO || rc == -CHI_ENOMEM);
	assert_true(arena.used <= budget);
	/* A result is there to be read by the one that takes it. */
	if (rc == CHI_OK && chi_operation_of(response.op)->result_size > 0) {
		assert_non_null(response.made);
	}
	return rc;
}

/* The result of a failure is not read; the code behind it says that there was none. */
CASE(a_code_that_comes_twice)
{
	for (int op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		unsigned tag = (15U + (unsigned)op) << 3 | 2;
		const uint8_t bytes[] = {2 << 3, 10, (uint8_t)(tag | 0x80), (uint8_t)(tag >> 7), 0,
					 2 << 3, 0};
		(void)unpack_response(bytes, sizeof(bytes), CHI_DECODE_BUDGET);
	}
}

/* The flaw was told and the connection kept, though an id behind the break could be another. */
CASE(a_flaw_in_front_of_a_break)
{
	static const struct {
		uint8_t bytes[9];
		size_t len;
		int status;
		const char *field;
	} broken[] = {
		{{1 << 3, 5, 2 << 3 | 2, 1, '?'}, 5, -CHI_EINVAL, "store"},
		{{1 << 3, 5, 2 << 3 | 2, 1, '?', 1 << 3}, 6, -CHI_EPROTO, ""},
		{{1 << 3, 5, 2 << 3 | 2, 1, '?', 2 << 3 | 3}, 6, -CHI_EPROTO, ""},
		{{1 << 3, 5, 2 << 3 | 2, 1, 0, 2 << 3 | 2, 1}, 7, -CHI_EPROTO, ""},
	};
	for (size_t i = 0; i < CHI_COUNT(broken); i++) {
		_cleanup_(chi_arena_deinit) struct chi_arena arena;
		struct chi_request request;
		struct chi_fault fault;
		const char *field = NULL;
		chi_arena_init(&arena, CHI_DECODE_BUDGET);
		assert_int_equal(chi_request_unpack(broken[i].bytes, broken[i].len, &arena,
						    &request, &field, &fault),
				 broken[i].status);
		assert_string_equal(field, broken[i].field);
		assert_int_equal(request.id, 5);
	}
}

/* Connections break anywhere; a cut message is refused or, between two fields, a shorter one. */
CASE(cut_at_every_byte)
{
	struct seed seed = seed_start("cut");
	for (int round = 0; round < 20; round++) {
		for (int op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
			_cleanup_(chi_buffer_deinit) struct chi_buffer request;
			_cleanup_(chi_buffer_deinit) struct chi_buffer response;
			make(&seed, (enum chi_op)op, true, &request);
			make(&seed, (enum chi_op)op, false, &response);
			for (size_t len = 0; len < request.len; len++) {
				(void)unpack_request(chi_buffer_bytes(&request), len,
						     CHI_DECODE_BUDGET);
			}
			for (size_t len = 0; len < response.len; len++) {
				(void)unpack_response(chi_buffer_bytes(&response), len,
						      CHI_DECODE_BUDGET);
			}
		}
	}
}

static void change(struct seed *seed, struct chi_buffer *message)
{
	uint8_t *bytes = message->data + message->start;
	for (size_t n = 1 + seed_below(seed, 4); n > 0; n--) {
		bytes[seed_below(seed, message->len)] = (uint8_t)seed_next(seed);
	}
}

/* Nearly right is worse than random: it gets past the first checks. */
CASE(changed_bytes)
{
	struct seed seed = seed_start("change");
	for (size_t round = 0; round < seed_rounds(2000); round++) {
		for (int op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
			_cleanup_(chi_buffer_deinit) struct chi_buffer request;
			_cleanup_(chi_buffer_deinit) struct chi_buffer response;
			make(&seed, (enum chi_op)op, true, &request);
			make(&seed, (enum chi_op)op, false, &response);
			change(&seed, &request);
			change(&seed, &response);
			(void)unpack_request(chi_buffer_bytes(&request), request.len,
					     CHI_DECODE_BUDGET);
			(void)unpack_response(chi_buffer_bytes(&response), response.len,
					      CHI_DECODE_BUDGET);
		}
	}
}

CASE(random_bytes)
{
	struct seed seed = seed_start("random");
	for (size_t round = 0; round < seed_rounds(60000); round++) {
		uint8_t bytes[64];
		size_t len = seed_below(&seed, sizeof(bytes) + 1);
		for (size_t i = 0; i < len; i++) {
			bytes[i] = (uint8_t)seed_next(&seed);
		}
		(void)unpack_request(bytes, len, CHI_DECODE_BUDGET);
		(void)unpack_response(bytes, len, CHI_DECODE_BUDGET);
	}
}

/* ---- Amplification ----------------------------------------------------------------------- */

/* `count` times the same bytes, inside field `tag` of a message, inside a put. */
static void repeat(struct chi_buffer *out, const char *hex, size_t count)
{
	uint8_t bytes[32];
	size_t len = strlen(hex) / 2;
	assert_true(len <= sizeof(bytes));
	assert_int_equal(chi_hex_parse(hex, 2 * len, bytes), CHI_OK);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(chi_buffer_append(out, bytes, len), CHI_OK);
	}
}

static void head(struct chi_buffer *out, const char *tag, size_t len)
{
	uint8_t bytes[CHI_FRAME_HEAD_MAX];
	repeat(out, tag, 1);
	assert_int_equal(chi_buffer_append(out, bytes, chi_frame_head(len, bytes)), CHI_OK);
}

CASE(empty_entries)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer bytes;
	chi_buffer_init(&bytes, BUDGET);
	size_t n = 520000;
	head(&bytes, "0801aa01", 2 * n);
	repeat(&bytes, "1200", n);
	assert_true(bytes.len <= CHI_FRAME_REQUEST_MAX);
	/* Refused by number, before memory is taken: what is left is the name of the field. */
	assert_int_equal(unpack_request(chi_buffer_bytes(&bytes), bytes.len, 64), -CHI_ETOOBIG);
}

/* They are skipped, and take no memory. */
CASE(unknown_fields)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer bytes;
	chi_buffer_init(&bytes, BUDGET);
	repeat(&bytes, "0801", 1);
	repeat(&bytes, "7800", 520000);
	assert_int_equal(unpack_request(chi_buffer_bytes(&bytes), bytes.len, 64), CHI_OK);
}

/* 2200 entries, each with 64 evaluations of hardly anything: within every count, but not within
 * the memory. */
CASE(many_evaluations)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer bytes;
	chi_buffer_init(&bytes, BUDGET);
	const char *key = "0a0908000000000000082a";
	size_t n = 2200;
	size_t record = CHI_EVALS_MAX * 7;
	size_t entry = 11 + 3 + record;
	head(&bytes, "0801aa01", n * (3 + entry));
	for (size_t i = 0; i < n; i++) {
		head(&bytes, "12", entry);
		repeat(&bytes, key, 1);
		head(&bytes, "22", record);
		for (unsigned engine = 0; engine < CHI_EVALS_MAX; engine++) {
			const uint8_t eval[] = {0x22, 5, 0x0a, 1, (uint8_t)(0x20 + engine),
						0x18, 0};
			assert_int_equal(chi_buffer_append(&bytes, eval, sizeof(eval)), CHI_OK);
		}
	}
	assert_true(bytes.len <= CHI_FRAME_REQUEST_MAX);
	assert_int_equal(unpack_request(chi_buffer_bytes(&bytes), bytes.len, CHI_DECODE_BUDGET),
			 -CHI_ETOOBIG);
	assert_int_equal(unpack_request(chi_buffer_bytes(&bytes), bytes.len, BUDGET), CHI_OK);
}

/* What a Put may hold by its counts and its bytes fits the memory, if it says anything. */
CASE(a_full_put_fits)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer wire;
	struct chi_put_entry *entries = test_calloc(CHI_PUT_MAX, sizeof(*entries));
	struct chi_move_stat moves[5];
	for (size_t i = 0; i < CHI_COUNT(moves); i++) {
		moves[i] = (struct chi_move_stat){(chi_move)(800 + i), {1, 1, 1, 0}};
	}
	for (size_t i = 0; i < CHI_PUT_MAX; i++) {
		entries[i].key = (struct chi_key){9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}};
		entries[i].parts = CHI_PUT_ADD;
		entries[i].record.moves = moves;
		entries[i].record.n_moves = CHI_COUNT(moves);
	}
	const struct chi_put_request asked = {.entries = entries, .n = CHI_PUT_MAX};
	struct chi_request request = {.id = 1, .op = CHI_OP_PUT, .body = &asked};
	chi_buffer_init(&wire, BUDGET);
	assert_int_equal(chi_request_pack(&request, &wire), CHI_OK);
	assert_true(wire.len > 800000 && wire.len < CHI_FRAME_REQUEST_MAX);
	size_t len = 0;
	const uint8_t *body = wire_body(&wire, &len);
	assert_int_equal(unpack_request(body, len, CHI_DECODE_BUDGET / 2), CHI_OK);
	test_free(entries);
}

/* ---- A budget that runs out ----------------------------------------------------------------- */

/* Every budget up to the one that suffices; the last must. */
CASE(every_budget)
{
	struct seed seed = seed_start("budget");
	for (int op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		_cleanup_(chi_buffer_deinit) struct chi_buffer request;
		_cleanup_(chi_buffer_deinit) struct chi_buffer response;
		make(&seed, (enum chi_op)op, true, &request);
		make(&seed, (enum chi_op)op, false, &response);
		size_t budget = 0;
		while (unpack_request(chi_buffer_bytes(&request), request.len, budget) != CHI_OK) {
			budget += 16;
			assert_true(budget < CHI_DECODE_BUDGET);
		}
		budget = 0;
		while (unpack_response(chi_buffer_bytes(&response), response.len, budget) !=
		       CHI_OK) {
			budget += 16;
			assert_true(budget < CHI_DECODE_BUDGET);
		}
	}
}
