/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out once, at each place where a message's way to bytes or from them asks for some:
 * every operation, request and response, each direction by itself. What fails is every malloc and
 * every allocation from the arena, of which one block of memory serves many. The call says that
 * there is no memory, leaves what it appends to as it was, leaks nothing, and does it when asked
 * again.
 */
#include <string.h>

#include "tests/base/cases.h"
#include "tests/base/nomem.h"
#include "tests/proto/sample.h"
#include "tests/proto/wire.h"

/* The linker sends the calls of the code under test here. */
void *__real_chi_arena_alloc(struct chi_arena *arena, size_t size);
void *__real_chi_arena_array(struct chi_arena *arena, size_t count, size_t size);
char *__real_chi_arena_text(struct chi_arena *arena, const void *bytes, size_t len);
void *__wrap_chi_arena_alloc(struct chi_arena *arena, size_t size);
void *__wrap_chi_arena_array(struct chi_arena *arena, size_t count, size_t size);
char *__wrap_chi_arena_text(struct chi_arena *arena, const void *bytes, size_t len);

void *__wrap_chi_arena_alloc(struct chi_arena *arena, size_t size)
{
	return nomem_fails() ? NULL : __real_chi_arena_alloc(arena, size);
}

void *__wrap_chi_arena_array(struct chi_arena *arena, size_t count, size_t size)
{
	return nomem_fails() ? NULL : __real_chi_arena_array(arena, count, size);
}

char *__wrap_chi_arena_text(struct chi_arena *arena, const void *bytes, size_t len)
{
	return nomem_fails() ? NULL : __real_chi_arena_text(arena, bytes, len);
}

/* A request and a response, as structs and as the bytes of frames. */
struct message {
	struct chi_arena arena; /* of the structs */
	struct chi_request request;
	struct chi_response response;
	struct chi_buffer request_wire;
	struct chi_buffer response_wire;
};

/* What a call has to work with. */
struct scratch {
	struct chi_arena arena;
	struct chi_buffer out;
	struct chi_request request;
	struct chi_response response;
};

static void message_init(struct message *message, struct seed *seed, enum chi_op op)
{
	chi_arena_init(&message->arena, WIRE_LIMIT);
	chi_buffer_init(&message->request_wire, WIRE_LIMIT);
	chi_buffer_init(&message->response_wire, WIRE_LIMIT);
	sample_request(seed, &message->arena, op, &message->request);
	sample_response(seed, &message->arena, op, &message->response);
	assert_int_equal(chi_request_pack(&message->request, &message->request_wire), CHI_OK);
	assert_int_equal(chi_response_pack(&message->response, &message->response_wire), CHI_OK);
}

static void message_deinit(struct message *message)
{
	chi_buffer_deinit(&message->request_wire);
	chi_buffer_deinit(&message->response_wire);
	chi_arena_deinit(&message->arena);
}

/* ---- What is tried -------------------------------------------------------------------------- */

static int pack_request(const struct message *message, struct scratch *scratch)
{
	return chi_request_pack(&message->request, &scratch->out);
}

static int pack_response(const struct message *message, struct scratch *scratch)
{
	return chi_response_pack(&message->response, &scratch->out);
}

static int unpack_request(const struct message *message, struct scratch *scratch)
{
	struct chi_request *again = &scratch->request;
	struct chi_fault fault = {""};
	const char *field = NULL;
	size_t len = 0;
	const uint8_t *body = wire_body(&message->request_wire, &len);
	int status = chi_request_unpack(body, len, &scratch->arena, again, &field, &fault);
	assert_non_null(field);
	assert_int_equal(status != CHI_OK, fault.text[0] != '\0');
	/* The answer to the failure needs them. */
	assert_int_equal(again->id, message->request.id);
	assert_int_equal(again->op, message->request.op);
	return status;
}

static int unpack_response(const struct message *message, struct scratch *scratch)
{
	struct chi_fault fault = {""};
	size_t len = 0;
	const uint8_t *body = wire_body(&message->response_wire, &len);
	return chi_response_unpack(body, len, &scratch->arena, &scratch->response, &fault);
}

/* What was read is what the bytes say: packed again it gives them. */
static void request_is_whole(const struct message *message, struct scratch *scratch)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer again;
	chi_buffer_init(&again, WIRE_LIMIT);
	assert_int_equal(chi_request_pack(&scratch->request, &again), CHI_OK);
	assert_int_equal(again.len, message->request_wire.len);
	assert_memory_equal(chi_buffer_bytes(&again), chi_buffer_bytes(&message->request_wire),
			    again.len);
}

static void response_is_whole(const struct message *message, struct scratch *scratch)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer again;
	chi_buffer_init(&again, WIRE_LIMIT);
	assert_int_equal(chi_response_pack(&scratch->response, &again), CHI_OK);
	assert_int_equal(again.len, message->response_wire.len);
	assert_memory_equal(chi_buffer_bytes(&again), chi_buffer_bytes(&message->response_wire),
			    again.len);
}

struct way {
	const char *name;
	int (*run)(const struct message *message, struct scratch *scratch);
	void (*check)(const struct message *message, struct scratch *scratch);
};

static const struct way ways[] = {
	{"pack the request", pack_request, NULL},
	{"unpack the request", unpack_request, request_is_whole},
	{"pack the response", pack_response, NULL},
	{"unpack the response", unpack_response, response_is_whole},
};

/* ---- How ------------------------------------------------------------------------------------ */

/* With the n-th allocation failing, and again with none. True if there was an n-th. */
static bool fail_one(const struct way *way, const struct message *message, size_t n)
{
	static const uint8_t before[] = "other frames";
	struct scratch scratch;
	bool did = false;
	long live = nomem_live();
	chi_arena_init(&scratch.arena, WIRE_LIMIT);
	chi_buffer_init(&scratch.out, WIRE_LIMIT);
	/* No room is left behind them, so that the buffer must grow. */
	do {
		assert_int_equal(chi_buffer_append(&scratch.out, before, 1), CHI_OK);
	} while (scratch.out.len < scratch.out.capacity);
	size_t len = scratch.out.len;
	nomem_arm(n);
	int status = way->run(message, &scratch);
	(void)nomem_disarm(&did);
	if (status != (did ? -CHI_ENOMEM : CHI_OK)) {
		fail_msg("%s, operation %d, allocation %zu: status %d", way->name,
			 (int)message->request.op, n, status);
	}
	if (did) {
		assert_int_equal(scratch.out.len, len);
		chi_arena_reset(&scratch.arena);
		assert_int_equal(way->run(message, &scratch), CHI_OK);
	}
	if (way->check != NULL) {
		way->check(message, &scratch);
	}
	chi_buffer_deinit(&scratch.out);
	chi_arena_deinit(&scratch.arena);
	assert_int_equal(nomem_live(), live);
	return did;
}

/* Messages of each operation, where there is time. */
#define ROUNDS 50

static bool has_zero(const size_t *most, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (most[i] == 0) {
			return true;
		}
	}
	return false;
}

CASE(every_allocation)
{
	struct seed seed = seed_start("nomem");
	size_t rounds = seed_rounds(ROUNDS);
	size_t failed = 0;
	for (int op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		size_t most[CHI_COUNT(ways)] = {0};
		/* Few of some messages lead to memory of their own. */
		for (size_t round = 0;
		     round < rounds || (round < ROUNDS && has_zero(most, CHI_COUNT(ways)));
		     round++) {
			struct message message;
			message_init(&message, &seed, (enum chi_op)op);
			for (size_t i = 0; i < CHI_COUNT(ways); i++) {
				size_t n = 0;
				while (fail_one(&ways[i], &message, n + 1)) {
					n++;
				}
				failed += n;
				most[i] = n > most[i] ? n : most[i];
			}
			message_deinit(&message);
		}
		/* None does without: otherwise nothing has failed. */
		for (size_t i = 0; i < CHI_COUNT(ways); i++) {
			if (most[i] == 0) {
				fail_msg("%s, operation %d: no allocation", ways[i].name, op);
			}
		}
	}
	print_message("# figures: messages: %zu allocations failed\n", failed);
}
