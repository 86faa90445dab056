/* SPDX-License-Identifier: MIT */
/* Put, Delete, Rescore; the mark that makes a write happen at most once, and Outcome. */
#include "proto/operations.h"

#include "base/attr.h"
#include "base/record.h"
#include "proto/record.h"

#define OUTCOME struct chi_outcome

/* ---- The mark ---------------------------------------------------------------------------- */

static int check_once(struct chi_unpacker *u, void *out)
{
	struct chi_idempotency_key *idempotency_key = out;
	if (idempotency_key->sequence == 0) {
		return chi_flaw_set(u->flaw, -CHI_EINVAL, "missing", "sequence");
	}
	if (idempotency_key->unanswered > idempotency_key->sequence) {
		return chi_flaw_set(u->flaw, -CHI_EINVAL, "above sequence", "unanswered");
	}
	idempotency_key->unanswered = idempotency_key->unanswered == 0
					      ? idempotency_key->sequence
					      : idempotency_key->unanswered;
	return CHI_OK;
}

static const struct chi_member idempotency_key[] = {
	CHI_M_ALWAYS(1, CHI_FIXED, struct chi_idempotency_key, client),
	CHI_M_NUMBER(2, struct chi_idempotency_key, since),
	CHI_M_NUMBER(3, struct chi_idempotency_key, sequence),
	CHI_M_NUMBER(4, struct chi_idempotency_key, unanswered),
	CHI_M(5, CHI_FIXED, struct chi_idempotency_key, store),
};
CHI_TABLE(chi_idempotency_message, idempotency_key, idempotency_key, check_once);

/* ---- Put --------------------------------------------------------------------------------- */

/* The FEN of an entry; empty where its key says all. */
static struct chi_text entry_fen(const struct chi_put_request *request, size_t i)
{
	return request->fens != NULL ? request->fens[i] : (struct chi_text){0};
}

/* Contents of a PutEntry, without what it does not name. An empty record is left out: absent and
 * empty mean the same. */
static size_t entry_len(const struct chi_put_entry *put, struct chi_text fen)
{
	struct chi_record record = put->record;
	chi_record_name(&record, put->parts);
	size_t key_len = put->key.len <= CHI_KEY_MAX ? put->key.len : CHI_UNPACKABLE;
	return chi_bytes_len(1, fen.len > 0 ? 0 : key_len) + chi_bytes_len(2, fen.len) +
	       chi_uint_len(3, put->parts) + chi_bytes_len(4, chi_record_len(&record));
}

static uint8_t *put_entry(uint8_t *at, const struct chi_put_entry *put, struct chi_text fen)
{
	at = chi_put_bytes(at, 1, put->key.bytes, fen.len > 0 ? 0 : put->key.len);
	at = chi_put_bytes(at, 2, fen.bytes, fen.len);
	at = chi_put_uint(at, 3, put->parts);
	struct chi_record record = put->record;
	chi_record_name(&record, put->parts);
	size_t record_len = chi_record_len(&record);
	if (record_len == 0) {
		return at;
	}
	return chi_put_record(chi_put_head(at, 4, record_len), &record);
}

static size_t put_len(const void *from, size_t *noted)
{
	const struct chi_put_request *request = from;
	size_t len = chi_uint_len(1, request->durability);
	(void)noted;
	for (size_t i = 0; i < request->n; i++) {
		size_t entry = entry_len(&request->entries[i], entry_fen(request, i));
		len += chi_nested_len(2, entry);
	}
	/* Counts that are all 0 are still there: presence says "set them". */
	const struct chi_counts *base = request->base;
	len += chi_bytes_len(4, request->n_games * CHI_GAME_BYTES);
	return base == NULL ? len : len + chi_nested_len(3, chi_counts_len(base));
}

static uint8_t *put_put(uint8_t *at, const void *from, size_t noted)
{
	const struct chi_put_request *request = from;
	(void)noted;
	at = chi_put_uint(at, 1, request->durability);
	for (size_t i = 0; i < request->n; i++) {
		const struct chi_put_entry *entry = &request->entries[i];
		struct chi_text fen = entry_fen(request, i);
		at = put_entry(chi_put_head(at, 2, entry_len(entry, fen)), entry, fen);
	}
	const struct chi_counts *base = request->base;
	if (base != NULL) {
		at = chi_put_counts(chi_put_head(at, 3, chi_counts_len(base)), base);
	}
	size_t n_games = request->n_games;
	if (n_games > 0) {
		at = chi_put_head(at, 4, n_games * CHI_GAME_BYTES);
		at = chi_put_packed_game_ids(at, request->games, n_games);
	}
	return at;
}

/* The last FEN of an entry; empty if it has none. */
static struct chi_field fen_of(const uint8_t *bytes, size_t len)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	struct chi_field fen = {0};
	while (chi_field_next(&r, &field)) {
		fen = field.number == 2 ? field : fen;
	}
	return fen;
}

static int entry_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *out)
{
	struct chi_put_entry *put = out;
	struct chi_record_flaw flaw;
	const char *reason = chi_put_parts_flaw(put->parts);
	int rc = chi_key_or_fen(u, put->key.len, fen_of(bytes, len).len);
	if (rc != CHI_OK) {
		return rc;
	}
	if (reason != NULL) {
		return chi_flaw_set(u->flaw, -CHI_EINVAL, reason, "parts");
	}
	chi_record_name(&put->record, put->parts);
	rc = chi_record_check(&put->record, &flaw);
	return rc < 0 ? chi_flaw_set(u->flaw, rc, flaw.reason, "record.%s", flaw.where) : CHI_OK;
}

/* FENs are beside the entries, and games packed. */
static int put_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *to)
{
	struct chi_put_request *out = to;
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	size_t i = 0;
	int rc = CHI_OK;
	out->fens = chi_arena_array(u->arena, out->n, sizeof(*out->fens));
	if (out->fens == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, out->n * sizeof(*out->fens));
	}
	while (rc == CHI_OK && chi_field_next(&r, &field)) {
		if (field.number == 2 && out->entries[i++].key.len == 0) {
			const struct chi_field fen = fen_of(field.bytes, field.len);
			rc = chi_text_read(u, &fen, &out->fens[i - 1]);
		} else if (field.number == 4) {
			rc = chi_packed_games_read(u, field.bytes, field.len, CHI_PUT_GAME_IDS_MAX,
						   &out->games, &out->n_games);
		}
	}
	return rc;
}

static const struct chi_member entry[] = {
	CHI_M(1, CHI_KEY, struct chi_put_entry, key),
	CHI_M_UNKEPT(2, 0, NULL),
	CHI_M_NUMBER(3, struct chi_put_entry, parts),
	CHI_M_NESTED(4, struct chi_put_entry, record, CHI_IF_SET, &chi_named_record_message),
};
static const struct chi_message entry_message = {
	.descriptor = &chistore__v1__put_entry__descriptor,
	.members = entry,
	.n = CHI_COUNT(entry),
	.read = entry_read,
};

static const struct chi_member put[] = {
	CHI_M_NUMBER(1, struct chi_put_request, durability),
	CHI_M_ROWS(2, struct chi_put_request, entries, n, &entry_message, CHI_PUT_MAX),
	CHI_M_POINTER(3, struct chi_put_request, base, &chi_counts_message),
	CHI_M_UNKEPT(4, CHI_PUT_GAME_IDS_MAX *CHI_GAME_BYTES, "more than 10000 games"),
};
const struct chi_message chi_put_request = {
	.descriptor = &chistore__v1__put__descriptor,
	.members = put,
	.n = CHI_COUNT(put),
	.len = put_len,
	.put = put_put,
	.read = put_read,
};

/* By itself, and as what an import did to positions. */
static const struct chi_member put_counts[] = {
	CHI_M_NUMBER(1, struct chi_put_result, added),
	CHI_M_NUMBER(2, struct chi_put_result, updated),
	CHI_M_NUMBER(3, struct chi_put_result, unchanged),
	CHI_M_NUMBER(4, struct chi_put_result, removed),
};
CHI_TABLE(chi_put_counts_message, put_result, put_counts, NULL);

/* ---- Delete ------------------------------------------------------------------------------ */

static int check_delete(struct chi_unpacker *u, void *out)
{
	struct chi_delete_request *request = out;
	return chi_positions_check(u, &request->positions, CHI_PUT_MAX);
}

static const struct chi_member delete[] = {
	CHI_M_POSITIONS(struct chi_delete_request, positions, CHI_PUT_MAX,
			"more than 10000 positions"),
	CHI_M_NUMBER(3, struct chi_delete_request, durability),
};
CHI_TABLE(chi_delete_request, delete, delete, check_delete);

static const struct chi_member delete_result[] = {CHI_M_NUMBER(1, struct chi_affected, n)};
CHI_TABLE(chi_delete_result, delete_result, delete_result, NULL);

/* ---- Rescore ----------------------------------------------------------------------------- */

/* Absent asks for the sum of all counts, and so stays apart from all 0. */
static const struct chi_member rescore[] = {
	CHI_M_POINTER(1, struct chi_rescore_request, base, &chi_counts_message),
};
CHI_TABLE(chi_rescore_request, rescore, rescore, NULL);

CHI_TABLE(chi_rescore_result, rescore_result, delete_result, NULL);

/* ---- Outcome ----------------------------------------------------------------------------- */

/* The result of the write itself. A kind of a later version was done too, but has no result here.
 */
static const struct chi_member outcome_result[] = {
	CHI_M(1, CHI_BOOL, OUTCOME, running),
	CHI_M_CASE(2, OUTCOME, put, kind, CHI_IDEMPOTENCY_PUT, &chi_put_counts_message),
	CHI_M_CASE(3, OUTCOME, deleted, kind, CHI_IDEMPOTENCY_DELETE, &chi_delete_result),
	CHI_M_CASE(4, OUTCOME, import, kind, CHI_IDEMPOTENCY_IMPORT, &chi_import_counts_message),
	CHI_M_CASE(5, OUTCOME, names, kind, CHI_IDEMPOTENCY_NAMES, &chi_names_counts_message),
	CHI_M_CASE(6, OUTCOME, games, kind, CHI_IDEMPOTENCY_MAKE_GAMESET, &chi_make_gameset_result),
	CHI_M_CASE(7, OUTCOME, dropped, kind, CHI_IDEMPOTENCY_DROP_GAMESET,
		   &chi_drop_gameset_result),
	CHI_M_CASE(8, OUTCOME, queue_added, kind, CHI_IDEMPOTENCY_QUEUE_ADD, &chi_queue_add_result),
	CHI_M_CASE(9, OUTCOME, leased, kind, CHI_IDEMPOTENCY_QUEUE_TAKE, &chi_queue_lease_message),
	CHI_M_CASE(10, OUTCOME, settled, kind, CHI_IDEMPOTENCY_QUEUE_SETTLE,
		   &chi_queue_settle_result),
};
CHI_TABLE(chi_outcome_result, outcome_result, outcome_result, NULL);
