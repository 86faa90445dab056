/* SPDX-License-Identifier: MIT */
/* Packed rows. Both directions are one pass with one branch for each thing that varies. */
#include "proto/rows.h"

#include "base/record.h"
#include "base/wire.h"
#include "proto/message.h"

#define ROW_FOUND  0x01u
#define ROW_COUNTS 0x02u
#define ROW_EVAL   0x04u
#define ROW_MATE   0x08u
#define ROW_BEST   0x30u /* enum chi_best */
#define ROW_FLAGS  0x3fu
#define BEST_SHIFT 4
#define ROW_HEAD   4 /* flags, statistic, length of the key */
#define ROW_MIN	   (ROW_HEAD + CHI_KEY_MIN)

/* One pass over all rows, a bad one included: a branch for each would cost more than the rare
 * answer that is thrown away. */
size_t chi_rows_len(const struct chi_row *rows, size_t n, bool counts)
{
	size_t total = n * ROW_HEAD;
	bool bad = false;
	for (size_t i = 0; i < n; i++) {
		const struct chi_row *row = &rows[i];
		bad |= row->key.len < CHI_KEY_MIN || row->key.len > CHI_KEY_MAX;
		total += row->key.len;
		if (counts && row->found) {
			const struct chi_counts *c = &row->counts;
			total += chi_varint_size(c->white) + chi_varint_size(c->draws) +
				 chi_varint_size(c->black) + chi_varint_size(c->other);
		}
		if (row->has_eval) {
			total += chi_varint_size(row->depth) +
				 chi_varint_size(chi_zigzag(row->score));
		}
		total += row->best_source != CHI_BEST_NONE ? sizeof(chi_move) : 0;
	}
	return bad ? 0 : total;
}

uint8_t *chi_put_rows(uint8_t *at, const struct chi_row *rows, size_t n, bool counts)
{
	for (size_t i = 0; i < n; i++) {
		const struct chi_row *row = &rows[i];
		bool counted = counts && row->found;
		at[0] = (uint8_t)((row->found ? ROW_FOUND : 0) | (counted ? ROW_COUNTS : 0) |
				  (row->has_eval ? ROW_EVAL : 0) | (row->is_mate ? ROW_MATE : 0) |
				  row->best_source << BEST_SHIFT);
		at[1] = (uint8_t)row->chi2;
		at[2] = (uint8_t)(row->chi2 >> 8);
		at[3] = row->key.len;
		/* All 24 bytes for any length: two moves instead of a call. What is too much
		 * is overwritten by the next row, or is slack. */
		memcpy(at + ROW_HEAD, row->key.bytes, CHI_KEY_MAX);
		at += ROW_HEAD + row->key.len;
		if (counted) {
			at = chi_put_varint(at, row->counts.white);
			at = chi_put_varint(at, row->counts.draws);
			at = chi_put_varint(at, row->counts.black);
			at = chi_put_varint(at, row->counts.other);
		}
		if (row->has_eval) {
			at = chi_put_varint(at, row->depth);
			at = chi_put_varint(at, chi_zigzag(row->score));
		}
		if (row->best_source != CHI_BEST_NONE) {
			*at++ = (uint8_t)row->best;
			*at++ = (uint8_t)(row->best >> 8);
		}
	}
	return at;
}

static void read_eval(struct chi_reader *r, bool is_mate, struct chi_row *row)
{
	uint64_t depth = chi_read_small(r);
	uint64_t score = chi_read_small(r);
	int32_t max = is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	row->has_eval = true;
	row->is_mate = is_mate;
	row->depth = (uint16_t)depth;
	row->score = chi_unzigzag((uint32_t)score);
	r->bad |= depth > UINT16_MAX || score > UINT32_MAX || row->score > max || row->score < -max;
}

/* Flags of the row read; sets r->bad if the bytes are no row. */
static inline uint8_t read_row(struct chi_reader *r, struct chi_row *row)
{
	const uint8_t *head = chi_read_bytes(r, ROW_HEAD);
	if (head == NULL) {
		return 0;
	}
	uint8_t flags = head[0];
	row->found = (flags & ROW_FOUND) != 0;
	row->chi2 = (uint16_t)(head[1] | head[2] << 8);
	row->key.len = head[3];
	/* The rest is of what was found, a mate and a move of an evaluation of an evaluation. */
	row->best_source = (flags & ROW_BEST) >> BEST_SHIFT;
	bool sound = flags <= ROW_FLAGS && (flags == 0 || row->found) &&
		     (flags & (ROW_EVAL | ROW_MATE)) != ROW_MATE &&
		     (row->best_source != CHI_BEST_EVAL || (flags & ROW_EVAL) != 0) &&
		     row->chi2 <= CHI_CHI2_MAX && row->key.len >= CHI_KEY_MIN &&
		     row->key.len <= CHI_KEY_MAX;
	const uint8_t *key = sound ? chi_read_bytes(r, row->key.len) : NULL;
	if (key == NULL) {
		r->bad = true;
		return 0;
	}
	/* The row was zeroed: what is after the key's end stays 0. */
	memcpy(row->key.bytes, key, row->key.len);
	if ((flags & ROW_COUNTS) != 0) {
		row->counts.white = chi_read_small(r);
		row->counts.draws = chi_read_small(r);
		row->counts.black = chi_read_small(r);
		row->counts.other = chi_read_small(r);
	}
	if ((flags & ROW_EVAL) != 0) {
		read_eval(r, (flags & ROW_MATE) != 0, row);
	}
	if (row->best_source != CHI_BEST_NONE) {
		row->best = (chi_move)chi_read_le(r, sizeof(chi_move));
		r->bad |= !chi_move_possible(row->best);
	}
	return flags;
}

int chi_rows_from(const uint8_t *bytes, size_t len, size_t n, struct chi_unpacker *u,
		  struct chi_row **out, bool *counts)
{
	*out = NULL;
	*counts = false;
	/* Before memory is taken: a count is cheap to claim. */
	if (n > len / ROW_MIN) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "more rows than bytes for them", "count");
	}
	if (n == 0) {
		return len == 0 ? CHI_OK
				: chi_flaw_set(u->flaw, -CHI_EPROTO, "bytes but no rows", "rows");
	}
	struct chi_row *rows = chi_arena_array(u->arena, n, sizeof(*rows));
	if (rows == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*rows));
	}
	struct chi_reader r = chi_reader_of(bytes, len);
	size_t found = 0;
	size_t counted = 0;
	for (size_t i = 0; i < n && !r.bad; i++) {
		uint8_t flags = read_row(&r, &rows[i]);
		found += (flags & ROW_FOUND) != 0;
		counted += (flags & ROW_COUNTS) != 0;
	}
	if (r.bad || r.at != r.end) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "not packed rows", "rows");
	}
	if (counted > 0 && counted < found) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "counts in some rows only", "rows");
	}
	*counts = counted > 0;
	*out = rows;
	return CHI_OK;
}

/* ---- Fields of results ------------------------------------------------------------------------
 */

size_t chi_rows_fields_len(const struct chi_row *rows, size_t n, bool counts, size_t *noted)
{
	*noted = chi_rows_len(rows, n, counts);
	if (n > 0 && *noted == 0) {
		return CHI_UNPACKABLE;
	}
	return chi_bytes_len(1, *noted) + chi_uint_len(2, n);
}

uint8_t *chi_put_rows_fields(uint8_t *at, const struct chi_row *rows, size_t n, bool counts,
			     size_t noted)
{
	if (n == 0) {
		return at;
	}
	at = chi_put_rows(chi_put_head(at, 1, noted), rows, n, counts);
	return chi_put_uint(at, 2, n);
}

uint64_t chi_packed_of(const uint8_t *bytes, size_t len, struct chi_field *packed)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	uint64_t count = 0;
	*packed = (struct chi_field){0};
	while (chi_field_next(&r, &field)) {
		if (field.number == 1) {
			*packed = field;
		} else if (field.number == 2) {
			count = field.value;
		}
	}
	return count;
}

/* `max` rows are what a server may send; the bytes must be as many rows as it says. */
int chi_rows_fields_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, size_t max,
			 struct chi_row **rows, size_t *n, bool *counts)
{
	struct chi_field packed;
	uint64_t count = chi_packed_of(bytes, len, &packed);
	if (count > max) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "too many", "count");
	}
	*n = (size_t)count;
	return chi_rows_from(packed.bytes, packed.len, *n, u, rows, counts);
}
