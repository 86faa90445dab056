/* SPDX-License-Identifier: MIT */
/*
 * A moment: a position of a game and the move played there. What conditions ask of it is computed
 * when it is asked first. A view of a moment is what conditions look at: its position as it is, or
 * turned round, so that one condition serves for a mirrored board and for the other colour.
 *
 * Both live on the stack; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chess/key.h"
#include "chess/position.h"

struct chi_moment {
	const struct chi_position *position;
	const struct chi_position *after; /* the position after `move`, NULL: to be computed */
	chi_move move;			  /* 0: none was played, or none is known */
	uint8_t known;			  /* bits of moment.c: which of the next are computed */
	bool in_check;
	bool has_move;
	bool gives_check;
	bool mates;
	struct chi_position made; /* `after`, if it was computed */
};

/* How a position is turned: files a..h become h..a; colours, ranks and the side to move change. */
struct chi_turn {
	bool mirror;
	bool swap;
};

struct chi_moment_view {
	struct chi_moment *moment;
	struct chi_turn turn;
	const struct chi_position *position;
	const uint8_t *key;	    /* as for chi_pattern_matches; NULL: to be computed */
	struct chi_position turned; /* `position`, if it is not the moment's */
	uint8_t bytes[CHI_KEY_MAX]; /* of a key that was computed */
};

/* `after` may be NULL, `move` 0. */
static inline void chi_moment_init(struct chi_moment *moment, const struct chi_position *position,
				   chi_move move, const struct chi_position *after)
{
	moment->position = position;
	moment->after = after;
	moment->move = move;
	moment->known = 0;
}

/* `key`: the position's, or NULL. */
void chi_moment_view_init(struct chi_moment_view *view, struct chi_moment *moment,
			  struct chi_turn turn, const uint8_t *key);

static inline const uint8_t *chi_moment_view_key(struct chi_moment_view *view)
{
	if (view->key == NULL) {
		chi_key_bytes(view->position, view->bytes);
		view->key = view->bytes;
	}
	return view->key;
}

/* Of the side to move: its king is attacked; that and no legal move; no legal move alone. */
bool chi_moment_check(struct chi_moment *moment);
bool chi_moment_mate(struct chi_moment *moment);
bool chi_moment_stalemate(struct chi_moment *moment);

/* Of the move, of which there must be one: the position after it; it gives check, it mates. */
const struct chi_position *chi_moment_after(struct chi_moment *moment);
bool chi_moment_gives_check(struct chi_moment *moment);
bool chi_moment_mates(struct chi_moment *moment);

/* Squares turned. */
uint64_t chi_turn_squares(struct chi_turn turn, uint64_t squares);
