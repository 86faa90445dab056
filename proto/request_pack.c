/* SPDX-License-Identifier: MIT */
/*
 * Requests to frames. What carries positions by the thousand goes straight to bytes; the small
 * requests go through the generated structs.
 */
#include "proto/msg.h"

#include <string.h>

#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/game_ids.h"
#include "proto/idempotency.h"
#include "proto/record.h"

/* What a frame's head can say; the server's own limit is the business of whoever has its Hello. */
#define BODY_MAX (((size_t)1 << 28) - 1)

/* For the texts of a small request: a name and a material signature. */
#define SCRATCH_BUDGET ((size_t)64 << 10)

/* ---- Straight to bytes: Probe, Get, Delete, Put, ImportData ------------------------------ */

/* Keys in one piece, each after its length. */
static size_t keys_len(const struct chi_positions *positions)
{
	size_t n = positions->n - positions->n_fens;
	size_t len = n;
	for (size_t i = 0; i < n; i++) {
		len += positions->keys[i].len;
	}
	return len;
}

/* Contents of Probe and Get, and the better part of Delete. */
static size_t positions_len(const struct chi_positions *positions)
{
	size_t len = chi_bytes_len(1, keys_len(positions));
	for (size_t i = 0; i < positions->n_fens; i++) {
		len += chi_nested_len(2, positions->fens[i].len);
	}
	return len;
}

/* Keys stand in one field, FENs in one each; the answer keeps this order. */
static uint8_t *put_positions(uint8_t *at, const struct chi_positions *positions)
{
	size_t n = positions->n - positions->n_fens;
	if (n > 0) {
		at = chi_put_head(at, 1, keys_len(positions));
	}
	for (size_t i = 0; i < n; i++) {
		const struct chi_key *key = &positions->keys[i];
		*at++ = key->len;
		memcpy(at, key->bytes, key->len);
		at += key->len;
	}
	for (size_t i = 0; i < positions->n_fens; i++) {
		/* Even an empty one, or the others would answer for the wrong position. */
		const struct chi_text *fen = &positions->fens[i];
		at = chi_put_head(at, 2, fen->len);
		if (fen->len > 0) {
			memcpy(at, fen->bytes, fen->len);
		}
		at += fen->len;
	}
	return at;
}

/* False for structs that could not be read back: a count or a key of no possible length. */
static bool positions_fit(const struct chi_positions *positions)
{
	if (positions->n_fens > positions->n) {
		return false;
	}
	for (size_t i = 0; i < positions->n - positions->n_fens; i++) {
		if (positions->keys[i].len > CHI_KEY_MAX) {
			return false;
		}
	}
	return true;
}

/* The FEN of an entry; empty where its key says all. */
static struct chi_text entry_fen(const struct chi_request *request, size_t i)
{
	const struct chi_text *fens = request->u.put.fens;
	return fens != NULL ? fens[i] : (struct chi_text){0};
}

/* Contents of a PutEntry. An empty record is left out: absent and empty mean the same. */
static size_t put_entry_len(const struct chi_put *put, struct chi_text fen)
{
	size_t key_len = fen.len > 0 ? 0 : put->key.len;
	return chi_bytes_len(1, key_len) + chi_bytes_len(2, fen.len) + chi_uint_len(3, put->parts) +
	       chi_bytes_len(4, chi_record_len(&put->record));
}

static uint8_t *put_put_entry(uint8_t *at, const struct chi_put *put, struct chi_text fen)
{
	at = chi_put_bytes(at, 1, put->key.bytes, fen.len > 0 ? 0 : put->key.len);
	at = chi_put_bytes(at, 2, fen.bytes, fen.len);
	at = chi_put_uint(at, 3, put->parts);
	size_t record_len = chi_record_len(&put->record);
	if (record_len == 0) {
		return at;
	}
	return chi_put_record(chi_put_head(at, 4, record_len), &put->record);
}

/* Mirrors put_put. */
static size_t put_len(const struct chi_request *request)
{
	size_t len = chi_uint_len(1, request->u.put.durability);
	for (size_t i = 0; i < request->u.put.n; i++) {
		size_t entry = put_entry_len(&request->u.put.entries[i], entry_fen(request, i));
		len += chi_nested_len(2, entry);
	}
	/* Counts that are all 0 are still there: presence says "set them". */
	const struct chi_counts *base = request->u.put.base;
	len += chi_bytes_len(4, request->u.put.n_games * CHI_GAME_BYTES);
	return base == NULL ? len : len + chi_nested_len(3, chi_counts_len(base));
}

static uint8_t *put_put(uint8_t *at, const struct chi_request *request)
{
	at = chi_put_uint(at, 1, request->u.put.durability);
	for (size_t i = 0; i < request->u.put.n; i++) {
		const struct chi_put *entry = &request->u.put.entries[i];
		struct chi_text fen = entry_fen(request, i);
		at = put_put_entry(chi_put_head(at, 2, put_entry_len(entry, fen)), entry, fen);
	}
	const struct chi_counts *base = request->u.put.base;
	if (base != NULL) {
		at = chi_put_counts(chi_put_head(at, 3, chi_counts_len(base)), base);
	}
	size_t n_games = request->u.put.n_games;
	if (n_games > 0) {
		at = chi_put_head(at, 4, n_games * CHI_GAME_BYTES);
		at = chi_put_packed_game_ids(at, request->u.put.games, n_games);
	}
	return at;
}

/* The operation's contents, whichever of the large ones it is. */
static size_t body_len(const struct chi_request *request)
{
	switch (request->op) {
	case CHI_OP_PUT:
		return put_len(request);
	case CHI_OP_IMPORT_DATA:
		return chi_bytes_len(1, request->u.import_data.file.len) +
		       chi_bytes_len(2, request->u.import_data.len);
	case CHI_OP_DELETE:
		return positions_len(&request->u.del.positions) +
		       chi_uint_len(3, request->u.del.durability);
	default:
		return positions_len(&request->u.positions);
	}
}

static uint8_t *put_body(uint8_t *at, const struct chi_request *request)
{
	switch (request->op) {
	case CHI_OP_PUT:
		return put_put(at, request);
	case CHI_OP_IMPORT_DATA:
		at = chi_put_bytes(at, 1, request->u.import_data.file.bytes,
				   request->u.import_data.file.len);
		return chi_put_bytes(at, 2, request->u.import_data.bytes,
				     request->u.import_data.len);
	case CHI_OP_DELETE:
		at = put_positions(at, &request->u.del.positions);
		return chi_put_uint(at, 3, request->u.del.durability);
	default:
		return put_positions(at, &request->u.positions);
	}
}

/* Measured, then written in one go: a Put of 10,000 entries takes one allocation. */
static int pack_large(const struct chi_request *request, struct chi_buffer *out)
{
	uint32_t field = CHI_OP_FIELD(request->op);
	size_t inner = body_len(request);
	size_t len = chi_uint_len(1, request->id) + chi_bytes_len(2, request->store.len) +
		     chi_idempotency_len(&request->idempotency_key) + chi_nested_len(field, inner);
	if (len > BODY_MAX) {
		return -CHI_ETOOBIG;
	}
	uint8_t *start = NULL;
	int rc = chi_pb_reserve(out, chi_varint_len(len) + len, &start);
	if (rc != CHI_OK) {
		return rc;
	}
	uint8_t *at = start + chi_frame_head(len, start);
	at = chi_put_uint(at, 1, request->id);
	at = chi_put_bytes(at, 2, request->store.bytes, request->store.len);
	at = chi_put_once(at, &request->idempotency_key);
	at = put_body(chi_put_head(at, field, inner), request);
	chi_buffer_added(out, (size_t)(at - start));
	return CHI_OK;
}

/* ---- Through the generated structs: all others ------------------------------------------- */

/* A small request on its way: the message and everything it points to. */
struct small {
	struct chi_arena arena;
	PB(Request) message;
	PB(Filter) filter;
	PB(Cursor) cursor;
	PB(Counts) counts;
	PB(IdempotencyKey) idempotency_key;
	union {
		PB(Hello) hello;
		PB(Ping) ping;
		PB(Info) info;
		PB(Scan) scan;
		PB(Count) count;
		PB(Credit) credit;
		PB(Cancel) cancel;
		PB(Backup) backup;
		PB(Verify) verify;
		PB(Compact) compact;
		PB(Rescore) rescore;
		PB(Explore) explore;
		PB(Import) import;
		PB(ImportEnd) import_end;
		PB(GameIds) games;
		PB(Outcome) outcome;
	} op;
};

static void small_deinit(struct small *small)
{
	chi_arena_deinit(&small->arena);
}

static PB(Counts) * counts_to(struct small *small, const struct chi_counts *from)
{
	if (from == NULL) {
		return NULL;
	}
	chistore__v1__counts__init(&small->counts);
	small->counts.white = from->white;
	small->counts.draws = from->draws;
	small->counts.black = from->black;
	small->counts.other = from->other;
	return &small->counts;
}

/* NULL in *out if the filter passes all. */
static int filter_to(struct small *small, const struct chi_request *request, PB(Filter) * *out)
{
	const struct chi_filter *from = &request->u.scan.spec.filter;
	struct chi_text material = request->u.scan.material;
	PB(Filter) *filter = &small->filter;
	*out = NULL;
	if (material.len == 0 && !from->either_colour && from->pieces_min == 0 &&
	    from->pieces_max == 0 && from->side == CHI_SIDE_ANY && from->games_min == 0) {
		return CHI_OK;
	}
	chistore__v1__filter__init(filter);
	filter->material = chi_pb_text(&small->arena, material);
	if (filter->material == NULL) {
		return chi_arena_status(&small->arena, material.len);
	}
	filter->either_colour = from->either_colour;
	filter->pieces_min = from->pieces_min;
	filter->pieces_max = from->pieces_max;
	filter->side = (PB(Side))from->side;
	filter->games_min = from->games_min;
	*out = filter;
	return CHI_OK;
}

/* Bytes of a field, copied: the generated structs know no const. */
static int bytes_to(struct small *small, const uint8_t *bytes, size_t len, ProtobufCBinaryData *out)
{
	out->data = chi_arena_alloc(&small->arena, len);
	if (out->data == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(out->data, bytes, len);
	out->len = len;
	return CHI_OK;
}

/* NULL without a cursor; with one, key.data is NULL if memory is out. */
static PB(Cursor) * cursor_to(struct small *small, const struct chi_cursor *from)
{
	if (!from->set) {
		return NULL;
	}
	chistore__v1__cursor__init(&small->cursor);
	small->cursor.chi2 = from->chi2;
	small->cursor.key.len = from->key.len;
	/* The generated structs know no const; packing only reads. */
	small->cursor.key.data = chi_arena_alloc(&small->arena, CHI_KEY_MAX);
	if (small->cursor.key.data != NULL) {
		memcpy(small->cursor.key.data, from->key.bytes, CHI_KEY_MAX);
	}
	return &small->cursor;
}

static int scan_to(struct small *small, const struct chi_request *request)
{
	const struct chi_scan_spec *spec = &request->u.scan.spec;
	PB(Scan) *scan = &small->op.scan;
	chistore__v1__scan__init(scan);
	scan->chi2_min = spec->chi2_min;
	scan->chi2_max = spec->chi2_max;
	scan->descending = spec->descending;
	scan->order = (PB(Order))spec->order;
	scan->want = (PB(Want))spec->want;
	scan->limit = spec->limit;
	scan->window = request->u.scan.window;
	scan->after = cursor_to(small, &spec->after);
	if (scan->after != NULL && scan->after->key.data == NULL) {
		return -CHI_ENOMEM;
	}
	small->message.scan = scan;
	return filter_to(small, request, &scan->filter);
}

static int count_to(struct small *small, const struct chi_request *request)
{
	PB(Count) *count = &small->op.count;
	chistore__v1__count__init(count);
	count->chi2_min = request->u.scan.spec.chi2_min;
	count->chi2_max = request->u.scan.spec.chi2_max;
	small->message.count = count;
	return filter_to(small, request, &count->filter);
}

static int hello_to(struct small *small, const struct chi_request *request)
{
	PB(Hello) *hello = &small->op.hello;
	chistore__v1__hello__init(hello);
	hello->version = request->u.hello.version;
	hello->client = chi_pb_text(&small->arena, request->u.hello.client);
	hello->access_token = chi_pb_text(&small->arena, request->u.hello.access_token);
	small->message.hello = hello;
	size_t len = request->u.hello.client.len + request->u.hello.access_token.len;
	return hello->client != NULL && hello->access_token != NULL
		       ? CHI_OK
		       : chi_arena_status(&small->arena, len);
}

/* The key, or the FEN if there is one. */
static int explore_to(struct small *small, const struct chi_request *request)
{
	PB(Explore) *explore = &small->op.explore;
	const struct chi_key *key = &request->u.explore.key;
	struct chi_text fen = request->u.explore.fen;
	chistore__v1__explore__init(explore);
	small->message.explore = explore;
	if (fen.len > 0) {
		explore->fen = chi_pb_text(&small->arena, fen);
		return explore->fen != NULL ? CHI_OK : chi_arena_status(&small->arena, fen.len);
	}
	return key->len <= CHI_KEY_MAX ? bytes_to(small, key->bytes, key->len, &explore->key)
				       : -CHI_EINVAL;
}

static int import_to(struct small *small, const struct chi_request *request)
{
	PB(Import) *import = &small->op.import;
	chistore__v1__import__init(import);
	import->kind = (PB(ImportKind))request->u.import.kind;
	import->max_ply = request->u.import.max_ply;
	import->games_min = request->u.import.games_min;
	import->strict = request->u.import.strict;
	small->message.import_games = import;
	return CHI_OK;
}

static int games_to(struct small *small, const struct chi_request *request)
{
	PB(GameIds) *games = &small->op.games;
	chistore__v1__game_ids__init(games);
	games->limit = request->u.games.limit;
	small->message.games = games;
	return request->u.games.after_set
		       ? bytes_to(small, request->u.games.after, CHI_GAME_ID_SIZE, &games->after)
		       : CHI_OK;
}

/* Operations without fields, and those with one. */
static int plain_to(struct small *small, const struct chi_request *request)
{
	PB(Request) *message = &small->message;
	switch (request->op) {
	case CHI_OP_PING:
		chistore__v1__ping__init(message->ping = &small->op.ping);
		return CHI_OK;
	case CHI_OP_INFO:
		chistore__v1__info__init(message->info = &small->op.info);
		return CHI_OK;
	case CHI_OP_CREDIT:
		chistore__v1__credit__init(message->credit = &small->op.credit);
		message->credit->responses = request->u.credit.responses;
		return CHI_OK;
	case CHI_OP_CANCEL:
		chistore__v1__cancel__init(message->cancel = &small->op.cancel);
		return CHI_OK;
	case CHI_OP_BACKUP:
		chistore__v1__backup__init(message->backup = &small->op.backup);
		message->backup->window = request->u.backup.window;
		return CHI_OK;
	case CHI_OP_VERIFY:
		chistore__v1__verify__init(message->verify = &small->op.verify);
		return CHI_OK;
	case CHI_OP_COMPACT:
		chistore__v1__compact__init(message->compact = &small->op.compact);
		return CHI_OK;
	case CHI_OP_RESCORE:
		chistore__v1__rescore__init(message->rescore = &small->op.rescore);
		message->rescore->base_rates = counts_to(small, request->u.rescore.base);
		return CHI_OK;
	case CHI_OP_OUTCOME:
		chistore__v1__outcome__init(message->outcome = &small->op.outcome);
		return CHI_OK;
	case CHI_OP_IMPORT_END:
		chistore__v1__import_end__init(message->import_end = &small->op.import_end);
		return CHI_OK;
	default:
		return -CHI_EINVAL;
	}
}

static int once_to(struct small *small, const struct chi_idempotency_key *from)
{
	PB(IdempotencyKey) *idempotency_key = &small->idempotency_key;
	if (from->sequence == 0) {
		return CHI_OK;
	}
	chistore__v1__idempotency_key__init(idempotency_key);
	idempotency_key->since = from->since;
	idempotency_key->sequence = from->sequence;
	idempotency_key->unanswered = from->unanswered;
	small->message.idempotency_key = idempotency_key;
	if (chi_idempotency_names_store(from)) {
		int rc = bytes_to(small, from->store, sizeof(from->store), &idempotency_key->store);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return bytes_to(small, from->client, sizeof(from->client), &idempotency_key->client);
}

/* The arena is freed with the struct, whichever way this ends. */
static int pack_small(const struct chi_request *request, struct chi_buffer *out)
{
	_cleanup_(small_deinit) struct small small = {0};
	int rc = CHI_OK;
	chi_arena_init(&small.arena, SCRATCH_BUDGET);
	chistore__v1__request__init(&small.message);
	small.message.id = request->id;
	small.message.op_case = (PB(Request__OpCase))CHI_OP_FIELD(request->op);
	small.message.store = chi_pb_text(&small.arena, request->store);
	if (small.message.store == NULL) {
		return chi_arena_status(&small.arena, request->store.len);
	}
	rc = once_to(&small, &request->idempotency_key);
	if (rc != CHI_OK) {
		return rc;
	}
	switch (request->op) {
	case CHI_OP_HELLO:
		rc = hello_to(&small, request);
		break;
	case CHI_OP_SCAN:
		rc = scan_to(&small, request);
		break;
	case CHI_OP_COUNT:
		rc = count_to(&small, request);
		break;
	case CHI_OP_EXPLORE:
		rc = explore_to(&small, request);
		break;
	case CHI_OP_IMPORT:
		rc = import_to(&small, request);
		break;
	case CHI_OP_GAME_IDS:
		rc = games_to(&small, request);
		break;
	default:
		rc = plain_to(&small, request);
		break;
	}
	if (rc == CHI_OK) {
		rc = chi_pb_pack(&small.message.base, BODY_MAX, out);
	}
	if (request->op == CHI_OP_HELLO) {
		/* A copy of the access token is among it. */
		chi_arena_wipe(&small.arena);
	}
	return rc;
}

int chi_request_pack(const struct chi_request *request, struct chi_buffer *out)
{
	switch (request->op) {
	case CHI_OP_DELETE:
		return positions_fit(&request->u.del.positions) ? pack_large(request, out)
								: -CHI_EINVAL;
	case CHI_OP_PROBE:
	case CHI_OP_GET:
		return positions_fit(&request->u.positions) ? pack_large(request, out)
							    : -CHI_EINVAL;
	case CHI_OP_PUT:
		for (size_t i = 0; i < request->u.put.n; i++) {
			if (request->u.put.entries[i].key.len > CHI_KEY_MAX) {
				return -CHI_EINVAL;
			}
		}
		return pack_large(request, out);
	case CHI_OP_IMPORT_DATA:
		return pack_large(request, out);
	default:
		return pack_small(request, out);
	}
}

int chi_request_set_key(const uint8_t *bytes, size_t len,
			const struct chi_idempotency_key *idempotency_key, struct chi_buffer *out)
{
	const uint8_t *body = NULL;
	size_t body_len = 0;
	size_t frame_len = 0;
	if (chi_frame_take(bytes, len, BODY_MAX, &body, &body_len, &frame_len) != CHI_OK ||
	    frame_len != len) {
		return -CHI_EPROTO;
	}
	size_t marked = body_len + chi_idempotency_len(idempotency_key);
	if (marked > BODY_MAX) {
		return -CHI_ETOOBIG;
	}
	uint8_t *start = NULL;
	int rc = chi_pb_reserve(out, chi_varint_len(marked) + marked, &start);
	if (rc != CHI_OK) {
		return rc;
	}
	/* Fields may come in any order. */
	uint8_t *at = chi_put_once(start + chi_frame_head(marked, start), idempotency_key);
	memcpy(at, body, body_len);
	chi_buffer_added(out, (size_t)(at - start) + body_len);
	return CHI_OK;
}
