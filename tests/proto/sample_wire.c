/* SPDX-License-Identifier: MIT */
/* What is around the contents of every operation alike; and messages as structs. */
#include "tests/base/cases.h"
#include "tests/proto/sample.h"

#include <string.h>

#include "proto/operations.h"
#include "proto/rows.h"
#include "tests/proto/wire.h"

static void put_mark(struct seed *seed, struct chi_buffer *out)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer mark;
	_cleanup_(chi_buffer_deinit) struct chi_buffer client;
	uint64_t sequence = 1 + sample_number(seed, UINT64_MAX - 1);
	uint64_t since = sample_number(seed, UINT64_MAX);
	chi_buffer_init(&mark, WIRE_LIMIT);
	chi_buffer_init(&client, WIRE_LIMIT);
	sample_random(seed, CHI_IDEMPOTENCY_CLIENT, &client);
	wire_nested(&mark, 1, &client);
	if (since > 0) {
		wire_number(&mark, 2, since);
	}
	wire_number(&mark, 3, sequence);
	wire_number(&mark, 4, 1 + sample_number(seed, sequence - 1));
	if (seed_below(seed, 2) == 0) {
		chi_buffer_consume(&client, client.len);
		sample_random(seed, CHI_IDEMPOTENCY_STORE, &client);
		wire_nested(&mark, 5, &client);
	}
	wire_nested(out, 3, &mark);
}

static void put_around_request(struct seed *seed, enum chi_op op, struct chi_buffer *out)
{
	wire_number(out, 1, 1 + sample_number(seed, UINT64_MAX - 1));
	if (seed_below(seed, 2) == 0) {
		wire_bytes(out, 2, "my_store.2-b", 12);
	}
	if (chi_operation_of(op)->marked && seed_below(seed, 2) == 0) {
		put_mark(seed, out);
	}
	if (seed_below(seed, 2) == 0) {
		wire_number(out, 4, 1 + seed_below(seed, CHI_WINDOW_MAX));
	}
}

static void put_some_text(struct seed *seed, uint32_t field, struct chi_buffer *out)
{
	char text[SAMPLE_TEXT_MAX];
	size_t len = sample_text(seed, SAMPLE_TEXT_MAX, text);
	if (len > 0) {
		wire_bytes(out, field, text, len);
	}
}

/* Whether an operation is not known or makes no sense is told by the result beside the code. */
static uint64_t any_code(struct seed *seed, bool has_result)
{
	const ProtobufCEnumDescriptor *codes = &chistore__v1__code__descriptor;
	uint64_t code = (uint64_t)codes->values[seed_below(seed, codes->n_values)].value;
	uint64_t never = has_result ? CHISTORE__V1__CODE__UNKNOWN_OPERATION
				    : CHISTORE__V1__CODE__UNSUPPORTED;
	return code == never ? CHISTORE__V1__CODE__BUSY : code;
}

/* True if a result comes with the code. */
static bool put_around_response(struct seed *seed, enum chi_op op, struct chi_buffer *out)
{
	bool has_result = chi_operation_of(op)->result != NULL && seed_below(seed, 8) != 0;
	uint64_t code = has_result && op != CHI_OP_VERIFY ? seed_below(seed, 2)
							  : any_code(seed, has_result);
	/* One without id, text and end would be an empty message. */
	wire_number(out, 1, 1 + sample_number(seed, UINT64_MAX - 1));
	if (code != 0) {
		wire_number(out, 2, code);
	}
	put_some_text(seed, 3, out);
	put_some_text(seed, 4, out);
	if (seed_below(seed, 2) == 0) {
		wire_number(out, 5, 1);
	}
	for (size_t n = seed_below(seed, 3); n > 0; n--) {
		char text[SAMPLE_TEXT_MAX];
		wire_bytes(out, 6, text, sample_text(seed, SAMPLE_TEXT_MAX, text));
	}
	return has_result;
}

void sample_wire(struct seed *seed, enum chi_op op, bool is_request, struct chi_buffer *out)
{
	const struct chi_operation *operation = chi_operation_of(op);
	_cleanup_(chi_buffer_deinit) struct chi_buffer contents;
	chi_buffer_init(&contents, WIRE_LIMIT);
	if (is_request) {
		put_around_request(seed, op, out);
	} else if (!put_around_response(seed, op, out)) {
		return;
	}
	sample_bytes(seed, is_request ? operation->request : operation->result, &contents);
	wire_nested(out, CHI_OP_FIELD(op), &contents);
}

/* Parts of what is read may point into the bytes. */
static const uint8_t *wire_in(struct seed *seed, struct chi_arena *arena, enum chi_op op,
			      bool is_request, size_t *len)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer wire;
	chi_buffer_init(&wire, WIRE_LIMIT);
	sample_wire(seed, op, is_request, &wire);
	*len = wire.len;
	return (const uint8_t *)chi_arena_text(arena, chi_buffer_bytes(&wire), wire.len);
}

void sample_request(struct seed *seed, struct chi_arena *arena, enum chi_op op,
		    struct chi_request *out)
{
	struct chi_fault fault;
	const char *field = NULL;
	size_t len = 0;
	const uint8_t *bytes = wire_in(seed, arena, op, true, &len);
	assert_int_equal(chi_request_unpack(bytes, len, arena, out, &field, &fault), CHI_OK);
}

void sample_response(struct seed *seed, struct chi_arena *arena, enum chi_op op,
		     struct chi_response *out)
{
	struct chi_fault fault;
	size_t len = 0;
	const uint8_t *bytes = wire_in(seed, arena, op, false, &len);
	assert_int_equal(chi_response_unpack(bytes, len, arena, out, &fault), CHI_OK);
}

void sample_message(struct seed *seed, struct chi_arena *arena, const struct chi_message *type,
		    void *out)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer contents;
	struct chi_flaw flaw = {.reason = ""};
	struct chi_unpacker u = {.arena = arena, .flaw = &flaw, .enums = CHI_ENUMS_CLOSED};
	chi_buffer_init(&contents, WIRE_LIMIT);
	sample_bytes(seed, type, &contents);
	const char *bytes = chi_arena_text(arena, chi_buffer_bytes(&contents), contents.len);
	assert_int_equal(chi_message_read(&u, type, (const uint8_t *)bytes, contents.len, out),
			 CHI_OK);
}

bool same_message(const struct chi_message *type, const void *a, const void *b)
{
	size_t noted[2] = {0};
	size_t len = chi_message_len(type, a, &noted[0]);
	if (chi_message_len(type, b, &noted[1]) != len) {
		return false;
	}
	uint8_t *x = test_malloc(len + CHI_ROWS_SLACK);
	uint8_t *y = test_malloc(len + CHI_ROWS_SLACK);
	(void)chi_message_put(x, type, a, noted[0]);
	(void)chi_message_put(y, type, b, noted[1]);
	bool same = memcmp(x, y, len) == 0;
	test_free(x);
	test_free(y);
	return same;
}
