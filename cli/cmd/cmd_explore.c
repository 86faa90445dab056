/* SPDX-License-Identifier: MIT */
/* chistore explore: what was played from a position, and how it ended. */
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "base/arena.h"
#include "base/evidence.h"
#include "cli/in/filter.h"
#include "cli/in/game_terms.h"
#include "cli/in/place.h"
#include "cli/out/explored.h"
#include "propagate/backed.h"
#include "propagate/evals.h"

struct explore_state {
	uint64_t limit; /* rows; 0: no limit */
	bool all;
	bool as_table;
	bool tsv;
	const char *backed; /* engine of the scores backed up */
	struct chi_evidence evidence;
	struct table_options table;
	struct game_terms terms;
};

static const struct explore_state defaults = {.backed = CHI_BACKUP_ENGINE};

static bool was_played(const struct chi_explore_move *move)
{
	const struct chi_counts *c = &move->played;
	return c->white > 0 || c->draws > 0 || c->black > 0 || c->other > 0;
}

/* Moves played come first, so what is printed is the beginning of the list. */
static size_t rows_of(const struct explore_state *state, const struct chi_explored *explore)
{
	size_t n = 0;
	while (n < explore->n_moves && (state->limit == 0 || n < state->limit) &&
	       (state->all || was_played(&explore->moves[n]))) {
		n++;
	}
	return n;
}

/* Of the games that fit, if some are asked for; until the next call. */
static int explore_key(struct cli *cli, const struct chi_key *key, struct chi_explored *out)
{
	const struct explore_state *wanted = cli->state;
	return chi_explore(cli->client, key, wanted->terms.text, &wanted->evidence, out);
}

/* Asked for before the moves: an answer lasts until the next call. */
static int print_card(struct cli *cli, struct card *card, const struct table *table)
{
	struct chi_record record;
	struct chi_explored explore;
	const struct explore_state *wanted = cli->state;
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, CHI_EVALS_MAX * sizeof(struct chi_eval));
	int status = card_statistic(cli->client, &card->statistic);
	if (status == CHI_OK) {
		status = explore_key(cli, &card->key, &explore);
	}
	if (status == CHI_OK) {
		status = chi_get(cli->client, &card->key, &record);
	}
	if (status == CHI_OK) {
		status = chi_evidence_apply(&wanted->evidence, &arena, &record);
	}
	if (wanted->terms.n > 0) {
		record.counts = explore.position.counts;
	}
	if (status < 0) {
		return cli_fail(cli->client, status);
	}
	card->record = status == CHI_OK ? &record : NULL;
	status = card_print(table, card);
	card->record = NULL;
	if (status != CHI_OK) {
		/* Only a server can have told what fits no position. */
		cli_message("cannot print the answer (%s)", chi_strerror(status));
	}
	return status == CHI_OK ? EXIT_DONE : EXIT_STORE;
}

static int answer_explore(struct cli *cli, struct card *card, struct table *table)
{
	const struct explore_state *wanted = cli->state;
	struct chi_explored explore;
	struct chi_backed backed;
	int code = table->out != NULL ? print_card(cli, card, table) : EXIT_DONE;
	if (code != EXIT_DONE) {
		return code;
	}
	int status =
		chi_backed_ask(cli->client, wanted->backed, &wanted->evidence, &card->key, &backed);
	if (status == CHI_OK) {
		status = explore_key(cli, &card->key, &explore);
	}
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	size_t n = rows_of(wanted, &explore);
	bool any = explore.position.found || n > 0;
	if (table->out != NULL) {
		status = explored_table(&explore, n, &backed, table);
	} else if (any) {
		status = explored_print(&explore, n, &backed, card, cli->json);
	}
	if (status != CHI_OK) {
		cli_message("cannot print the answer (%s)", chi_strerror(status));
		return EXIT_STORE;
	}
	if (table->out != NULL) {
		table_close(table);
	}
	game_terms_remark(cli);
	return explore.position.found ? EXIT_DONE : cli_not_found(&card->key);
}

static int run_explore(struct cli *cli)
{
	struct explore_state *wanted = cli->state;
	_cleanup_(table_deinit) struct table table = {.out = NULL};
	struct place place;
	if (wanted->as_table && wanted->tsv) {
		return cli_usage(cli, "--table and --tsv exclude each other");
	}
	if (cli->json && (wanted->as_table || wanted->tsv)) {
		return cli_usage(cli, "--%s and --json exclude each other",
				 wanted->as_table ? "table" : "tsv");
	}
	int code = place_take_all(cli, &place);
	if (code == EXIT_DONE) {
		code = game_terms_take(cli, &wanted->terms);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	bool people = wanted->as_table || (!wanted->tsv && isatty(STDOUT_FILENO) != 0);
	if (people && !cli->json && !table_open(&wanted->table, &table)) {
		return EXIT_STORE;
	}
	struct card card = {
		.key = place.key, .eco = place.eco, .opening = place.opening, .plies = place.plies};
	return answer_explore(cli, &card, &table);
}

static const struct cli_option options[] = {
	OPTION_NUMBER(explore_state, limit, 1, UINT64_MAX, "limit", "N", "at most N moves"),
	OPTION_FLAG(explore_state, all, "all",
		    "also moves not played here that lead to stored positions"),
	OPTION_FLAG(explore_state, as_table, "table",
		    "board and table, even if the output is not a terminal"),
	OPTION_FLAG(explore_state, tsv, "tsv", "tab-separated rows, even on a terminal"),
	EVIDENCE_OPTIONS(explore_state, evidence),
	OPTION(explore_state, backed, explored_take_engine, "backed", "NAME",
	       "name of the backed-up scores (default: " CHI_BACKUP_ENGINE ")"),
	TABLE_OPTIONS(explore_state),
	GAME_TERM_OPTIONS(explore_state, terms),
	OPTIONS_END,
};

const struct command cmd_explore = {
	.name = "explore",
	.arguments = "[POSITION] [MOVE...]",
	.summary = "show what was played from a position, and how it ended",
	.help = "Shows each move that was played in a position, most games first: games, White's\n"
		"wins, draws and Black's wins among them, the average score of the side to move\n"
		"in percent, the games that reached the position after the move by any order of\n"
		"moves, that position's statistic and its opening.\n"
		"On a terminal it shows the board first, with what is known of the position: its\n"
		"opening (the last one on the way that has a name), results, evaluations, line\n"
		"and note; then a table with a bar for each move (White's wins, draws, Black's\n"
		"wins), through $PAGER if it is long. Elsewhere it prints tab-separated rows of\n"
		"the moves: san, uci, games, white, draws, black, other, score, eval, depth,\n"
		"backed (the score that 'propagate' backed up, if it is seen), reached, "
		"reached_white,\n"
		"reached_draws, reached_black, chi2, eco, opening. A position that is not stored\n"
		"is named on standard error, and the exit code is 1.\n"
		"Options that choose games count only these: --player Velan --white.\n\n" PLACE_HELP
		"\n\n" GAME_TERMS_HELP,
	.example = "chistore -a ./positions explore\n"
		   "chistore -a ./positions explore e4 e5 Nf3 Nc6 --limit 5\n"
		   "chistore -a ./positions explore Najdorf Be3\n"
		   "chistore -a ./games explore e4 e5 --rating 2600.. --since 2015\n"
		   "chistore -a ./positions explore "
		   "'r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 0 1' --json",
	.options = options,
	.args_max = -1,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct explore_state),
	.defaults = &defaults,
	.run = run_explore,
};
