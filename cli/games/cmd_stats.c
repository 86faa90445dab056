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
	uint8_t side; /* of players, from `sides` */
	uint64_t limit;
	const char *plot;
};

static const char *const kinds[CHI_STATS_KINDS] = {
	[CHI_STATS_YEAR] = "year",	 [CHI_STATS_RATING] = "rating",
	[CHI_STATS_ECO] = "eco",	 [CHI_STATS_OPENING] = "opening",
	[CHI_STATS_LENGTH] = "length",	 [CHI_STATS_SPEED] = "speed",
	[CHI_STATS_EVENT] = "event",	 [CHI_STATS_SITE] = "site",
	[CHI_STATS_SOURCE] = "source",	 [CHI_STATS_PLAYER] = "player",
	[CHI_STATS_PIECES] = "pieces",	 [CHI_STATS_MATERIAL] = "material",
	[CHI_STATS_ENDGAME] = "endgame",
};

/* In the order of CHI_STATS_PLAYER, CHI_STATS_WHITE and CHI_STATS_BLACK. */
static const char *const sides[] = {"both", "white", "black"};

static bool of_players(uint8_t by)
{
	return by >= CHI_STATS_PLAYER && by <= CHI_STATS_BLACK;
}

static const char *kind_name(uint8_t by)
{
	return kinds[of_players(by) ? CHI_STATS_PLAYER : by];
}

static bool of_positions(uint8_t by)
{
	return by >= CHI_STATS_PIECES;
}

/* Numbers of names are the store's, and say nothing to a reader. */
static bool is_number(uint8_t by)
{
	return by == CHI_STATS_YEAR || by == CHI_STATS_RATING || by == CHI_STATS_LENGTH ||
	       by == CHI_STATS_PIECES;
}

/* Not known without a game that ended. */
static void score_cell(const void *at, struct cli_value *out)
{
	const struct chi_counts *counts = &((const struct chi_stats_group *)at)->counts;
	double games = (double)games_of(counts);
	double points = (double)counts->white + (double)counts->draws / 2;
	out->real = games > 0 ? 100 * points / games : 0;
	out->kind = games > 0 ? VALUE_REAL : VALUE_UNKNOWN;
}

static void games_cell(const void *at, struct cli_value *out)
{
	const struct chi_counts *counts = &((const struct chi_stats_group *)at)->counts;
	value_count(out, games_of(counts) + counts->other);
}

static void text_cell(const void *at, struct cli_value *out)
{
	const char *text = ((const struct chi_stats_group *)at)->text;
	if (text[0] != '\0') {
		value_text(out, text, strlen(text));
	}
}

/* Of positions all of them; else one less. */
static size_t make_columns(uint8_t by, struct cli_column columns[8])
{
	const struct cli_column all[] = {
		COLUMN_MADE(NULL, text_cell),
		COLUMN(SHOW_COUNT, struct chi_stats_group, positions, "positions"),
		COLUMN_MADE("games", games_cell),
		COLUMN(SHOW_COUNT, struct chi_stats_group, counts.white,
		       of_players(by) ? "won" : "white"),
		COLUMN(SHOW_COUNT, struct chi_stats_group, counts.draws,
		       of_players(by) ? "drawn" : "draws"),
		COLUMN(SHOW_COUNT, struct chi_stats_group, counts.black,
		       of_players(by) ? "lost" : "black"),
		COLUMN(SHOW_COUNT, struct chi_stats_group, counts.other, "other"),
		COLUMN_MADE("score", score_cell),
	};
	size_t n = 0;
	for (size_t i = 0; i < CHI_COUNT(all); i++) {
		if (i != 1 || of_positions(by)) {
			columns[n++] = all[i];
		}
	}
	if (is_number(by)) {
		columns[0] =
			(struct cli_column)COLUMN(SHOW_NUMBER, struct chi_stats_group, value, NULL);
	}
	columns[0].name = kind_name(by);
	return n;
}

/* ---- Pictures ----------------------------------------------------------------------------- */

#define LABEL_SIZE 64

static void make_bar(uint8_t by, const struct chi_stats_group *group, char label[LABEL_SIZE],
		     struct plot_bar *bar)
{
	if (is_number(by) && group->value != 0) {
		(void)snprintf(label, LABEL_SIZE, "%u", group->value);
	} else {
		(void)snprintf(label, LABEL_SIZE, "%s", group->text[0] != '\0' ? group->text : "?");
	}
	*bar = (struct plot_bar){
		.label = label,
		.parts = {group->counts.white, group->counts.draws, group->counts.black}};
	if (of_positions(by)) {
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
	const char *unit = of_positions(state->by) ? "positions" : "games";
	(void)snprintf(title, sizeof(title), "%s by %s", unit, kind_name(state->by));
	const struct plot plot = {.title = title,
				  .unit = unit,
				  .bars = bars,
				  .n = result->n,
				  .whole = of_positions(state->by)};
	return plot_draw(&plot, state->plot);
}

/* ---- The command -------------------------------------------------------------------------- */

static int run_stats(struct cli *cli)
{
	struct stats_state *state = cli->state;
	struct chi_stats_result result;
	struct cli_column columns[8];
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
	int status =
		chi_get_stats(cli->client, state->by, state->terms.text, state->limit, &result);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	game_terms_remark(cli);
	if (state->plot != NULL) {
		return draw(state, &result);
	}
	struct cli_rows rows = {.cli = cli, .columns = columns};
	rows.n = make_columns(state->by, columns);
	for (size_t i = 0; i < result.n && !cli_output_failed(); i++) {
		rows_print(&rows, &result.groups[i]);
	}
	rows_head(&rows);
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	OPTION_WORD(stats_state, by, kinds, "by", "WHAT",
		    "year (default), rating, eco, opening, length, ...; see below"),
	OPTION_WORD(stats_state, side, sides, "as", "SIDE",
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
		"drew and lost with either colour, and the player's score.\n"
		"\n"
		"--by year, rating (the average of both, in hundreds), eco, opening (A to E),\n"
		"length (moves), speed, event, site, source, player. By pieces, material or\n"
		"endgame all positions of the store are counted, with the games that reached\n"
		"each of them; options that choose games do not go with these.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games stats --by year --player Carlsen\n"
		   "chistore -a ./games stats --by eco --limit 10\n"
		   "chistore -a ./games stats --by player --as black --limit 10\n"
		   "chistore -a ./games stats --by endgame",
	.options = options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct stats_state),
	.run = run_stats,
};
