/* SPDX-License-Identifier: MIT */
/* Requests from bytes that nobody vouches for: checked, unpacked, range-checked, named. */
#include "proto/msg.h"

#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "proto/game_ids.h"
#include "proto/idempotency.h"
#include "proto/record.h"

#define PIECES_MAX 32 /* on a board, as a key can hold them */
#define PUT_PARTS                                                                                  \
	(CHI_PUT_CHI2 | CHI_PUT_COUNTS | CHI_PUT_ADD | CHI_PUT_MOVES | CHI_PUT_LINE |              \
	 CHI_PUT_NOTE | CHI_PUT_EVALS | CHI_PUT_RESTORE | CHI_PUT_SUBTRACT)

/* ---- Positions --------------------------------------------------------------------------- */

/* How many keys stand in the piece of keys; -CHI_EKEY if it does not end with one. */
static int count_keys(struct chi_unpacker *u, const ProtobufCBinaryData *from, size_t *n)
{
	size_t at = 0;
	*n = 0;
	while (at < from->len) {
		size_t len = from->data[at];
		if (len > from->len - at - 1) {
			return chi_flaw(u->flaw, -CHI_EKEY, "cut short", "keys[%zu]", *n);
		}
		at += 1 + len;
		*n += 1;
	}
	return CHI_OK;
}

/* The lengths are known to add up; what remains is the shape of each key. */
static int keys_from(struct chi_unpacker *u, const ProtobufCBinaryData *from, size_t n,
		     struct chi_key *out)
{
	const uint8_t *at = from->data;
	for (size_t i = 0; i < n; i++) {
		size_t len = *at++;
		const char *reason = chi_key_from(at, len, &out[i]);
		if (reason != NULL) {
			return chi_flaw(u->flaw, -CHI_EKEY, reason, "keys[%zu]", i);
		}
		at += len;
	}
	return CHI_OK;
}

/* The limit is of keys and FENs together, which the check before could not see. */
static int positions_from(struct chi_unpacker *u, const ProtobufCBinaryData *keys, char **fens,
			  size_t n_fens, size_t max, struct chi_positions *out)
{
	size_t n_keys = 0;
	int rc = count_keys(u, keys, &n_keys);
	if (rc != CHI_OK) {
		return rc;
	}
	if (n_keys > max || n_fens > max - n_keys) {
		return chi_flaw(u->flaw, -CHI_ETOOBIG, "too many positions",
				n_keys > max ? "keys" : "fens");
	}
	size_t n = n_keys + n_fens;
	out->keys = chi_arena_array(u->arena, n, sizeof(*out->keys));
	out->fens = chi_arena_array(u->arena, n_fens, sizeof(*out->fens));
	if (out->keys == NULL || out->fens == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*out->keys));
	}
	out->n = n;
	out->n_fens = n_fens;
	for (size_t i = 0; i < n_fens; i++) {
		out->fens[i] = chi_text_from(fens[i]);
	}
	return keys_from(u, keys, n_keys, out->keys);
}

/* ---- Put --------------------------------------------------------------------------------- */

/* A bit that is not known would silently not be stored: refused, unlike an unknown field. */
static const char *parts_flaw(uint32_t parts)
{
	if ((parts & ~(uint32_t)PUT_PARTS) != 0) {
		return "unknown part";
	}
	if ((parts & CHI_PUT_RESTORE) != 0 && parts != CHI_PUT_RESTORE) {
		return "RESTORE stands alone";
	}
	if ((parts & CHI_PUT_SUBTRACT) != 0 && parts != CHI_PUT_SUBTRACT) {
		return "SUBTRACT stands alone";
	}
	if ((parts & CHI_PUT_ADD) != 0 && (parts & (CHI_PUT_COUNTS | CHI_PUT_MOVES)) != 0) {
		return "ADD excludes COUNTS and MOVES";
	}
	return NULL;
}

/* Exactly one of key and FEN; absent and empty are the same on this wire. */
static int put_entry_check(struct chi_unpacker *u, const struct chi_put *put,
			   const struct chi_field *key, const struct chi_field *fen)
{
	if ((key->len > 0) == (fen->len > 0)) {
		return chi_flaw(u->flaw, -CHI_EINVAL,
				fen->len > 0 ? "key and fen exclude each other" : "missing",
				fen->len > 0 ? "fen" : "key");
	}
	const char *reason = parts_flaw(put->parts);
	return reason == NULL ? CHI_OK : chi_flaw(u->flaw, -CHI_EINVAL, reason, "parts");
}

/* The fields may come in any order, so all are looked at before the first is used. */
static int put_entry_read(struct chi_unpacker *u, const struct chi_field *from, struct chi_put *put,
			  struct chi_text *fen_out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	struct chi_field parts[5] = {{0}}; /* by number; of each the last */
	while (chi_field_next(&r, &field)) {
		if (field.number < CHI_COUNT(parts)) {
			parts[field.number] = field;
		}
	}
	const struct chi_field *key = &parts[1];
	const struct chi_field *fen = &parts[2];
	const struct chi_field *record = &parts[4];
	put->parts = (uint32_t)parts[3].value;
	int rc = put_entry_check(u, put, key, fen);
	if (rc != CHI_OK) {
		return rc;
	}
	if (key->len > 0) {
		const char *reason = chi_key_from(key->bytes, key->len, &put->key);
		if (reason != NULL) {
			return chi_flaw(u->flaw, -CHI_EKEY, reason, "key");
		}
	} else {
		rc = chi_text_read(u, fen, fen_out);
	}
	if (rc == CHI_OK && record->len > 0) {
		rc = chi_record_read(u, record->bytes, record->len, &put->record);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "record");
		}
	}
	return rc;
}

/* Rescore's: NULL asks for the sum of all counts, so absent must stay apart from all 0. */
static int base_from(struct chi_unpacker *u, const PB(Counts) * from, const struct chi_counts **out)
{
	*out = NULL;
	if (from == NULL) {
		return CHI_OK;
	}
	struct chi_counts *base = chi_arena_alloc(u->arena, sizeof(*base));
	if (base == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, sizeof(*base));
	}
	*base = chi_counts_from(from);
	*out = base;
	return CHI_OK;
}

/* Put's, straight from bytes; given twice was refused by the check. */
static int put_base_read(struct chi_unpacker *u, const struct chi_field *from,
			 struct chi_request *out)
{
	struct chi_counts *base = chi_arena_alloc(u->arena, sizeof(*base));
	if (base == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, sizeof(*base));
	}
	*base = chi_counts_read(from->bytes, from->len);
	out->u.put.base = base;
	return CHI_OK;
}

/* The number of entries is within its limit: the check has counted them. */
static int put_alloc(struct chi_unpacker *u, const struct chi_field *from, struct chi_request *out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	size_t n = 0;
	while (chi_field_next(&r, &field)) {
		n += field.number == 2;
	}
	out->u.put.entries = chi_arena_array(u->arena, n, sizeof(*out->u.put.entries));
	out->u.put.fens = chi_arena_array(u->arena, n, sizeof(*out->u.put.fens));
	if (out->u.put.entries == NULL || out->u.put.fens == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*out->u.put.entries));
	}
	return CHI_OK;
}

/* A Put comes by the thousand: straight from its bytes, which the check has passed, to our
 * structs. The tree that protobuf-c makes would take three times the memory and the time. */
static int put_read(struct chi_unpacker *u, const struct chi_field *from, struct chi_request *out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	int rc = put_alloc(u, from, out);
	while (rc == CHI_OK && chi_field_next(&r, &field)) {
		if (field.number == 1) {
			out->u.put.durability = (enum chi_durability)field.value;
		} else if (field.number == 2) {
			size_t i = out->u.put.n++;
			rc = put_entry_read(u, &field, &out->u.put.entries[i], &out->u.put.fens[i]);
			if (rc != CHI_OK) {
				chi_flaw_under(u->flaw, "entries[%zu]", i);
			}
		} else if (field.number == 3) {
			rc = put_base_read(u, &field, out);
		} else if (field.number == 4) {
			rc = chi_packed_game_ids_from(u, field.bytes, field.len,
						      CHI_PUT_GAME_IDS_MAX, &out->u.put.games,
						      &out->u.put.n_games);
		}
	}
	return rc;
}

/* ---- Scan and Count ---------------------------------------------------------------------- */

/* The material stays text: only the rooms that know chess can read it. A number of pieces that no
 * board has is refused, since cut to a byte it would be another. */
static int filter_from(struct chi_unpacker *u, const PB(Filter) * from, struct chi_request *out)
{
	struct chi_filter *filter = &out->u.scan.spec.filter;
	if (from == NULL) {
		return CHI_OK;
	}
	if (from->pieces_min > PIECES_MAX || from->pieces_max > PIECES_MAX) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "over 32",
				from->pieces_min > PIECES_MAX ? "filter.pieces_min"
							      : "filter.pieces_max");
	}
	out->u.scan.material = chi_text_from(from->material);
	filter->either_colour = from->either_colour;
	filter->pieces_min = (uint8_t)from->pieces_min;
	filter->pieces_max = (uint8_t)from->pieces_max;
	filter->side = (uint8_t)from->side;
	filter->games_min = from->games_min;
	return CHI_OK;
}

/* An empty band is a mistake of the caller's, not a question with an empty answer. */
static int band_from(struct chi_unpacker *u, uint32_t min, uint32_t max, struct chi_request *out)
{
	if (min > CHI_CHI2_MAX || max > CHI_CHI2_MAX) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "over 25599",
				min > CHI_CHI2_MAX ? "chi2_min" : "chi2_max");
	}
	if (min > max) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "chi2_min is above chi2_max", "chi2_min");
	}
	out->u.scan.spec.chi2_min = (uint16_t)min;
	out->u.scan.spec.chi2_max = (uint16_t)max;
	return CHI_OK;
}

/* 0 stays 0: the default is the server's to put there. */
static int window_from(struct chi_unpacker *u, uint32_t from, uint32_t *out)
{
	*out = from;
	return from <= CHI_WINDOW_MAX ? CHI_OK
				      : chi_flaw(u->flaw, -CHI_EINVAL, "over 1024", "window");
}

static int scan_from(struct chi_unpacker *u, const PB(Scan) * from, struct chi_request *out)
{
	struct chi_scan_spec *spec = &out->u.scan.spec;
	spec->descending = from->descending;
	spec->order = (uint8_t)from->order;
	spec->want = (uint8_t)from->want;
	spec->limit = from->limit;
	int rc = band_from(u, from->chi2_min, from->chi2_max, out);
	if (rc == CHI_OK) {
		rc = filter_from(u, from->filter, out);
	}
	if (rc == CHI_OK && from->after != NULL) {
		rc = chi_cursor_from(u, from->after, &spec->after);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "after");
		}
	}
	return rc == CHI_OK ? window_from(u, from->window, &out->u.scan.window) : rc;
}

static int count_from(struct chi_unpacker *u, const PB(Count) * from, struct chi_request *out)
{
	int rc = band_from(u, from->chi2_min, from->chi2_max, out);
	return rc == CHI_OK ? filter_from(u, from->filter, out) : rc;
}

/* ---- Games ------------------------------------------------------------------------------- */

/* Exactly one of key and FEN. */
static int explore_from(struct chi_unpacker *u, const PB(Explore) * from, struct chi_request *out)
{
	bool fen = from->fen[0] != '\0';
	if ((from->key.len > 0) == fen) {
		return chi_flaw(u->flaw, -CHI_EINVAL,
				fen ? "key and fen exclude each other" : "missing", "%s",
				fen ? "fen" : "key");
	}
	out->u.explore.fen = chi_text_from(from->fen);
	const char *reason =
		fen ? NULL : chi_key_from(from->key.data, from->key.len, &out->u.explore.key);
	return reason == NULL ? CHI_OK : chi_flaw(u->flaw, -CHI_EKEY, reason, "key");
}

static int import_from(struct chi_unpacker *u, const PB(Import) * from, struct chi_request *out)
{
	if (from->kind == CHISTORE__V1__IMPORT_KIND__IMPORT_NONE) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "missing", "kind");
	}
	out->u.import.kind = (enum chi_import_kind)from->kind;
	out->u.import.max_ply = from->max_ply;
	out->u.import.games_min = from->games_min;
	out->u.import.strict = from->strict;
	return CHI_OK;
}

static int games_from(struct chi_unpacker *u, const PB(GameIds) * from, struct chi_request *out)
{
	out->u.games.limit = from->limit;
	out->u.games.after_set = from->after.len > 0;
	if (!out->u.games.after_set) {
		return CHI_OK;
	}
	if (from->after.len != CHI_GAME_ID_SIZE) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "not 16 bytes", "after");
	}
	memcpy(out->u.games.after, from->after.data, CHI_GAME_ID_SIZE);
	return CHI_OK;
}

/* Straight from its bytes: it may be all that a frame holds. The data is not copied. */
static int import_data_read(struct chi_unpacker *u, const struct chi_field *from,
			    struct chi_request *out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	struct chi_field file = {.bytes = from->bytes};
	while (chi_field_next(&r, &field)) {
		if (field.number == 1) {
			file = field;
		} else if (field.number == 2) {
			out->u.import_data.bytes = field.bytes;
			out->u.import_data.len = field.len;
		}
	}
	return chi_text_read(u, &file, &out->u.import_data.file);
}

/* ---- All --------------------------------------------------------------------------------- */

/* By operation; the large ones have gone another way (unpack_large). Enumerators are known ones
 * here, and numbers within 32 bits: the check has refused all others. */
static int op_from(struct chi_unpacker *u, const PB(Request) * from, struct chi_request *out)
{
	switch (from->op_case) {
	case CHISTORE__V1__REQUEST__OP_HELLO:
		out->u.hello.version = from->hello->version;
		out->u.hello.client = chi_text_from(from->hello->client);
		out->u.hello.access_token = chi_text_from(from->hello->access_token);
		return CHI_OK;
	case CHISTORE__V1__REQUEST__OP_PROBE:
		return positions_from(u, &from->probe->keys, from->probe->fens, from->probe->n_fens,
				      CHI_PROBE_MAX, &out->u.positions);
	case CHISTORE__V1__REQUEST__OP_GET:
		return positions_from(u, &from->get->keys, from->get->fens, from->get->n_fens,
				      CHI_PROBE_MAX, &out->u.positions);
	case CHISTORE__V1__REQUEST__OP_DELETE:
		out->u.del.durability = (enum chi_durability)from->delete_->durability;
		return positions_from(u, &from->delete_->keys, from->delete_->fens,
				      from->delete_->n_fens, CHI_PUT_MAX, &out->u.del.positions);
	case CHISTORE__V1__REQUEST__OP_SCAN:
		return scan_from(u, from->scan, out);
	case CHISTORE__V1__REQUEST__OP_COUNT:
		return count_from(u, from->count, out);
	case CHISTORE__V1__REQUEST__OP_CREDIT:
		/* Never an error, as it has no answer: what is too much is as much as can be. */
		out->u.credit.responses = from->credit->responses <= CHI_WINDOW_MAX
						  ? from->credit->responses
						  : CHI_WINDOW_MAX;
		return CHI_OK;
	case CHISTORE__V1__REQUEST__OP_BACKUP:
		return window_from(u, from->backup->window, &out->u.backup.window);
	case CHISTORE__V1__REQUEST__OP_RESCORE:
		return base_from(u, from->rescore->base_rates, &out->u.rescore.base);
	case CHISTORE__V1__REQUEST__OP_EXPLORE:
		return explore_from(u, from->explore, out);
	case CHISTORE__V1__REQUEST__OP_IMPORT_GAMES:
		return import_from(u, from->import_games, out);
	case CHISTORE__V1__REQUEST__OP_GAMES:
		return games_from(u, from->games, out);
	default:
		return CHI_OK;
	}
}

/* Stores' names become paths of messages and parts of log lines: nothing else is let in. */
static bool is_store_name(struct chi_text name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.bytes[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.') {
			return false;
		}
	}
	return true;
}

/* What every request has beside its operation. */
static int check_envelope(struct chi_unpacker *u, const struct chi_request *request)
{
	if (request->id == 0) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "missing", "id");
	}
	if (!is_store_name(request->store)) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "not a store's name", "store");
	}
	return CHI_OK;
}

/* A whole request with a Put or ImportData. The id is known. */
static int unpack_large(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
			struct chi_request *out)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	struct chi_field store = {.bytes = bytes};
	struct chi_field op = {0};
	while (chi_field_next(&r, &field)) {
		if (field.number == 2) {
			store = field;
		} else if (field.number == CHI_OP_FIELD(out->op)) {
			op = field;
		}
	}
	int rc = chi_text_read(u, &store, &out->store);
	if (rc == CHI_OK) {
		rc = check_envelope(u, out);
	}
	if (rc == CHI_OK) {
		rc = out->op == CHI_OP_PUT ? put_read(u, &op, out) : import_data_read(u, &op, out);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "%s", chi_op_name(out->op));
		}
	}
	return rc;
}

/* Any other, by way of protobuf-c. */
static int unpack_other(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
			struct chi_request *out)
{
	ProtobufCMessage *message = NULL;
	int rc = chi_pb_unpack(&chistore__v1__request__descriptor, bytes, len, u, &message);
	if (rc != CHI_OK) {
		return rc;
	}
	const PB(Request) *request = (const PB(Request) *)(const void *)message;
	out->store = chi_text_from(request->store);
	rc = check_envelope(u, out);
	if (rc == CHI_OK) {
		rc = op_from(u, request, out);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "%s", chi_op_name(out->op));
		}
	}
	return rc;
}

static int unpack(struct chi_unpacker *u, const uint8_t *bytes, size_t len, struct chi_request *out)
{
	int rc = chi_pb_check(&chistore__v1__request__descriptor, bytes, len, CHI_ENUMS_CLOSED,
			      u->flaw);
	if (rc != CHI_OK) {
		return rc;
	}
	bool large = out->op == CHI_OP_PUT || out->op == CHI_OP_IMPORT_DATA;
	rc = large ? unpack_large(u, bytes, len, out) : unpack_other(u, bytes, len, out);
	return rc == CHI_OK ? chi_idempotency_read(u, bytes, len, out) : rc;
}

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
	struct chi_unpacker u = {.arena = arena, .flaw = &flaw};
	uint32_t op_field = 0;
	memset(out, 0, sizeof(*out));
	*field = "";
	/* First what an answer needs, so that even a broken request gets one. */
	chi_pb_peek(bytes, len, &out->id, &op_field);
	out->op = op_field != 0 ? CHI_OP_OF_FIELD(op_field) : CHI_OP_UNKNOWN;
	int rc = unpack(&u, bytes, len, out);
	if (rc != CHI_OK) {
		*field = keep_path(arena, flaw.path);
		return chi_flaw_fault(&flaw, rc, fault);
	}
	return CHI_OK;
}
