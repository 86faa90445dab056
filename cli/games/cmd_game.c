/* SPDX-License-Identifier: MIT */
/* chistore game: whole games by their numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "cli/command.h"
#include "cli/games/print.h"
#include "cli/out/output.h"

struct game_state {
	bool pgn;
};

static int print_game(const struct cli *cli, const struct chi_game_row *row,
		      const struct chi_game *game)
{
	json_t *object = NULL;
	if (!cli->json) {
		(void)fwrite(row->pgn, 1, row->pgn_len, stdout);
		return EXIT_DONE;
	}
	int status = games_whole(row, game, &object);
	if (status != CHI_OK) {
		cli_message("cannot print game %" PRIu32 " (%s)", row->head.number,
			    chi_strerror(status));
		return EXIT_STORE;
	}
	output_json(object);
	return EXIT_DONE;
}

static int run_one(struct cli *cli, const char *text)
{
	struct chi_game_row row;
	struct chi_game game;
	uint64_t number = 0;
	if (chi_num_u64(text, strlen(text), UINT32_MAX, &number) != CHI_OK || number == 0) {
		return cli_usage(cli, "'%s' is not the number of a game", text);
	}
	int status = chi_game_get(cli->client, (uint32_t)number, &row, &game);
	if (status == CHI_NONE) {
		cli_message("game not found: %s", text);
		return EXIT_NOT_FOUND;
	}
	return status == CHI_OK ? print_game(cli, &row, &game) : cli_fail(cli->client, status);
}

static int run_game(struct cli *cli)
{
	const struct game_state *state = cli->state;
	int code = EXIT_DONE;
	if (state->pgn && cli->json) {
		return cli_usage(cli, "--pgn and --json exclude each other");
	}
	for (int i = 0; i < cli->argc && code <= EXIT_NOT_FOUND && !cli_output_failed(); i++) {
		code = cli_worse(code, run_one(cli, cli->argv[i]));
	}
	return code;
}

static const struct cli_option options[] = {
	OPTION_FLAG(game_state, pgn, "pgn", "print PGN, as without it"),
	OPTIONS_END,
};

const struct command cmd_game = {
	.name = "game",
	.arguments = "N...",
	.summary = "print whole games",
	.help = "Prints the games of these numbers, which 'games' lists in its first column, as\n"
		"PGN. With --json one object for each: the columns of 'games', and tags, start,\n"
		"moves in SAN, and the PGN. A number that no game has is named on standard error,\n"
		"and the exit code is 1.",
	.example = "chistore -a ./games game 1 2",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct game_state),
	.run = run_game,
};
