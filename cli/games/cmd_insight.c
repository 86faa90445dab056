/* SPDX-License-Identifier: MIT */
/*
 * chistore weak, strong, novelties, tempo, performance, drift, gap and spread: findings
 * (chistore/insight.h), each with the line of a game that leads there and a command that shows the
 * games behind it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/games/plot.h"
#include "cli/in/filter.h"
#include "cli/in/game_terms.h"
#include "cli/out/columns.h"
#include "cli/out/output.h"
#include "cli/out/show.h"
#include "formats/insight_text.h"
#include "formats/rows/insight.h"

#define LABEL_SIZE 128
#define LABEL_MOST 30 /* characters that are drawn */

/* The first findings with a score. */
struct picture {
	size_t n;
	struct plot_point points[PLOT_POINTS_MAX];
	char labels[PLOT_POINTS_MAX][LABEL_SIZE];
};

struct insight_state {
	struct game_terms terms;
	uint64_t min_games;
	uint64_t fdr; /* percent */
	uint64_t known;
	uint64_t years;
	uint64_t split;
	uint64_t limit;
	uint64_t engines;
	struct chi_evidence evidence;
	const char *of; /* a FEN; NULL: all positions */
	bool all;
	uint8_t kind;
	const char *plot;
	struct picture picture; /* in place of rows */
	const struct chi_insight_result *result;
	struct cli_rows rows;
};

/* ---- A finding -------------------------------------------------------------------------- */

/* The games of the position, or after the new move, of the filter if there is one. */
static void print_command(const struct insight_state *state, const struct chi_insight_text *text,
			  char out[SHOW_SIZE])
{
	const char *filter = state->kind != CHI_INSIGHT_NOVELTIES ? state->terms.text : "";
	if (state->kind == CHI_INSIGHT_SPREAD) {
		show_position(text->fen, out);
	} else {
		show_games(text->after, filter, out);
	}
}

/* The last moves of a line say most; where there is none, the board. */
static void make_label(const struct insight_state *state, const char *side,
		       const struct chi_insight_text *text, char out[LABEL_SIZE])
{
	char end[CHI_SAN_SIZE + 1];
	const char *of = state->terms.of_player ? side : "";
	const char *from = text->line[0] != '\0' ? text->line : text->fen;
	size_t len = strlen(from);
	int after =
		snprintf(end, sizeof(end), "%s%s", text->move[0] != '\0' ? " " : "", text->move);
	size_t room = LABEL_MOST - 1 - strlen(of) - (size_t)after;
	if (len > room && from == text->line) {
		const char *blank = strchr(from + len - room, ' ');
		from = blank != NULL ? blank + 1 : from + len - room;
	}
	(void)snprintf(out, LABEL_SIZE, "%s%s%.*s%s", of, of[0] != '\0' ? " " : "", (int)room, from,
		       end);
}

static void add_point(struct insight_state *state, const char *side,
		      const struct chi_insight_text *text, const struct chi_insight_row *row)
{
	struct picture *picture = &state->picture;
	if (row->score == CHI_INSIGHT_UNKNOWN || picture->n == PLOT_POINTS_MAX) {
		return;
	}
	/* Its interval is that of the difference. */
	uint32_t of = state->kind == CHI_INSIGHT_TEMPO ? row->expected : 0;
	make_label(state, side, text, picture->labels[picture->n]);
	picture->points[picture->n] = (struct plot_point){
		.label = picture->labels[picture->n],
		.score = row->score / 100.0,
		.low = ((double)of + row->low) / 100,
		.high = ((double)of + row->high) / 100,
		.beside = row->expected == CHI_INSIGHT_UNKNOWN ? row->score / 100.0
							       : row->expected / 100.0};
	picture->n++;
}

/* After the findings: the picture, if one is asked for. */
static int draw_findings(const struct insight_state *state)
{
	bool is_tempo = state->kind == CHI_INSIGHT_TEMPO;
	if (state->plot == NULL) {
		return EXIT_DONE;
	}
	if (state->picture.n == 0) {
		cli_message("there is nothing to draw");
		return EXIT_NOT_FOUND;
	}
	return plot_draw(&(struct plot){.path = state->plot,
					.title = chi_insight_words[state->kind],
					.unit = "percent",
					.points = state->picture.points,
					.score = "score and its 95 % interval",
					.beside = is_tempo ? "a move behind" : "expected",
					.n = state->picture.n});
}

/* A game that has gone meanwhile leaves its row without a line. */
static int print_row(struct cli *cli, const char *side, const struct chi_insight_row *row)
{
	struct insight_state *state = cli->state;
	struct chi_insight_text text;
	char show[SHOW_SIZE];
	struct chi_game_row head;
	struct chi_game game;
	int status = row->game != 0 ? chi_game_get(cli->client, row->game, &head, &game) : CHI_NONE;
	bool is_there = status == CHI_OK;
	status = status < 0 ? status : chi_insight_tell(row, is_there ? &game : NULL, &text);
	if (status < 0) {
		return cli_fail(cli->client, status);
	}
	if (state->plot != NULL) {
		add_point(state, side, &text, row);
		return EXIT_DONE;
	}
	print_command(state, &text, show);
	rows_print(&state->rows,
		   &(struct chi_insight_line){.row = *row,
					      .side = side,
					      .fen = text.fen,
					      .line = text.line,
					      .move = text.move,
					      .before = state->result->before,
					      .after = state->result->games - state->result->before,
					      .head = is_there ? &head : NULL,
					      .show = show});
	return EXIT_DONE;
}

/* ---- The commands ------------------------------------------------------------------------- */

static void remark(const struct insight_state *state, const char *side,
		   const struct chi_insight_result *result)
{
	switch (state->kind) {
	case CHI_INSIGHT_NOVELTIES:
		cli_message("%" PRIu64 " positions that are common enough were looked at",
			    result->tested);
		break;
	case CHI_INSIGHT_TEMPO:
		cli_message("%" PRIu64 " positions were looked at", result->tested);
		break;
	case CHI_INSIGHT_SPREAD:
		cli_message("%s%" PRIu64 " positions that engines enough evaluated were compared",
			    result->n == 0 ? "nothing: " : "", result->tested);
		break;
	case CHI_INSIGHT_PERFORMANCE:
	case CHI_INSIGHT_GAP:
		cli_message("%s%" PRIu64 " positions of %" PRIu64 " rated games were tested",
			    result->n == 0 ? "nothing: " : "", result->tested, result->games);
		break;
	case CHI_INSIGHT_DRIFT:
		cli_message("%s%" PRIu64 " positions of %" PRIu64 " games with a year, %" PRIu64
			    " of them before %" PRIu64 ", were tested",
			    result->n == 0 ? "nothing: " : "", result->tested, result->games,
			    result->before, state->split);
		break;
	default:
		cli_message("%s%" PRIu64 " positions of %" PRIu64 " rated games as %s were tested",
			    result->n == 0 ? "nothing: " : "", result->tested, result->games, side);
	}
}

static int ask(struct cli *cli, bool black)
{
	struct insight_state *state = cli->state;
	const char *side = black ? "black" : "white";
	struct chi_key key;
	int code = state->of != NULL ? cli_key(cli, state->of, strlen(state->of), NULL, &key)
				     : EXIT_DONE;
	if (code != EXIT_DONE) {
		return code;
	}
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT,
					      .kind = state->kind,
					      .black = black,
					      .filter = state->terms.text,
					      .min_games = state->min_games,
					      .fdr = state->all ? 1000 : (uint32_t)state->fdr * 10,
					      .known = (uint32_t)state->known,
					      .years = (uint32_t)state->years,
					      .limit = state->limit,
					      .split = (uint32_t)state->split,
					      .engines = (uint8_t)state->engines,
					      .evidence = state->evidence,
					      .position = state->of != NULL ? &key : NULL};
	struct chi_insight_result result;
	int status = chi_insight_list(cli->client, &spec, &result);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	game_terms_remark(cli);
	/* What the library returned ends with its next call. */
	_cleanup_(chi_freep) struct chi_insight_row *found = calloc(result.n + 1, sizeof(*found));
	if (found == NULL) {
		return cli_no_memory();
	}
	if (result.n > 0) {
		memcpy(found, result.rows, result.n * sizeof(*found));
	}
	state->result = &result;
	state->rows.cli = cli;
	state->rows.columns = chi_insight_columns(state->kind, &state->rows.n);
	for (size_t i = 0; code == EXIT_DONE && i < result.n && !cli_output_failed(); i++) {
		code = print_row(cli, side, &found[i]);
	}
	if (code == EXIT_DONE) {
		if (state->plot == NULL) {
			rows_head(&state->rows);
		}
		if (!cli->quiet) {
			remark(state, side, &result);
		}
	}
	return code;
}

/* Of one side, or of both, one after the other. */
static int run_side(struct cli *cli, uint8_t kind)
{
	struct insight_state *state = cli->state;
	struct game_terms *terms = &state->terms;
	state->kind = kind;
	if (state->plot != NULL && cli->json) {
		return cli_usage(cli, "--plot and --json exclude each other");
	}
	if (terms->n == GAME_TERMS_MAX) {
		return cli_usage(cli, "too many options choose games");
	}
	struct chi_filter_term *term = &terms->term[terms->n++];
	int code = EXIT_DONE;
	for (int side = CHI_WHITE; code == EXIT_DONE && side <= CHI_BLACK; side++) {
		const char *name = side == CHI_WHITE ? "white" : "black";
		bool asked = terms->side == NULL || strcmp(terms->side, name) == 0 ||
			     strcmp(terms->side, "both") == 0;
		*term = (struct chi_filter_term){.name = name, .value = cli->argv[0]};
		code = asked ? game_terms_take(cli, terms) : code;
		code = asked && code == EXIT_DONE ? ask(cli, side == CHI_BLACK) : code;
	}
	return code == EXIT_DONE ? draw_findings(state) : code;
}

static int run_weak(struct cli *cli)
{
	return run_side(cli, CHI_INSIGHT_WEAK);
}

static int run_strong(struct cli *cli)
{
	return run_side(cli, CHI_INSIGHT_STRONG);
}

/* Of all games that fit, or of all positions. */
static int run_kind(struct cli *cli, uint8_t kind)
{
	struct insight_state *state = cli->state;
	state->kind = kind;
	if (state->plot != NULL && cli->json) {
		return cli_usage(cli, "--plot and --json exclude each other");
	}
	int code = game_terms_take(cli, &state->terms);
	code = code == EXIT_DONE ? ask(cli, false) : code;
	return code == EXIT_DONE ? draw_findings(state) : code;
}

static int run_novelties(struct cli *cli)
{
	return run_kind(cli, CHI_INSIGHT_NOVELTIES);
}

static int run_tempo(struct cli *cli)
{
	return run_kind(cli, CHI_INSIGHT_TEMPO);
}

static int run_performance(struct cli *cli)
{
	return run_kind(cli, CHI_INSIGHT_PERFORMANCE);
}

static int run_gap(struct cli *cli)
{
	return run_kind(cli, CHI_INSIGHT_GAP);
}

static int run_spread(struct cli *cli)
{
	return run_kind(cli, CHI_INSIGHT_SPREAD);
}

static int run_drift(struct cli *cli)
{
	return cli_given(cli, "split")
		       ? run_kind(cli, CHI_INSIGHT_DRIFT)
		       : cli_usage(cli, "say in which year the later games begin: --split YEAR");
}

#define PLOT_OPTION                                                                                \
	OPTION_TEXT(insight_state, plot, "plot", "FILE",                                           \
		    "draw the first scores by gnuplot: into this PNG file, or - for the terminal")

#define TESTED_OPTIONS                                                                             \
	OPTION_NUMBER(insight_state, fdr, 1, 100, "fdr", "PERCENT",                                \
		      "of the findings so many may be chance (default: 5)"),                       \
		OPTION_FLAG(insight_state, all, "all", "all positions that were tested"),          \
		OPTION_NUMBER(insight_state, limit, 1, UINT64_MAX, "limit", "N",                   \
			      "at most N findings, the surest"),                                   \
		PLOT_OPTION, GAME_TERM_OPTIONS(insight_state, terms)

static const struct insight_state side_defaults = {.terms = {.of_player = true}};

static const struct cli_option side_options[] = {
	OPTION_NUMBER(insight_state, min_games, CHI_INSIGHT_FEWEST, UINT32_MAX, "min-games", "N",
		      "rated games of a position, and as many without it (default: 20)"),
	TESTED_OPTIONS,
	OPTIONS_END,
};

#define SIDE_HELP                                                                                  \
	"Of each position that enough of the games reached, the results are compared with\n"       \
	"what ratings let expect, and this with the player's other games of the same side.\n"      \
	"What is printed is surer than chance, for as many positions as there are; positions\n"    \
	"of which one's games are nearly all the other's are one finding. Often there is\n"        \
	"nothing, and it says so. --white and --black go without a name: one side alone.\n"        \
	"\n"                                                                                       \
	"Columns: side, games, score (percent), low and high (its 95 % interval), expected\n"      \
	"(by ratings and the other games), chance (that luck alone does this), adjusted (for\n"    \
	"all positions), positions (of this finding), game and ply (one that has it), line,\n"     \
	"fen, show (a command that lists the games).\n"                                            \
	"\n" GAME_TERMS_HELP

const struct command cmd_weak = {
	.name = "weak",
	.arguments = "PLAYER",
	.summary = "find where a player does worse than elsewhere",
	.help = SIDE_HELP,
	.example = "chistore -a ./games weak 'Shirov, Alexei'\n"
		   "chistore -a ./games weak 'Shirov, Alexei' --white --since 1995 --fdr 10",
	.options = side_options,
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct insight_state),
	.defaults = &side_defaults,
	.run = run_weak,
};

const struct command cmd_strong = {
	.name = "strong",
	.arguments = "PLAYER",
	.summary = "find where a player does better than elsewhere",
	.help = SIDE_HELP,
	.example = "chistore -a ./games strong 'Norheim, Magnus' --black",
	.options = side_options,
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct insight_state),
	.defaults = &side_defaults,
	.run = run_strong,
};

static const struct cli_option novelty_options[] = {
	OPTION_NUMBER(insight_state, min_games, 1, UINT32_MAX, "min-games", "N",
		      "games with the move (default: 60)"),
	OPTION_NUMBER(insight_state, known, 1, UINT32_MAX, "known", "N",
		      "games with the position before (default: 20)"),
	OPTION_NUMBER(insight_state, years, 1, CHI_INSIGHT_YEARS_MAX, "caught-on", "YEARS",
		      "count the games that followed within these years (default: 3)"),
	OPTION_NUMBER(insight_state, limit, 1, UINT64_MAX, "limit", "N",
		      "at most N findings, the most followed"),
	PLOT_OPTION,
	EVIDENCE_OPTIONS(insight_state, evidence),
	GAME_TERM_OPTIONS(insight_state, terms),
	OPTIONS_END,
};

const struct command cmd_novelties = {
	.name = "novelties",
	.arguments = "",
	.summary = "list moves that were new, by whom, and what became of them",
	.help = "A novelty is the move by which the first game, by its date, came to a position\n"
		"that many games have by now, from one that was known. Options that choose games\n"
		"choose those first games: --player, --since. Most followed come first.\n"
		"\n"
		"Columns: followed (games with the move within --caught-on years), games (with "
		"it),\n"
		"before (with the position, before it), move, date, white, black, score (percent, "
		"of\n"
		"who played it), low and high (its 95 % interval), expected (by ratings), loss "
		"(centipawns\n"
		"for who played it, by the evaluations before and after), game, ply, line, fen "
		"(before\n"
		"the move), show (a command that lists the games with it).\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games novelties --since 2000 --limit 20\n"
		   "chistore -a ./games novelties --player 'Araronian, Levon' --min-games 20",
	.options = novelty_options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct insight_state),
	.run = run_novelties,
};

static const struct cli_option tempo_options[] = {
	OPTION_NUMBER(insight_state, min_games, 2, UINT32_MAX, "min-games", "N",
		      "games of each of the two positions (default: 200)"),
	OPTION_NUMBER(insight_state, limit, 1, UINT64_MAX, "limit", "N", "at most N pairs"),
	PLOT_OPTION,
	OPTIONS_END,
};

const struct command cmd_tempo = {
	.name = "tempo",
	.arguments = "",
	.summary = "list what a move is worth: the same men a move ahead and behind",
	.help = "A position is compared with the one that has its colours exchanged and the same\n"
		"side to move: there the same men are a move behind. The pairs where the move is\n"
		"worth most come first; ratings are not taken into account.\n"
		"\n"
		"Columns: worth (points of a game, in percent), games, games_behind, score "
		"(percent),\n"
		"low and high (its 95 % interval), score_behind, game, ply, line, fen, show.",
	.example = "chistore -a ./games tempo --min-games 100",
	.options = tempo_options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct insight_state),
	.run = run_tempo,
};

static const struct cli_option performance_options[] = {
	OPTION_TEXT(insight_state, of, "of", "FEN",
		    "only the positions after the moves of this one, each a row"),
	OPTION_NUMBER(insight_state, min_games, 2, UINT32_MAX, "min-games", "N",
		      "rated games of a position (default: 100)"),
	TESTED_OPTIONS,
	OPTIONS_END,
};

const struct command cmd_performance = {
	.name = "performance",
	.arguments = "",
	.summary = "find positions where results are other than ratings let expect",
	.help = "Of each position that enough rated games reached, the results are compared with\n"
		"what ratings let expect. What is printed is surer than chance, for as many\n"
		"positions as there are, the surest first, whichever side gains; positions of\n"
		"nearly the same games are one finding. Options that choose games choose those\n"
		"that count.\n"
		"\n"
		"Columns: games (rated), score (of White, percent), low and high (its 95 %\n"
		"interval), expected (by ratings), chance (that luck alone does this), adjusted\n"
		"(for all positions), positions (of this finding), move (with --of), game and\n"
		"ply (one that has it), line, fen, show (a command that lists the games).\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games performance\n"
		   "chistore -a ./games performance --since 2010 --min-games 50 --fdr 10\n"
		   "chistore -a ./games performance --all "
		   "--of 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'",
	.options = performance_options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct insight_state),
	.run = run_performance,
};

static const struct cli_option drift_options[] = {
	OPTION_NUMBER(insight_state, split, 1, 9999, "split", "YEAR",
		      "the first year of the later games; must be given"),
	OPTION_NUMBER(insight_state, min_games, 2, UINT32_MAX, "min-games", "N",
		      "games of a position that have a year (default: 100)"),
	TESTED_OPTIONS,
	OPTIONS_END,
};

const struct command cmd_drift = {
	.name = "drift",
	.arguments = "--split YEAR",
	.summary = "list what changed: positions reached more, or with other results",
	.help = "Of each position that enough games reached, the share of all games is compared\n"
		"before and after, and the results less what ratings let expect, against the same\n"
		"of all games. What is printed is surer than chance, for as many positions as\n"
		"there are: the surest first, then those whose share changed most; positions of\n"
		"nearly the same games are one finding. Options that choose games choose those\n"
		"that count.\n"
		"\n"
		"Columns: games_before, games (from YEAR on), share_before and share (percent of\n"
		"all games), score (of White, percent, in rated games from YEAR on), low and high\n"
		"(less expected: the 95 % interval of the difference), expected (by ratings and\n"
		"results before), chance (that luck alone changes share or results so much),\n"
		"adjusted (for all positions), positions (of this finding), game and ply (one\n"
		"that has it), line, fen, show (a command that lists the games).\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games drift --split 2005 --limit 20",
	.options = drift_options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct insight_state),
	.run = run_drift,
};

static const struct cli_option gap_options[] = {
	OPTION_NUMBER(insight_state, min_games, 2, UINT32_MAX, "min-games", "N",
		      "rated games of a position (default: 50)"),
	OPTION_NUMBER(insight_state, engines, 1, CHI_EVALS_MAX, "engines", "N",
		      "positions that N engines evaluated at least (default: 1)"),
	EVIDENCE_OPTIONS(insight_state, evidence),
	TESTED_OPTIONS,
	OPTIONS_END,
};

const struct command cmd_gap = {
	.name = "gap",
	.arguments = "",
	.summary = "find positions where results and evaluations disagree",
	.help = "Of each position that is evaluated and that enough rated games reached, the\n"
		"results, as if both players were equals, are compared with what positions of\n"
		"this evaluation score in the store's games: traps, practical chances, main\n"
		"lines that are refuted. What is printed is surer than chance, for as many\n"
		"positions as there are, the surest first. The deepest evaluation counts.\n"
		"\n"
		"Columns: eval (White's pawns), games (rated), score (of White, percent, of\n"
		"equals), low and high (its 95 % interval), expected (by the evaluation), chance\n"
		"(that luck alone does this), adjusted (for all positions), positions (of this\n"
		"finding), game and ply (one that has it), line, fen, show (a command that lists\n"
		"the games).\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games gap --min-games 30\n"
		   "chistore -a ./games gap --engines 2 --since 2015",
	.options = gap_options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct insight_state),
	.run = run_gap,
};

static const struct cli_option spread_options[] = {
	OPTION_NUMBER(insight_state, engines, 2, CHI_EVALS_MAX, "engines", "N",
		      "positions that N engines evaluated at least (default: 2)"),
	OPTION_NUMBER(insight_state, min_games, 1, UINT32_MAX, "min-games", "N",
		      "positions of at least N games"),
	EVIDENCE_OPTIONS(insight_state, evidence),
	OPTION_NUMBER(insight_state, limit, 1, CHI_INSIGHT_SPREADS_MAX, "limit", "N",
		      "at most N positions (default: 10000)"),
	GAME_TERM_OPTIONS(insight_state, terms),
	OPTIONS_END,
};

const struct command cmd_spread = {
	.name = "spread",
	.arguments = "",
	.summary = "find positions where engines disagree",
	.help = "Of each position that two or more engines evaluated, the evaluation that is best\n"
		"for White is compared with the worst, as expected scores: a pawn more means more\n"
		"where a game is open than where it is won. Those farthest apart come first;\n"
		"where engines agree there is no row. Versions of an engine are engines.\n"
		"\n"
		"Columns: difference (of White's expected scores, percent), best, best_engine,\n"
		"best_depth, worst, worst_engine, worst_depth (White's pawns, or #3; who says it,\n"
		"in how many plies), engines (that evaluated it), games, game and ply (one that\n"
		"has it), line, fen, show (a command that shows the position and each "
		"evaluation).\n"
		"\n"
		"With options that choose games, only positions that one of these reached.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games spread --limit 20\n"
		   "chistore -a ./games spread --engine 'stockfish*' --depth 20..",
	.options = spread_options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct insight_state),
	.run = run_spread,
};
