/* SPDX-License-Identifier: MIT */
/* chistore holes: what a repertoire does not answer, and how often it is met; holes.h has the walk.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "cli/in/game_terms.h"
#include "cli/out/columns.h"
#include "cli/out/show.h"
#include "cli/work/holes.h"
#include "formats/insight_text.h"

#define ONE_IN_MAX 1000000

struct holes_state {
	struct game_terms terms;
	uint64_t one_in;
	uint64_t limit;
	uint8_t as; /* enum chi_side */
	bool rare;
};

static const struct holes_state defaults = {.one_in = 125, .limit = UINT64_MAX};

static const char *const sides[] = {[CHI_WHITE] = "white", [CHI_BLACK] = "black"};

/* ---- Rows --------------------------------------------------------------------------------- */

/* Of a hole, or of a position of the repertoire. */
struct hole_line {
	double p; /* 0: never met */
	uint64_t games;
	const char *kind;
	const char *move; /* played most, or the repertoire's */
	uint64_t move_games;
	struct chi_counts counts; /* of the move */
	uint8_t side;
	const char *line;
	const char *fen;
	const char *show;
};

static void one_in_cell(const void *at, struct chi_cell *out)
{
	const struct hole_line *line = at;
	if (line->p > 0) {
		(void)snprintf(out->own, sizeof(out->own), "%.1f", 1 / line->p);
		chi_cell_name(out, out->own);
		out->kind = VALUE_NUMBER;
	}
}

static void percent_cell(const void *at, struct chi_cell *out)
{
	(void)snprintf(out->own, sizeof(out->own), "%.3f", 100 * ((const struct hole_line *)at)->p);
	chi_cell_name(out, out->own);
	out->kind = VALUE_NUMBER;
}

/* Of the move played most, for who plays it. */
static void move_score_cell(const void *at, struct chi_cell *out)
{
	const struct hole_line *line = at;
	const struct chi_counts *counts = &line->counts;
	uint64_t decided = counts->white + counts->draws + counts->black;
	uint64_t won = line->side == CHI_WHITE ? counts->white : counts->black;
	if (decided > 0) {
		chi_cell_hundredths(
			out,
			(int32_t)((10000 * won + 5000 * counts->draws + decided / 2) / decided));
	}
}

#define LINE(show, member, name) COLUMN(show, struct hole_line, member, name)

static const struct chi_row_column hole_columns[] = {
	COLUMN_MADE("one_in", one_in_cell),    COLUMN_MADE("percent", percent_cell),
	LINE(SHOW_COUNT, games, "games"),      LINE(SHOW_NAME, kind, "kind"),
	LINE(SHOW_NAME, move, "played"),       LINE(SHOW_NUMBER, move_games, "played_games"),
	COLUMN_MADE("score", move_score_cell), LINE(SHOW_NAME, line, "line"),
	LINE(SHOW_NAME, fen, "fen"),	       LINE(SHOW_NAME, show, "show"),
};

static const struct chi_row_column rare_columns[] = {
	COLUMN_MADE("one_in", one_in_cell),
	LINE(SHOW_NAME, move, "answer"),
	LINE(SHOW_NAME, line, "line"),
	LINE(SHOW_NAME, fen, "fen"),
};

/* ---- Lists --------------------------------------------------------------------------------- */

/* A position that is listed. */
struct listed {
	double p;
	uint32_t number;
};

static int compare_likely(const void *a, const void *b)
{
	const struct listed *left = a;
	const struct listed *right = b;
	if (left->p != right->p) {
		return left->p > right->p ? -1 : 1;
	}
	return left->number < right->number ? -1 : left->number > right->number;
}

static int compare_rare(const void *a, const void *b)
{
	const struct listed *left = a;
	const struct listed *right = b;
	if (left->p != right->p) {
		return left->p < right->p ? -1 : 1;
	}
	return left->number < right->number ? -1 : left->number > right->number;
}

/* A run: the walk, and what is listed of it. */
struct holes_run {
	struct cli *cli;
	struct repertoire repertoire;
	struct holes holes;
	struct listed *listed;
	size_t n;
	uint64_t own;	 /* positions that the repertoire answers */
	uint64_t likely; /* of them, likely enough */
	struct cli_rows rows;
};

static void holes_run_deinit(struct holes_run *run)
{
	repertoire_deinit(&run->repertoire);
	holes_deinit(&run->holes);
	free(run->listed);
}

/* What is printed, in its order. */
static int list_positions(struct holes_run *run)
{
	const struct holes_state *state = run->cli->state;
	const struct holes *holes = &run->holes;
	run->listed = calloc(holes->n_met + 1, sizeof(*run->listed));
	if (run->listed == NULL) {
		return cli_no_memory();
	}
	for (uint32_t i = 0; i < holes->n_met; i++) {
		const struct holes_met *met = &holes->met[i];
		const struct repertoire_place *place =
			i < run->repertoire.n ? &run->repertoire.places[i] : NULL;
		bool own = place != NULL && place->side == state->as && place->answer != 0;
		bool likely = met->p >= holes->least;
		run->own += own;
		run->likely += own && likely;
		if (state->rare ? own && !likely : met->hole > 0) {
			run->listed[run->n++] =
				(struct listed){state->rare ? met->p : met->hole, i};
		}
	}
	qsort(run->listed, run->n, sizeof(*run->listed),
	      state->rare ? compare_rare : compare_likely);
	return EXIT_DONE;
}

/* The words of a position to which moves lead, and of a move there. */
static int tell_position(const struct holes_run *run, uint32_t number, chi_move move,
			 const chi_move *moves, size_t n, uint32_t start,
			 struct chi_insight_text *text)
{
	const struct chi_key *keys = run->repertoire.set.keys;
	const struct chi_game game = {
		.has_start = true, .start = keys[start], .moves = moves, .n_plies = n};
	const struct chi_insight_row row = {.key = keys[number], .move = move, .ply = (uint32_t)n};
	int status = chi_insight_tell(&row, &game, text);
	return status < 0 ? cli_fault(status, &(struct chi_fault){.text = "a move of a game"})
			  : EXIT_DONE;
}

static int print_hole(struct holes_run *run, const struct listed *listed)
{
	const struct holes_state *state = run->cli->state;
	const struct holes_met *met = &run->holes.met[listed->number];
	struct hole_line line = {.p = met->hole, .side = state->as};
	struct chi_insight_text text;
	struct chi_explored explored;
	chi_move moves[HOLES_PLIES_MAX];
	char show[SHOW_SIZE];
	chi_move move = 0;
	uint32_t start = 0;
	int status = chi_explore(run->cli->client, &run->repertoire.set.keys[listed->number],
				 state->terms.text, NULL, &explored);
	if (status != CHI_OK) {
		return cli_fail(run->cli->client, status);
	}
	line.games = holes_games_of(&explored.position.counts);
	if (explored.n_moves > 0) {
		line.counts = explored.moves[0].played;
		line.move_games = holes_games_of(&line.counts);
		move = line.move_games > 0 ? explored.moves[0].move : 0;
	}
	size_t n = holes_moves_to(&run->holes, met->step, moves, HOLES_PLIES_MAX, &start);
	int code = tell_position(run, listed->number, move, moves, n, start, &text);
	if (code == EXIT_DONE) {
		show_games(text.fen, state->terms.text, show);
		line.kind = 2 * met->gap > met->hole ? "gap" : "end";
		line.move = text.move;
		line.line = text.line;
		line.fen = text.fen;
		line.show = show;
		rows_print(&run->rows, &line);
	}
	return code;
}

static int print_rare(struct holes_run *run, const struct listed *listed)
{
	chi_move moves[HOLES_PLIES_MAX];
	struct chi_insight_text text;
	uint32_t start = 0;
	size_t n = holes_moves_in_file(&run->holes, listed->number, moves, HOLES_PLIES_MAX, &start);
	int code = tell_position(run, listed->number, run->repertoire.places[listed->number].answer,
				 moves, n, start, &text);
	if (code == EXIT_DONE) {
		rows_print(&run->rows, &(struct hole_line){.p = listed->p,
							   .move = text.move,
							   .line = text.line,
							   .fen = text.fen});
	}
	return code;
}

static int print_list(struct holes_run *run)
{
	const struct holes_state *state = run->cli->state;
	int code = EXIT_DONE;
	run->rows = state->rare ? (struct cli_rows)ROWS_OF(run->cli, rare_columns)
				: (struct cli_rows)ROWS_OF(run->cli, hole_columns);
	for (size_t i = 0;
	     code == EXIT_DONE && i < run->n && i < state->limit && !cli_output_failed(); i++) {
		code = state->rare ? print_rare(run, &run->listed[i])
				   : print_hole(run, &run->listed[i]);
	}
	if (code == EXIT_DONE) {
		rows_head(&run->rows);
	}
	return code;
}

static void print_summary(const struct holes_run *run)
{
	const struct holes_state *state = run->cli->state;
	const struct holes *holes = &run->holes;
	cli_message("%" PRIu64 " positions with %s to move are answered, %" PRIu64
		    " of them in one game of %" PRIu64 " or more",
		    run->own, state->as == CHI_WHITE ? "White" : "Black", run->likely,
		    state->one_in);
	cli_message("%.2f moves of a game are answered on average; covered: %.2f %% of games stay "
		    "in the repertoire to the end of a line or of the game",
		    holes->answers, 100 * (1 - holes->gaps - holes->unknown));
	cli_message("of all games %.2f %% come to a hole, %.2f %% to one that is too rare, %.2f %% "
		    "end before, %.2f %% are where the store has no game",
		    100 * holes->found, 100 * holes->rare, 100 * holes->ended,
		    100 * holes->unknown);
}

/* ---- The command --------------------------------------------------------------------------- */

static int run_holes(struct cli *cli)
{
	struct holes_state *state = cli->state;
	_cleanup_(holes_run_deinit) struct holes_run run = {.cli = cli};
	if (!cli_given(cli, "as")) {
		return cli_usage(cli, "--as white or --as black says whose repertoire it is");
	}
	int code = game_terms_take(cli, &state->terms);
	code = code == EXIT_DONE ? repertoire_load(cli, cli->argv[0], &run.repertoire) : code;
	if (code != EXIT_DONE) {
		return code;
	}
	run.holes = (struct holes){
		.cli = cli,
		.filter = state->terms.text,
		.repertoire = &run.repertoire,
		.side = state->as,
		.least = 1 / (double)state->one_in,
	};
	code = holes_walk(&run.holes);
	if (code == EXIT_DONE) {
		game_terms_remark(cli);
		code = list_positions(&run);
	}
	code = code == EXIT_DONE ? print_list(&run) : code;
	if (code == EXIT_DONE && !cli->quiet) {
		print_summary(&run);
	}
	return code;
}

static const struct cli_option options[] = {
	OPTION_WORD(holes_state, as, sides, "as", "SIDE", "whose moves the repertoire has"),
	OPTION_NUMBER(holes_state, one_in, 1, ONE_IN_MAX, "one-in", "N",
		      "leave out what is met in fewer than one game of N (default: 125)"),
	OPTION_FLAG(holes_state, rare, "rare",
		    "list instead what the repertoire answers though it is so rare"),
	OPTION_NUMBER(holes_state, limit, 1, UINT64_MAX, "limit", "N",
		      "at most N positions, the likeliest; of --rare the rarest"),
	GAME_TERM_OPTIONS(holes_state, terms),
	OPTIONS_END,
};

const struct command cmd_holes = {
	.name = "holes",
	.arguments = "REPERTOIRE.pgn",
	.summary = "find what a repertoire does not answer, and how often it is met",
	.help = "A repertoire is a PGN file of games with variations, - for standard input. With\n"
		"the --as side to move, the first move that the file has from a position is its\n"
		"answer; the opponent plays what the games of the store did, each move as often.\n"
		"So each position has a probability, whatever moves lead to it, and those likely\n"
		"enough that have no answer are printed, the likeliest first. Options that choose\n"
		"games choose the opponents: --rating 1800..2000.\n"
		"\n"
		"Columns: one_in (of so many games one comes here), percent, games (of the store,\n"
		"that came here), kind (gap: the file answers other moves than the last one; end:\n"
		"it goes no further), played (the move played most here), played_games, score (of\n"
		"that move, percent), line (the likeliest), fen, show (a command that lists the\n"
		"games). Of --rare: one_in, answer, line (as in the file), fen.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games holes white.pgn --as white --rating 1800..2000\n"
		   "chistore -a ./games holes white.pgn --as white --one-in 500 --rare",
	.options = options,
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct holes_state),
	.defaults = &defaults,
	.run = run_holes,
};
