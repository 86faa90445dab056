/* SPDX-License-Identifier: MIT */
/*
 * Responses from bytes. The client trusts its server no more than the server trusts it: whatever
 * a server should not send is -CHI_EPROTO, with the field in the fault.
 */
#include "proto/msg.h"

#include <string.h>

#include "base/fault.h"
#include "proto/rows.h"

/* ---- Positions --------------------------------------------------------------------------- */

static int probe_from(struct chi_unpacker *u, const PB(ProbeResult) * from,
		      struct chi_response *out)
{
	enum chi_row_kind kind = CHI_ROWS_PLAIN;
	if (from->count > CHI_PROBE_MAX) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "over 4096", "count");
	}
	out->u.probe.n = from->count;
	int rc = chi_rows_from(from->rows.data, from->rows.len, from->count, u, &out->u.probe.rows,
			       &kind);
	out->u.probe.counts = kind == CHI_ROWS_COUNTED;
	if (rc == CHI_OK && kind == CHI_ROWS_RAGGED) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "counts in some rows only", "rows");
	}
	return rc;
}

static int entry_from(struct chi_unpacker *u, const PB(Entry) * from, struct chi_entry *out)
{
	const char *reason = chi_key_from(from->key.data, from->key.len, &out->key);
	if (reason != NULL) {
		return chi_flaw(u->flaw, -CHI_EPROTO, reason, "key");
	}
	out->found = from->found;
	int rc = chi_record_from(u, from->record, &out->record);
	if (rc != CHI_OK) {
		chi_flaw_under(u->flaw, "record");
	}
	return rc;
}

static int entries_from(struct chi_unpacker *u, PB(Entry) *const *from, size_t n,
			struct chi_entry **out, size_t *n_out)
{
	struct chi_entry *entries = chi_arena_array(u->arena, n, sizeof(*entries));
	if (entries == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*entries));
	}
	for (size_t i = 0; i < n; i++) {
		int rc = entry_from(u, from[i], &entries[i]);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "entries[%zu]", i);
			return rc;
		}
	}
	*out = entries;
	*n_out = n;
	return CHI_OK;
}

/* What the scan wanted is seen from what came; without any row it looks like KEYS. */
static int scan_from(struct chi_unpacker *u, const PB(ScanResult) * from, struct chi_response *out)
{
	enum chi_row_kind kind = CHI_ROWS_PLAIN;
	out->u.scan.mixed = from->mixed;
	if (from->cursor != NULL) {
		int rc = chi_cursor_from(u, from->cursor, &out->u.scan.cursor);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "cursor");
			return rc;
		}
	}
	if (from->n_entries > 0) {
		if (from->count > 0 || from->rows.len > 0) {
			return chi_flaw(u->flaw, -CHI_EPROTO, "rows beside entries", "rows");
		}
		out->u.scan.want = CHI_WANT_RECORDS;
		return entries_from(u, from->entries, from->n_entries, &out->u.scan.entries,
				    &out->u.scan.n);
	}
	if (from->count > CHI_SCAN_ROWS_MAX) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "over 10000", "count");
	}
	out->u.scan.n = from->count;
	int rc = chi_rows_from(from->rows.data, from->rows.len, from->count, u, &out->u.scan.rows,
			       &kind);
	if (rc == CHI_OK && kind == CHI_ROWS_RAGGED) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "counts in some rows only", "rows");
	}
	out->u.scan.want = kind == CHI_ROWS_COUNTED ? CHI_WANT_COUNTS : CHI_WANT_KEYS;
	return rc;
}

/* ---- Hello and Info ---------------------------------------------------------------------- */

static int statistic_from(struct chi_unpacker *u, int from, enum chi_statistic *out)
{
	if (from < CHI_STATISTIC_EXTERNAL || from > CHI_STATISTIC_OUTCOME) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "unknown value", "statistic");
	}
	*out = (enum chi_statistic)from;
	return CHI_OK;
}

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
	};
}

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
	out->file_bytes = from->file_bytes;
	out->used_bytes = from->used_bytes;
	out->map_bytes = from->map_bytes;
	out->readers = from->readers;
	out->readers_max = from->readers_max;
	out->oldest_reader = from->oldest_reader;
	return CHI_OK;
}

/* ---- All --------------------------------------------------------------------------------- */

static void put_from(const PB(PutResult) * from, struct chi_put_result *out)
{
	out->added = from->added;
	out->updated = from->updated;
	out->unchanged = from->unchanged;
}

static void verify_from(const PB(VerifyResult) * from, struct chi_response *out)
{
	out->u.verify.report = chi_text_from(from->report);
	out->u.verify.result.positions = from->positions;
	out->u.verify.result.known = from->known;
	out->u.verify.result.errors = from->errors;
}

static int result_from(struct chi_unpacker *u, const PB(Response) * from, struct chi_response *out)
{
	switch (from->result_case) {
	case CHISTORE__V1__RESPONSE__RESULT_HELLO:
		return hello_from(u, from->hello, out);
	case CHISTORE__V1__RESPONSE__RESULT_INFO:
		return info_from(u, from->info, &out->u.info);
	case CHISTORE__V1__RESPONSE__RESULT_PROBE:
		return probe_from(u, from->probe, out);
	case CHISTORE__V1__RESPONSE__RESULT_GET:
		return entries_from(u, from->get->entries, from->get->n_entries,
				    &out->u.get.entries, &out->u.get.n);
	case CHISTORE__V1__RESPONSE__RESULT_PUT:
		put_from(from->put, &out->u.put);
		return CHI_OK;
	case CHISTORE__V1__RESPONSE__RESULT_DELETE:
		out->u.del.deleted = from->delete_->deleted;
		return CHI_OK;
	case CHISTORE__V1__RESPONSE__RESULT_SCAN:
		return scan_from(u, from->scan, out);
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
	default:
		return CHI_OK;
	}
}

static int envelope_from(struct chi_unpacker *u, const PB(Response) * from,
			 struct chi_response *out)
{
	out->id = from->id;
	out->status = chi_status_from_code((int)from->code);
	out->message = chi_text_from(from->message);
	out->field = chi_text_from(from->field);
	out->last = from->last;
	out->op = CHI_OP_UNKNOWN;
	if (from->result_case != CHISTORE__V1__RESPONSE__RESULT__NOT_SET) {
		out->op = CHI_OP_OF_FIELD(from->result_case);
	}
	/* A failure has no result but a verification's; one that is there says nothing. */
	if (out->status < 0 && out->op != CHI_OP_VERIFY) {
		out->op = CHI_OP_UNKNOWN;
		return CHI_OK;
	}
	int rc = result_from(u, from, out);
	if (rc != CHI_OK) {
		chi_flaw_under(u->flaw, "%s", chi_op_name(out->op));
	}
	return rc;
}

static int unpack(const uint8_t *bytes, size_t len, struct chi_unpacker *u,
		  struct chi_response *out)
{
	ProtobufCMessage *message = NULL;
	int rc = chi_pb_check(&chistore__v1__response__descriptor, bytes, len, CHI_ENUMS_OPEN,
			      u->flaw);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_pb_unpack(&chistore__v1__response__descriptor, bytes, len, u->arena, &message);
	if (rc == -CHI_EPROTO) {
		return chi_flaw(u->flaw, rc, "not a protobuf message", "%s", "");
	}
	if (rc != CHI_OK) {
		chi_flaw_memory(u->flaw, u->arena, 0);
		return rc;
	}
	return envelope_from(u, (const PB(Response) *)(const void *)message, out);
}

int chi_response_unpack(const uint8_t *bytes, size_t len, struct chi_arena *arena,
			struct chi_response *out, struct chi_fault *fault)
{
	struct chi_flaw flaw = {.reason = ""};
	struct chi_unpacker u = {.arena = arena, .flaw = &flaw};
	memset(out, 0, sizeof(*out));
	int rc = unpack(bytes, len, &u, out);
	if (rc == CHI_OK) {
		return CHI_OK;
	}
	/* Our own memory is our own fault; all else is the server's. */
	int status = rc == -CHI_ENOMEM ? rc : -CHI_EPROTO;
	return chi_flaw_fault(&flaw, status, fault);
}
