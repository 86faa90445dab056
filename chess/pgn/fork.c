/* SPDX-License-Identifier: MIT */
/*
 * Lines that go on side by side from a move that fits several: each next move drops those in which
 * it is not legal, until one is left or all are gone.
 */
#include "chess/pgn/fork.h"

#include <string.h>

static bool give_up(struct chi_pgn_forks *forks)
{
	forks->n = 0;
	return false;
}

static void append_move(struct chi_pgn_fork *line, chi_move move)
{
	struct chi_position position = line->position;
	chi_position_play(&position, move, &line->position);
	line->moves[line->n++] = move;
}

/* Makes one line of each move found but the first, all after the others. */
static bool part(struct chi_pgn_forks *forks, const struct chi_pgn_fork *line,
		 const struct chi_san_found *found)
{
	if (found->n > CHI_SAN_FOUND_MAX || found->n - 1 > CHI_PGN_FORKS_MAX - forks->n) {
		return false;
	}
	for (size_t i = 1; i < found->n; i++) {
		struct chi_pgn_fork *copy = &forks->lines[forks->n++];
		copy->position = line->position;
		copy->n = line->n;
		memcpy(copy->moves, line->moves, line->n * sizeof(*line->moves));
		append_move(copy, found->moves[i]);
	}
	return true;
}

bool chi_pgn_forks_begin(struct chi_pgn_forks *forks, const struct chi_position *position,
			 const struct chi_san_found *found)
{
	forks->n = 1;
	forks->lines[0].position = *position;
	forks->lines[0].n = 0;
	if (!part(forks, &forks->lines[0], found)) {
		return give_up(forks);
	}
	append_move(&forks->lines[0], found->moves[0]);
	return true;
}

/* Each text that fits in a line twice adds a line; in place of those that end others move up. */
bool chi_pgn_forks_play(struct chi_pgn_forks *forks, const char *text, size_t len)
{
	size_t kept = 0;
	size_t n = forks->n;
	for (size_t i = 0; i < n; i++) {
		struct chi_pgn_fork *line = &forks->lines[i];
		struct chi_san_found found;
		enum chi_san_verdict verdict = chi_san_find(&line->position, text, len, &found);
		if (verdict != CHI_SAN_MOVE && verdict != CHI_SAN_MANY) {
			continue;
		}
		if (line->n == CHI_PGN_PLIES_MAX || !part(forks, line, &found)) {
			return give_up(forks);
		}
		append_move(line, found.moves[0]);
		if (kept < i) {
			forks->lines[kept] = *line;
		}
		kept++;
	}
	/* The new ones close up to those that are left. */
	for (size_t i = n; i < forks->n; i++) {
		if (kept < i) {
			forks->lines[kept] = forks->lines[i];
		}
		kept++;
	}
	forks->n = kept;
	return true;
}
