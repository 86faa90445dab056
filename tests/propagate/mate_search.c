/* SPDX-License-Identifier: MIT */
/*
 * mate_search: are mates what they are said to be? Reads lines of a score in moves to mate and a
 * FEN, as in struct chi_eval, and searches all legal moves to that depth. Prints those that are
 * not so, which is exit code 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"

static bool is_mated(const struct chi_position *position, long moves);

/* The side to move mates in so many moves, or fewer. */
static bool mates(const struct chi_position *position, long moves)
{
	struct chi_move_list list;
	bool found = false;
	chi_movegen_legal(position, &list);
	for (size_t i = 0; i < list.n && !found && moves > 0; i++) {
		struct chi_position next;
		chi_position_play(position, list.moves[i], &next);
		found = (moves > 1 || chi_position_in_check(&next, next.side)) &&
			is_mated(&next, moves - 1);
	}
	return found;
}

/* The side to move is mated in so many moves of its own, or fewer. */
static bool is_mated(const struct chi_position *position, long moves)
{
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	if (list.n == 0) {
		return chi_position_in_check(position, position->side);
	}
	bool all = moves > 0;
	for (size_t i = 0; i < list.n && all; i++) {
		struct chi_position next;
		chi_position_play(position, list.moves[i], &next);
		all = mates(&next, moves);
	}
	return all;
}

int main(void)
{
	char line[256];
	int code = EXIT_SUCCESS;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		char *fen = NULL;
		struct chi_key key;
		struct chi_position position;
		long score = strtol(line, &fen, 10);
		fen += strspn(fen, " ");
		size_t len = strcspn(fen, "\n");
		if (chi_key_from_fen(fen, len, &key, NULL) != CHI_OK ||
		    chi_key_decode(&key, &position, NULL) != CHI_OK) {
			fprintf(stderr, "not a position: %s", line);
			return 2;
		}
		if (!(score > 0 ? mates(&position, score) : is_mated(&position, -score))) {
			printf("%s", line);
			code = EXIT_FAILURE;
		}
	}
	return code;
}
