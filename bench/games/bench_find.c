/* SPDX-License-Identifier: MIT */
/*
 * bench_find STORE PATTERN FILTER: the games that a pattern finds, one a line with the ply of the
 * first position that fits. What scoutfish.py compares: no names, no tags.
 */
#include <inttypes.h>
#include <stdio.h>

#include "chistore.h"

static int print(void *context, const struct chi_game_row *row)
{
	(void)context;
	printf("%" PRIu32 " %" PRId32 "\n", row->head.number, row->ply);
	return CHI_OK;
}

int main(int argc, char **argv)
{
	struct chi_client *client = NULL;
	struct chi_search_result result;
	struct chi_fault fault = {.text = ""};
	if (argc != 4) {
		fprintf(stderr, "usage: bench_find STORE PATTERN FILTER\n");
		return 2;
	}
	if (chi_open(argv[1], NULL, &client, &fault) != CHI_OK) {
		fprintf(stderr, "bench_find: %s\n", fault.text);
		return 1;
	}
	const struct chi_search_spec spec = {
		.pattern = argv[2],
		.filter = argv[3],
		.games = true,
		.want = CHI_GAMES_HEADS,
		.each_game = print,
	};
	int status = chi_search_positions(client, &spec, &result);
	if (status != CHI_OK) {
		fprintf(stderr, "bench_find: %s\n", chi_error(client));
	}
	chi_close(client);
	return status == CHI_OK ? 0 : 1;
}
