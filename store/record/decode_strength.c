/* SPDX-License-Identifier: MIT */
/*
 * A record's strength, read where it lies: the start, and of the evaluations the numbers of the
 * deepest. What precedes them is skipped, what follows them is not read; the
 * checksum covers it all.
 */
#include "store/record/codec.h"

#include "base/attr.h"
#include "base/wire.h"
#include "store/record/record_priv.h"
#include "store/record/record_head.h"

/* Steps over the plies, one number, or with it a list of pairs; returns the first. */
static uint64_t skip_plies(struct chi_reader *r, uint8_t head)
{
	uint64_t number = chi_read_varint(r);
	uint64_t first = number >> 1;
	if ((head & HEAD_COUNTS) >> 1 == COUNTS_ONE) {
		return number;
	}
	for (uint64_t i = 0; (number & PLIES_ALL) == 0 && i < number >> 1 && !r->bad; i++) {
		uint64_t ply = chi_read_varint(r);
		first = i == 0 ? ply : first;
		(void)chi_read_varint(r);
	}
	return first;
}

/* Steps over the moves: one alone, or a list of them with their counts. */
static void skip_moves(struct chi_reader *r, uint8_t head)
{
	if ((head & HEAD_COUNTS) >> 1 == COUNTS_ONE) {
		(void)chi_read_bytes(r, sizeof(chi_move));
		return;
	}
	uint64_t n = chi_read_varint(r);
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		struct chi_counts counts;
		(void)chi_read_bytes(r, sizeof(chi_move));
		chi_record_read_counts(r, &counts);
	}
}

/* One evaluation. `best_date` is that of the best so far. */
static void read_eval(struct chi_reader *r, struct chi_row *out, uint64_t *best_date)
{
	uint64_t name = chi_read_varint(r);
	/* No name is longer than a record: the cast loses nothing that bytes are there for. */
	(void)chi_read_bytes(r, name <= CHI_ENGINE_MAX ? (size_t)name : SIZE_MAX);
	uint64_t depth = chi_read_varint(r);
	uint8_t flags = chi_read_u8(r);
	uint64_t score = chi_read_varint(r);
	if ((flags & EVAL_NODES) != 0) {
		(void)chi_read_varint(r);
	}
	uint64_t date = (flags & EVAL_DATE) != 0 ? chi_read_varint(r) : 0;
	if ((flags & EVAL_PV) != 0) {
		uint64_t moves = chi_read_varint(r);
		(void)chi_read_bytes(r, moves <= CHI_PV_MAX ? (size_t)moves * sizeof(chi_move)
							    : SIZE_MAX);
	}
	bool mate = (flags & EVAL_MATE) != 0;
	if (depth > CHI_DEPTH_MAX || score > (mate ? CHI_MATE_MAX : CHI_SCORE_MAX)) {
		r->bad = true;
	}
	bool better =
		!out->has_eval || depth > out->depth || (depth == out->depth && date > *best_date);
	if (r->bad || !better) {
		return;
	}
	out->has_eval = true;
	out->is_mate = mate;
	out->depth = (uint16_t)depth;
	out->score = (flags & EVAL_NEGATIVE) != 0 ? -(int32_t)score : (int32_t)score;
	*best_date = date;
}

/* Sections are in the order of their tags. */
static void find_evals(struct chi_reader *r, struct chi_row *out, uint32_t *engines)
{
	while (!r->bad && chi_reader_left(r) > 0) {
		uint64_t tag = chi_read_varint(r);
		uint64_t len = chi_read_varint(r);
		if (len > chi_reader_left(r)) {
			r->bad = true;
		}
		if (r->bad || tag > SECTION_EVALS) {
			return;
		}
		const uint8_t *bytes = chi_read_bytes(r, (size_t)len);
		if (bytes == NULL || tag != SECTION_EVALS) {
			continue;
		}
		struct chi_reader evals = chi_reader_of(bytes, (size_t)len);
		uint64_t date = 0;
		while (!evals.bad && chi_reader_left(&evals) > 0) {
			read_eval(&evals, out, &date);
			++*engines;
		}
		r->bad = evals.bad;
		return;
	}
}

/* After the statistic and the counts. */
static void read_rest(struct chi_reader *r, uint8_t head, struct chi_record_summary *more,
		      struct chi_row *out)
{
	if ((head & HEAD_PLIES) != 0) {
		uint64_t ply = skip_plies(r, head);
		r->bad = r->bad || ply > CHI_PLY_MAX;
		more->min_ply = (int32_t)(ply & 0xffff);
	}
	if ((head & HEAD_SECTIONS) == 0) {
		return;
	}
	if ((head & HEAD_MOVES) != 0) {
		skip_moves(r, head);
	}
	find_evals(r, out, &more->engines);
}

/* Reads the rest of a record if it has one of `parts`. */
CHI_INLINE int decode(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len,
		      uint8_t parts, struct chi_record_summary *more, struct chi_row *out)
{
	struct chi_reader r;
	uint8_t head;
	bool ok = chi_record_open(key, key_len, value, len, &r, &head);
	if (CHI_LIKELY(ok)) {
		chi_record_read_head(&r, head, &out->chi2, &out->counts);
		if ((head & parts) != 0) {
			read_rest(&r, head, more, out);
		}
	}
	return CHI_LIKELY(ok && !r.bad) ? CHI_OK : -CHI_ECORRUPT;
}

int chi_record_decode_strength(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len,
			       struct chi_row *out)
{
	struct chi_record_summary more;
	more.engines = 0;
	out->found = true;
	int rc = decode(key, key_len, value, len, HEAD_SECTIONS, &more, out);
	if (CHI_UNLIKELY(rc < 0)) {
		/* Nothing of a damaged record is delivered. */
		*out = (struct chi_row){.key = out->key};
	}
	return rc;
}

int chi_record_summarise(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len,
			 struct chi_record_summary *out)
{
	*out = (struct chi_record_summary){.min_ply = -1};
	return decode(key, key_len, value, len, HEAD_SECTIONS | HEAD_PLIES, out, &out->row);
}
