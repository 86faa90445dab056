/* SPDX-License-Identifier: MIT */
/*
 * bench_find STORE FILTER: the games that a filter finds, one a line with the ply of the first
 * moment that fits. What scoutfish.py compares: no names, no tags.
 */
#include <inttypes.h>
#include <stdio.h>

#include "chistore.h"

static int print(struct chi_client *client, const char *filter)
{
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = filter,
					   .want = CHI_GAMES_HEADS};
	struct chi_rows *query = NULL;
	const struct chi_game_row *row;
	int status = chi_games_open(client, &spec, &query);
	while (status == CHI_OK && (status = chi_games_next(query, &row)) == CHI_OK) {
		printf("%" PRIu32 " %" PRId32 "\n", row->head.number, row->ply);
	}
	chi_rows_close(query);
	return status;
}

int main(int argc, char **argv)
{
	struct chi_client *client = NULL;
	struct chi_fault fault = {.text = ""};
	if (argc != 3) {
		fprintf(stderr, "usage: bench_find STORE FILTER\n");
		return 2;
	}
	if (chi_open(argv[1], NULL, &client, &fault) != CHI_OK) {
		fprintf(stderr, "bench_find: %s\n", fault.text);
		return 1;
	}
	int status = print(client, argv[2]);
	if (status < 0) {
		fprintf(stderr, "bench_find: %s\n", chi_error(client));
	}
	chi_close(client);
	return status < 0 ? 1 : 0;
}
