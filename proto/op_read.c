/* SPDX-License-Identifier: MIT */
/* Probe, Get and Explore. */
#include "proto/operations.h"

#include <string.h>

#include "base/attr.h"
#include "base/record.h"
#include "proto/record.h"
#include "proto/rows.h"

#define EXPLORE struct chi_explored

/* ---- Positions --------------------------------------------------------------------------- */

/* Contents of the field of keys: each after its length. */
static size_t keys_len(const void *from, size_t *noted)
{
	const struct chi_positions *positions = from;
	size_t n = positions->n - positions->n_fens;
	size_t len = n;
	(void)noted;
	if (positions->n_fens > positions->n) {
		return CHI_UNPACKABLE;
	}
	for (size_t i = 0; i < n; i++) {
		len += positions->keys[i].len <= CHI_KEY_MAX ? positions->keys[i].len
							     : CHI_UNPACKABLE;
	}
	return len;
}

static uint8_t *put_keys(uint8_t *at, const void *from, size_t noted)
{
	const struct chi_positions *positions = from;
	size_t n = positions->n - positions->n_fens;
	(void)noted;
	for (size_t i = 0; i < n; i++) {
		const struct chi_key *key = &positions->keys[i];
		*at++ = key->len;
		memcpy(at, key->bytes, key->len);
		at += key->len;
	}
	return at;
}

/* How many keys there are; -CHI_EKEY if the bytes do not end with one. */
static int count_keys(struct chi_unpacker *u, const uint8_t *bytes, size_t len, size_t *n)
{
	*n = 0;
	for (size_t at = 0; at < len; at += 1 + (size_t)bytes[at]) {
		if (bytes[at] > len - at - 1) {
			return chi_flaw_set(u->flaw, -CHI_EKEY, "cut short", "keys[%zu]", *n);
		}
		*n += 1;
	}
	return *n <= CHI_PUT_MAX
		       ? CHI_OK
		       : chi_flaw_set(u->flaw, -CHI_ETOOBIG, "too many positions", "keys");
}

/* Of a field given twice the last counts. */
static int keys_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *to)
{
	struct chi_positions *out = to;
	int rc = count_keys(u, bytes, len, &out->n);
	if (rc != CHI_OK) {
		return rc;
	}
	out->keys = chi_arena_array(u->arena, out->n, sizeof(*out->keys));
	if (out->keys == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, out->n * sizeof(*out->keys));
	}
	for (size_t i = 0; i < out->n; i++) {
		const char *reason = chi_key_from(bytes + 1, bytes[0], &out->keys[i]);
		if (reason != NULL) {
			return chi_flaw_set(u->flaw, -CHI_EKEY, reason, "keys[%zu]", i);
		}
		bytes += 1 + (size_t)bytes[0];
	}
	return CHI_OK;
}

const struct chi_message chi_keys_message = {.len = keys_len, .put = put_keys, .read = keys_read};

/* A FEN is sent even if it is empty, or the others would answer for the wrong position. */
static size_t text_len(const void *from, size_t *noted)
{
	const struct chi_text *fen = from;
	(void)noted;
	return fen->len;
}

static uint8_t *put_text_field(uint8_t *at, const void *from, size_t noted)
{
	const struct chi_text *fen = from;
	(void)noted;
	if (fen->len > 0) {
		memcpy(at, fen->bytes, fen->len);
	}
	return at + fen->len;
}

static int text_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *out)
{
	const struct chi_field field = {.bytes = bytes, .len = len};
	return chi_text_read(u, &field, out);
}

const struct chi_message chi_text_message = {
	.len = text_len, .put = put_text_field, .read = text_read};

/* The limit is of keys and FENs together, which the check before could not see. */
int chi_positions_check(struct chi_unpacker *u, struct chi_positions *positions, size_t max)
{
	size_t n = positions->n + positions->n_fens;
	if (n > max) {
		return chi_flaw_set(u->flaw, -CHI_ETOOBIG, "too many positions",
				    positions->n > max ? "keys" : "fens");
	}
	struct chi_key *keys = chi_arena_array(u->arena, n, sizeof(*keys));
	if (keys == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*keys));
	}
	if (positions->n > 0) {
		memcpy(keys, positions->keys, positions->n * sizeof(*keys));
	}
	positions->keys = keys;
	positions->n = n;
	return CHI_OK;
}

static int check_positions(struct chi_unpacker *u, void *out)
{
	return chi_positions_check(u, out, CHI_PROBE_MAX);
}

/* Nothing is beside them. */
struct only_positions {
	struct chi_positions positions;
};

/* Of Probe and Get. */
static const struct chi_member positions[] = {
	CHI_M_POSITIONS(struct only_positions, positions, CHI_PROBE_MAX,
			"more than 4096 positions"),
};
CHI_TABLE(chi_positions_request, probe, positions, check_positions);

/* ---- What is known of them --------------------------------------------------------------- */

static size_t probe_len(const void *from, size_t *noted)
{
	const struct chi_probed *probed = from;
	return chi_rows_fields_len(probed->rows, probed->n, probed->counts, noted);
}

static uint8_t *put_probe(uint8_t *at, const void *from, size_t noted)
{
	const struct chi_probed *probed = from;
	return chi_put_rows_fields(at, probed->rows, probed->n, probed->counts, noted);
}

static int probe_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *to)
{
	struct chi_probed *out = to;
	return chi_rows_fields_read(u, bytes, len, CHI_PROBE_MAX, &out->rows, &out->n,
				    &out->counts);
}

static const struct chi_member probe_result[] = {
	CHI_M_UNKEPT(1, 0, NULL),
	CHI_M_UNKEPT(2, 0, NULL),
};
const struct chi_message chi_probe_result = {
	.descriptor = &chistore__v1__probe_result__descriptor,
	.members = probe_result,
	.n = CHI_COUNT(probe_result),
	.len = probe_len,
	.put = put_probe,
	.read = probe_read,
};

static int check_entry(struct chi_unpacker *u, void *out)
{
	const struct chi_entry *entry = out;
	return chi_key_needed(u, &entry->key);
}

static const struct chi_member entry[] = {
	CHI_M(1, CHI_KEY, struct chi_entry, key),
	CHI_M(2, CHI_BOOL, struct chi_entry, found),
	CHI_M_NESTED(3, struct chi_entry, record, CHI_IF_SET, &chi_record_message),
};
CHI_TABLE(chi_entry_message, entry, entry, check_entry);

static const struct chi_member get_result[] = {
	CHI_M_ROWS(1, struct chi_got, entries, n, &chi_entry_message, CHI_PROBE_MAX),
};
CHI_TABLE(chi_get_result, get_result, get_result, NULL);

/* ---- Explore ----------------------------------------------------------------------------- */

int chi_key_needed(struct chi_unpacker *u, const struct chi_key *key)
{
	return key->len > 0 ? CHI_OK
			    : chi_flaw_set(u->flaw, -CHI_EKEY, "a key has 9 to 24 bytes", "key");
}

int chi_key_or_fen(struct chi_unpacker *u, size_t key_len, size_t fen_len)
{
	if ((key_len > 0) != (fen_len > 0)) {
		return CHI_OK;
	}
	return fen_len > 0
		       ? chi_flaw_set(u->flaw, -CHI_EINVAL, "key and fen exclude each other", "fen")
		       : chi_flaw_set(u->flaw, -CHI_EINVAL, "missing", "key");
}

static int check_explore(struct chi_unpacker *u, void *out)
{
	const struct chi_explore_request *asked = out;
	return chi_key_or_fen(u, asked->key.len, asked->fen != NULL ? 1 : 0);
}

static const struct chi_member explore[] = {
	CHI_M(1, CHI_KEY, struct chi_explore_request, key),
	CHI_M(2, CHI_STRING, struct chi_explore_request, fen),
	CHI_M_TEXT(3, struct chi_explore_request, filter, CHI_FILTER_MAX),
	CHI_M_NESTED(4, struct chi_explore_request, evidence, CHI_IF_SET, &chi_evidence_message),
};
CHI_TABLE(chi_explore_request, explore, explore, check_explore);

/* What is not stored may have no key: Black to move without a king. An evaluation is of what is
 * stored, and so is a best move; a score is of an evaluation. */
static int check_row(struct chi_unpacker *u, void *out)
{
	const struct chi_row *row = out;
	int32_t max = row->is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	if (row->has_eval ? !row->found || row->score > max || row->score < -max
			  : row->is_mate || row->depth != 0 || row->score != 0) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "not an evaluation", "score");
	}
	if ((row->best_source != CHI_BEST_NONE) != (row->best != 0) ||
	    (row->best != 0 && (!row->found || !chi_move_possible(row->best))) ||
	    (row->best_source == CHI_BEST_EVAL && !row->has_eval)) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "not a best move", "best");
	}
	return row->found ? chi_key_needed(u, &row->key) : CHI_OK;
}

static const struct chi_member row[] = {
	CHI_M(1, CHI_KEY, struct chi_row, key),
	CHI_M(2, CHI_BOOL, struct chi_row, found),
	CHI_M_UP_TO(3, struct chi_row, chi2, CHI_CHI2_MAX, "over 25599"),
	CHI_M_NESTED(4, struct chi_row, counts, CHI_ALWAYS, &chi_counts_message),
	CHI_M(5, CHI_BOOL, struct chi_row, has_eval),
	CHI_M(6, CHI_BOOL, struct chi_row, is_mate),
	CHI_M_UP_TO(7, struct chi_row, depth, UINT16_MAX, "over 65535"),
	CHI_M_SIGNED(8, struct chi_row, score, -CHI_SCORE_MAX, CHI_SCORE_MAX, "not a score"),
	CHI_M_UP_TO(9, struct chi_row, best, UINT16_MAX, "not a move"),
	CHI_M_UP_TO(10, struct chi_row, best_source, CHI_BEST_PLAYED, "not a source"),
};
static CHI_TABLE(row_message, row, row, check_row);

static int check_move(struct chi_unpacker *u, void *out)
{
	const struct chi_explore_move *move = out;
	return chi_move_possible(move->move)
		       ? CHI_OK
		       : chi_flaw_set(u->flaw, -CHI_EPROTO, "not a move", "move");
}

static const struct chi_member move[] = {
	CHI_M_UP_TO(1, struct chi_explore_move, move, UINT16_MAX, "not a move"),
	CHI_M_NESTED(2, struct chi_explore_move, played, CHI_ALWAYS, &chi_counts_message),
	CHI_M_NESTED(3, struct chi_explore_move, child, CHI_ALWAYS, &row_message),
	CHI_M(4, CHI_STRING, struct chi_explore_move, eco),
	CHI_M(5, CHI_STRING, struct chi_explore_move, opening),
};
static CHI_TABLE(move_message, explore_move, move, check_move);

static const struct chi_member explore_result[] = {
	CHI_M_NESTED(1, EXPLORE, position, CHI_ALWAYS, &row_message),
	CHI_M_SIGNED(2, EXPLORE, min_ply, -1, CHI_PLY_MAX, "over 4096"),
	CHI_M(3, CHI_STRING, EXPLORE, eco),
	CHI_M(4, CHI_STRING, EXPLORE, opening),
	CHI_M_ROWS(5, EXPLORE, moves, n_moves, &move_message, CHI_MOVES_MAX),
};
CHI_TABLE(chi_explore_result, explore_result, explore_result, NULL);
