/* SPDX-License-Identifier: MIT */
/* Every limit of a request at n and at n + 1: accepted, and refused by the name of its field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/pbc.h"
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
	struct chi_request request = {.id = 1, .op = op};
	struct chi_positions all = {.keys = keys, .n = n, .fens = fens, .n_fens = n_fens};
	if (op == CHI_OP_DELETE) {
		request.u.del.positions = all;
	} else {
		request.u.positions = all;
	}
	return request;
}

/* Keys and FENs count together. */
static void numbers_of_positions(void **state)
{
	(void)state;
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

static void number_of_entries(void **state)
{
	(void)state;
	struct chi_put *entries = test_calloc(CHI_PUT_MAX + 1, sizeof(*entries));
	for (size_t i = 0; i <= CHI_PUT_MAX; i++) {
		entries[i].key = (struct chi_key){9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}};
	}
	struct chi_request request = {.id = 1, .op = CHI_OP_PUT};
	request.u.put.entries = entries;
	request.u.put.n = CHI_PUT_MAX;
	accepted(&request);
	request.u.put.n++;
	refused(&request, -CHI_ETOOBIG, "put.entries[10000]");
	test_free(entries);
}

/* One entry, whose record has so much of everything. */
static struct chi_request one_entry(const struct chi_record *record)
{
	static struct chi_put entry;
	entry = (struct chi_put){
		.key = {9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}},
		.parts = CHI_PUT_RESTORE,
		.record = *record,
	};
	struct chi_request request = {.id = 1, .op = CHI_OP_PUT};
	request.u.put.entries = &entry;
	request.u.put.n = 1;
	return request;
}

/* Those of types.h: the store relies on them. */
static void parts_of_a_record(void **state)
{
	(void)state;
	static struct chi_move_stat stats[CHI_MOVES_MAX + 1];
	static chi_move line[CHI_LINE_MAX + 1];
	static char note[CHI_NOTE_MAX + 1];
	for (size_t i = 0; i < CHI_COUNT(stats); i++) {
		stats[i].move = (chi_move)((8 + i / 8) << 6 | i % 8);
	}
	for (size_t i = 0; i < CHI_COUNT(line); i++) {
		line[i] = 796;
	}
	memset(note, 'n', sizeof(note));
	struct chi_record record = {
		.moves = stats,
		.n_moves = CHI_MOVES_MAX,
		.line = line,
		.n_line = CHI_LINE_MAX,
		.note = note,
		.n_note = CHI_NOTE_MAX,
	};
	struct chi_request request = one_entry(&record);
	accepted(&request);
	struct chi_record more = record;
	more.n_moves++;
	request = one_entry(&more);
	refused(&request, -CHI_ETOOBIG, "put.entries[0].record.moves[256]");
	more = record;
	more.n_line++;
	request = one_entry(&more);
	refused(&request, -CHI_ETOOBIG, "put.entries[0].record.line[0]");
	more = record;
	more.n_note++;
	request = one_entry(&more);
	refused(&request, -CHI_ETOOBIG, "put.entries[0].record.note");
}

/* Each ply once: as many as there can be. */
static void plies(void **state)
{
	(void)state;
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

static void games_of_a_put(void **state)
{
	(void)state;
	struct chi_game_id *games = test_calloc(CHI_PUT_GAME_IDS_MAX + 1, sizeof(*games));
	struct chi_request request = {.id = 1, .op = CHI_OP_PUT};
	request.u.put.games = games;
	for (size_t n = CHI_PUT_GAME_IDS_MAX - 1; n <= CHI_PUT_GAME_IDS_MAX; n++) {
		request.u.put.n_games = n;
		accepted(&request);
	}
	request.u.put.n_games++;
	refused(&request, -CHI_ETOOBIG, "put.games");
	request.u.put.n_games = 3;
	games[2].result = CHI_RESULT_OTHER;
	accepted(&request);
	games[2].result++;
	refused(&request, -CHI_EINVAL, "put.games[2]");
	test_free(games);
}

/* Packs and unpacks an answer, and says how that went. */
static int answer_round_trip(const struct chi_response *response, struct chi_response *again)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	_cleanup_(chi_buffer_deinit) struct chi_buffer wire;
	struct chi_fault fault = {""};
	size_t len = 0;
	chi_arena_init(&arena, WIRE_LIMIT);
	chi_buffer_init(&wire, WIRE_LIMIT);
	assert_int_equal(chi_response_pack(response, &wire), CHI_OK);
	const uint8_t *body = wire_body(&wire, &len);
	return chi_response_unpack(body, len, &arena, again, &fault);
}

/* As many as a response may have, and one more. */
static void games_of_a_response(void **state)
{
	(void)state;
	struct chi_game_id *games = test_calloc(CHI_GAME_IDS_MAX + 1, sizeof(*games));
	for (size_t n = CHI_GAME_IDS_MAX - 1; n <= CHI_GAME_IDS_MAX + 1; n++) {
		struct chi_response response = {.id = 1, .last = true, .op = CHI_OP_GAME_IDS};
		struct chi_response again;
		response.u.games.games = games;
		response.u.games.n = n;
		assert_int_equal(answer_round_trip(&response, &again),
				 n <= CHI_GAME_IDS_MAX ? CHI_OK : -CHI_EPROTO);
		assert_true(n > CHI_GAME_IDS_MAX || again.u.games.n == n);
	}
	test_free(games);
}

/* Of positions that are stored, within the bounds of a score; no score without an evaluation, and
 * no best move from nowhere. */
static void evaluations_of_an_exploration(void **state)
{
	(void)state;
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
		response.u.explore.position.key = move.child.key;
		response.u.explore.moves = &move;
		response.u.explore.n_moves = 1;
		int status = answer_round_trip(&response, &again);
		if ((status == CHI_OK) != table[i].good) {
			fail_msg("row %zu: %s", i, chi_strerror(status));
		}
	}
}

/* No answer has more rows, or entries, than may be asked for at a time. */
static void rows_and_entries_of_a_response(void **state)
{
	(void)state;
	static struct chi_row rows[CHI_SCAN_ROWS_MAX + 1];
	static struct chi_entry entries[CHI_SCAN_ROWS_MAX + 1];
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		rows[i].key = entries[i].key = (struct chi_key){9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}};
		rows[i].found = entries[i].found = true;
	}
	for (int over = -1; over <= 1; over++) {
		const size_t few = (size_t)(CHI_PROBE_MAX + over);
		const size_t many = (size_t)(CHI_SCAN_ROWS_MAX + over);
		const int wanted = over > 0 ? -CHI_EPROTO : CHI_OK;
		struct chi_response again;
		struct chi_response response = {.id = 1, .last = true, .op = CHI_OP_PROBE};
		response.u.probe.rows = rows;
		response.u.probe.n = few;
		assert_int_equal(answer_round_trip(&response, &again), wanted);
		assert_true(over > 0 || again.u.probe.n == few);
		response = (struct chi_response){.id = 1, .last = true, .op = CHI_OP_GET};
		response.u.get.entries = entries;
		response.u.get.n = few;
		assert_int_equal(answer_round_trip(&response, &again), wanted);
		assert_true(over > 0 || again.u.get.n == few);
		response = (struct chi_response){.id = 1, .last = true, .op = CHI_OP_SCAN};
		response.u.scan.want = CHI_WANT_KEYS;
		response.u.scan.rows = rows;
		response.u.scan.n = many;
		assert_int_equal(answer_round_trip(&response, &again), wanted);
		assert_true(over > 0 || again.u.scan.n == many);
		response.u.scan.want = CHI_WANT_RECORDS;
		response.u.scan.rows = NULL;
		response.u.scan.entries = entries;
		assert_int_equal(answer_round_trip(&response, &again), wanted);
		assert_true(over > 0 || again.u.scan.n == many);
	}
}

/* Nor has one more games, groups, or names that no one has. */
static void lists_of_games(void **state)
{
	(void)state;
	static struct chi_game_row rows[CHI_SCAN_ROWS_MAX + 1];
	static struct chi_stats_group groups[CHI_SCAN_ROWS_MAX + 1];
	static struct chi_text unknown[CHI_UNKNOWN_MAX + 1];
	static struct chi_tag tags[CHI_TAGS_MAX + 1];
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		rows[i].head.number = 1;
	}
	for (int over = -1; over <= 1; over++) {
		const int wanted = over > 0 ? -CHI_EPROTO : CHI_OK;
		const size_t many = (size_t)(CHI_SCAN_ROWS_MAX + over);
		struct chi_response again;
		struct chi_response response = {.id = 1, .last = true, .op = CHI_OP_GAME_QUERY};
		struct chi_games_page page = {.games = rows, .n = many};
		response.body = &page;
		assert_int_equal(answer_round_trip(&response, &again), wanted);
		page.n = 1;
		response.unknown = unknown;
		response.n_unknown = (size_t)(CHI_UNKNOWN_MAX + over);
		assert_int_equal(answer_round_trip(&response, &again), wanted);
		response = (struct chi_response){.id = 1, .last = true, .op = CHI_OP_STATS};
		const struct chi_stats_result stats = {.groups = groups, .n = many};
		response.body = &stats;
		assert_int_equal(answer_round_trip(&response, &again), wanted);
		response = (struct chi_response){.id = 1, .last = true, .op = CHI_OP_GET_GAME};
		const struct chi_game_found found = {
			.whole = true,
			.game = {.id = {1}, .tags = tags, .n_tags = (size_t)(CHI_TAGS_MAX + over)}};
		response.body = &found;
		assert_int_equal(answer_round_trip(&response, &again), wanted);
	}
}

static void names_of_inputs(void **state)
{
	(void)state;
	static char name[CHI_IMPORT_FILE_MAX + 1];
	memset(name, 'n', sizeof(name));
	struct chi_request request = {.id = 1, .op = CHI_OP_IMPORT_DATA};
	for (size_t len = CHI_IMPORT_FILE_MAX - 1; len <= CHI_IMPORT_FILE_MAX; len++) {
		request.u.import_data.file = (struct chi_text){name, len};
		accepted(&request);
	}
	request.u.import_data.file.len++;
	refused(&request, -CHI_ETOOBIG, "import_data.file");
}

/* A data field may be all that the frame leaves it; the frame's limit is the server's to hold. */
static void data_of_a_frame(void **state)
{
	(void)state;
	uint8_t *bytes = test_calloc(CHI_FRAME_REQUEST_MAX, 1);
	struct chi_request request = {.id = 1, .op = CHI_OP_IMPORT_DATA};
	request.u.import_data.bytes = bytes;
	request.u.import_data.len = CHI_FRAME_REQUEST_MAX - 300;
	accepted(&request);
	test_free(bytes);
}

static void evaluations(void **state)
{
	(void)state;
	static char names[CHI_EVALS_MAX + 1][CHI_ENGINE_MAX + 1];
	static struct chi_eval evals[CHI_EVALS_MAX + 1];
	static chi_move pv[CHI_PV_MAX + 1];
	for (size_t i = 0; i < CHI_COUNT(pv); i++) {
		pv[i] = 796;
	}
	for (size_t i = 0; i < CHI_COUNT(evals); i++) {
		memset(names[i], (int)(0x21 + i), sizeof(names[i]));
		evals[i].engine = names[i];
		evals[i].engine_len = CHI_ENGINE_MAX;
		evals[i].pv = pv;
		evals[i].n_pv = CHI_PV_MAX;
		evals[i].depth = 65535;
		evals[i].score = -CHI_SCORE_MAX;
	}
	struct chi_record record = {.evals = evals, .n_evals = CHI_EVALS_MAX};
	struct chi_request request = one_entry(&record);
	accepted(&request);
	record.n_evals++;
	request = one_entry(&record);
	refused(&request, -CHI_ETOOBIG, "put.entries[0].record.evals[64]");
	record.n_evals = 2;
	request = one_entry(&record);
	evals[1].engine_len++;
	refused(&request, -CHI_ETOOBIG, "put.entries[0].record.evals[1].engine");
	evals[1].engine_len--;
	evals[1].n_pv++;
	refused(&request, -CHI_ETOOBIG, "put.entries[0].record.evals[1].pv[0]");
}

static void names(void **state)
{
	(void)state;
	static const char letters[] =
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	struct chi_request request = {.id = 1, .op = CHI_OP_HELLO};
	request.store = (struct chi_text){letters, CHI_STORE_NAME_MAX};
	request.u.hello.client = (struct chi_text){letters, CHI_CLIENT_NAME_MAX};
	accepted(&request);
	request.store.len++;
	refused(&request, -CHI_ETOOBIG, "store");
	request.store.len = 0;
	request.u.hello.client.len++;
	refused(&request, -CHI_ETOOBIG, "hello.client");
	char token[CHI_ACCESS_TOKEN_MAX + 1];
	memset(token, 't', sizeof(token));
	request.u.hello.client.len = 0;
	request.u.hello.access_token = (struct chi_text){token, CHI_ACCESS_TOKEN_MAX};
	accepted(&request);
	request.u.hello.access_token.len++;
	refused(&request, -CHI_ETOOBIG, "hello.access_token");
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
static void no_message_contains_itself(void **state)
{
	(void)state;
	check_way(&chistore__v1__request__descriptor, NULL);
	check_way(&chistore__v1__response__descriptor, NULL);
}

/* Numbers that would fit their type and still mean nothing. */
static void numbers_of_a_scan(void **state)
{
	(void)state;
	struct chi_request request = {.id = 1, .op = CHI_OP_SCAN};
	struct chi_scan_spec *spec = &request.u.scan.spec;
	spec->chi2_min = spec->chi2_max = CHI_CHI2_MAX;
	spec->filter.pieces_min = spec->filter.pieces_max = 32;
	request.u.scan.window = CHI_WINDOW_MAX;
	accepted(&request);
	request.u.scan.window++;
	refused(&request, -CHI_EINVAL, "scan.window");
	request.u.scan.window = 0;
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
static void mark_of_a_write(void **state)
{
	(void)state;
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
	request.u.rescore.base = NULL;
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
static void identity_of_a_client(void **state)
{
	(void)state;
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
static void store_of_a_mark(void **state)
{
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_positions),
		cmocka_unit_test(number_of_entries),
		cmocka_unit_test(parts_of_a_record),
		cmocka_unit_test(plies),
		cmocka_unit_test(games_of_a_put),
		cmocka_unit_test(games_of_a_response),
		cmocka_unit_test(evaluations_of_an_exploration),
		cmocka_unit_test(rows_and_entries_of_a_response),
		cmocka_unit_test(lists_of_games),
		cmocka_unit_test(names_of_inputs),
		cmocka_unit_test(data_of_a_frame),
		cmocka_unit_test(evaluations),
		cmocka_unit_test(names),
		cmocka_unit_test(no_message_contains_itself),
		cmocka_unit_test(numbers_of_a_scan),
		cmocka_unit_test(mark_of_a_write),
		cmocka_unit_test(identity_of_a_client),
		cmocka_unit_test(store_of_a_mark),
	};
	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
