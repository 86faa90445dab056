/* SPDX-License-Identifier: MIT */
/* chi-perft FEN DEPTH: prints nodes and milliseconds, for comparing speed with other programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "chess/fen.h"
#include "tests/chess/perft.h"

static double milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	struct chi_position position;
	struct chi_fault fault = {{0}};
	uint64_t depth = 0;
	if (argc != 3 || chi_num_u64(argv[2], strlen(argv[2]), 20, &depth) != CHI_OK) {
		fprintf(stderr, "usage: chi-perft FEN DEPTH\n");
		return 2;
	}
	if (chi_fen_parse(argv[1], strlen(argv[1]), &position, &fault) != CHI_OK) {
		fprintf(stderr, "chi-perft: %s\n", fault.text);
		return 2;
	}
	double start = milliseconds();
	uint64_t nodes = chi_perft(&position, (unsigned)depth);
	printf("%" PRIu64 " nodes %.1f ms\n", nodes, milliseconds() - start);
	return 0;
}
