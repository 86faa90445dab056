/* SPDX-License-Identifier: MIT */
/*
 * A record's strength, read where it lies: the start, the move played most, and of the evaluations
 * the numbers of the deepest with its first move. What follows them is not read; the checksum
 * covers it all.
 */
#include "store/record/codec.h"

#include "base/attr.h"
#include "base/evidence.h"
#include "base/wire.h"
#include "store/record/record_priv.h"
#include "store/record/record_head.h"

/* Steps over the plies, one number, or with it a list of pairs; returns the first. */
static uint64_t skip_plies(struct chi_reader *r, uint8_t head)
{
	uint64_t number = chi_read_small(r);
	uint64_t first = number >> 1;
	if (head_is_one(head)) {
		return number;
	}
	for (uint64_t i = 0; (number & PLIES_ALL) == 0 && i < number >> 1 && !r->bad; i++) {
		uint64_t ply = chi_read_small(r);
		first = i == 0 ? ply : first;
		(void)chi_read_small(r);
	}
	return first;
}

static inline void set_best(struct chi_row *out, chi_move move, enum chi_best source)
{
	out->best = move;
	out->best_source = (uint8_t)source;
}

/* The sum of a move's counts, from their mask on (chi_record_read_counts). */
static inline uint64_t read_sum(struct chi_reader *r, unsigned mask)
{
	/* How many bits are set of each number below 16. */
	uint64_t sum = UINT64_C(0x4332322132212110) >> 4 * (mask >> 4) & 15;
	for (unsigned left = mask & 15 & ~(mask >> 4); left != 0; left &= left - 1) {
		sum += chi_read_small(r);
	}
	return sum;
}

/* The moves played: one alone, or a list of them with their counts. */
static void skim_moves(struct chi_reader *r, uint8_t head, struct chi_row *out)
{
	if (head_is_one(head)) {
		set_best(out, (chi_move)chi_read_le(r, sizeof(chi_move)), CHI_BEST_PLAYED);
		return;
	}
	uint64_t n = chi_read_small(r);
	uint64_t most = 0;
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		const uint8_t *bytes = chi_read_bytes(r, sizeof(chi_move) + 1);
		if (bytes == NULL) {
			return;
		}
		uint64_t total = read_sum(r, bytes[2]);
		if (total > most) {
			most = total;
			set_best(out, (chi_move)(bytes[0] | bytes[1] << 8), CHI_BEST_PLAYED);
		}
	}
}

/* The best evaluation so far. */
struct best_eval {
	uint64_t date;
	chi_move move; /* 0: it has no principal variation */
};

/* The first move of the principal variation. */
static chi_move read_pv(struct chi_reader *r)
{
	uint64_t moves = chi_read_small(r);
	const uint8_t *bytes = chi_read_bytes(
		r, moves <= CHI_PV_MAX ? (size_t)moves * sizeof(chi_move) : SIZE_MAX);
	return bytes != NULL && moves > 0 ? (chi_move)(bytes[0] | bytes[1] << 8) : 0;
}

/* One evaluation. True if it is its engine's best line, and seen. */
static bool skim_eval(struct chi_reader *r, const struct chi_evidence *evidence,
		      struct chi_row *out, struct best_eval *best)
{
	uint64_t name = chi_read_small(r);
	/* No name is longer than a record: the cast loses nothing that bytes are there for. */
	const uint8_t *engine = chi_read_bytes(r, name <= CHI_ENGINE_MAX ? (size_t)name : SIZE_MAX);
	uint64_t depth = chi_read_small(r);
	uint8_t flags = chi_read_u8(r);
	uint64_t score = chi_read_small(r);
	if ((flags & EVAL_RANK) != 0) {
		(void)chi_read_u8(r);
	}
	if ((flags & EVAL_NODES) != 0) {
		(void)chi_read_small(r);
	}
	uint64_t date = (flags & EVAL_DATE) != 0 ? chi_read_small(r) : 0;
	chi_move move = (flags & EVAL_PV) != 0 ? read_pv(r) : 0;
	bool mate = (flags & EVAL_MATE) != 0;
	if (depth > CHI_DEPTH_MAX || score > (mate ? CHI_MATE_MAX : CHI_SCORE_MAX)) {
		r->bad = true;
	}
	bool better =
		!out->has_eval || depth > out->depth || (depth == out->depth && date > best->date);
	if (r->bad || (flags & EVAL_RANK) != 0) {
		return false;
	}
	if (evidence != NULL &&
	    !chi_evidence_sees(evidence, (const char *)engine, (size_t)name, depth, date)) {
		return false;
	}
	if (better) {
		out->has_eval = true;
		out->is_mate = mate;
		out->depth = (uint16_t)depth;
		out->score = (flags & EVAL_NEGATIVE) != 0 ? -(int32_t)score : (int32_t)score;
		*best = (struct best_eval){.date = date, .move = move};
	}
	return true;
}

static bool skim_evals(const uint8_t *bytes, size_t len, const struct chi_evidence *evidence,
		       struct chi_row *out, uint32_t *engines)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct best_eval best = {0};
	while (!r.bad && chi_reader_left(&r) > 0) {
		*engines += skim_eval(&r, evidence, out, &best);
	}
	if (best.move != 0) {
		set_best(out, best.move, CHI_BEST_EVAL);
	}
	return !r.bad;
}

/* Sections are in the order of their tags. */
static void read_sections(struct chi_reader *r, const struct chi_evidence *evidence,
			  struct chi_row *out, uint32_t *engines)
{
	while (!r->bad && chi_reader_left(r) > 0) {
		uint64_t tag = chi_read_small(r);
		uint64_t len = chi_read_small(r);
		if (len > chi_reader_left(r)) {
			r->bad = true;
		}
		if (r->bad || tag > SECTION_EVALS) {
			return;
		}
		const uint8_t *bytes = chi_read_bytes(r, (size_t)len);
		if (tag == SECTION_LINE && len >= sizeof(chi_move)) {
			set_best(out, (chi_move)(bytes[0] | bytes[1] << 8), CHI_BEST_LINE);
		} else if (tag == SECTION_EVALS) {
			r->bad = !skim_evals(bytes, (size_t)len, evidence, out, engines);
			return;
		}
	}
}

/* Steps over the list of games, or over its size. */
static void skip_list(struct chi_reader *r, uint8_t head)
{
	uint64_t n = chi_read_small(r);
	if ((head & HEAD_LIST_APART) != 0) {
		n = 1;
	}
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		(void)chi_read_small(r);
	}
}

/* After the statistic and the counts. */
static void read_rest(struct chi_reader *r, uint8_t head, const struct chi_evidence *evidence,
		      struct chi_record_summary *more, struct chi_row *out)
{
	if ((head & HEAD_PLIES) != 0) {
		uint64_t ply = skip_plies(r, head);
		r->bad = r->bad || ply > CHI_PLY_MAX;
		more->min_ply = (int32_t)(ply & 0xffff);
	}
	if ((head & HEAD_MOVES) != 0) {
		skim_moves(r, head, out);
	}
	if (head_has_list(head)) {
		skip_list(r, head);
	}
	if ((head & HEAD_SECTIONS) != 0) {
		read_sections(r, evidence, out, &more->engines);
	}
}

/* Parts of a record that a probe is answered from. */
#define PROBED (HEAD_MOVES | HEAD_SECTIONS)

/* Most records are of one game and hold no more: its move is the last they have, and what precedes
 * it need not be read. True if this is one. */
static inline bool read_one_game(const struct chi_reader *r, uint8_t head, struct chi_row *out)
{
	const unsigned parts = COUNTS_ONE << 1 | PROBED;
	const uint8_t *move = r->end - sizeof(chi_move);
	if ((head & parts) != (COUNTS_ONE << 1 | HEAD_MOVES) || r->bad || move < r->at) {
		return false;
	}
	set_best(out, (chi_move)(move[0] | move[1] << 8), CHI_BEST_PLAYED);
	return true;
}

/* Reads the rest of a record if it has one of `parts`. */
CHI_INLINE int decode(const uint8_t *value, size_t len, uint8_t parts,
		      const struct chi_evidence *evidence, struct chi_record_summary *more,
		      struct chi_row *out)
{
	struct chi_reader r;
	uint8_t head;
	bool ok = chi_record_open(value, len, &r, &head);
	if (CHI_LIKELY(ok)) {
		chi_record_read_head(&r, head, &out->chi2, &out->counts);
		bool done = parts == PROBED && read_one_game(&r, head, out);
		if ((head & parts) != 0 && !done) {
			read_rest(&r, head, evidence, more, out);
		}
	}
	return CHI_LIKELY(ok && !r.bad) ? CHI_OK : -CHI_ECORRUPT;
}

int chi_record_decode_strength(const uint8_t *value, size_t len,
			       const struct chi_evidence *evidence, struct chi_row *out)
{
	struct chi_record_summary more;
	more.engines = 0;
	out->found = true;
	int rc = decode(value, len, PROBED, evidence, &more, out);
	if (CHI_UNLIKELY(rc < 0)) {
		/* Nothing of a damaged record is delivered. */
		*out = (struct chi_row){.key = out->key};
	}
	return rc;
}

int chi_record_summarise(const uint8_t *value, size_t len, const struct chi_evidence *evidence,
			 struct chi_record_summary *out)
{
	*out = (struct chi_record_summary){.min_ply = -1};
	return decode(value, len, HEAD_SECTIONS | HEAD_PLIES, evidence, out, &out->row);
}
