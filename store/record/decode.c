/* SPDX-License-Identifier: MIT */
/*
 * Reading records. Bytes come from a disk that may have rotted: the checksum is verified first,
 * and after it everything is still checked, because a checksum of four bytes is no proof and
 * the fuzzer computes right ones.
 */
#include "store/record/codec.h"

#include <string.h>

#include "base/attr.h"
#include "base/wire.h"
#include "store/record/record_priv.h"
#include "store/record/list.h"
#include "store/record/record_head.h"

int chi_record_peek(const uint8_t *value, size_t len, uint16_t *chi2, struct chi_counts *counts)
{
	struct chi_reader r;
	uint8_t head;
	if (!chi_record_open(value, len, &r, &head)) {
		return -CHI_ECORRUPT;
	}
	chi_record_read_head(&r, head, chi2, counts);
	return r.bad ? -CHI_ECORRUPT : CHI_OK;
}

/* `n` moves; n is bounded by the bytes left before memory is taken. */
static int read_moves(struct chi_reader *r, uint64_t n, struct chi_arena *arena,
		      const chi_move **out)
{
	if (n == 0 || n > chi_reader_left(r) / 2) {
		return -CHI_ECORRUPT;
	}
	chi_move *moves = chi_arena_alloc(arena, (size_t)n * sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		moves[i] = (chi_move)chi_read_le(r, 2);
	}
	*out = moves;
	return CHI_OK;
}

/* A list takes two bytes an entry, whatever its number says: that bounds the memory. */
static int read_ply_list(struct chi_reader *r, uint64_t n, struct chi_arena *arena,
			 struct chi_record *out)
{
	if (n == 0 || n > CHI_PLY_MAX + 1 || n > chi_reader_left(r) / 2) {
		return -CHI_ECORRUPT;
	}
	struct chi_ply_stat *plies = chi_arena_alloc(arena, (size_t)n * sizeof(*plies));
	if (plies == NULL) {
		return -CHI_ENOMEM;
	}
	uint64_t ply = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t delta = chi_read_varint(r);
		if (r->bad || delta > CHI_PLY_MAX - ply) {
			return -CHI_ECORRUPT;
		}
		ply += delta;
		plies[i] = (struct chi_ply_stat){(uint16_t)ply, chi_read_varint(r)};
	}
	out->plies = plies;
	out->n_plies = (size_t)n;
	return r->bad ? -CHI_ECORRUPT : CHI_OK;
}

/* One ply, that of all games: the short forms. */
static int set_ply(uint64_t ply, uint64_t games, struct chi_arena *arena, struct chi_record *out)
{
	if (ply > CHI_PLY_MAX) {
		return -CHI_ECORRUPT;
	}
	struct chi_ply_stat *stat = chi_arena_alloc(arena, sizeof(*stat));
	if (stat == NULL) {
		return -CHI_ENOMEM;
	}
	*stat = (struct chi_ply_stat){(uint16_t)ply, games};
	out->plies = stat;
	out->n_plies = 1;
	return CHI_OK;
}

/* A list that the short form could have said is another form of the same, and refused. */
static int read_plies(struct chi_reader *r, uint8_t head, struct chi_arena *arena,
		      struct chi_record *out)
{
	uint64_t number = chi_read_varint(r);
	uint64_t total;
	if (r->bad || !chi_counts_total(&out->counts, &total) || total == 0) {
		return -CHI_ECORRUPT;
	}
	if (head_is_one(head)) {
		return set_ply(number, 1, arena, out);
	}
	if ((number & PLIES_ALL) != 0) {
		return set_ply(number >> 1, total, arena, out);
	}
	int rc = read_ply_list(r, number >> 1, arena, out);
	if (rc < 0) {
		return rc;
	}
	bool shorter = out->n_plies == 1 && out->plies[0].games == total;
	return shorter ? -CHI_ECORRUPT : CHI_OK;
}

/* Moves played, each with its counts, in the short form or as a list. */
static int read_played(struct chi_reader *r, uint8_t head, struct chi_arena *arena,
		       struct chi_record *out)
{
	bool one = head_is_one(head);
	uint64_t n = one ? 1 : chi_read_varint(r);
	/* A move of a list takes three bytes at least. */
	if (n == 0 || n > CHI_MOVES_MAX || (!one && n > chi_reader_left(r) / 3)) {
		return -CHI_ECORRUPT;
	}
	struct chi_move_stat *moves = chi_arena_alloc(arena, (size_t)n * sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < n && !r->bad; i++) {
		moves[i].move = (chi_move)chi_read_le(r, 2);
		if (one) {
			moves[i].counts = out->counts;
		} else {
			chi_record_read_counts(r, &moves[i].counts);
		}
	}
	out->moves = moves;
	out->n_moves = (size_t)n;
	return r->bad ? -CHI_ECORRUPT : CHI_OK;
}

/* The numbers of an evaluation, after its engine's name. */
static int read_eval_body(struct chi_reader *r, struct chi_arena *arena, struct chi_eval *eval)
{
	uint64_t depth = chi_read_varint(r);
	uint8_t flags = chi_read_u8(r);
	uint64_t score = chi_read_varint(r);
	eval->is_mate = (flags & EVAL_MATE) != 0;
	bool negative = (flags & EVAL_NEGATIVE) != 0;
	if (depth > UINT32_MAX || score > INT32_MAX || (flags & ~EVAL_FLAGS) != 0 ||
	    (negative && score == 0)) {
		return -CHI_ECORRUPT;
	}
	eval->depth = (uint32_t)depth;
	eval->score = negative ? -(int32_t)score : (int32_t)score;
	eval->rank = (flags & EVAL_RANK) ? chi_read_u8(r) : 0;
	eval->nodes = (flags & EVAL_NODES) ? chi_read_varint(r) : 0;
	eval->date = (flags & EVAL_DATE) ? chi_read_varint(r) : 0;
	if (((flags & EVAL_RANK) && eval->rank == 0) ||
	    ((flags & EVAL_NODES) && eval->nodes == 0) ||
	    ((flags & EVAL_DATE) && eval->date == 0)) {
		return -CHI_ECORRUPT;
	}
	if (flags & EVAL_PV) {
		uint64_t n = chi_read_varint(r);
		int rc = read_moves(r, n, arena, &eval->pv);
		if (rc < 0) {
			return rc;
		}
		eval->n_pv = (size_t)n;
	}
	return r->bad ? -CHI_ECORRUPT : CHI_OK;
}

static int read_eval(struct chi_reader *r, struct chi_arena *arena, struct chi_eval *eval)
{
	*eval = (struct chi_eval){0};
	uint64_t name_len = chi_read_varint(r);
	const uint8_t *name = chi_read_bytes(r, (size_t)name_len);
	if (name == NULL) {
		return -CHI_ECORRUPT;
	}
	eval->engine = chi_arena_text(arena, name, (size_t)name_len);
	eval->engine_len = (size_t)name_len;
	if (eval->engine == NULL) {
		return -CHI_ENOMEM;
	}
	return read_eval_body(r, arena, eval);
}

/* Their number is not stored; they are collected on the stack first. */
static int read_evals(struct chi_reader *r, struct chi_arena *arena, struct chi_record *out)
{
	struct chi_eval evals[CHI_EVALS_MAX];
	size_t n = 0;
	while (chi_reader_left(r) > 0) {
		if (n == CHI_EVALS_MAX) {
			return -CHI_ECORRUPT;
		}
		int rc = read_eval(r, arena, &evals[n]);
		if (rc < 0) {
			return rc;
		}
		n++;
	}
	if (n == 0) {
		return -CHI_ECORRUPT;
	}
	struct chi_eval *copy = chi_arena_alloc(arena, n * sizeof(*copy));
	if (copy == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(copy, evals, n * sizeof(*copy));
	out->evals = copy;
	out->n_evals = n;
	return CHI_OK;
}

static int read_section(uint64_t tag, const uint8_t *bytes, size_t len, struct chi_arena *arena,
			struct chi_record *out)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	switch (tag) {
	case SECTION_LINE:
		out->n_line = len / 2;
		return len % 2 != 0 ? -CHI_ECORRUPT : read_moves(&r, len / 2, arena, &out->line);
	case SECTION_EVALS:
		return read_evals(&r, arena, out);
	case SECTION_NOTE:
		if (len == 0) {
			return -CHI_ECORRUPT;
		}
		out->note = chi_arena_text(arena, bytes, len);
		out->n_note = len;
		return out->note == NULL ? -CHI_ENOMEM : CHI_OK;
	default:
		return CHI_OK;
	}
}

static int read_sections(struct chi_reader *r, struct chi_arena *arena, struct chi_record *out,
			 struct chi_record_rest *rest)
{
	uint64_t last = 0;
	do {
		const uint8_t *start = r->at;
		uint64_t tag = chi_read_varint(r);
		uint64_t len = chi_read_varint(r);
		if (r->bad || tag <= last || len > chi_reader_left(r)) {
			return -CHI_ECORRUPT;
		}
		const uint8_t *bytes = chi_read_bytes(r, (size_t)len);
		int rc = read_section(tag, bytes, (size_t)len, arena, out);
		if (rc < 0) {
			return rc;
		}
		/* Tags ascend: from the first unknown one to the end, all are unknown. */
		if (tag >= SECTION_UNKNOWN && rest->bytes == NULL) {
			rest->bytes = start;
			rest->len = (size_t)(r->end - start);
		}
		last = tag;
	} while (chi_reader_left(r) > 0);
	return CHI_OK;
}

/* True if the counts were written in the one form they have. */
static bool counts_canonical(uint8_t head, const struct chi_record *record)
{
	if ((head & HEAD_COUNTS) >> 1 != COUNTS_FULL) {
		return true;
	}
	uint64_t total = 0;
	if (!chi_counts_total(&record->counts, &total)) {
		return false;
	}
	bool fits_one = total == 1 && (record->n_moves == 0 ||
				       is_single(&record->counts, record->moves, record->n_moves));
	return total != 0 && !fits_one;
}

bool chi_record_is_listed(const uint8_t *value, size_t len)
{
	return len > 0 && head_has_list(value[0]) && (value[0] & HEAD_LIST_APART) != 0;
}

/* The size of a list that is in the postings tree. */
static int read_listed(struct chi_reader *r, const struct chi_counts *counts,
		       struct chi_record_rest *rest)
{
	uint64_t total;
	rest->listed = chi_read_small(r);
	rest->listed_games = chi_read_small(r);
	bool ok = !r->bad && chi_counts_total(counts, &total) && rest->listed > CHI_LIST_HERE_MAX &&
		  rest->listed_games > 0 && rest->listed_games <= rest->listed &&
		  rest->listed_games <= total;
	return ok ? CHI_OK : -CHI_ECORRUPT;
}

/* A list that follows the moves, into `room`. */
static int read_here(struct chi_reader *r, const struct chi_move_stat *moves, size_t n_moves,
		     struct chi_posting room[CHI_LIST_HERE_MAX], struct chi_record_rest *rest)
{
	chi_move places[CHI_MOVES_MAX];
	uint64_t n = chi_read_small(r);
	if (r->bad || n == 0 || n > CHI_LIST_HERE_MAX) {
		return -CHI_ECORRUPT;
	}
	for (size_t i = 0; i < n_moves; i++) {
		places[i] = moves[i].move;
	}
	chi_postings_read(r, room, (size_t)n, 0, places, n_moves);
	rest->games = room;
	rest->n_games = (size_t)n;
	return r->bad ? -CHI_ECORRUPT : CHI_OK;
}

/* `number`: of the one game, or 0. */
static int read_list(struct chi_reader *r, uint8_t head, uint32_t number, struct chi_arena *arena,
		     const struct chi_record *record, struct chi_record_rest *rest)
{
	bool apart = head_has_list(head) && (head & HEAD_LIST_APART) != 0;
	if (apart || (number == 0 && !head_has_list(head))) {
		return apart ? read_listed(r, &record->counts, rest) : CHI_OK;
	}
	size_t n = number != 0 ? 1 : CHI_LIST_HERE_MAX;
	struct chi_posting *room = chi_arena_alloc(arena, n * sizeof(*room));
	if (room == NULL) {
		return -CHI_ENOMEM;
	}
	if (number == 0) {
		return read_here(r, record->moves, record->n_moves, room, rest);
	}
	room[0] = (struct chi_posting){.game = number,
				       .move = record->n_moves > 0 ? record->moves[0].move : 0};
	rest->games = room;
	rest->n_games = 1;
	return CHI_OK;
}

int chi_record_decode(const uint8_t *value, size_t len, struct chi_arena *arena,
		      struct chi_record *out, struct chi_record_rest *rest)
{
	struct chi_record_rest ignored = {0};
	rest = rest != NULL ? rest : &ignored;
	*rest = (struct chi_record_rest){0};
	*out = (struct chi_record){0};
	struct chi_reader r;
	uint8_t head;
	if (!chi_record_open(value, len, &r, &head)) {
		return -CHI_ECORRUPT;
	}
	uint32_t number = chi_record_read_head(&r, head, &out->chi2, &out->counts);
	if (r.bad) {
		return -CHI_ECORRUPT;
	}
	if (head & HEAD_PLIES) {
		int rc = read_plies(&r, head, arena, out);
		if (rc < 0) {
			return rc;
		}
	}
	if (head & HEAD_MOVES) {
		int rc = read_played(&r, head, arena, out);
		if (rc < 0) {
			return rc;
		}
	}
	int list = read_list(&r, head, number, arena, out, rest);
	if (list < 0) {
		return list;
	}
	if (head & HEAD_SECTIONS) {
		int rc = read_sections(&r, arena, out, rest);
		if (rc < 0) {
			return rc;
		}
	}
	bool whole = !r.bad && chi_reader_left(&r) == 0 && counts_canonical(head, out);
	return whole && chi_record_check(out, NULL) == CHI_OK ? CHI_OK : -CHI_ECORRUPT;
}
