/* SPDX-License-Identifier: MIT */
/*
 * What a ply must have for a moment of a motif to hold, as far as it is seen at a glance: most
 * plies of most games are told by it not to be worth a closer look. And what must be left on the
 * board for one to hold later. Private to the room; one thread.
 */
#pragma once

#include "chess/pattern/pattern.h"
#include "chess/position.h"

struct chi_motif;

struct chi_screen {
	struct chi_pattern_needs needs; /* of the position */
	uint64_t from;			/* squares of the move; `to` not of castling */
	uint64_t to;
	uint8_t colours; /* that may move, a bit each */
	bool takes;	 /* not by castling either */
};

/* Asks no more than any moment of the motif does; at the motif's end, than its last one. */
struct chi_screens {
	struct chi_screen any;
	bool open; /* that asks nothing of a ply */
	struct chi_screen last;
};
void chi_screens_of(const struct chi_motif *motif, struct chi_screens *out);

/* False: no moment holds at the ply at which `move` was played, 0: none was. */
static inline bool chi_screen_may_hold(const struct chi_screen *screen,
				       const struct chi_position *position, chi_move move)
{
	uint64_t occupied = chi_position_occupied(position);
	int to = chi_move_to(move);
	if ((screen->needs.occupied & ~occupied) != 0) {
		return false;
	}
	if (move == 0 || (position->colour[position->side] >> to & 1) != 0) {
		return true;
	}
	return (screen->from >> chi_move_from(move) & screen->to >> to &
		(uint64_t)screen->colours >> position->side & 1) != 0 &&
	       (!screen->takes || (occupied >> to & 1) != 0 || to == position->ep);
}

/* True: it holds neither in this position nor in any that comes of it, since too few pieces are
 * left, or pawns have left home. */
bool chi_screen_is_lost(const struct chi_screen *screen, const struct chi_position *position);
