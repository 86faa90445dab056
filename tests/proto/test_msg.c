/* SPDX-License-Identifier: MIT */
/* Requests and responses there and back, by this code and by protobuf-c. */
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "proto/operations.h"
#include "proto/rows.h"
#include "tests/base/cases.h"
#include "tests/proto/sample.h"
#include "tests/proto/wire.h"

#define BUDGET ((size_t)64 << 20)

struct bench {
	struct chi_arena read;
	struct chi_buffer made;
	struct chi_buffer wire;
};

static void bench_init(struct bench *b)
{
	chi_arena_init(&b->read, BUDGET);
	chi_buffer_init(&b->made, BUDGET);
	chi_buffer_init(&b->wire, BUDGET);
}

static void bench_reset(struct bench *b)
{
	chi_arena_reset(&b->read);
	chi_buffer_consume(&b->made, b->made.len);
	chi_buffer_consume(&b->wire, b->wire.len);
}

static void bench_deinit(struct bench *b)
{
	chi_arena_deinit(&b->read);
	chi_buffer_deinit(&b->made);
	chi_buffer_deinit(&b->wire);
}

/* protobuf-c reads the bytes and writes the same ones: nothing unknown, out of order, or in a
 * form that it would not choose. */
static void protobuf_agrees(const ProtobufCMessageDescriptor *type, const uint8_t *body, size_t len)
{
	ProtobufCMessage *message = protobuf_c_message_unpack(type, NULL, len, body);
	assert_non_null(message);
	assert_int_equal(protobuf_c_message_get_packed_size(message), len);
	_cleanup_(chi_freep) uint8_t *again = malloc(len);
	assert_non_null(again);
	assert_int_equal(protobuf_c_message_pack(message, again), len);
	assert_memory_equal(again, body, len);
	protobuf_c_message_free_unpacked(message, NULL);
}

/* The bytes read and written again, which tells what was lost or read as something else; they are
 * made by the rows alone. */
static void request_survives(struct bench *b, struct seed *seed, enum chi_op op)
{
	struct chi_request request;
	struct chi_fault fault = {""};
	const char *field = NULL;
	size_t len = 0;
	sample_wire(seed, op, true, &b->made);
	const uint8_t *made = chi_buffer_bytes(&b->made);
	int rc = chi_request_unpack(made, b->made.len, &b->read, &request, &field, &fault);
	if (rc != CHI_OK) {
		fail_msg("%s: %s", chi_op_name(op), fault.text);
	}
	assert_int_equal(request.op, op);
	assert_int_equal(chi_request_pack(&request, &b->wire), CHI_OK);
	const uint8_t *body = wire_body(&b->wire, &len);
	if (len != b->made.len || memcmp(body, made, len) != 0) {
		fail_msg("%s is written as another request", chi_op_name(op));
	}
	protobuf_agrees(&chistore__v1__request__descriptor, made, len);
}

static void response_survives(struct bench *b, struct seed *seed, enum chi_op op)
{
	struct chi_response response;
	struct chi_fault fault = {""};
	size_t len = 0;
	sample_wire(seed, op, false, &b->made);
	const uint8_t *made = chi_buffer_bytes(&b->made);
	int rc = chi_response_unpack(made, b->made.len, &b->read, &response, &fault);
	if (rc != CHI_OK) {
		fail_msg("%s: %s", chi_op_name(op), fault.text);
	}
	size_t size = chi_response_size(&response);
	assert_int_equal(chi_response_pack(&response, &b->wire), CHI_OK);
	/* Exactly the frame and the slack after it. */
	assert_int_equal(size, b->wire.len + CHI_ROWS_SLACK);
	const uint8_t *body = wire_body(&b->wire, &len);
	if (len != b->made.len || memcmp(body, made, len) != 0) {
		fail_msg("%s is written as another response", chi_op_name(op));
	}
	protobuf_agrees(&chistore__v1__response__descriptor, made, len);
}

/* Of every operation, with every field that its messages have. */
CASE(every_message_survives)
{
	struct seed seed = seed_start("messages");
	_cleanup_(bench_deinit) struct bench b;
	bench_init(&b);
	const size_t rounds = seed_rounds(1500);
	for (int op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		for (size_t round = 0; round < rounds; round++) {
			bench_reset(&b);
			request_survives(&b, &seed, (enum chi_op)op);
			bench_reset(&b);
			response_survives(&b, &seed, (enum chi_op)op);
		}
		every_field_was_made(chi_operation_of((enum chi_op)op)->request);
		every_field_was_made(chi_operation_of((enum chi_op)op)->result);
	}
}

/* The code of a packed response, and whether a result came with it. */
static int packed_code(struct bench *b, enum chi_op op, int status, bool *result)
{
	static const _Alignas(max_align_t) uint8_t nothing[1024];
	const struct chi_response response = {.id = 1, .op = op, .status = status, .body = nothing};
	size_t len = 0;
	bench_reset(b);
	assert_int_equal(chi_response_pack(&response, &b->wire), CHI_OK);
	const uint8_t *body = wire_body(&b->wire, &len);
	Chistore__V1__Response *message = chistore__v1__response__unpack(NULL, len, body);
	assert_non_null(message);
	int code = (int)message->code;
	*result = message->result_case != CHISTORE__V1__RESPONSE__RESULT__NOT_SET;
	chistore__v1__response__free_unpacked(message, NULL);
	return code;
}

/* Whatever the struct holds beside the status; but for a verification's totals. */
CASE(failures_have_no_result)
{
	_cleanup_(bench_deinit) struct bench b;
	bench_init(&b);
	for (int op = CHI_OP_UNKNOWN; op < CHI_OP_COUNT_OF_OPS; op++) {
		bool result = true;
		int code = packed_code(&b, (enum chi_op)op, -CHI_EUNSUPPORTED, &result);
		assert_int_equal(code, op == CHI_OP_UNKNOWN ? CHISTORE__V1__CODE__UNKNOWN_OPERATION
							    : CHISTORE__V1__CODE__UNSUPPORTED);
		assert_int_equal(result, op == CHI_OP_VERIFY);
	}
	bool result = false;
	assert_int_equal(packed_code(&b, CHI_OP_GET, CHI_NONE, &result),
			 CHISTORE__V1__CODE__NOT_FOUND);
	assert_true(result);
}

/* What was there stays, in front; what fails leaves no trace. */
CASE(packing_appends)
{
	_cleanup_(bench_deinit) struct bench b;
	bench_init(&b);
	struct chi_request ping = {.id = 5, .op = CHI_OP_PING};
	struct chi_response pong = {.id = 5, .last = true, .op = CHI_OP_PING};
	assert_int_equal(chi_request_pack(&ping, &b.wire), CHI_OK);
	size_t first = b.wire.len;
	assert_int_equal(chi_response_pack(&pong, &b.wire), CHI_OK);
	b.wire.limit = b.wire.len + 3;
	size_t before = b.wire.len;
	assert_int_equal(chi_request_pack(&ping, &b.wire), -CHI_ETOOBIG);
	assert_int_equal(chi_response_pack(&pong, &b.wire), -CHI_ETOOBIG);
	const struct chi_request probe = {
		.id = 5, .op = CHI_OP_PROBE, .body = &(const struct chi_positions){.n = 0}};
	const struct chi_response rows = {
		.id = 5, .op = CHI_OP_PROBE, .body = &(const struct chi_probed){.n = 0}};
	assert_int_equal(chi_request_pack(&probe, &b.wire), -CHI_ETOOBIG);
	assert_int_equal(chi_response_pack(&rows, &b.wire), -CHI_ETOOBIG);
	assert_int_equal(b.wire.len, before);
	assert_true(first > 0 && first < before);
}

/* The limit of a buffer holds to the byte for requests written by hand. */
CASE(request_fits_exactly)
{
	struct seed seed = seed_start("exact");
	_cleanup_(bench_deinit) struct bench b;
	bench_init(&b);
	struct chi_request put;
	sample_request(&seed, &b.read, CHI_OP_PUT, &put);
	assert_int_equal(chi_request_pack(&put, &b.wire), CHI_OK);
	size_t len = b.wire.len;
	_cleanup_(chi_buffer_deinit) struct chi_buffer tight;
	chi_buffer_init(&tight, len);
	assert_int_equal(chi_request_pack(&put, &tight), CHI_OK);
	chi_buffer_consume(&tight, len);
	tight.limit = len - 1;
	assert_int_equal(chi_request_pack(&put, &tight), -CHI_ETOOBIG);
}

/* The limit itself is allowed; a refusal leaves the buffer as it was. */
CASE(response_over_the_limit)
{
	_cleanup_(bench_deinit) struct bench b;
	bench_init(&b);
	/* First with room to spare, to learn what the fields around the data take. */
	uint8_t *data = chi_arena_array(&b.read, CHI_FRAME_RESPONSE_MAX, 1);
	struct chi_whole_part piece = {.data = data, .len = CHI_FRAME_RESPONSE_MAX - 64};
	const struct chi_response response = {.id = 1, .op = CHI_OP_BACKUP, .body = &piece};
	assert_int_equal(chi_response_pack(&response, &b.wire), CHI_OK);
	size_t len = 0;
	(void)wire_body(&b.wire, &len);
	size_t room = CHI_FRAME_RESPONSE_MAX - len;
	chi_buffer_consume(&b.wire, b.wire.len);
	piece.len += room;
	assert_int_equal(chi_response_pack(&response, &b.wire), CHI_OK);
	(void)wire_body(&b.wire, &len);
	assert_int_equal(len, CHI_FRAME_RESPONSE_MAX);
	piece.len++;
	size_t before = b.wire.len;
	assert_int_equal(chi_response_pack(&response, &b.wire), -CHI_ETOOBIG);
	assert_int_equal(b.wire.len, before);
}

/* The same where an answer is written straight to bytes. */
CASE(entries_over_the_limit)
{
	static char note[CHI_NOTE_MAX];
	static struct chi_entry entries[CHI_FRAME_RESPONSE_MAX / CHI_NOTE_MAX];
	_cleanup_(bench_deinit) struct bench b;
	bench_init(&b);
	memset(note, 'n', sizeof(note));
	const struct chi_got got = {entries, CHI_COUNT(entries)};
	const struct chi_response response = {.id = 1, .op = CHI_OP_GET, .body = &got};
	for (size_t i = 0; i < CHI_COUNT(entries); i++) {
		entries[i] = (struct chi_entry){.key = {9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}},
						.found = true};
		entries[i].record.note = note;
		entries[i].record.n_note = i == 0 ? CHI_NOTE_MAX / 2 : CHI_NOTE_MAX;
	}
	size_t len = 0;
	assert_int_equal(chi_response_pack(&response, &b.wire), CHI_OK);
	(void)wire_body(&b.wire, &len);
	const size_t room = CHI_FRAME_RESPONSE_MAX - len;
	for (size_t more = room - 1; more <= room + 1; more++) {
		entries[0].record.n_note = CHI_NOTE_MAX / 2 + more;
		chi_buffer_consume(&b.wire, b.wire.len);
		assert_int_equal(chi_response_pack(&response, &b.wire),
				 more <= room ? CHI_OK : -CHI_ETOOBIG);
		if (more <= room) {
			(void)wire_body(&b.wire, &len);
		}
		assert_int_equal(len, CHI_FRAME_RESPONSE_MAX - (more < room ? 1 : 0));
	}
}

/* The sum of chi_entry_size is never less than what the entries add to a response. */
CASE(entry_size_is_an_upper_bound)
{
	struct seed seed = seed_start("entries");
	_cleanup_(bench_deinit) struct bench b;
	bench_init(&b);
	for (size_t round = seed_rounds(500); round > 0; round--) {
		bench_reset(&b);
		struct chi_response response;
		sample_response(&seed, &b.read, CHI_OP_GET, &response);
		if (response.op != CHI_OP_GET) {
			continue;
		}
		response.id = 1;
		response.n_unknown = 0;
		response.message.len = response.field.len = 0;
		const struct chi_got *got = response.body;
		size_t bound = 0;
		for (size_t i = 0; i < got->n; i++) {
			bound += chi_entry_size(&got->entries[i]);
		}
		assert_int_equal(chi_response_pack(&response, &b.wire), CHI_OK);
		assert_true(b.wire.len >= bound && b.wire.len <= bound + 16);
	}
}
