/* SPDX-License-Identifier: MIT */
/* Limits that are not of single fields (test_every_limit.c): of several together, of what functions
 * read, of what the fields mean. */
#include <stdio.h>
#include <string.h>

#include "proto/pbc.h"
#include "tests/base/cases.h"
#include "tests/proto/wire.h"

/* Packs and unpacks; the status, and the field in `field_out`. */
static int round_trip(const struct chi_request *request, char field_out[128])
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_request again;
	const char *field = NULL;
	chi_arena_init(&arena, WIRE_LIMIT);
	int rc = wire_request(request, &arena, &again, &field);
	snprintf(field_out, 128, "%s", field);
	return rc;
}

static void accepted(const struct chi_request *request)
{
	char field[128];
	assert_int_equal(round_trip(request, field), CHI_OK);
	assert_string_equal(field, "");
}

static void refused(const struct chi_request *request, int status, const char *expected)
{
	char field[128];
	assert_int_equal(round_trip(request, field), status);
	assert_string_equal(field, expected);
}

/* A request for `n` positions, the last `n_fens` of them as FENs. */
static struct chi_request positions(enum chi_op op, size_t n, size_t n_fens)
{
	static struct chi_key keys[CHI_PUT_MAX + 1];
	static struct chi_text fens[CHI_PUT_MAX + 1];
	for (size_t i = 0; i < CHI_COUNT(keys); i++) {
		keys[i] = (struct chi_key){9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}};
		fens[i] = (struct chi_text){"8/8 w", 5};
	}
	/* It begins with what is the whole of the others. */
	static struct chi_delete_request asked;
	asked.positions = (struct chi_positions){keys, n, fens, n_fens};
	return (struct chi_request){.id = 1, .op = op, .body = &asked};
}

/* Keys and FENs count together. */
CASE(numbers_of_positions)
{
	static const struct {
		enum chi_op op;
		size_t max;
	} ops[] = {
		{CHI_OP_PROBE, CHI_PROBE_MAX},
		{CHI_OP_GET, CHI_PROBE_MAX},
		{CHI_OP_DELETE, CHI_PUT_MAX},
	};
	for (size_t i = 0; i < CHI_COUNT(ops); i++) {
		size_t max = ops[i].max;
		/* As keys, as FENs, and mixed. */
		size_t fens[] = {0, max, 1};
		for (size_t k = 0; k < CHI_COUNT(fens); k++) {
			struct chi_request request = positions(ops[i].op, max, fens[k]);
			accepted(&request);
		}
		char field[128];
		struct chi_request request = positions(ops[i].op, max + 1, 0);
		assert_int_equal(round_trip(&request, field), -CHI_ETOOBIG);
		request = positions(ops[i].op, max + 1, max + 1);
		assert_int_equal(round_trip(&request, field), -CHI_ETOOBIG);
		request = positions(ops[i].op, max + 1, 1);
		assert_int_equal(round_trip(&request, field), -CHI_ETOOBIG);
	}
}

/* One entry, whose record has so much of everything. */
static struct chi_request one_entry(const struct chi_record *record)
{
	static struct chi_put_entry entry;
	entry = (struct chi_put_entry){
		.key = {9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}},
		.parts = CHI_PUT_RESTORE,
		.record = *record,
	};
	static const struct chi_put_request asked = {.entries = &entry, .n = 1};
	return (struct chi_request){.id = 1, .op = CHI_OP_PUT, .body = &asked};
}

/* Each ply once: as many as there can be. */
CASE(plies)
{
	static struct chi_ply_stat stats[CHI_PLY_MAX + 2];
	for (size_t i = 0; i < CHI_COUNT(stats); i++) {
		stats[i] = (struct chi_ply_stat){(uint16_t)i, 1};
	}
	struct chi_record record = {
		.counts.white = UINT64_MAX, .plies = stats, .n_plies = CHI_PLY_MAX};
	struct chi_request request = one_entry(&record);
	accepted(&request);
	record.n_plies++;
	request = one_entry(&record);
	accepted(&request);
	record.n_plies++;
	request = one_entry(&record);
	refused(&request, -CHI_ETOOBIG, "put.entries[0].record.plies[4097]");
	record.plies = stats + CHI_PLY_MAX + 1;
	record.n_plies = 1;
	request = one_entry(&record);
	refused(&request, -CHI_EINVAL, "put.entries[0].record.plies[0].ply");
}

CASE(results_of_games)
{
	struct chi_game_id games[3] = {{.result = 0}};
	const struct chi_put_request asked = {.games = games, .n_games = 3};
	struct chi_request request = {.id = 1, .op = CHI_OP_PUT, .body = &asked};
	games[2].result = CHI_RESULT_OTHER;
	accepted(&request);
	games[2].result++;
	refused(&request, -CHI_EINVAL, "put.games[2]");
}

/* Packs and unpacks an answer, and says how that went. */
static int answer_round_trip(const struct chi_response *response, struct chi_response *again)
{
	static struct chi_arena arena; /* of the last one's result */
	_cleanup_(chi_buffer_deinit) struct chi_buffer wire;
	struct chi_fault fault = {""};
	size_t len = 0;
	chi_arena_deinit(&arena);
	chi_arena_init(&arena, WIRE_LIMIT);
	chi_buffer_init(&wire, WIRE_LIMIT);
	assert_int_equal(chi_response_pack(response, &wire), CHI_OK);
	const uint8_t *body = wire_body(&wire, &len);
	return chi_response_unpack(body, len, &arena, again, &fault);
}

/* Of positions that are stored, within the bounds of a score; no score without an evaluation, and
 * no best move from nowhere. */
CASE(evaluations_of_an_exploration)
{
	static const struct {
		struct chi_row child;
		bool good;
	} table[] = {
		{{.found = true}, true},
		{{.found = true, .has_eval = true}, true},
		{{.found = true, .has_eval = true, .depth = UINT16_MAX, .score = -CHI_SCORE_MAX},
		 true},
		{{.found = true, .has_eval = true, .score = CHI_SCORE_MAX}, true},
		{{.found = true, .has_eval = true, .score = CHI_SCORE_MAX + 1}, false},
		{{.found = true, .has_eval = true, .score = -CHI_SCORE_MAX - 1}, false},
		{{.found = true, .has_eval = true, .is_mate = true, .score = -CHI_MATE_MAX}, true},
		{{.found = true, .has_eval = true, .is_mate = true, .score = CHI_MATE_MAX + 1},
		 false},
		{{.found = true, .is_mate = true}, false},
		{{.found = true, .score = 1}, false},
		{{.found = true, .depth = 1}, false},
		{{.found = false, .has_eval = true}, false},
		{{.found = true, .best = 796, .best_source = CHI_BEST_PLAYED}, true},
		{{.found = true, .best = 796, .best_source = CHI_BEST_PLAYED + 1}, false},
		{{.found = true, .best = 796, .best_source = CHI_BEST_EVAL}, false},
		{{.found = true, .best = 796}, false},
		{{.found = true, .best_source = CHI_BEST_LINE}, false},
		{{.found = false, .best = 796, .best_source = CHI_BEST_LINE}, false},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_explore_move move = {.move = 796, .child = table[i].child};
		struct chi_response response = {.id = 1, .last = true, .op = CHI_OP_EXPLORE};
		struct chi_response again;
		move.child.key = (struct chi_key){9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}};
		const struct chi_explored explore = {
			.position.key = move.child.key, .moves = &move, .n_moves = 1};
		response.body = &explore;
		int status = answer_round_trip(&response, &again);
		if ((status == CHI_OK) != table[i].good) {
			fail_msg("row %zu: %s", i, chi_strerror(status));
		}
	}
}

/* No answer has more packed rows than may be asked for at a time. */
CASE(rows_of_a_response)
{
	static struct chi_row rows[CHI_SCAN_ROWS_MAX + 1];
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		rows[i].key = (struct chi_key){9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}};
		rows[i].found = true;
	}
	for (int over = -1; over <= 1; over++) {
		const size_t few = (size_t)(CHI_PROBE_MAX + over);
		const size_t many = (size_t)(CHI_SCAN_ROWS_MAX + over);
		const int wanted = over > 0 ? -CHI_EPROTO : CHI_OK;
		struct chi_response again;
		const struct chi_probed probed = {.rows = rows, .n = few};
		struct chi_response response = {
			.id = 1, .last = true, .op = CHI_OP_PROBE, .body = &probed};
		assert_int_equal(answer_round_trip(&response, &again), wanted);
		assert_true(over > 0 || ((const struct chi_probed *)again.body)->n == few);
		response = (struct chi_response){.id = 1, .last = true, .op = CHI_OP_SCAN};
		const struct chi_scan_page page = {.rows = rows, .n = many};
		response.body = &page;
		assert_int_equal(answer_round_trip(&response, &again), wanted);
		assert_true(over > 0 || ((const struct chi_scan_page *)again.body)->n == many);
	}
}

/* A data field may be all that the frame leaves it; the frame's limit is the server's to hold. */
CASE(data_of_a_frame)
{
	uint8_t *bytes = test_calloc(CHI_FRAME_REQUEST_MAX, 1);
	struct chi_request request = {.id = 1, .op = CHI_OP_IMPORT_DATA};
	request.u.import_data.bytes = bytes;
	request.u.import_data.len = CHI_FRAME_REQUEST_MAX - 300;
	accepted(&request);
	test_free(bytes);
}

/* What is in all requests or answers, whatever the operation. */
CASE(around_an_operation)
{
	static const char letters[] =
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	static struct chi_text unknown[CHI_UNKNOWN_MAX + 1];
	struct chi_request request = {.id = 1, .op = CHI_OP_PING};
	request.store = (struct chi_text){letters, CHI_STORE_NAME_MAX};
	request.window = CHI_WINDOW_MAX;
	accepted(&request);
	request.store.len++;
	refused(&request, -CHI_ETOOBIG, "store");
	request.store.len = 0;
	request.window++;
	refused(&request, -CHI_EINVAL, "window");
	for (size_t n = CHI_UNKNOWN_MAX - 1; n <= CHI_UNKNOWN_MAX + 1; n++) {
		struct chi_response response = {.id = 1, .unknown = unknown, .n_unknown = n};
		struct chi_response again;
		assert_int_equal(answer_round_trip(&response, &again),
				 n <= CHI_UNKNOWN_MAX ? CHI_OK : -CHI_EPROTO);
	}
}

/* The messages on the way to `type`, the innermost first. */
struct way {
	const struct way *outer;
	const ProtobufCMessageDescriptor *type;
};

static void check_way(const ProtobufCMessageDescriptor *type, const struct way *outer)
{
	for (const struct way *way = outer; way != NULL; way = way->outer) {
		assert_ptr_not_equal(way->type, type);
	}
	struct way way = {.outer = outer, .type = type};
	for (unsigned i = 0; i < type->n_fields; i++) {
		if (type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE) {
			check_way(type->fields[i].descriptor, &way);
		}
	}
}

/* What unpacks it needs a stack as deep as they are nested, no matter who sends them. */
CASE(no_message_contains_itself)
{
	check_way(&chistore__v1__request__descriptor, NULL);
	check_way(&chistore__v1__response__descriptor, NULL);
}

/* Numbers that would fit their type and still mean nothing. */
CASE(numbers_of_a_scan)
{
	struct chi_scan_request scan = {.material = NULL};
	struct chi_request request = {.id = 1, .op = CHI_OP_SCAN, .body = &scan};
	struct chi_scan_spec *spec = &scan.spec;
	spec->chi2_min = spec->chi2_max = CHI_CHI2_MAX;
	spec->filter.pieces_min = spec->filter.pieces_max = 32;
	request.window = CHI_WINDOW_MAX;
	accepted(&request);
	request.window++;
	refused(&request, -CHI_EINVAL, "window");
	request.window = 0;
	spec->filter.pieces_max++;
	refused(&request, -CHI_EINVAL, "scan.filter.pieces_max");
	spec->filter.pieces_max = 0;
	spec->chi2_max++;
	refused(&request, -CHI_EINVAL, "scan.chi2_max");
	spec->chi2_max -= 2;
	refused(&request, -CHI_EINVAL, "scan.chi2_min");
	struct chi_request credit = {.id = 1, .op = CHI_OP_CREDIT};
	credit.u.credit.responses = UINT32_MAX;
	accepted(&credit);
}

/* The mark of a write: who, which, and the lowest that may come again. */
CASE(mark_of_a_write)
{
	struct chi_request request = positions(CHI_OP_DELETE, 1, 0);
	request.idempotency_key.sequence = request.idempotency_key.unanswered = 1;
	accepted(&request);
	request.idempotency_key.unanswered = 2;
	refused(&request, -CHI_EINVAL, "idempotency_key.unanswered");
	request.idempotency_key.sequence = UINT64_MAX;
	request.idempotency_key.unanswered = UINT64_MAX;
	accepted(&request);
	request.op = CHI_OP_OUTCOME;
	accepted(&request);
	request.op = CHI_OP_IMPORT_END;
	accepted(&request);
	/* What changes nothing, or not yet, or may be repeated. */
	request.op = CHI_OP_RESCORE;
	request.body = &(const struct chi_rescore_request){NULL};
	refused(&request, -CHI_EINVAL, "idempotency_key");
	request.op = CHI_OP_COMPACT;
	refused(&request, -CHI_EINVAL, "idempotency_key");
	request.op = CHI_OP_IMPORT;
	memset(&request.u, 0, sizeof(request.u));
	request.u.import.kind = CHI_IMPORT_ADD;
	refused(&request, -CHI_EINVAL, "idempotency_key");
	request.op = CHI_OP_PING;
	refused(&request, -CHI_EINVAL, "idempotency_key");
	request.op = CHI_OP_VERIFY;
	refused(&request, -CHI_EINVAL, "idempotency_key");
}

/* Of the bytes of a marked Ping, Delete and so on: an identity of another length, and none. */
CASE(identity_of_a_client)
{
	uint8_t bytes[] = {0x08, 0x01, 0x1a, 20, 0x0a, 16, 1,  2,  3,	 4, 5,	  6,	7,   8,
			   9,	 10,   11,   12, 13,   14, 15, 16, 0x18, 3, 0xb2, 0x01, 0x00};
	const char *field = NULL;
	struct chi_request request;
	struct chi_fault fault;
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, WIRE_LIMIT);
	assert_int_equal(chi_request_unpack(bytes, sizeof(bytes), &arena, &request, &field, &fault),
			 CHI_OK);
	assert_int_equal(request.idempotency_key.sequence, 3);
	/* Left out, it is the write itself that is the lowest. */
	assert_int_equal(request.idempotency_key.unanswered, 3);
	assert_int_equal(request.idempotency_key.client[15], 16);
	/* The last byte becomes a field of its own, of a later version. */
	bytes[5] = 14;
	bytes[20] = 0x20;
	bytes[21] = 0;
	assert_int_equal(chi_request_unpack(bytes, sizeof(bytes), &arena, &request, &field, &fault),
			 -CHI_EINVAL);
	assert_string_equal(field, "idempotency_key.client");
	/* No number. */
	bytes[5] = 16;
	bytes[20] = 15;
	bytes[21] = 16;
	bytes[23] = 0;
	assert_int_equal(chi_request_unpack(bytes, sizeof(bytes), &arena, &request, &field, &fault),
			 -CHI_EINVAL);
	assert_string_equal(field, "idempotency_key.sequence");
}

/* The store that a mark is for is named whole or not at all. */
CASE(store_of_a_mark)
{
	uint8_t bytes[] = {0x08, 0x01, 0x1a, 24, 0x0a, 16, 1,	 2,    3,   4,	5,
			   6,	 7,    8,    9,	 10,   11, 12,	 13,   14,  15, 16,
			   0x18, 3,    0x2a, 2,	 1,    2,  0xb2, 0x01, 0x00};
	const char *field = NULL;
	struct chi_request request;
	struct chi_fault fault;
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, WIRE_LIMIT);
	assert_int_equal(chi_request_unpack(bytes, sizeof(bytes), &arena, &request, &field, &fault),
			 -CHI_EINVAL);
	assert_string_equal(field, "idempotency_key.store");
	/* An empty one is none; the two bytes become a field of a later version. */
	bytes[25] = 0;
	bytes[26] = 0x30;
	assert_int_equal(chi_request_unpack(bytes, sizeof(bytes), &arena, &request, &field, &fault),
			 CHI_OK);
	assert_int_equal(request.idempotency_key.store[0], 0);
}
