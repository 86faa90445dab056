/* SPDX-License-Identifier: MIT */
/* The random operations of the model test. */
#include "tests/store/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/statistic.h"
#include "store/record/codec.h"
#include "store/txn/txn.h"

struct model models[POSITIONS];
const char *const engines[ENGINES] = {"Arasan", "Gull 3", "Gull 3.1"};
const uint16_t model_plies[PLIES] = {0, 1, 130, CHI_PLY_MAX};

static struct model saved[POSITIONS];
static struct chi_counts base;
static enum chi_statistic kind;

static int compare_moves(const void *a, const void *b)
{
	return (int)*(const chi_move *)a - (int)*(const chi_move *)b;
}

void model_reset(enum chi_statistic statistic, const struct chi_counts *rates)
{
	static struct chi_key keys[POSITIONS];
	kind = statistic;
	base = *rates;
	help_keys(keys, POSITIONS);
	for (size_t i = 0; i < POSITIONS; i++) {
		struct model *m = &models[i];
		struct chi_move_list list;
		*m = (struct model){.key = keys[i]};
		ok(chi_key_decode(&m->key, &m->position, &fault));
		m->control = chi_statistic_control(&m->position);
		chi_movegen_legal(&m->position, &list);
		m->n_legal = list.n < MOVES ? list.n : MOVES;
		memcpy(m->legal, list.moves, m->n_legal * sizeof(chi_move));
		qsort(m->legal, m->n_legal, sizeof(chi_move), compare_moves);
	}
}

static struct chi_counts some_counts(void)
{
	return (struct chi_counts){help_below(40), help_below(40), help_below(40), help_below(2)};
}

static void add_counts(struct chi_counts *sum, const struct chi_counts *more)
{
	sum->white += more->white;
	sum->draws += more->draws;
	sum->black += more->black;
	sum->other += more->other;
}

/* The moves of a put: random ones of the model's, in `out`; mirrored in the model. */
static size_t put_moves(struct model *m, bool add, struct chi_move_stat out[MOVES])
{
	size_t n = 0;
	for (size_t i = 0; i < m->n_legal; i++) {
		bool given = help_below(2) != 0;
		if (given) {
			out[n++] = (struct chi_move_stat){m->legal[i], some_counts()};
		}
		if (!add || (given && !m->played[i])) {
			m->played[i] = given;
			m->by_move[i] = (struct chi_counts){0};
		}
		if (given) {
			add_counts(&m->by_move[i], &out[n - 1].counts);
		}
	}
	return n;
}

static uint64_t total(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black + counts->other;
}

/* Plies of some or all of `games`, in `out`; mirrored in the model. */
static size_t put_plies(struct model *m, uint64_t games, struct chi_ply_stat out[PLIES])
{
	size_t n = 0;
	for (size_t i = 0; i < PLIES && games > 0; i++) {
		if (help_below(3) == 0) {
			uint64_t some = help_below(2) ? games : 1 + help_below((unsigned)games);
			out[n++] = (struct chi_ply_stat){model_plies[i], some};
			m->by_ply[i] += some;
			games -= some;
		}
	}
	return n;
}

static size_t put_evals(struct model *m, struct chi_eval out[2])
{
	size_t n = 0;
	for (size_t e = help_below(ENGINES); e < ENGINES && n < 2; e += 1 + help_below(2), n++) {
		out[n] = (struct chi_eval){.engine = engines[e],
					   .engine_len = strlen(engines[e]),
					   .depth = help_below(4),
					   .score = (int32_t)help_below(200) - 100,
					   .nodes = help_below(2) * 77u,
					   .date = help_below(3),
					   .n_pv = help_below(2) && m->n_legal > 0,
					   .pv = m->legal};
		if (!m->evaluated[e] || out[n].depth >= m->evals[e].depth) {
			m->evaluated[e] = true;
			m->evals[e] = out[n];
		}
	}
	return n;
}

static size_t drop_eval(struct model *m, struct chi_eval *out)
{
	size_t e = help_below(ENGINES);
	*out = (struct chi_eval){.engine = engines[e], .engine_len = strlen(engines[e])};
	m->evaluated[e] = false;
	return 1;
}

/* Counts, moves and plies, set or added. */
static void random_games(struct model *m, struct chi_put_entry *put, struct chi_move_stat *moves,
			 struct chi_ply_stat *plies)
{
	struct chi_record *r = &put->record;
	r->moves = moves;
	r->plies = plies;
	if (help_below(2)) {
		put->parts |= CHI_PUT_ADD;
		r->counts = some_counts();
		add_counts(&m->counts, &r->counts);
		r->n_moves = put_moves(m, true, moves);
		r->n_plies = put_plies(m, total(&r->counts), plies);
	} else if (help_below(2)) {
		put->parts |= CHI_PUT_COUNTS | CHI_PUT_MOVES;
		m->counts = r->counts = some_counts();
		r->n_moves = put_moves(m, false, moves);
		memset(m->by_ply, 0, sizeof(m->by_ply));
		r->n_plies = put_plies(m, total(&r->counts), plies);
	}
}

/* The deepest, the latest of these, the first by its engine's name; pawns as White sees them. */
uint16_t model_eval(const struct model *m)
{
	const struct chi_eval *best = NULL;
	for (size_t i = 0; i < ENGINES; i++) {
		const struct chi_eval *eval = &m->evals[i];
		if (m->evaluated[i] && (best == NULL || eval->depth > best->depth ||
					(eval->depth == best->depth && eval->date > best->date))) {
			best = eval;
		}
	}
	int sign = m->position.side == CHI_WHITE ? 1 : -1;
	return best != NULL ? (uint16_t)(12800 + sign * best->score) : CHI_CHI2_UNKNOWN;
}

/* In numbers so small that 64 bits hold the fraction. */
static uint16_t score_value(const struct chi_counts *c)
{
	uint64_t rates = base.white + base.draws + base.black;
	uint64_t n = c->white + c->draws + c->black;
	uint64_t won = rates * (2 * c->white + c->draws) + 10 * (2 * base.white + base.draws);
	uint64_t of = 2 * rates * (n + 10);
	return n < 5 ? CHI_CHI2_UNKNOWN : (uint16_t)((10000 * won + of / 2) / of);
}

/* The statistic that follows from what the model has become. */
static void follow(struct model *m)
{
	if (kind == CHI_STATISTIC_OUTCOME) {
		m->chi2 = chi_statistic_outcome(&m->counts, &base);
	} else if (kind == CHI_STATISTIC_SCORE) {
		m->chi2 = score_value(&m->counts);
	} else if (kind == CHI_STATISTIC_EVAL) {
		m->chi2 = model_eval(m);
	}
}

/* A random put, applied to the model too. */
static void random_put(struct chi_write *write, struct model *m)
{
	struct chi_put_entry put = {.key = m->key};
	struct chi_move_stat moves[MOVES];
	struct chi_ply_stat plies[PLIES];
	struct chi_eval evals[2];
	char note[16] = "";
	struct chi_record *r = &put.record;
	if (!m->stored) {
		m->stored = true;
		m->chi2 = kind == CHI_STATISTIC_CONTROL ? m->control : CHI_CHI2_UNKNOWN;
	}
	random_games(m, &put, moves, plies);
	if (help_below(3) == 0) {
		put.parts |= CHI_PUT_EVALS;
		r->n_evals = put_evals(m, evals);
		r->evals = evals;
	} else if (help_below(12) == 0) {
		put.parts |= CHI_PUT_DROP_EVALS;
		r->n_evals = drop_eval(m, evals);
		r->evals = evals;
	}
	if (help_below(4) == 0) {
		put.parts |= CHI_PUT_NOTE;
		r->n_note = help_below(3) ? (size_t)snprintf(note, sizeof(note), "note %u",
							     help_below(1000))
					  : 0;
		r->note = note;
		memcpy(m->note, note, sizeof(note));
	}
	if (help_below(4) == 0 && m->n_legal > 0) {
		put.parts |= CHI_PUT_LINE;
		m->line = help_below(2) != 0;
		r->line = m->legal;
		r->n_line = m->line;
	}
	if (kind == CHI_STATISTIC_EXTERNAL && help_below(3)) {
		put.parts |= CHI_PUT_CHI2;
		m->chi2 = r->chi2 = (uint16_t)(help_below(5) ? 5000 + help_below(300) : 0);
	}
	follow(m);
	struct chi_put_result result = {0};
	ok(chi_put_check(&put, kind, &fault));
	ok(chi_write_put(write, &put, &result));
	ok(chi_write_put(write, &(struct chi_put_entry){.key = m->key}, &result));
	assert_int_equal(result.added + result.updated + result.unchanged, 2);
	assert_true(result.unchanged >= 1);
}

/* As never stored. */
static void forget(struct model *m)
{
	struct model fresh = {.key = m->key,
			      .position = m->position,
			      .n_legal = m->n_legal,
			      .control = m->control};
	memcpy(fresh.legal, m->legal, sizeof(fresh.legal));
	*m = fresh;
}

static void random_delete(struct chi_write *write, struct model *m)
{
	int rc = chi_write_delete(write, &m->key);
	assert_int_equal(rc, m->stored ? CHI_OK : CHI_NONE);
	forget(m);
}

static bool bare(const struct model *m)
{
	bool found = total(&m->counts) > 0 || m->line || m->note[0] != '\0' ||
		     (kind == CHI_STATISTIC_EXTERNAL && m->chi2 != 0);
	for (size_t i = 0; i < MOVES; i++) {
		found = found || m->played[i];
	}
	for (size_t i = 0; i < ENGINES; i++) {
		found = found || m->evaluated[i];
	}
	return !found;
}

/* Takes some or all out of `from`; what it took. */
static uint64_t take(uint64_t *from)
{
	uint64_t some = help_below(3) ? *from : help_below((unsigned)*from + 1);
	*from -= some;
	return some;
}

static struct chi_counts take_counts(struct chi_counts *from)
{
	struct chi_counts taken;
	taken.white = take(&from->white);
	taken.draws = take(&from->draws);
	taken.black = take(&from->black);
	taken.other = take(&from->other);
	return taken;
}

/* Plies of the games taken, `games` in all: of no more than are taken, and so many that of no more
 * than are left a ply is left. */
static size_t take_plies(struct model *m, uint64_t games, struct chi_ply_stat out[PLIES])
{
	uint64_t known = 0;
	for (size_t i = 0; i < PLIES; i++) {
		known += m->by_ply[i];
	}
	uint64_t left = total(&m->counts);
	uint64_t least = known > left ? known - left : 0;
	uint64_t most = known < games ? known : games;
	uint64_t want = least + help_below((unsigned)(most - least) + 1);
	size_t n = 0;
	for (size_t i = 0; i < PLIES && want > 0; i++) {
		uint64_t some = m->by_ply[i] < want ? m->by_ply[i] : want;
		if (some > 0) {
			out[n++] = (struct chi_ply_stat){model_plies[i], some};
			m->by_ply[i] -= some;
			want -= some;
		}
	}
	return n;
}

/* Games taken out of the model as they will be out of the store, in `r`. */
static void take_games(struct model *m, struct chi_record *r, struct chi_move_stat *moves,
		       struct chi_ply_stat *plies)
{
	*r = (struct chi_record){.moves = moves, .plies = plies};
	r->counts = take_counts(&m->counts);
	for (size_t i = 0; i < MOVES; i++) {
		if (m->played[i] && help_below(4) > 0) {
			moves[r->n_moves++] =
				(struct chi_move_stat){m->legal[i], take_counts(&m->by_move[i])};
			m->played[i] = total(&m->by_move[i]) > 0;
		}
	}
	r->n_plies = take_plies(m, total(&r->counts), plies);
}

/* One more than there is, somewhere: refused, and taken back to the mark. */
static void spoil(struct chi_write *write, const struct model *m, struct chi_put_entry *put,
		  struct chi_move_stat *moves, struct chi_ply_stat *plies)
{
	struct chi_record *r = &put->record;
	struct chi_put_result result = {0};
	unsigned kinds = 1 + (r->n_moves > 0) + (r->n_plies > 0);
	unsigned which = help_below(kinds);
	if (which == 0) {
		r->counts.draws = m->counts.draws + r->counts.draws + 1;
	} else if (which == 1 && r->n_moves > 0) {
		moves[r->n_moves - 1].counts.black += UINT64_C(1) << 40;
	} else {
		/* chi_put_check would refuse it, and so must the merge. */
		plies[r->n_plies - 1].games += UINT64_C(1) << 40;
	}
	ok(chi_write_savepoint(write));
	assert_int_equal(chi_write_put(write, put, &result), -CHI_EINVAL);
	assert_true(chi_write_why(write)[0] != '\0');
	ok(chi_write_rollback(write));
}

/* Takes games away; also from what is not stored, where only nothing can be taken. */
static void random_subtract(struct chi_write *write, struct model *m)
{
	struct chi_put_entry put = {.key = m->key, .parts = CHI_PUT_SUBTRACT};
	struct chi_move_stat moves[MOVES];
	struct chi_ply_stat plies[PLIES];
	struct chi_put_result result = {0};
	struct model before = *m;
	take_games(m, &put.record, moves, plies);
	if (help_below(4) == 0) {
		*m = before;
		spoil(write, m, &put, moves, plies);
		return;
	}
	ok(chi_put_check(&put, kind, &fault));
	ok(chi_write_put(write, &put, &result));
	assert_int_equal(result.added, 0);
	assert_int_equal(result.removed, m->stored && bare(m));
	assert_int_equal(result.removed + result.updated + result.unchanged, 1);
	if (bare(m)) {
		forget(m);
	} else {
		follow(m);
	}
}

void model_batch(struct chi_dir *store)
{
	struct chi_write *write;
	memcpy(saved, models, sizeof(saved));
	ok(chi_write_begin(store, &write, &fault));
	/* Changes are made in several turns, or at the end. */
	write->position.most = 1 + help_below(60);
	write->strength.most = 1 + help_below(60);
	for (unsigned n = 1 + help_below(60); n > 0; n--) {
		struct model *m = &models[help_below(POSITIONS)];
		unsigned what = help_below(10);
		if (what == 0) {
			random_delete(write, m);
		} else if (what < 4) {
			random_subtract(write, m);
		} else {
			random_put(write, m);
		}
	}
	if (help_below(6) == 0) {
		chi_write_abort(write);
		memcpy(models, saved, sizeof(saved));
	} else {
		ok(chi_write_commit(write, &fault));
	}
}
