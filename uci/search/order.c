/* SPDX-License-Identifier: MIT */
/*
 * The order of moves: what was best here before, captures that win or hold material by victim and
 * attacker, the killers of this ply, the answer that refuted the same move elsewhere, quiet moves
 * by how often they cut, captures that lose material.
 */
#include "uci/search/node.h"

#include <stdlib.h>

#define FIRST	    (1 << 30)
#define GOOD	    (1 << 24) /* captures and queens */
#define KILLER	    (1 << 20)
#define ANSWER	    (1 << 19)
#define LOSING	    (-(1 << 24))
#define HISTORY_MAX 16000

static int capture_score(const struct chi_position *p, chi_move move)
{
	static const int values[CHI_KINDS + 1] = {1, 3, 3, 5, 9, 0, 1};
	int victim = values[chi_position_kind(p, chi_move_to(move))];
	int attacker = chi_position_kind(p, chi_move_from(move));
	return 64 * (victim + values[chi_move_promotion(move)] * 4) - attacker;
}

static int score_of(const struct chi_engine *engine, int ply, chi_move move)
{
	const struct chi_frame *frame = &engine->frames[ply];
	const struct chi_position *p = &frame->position;
	if (!chi_is_quiet(p, move)) {
		bool underpromotes =
			chi_move_promotion(move) != 0 && chi_move_promotion(move) != CHI_QUEEN;
		return (!underpromotes && chi_see_at_least(p, move, 0) ? GOOD : LOSING) +
		       capture_score(p, move);
	}
	if (move == frame->killers[0] || move == frame->killers[1]) {
		return KILLER + (move == frame->killers[0]);
	}
	if (frame->move != 0 &&
	    move == engine->answers[chi_move_from(frame->move)][chi_move_to(frame->move)]) {
		return ANSWER;
	}
	return engine->history[p->side][chi_move_from(move)][chi_move_to(move)];
}

/* The root's moves have the order of the iteration before. */
static void take_root(struct chi_picker *picker, const struct chi_engine *engine)
{
	size_t n = 0;
	for (size_t i = engine->line; i < engine->n_root; i++) {
		picker->list.moves[n] = engine->root[i].move;
		picker->scores[n++] = -(int)i;
	}
	picker->list.n = n;
}

void chi_picker_all(struct chi_picker *picker, struct chi_engine *engine, int ply, chi_move first)
{
	picker->next = 0;
	if (ply == 0) {
		take_root(picker, engine);
		return;
	}
	chi_movegen_legal(chi_here(engine, ply), &picker->list);
	for (size_t i = 0; i < picker->list.n; i++) {
		chi_move move = picker->list.moves[i];
		picker->scores[i] = move == first ? FIRST : score_of(engine, ply, move);
	}
}

void chi_picker_captures(struct chi_picker *picker, struct chi_engine *engine, int ply)
{
	const struct chi_position *p = chi_here(engine, ply);
	size_t n = 0;
	picker->next = 0;
	chi_movegen_legal(p, &picker->list);
	for (size_t i = 0; i < picker->list.n; i++) {
		chi_move move = picker->list.moves[i];
		int promotion = chi_move_promotion(move);
		if ((promotion == CHI_QUEEN || (promotion == 0 && chi_is_capture(p, move))) &&
		    chi_see_at_least(p, move, 0)) {
			picker->list.moves[n] = move;
			picker->scores[n++] = capture_score(p, move);
		}
	}
	picker->list.n = n;
}

chi_move chi_picker_next(struct chi_picker *picker)
{
	if (picker->next == picker->list.n) {
		return 0;
	}
	size_t at = picker->next++;
	size_t best = at;
	for (size_t i = at + 1; i < picker->list.n; i++) {
		best = picker->scores[i] > picker->scores[best] ? i : best;
	}
	chi_move move = picker->list.moves[best];
	int score = picker->scores[best];
	picker->list.moves[best] = picker->list.moves[at];
	picker->scores[best] = picker->scores[at];
	picker->list.moves[at] = move;
	picker->scores[at] = score;
	return move;
}

/* Towards the bound, the slower the nearer. */
static void change_history(int16_t *value, int by)
{
	*value = (int16_t)(*value + by - *value * abs(by) / HISTORY_MAX);
}

void chi_order_learn(struct chi_engine *engine, int ply, int depth, chi_move move,
		     const chi_move *tried, size_t n_tried)
{
	struct chi_frame *frame = &engine->frames[ply];
	int by = depth * depth < 400 ? 16 * depth * depth : 6400;
	int16_t(*history)[64] = engine->history[frame->position.side];
	if (frame->killers[0] != move) {
		frame->killers[1] = frame->killers[0];
		frame->killers[0] = move;
	}
	if (frame->move != 0) {
		engine->answers[chi_move_from(frame->move)][chi_move_to(frame->move)] = move;
	}
	change_history(&history[chi_move_from(move)][chi_move_to(move)], by);
	for (size_t i = 0; i < n_tried; i++) {
		change_history(&history[chi_move_from(tried[i])][chi_move_to(tried[i])], -by);
	}
}
