/* SPDX-License-Identifier: MIT */
/*
 * chistore twins: games that are likely one, and taking all but one of them out. The numbers of all
 * groups are copied first, as what the library returned ends with its next call.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/games/copy.h"
#include "cli/games/print.h"
#include "cli/in/game_terms.h"
#include "cli/out/output.h"

/* What decides which game of a group is kept; of equals it is the first. */
enum keep {
	KEEP_TAGS,
	KEEP_NOTES,
	KEEP_FIRST,
	KEEP_LAST
};

static const char *const keeps[] = {
	[KEEP_TAGS] = "longest-tags",
	[KEEP_NOTES] = "longest-notes",
	[KEEP_FIRST] = "first",
	[KEEP_LAST] = "last",
};

struct twins_state {
	struct games games;
	struct game_terms terms;
	uint64_t days;
	uint64_t shortest;
	uint64_t beginning;
	uint64_t limit; /* groups; 0: all */
	enum keep keep;
	bool remove;
	struct chi_row_column columns[COLUMNS_MAX];
	struct cli_rows rows;
	uint32_t *numbers; /* of groups, each after how many games it has */
	size_t n;
	uint32_t *leaving;
	size_t n_leaving;
	uint64_t groups;
};

static const struct twins_state defaults = {.days = 3, .shortest = 20, .beginning = 20};

/* Copies the groups, and makes room for what leaves them. */
static int keep_groups(struct twins_state *state, const struct chi_twin_groups *groups)
{
	size_t n = 0;
	for (size_t i = 0; i < groups->n; i++) {
		n += 1 + groups->groups[i].n;
	}
	state->numbers = calloc(n + 1, sizeof(*state->numbers));
	state->leaving = calloc(n + 1, sizeof(*state->leaving));
	if (state->numbers == NULL || state->leaving == NULL) {
		return cli_no_memory();
	}
	for (size_t i = 0; i < groups->n; i++) {
		const struct chi_twin_group *group = &groups->groups[i];
		state->numbers[state->n++] = (uint32_t)group->n;
		memcpy(state->numbers + state->n, group->games, group->n * sizeof(*group->games));
		state->n += group->n;
	}
	return EXIT_DONE;
}

static int find_twins(struct cli *cli, struct twins_state *state)
{
	const struct chi_twin_spec spec = {
		CHI_TWIN_SPEC_INIT, .filter = state->terms.text, .days = (uint32_t)state->days,
		.plies = (uint32_t)state->shortest, .beginning = (uint32_t)state->beginning};
	struct chi_twin_groups groups;
	int status = chi_twins_list(cli->client, &spec, &groups);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	game_terms_remark(cli);
	return keep_groups(state, &groups);
}

/* ---- Groups ------------------------------------------------------------------------------- */

/* The game with the most of it is kept; by what is written in them, of the longest games. */
static uint64_t worth_of(enum keep keep, const struct chi_game *game)
{
	uint64_t bytes = keep == KEEP_NOTES ? game->n_notes : 0;
	for (size_t i = 0; keep == KEEP_TAGS && i < game->n_tags; i++) {
		bytes += game->tags[i].name_len + game->tags[i].value_len;
	}
	return keep == KEEP_FIRST  ? 0
	       : keep == KEEP_LAST ? game->head.number
				   : (uint64_t)game->head.plies << 40 | bytes;
}

/* A row: as one of 'games', and more. */
struct twin {
	struct chi_game_row row;
	uint64_t group;
	struct chi_game_head kept; /* the head of the one that is kept */
};

/* Looks whether the game is better than those before. CHI_NONE: it has gone since. */
static int look_at_twin(struct cli *cli, uint32_t number, uint64_t *most,
			struct chi_game_head *kept)
{
	const struct twins_state *state = cli->state;
	struct chi_game_row row;
	struct chi_game game;
	int status = chi_game_get(cli->client, number, &row, &game);
	if (status != CHI_OK) {
		return status;
	}
	uint64_t worth = worth_of(state->keep, &game);
	if (kept->number == 0 || worth > *most) {
		*most = worth;
		*kept = game.head;
	}
	return CHI_OK;
}

static void keep_cell(const void *at, struct chi_cell *out)
{
	const struct twin *twin = at;
	chi_cell_name(out, twin->row.head.number == twin->kept.number ? "yes" : "no");
}

/* Why it is the same game as the one that is kept: games of a group of other lengths begin one
 * another. */
static void why_cell(const void *at, struct chi_cell *out)
{
	const struct chi_game_head *head = &((const struct twin *)at)->row.head;
	const struct chi_game_head *kept = &((const struct twin *)at)->kept;
	bool names = head->white != kept->white || head->black != kept->black;
	bool dates =
		head->year != kept->year || head->month != kept->month || head->day != kept->day;
	const char *moves = head->plies < kept->plies	? "beginning"
			    : head->plies > kept->plies ? "longer"
							: "same moves";
	if (head->number != kept->number) {
		(void)snprintf(out->own, sizeof(out->own), "%s%s%s", moves, names ? ", names" : "",
			       dates ? ", date" : "");
		chi_cell_name(out, out->own);
	}
}

/* Those of games, but for the ply, after three of groups. */
static size_t make_columns(struct chi_row_column out[COLUMNS_MAX])
{
	size_t n = 3;
	out[0] = (struct chi_row_column)COLUMN(SHOW_COUNT, struct twin, group, "group");
	out[1] = (struct chi_row_column)COLUMN_MADE("keep", keep_cell);
	out[2] = (struct chi_row_column)COLUMN_MADE("why", why_cell);
	for (size_t i = 0; i < CHI_GAME_COLUMNS; i++) {
		if (strcmp(chi_game_columns[i].name, "ply") != 0) {
			out[n++] = chi_game_columns[i];
		}
	}
	return n;
}

/* In JSON a group is one object, else each game is a row. The games are asked for again, as a row
 * lives until the next call. */
static int print_group(struct cli *cli, const uint32_t *numbers, size_t n,
		       const struct chi_game_head *kept)
{
	struct twins_state *state = cli->state;
	struct cli_rows *rows = &state->rows;
	json_t *games = json_array();
	int status = CHI_OK;
	for (size_t i = 0; i < n && status >= 0; i++) {
		struct twin twin = {.group = state->groups, .kept = *kept};
		struct chi_game game;
		status = chi_game_get(cli->client, numbers[i], &twin.row, &game);
		if (status == CHI_OK && cli->json) {
			(void)json_array_append_new(
				games, columns_object(rows->columns + 2, rows->n - 2, &twin));
		} else if (status == CHI_OK) {
			rows_print(rows, &twin);
		}
	}
	if (cli->json && status >= 0) {
		output_json(json_pack("{s:I, s:I, s:O}", "group", (json_int_t)state->groups, "keep",
				      (json_int_t)kept->number, "games", games));
	}
	json_decref(games);
	return status;
}

static int take_group(struct cli *cli, const uint32_t *numbers, size_t n)
{
	struct twins_state *state = cli->state;
	uint64_t most = 0;
	struct chi_game_head kept = {.number = 0};
	size_t there = 0;
	int status = CHI_OK;
	for (size_t i = 0; i < n && status >= 0; i++) {
		status = look_at_twin(cli, numbers[i], &most, &kept);
		there += status == CHI_OK;
	}
	if (status >= 0 && there > 1) {
		state->groups++;
		for (size_t i = 0; i < n; i++) {
			state->leaving[state->n_leaving] = numbers[i];
			state->n_leaving += numbers[i] != kept.number;
		}
		status = state->remove ? CHI_OK : print_group(cli, numbers, n, &kept);
	}
	return status < 0 ? cli_fail(cli->client, status) : EXIT_DONE;
}

static int take_groups(struct cli *cli, struct twins_state *state)
{
	int code = EXIT_DONE;
	for (size_t at = 0; code == EXIT_DONE && at < state->n && !cli_output_failed() &&
			    (state->limit == 0 || state->groups < state->limit);) {
		uint32_t n = state->numbers[at];
		code = take_group(cli, state->numbers + at + 1, n);
		at += 1 + n;
	}
	return code;
}

/* ---- The command -------------------------------------------------------------------------- */

static int finish_twins(struct cli *cli, struct twins_state *state)
{
	if (state->remove && state->n_leaving > 0) {
		return game_take_out(cli, &state->games, state->leaving, state->n_leaving);
	}
	if (state->groups == 0) {
		cli_message("no game is there twice");
	} else if (!cli->quiet) {
		cli_message("%" PRIu64 " groups; --remove takes out %zu games", state->groups,
			    state->n_leaving);
	}
	return EXIT_DONE;
}

static int run_twins(struct cli *cli)
{
	struct twins_state *state = cli->state;
	state->rows = (struct cli_rows){.cli = cli, .columns = state->columns};
	state->rows.n = make_columns(state->columns);
	int code = game_terms_take(cli, &state->terms);
	if (code == EXIT_DONE) {
		/* As the import opens it: both are in this process. */
		code = cli_open(cli, state->remove, &cli->client);
	}
	if (code == EXIT_DONE) {
		code = find_twins(cli, state);
	}
	if (code == EXIT_DONE) {
		code = take_groups(cli, state);
	}
	if (code == EXIT_DONE) {
		code = finish_twins(cli, state);
	}
	free(state->numbers);
	free(state->leaving);
	return code;
}

static const struct cli_option options[] = {
	OPTION_NUMBER(twins_state, days, 0, 36500, "days", "N",
		      "dates are at most N days apart (default: 3), or not known"),
	OPTION_NUMBER(twins_state, shortest, 0, CHI_PLY_MAX, "shortest", "N",
		      "leave out games of fewer than N plies (default: 20)"),
	OPTION_NUMBER(
		twins_state, beginning, 0, CHI_PLY_MAX, "beginning", "N",
		"find a game of N plies or more in one that it begins (default: 20; 0: do not)"),
	OPTION_WORD(twins_state, keep, keeps, "keep", "RULE",
		    "longest-tags (default), longest-notes, first or last"),
	OPTION_NUMBER(twins_state, limit, 1, UINT64_MAX, "limit", "N",
		      "at most N groups; with --remove only of these"),
	OPTION_FLAG(twins_state, remove, "remove", "take the other games of each group out"),
	OPTION(twins_state, games.run.options.memory, games_memory, "memory", "SIZE",
	       "memory for sorting (default: 512M)"),
	OPTION_NUMBER(twins_state, games.threads, 1, GAMES_THREADS_MAX, "threads", "N",
		      "threads that read (default: one per core)"),
	OPTION_FLAG(twins_state, games.verbose, "verbose",
		    "print every remark, not only the first 20"),
	GAME_TERM_OPTIONS(twins_state, terms),
	OPTIONS_END,
};

const struct command cmd_twins = {
	.name = "twins",
	.arguments = "",
	.summary = "list games that are likely one, and take them out but for one",
	.help = "Prints groups of games with the same moves from the same start, or where one game "
		"is\n"
		"the beginning of the other (of the same opening, and played on days that are\n"
		"known), players whose names are alike, and dates that are near or not known: the\n"
		"columns group, keep (yes for the game that --keep chooses), why (same moves,\n"
		"beginning of the kept game, or longer; names and date where they differ from "
		"its)\n"
		"and those of 'games'. Results may differ.\n"
		"\n"
		"--keep longest-tags keeps of the longest games that with the most text in its\n"
		"tags, longest-notes that with the longest comments and variations, first and "
		"last\n"
		"go by number. Nothing is changed without --remove, which takes all others out\n"
		"as 'subtract' does.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games twins --since 2010\n"
		   "chistore -a ./games twins --days 30 --keep first --remove",
	.options = options,
	.needs = NEEDS_ADDRESS,
	.slow = true,
	.state_size = sizeof(struct twins_state),
	.defaults = &defaults,
	.run = run_twins,
};
