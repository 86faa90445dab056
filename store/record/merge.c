/* SPDX-License-Identifier: MIT */
/* What a put makes of the record that was stored (types.h, "Writing"). */
#include "store/record/merge.h"

#include <string.h>

#include "chess/key.h"
#include "chess/statistic.h"
#include "base/arena.h"
#include "base/fault.h"
#include "base/record.h"
#include "store/record/codec.h"

/* Both lists ascend by move; so does the result. */
static int add_moves(const struct chi_move_stat *more, size_t n_more, struct chi_arena *arena,
		     struct chi_record *out)
{
	if (out->n_moves + n_more > (size_t)2 * CHI_MOVES_MAX) {
		return -CHI_ETOOBIG;
	}
	const struct chi_move_stat *old = out->moves;
	size_t n_old = out->n_moves;
	struct chi_move_stat *moves = chi_arena_alloc(arena, (n_old + n_more) * sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	size_t i = 0;
	size_t j = 0;
	size_t n = 0;
	while (i < n_old || j < n_more) {
		if (j == n_more || (i < n_old && old[i].move < more[j].move)) {
			moves[n++] = old[i++];
		} else if (i == n_old || more[j].move < old[i].move) {
			moves[n++] = more[j++];
		} else {
			moves[n] = old[i++];
			if (!chi_counts_add(&moves[n++].counts, &more[j++].counts)) {
				return -CHI_ETOOBIG;
			}
		}
	}
	out->moves = moves;
	out->n_moves = n;
	return CHI_OK;
}

/* Both lists ascend by ply; so does the result. */
static int add_plies(const struct chi_ply_stat *more, size_t n_more, struct chi_arena *arena,
		     struct chi_record *out)
{
	const struct chi_ply_stat *old = out->plies;
	size_t n_old = out->n_plies;
	if (n_more == 0) {
		return CHI_OK;
	}
	if (n_old + n_more > 2 * ((size_t)CHI_PLY_MAX + 1)) {
		return -CHI_ETOOBIG;
	}
	struct chi_ply_stat *plies = chi_arena_alloc(arena, (n_old + n_more) * sizeof(*plies));
	if (plies == NULL) {
		return -CHI_ENOMEM;
	}
	size_t i = 0;
	size_t j = 0;
	size_t n = 0;
	while (i < n_old || j < n_more) {
		if (j == n_more || (i < n_old && old[i].ply < more[j].ply)) {
			plies[n++] = old[i++];
		} else if (i == n_old || more[j].ply < old[i].ply) {
			plies[n++] = more[j++];
		} else {
			plies[n] = old[i++];
			if (__builtin_add_overflow(plies[n].games, more[j].games,
						   &plies[n].games)) {
				return -CHI_ETOOBIG;
			}
			n++;
			j++;
		}
	}
	out->plies = plies;
	out->n_plies = n;
	return CHI_OK;
}

/* Puts one evaluation in its place among `n` sorted ones, unless a deeper one of the same engine
 * and rank has it. */
static void merge_eval(struct chi_eval *evals, size_t *n, const struct chi_eval *eval)
{
	size_t i = 0;
	while (i < *n && chi_eval_compare(&evals[i], eval) < 0) {
		i++;
	}
	if (i < *n && chi_eval_compare(&evals[i], eval) == 0) {
		if (eval->depth >= evals[i].depth) {
			evals[i] = *eval;
		}
		return;
	}
	memmove(evals + i + 1, evals + i, (*n - i) * sizeof(*evals));
	evals[i] = *eval;
	(*n)++;
}

/* Plies that the lines of one search are apart where it ends before it has come to all of them. */
#define SEARCH_DEPTHS 1

/* Drops the lines of earlier searches, which are less deep than a better line of their engine. A
 * better one goes before them. Returns how many are left. */
static size_t drop_earlier(struct chi_eval *evals, size_t n)
{
	size_t kept = 0;
	uint32_t deepest = 0;
	for (size_t i = 0; i < n; i++) {
		const struct chi_eval *last = kept > 0 ? &evals[kept - 1] : NULL;
		bool same = last != NULL && last->engine_len == evals[i].engine_len &&
			    memcmp(last->engine, evals[i].engine, last->engine_len) == 0;
		if (same && evals[i].depth + SEARCH_DEPTHS < deepest) {
			continue;
		}
		deepest = same && deepest > evals[i].depth ? deepest : evals[i].depth;
		evals[kept++] = evals[i];
	}
	return kept;
}

/* The stored ones are sorted, those of the put may come in any order. */
static int merge_evals(const struct chi_eval *more, size_t n_more, struct chi_arena *arena,
		       struct chi_record *out)
{
	if (n_more > CHI_EVALS_MAX) {
		return -CHI_ETOOBIG;
	}
	size_t n = out->n_evals;
	struct chi_eval *evals = chi_arena_alloc(arena, (n + n_more) * sizeof(*evals));
	if (evals == NULL) {
		return -CHI_ENOMEM;
	}
	if (n > 0) {
		memcpy(evals, out->evals, n * sizeof(*evals));
	}
	for (size_t i = 0; i < n_more; i++) {
		if (more[i].engine_len == 0) {
			return -CHI_EINVAL;
		}
		merge_eval(evals, &n, &more[i]);
	}
	out->evals = evals;
	out->n_evals = drop_earlier(evals, n);
	return CHI_OK;
}

static bool has_engine(const struct chi_record *record, const struct chi_eval *eval)
{
	for (size_t i = 0; i < record->n_evals; i++) {
		if (chi_eval_compare(&record->evals[i], eval) == 0) {
			return true;
		}
	}
	return false;
}

static int remove_evals(const struct chi_record *given, struct chi_arena *arena,
			struct chi_record *out)
{
	struct chi_eval *evals = chi_arena_array(arena, out->n_evals + 1, sizeof(*evals));
	size_t n = 0;
	if (evals == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < out->n_evals; i++) {
		if (!has_engine(given, &out->evals[i])) {
			evals[n++] = out->evals[i];
		}
	}
	out->evals = evals;
	out->n_evals = n;
	return CHI_OK;
}

int chi_merge_room(const struct chi_record *stored, struct chi_arena *arena,
		   struct chi_record *given)
{
	size_t n = given->n_evals;
	size_t others = 0;
	if (stored->n_evals + n <= CHI_EVALS_MAX) {
		return CHI_OK;
	}
	struct chi_eval *evals = chi_arena_alloc(arena, n * sizeof(*evals));
	if (evals == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(evals, given->evals, n * sizeof(*evals));
	for (size_t i = 0; i < n; i++) {
		others += !has_engine(stored, &evals[i]);
	}
	for (; stored->n_evals + others > CHI_EVALS_MAX; others--) {
		size_t least = n;
		for (size_t i = 0; i < n; i++) {
			if (!has_engine(stored, &evals[i]) &&
			    (least == n || evals[i].depth < evals[least].depth)) {
				least = i;
			}
		}
		memmove(evals + least, evals + least + 1, (n - least - 1) * sizeof(*evals));
		n--;
	}
	given->evals = evals;
	given->n_evals = n;
	return CHI_OK;
}

/* Of a decoded position; what does not need one is not given one. */
static uint16_t statistic_of(enum chi_statistic kind, const struct chi_counts *base,
			     const struct chi_position *position, const struct chi_record *record)
{
	switch (kind) {
	case CHI_STATISTIC_CONTROL:
		return chi_statistic_control(position);
	case CHI_STATISTIC_OUTCOME:
		return chi_statistic_outcome(&record->counts, base);
	case CHI_STATISTIC_SCORE:
		return chi_statistic_score(&record->counts, base);
	case CHI_STATISTIC_EVAL:
		return chi_statistic_evals(record, position->side);
	case CHI_STATISTIC_PERFORMANCE:
		return CHI_CHI2_UNKNOWN; /* no games are here */
	case CHI_STATISTIC_EXTERNAL:
	default:
		return record->chi2;
	}
}

int chi_record_statistic(enum chi_statistic kind, const struct chi_counts *base,
			 const struct chi_key *key, const struct chi_record *record, uint16_t *chi2)
{
	struct chi_position position = {.side = CHI_WHITE};
	bool needs_position = kind == CHI_STATISTIC_CONTROL ||
			      (kind == CHI_STATISTIC_EVAL && record->n_evals > 0);
	int rc = needs_position ? chi_key_decode(key, &position, NULL) : CHI_OK;
	*chi2 = rc < 0 ? CHI_CHI2_UNKNOWN : statistic_of(kind, base, &position, record);
	return rc;
}

bool chi_record_statistic_ok(enum chi_statistic kind, const struct chi_position *position,
			     const struct chi_record *record)
{
	return !chi_statistic_is_checked(kind) ||
	       record->chi2 == statistic_of(kind, NULL, position, record);
}

/* Counts, moves and plies, which are set, added or taken away. */
static int merge_games(const struct chi_put_entry *put, struct chi_arena *arena,
		       struct chi_record *out, struct chi_fault *fault)
{
	const struct chi_record *given = &put->record;
	if ((put->parts & CHI_PUT_COUNTS) != 0) {
		out->counts = given->counts;
		out->plies = given->plies;
		out->n_plies = given->n_plies;
	}
	if ((put->parts & CHI_PUT_MOVES) != 0) {
		out->moves = given->moves;
		out->n_moves = given->n_moves;
	}
	if ((put->parts & CHI_PUT_ADD) != 0) {
		if (!chi_counts_add(&out->counts, &given->counts)) {
			return -CHI_ETOOBIG;
		}
		int rc = add_plies(given->plies, given->n_plies, arena, out);
		return rc < 0 ? rc : add_moves(given->moves, given->n_moves, arena, out);
	}
	return (put->parts & CHI_PUT_SUBTRACT) != 0 ? chi_subtract(given, arena, out, fault)
						    : CHI_OK;
}

int chi_merge_parts(const struct chi_put_entry *put, struct chi_arena *arena,
		    struct chi_record *out, struct chi_fault *fault)
{
	const struct chi_record *given = &put->record;
	int rc = merge_games(put, arena, out, fault);
	if (rc == CHI_OK && (put->parts & CHI_PUT_EVALS) != 0) {
		rc = merge_evals(given->evals, given->n_evals, arena, out);
	}
	if (rc == CHI_OK && (put->parts & CHI_PUT_DROP_EVALS) != 0) {
		rc = remove_evals(given, arena, out);
	}
	if ((put->parts & CHI_PUT_LINE) != 0) {
		out->line = given->line;
		out->n_line = given->n_line;
	}
	if ((put->parts & CHI_PUT_NOTE) != 0) {
		out->note = given->note;
		out->n_note = given->n_note;
	}
	return rc;
}

static bool lines_equal(const struct chi_record *a, const struct chi_record *b)
{
	return a->n_line == b->n_line &&
	       (a->n_line == 0 || memcmp(a->line, b->line, a->n_line * sizeof(*a->line)) == 0);
}

struct chi_strength_change chi_strength_changed(const struct chi_record *old,
						const struct chi_record *new)
{
	bool moved = old->chi2 != new->chi2;
	return (struct chi_strength_change){
		.remove = moved && old->chi2 != CHI_CHI2_UNKNOWN,
		.put = new->chi2 != CHI_CHI2_UNKNOWN && (moved || !lines_equal(old, new)),
	};
}

int chi_merge_allowed(uint32_t parts, const struct chi_record_rest *rest, struct chi_fault *fault)
{
	const uint32_t changes = (uint32_t)CHI_PUT_COUNTS | (uint32_t)CHI_PUT_MOVES |
				 (uint32_t)CHI_PUT_SUBTRACT | (uint32_t)CHI_PUT_RESTORE;
	if ((parts & changes) == 0 || (rest->n_games == 0 && rest->listed == 0)) {
		return CHI_OK;
	}
	return chi_fail(fault, -CHI_EINVAL,
			"games of the archive reached the position: its counts and moves follow "
			"from them");
}

int chi_merge_put(const struct chi_record_merging *merging, const struct chi_put_entry *put,
		  struct chi_merge *m, struct chi_fault *fault)
{
	enum chi_statistic kind = merging->statistic;
	bool restore = (put->parts & CHI_PUT_RESTORE) != 0;
	bool was_stored = m->stored.mv_size > 0;
	int rc = m->follows ? CHI_OK : chi_merge_allowed(put->parts, &m->rest, fault);
	if (rc < 0) {
		return rc;
	}
	m->new = restore ? put->record : m->old;
	if (!restore) {
		rc = chi_merge_parts(put, merging->arena, &m->new, fault);
	}
	if (kind == CHI_STATISTIC_EXTERNAL && (put->parts & CHI_PUT_CHI2) != 0) {
		m->new.chi2 = put->record.chi2;
	}
	/* The control statistic depends on the position alone: what was stored is right already. */
	if (rc == CHI_OK && !restore && !(was_stored && kind == CHI_STATISTIC_CONTROL)) {
		rc = chi_record_statistic(kind, merging->base, &put->key, &m->new, &m->new.chi2);
	}
	/* It depends on the games alone, which only a load changes. */
	if (kind == CHI_STATISTIC_PERFORMANCE) {
		m->new.chi2 = m->follows ? m->performance : m->old.chi2;
	}
	if (rc < 0) {
		return rc;
	}
	if ((put->parts & CHI_PUT_SUBTRACT) != 0 && chi_record_bare(&m->new, &m->rest, kind)) {
		m->new.chi2 = CHI_CHI2_UNKNOWN;
		return was_stored ? CHI_MERGED_GONE : CHI_MERGED_SAME;
	}
	m->value.mv_data = merging->buffer;
	rc = chi_record_encode(&m->new, restore && !m->follows ? NULL : &m->rest, merging->buffer,
			       CHI_RECORD_BYTES_MAX, &m->value.mv_size);
	if (rc < 0) {
		return rc;
	}
	return m->value.mv_size == m->stored.mv_size &&
			       memcmp(merging->buffer, m->stored.mv_data, m->value.mv_size) == 0
		       ? CHI_MERGED_SAME
		       : CHI_MERGED_CHANGED;
}
