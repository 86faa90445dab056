/* SPDX-License-Identifier: MIT */
/*
 * Responses from bytes. The client trusts its server no more than the server trusts it: whatever
 * a server should not send is -CHI_EPROTO, with the field in the fault.
 */
#include "proto/msg.h"

#include <string.h>

#include "base/fault.h"
#include "proto/game_ids.h"
#include "proto/outcome.h"
#include "proto/rows.h"

/* ---- Straight from bytes: Probe, Get, Scan ----------------------------------------------- */

/* An Entry. Fields may come in any order, so the key is looked at when all have been. */
static int entry_read(struct chi_unpacker *u, const struct chi_field *from, struct chi_entry *out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	struct chi_field key = {0};
	int rc = CHI_OK;
	while (rc == CHI_OK && chi_field_next(&r, &field)) {
		if (field.number == 1) {
			key = field;
		} else if (field.number == 2) {
			out->found = field.value != 0;
		} else if (field.number == 3) {
			rc = chi_record_read(u, field.bytes, field.len, &out->record);
			if (rc != CHI_OK) {
				chi_flaw_under(u->flaw, "record");
			}
		}
	}
	if (rc != CHI_OK) {
		return rc;
	}
	const char *reason = chi_key_from(key.bytes, key.len, &out->key);
	return reason == NULL ? CHI_OK : chi_flaw(u->flaw, -CHI_EPROTO, reason, "key");
}

/* The entries of a result, which are its fields of that number. */
static int entries_read(struct chi_unpacker *u, const struct chi_field *from, uint32_t number,
			size_t n, struct chi_entry **out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	struct chi_entry *entries = chi_arena_array(u->arena, n, sizeof(*entries));
	if (entries == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*entries));
	}
	for (size_t i = 0; i < n && chi_field_next(&r, &field);) {
		if (field.number != number) {
			continue;
		}
		int rc = entry_read(u, &field, &entries[i]);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "entries[%zu]", i);
			return rc;
		}
		i++;
	}
	*out = entries;
	return CHI_OK;
}

/* What stands in one of the three results. */
struct bulk {
	struct chi_field rows;
	uint64_t count;
	size_t n_entries;
	struct chi_field cursor;
	bool mixed;
};

/* All but the entries, which are only counted. `entries_field` 0: the result has none. */
static struct bulk bulk_read(const struct chi_field *from, uint32_t entries_field)
{
	struct bulk bulk = {0};
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	while (chi_field_next(&r, &field)) {
		if (field.number == entries_field) {
			bulk.n_entries++;
			continue;
		}
		switch (field.number) {
		case 1:
			bulk.rows = field;
			break;
		case 2:
			bulk.count = field.value;
			break;
		case 4:
			bulk.cursor = field;
			break;
		case 5:
			bulk.mixed = field.value != 0;
			break;
		default:
			break;
		}
	}
	return bulk;
}

/* `max` rows are what a server may send; the bytes must be as many rows as it says. */
static int rows_read(struct chi_unpacker *u, const struct bulk *bulk, size_t max,
		     struct chi_row **rows, bool *counts)
{
	enum chi_row_kind kind = CHI_ROWS_PLAIN;
	if (bulk->count > max) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "too many", "count");
	}
	int rc = chi_rows_from(bulk->rows.bytes, bulk->rows.len, (size_t)bulk->count, u, rows,
			       &kind);
	if (rc == CHI_OK && kind == CHI_ROWS_RAGGED) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "counts in some rows only", "rows");
	}
	*counts = kind == CHI_ROWS_COUNTED;
	return rc;
}

/* What the scan wanted is seen from what came; without any row it looks like KEYS. */
static int scan_read(struct chi_unpacker *u, const struct chi_field *from, struct chi_response *out)
{
	struct bulk bulk = bulk_read(from, 3);
	bool counts = false;
	out->u.scan.mixed = bulk.mixed;
	if (bulk.cursor.number != 0) {
		int rc =
			chi_cursor_read(u, bulk.cursor.bytes, bulk.cursor.len, &out->u.scan.cursor);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "cursor");
			return rc;
		}
	}
	if (bulk.n_entries == 0) {
		int rc = rows_read(u, &bulk, CHI_SCAN_ROWS_MAX, &out->u.scan.rows, &counts);
		out->u.scan.n = (size_t)bulk.count;
		out->u.scan.want = counts ? CHI_WANT_COUNTS : CHI_WANT_KEYS;
		return rc;
	}
	if (bulk.count > 0 || bulk.rows.len > 0) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "rows beside entries", "rows");
	}
	out->u.scan.want = CHI_WANT_RECORDS;
	out->u.scan.n = bulk.n_entries;
	return entries_read(u, from, 3, bulk.n_entries, &out->u.scan.entries);
}

static int bulk_result_read(struct chi_unpacker *u, const struct chi_field *from,
			    struct chi_response *out)
{
	struct bulk bulk;
	switch (out->op) {
	case CHI_OP_PROBE:
		bulk = bulk_read(from, 0);
		out->u.probe.n = (size_t)bulk.count;
		return rows_read(u, &bulk, CHI_PROBE_MAX, &out->u.probe.rows, &out->u.probe.counts);
	case CHI_OP_GET:
		bulk = bulk_read(from, 1);
		out->u.get.n = bulk.n_entries;
		return entries_read(u, from, 1, bulk.n_entries, &out->u.get.entries);
	default:
		return scan_read(u, from, out);
	}
}

/* ---- Hello and Info ---------------------------------------------------------------------- */

/* A statistic of a later version is nothing that this client could explain to anybody. */
static int statistic_from(struct chi_unpacker *u, int from, enum chi_statistic *out)
{
	if (from < CHI_STATISTIC_EXTERNAL || from > CHI_STATISTIC_OUTCOME) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "unknown value", "statistic");
	}
	*out = (enum chi_statistic)from;
	return CHI_OK;
}

/* Absent limits stay 0, which the client takes for its own. */
static void limits_from(const PB(Limits) * from, struct chi_hello_limits *out)
{
	if (from == NULL) {
		return;
	}
	*out = (struct chi_hello_limits){
		.request_bytes = from->request_bytes,
		.response_bytes = from->response_bytes,
		.probe_positions = from->probe_positions,
		.put_entries = from->put_entries,
		.requests_in_flight = from->requests_in_flight,
		.scan_rows = from->scan_rows,
		.remembered_writes = from->remembered_writes,
	};
}

/* How many stores there may be is a matter of the frame's size alone. */
static int hello_from(struct chi_unpacker *u, const PB(HelloResult) * from,
		      struct chi_response *out)
{
	size_t n = from->n_stores;
	struct chi_store_name *stores = chi_arena_array(u->arena, n, sizeof(*stores));
	if (stores == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*stores));
	}
	for (size_t i = 0; i < n; i++) {
		const PB(StoreName) *store = from->stores[i];
		stores[i].name = chi_text_from(store->name);
		stores[i].writable = store->writable;
		stores[i].sequence = store->sequence;
		/* A server of before does not tell it. */
		if (store->uuid.len == sizeof(stores[i].uuid)) {
			memcpy(stores[i].uuid, store->uuid.data, sizeof(stores[i].uuid));
		} else if (store->uuid.len > 0) {
			return chi_flaw(u->flaw, -CHI_EPROTO, "not 16 bytes", "stores[%zu].uuid",
					i);
		}
		int rc = statistic_from(u, (int)store->statistic, &stores[i].statistic);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "stores[%zu]", i);
			return rc;
		}
	}
	out->u.hello.version = from->version;
	out->u.hello.server = chi_text_from(from->server);
	out->u.hello.stores = stores;
	out->u.hello.n_stores = n;
	limits_from(from->limits, &out->u.hello.limits);
	return CHI_OK;
}

/* What does not fit our struct is refused, not cut: an identity cut short is another one. */
static int info_from(struct chi_unpacker *u, const PB(InfoResult) * from, struct chi_info *out)
{
	enum chi_statistic statistic = CHI_STATISTIC_EXTERNAL;
	size_t creator_len = strlen(from->creator);
	if (from->uuid.len != sizeof(out->uuid)) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "not 16 bytes", "uuid");
	}
	if (from->format_major > UINT16_MAX || from->format_minor > UINT16_MAX) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "over 65535", "format_major");
	}
	if (creator_len >= sizeof(out->creator)) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "over 31 bytes", "creator");
	}
	int rc = statistic_from(u, (int)from->statistic, &statistic);
	if (rc != CHI_OK) {
		return rc;
	}
	memcpy(out->uuid, from->uuid.data, sizeof(out->uuid));
	memcpy(out->creator, from->creator, creator_len + 1);
	out->format_major = (uint16_t)from->format_major;
	out->format_minor = (uint16_t)from->format_minor;
	out->statistic = (uint8_t)statistic;
	out->created = from->created;
	out->sequence = from->sequence;
	out->positions = from->positions;
	out->known = from->known;
	out->base = chi_counts_from(from->base_rates);
	out->games = chi_counts_from(from->games);
	out->file_bytes = from->file_bytes;
	out->used_bytes = from->used_bytes;
	out->map_bytes = from->map_bytes;
	out->readers = from->readers;
	out->readers_max = from->readers_max;
	out->oldest_reader = from->oldest_reader;
	/* Of a later version: read-only, for a reason that is not known here. */
	out->read_only = (unsigned)from->read_only <= CHI_READ_ONLY_CRASHES
				 ? (uint8_t)from->read_only
				 : CHI_READ_ONLY_SERVER;
	return CHI_OK;
}

/* ---- All --------------------------------------------------------------------------------- */

static void verify_from(const PB(VerifyResult) * from, struct chi_response *out)
{
	out->u.verify.report = chi_text_from(from->report);
	out->u.verify.result.positions = from->positions;
	out->u.verify.result.known = from->known;
	out->u.verify.result.errors = from->errors;
}

/* Results of operations that have none, and those of a later version, are nothing to unpack. */
static int result_from(struct chi_unpacker *u, const PB(Response) * from, struct chi_response *out)
{
	switch (from->result_case) {
	case CHISTORE__V1__RESPONSE__RESULT_HELLO:
		return hello_from(u, from->hello, out);
	case CHISTORE__V1__RESPONSE__RESULT_INFO:
		return info_from(u, from->info, &out->u.info);
	case CHISTORE__V1__RESPONSE__RESULT_PUT:
		chi_put_result_from(from->put, &out->u.put);
		return CHI_OK;
	case CHISTORE__V1__RESPONSE__RESULT_DELETE:
		out->u.del.deleted = from->delete_->deleted;
		return CHI_OK;
	case CHISTORE__V1__RESPONSE__RESULT_COUNT:
		out->u.count.count = from->count->count;
		out->u.count.mixed = from->count->mixed;
		return CHI_OK;
	case CHISTORE__V1__RESPONSE__RESULT_BACKUP:
		out->u.backup.data = from->backup->data.data;
		out->u.backup.len = from->backup->data.len;
		return CHI_OK;
	case CHISTORE__V1__RESPONSE__RESULT_VERIFY:
		verify_from(from->verify, out);
		return CHI_OK;
	case CHISTORE__V1__RESPONSE__RESULT_COMPACT:
		out->u.compact.before = from->compact->bytes_before;
		out->u.compact.after = from->compact->bytes_after;
		return CHI_OK;
	case CHISTORE__V1__RESPONSE__RESULT_RESCORE:
		out->u.rescore.changed = from->rescore->changed;
		return CHI_OK;
	case CHISTORE__V1__RESPONSE__RESULT_EXPLORE:
		return chi_explore_from(u, from->explore, &out->u.explore);
	case CHISTORE__V1__RESPONSE__RESULT_IMPORT_GAMES:
		return chi_import_from(u, from->import_games, out);
	case CHISTORE__V1__RESPONSE__RESULT_GAMES:
		return chi_game_ids_from(u, from->games, out);
	case CHISTORE__V1__RESPONSE__RESULT_OUTCOME:
		return chi_outcome_from(u, from->outcome, out);
	default:
		return CHI_OK;
	}
}

/* A whole response whose result is one of the three. */
static int unpack_bulk(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
		       struct chi_response *out)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	struct chi_field result = {0};
	struct chi_field texts[2] = {{.bytes = bytes}, {.bytes = bytes}};
	while (chi_field_next(&r, &field)) {
		if (field.number == 2) {
			out->status = chi_status_from_code((int)(int64_t)field.value);
		} else if (field.number == 3 || field.number == 4) {
			texts[field.number - 3] = field;
		} else if (field.number == 5) {
			out->last = field.value != 0;
		} else if (field.number == CHI_OP_FIELD(out->op)) {
			result = field;
		}
	}
	int rc = chi_text_read(u, &texts[0], &out->message);
	if (rc == CHI_OK) {
		rc = chi_text_read(u, &texts[1], &out->field);
	}
	/* A failure has no result; one that is there says nothing. */
	if (out->status < 0) {
		out->op = CHI_OP_UNKNOWN;
		return rc;
	}
	return rc == CHI_OK ? bulk_result_read(u, &result, out) : rc;
}

/* Any other, by way of protobuf-c. */
static int unpack_other(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
			struct chi_response *out)
{
	ProtobufCMessage *message = NULL;
	int rc = chi_pb_unpack(&chistore__v1__response__descriptor, bytes, len, u, &message);
	if (rc != CHI_OK) {
		return rc;
	}
	const PB(Response) *from = (const PB(Response) *)(const void *)message;
	out->status = chi_status_from_code((int)from->code);
	out->message = chi_text_from(from->message);
	out->field = chi_text_from(from->field);
	out->last = from->last;
	/* Of failures only a verification's has a result, as above. */
	if (out->status < 0 && out->op != CHI_OP_VERIFY) {
		out->op = CHI_OP_UNKNOWN;
		return CHI_OK;
	}
	return result_from(u, from, out);
}

/* Enumerators of a later server are no fault (CHI_ENUMS_OPEN): codes go by their class. */
static int unpack(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
		  struct chi_response *out)
{
	uint32_t field = 0;
	int rc = chi_pb_check(&chistore__v1__response__descriptor, bytes, len, CHI_ENUMS_OPEN,
			      u->flaw);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_pb_peek(bytes, len, &out->id, &field);
	out->op = CHI_OP_UNKNOWN;
	/* Of the fields of operations some have no result; such a one is of a later version. */
	if (protobuf_c_message_descriptor_get_field(&chistore__v1__response__descriptor, field) !=
	    NULL) {
		out->op = CHI_OP_OF_FIELD(field);
	}
	rc = out->op == CHI_OP_PROBE || out->op == CHI_OP_GET || out->op == CHI_OP_SCAN
		     ? unpack_bulk(u, bytes, len, out)
		     : unpack_other(u, bytes, len, out);
	if (rc != CHI_OK && u->flaw->path[0] != '\0') {
		chi_flaw_under(u->flaw, "%s", chi_op_name(out->op));
	}
	return rc;
}

int chi_response_unpack(const uint8_t *bytes, size_t len, struct chi_arena *arena,
			struct chi_response *out, struct chi_fault *fault)
{
	struct chi_flaw flaw = {.reason = ""};
	struct chi_unpacker u = {.arena = arena, .flaw = &flaw};
	memset(out, 0, sizeof(*out));
	int rc = unpack(&u, bytes, len, out);
	if (rc == CHI_OK) {
		return CHI_OK;
	}
	/* Our own memory is our own fault; all else is the server's. */
	int status = rc == -CHI_ENOMEM ? rc : -CHI_EPROTO;
	return chi_flaw_fault(&flaw, status, fault);
}
