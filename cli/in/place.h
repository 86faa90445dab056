/* SPDX-License-Identifier: MIT */
/* Positions as they are named on the command line: where to start, and the moves from there. */
#pragma once

#include <stddef.h>

#include "cli/cli.h"

struct place {
	struct chi_key key;
	/* The last opening on the way to it that has a name, of static storage; NULL: none. */
	const char *eco;
	const char *opening;
	size_t plies; /* played since */
};

/* What a command that takes a position says of it in its help. */
#define PLACE_HELP                                                                                 \
	"A position is a FEN (in quotes), 'startpos', an ECO code (B90) or the name of an\n"       \
	"opening (Najdorf), and after it the MOVEs played from there, SAN or UCI; MOVEs\n"         \
	"alone start from the initial position."

/*
 * Reads the position that begins at argv[*at] and moves *at past its moves. Says what is wrong,
 * once, and returns EXIT_USAGE; *at is then where the next position begins, or argc.
 */
int place_take(const struct cli *cli, int argc, char **argv, int *at, struct place *out);

/* The same of all arguments, which name one position; none: the initial one. */
int place_take_all(const struct cli *cli, struct place *out);

/* A position on a line of a file, `where` in front of a message: all in one text: "Najdorf Be3",
 * "startpos moves e2e4". One argument may be such a text, too. */
int place_parse(const struct cli *cli, const char *text, size_t len, const char *where,
		struct place *out);
