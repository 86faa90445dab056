/* SPDX-License-Identifier: MIT */
#include "chess/bitboard.h"
#include "chess/moment/moment.h"

#include "chess/movegen.h"

/* What is computed. */
enum {
	KNOWS_CHECK = 1,
	KNOWS_MOVES = 2,
	KNOWS_GIVEN = 4,
	KNOWS_MATES = 8,
};

static bool has_legal_move(const struct chi_position *position)
{
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	return list.n > 0;
}

bool chi_moment_check(struct chi_moment *moment)
{
	if ((moment->known & KNOWS_CHECK) == 0) {
		moment->in_check = chi_position_in_check(moment->position, moment->position->side);
		moment->known |= KNOWS_CHECK;
	}
	return moment->in_check;
}

/* A move that was played is a legal one. */
static bool can_move(struct chi_moment *moment)
{
	if ((moment->known & KNOWS_MOVES) == 0) {
		moment->has_move = moment->move != 0 || has_legal_move(moment->position);
		moment->known |= KNOWS_MOVES;
	}
	return moment->has_move;
}

bool chi_moment_mate(struct chi_moment *moment)
{
	return chi_moment_check(moment) && !can_move(moment);
}

bool chi_moment_stalemate(struct chi_moment *moment)
{
	return !chi_moment_check(moment) && !can_move(moment);
}

const struct chi_position *chi_moment_after(struct chi_moment *moment)
{
	if (moment->after == NULL) {
		chi_position_play(moment->position, moment->move, &moment->made);
		moment->after = &moment->made;
	}
	return moment->after;
}

bool chi_moment_gives_check(struct chi_moment *moment)
{
	if ((moment->known & KNOWS_GIVEN) == 0) {
		const struct chi_position *after = chi_moment_after(moment);
		moment->gives_check = chi_position_in_check(after, after->side);
		moment->known |= KNOWS_GIVEN;
	}
	return moment->gives_check;
}

bool chi_moment_mates(struct chi_moment *moment)
{
	if ((moment->known & KNOWS_MATES) == 0) {
		moment->mates = chi_moment_gives_check(moment) && !has_legal_move(moment->after);
		moment->known |= KNOWS_MATES;
	}
	return moment->mates;
}

uint64_t chi_turn_squares(struct chi_turn turn, uint64_t squares)
{
	if (turn.swap) {
		squares = __builtin_bswap64(squares);
	}
	return turn.mirror ? chi_mirror_files(squares) : squares;
}

static void turn_position(struct chi_turn turn, const struct chi_position *position,
			  struct chi_position *out)
{
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		out->kind[kind] = chi_turn_squares(turn, position->kind[kind]);
	}
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		out->colour[turn.swap ? colour ^ 1 : colour] =
			chi_turn_squares(turn, position->colour[colour]);
	}
	out->castle = chi_turn_squares(turn, position->castle);
	out->side = turn.swap ? position->side ^ 1 : position->side;
	out->ep = CHI_NO_SQUARE;
	if (position->ep != CHI_NO_SQUARE) {
		out->ep = (uint8_t)__builtin_ctzll(chi_turn_squares(turn, chi_bit(position->ep)));
	}
}

void chi_moment_view_init(struct chi_moment_view *view, struct chi_moment *moment,
			  struct chi_turn turn, const uint8_t *key)
{
	view->moment = moment;
	view->turn = turn;
	view->position = moment->position;
	view->key = key;
	if (turn.mirror || turn.swap) {
		turn_position(turn, moment->position, &view->turned);
		view->position = &view->turned;
		view->key = NULL;
	}
}
