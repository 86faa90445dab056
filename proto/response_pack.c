/* SPDX-License-Identifier: MIT */
/*
 * Responses to frames. Rows and entries go straight to bytes; all others go through the generated
 * structs.
 */
#include "proto/msg.h"

#include <string.h>

#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/game_ids.h"
#include "proto/outcome.h"
#include "proto/rows.h"

/* ---- Straight to bytes: Probe, Get, Scan ------------------------------------------------- */

/* Contents of an Entry, without its tag and length, which depend on the result it stands in. */
static size_t entry_len(const struct chi_entry *entry)
{
	return chi_bytes_len(1, entry->key.len) + chi_uint_len(2, entry->found) +
	       chi_bytes_len(3, chi_record_len(&entry->record));
}

/* Fields 1 and 3, under which the two results have entries, have tags of the same length. */
size_t chi_entry_size(const struct chi_entry *entry)
{
	return chi_nested_len(1, entry_len(entry));
}

/* A stored position of which nothing is known has no record at all: not found and empty differ. */
static uint8_t *put_entry(uint8_t *at, uint32_t field, const struct chi_entry *entry)
{
	at = chi_put_head(at, field, entry_len(entry));
	at = chi_put_bytes(at, 1, entry->key.bytes, entry->key.len);
	at = chi_put_uint(at, 2, entry->found);
	size_t record_len = chi_record_len(&entry->record);
	if (record_len == 0) {
		return at;
	}
	return chi_put_record(chi_put_head(at, 3, record_len), &entry->record);
}

/* What a result is made of, whichever of the three it is. Absent parts have count 0. */
struct bulk {
	const struct chi_row *rows;
	size_t n_rows;
	bool counts;
	const struct chi_entry *entries;
	size_t n_entries;
	uint32_t entries_field;
	const struct chi_cursor *cursor; /* NULL if there is none */
	bool mixed;
	size_t rows_len; /* bytes, as are all below */
	size_t entries_len;
	size_t cursor_len;
};

static struct bulk bulk_of(const struct chi_response *response)
{
	struct bulk bulk = {0};
	switch (response->op) {
	case CHI_OP_PROBE:
		bulk.rows = response->u.probe.rows;
		bulk.n_rows = response->u.probe.n;
		bulk.counts = response->u.probe.counts;
		break;
	case CHI_OP_GET:
		bulk.entries = response->u.get.entries;
		bulk.n_entries = response->u.get.n;
		bulk.entries_field = 1;
		break;
	default:
		if (response->u.scan.want == CHI_WANT_RECORDS) {
			bulk.entries = response->u.scan.entries;
			bulk.n_entries = response->u.scan.n;
			bulk.entries_field = 3;
		} else {
			bulk.rows = response->u.scan.rows;
			bulk.n_rows = response->u.scan.n;
			bulk.counts = response->u.scan.want == CHI_WANT_COUNTS;
		}
		bulk.cursor = response->u.scan.cursor.set ? &response->u.scan.cursor : NULL;
		bulk.mixed = response->u.scan.mixed;
		break;
	}
	return bulk;
}

/* Fills in the sizes; false if there are rows that cannot be written. */
static bool measure(struct bulk *bulk)
{
	bulk->rows_len = chi_rows_len(bulk->rows, bulk->n_rows, bulk->counts);
	for (size_t i = 0; i < bulk->n_entries; i++) {
		bulk->entries_len += chi_entry_size(&bulk->entries[i]);
	}
	if (bulk->cursor != NULL) {
		bulk->cursor_len = chi_uint_len(1, bulk->cursor->chi2) +
				   chi_bytes_len(2, bulk->cursor->key.len);
	}
	return bulk->n_rows == 0 || bulk->rows_len > 0;
}

/* Mirrors put_bulk line by line: what is counted here is exactly what that writes. */
static size_t bulk_len(const struct bulk *bulk)
{
	return chi_bytes_len(1, bulk->rows_len) + chi_uint_len(2, bulk->n_rows) +
	       bulk->entries_len +
	       (bulk->cursor != NULL ? chi_nested_len(4, bulk->cursor_len) : 0) +
	       chi_uint_len(5, bulk->mixed);
}

static uint8_t *put_bulk(uint8_t *at, const struct bulk *bulk)
{
	if (bulk->n_rows > 0) {
		at = chi_put_head(at, 1, bulk->rows_len);
		at = chi_put_rows(at, bulk->rows, bulk->n_rows, bulk->counts);
		at = chi_put_uint(at, 2, bulk->n_rows);
	}
	for (size_t i = 0; i < bulk->n_entries; i++) {
		at = put_entry(at, bulk->entries_field, &bulk->entries[i]);
	}
	if (bulk->cursor != NULL) {
		at = chi_put_head(at, 4, bulk->cursor_len);
		at = chi_put_uint(at, 1, bulk->cursor->chi2);
		at = chi_put_bytes(at, 2, bulk->cursor->key.bytes, bulk->cursor->key.len);
	}
	return chi_put_uint(at, 5, bulk->mixed);
}

/* The envelope: all of Response but its result. */
static size_t envelope_len(const struct chi_response *response, int code)
{
	return chi_uint_len(1, response->id) + chi_uint_len(2, (uint64_t)code) +
	       chi_bytes_len(3, response->message.len) + chi_bytes_len(4, response->field.len) +
	       chi_uint_len(5, response->last);
}

static uint8_t *put_envelope(uint8_t *at, const struct chi_response *response, int code)
{
	at = chi_put_uint(at, 1, response->id);
	at = chi_put_uint(at, 2, (uint64_t)code);
	at = chi_put_bytes(at, 3, response->message.bytes, response->message.len);
	at = chi_put_bytes(at, 4, response->field.bytes, response->field.len);
	return chi_put_uint(at, 5, response->last);
}

/* The parts are measured already. */
static size_t body_len(const struct chi_response *response, int code, const struct bulk *bulk)
{
	return envelope_len(response, code) +
	       chi_nested_len(CHI_OP_FIELD(response->op), bulk_len(bulk));
}

/* Room for a frame with that body, and for what putting rows may touch behind it. */
static size_t room_for(size_t len)
{
	return chi_varint_len(len) + len + CHI_ROWS_SLACK;
}

/* Measured first, so that the frame's head and the room are right at once, and a response that
 * is too large costs nothing. */
static int pack_bulk(const struct chi_response *response, int code, struct chi_buffer *out)
{
	struct bulk bulk = bulk_of(response);
	if (!measure(&bulk)) {
		return -CHI_EINVAL;
	}
	size_t len = body_len(response, code, &bulk);
	if (len > CHI_FRAME_RESPONSE_MAX) {
		return -CHI_ETOOBIG;
	}
	uint8_t *start = NULL;
	int rc = chi_pb_reserve(out, room_for(len), &start);
	if (rc != CHI_OK) {
		return rc;
	}
	uint8_t *at = start + chi_frame_head(len, start);
	at = put_envelope(at, response, code);
	at = put_bulk(chi_put_head(at, CHI_OP_FIELD(response->op), bulk_len(&bulk)), &bulk);
	chi_buffer_added(out, (size_t)(at - start));
	return CHI_OK;
}

/* ---- Through the generated structs: all others ------------------------------------------- */

/* A response on its way: the message and what it points to. */
struct small {
	struct chi_arena *arena;
	PB(Response) message;
	PB(Counts) counts;
	PB(Counts) games;
	PB(Limits) limits;
	union {
		PB(HelloResult) hello;
		PB(InfoResult) info;
		PB(PutResult) put;
		PB(DeleteResult) delete_;
		PB(CountResult) count;
		PB(BackupResult) backup;
		PB(VerifyResult) verify;
		PB(CompactResult) compact;
		PB(RescoreResult) rescore;
	} result;
};

static PB(Limits) * limits_to(struct small *small, const struct chi_hello_limits *from)
{
	PB(Limits) *limits = &small->limits;
	chistore__v1__limits__init(limits);
	limits->request_bytes = from->request_bytes;
	limits->response_bytes = from->response_bytes;
	limits->probe_positions = from->probe_positions;
	limits->put_entries = from->put_entries;
	limits->requests_in_flight = from->requests_in_flight;
	limits->scan_rows = from->scan_rows;
	limits->remembered_writes = from->remembered_writes;
	return limits;
}

/* protobuf-c wants an array of pointers, so the structs and the pointers are two arrays. */
static int stores_to(struct small *small, const struct chi_response *response)
{
	PB(HelloResult) *hello = &small->result.hello;
	size_t n = response->u.hello.n_stores;
	PB(StoreName) *stores = chi_arena_array(small->arena, n, sizeof(*stores));
	hello->stores = chi_arena_array(small->arena, n, sizeof(*hello->stores));
	if (stores == NULL || hello->stores == NULL) {
		return -CHI_ENOMEM;
	}
	hello->n_stores = n;
	for (size_t i = 0; i < n; i++) {
		const struct chi_store_name *from = &response->u.hello.stores[i];
		chistore__v1__store_name__init(&stores[i]);
		stores[i].name = chi_pb_text(small->arena, from->name);
		stores[i].statistic = (PB(Statistic))from->statistic;
		stores[i].writable = from->writable;
		stores[i].sequence = from->sequence;
		stores[i].uuid.data = chi_arena_alloc(small->arena, sizeof(from->uuid));
		if (stores[i].name == NULL || stores[i].uuid.data == NULL) {
			return -CHI_ENOMEM;
		}
		memcpy(stores[i].uuid.data, from->uuid, sizeof(from->uuid));
		stores[i].uuid.len = sizeof(from->uuid);
		hello->stores[i] = &stores[i];
	}
	return CHI_OK;
}

/* Texts without memory are the only way to fail; the message is thrown away with the arena. */
static int hello_to(struct small *small, const struct chi_response *response)
{
	PB(HelloResult) *hello = &small->result.hello;
	chistore__v1__hello_result__init(hello);
	hello->version = response->u.hello.version;
	hello->server = chi_pb_text(small->arena, response->u.hello.server);
	hello->limits = limits_to(small, &response->u.hello.limits);
	small->message.hello = hello;
	return hello->server != NULL ? stores_to(small, response) : -CHI_ENOMEM;
}

static void counts_to(const struct chi_counts *from, PB(Counts) * out)
{
	chistore__v1__counts__init(out);
	out->white = from->white;
	out->draws = from->draws;
	out->black = from->black;
	out->other = from->other;
}

/* Base rates are sent also if all are 0: absent would say that the server does not know. */
static int info_to(struct small *small, const struct chi_info *from)
{
	PB(InfoResult) *info = &small->result.info;
	struct chi_text creator = {from->creator, strnlen(from->creator, sizeof(from->creator))};
	chistore__v1__info_result__init(info);
	counts_to(&from->base, &small->counts);
	counts_to(&from->games, &small->games);
	info->base_rates = &small->counts;
	info->games = &small->games;
	info->uuid.len = sizeof(from->uuid);
	info->uuid.data = chi_arena_alloc(small->arena, sizeof(from->uuid));
	info->creator = chi_pb_text(small->arena, creator);
	if (info->uuid.data == NULL || info->creator == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(info->uuid.data, from->uuid, sizeof(from->uuid));
	info->format_major = from->format_major;
	info->format_minor = from->format_minor;
	info->statistic = (PB(Statistic))from->statistic;
	info->created = from->created;
	info->sequence = from->sequence;
	info->positions = from->positions;
	info->known = from->known;
	info->file_bytes = from->file_bytes;
	info->used_bytes = from->used_bytes;
	info->map_bytes = from->map_bytes;
	info->readers = from->readers;
	info->readers_max = from->readers_max;
	info->oldest_reader = from->oldest_reader;
	info->read_only = (PB(ReadOnly))from->read_only;
	small->message.info = info;
	return CHI_OK;
}

static int backup_to(struct small *small, const struct chi_response *response)
{
	PB(BackupResult) *backup = &small->result.backup;
	size_t len = response->u.backup.len;
	chistore__v1__backup_result__init(backup);
	small->message.backup = backup;
	/* The generated structs know no const, and 1 MiB is soon copied. */
	backup->data.data = chi_arena_alloc(small->arena, len);
	if (backup->data.data == NULL) {
		return -CHI_ENOMEM;
	}
	backup->data.len = len;
	if (len > 0) {
		memcpy(backup->data.data, response->u.backup.data, len);
	}
	return CHI_OK;
}

/* A report and the totals use the same message; which it is the receiver sees from `last`. */
static int verify_to(struct small *small, const struct chi_response *response)
{
	PB(VerifyResult) *verify = &small->result.verify;
	chistore__v1__verify_result__init(verify);
	verify->report = chi_pb_text(small->arena, response->u.verify.report);
	verify->positions = response->u.verify.result.positions;
	verify->known = response->u.verify.result.known;
	verify->errors = response->u.verify.result.errors;
	small->message.verify = verify;
	return verify->report != NULL ? CHI_OK : -CHI_ENOMEM;
}

/* Results that are a few numbers. */
static int numbers_to(struct small *small, const struct chi_response *response)
{
	PB(Response) *message = &small->message;
	switch (response->op) {
	case CHI_OP_PUT:
		chi_put_result_to(&response->u.put, message->put = &small->result.put);
		return CHI_OK;
	case CHI_OP_DELETE:
		chistore__v1__delete_result__init(message->delete_ = &small->result.delete_);
		message->delete_->deleted = response->u.del.deleted;
		return CHI_OK;
	case CHI_OP_COUNT:
		chistore__v1__count_result__init(message->count = &small->result.count);
		message->count->count = response->u.count.count;
		message->count->mixed = response->u.count.mixed;
		return CHI_OK;
	case CHI_OP_COMPACT:
		chistore__v1__compact_result__init(message->compact = &small->result.compact);
		message->compact->bytes_before = response->u.compact.before;
		message->compact->bytes_after = response->u.compact.after;
		return CHI_OK;
	case CHI_OP_RESCORE:
		chistore__v1__rescore_result__init(message->rescore = &small->result.rescore);
		message->rescore->changed = response->u.rescore.changed;
		return CHI_OK;
	default:
		return -CHI_EINVAL;
	}
}

static int result_to(struct small *small, enum chi_op result, const struct chi_response *response)
{
	switch (result) {
	case CHI_OP_UNKNOWN:
	case CHI_OP_PING:
		return CHI_OK;
	case CHI_OP_HELLO:
		return hello_to(small, response);
	case CHI_OP_INFO:
		return info_to(small, &response->u.info);
	case CHI_OP_BACKUP:
		return backup_to(small, response);
	case CHI_OP_VERIFY:
		return verify_to(small, response);
	case CHI_OP_EXPLORE:
		return chi_explore_to(small->arena, &response->u.explore, &small->message.explore);
	case CHI_OP_IMPORT:
		return chi_import_to(small->arena, response, &small->message.import_games);
	case CHI_OP_GAME_IDS:
		return chi_game_ids_to(small->arena, response, &small->message.games);
	case CHI_OP_OUTCOME:
		return chi_outcome_to(small->arena, response, &small->message.outcome);
	default:
		return numbers_to(small, response);
	}
}

/* By way of the generated structs; texts and arrays are copied to the arena for them. */
static int pack_small(const struct chi_response *response, int code, enum chi_op result,
		      struct chi_arena *arena, struct chi_buffer *out)
{
	struct small small = {.arena = arena};
	PB(Response) *message = &small.message;
	chistore__v1__response__init(message);
	message->id = response->id;
	message->code = (PB(Code))code;
	message->last = response->last;
	message->message = chi_pb_text(arena, response->message);
	message->field = chi_pb_text(arena, response->field);
	if (message->message == NULL || message->field == NULL) {
		return -CHI_ENOMEM;
	}
	if (result != CHI_OP_UNKNOWN && result != CHI_OP_PING) {
		message->result_case = (PB(Response__ResultCase))CHI_OP_FIELD(result);
	}
	int rc = result_to(&small, result, response);
	return rc == CHI_OK ? chi_pb_pack(&message->base, CHI_FRAME_RESPONSE_MAX, out) : rc;
}

/* The wire tells an operation that is not known from one that makes no sense; statuses do not. */
static int code_of(const struct chi_response *response)
{
	bool unknown = response->status == -CHI_EUNSUPPORTED && response->op == CHI_OP_UNKNOWN;
	return unknown ? CHISTORE__V1__CODE__UNKNOWN_OPERATION
		       : chi_status_to_code(response->status);
}

/* Which result goes out: a failure has none, but a verification's totals. */
static enum chi_op result_of(const struct chi_response *response)
{
	bool failed = response->status < 0;
	return failed && response->op != CHI_OP_VERIFY ? CHI_OP_UNKNOWN : response->op;
}

int chi_response_pack(const struct chi_response *response, struct chi_arena *arena,
		      struct chi_buffer *out)
{
	int code = code_of(response);
	enum chi_op result = result_of(response);
	switch (result) {
	case CHI_OP_PROBE:
	case CHI_OP_GET:
	case CHI_OP_SCAN:
		return pack_bulk(response, code, out);
	default:
		return pack_small(response, code, result, arena, out);
	}
}

size_t chi_response_size(const struct chi_response *response)
{
	enum chi_op result = result_of(response);
	if (result != CHI_OP_PROBE && result != CHI_OP_GET && result != CHI_OP_SCAN) {
		return 0;
	}
	struct bulk bulk = bulk_of(response);
	if (!measure(&bulk)) {
		return 0;
	}
	size_t len = body_len(response, code_of(response), &bulk);
	return len > CHI_FRAME_RESPONSE_MAX ? 0 : room_for(len);
}
