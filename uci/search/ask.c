/* SPDX-License-Identifier: MIT */
/*
 * The store inside the search: what it has of a node may cut it, what it has of the positions after
 * the moves puts these in order. A store that does not answer is one that has nothing.
 */
#include "uci/search/node.h"

#include "chess/key.h"

/* A mate in n moves is 2n - 1 plies away for the side that gives it, 2n for the other. */
static int score_of(const struct chi_row *row)
{
	if (row->is_mate) {
		int moves = row->score > CHI_PLIES_MAX / 2    ? CHI_PLIES_MAX / 2
			    : row->score < -CHI_PLIES_MAX / 2 ? -CHI_PLIES_MAX / 2
							      : row->score;
		return moves > 0 ? CHI_MATE - (2 * moves - 1) : -CHI_MATE - 2 * moves;
	}
	int most = CHI_MATE_BOUND - 1;
	return row->score > most ? most : row->score < -most ? -most : row->score;
}

static void take_row(const struct chi_row *row, struct chi_known_position *out)
{
	uint64_t games = row->counts.white + row->counts.draws + row->counts.black;
	*out = (struct chi_known_position){
		.found = row->found,
		.has_eval = row->found && row->has_eval,
		.depth = row->depth,
		.best = row->best_source == CHI_BEST_PLAYED ? 0 : row->best,
		.games = games > UINT32_MAX ? UINT32_MAX : (uint32_t)games,
	};
	if (games > 0) {
		/* No overflow: neither count is more than games. */
		double points = (double)row->counts.white + (double)row->counts.draws / 2;
		out->share = (int)(1000 * points / (double)games);
	}
	if (out->has_eval) {
		out->score = score_of(row);
	}
}

/* Mates are told from the root. */
static int at_ply(int score, int ply)
{
	return score >= CHI_MATE_BOUND	  ? score - ply
	       : score <= -CHI_MATE_BOUND ? score + ply
					  : score;
}

/* Games and lines are walked move by move: what comes after two positions that the store does not
 * have, it does not have either, but for a few that are reached another way. */
static bool is_near(const struct chi_engine *engine, int ply)
{
	return ply <= 2 || engine->frames[ply - 1].known || engine->frames[ply - 2].known;
}

bool chi_ask_store(struct chi_engine *engine, int ply, int depth, struct chi_known_position *out)
{
	struct chi_key key;
	struct chi_row row;
	if (engine->prober == NULL || depth < engine->ask_least || !is_near(engine, ply)) {
		return false;
	}
	chi_key_encode(chi_here(engine, ply), &key);
	engine->asked++;
	if (chi_prober_key(engine->prober, &key, &row) != CHI_OK || !row.found) {
		return false;
	}
	engine->found++;
	take_row(&row, out);
	out->score = at_ply(out->score, ply);
	if ((engine->ask_how & CHI_ASK_IN_VAIN) != 0) {
		out->has_eval = false;
		out->best = 0;
	}
	return true;
}

/* What the side that moved has of it: evaluations speak of the side to move after the move. */
static int worth(const struct chi_known_position *known, int mover)
{
	int bits = 32 - __builtin_clz(known->games | 1);
	int share = mover == CHI_WHITE ? known->share : 1000 - known->share;
	int by_games = known->games == 0 ? 0 : 400 * bits + 8 * (share - 500);
	int by_eval = known->score > 1000 ? 1000 : known->score < -1000 ? -1000 : known->score;
	return by_games - (known->has_eval ? 12 * by_eval : 0);
}

static bool ask_all(struct chi_engine *engine, const struct chi_key *keys, size_t n,
		    struct chi_row *rows)
{
	if ((engine->ask_how & CHI_ASK_SINGLY) == 0) {
		return chi_prober_many(engine->prober, keys, n, rows) == CHI_OK;
	}
	for (size_t i = 0; i < n; i++) {
		if (chi_prober_key(engine->prober, &keys[i], &rows[i]) != CHI_OK) {
			return false;
		}
	}
	return true;
}

void chi_ask_order(struct chi_engine *engine, int ply, int depth, struct chi_picker *picker)
{
	struct chi_key keys[CHI_LEGAL_MAX];
	struct chi_row rows[CHI_LEGAL_MAX];
	const struct chi_position *p = chi_here(engine, ply);
	size_t n = picker->list.n;
	/* At the root they have the order of the depth before. */
	if (n == 0 || ply == 0 || !engine->frames[ply].known || depth <= engine->ask_least) {
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct chi_position after;
		chi_position_play(p, picker->list.moves[i], &after);
		chi_key_encode(&after, &keys[i]);
	}
	bool vain = (engine->ask_how & CHI_ASK_IN_VAIN) != 0;
	engine->asked += n;
	if (!ask_all(engine, keys, n, rows)) {
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (rows[i].found && chi_is_quiet(p, picker->list.moves[i])) {
			struct chi_known_position known;
			engine->found++;
			take_row(&rows[i], &known);
			picker->scores[i] += vain ? 0 : worth(&known, p->side);
		}
	}
}
