/* SPDX-License-Identifier: MIT */
/* chistore stats: games and results by what games are, positions by what is on the board. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/in/game_terms.h"
#include "cli/out/columns.h"
#include "cli/out/output.h"
#include "cli/games/plot.h"

struct stats_state {
	struct game_terms terms;
	uint8_t by;
	uint8_t side; /* of players, place in chi_stats_sides */
	uint64_t limit;
	const char *plot;
};

/* ---- Pictures ----------------------------------------------------------------------------- */

#define LABEL_SIZE 64

static void make_bar(uint8_t by, const struct chi_stats_group *group, char label[LABEL_SIZE],
		     struct plot_bar *bar)
{
	struct chi_row_column columns[CHI_STATS_COLUMNS];
	struct chi_cell value;
	(void)chi_stats_columns(by, columns);
	chi_cell_fill(&columns[0], group, &value);
	if (value.kind == VALUE_UNKNOWN) {
		chi_cell_text(&value, "?", 1);
	}
	(void)snprintf(label, LABEL_SIZE, "%.*s", (int)value.len, value.text);
	*bar = (struct plot_bar){
		.label = label,
		.parts = {group->counts.white, group->counts.draws, group->counts.black}};
	if (chi_stats_of_positions(by)) {
		*bar = (struct plot_bar){.label = label, .parts = {group->positions, 0, 0}};
	}
}

static int draw(const struct stats_state *state, const struct chi_stats_result *result)
{
	_cleanup_(chi_freep) struct plot_bar *bars = calloc(result->n + 1, sizeof(*bars));
	_cleanup_(chi_freep) char *labels = calloc(result->n + 1, LABEL_SIZE);
	char title[LABEL_SIZE];
	if (bars == NULL || labels == NULL) {
		return cli_no_memory();
	}
	if (result->n == 0) {
		cli_message("there is nothing to draw");
		return EXIT_NOT_FOUND;
	}
	for (size_t i = 0; i < result->n; i++) {
		make_bar(state->by, &result->groups[i], labels + i * LABEL_SIZE, &bars[i]);
	}
	const char *unit = chi_stats_of_positions(state->by) ? "positions" : "games";
	(void)snprintf(title, sizeof(title), "%s by %s", unit, chi_stats_word(state->by));
	const struct plot plot = {.path = state->plot,
				  .title = title,
				  .unit = unit,
				  .bars = bars,
				  .n = result->n,
				  .whole = chi_stats_of_positions(state->by)};
	return plot_draw(&plot);
}

/* ---- The command -------------------------------------------------------------------------- */

static int run_stats(struct cli *cli)
{
	struct stats_state *state = cli->state;
	struct chi_stats_result result;
	struct chi_row_column columns[CHI_STATS_COLUMNS];
	int code = game_terms_take(cli, &state->terms);
	if (code != EXIT_DONE) {
		return code;
	}
	if (state->plot != NULL && cli->json) {
		return cli_usage(cli, "--plot and --json exclude each other");
	}
	if (cli_given(cli, "as") && state->by != CHI_STATS_PLAYER) {
		return cli_usage(cli, "--as goes with --by player alone");
	}
	state->by = (uint8_t)(state->by + state->side);
	int status = chi_stats_list(cli->client,
				    &(struct chi_stats_spec){CHI_STATS_SPEC_INIT, .by = state->by,
							     .filter = state->terms.text,
							     .limit = state->limit},
				    &result);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	game_terms_remark(cli);
	if (state->plot != NULL) {
		return draw(state, &result);
	}
	struct cli_rows rows = {.cli = cli, .columns = columns};
	rows.n = chi_stats_columns(state->by, columns);
	for (size_t i = 0; i < result.n && !cli_output_failed(); i++) {
		rows_print(&rows, &result.groups[i]);
	}
	rows_head(&rows);
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	OPTION_WORD(stats_state, by, chi_stats_words, "by", "WHAT",
		    "year (default), rating, eco, opening, length, ...; see below"),
	OPTION_WORD(stats_state, side, chi_stats_sides, "as", "SIDE",
		    "players: only their games as white, or black (default: both)"),
	OPTION_NUMBER(stats_state, limit, 1, UINT64_MAX, "limit", "N",
		      "the N groups with most games or positions, those first"),
	OPTION_TEXT(stats_state, plot, "plot", "FILE",
		    "draw bars by gnuplot: into this PNG file, or - for the terminal"),
	GAME_TERM_OPTIONS(stats_state, terms),
	OPTIONS_END,
};

const struct command cmd_stats = {
	.name = "stats",
	.arguments = "",
	.summary = "count games and results by year, player, opening, ...",
	.help = "Prints groups of the games that fit, by their value or, with --limit, by their\n"
		"games: games, White's wins, draws, Black's wins, games without a result, and\n"
		"White's score in percent. By player they are the games that the player won,\n"
		"drew and lost with either colour, and the player's score. Of games with two\n"
		"ratings and a result: rated (how many), expected (percent that the ratings let\n"
		"expect) and performance (the results beyond that, in standard deviations).\n"
		"\n"
		"--by year, rating (the average of both, in hundreds), eco, opening (A to E),\n"
		"length (moves), speed, event, site, source, player. By pieces, material or\n"
		"endgame all positions of the store are counted, with the games that reached\n"
		"each of them; options that choose games do not go with these.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games stats --by year --player Norheim\n"
		   "chistore -a ./games stats --by eco --limit 10\n"
		   "chistore -a ./games stats --by player --as black --limit 10\n"
		   "chistore -a ./games stats --by endgame",
	.options = options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct stats_state),
	.run = run_stats,
};
