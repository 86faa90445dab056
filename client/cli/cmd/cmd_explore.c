/* SPDX-License-Identifier: MIT */
/* chistore explore: what was played from a position, and how it ended. */
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "client/cli/command.h"
#include "client/cli/out/explored.h"

#define START	   "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define START_NAME "startpos"

struct explore_state {
	uint64_t limit; /* rows; 0: no limit */
	bool all;
	bool table;
	bool tsv;
	bool ascii;
};

/* Plays one argument's moves, which may be several. */
static int play(const struct cli *cli, const char *text, struct chi_key *key)
{
	chi_move moves[CHI_LINE_MAX];
	struct chi_fault fault = {.text = ""};
	struct chi_position position;
	size_t n = 0;
	int status = chi_key_decode(key, &position, &fault);
	if (status == CHI_OK) {
		status = chi_line_parse(&position, text, strlen(text), moves, CHI_LINE_MAX, &n,
					&fault);
	}
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		struct chi_key next;
		status = chi_key_play(key, moves[i], &next);
		if (status == -CHI_EKEY) {
			chi_fault(&fault, 0, "no key can hold the position after it");
		}
		*key = next;
	}
	if (status == CHI_OK) {
		return EXIT_DONE;
	}
	return cli_usage(cli, "'%.100s': %s", text,
			 fault.text[0] != '\0' ? fault.text : chi_strerror(status));
}

/* A FEN has slashes and a move has none, so the initial position need not be said. */
static int take_position(const struct cli *cli, int argc, char **argv, struct chi_key *key)
{
	bool fen = argc > 0 && strchr(argv[0], '/') != NULL;
	bool named = argc > 0 && strcmp(argv[0], START_NAME) == 0;
	const char *text = fen ? argv[0] : START;
	int code = cli_key(cli, text, strlen(text), NULL, key);
	for (int i = fen || named ? 1 : 0; code == EXIT_DONE && i < argc; i++) {
		code = play(cli, argv[i], key);
	}
	return code;
}

static bool was_played(const struct chi_explore_move *move)
{
	const struct chi_counts *c = &move->played;
	return c->white > 0 || c->draws > 0 || c->black > 0 || c->other > 0;
}

/* Moves played come first, so what is printed is the beginning of the list. */
static size_t rows_of(const struct explore_state *state, const struct chi_explore *explore)
{
	size_t n = 0;
	while (n < explore->n_moves && (state->limit == 0 || n < state->limit) &&
	       (state->all || was_played(&explore->moves[n]))) {
		n++;
	}
	return n;
}

static struct explored_style style_of(const struct cli *cli, const struct explore_state *state)
{
	struct explored_style style = {.ascii = state->ascii || !explored_utf8()};
	if (cli->json) {
		style.form = EXPLORED_JSON;
	} else if (state->table || (!state->tsv && isatty(STDOUT_FILENO) != 0)) {
		style.form = EXPLORED_TABLE;
	}
	return style;
}

static int run(struct cli *cli)
{
	const struct explore_state *wanted = cli->state;
	struct chi_explore explore;
	struct chi_key key;
	char fen[CHI_FEN_SIZE];
	if (wanted->table && wanted->tsv) {
		return cli_usage(cli, "--table and --tsv exclude each other");
	}
	int code = take_position(cli, cli->argc, cli->argv, &key);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_explore(cli->client, &key, &explore);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	size_t n = rows_of(wanted, &explore);
	if (explore.position.found || n > 0) {
		struct explored_style style = style_of(cli, wanted);
		status = explored_print(&explore, n, &style);
	}
	if (status != CHI_OK) {
		/* Only a server can have told what fits no position. */
		cli_message("cannot print the answer (%s)", chi_strerror(status));
		return EXIT_STORE;
	}
	if (!explore.position.found && chi_key_to_fen(&key, fen, NULL) == CHI_OK) {
		cli_message("position not found: %s", fen);
	}
	return explore.position.found ? EXIT_DONE : EXIT_NOT_FOUND;
}

static const struct cli_option options[] = {
	OPTION_NUMBER(explore_state, limit, 1, UINT64_MAX, "limit", "N", "at most N moves"),
	OPTION_FLAG(explore_state, all, "all",
		    "also moves not played here that lead to stored positions"),
	OPTION_FLAG(explore_state, table, "table",
		    "the table, even if the output is not a terminal"),
	OPTION_FLAG(explore_state, tsv, "tsv", "tab-separated rows, even on a terminal"),
	OPTION_FLAG(explore_state, ascii, "ascii", "bars of # = . instead of blocks"),
	OPTIONS_END,
};

const struct command cmd_explore = {
	.name = "explore",
	.arguments = "[FEN | startpos] [MOVE...]",
	.summary = "show what was played from a position, and how it ended",
	.help = "Shows the given position (default: the initial one) after the MOVEs (SAN or\n"
		"UCI); then each move that was played there, most games first: games, White's\n"
		"wins, draws and Black's wins among them, the average score of the side to move\n"
		"in percent, the games that reached the position after the move by any order of\n"
		"moves, that position's statistic and its opening.\n"
		"On a terminal this is a table with a bar (White's wins, draws, Black's wins);\n"
		"elsewhere tab-separated rows of the moves: san, uci, games, white, draws,\n"
		"black, other, score, reached, reached_white, reached_draws, reached_black,\n"
		"chi2, eco, opening. A position that is not stored is named on standard error,\n"
		"and the exit code is 1.",
	.example = "chistore -a ./positions explore\n"
		   "chistore -a ./positions explore e4 e5 Nf3 Nc6 --limit 5\n"
		   "chistore -a ./positions explore '8/8/4k3/8/8/4K3/4P3/8 w - - 0 1' --json",
	.options = options,
	.args_max = -1,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct explore_state),
	.run = run,
};
