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

/* Steps over the plies: one number, or with it a list of pairs. */
static void skip_plies(struct chi_reader *r, uint8_t head)
{
	uint64_t number = chi_read_varint(r);
	if ((head & HEAD_COUNTS) >> 1 == COUNTS_ONE || (number & PLIES_ALL) != 0) {
		return;
	}
	for (uint64_t i = 0; i < number >> 1 && !r->bad; i++) {
		(void)chi_read_varint(r);
		(void)chi_read_varint(r);
	}
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
static void find_evals(struct chi_reader *r, struct chi_row *out)
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
		}
		r->bad = evals.bad;
		return;
	}
}

/* After the statistic and the counts. */
static void read_rest(struct chi_reader *r, uint8_t head, struct chi_row *out)
{
	if ((head & HEAD_PLIES) != 0) {
		skip_plies(r, head);
	}
	if ((head & HEAD_MOVES) != 0) {
		skip_moves(r, head);
	}
	find_evals(r, out);
}

int chi_record_decode_strength(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len,
			       struct chi_row *out)
{
	struct chi_reader r;
	uint8_t head;
	out->found = true;
	bool ok = chi_record_open(key, key_len, value, len, &r, &head);
	if (CHI_LIKELY(ok)) {
		chi_record_read_head(&r, head, &out->chi2, &out->counts);
		if ((head & HEAD_SECTIONS) != 0) {
			read_rest(&r, head, out);
		}
	}
	if (CHI_UNLIKELY(!ok || r.bad)) {
		/* Nothing of a damaged record is delivered. */
		*out = (struct chi_row){.key = out->key};
		return -CHI_ECORRUPT;
	}
	return CHI_OK;
}
