/* SPDX-License-Identifier: MIT */
/* Requests and responses as frames: what is around the contents of every operation alike. */
#include "proto/msg.h"

#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "proto/wire/frame.h"
#include "proto/operations.h"
#include "proto/record.h"
#include "proto/rows.h"

/* What a frame's head can say; the server's own limit is known to those who have its Hello. */
#define REQUEST_MAX (((size_t)1 << 28) - 1)

#define ONCE_FIELD	  3 /* of Request */
#define WINDOW_FIELD	  4
#define PROGRESS_FIELD	  5
#define THOUSANDTHS_FIELD 7 /* of Response */

const char *chi_op_name(enum chi_op op)
{
	return chi_operation_of(op)->name;
}

/* ---- Packing ----------------------------------------------------------------------------- */

/* A message that is measured: its parts in bytes. */
struct measured {
	const struct chi_message *type; /* of the contents; NULL: none */
	size_t inner;			/* contents of the operation */
	size_t noted;
	size_t len; /* of the whole */
};

/* Adds the operation's contents. */
static void measure_message(struct measured *m, const struct chi_message *type, enum chi_op op,
			    const void *from)
{
	m->type = type;
	if (type != NULL) {
		m->inner = chi_message_len(type, from, &m->noted);
		m->len += chi_nested_len(CHI_OP_FIELD(op), m->inner);
	}
}

static uint8_t *put_measured(uint8_t *at, const struct measured *m, enum chi_op op,
			     const void *from)
{
	if (m->type == NULL) {
		return at;
	}
	return chi_message_put(chi_put_head(at, CHI_OP_FIELD(op), m->inner), m->type, from,
			       m->noted);
}

/* Room for the frame and `slack` bytes, with its head written. */
static int begin_frame(struct chi_buffer *out, size_t len, size_t max, size_t slack, uint8_t **at)
{
	if (len >= CHI_UNPACKABLE || len == 0) {
		return -CHI_EINVAL;
	}
	if (len > max) {
		return -CHI_ETOOBIG;
	}
	int rc = chi_pb_reserve(out, chi_varint_size(len) + len + slack, at);
	if (rc == CHI_OK) {
		*at += chi_frame_head(len, *at);
	}
	return rc;
}

static void end_frame(struct chi_buffer *out, const uint8_t *start, const uint8_t *end)
{
	chi_buffer_added(out, (size_t)(end - start));
}

/* The mark of a request; none of a write that is not marked. */
static size_t once_len(const struct chi_idempotency_key *idempotency_key)
{
	size_t unused = 0;
	return idempotency_key->sequence == 0
		       ? 0
		       : chi_nested_len(ONCE_FIELD, chi_message_len(&chi_idempotency_message,
								    idempotency_key, &unused));
}

static uint8_t *put_once(uint8_t *at, const struct chi_idempotency_key *idempotency_key)
{
	size_t unused = 0;
	if (idempotency_key->sequence == 0) {
		return at;
	}
	at = chi_put_head(at, ONCE_FIELD,
			  chi_message_len(&chi_idempotency_message, idempotency_key, &unused));
	return chi_message_put(at, &chi_idempotency_message, idempotency_key, 0);
}

static const void *request_of(const struct chi_request *request)
{
	return chi_operation_of(request->op)->request_size > 0 ? request->body : request;
}

int chi_request_pack(const struct chi_request *request, struct chi_buffer *out)
{
	struct measured m = {.len = chi_uint_len(1, request->id) +
				    chi_bytes_len(2, request->store.len) +
				    once_len(&request->idempotency_key) +
				    chi_uint_len(WINDOW_FIELD, request->window) +
				    chi_uint_len(PROGRESS_FIELD, request->progress)};
	uint8_t *at = NULL;
	if (request->op == CHI_OP_UNKNOWN) {
		return -CHI_EINVAL;
	}
	measure_message(&m, chi_operation_of(request->op)->request, request->op,
			request_of(request));
	int rc = begin_frame(out, m.len, REQUEST_MAX, 0, &at);
	if (rc != CHI_OK) {
		return rc;
	}
	const uint8_t *body = at;
	at = chi_put_uint(at, 1, request->id);
	at = chi_put_bytes(at, 2, request->store.bytes, request->store.len);
	at = put_once(at, &request->idempotency_key);
	at = chi_put_uint(at, WINDOW_FIELD, request->window);
	at = chi_put_uint(at, PROGRESS_FIELD, request->progress);
	at = put_measured(at, &m, request->op, request_of(request));
	end_frame(out, body - chi_varint_size(m.len), at);
	return CHI_OK;
}

/* The wire tells an operation that is not known from one that makes no sense; statuses do not. */
static uint64_t code_of(const struct chi_response *response)
{
	bool unknown = response->status == -CHI_EUNSUPPORTED && response->op == CHI_OP_UNKNOWN;
	return unknown ? CHISTORE__V1__CODE__UNKNOWN_OPERATION
		       : (uint64_t)chi_status_to_code(response->status);
}

/* In a struct chi_response. */
static const struct chi_member unknown[] = {
	CHI_M_LIST(6, struct chi_response, unknown, n_unknown, &chi_text_message),
};
static CHI_TABLE(unknown_message, response, unknown, NULL);

/* A failure has no result, but a verification's totals. */
static bool has_result(int status, enum chi_op op)
{
	return status >= 0 || op == CHI_OP_VERIFY;
}

static const void *result_of(const struct chi_response *response)
{
	return chi_operation_of(response->op)->result_size > 0 ? response->body : response;
}

static struct measured measure_response(const struct chi_response *response)
{
	size_t unused = 0;
	struct measured m = {
		.len = chi_uint_len(1, response->id) + chi_uint_len(2, code_of(response)) +
		       chi_bytes_len(3, response->message.len) +
		       chi_bytes_len(4, response->field.len) + chi_uint_len(5, response->last) +
		       chi_message_len(&unknown_message, response, &unused) +
		       chi_uint_len(THOUSANDTHS_FIELD, response->thousandths)};
	if (has_result(response->status, response->op) && result_of(response) != NULL) {
		measure_message(&m, chi_operation_of(response->op)->result, response->op,
				result_of(response));
	}
	return m;
}

/* Measured first, so that the frame's head and the room are right at once, and a response that is
 * too large costs nothing. */
int chi_response_pack(const struct chi_response *response, struct chi_buffer *out)
{
	struct measured m = measure_response(response);
	uint8_t *at = NULL;
	int rc = begin_frame(out, m.len, CHI_FRAME_RESPONSE_MAX, CHI_ROWS_SLACK, &at);
	if (rc != CHI_OK) {
		return rc;
	}
	const uint8_t *start = at - chi_varint_size(m.len);
	at = chi_put_uint(at, 1, response->id);
	at = chi_put_uint(at, 2, code_of(response));
	at = chi_put_bytes(at, 3, response->message.bytes, response->message.len);
	at = chi_put_bytes(at, 4, response->field.bytes, response->field.len);
	at = chi_put_uint(at, 5, response->last);
	at = chi_message_put(at, &unknown_message, response, 0);
	at = chi_put_uint(at, THOUSANDTHS_FIELD, response->thousandths);
	at = put_measured(at, &m, response->op, result_of(response));
	end_frame(out, start, at);
	return CHI_OK;
}

size_t chi_response_size(const struct chi_response *response)
{
	size_t len = measure_response(response).len;
	return len > CHI_FRAME_RESPONSE_MAX ? 0 : chi_varint_size(len) + len + CHI_ROWS_SLACK;
}

/* Fields 1 and 3, under which two results have entries, have tags of the same length. */
size_t chi_entry_size(const struct chi_entry *entry)
{
	size_t noted = 0;
	return chi_nested_len(1, chi_message_len(&chi_entry_message, entry, &noted));
}

/* ---- Unpacking --------------------------------------------------------------------------- */

/* What can be read of a message that may be broken further on: its id, and the first field of an
 * operation. Both 0 if not there. False: it is, and neither can be trusted. */
static bool peek_op(const uint8_t *bytes, size_t len, uint64_t *id, uint32_t *op_field)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	*id = 0;
	*op_field = 0;
	while (chi_field_next(&r, &field)) {
		if (field.number == 1 && field.type == CHI_WIRE_VARINT) {
			*id = field.value;
		} else if (field.number >= CHI_OP_FIELD(CHI_OP_HELLO) &&
			   field.number < CHI_OP_FIELD(CHI_OP_COUNT_OF_OPS) && *op_field == 0) {
			*op_field = field.number;
		}
	}
	return !r.bad;
}

bool chi_store_name_ok(const char *name, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";
	/* strspn makes a table first, which most requests, without a name, need not wait for. */
	return len == 0 || strspn(name, allowed) >= len;
}

/* Of an operation that takes none a client would rely on what is not so; one of a later version
 * may take one. */
static int once_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *to)
{
	struct chi_request *out = to;
	if (!chi_operation_of(out->op)->marked) {
		return chi_flaw_set(u->flaw, -CHI_EINVAL, "only of writes", "%s", "");
	}
	return out->op == CHI_OP_UNKNOWN
		       ? chi_message_check(u, &chi_idempotency_message, bytes, len)
		       : chi_message_read(u, &chi_idempotency_message, bytes, len,
					  &out->idempotency_key);
}

/* Into its own struct, or into the one around it. */
static int contents_read(struct chi_unpacker *u, const struct chi_message *type, size_t size,
			 const uint8_t *bytes, size_t len, void *around, void **made)
{
	if (size == 0) {
		return chi_message_read(u, type, bytes, len, around);
	}
	*made = chi_arena_array(u->arena, 1, size);
	return *made == NULL ? chi_flaw_memory(u->flaw, u->arena, size)
			     : chi_message_read(u, type, bytes, len, *made);
}

static int request_op_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *to)
{
	struct chi_request *out = to;
	const struct chi_operation *operation = chi_operation_of(out->op);
	return contents_read(u, operation->request, operation->request_size, bytes, len, out,
			     &out->made);
}

static int check_request(struct chi_unpacker *u, void *to)
{
	const struct chi_request *out = to;
	if (out->id == 0) {
		return chi_flaw_set(u->flaw, -CHI_EINVAL, "missing", "id");
	}
	if (!chi_store_name_ok(out->store.bytes, out->store.len)) {
		return chi_flaw_set(u->flaw, -CHI_EINVAL, "not a store's name", "store");
	}
	return CHI_OK;
}

static const struct chi_message once_contents = {.read = once_read};
static const struct chi_message request_op = {.read = request_op_read};
static const struct chi_member request_rows[] = {
	CHI_M_NUMBER(1, struct chi_request, id),
	CHI_M_MOST(2, CHI_TEXT, struct chi_request, store, CHI_STORE_NAME_MAX),
	CHI_M_CONTENTS(ONCE_FIELD, &once_contents),
	CHI_M_UP_TO(WINDOW_FIELD, struct chi_request, window, CHI_WINDOW_MAX, "over 1024"),
	CHI_M(PROGRESS_FIELD, CHI_BOOL, struct chi_request, progress),
};
static const struct chi_member request_rest = CHI_M_CONTENTS(0, &request_op);
static const struct chi_message request_message = {
	.descriptor = &chistore__v1__request__descriptor,
	.members = request_rows,
	.n = CHI_COUNT(request_rows),
	.rest = &request_rest,
	.check = check_request,
};

/* The name outlives the unpacker: in the arena, or static if that is full. */
static const char *keep_path(struct chi_arena *arena, const char *path)
{
	const char *kept = chi_arena_text(arena, path, strlen(path));
	return kept != NULL ? kept : "";
}

int chi_request_unpack(const uint8_t *bytes, size_t len, struct chi_arena *arena,
		       struct chi_request *out, const char **field, struct chi_fault *fault)
{
	struct chi_flaw flaw = {.reason = ""};
	struct chi_unpacker u = {.arena = arena, .flaw = &flaw, .enums = CHI_ENUMS_CLOSED};
	uint32_t op_field = 0;
	memset(out, 0, sizeof(*out));
	*field = "";
	/* First what an answer needs, so that even a broken request gets one. */
	bool whole = peek_op(bytes, len, &out->id, &op_field);
	out->op = op_field != 0 ? CHI_OP_OF_FIELD(op_field) : CHI_OP_UNKNOWN;
	int rc = chi_message_read(&u, &request_message, bytes, len, out);
	if (!whole && rc != -CHI_EPROTO) {
		flaw = (struct chi_flaw){.reason = ""};
		rc = chi_flaw_set(&flaw, -CHI_EPROTO, "not a protobuf message", "%s", "");
	}
	if (rc == CHI_OK) {
		return CHI_OK;
	}
	*field = keep_path(arena, flaw.path);
	return chi_flaw_fault(&flaw, rc, fault);
}

/* A failure has no result; one that is there says nothing. The code comes before it. */
static int result_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *to)
{
	struct chi_response *out = to;
	const struct chi_operation *operation = chi_operation_of(out->op);
	if (operation->result == NULL) {
		return CHI_OK;
	}
	if (!has_result(chi_status_from_code(out->status), out->op)) {
		return chi_message_check(u, operation->result, bytes, len);
	}
	return contents_read(u, operation->result, operation->result_size, bytes, len, out,
			     &out->made);
}

/* What was read as a code becomes a status. */
static int check_response(struct chi_unpacker *u, void *to)
{
	struct chi_response *out = to;
	const struct chi_operation *operation = chi_operation_of(out->op);
	out->status = chi_status_from_code(out->status);
	/* One whose code came twice, or behind it, was not read. */
	bool lacks = operation->result_size > 0 && out->made == NULL;
	if (lacks || !has_result(out->status, out->op)) {
		out->op = CHI_OP_UNKNOWN;
	}
	(void)u;
	return CHI_OK;
}

static const struct chi_message response_result = {.read = result_read};
static const struct chi_member response_rows[] = {
	CHI_M_NUMBER(1, struct chi_response, id),
	CHI_M_CAPPED(2, struct chi_response, status, INT32_MAX, INT32_MAX),
	CHI_M(3, CHI_TEXT, struct chi_response, message),
	CHI_M(4, CHI_TEXT, struct chi_response, field),
	CHI_M(5, CHI_BOOL, struct chi_response, last),
	CHI_M_ROWS_OF(6, struct chi_response, unknown, n_unknown, &chi_text_message,
		      CHI_UNKNOWN_MAX, "more than 64 names"),
	CHI_M_UP_TO(THOUSANDTHS_FIELD, struct chi_response, thousandths, CHI_THOUSANDTHS,
		    "over 1000"),
};
static const struct chi_member response_rest = CHI_M_CONTENTS(0, &response_result);
static const struct chi_message response_message = {
	.descriptor = &chistore__v1__response__descriptor,
	.members = response_rows,
	.n = CHI_COUNT(response_rows),
	.rest = &response_rest,
	.check = check_response,
};

int chi_response_unpack(const uint8_t *bytes, size_t len, struct chi_arena *arena,
			struct chi_response *out, struct chi_fault *fault)
{
	struct chi_flaw flaw = {.reason = ""};
	/* Enumerators of a later server are no fault: codes go by their class. */
	struct chi_unpacker u = {.arena = arena, .flaw = &flaw, .enums = CHI_ENUMS_OPEN};
	uint32_t field = 0;
	memset(out, 0, sizeof(*out));
	(void)peek_op(bytes, len, &out->id, &field);
	/* Operations without a result are of a later version. */
	if (field != 0 && chi_operation_of(CHI_OP_OF_FIELD(field))->result != NULL) {
		out->op = CHI_OP_OF_FIELD(field);
	}
	int rc = chi_message_read(&u, &response_message, bytes, len, out);
	if (rc == CHI_OK) {
		return CHI_OK;
	}
	/* Our own memory is our own fault; all else is the server's. */
	return chi_flaw_fault(&flaw, rc == -CHI_ENOMEM ? rc : -CHI_EPROTO, fault);
}
