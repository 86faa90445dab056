/* SPDX-License-Identifier: MIT */
/*
 * chistore report: a page about an opening, a player or a gameset. Each section asks the library
 * what one of the commands asks, and names that command.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "chess/key.h"
#include "cli/command.h"
#include "cli/in/game_terms.h"
#include "cli/in/place.h"
#include "cli/out/target.h"
#include "cli/work/report.h"
#include "formats/insight_text.h"
#include "formats/rows/insight.h"

#define TREE_MOVES    8
#define TREE_REPLIES  3 /* moves of which the replies are a table */
#define FINDINGS      "10"
#define MODELS	      5
#define MODEL_PLIES   40 /* after the position */
#define COLUMNS_SHOWN 16
#define HIDDEN	      "fen show ply game" /* columns of findings */

struct report_state {
	struct game_terms terms;
	uint64_t split; /* 0: the median year */
	const char *path;
};

struct about {
	struct report report;
	const struct report_state *state;
	const char *player;  /* NULL: it is about none */
	bool has_root;	     /* it is about the games of a position */
	struct chi_key root; /* that, or the initial one */
	size_t plies;	     /* of a line to it */
	uint64_t games;
};

/* ---- What sections share ------------------------------------------------------------------ */

static int report_failed(const struct about *about, int status)
{
	return cli_fail(about->report.cli->client, status);
}

/* Those columns of a table that words name, or, `others`, the others. */
static size_t choose_columns(const struct chi_row_column *all, size_t n, const char *words,
			     bool others, struct chi_row_column out[COLUMNS_SHOWN])
{
	size_t chosen = 0;
	for (size_t i = 0; i < n && chosen < COLUMNS_SHOWN; i++) {
		const char *at = strstr(words, all[i].name);
		size_t len = strlen(all[i].name);
		bool named = at != NULL && (at == words || at[-1] == ' ') &&
			     (at[len] == ' ' || at[len] == '\0');
		if (named != others) {
			out[chosen++] = all[i];
		}
	}
	return chosen;
}

/* ---- Findings ----------------------------------------------------------------------------- */

/* What one command of findings says. */
struct question {
	const char *title;
	const char *what;
	struct chi_insight_spec spec;
	struct report_command command;
	bool silent; /* no section without a row */
};

static int put_finding(const struct about *about, const struct question *question,
		       const struct chi_insight_result *all, const struct chi_insight_row *row)
{
	struct chi_row_column columns[COLUMNS_SHOWN];
	struct chi_insight_text text;
	struct chi_game_row head;
	struct chi_game game;
	size_t n = 0;
	const struct chi_row_column *every = chi_insight_columns(question->spec.kind, &n);
	struct chi_client *client = about->report.cli->client;
	int status = row->game != 0 ? chi_game_get(client, row->game, &head, &game) : CHI_NONE;
	bool is_there = status == CHI_OK;
	status = status < 0 ? status : chi_insight_tell(row, is_there ? &game : NULL, &text);
	if (status < 0) {
		return report_failed(about, status);
	}
	n = choose_columns(every, n, HIDDEN, true, columns);
	report_row(&about->report, columns, n,
		   &(struct chi_insight_line){.row = *row,
					      .side = question->spec.black ? "black" : "white",
					      .fen = text.fen,
					      .line = text.line,
					      .move = text.move,
					      .before = all->before,
					      .after = all->games - all->before,
					      .head = is_there ? &head : NULL},
		   NULL);
	return EXIT_DONE;
}

static int put_findings(const struct about *about, const struct question *question,
			const struct chi_insight_result *all)
{
	struct chi_row_column columns[COLUMNS_SHOWN];
	size_t n = 0;
	const struct chi_row_column *every = chi_insight_columns(question->spec.kind, &n);
	int code = EXIT_DONE;
	n = choose_columns(every, n, HIDDEN, true, columns);
	report_table(&about->report, columns, n, false);
	for (size_t i = 0; code == EXIT_DONE && i < all->n; i++) {
		code = put_finding(about, question, all, &all->rows[i]);
	}
	report_table_end(&about->report);
	return code;
}

static int ask_question(const struct about *about, const struct question *question)
{
	struct chi_insight_result result;
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	int status = chi_insight_list(about->report.cli->client, &question->spec, &result);
	if (status != CHI_OK) {
		return report_failed(about, status);
	}
	if (result.n == 0 && question->silent) {
		return EXIT_DONE;
	}
	/* What the library returned ends with its next call. */
	_cleanup_(chi_freep) struct chi_insight_row *rows = calloc(result.n + 1, sizeof(*rows));
	if (rows == NULL) {
		return cli_no_memory();
	}
	if (result.n > 0) {
		memcpy(rows, result.rows, result.n * sizeof(*rows));
	}
	result.rows = rows;
	report_section(&about->report, question->title, question->what);
	int code = EXIT_DONE;
	if (result.n > 0) {
		code = put_findings(about, question, &result);
	} else {
		fputs("<p>Nothing.</p>\n", about->report.file);
	}
	report_command(&about->report, &question->command, false);
	return code;
}

/* A question of the games of the page, which `name` asks on the command line. */
static struct question question_of(const struct about *about, uint8_t kind, const char *title,
				   const char *what)
{
	struct question question = {.title = title,
				    .what = what,
				    .spec = {CHI_INSIGHT_SPEC_INIT, .kind = kind,
					     .filter = about->report.filter, .limit = 10},
				    .command =
					    report_asks(&about->report, chi_insight_words[kind])};
	report_word(&question.command, "--limit", FINDINGS);
	return question;
}

/* Where the player does worse, or better, with a side. */
static int ask_side(const struct about *about, uint8_t kind, bool black)
{
	const char *const titles[2][2] = {{"Weak with White", "Weak with Black"},
					  {"Strong with White", "Strong with Black"}};
	const struct chi_filter_term side = {.name = black ? "black" : "white",
					     .value = about->player};
	char filter[CHI_FILTER_TEXT_SIZE];
	struct question question = question_of(
		about, kind, titles[kind == CHI_INSIGHT_STRONG][black],
		"Against the player's other games with that side, beyond what ratings let expect.");
	if (!report_join(&about->report, &side, 1, filter)) {
		return EXIT_USAGE;
	}
	question.spec.filter = filter;
	question.spec.black = black;
	report_word(&question.command, black ? "--black" : "--white", NULL);
	report_word(&question.command, "--", about->player);
	return ask_question(about, &question);
}

static uint64_t dated_games(const struct chi_stats_group *group)
{
	const struct chi_counts *c = &group->counts;
	return group->value == 0 ? 0 : c->white + c->draws + c->black + c->other;
}

/* The year until which half of the games with a year were played. 0: no game has one. */
static int find_median(const struct about *about, uint64_t *out)
{
	struct chi_stats_result found;
	const struct chi_stats_spec spec = {CHI_STATS_SPEC_INIT, .by = CHI_STATS_YEAR,
					    .filter = about->report.filter};
	uint64_t all = 0;
	uint64_t sum = 0;
	int status = chi_stats_list(about->report.cli->client, &spec, &found);
	if (status != CHI_OK) {
		return report_failed(about, status);
	}
	for (size_t i = 0; i < found.n; i++) {
		all += dated_games(&found.groups[i]);
	}
	for (size_t i = 0; i < found.n && 2 * sum < all; i++) {
		sum += dated_games(&found.groups[i]);
		*out = found.groups[i].value;
	}
	return EXIT_DONE;
}

static int ask_drift(const struct about *about)
{
	char year[REPORT_NUMBER];
	uint64_t split = about->state->split;
	int code = split == 0 ? find_median(about, &split) : EXIT_DONE;
	if (code != EXIT_DONE || split == 0) {
		return code;
	}
	struct question question =
		question_of(about, CHI_INSIGHT_DRIFT, "What changed",
			    "Positions of which the share of the games, or the results, are other "
			    "ones from this year on.");
	question.spec.split = (uint32_t)split;
	(void)snprintf(year, sizeof(year), "%" PRIu64, split);
	report_word(&question.command, "--split", year);
	return ask_question(about, &question);
}

static int ask_findings(const struct about *about)
{
	const struct question asked[] = {
		question_of(about, CHI_INSIGHT_PERFORMANCE, "Beyond what ratings let expect",
			    "Positions where results are surely other ones than expected."),
		question_of(about, CHI_INSIGHT_NOVELTIES, "New moves",
			    "The most followed of the moves that were new in one of these games."),
		question_of(about, CHI_INSIGHT_GAP, "Results against evaluations",
			    "Positions that score otherwise than evaluations let expect."),
	};
	int code = EXIT_DONE;
	for (size_t i = 0; code == EXIT_DONE && i < CHI_COUNT(asked); i++) {
		struct question question = asked[i];
		question.silent = question.spec.kind == CHI_INSIGHT_GAP;
		code = ask_question(about, &question);
	}
	code = code == EXIT_DONE ? ask_drift(about) : code;
	for (int i = 0; code == EXIT_DONE && about->player != NULL && i < 4; i++) {
		code = ask_side(about, i < 2 ? CHI_INSIGHT_WEAK : CHI_INSIGHT_STRONG, i % 2 == 1);
	}
	return code;
}

/* ---- The tree of moves -------------------------------------------------------------------- */

/* A move as `explore` has it, and as `performance --of` has. */
struct tree_row {
	struct chi_insight_line rated; /* the first member: its columns are columns of the row */
	chi_move move;
	char san[CHI_MOVE_TEXT_SIZE];
	const char *name;
	struct chi_counts counts;
	uint64_t games;
	struct chi_key child;
	bool black;
};

static void tree_score(const void *at, struct chi_cell *out)
{
	const struct tree_row *row = at;
	const struct chi_counts *c = &row->counts;
	double ended = (double)c->white + (double)c->draws + (double)c->black;
	double won = (double)(row->black ? c->black : c->white);
	if (ended > 0) {
		(void)snprintf(out->own, sizeof(out->own), "%.1f",
			       100 * (won + (double)c->draws / 2) / ended);
		chi_cell_name(out, out->own);
		out->kind = VALUE_NUMBER;
	}
}

static const struct chi_row_column tree_columns[] = {
	COLUMN(SHOW_NAME, struct tree_row, name, "san"),
	COLUMN(SHOW_COUNT, struct tree_row, games, "games"),
	COLUMN(SHOW_COUNT, struct tree_row, counts.white, "white"),
	COLUMN(SHOW_COUNT, struct tree_row, counts.draws, "draws"),
	COLUMN(SHOW_COUNT, struct tree_row, counts.black, "black"),
	COLUMN_MADE("score", tree_score),
};

/* Those, and what the rated games have, White's score among it. */
static size_t columns_of_tree(struct chi_row_column out[COLUMNS_SHOWN])
{
	struct chi_row_column rated[COLUMNS_SHOWN];
	size_t n = 0;
	const struct chi_row_column *all = chi_insight_columns(CHI_INSIGHT_PERFORMANCE, &n);
	memcpy(out, tree_columns, sizeof(tree_columns));
	n = choose_columns(all, n, "games score low high expected", false, rated);
	for (size_t i = 0; i < n; i++) {
		rated[i].name = strcmp(rated[i].name, "games") == 0   ? "rated"
				: strcmp(rated[i].name, "score") == 0 ? "White"
								      : rated[i].name;
	}
	memcpy(&out[CHI_COUNT(tree_columns)], rated, n * sizeof(rated[0]));
	return CHI_COUNT(tree_columns) + n;
}

static int read_branch(const struct about *about, const struct chi_key *key,
		       struct tree_row rows[TREE_MOVES], size_t *n)
{
	struct chi_explored found;
	struct chi_position position;
	int status =
		chi_explore(about->report.cli->client, key, about->report.filter, NULL, &found);
	status = status == CHI_OK ? chi_key_decode(key, &position, NULL) : status;
	*n = 0;
	for (size_t i = 0; status == CHI_OK && i < found.n_moves && *n < TREE_MOVES; i++) {
		const struct chi_explore_move *move = &found.moves[i];
		const struct chi_counts *c = &move->played;
		struct tree_row *row = &rows[*n];
		*row = (struct tree_row){.rated.row = {.score = CHI_INSIGHT_UNKNOWN,
						       .expected = CHI_INSIGHT_UNKNOWN},
					 .move = move->move,
					 .counts = *c,
					 .games = c->white + c->draws + c->black + c->other,
					 .black = position.side == CHI_BLACK};
		if (row->games == 0) {
			break;
		}
		status = chi_key_san(key, move->move, row->san);
		row->child = move->child.found ? move->child.key : (struct chi_key){.len = 0};
		row->name = row->san;
		++*n;
	}
	return status == CHI_OK ? EXIT_DONE : report_failed(about, status);
}

/* Scores of rated games with their intervals, and what ratings let expect. */
static int read_rated(const struct about *about, const struct chi_key *key,
		      struct tree_row rows[TREE_MOVES], size_t n)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT,
					      .kind = CHI_INSIGHT_PERFORMANCE,
					      .filter = about->report.filter,
					      .fdr = 1000,
					      .min_games = 2,
					      .position = key};
	struct chi_insight_result found;
	int status = chi_insight_list(about->report.cli->client, &spec, &found);
	for (size_t i = 0; status == CHI_OK && i < found.n; i++) {
		for (size_t j = 0; j < n; j++) {
			if (rows[j].move == found.rows[i].move) {
				rows[j].rated.row = found.rows[i];
			}
		}
	}
	return status == CHI_OK ? EXIT_DONE : report_failed(about, status);
}

static void put_tree(const struct about *about, const char *fen, const struct tree_row *rows,
		     size_t n)
{
	struct chi_row_column columns[COLUMNS_SHOWN];
	size_t n_columns = columns_of_tree(columns);
	struct report_command played = report_asks(&about->report, "explore");
	struct report_command rated = report_asks(&about->report, "performance");
	report_table(&about->report, columns, n_columns, false);
	for (size_t i = 0; i < n; i++) {
		report_row(&about->report, columns, n_columns, &rows[i], NULL);
	}
	report_table_end(&about->report);
	report_word(&played, "--tsv", NULL);
	report_word(&played, fen, NULL);
	report_command(&about->report, &played, false);
	report_word(&rated, "--all", NULL);
	report_word(&rated, "--min-games", "2");
	report_word(&rated, "--of", fen);
	report_command(&about->report, &rated, false);
}

/* The moves of a position; `replies`: and those after the first of them. */
static int put_branch(const struct about *about, const struct chi_key *key, const char *title,
		      bool replies)
{
	struct tree_row rows[TREE_MOVES];
	char fen[CHI_FEN_SIZE];
	char next[CHI_MOVE_TEXT_SIZE + 8];
	size_t n = 0;
	int code = read_branch(about, key, rows, &n);
	code = code == EXIT_DONE ? read_rated(about, key, rows, n) : code;
	int status = chi_key_to_fen(key, fen, NULL);
	if (code != EXIT_DONE || n == 0 || status != CHI_OK) {
		return code != EXIT_DONE || n == 0 ? code : report_failed(about, status);
	}
	report_section(&about->report, title,
		       "Games, and the score of the side to move; then rated games, White's score "
		       "in them, its 95 % interval, and what ratings let expect.");
	put_tree(about, fen, rows, n);
	for (size_t i = 0; replies && code == EXIT_DONE && i < n && i < TREE_REPLIES; i++) {
		(void)snprintf(next, sizeof(next), "After %.*s", CHI_MOVE_TEXT_SIZE - 1,
			       rows[i].san);
		code = rows[i].child.len > 0 ? put_branch(about, &rows[i].child, next, false)
					     : code;
	}
	return code;
}

/* ---- Games to learn from ------------------------------------------------------------------ */

static int put_models(const struct about *about)
{
	struct chi_row_column columns[COLUMNS_SHOWN];
	char plies[REPORT_NUMBER];
	char filter[CHI_FILTER_TEXT_SIZE];
	size_t n = choose_columns(
		chi_game_columns, CHI_GAME_COLUMNS,
		"game white black result date event eco white_elo black_elo plies", false, columns);
	(void)snprintf(plies, sizeof(plies), "%zu..", about->plies + MODEL_PLIES);
	const struct chi_filter_term more[] = {{.name = "result", .value = "1-0,0-1"},
					       {.name = "plies", .value = plies}};
	if (!report_join(&about->report, more, CHI_COUNT(more), filter)) {
		return EXIT_USAGE;
	}
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT,	     .filter = filter,
					   .sort = CHI_GAMES_RATING, .descending = true,
					   .want = CHI_GAMES_TEXTS,  .limit = MODELS,
					   .skip_ply = true};
	struct report_command command = report_asks(&about->report, "games");
	report_word(&command, "--result", "1-0,0-1");
	report_word(&command, "--plies", plies);
	report_word(&command, "--sort", "rating");
	report_word(&command, "--descending", NULL);
	report_word(&command, "--limit", "5");
	_cleanup_(chi_rows_closep) struct chi_rows *rows = NULL;
	const struct chi_game_row *row = NULL;
	report_section(&about->report, "Model games",
		       "Won or lost, of the highest ratings, and long enough after the opening.");
	report_table(&about->report, columns, n, true);
	int status = chi_games_open(about->report.cli->client, &spec, &rows);
	while (status == CHI_OK && (status = chi_games_next(rows, &row)) == CHI_OK) {
		char number[REPORT_NUMBER];
		struct report_command whole = {.n = 0};
		(void)snprintf(number, sizeof(number), "%" PRIu32, row->head.number);
		report_word(&whole, "game", number);
		report_row(&about->report, columns, n, row, &whole);
	}
	report_table_end(&about->report);
	report_command(&about->report, &command, false);
	return status == CHI_NONE ? EXIT_DONE : report_failed(about, status);
}

/* ---- The page ----------------------------------------------------------------------------- */

static int put_page(struct about *about, const char *title, const struct chi_info *info)
{
	const struct report *report = &about->report;
	struct report_command command = report_asks(report, "games");
	report_word(&command, "--count", NULL);
	report_begin(report, title, info);
	fprintf(report->file, "<p>%" PRIu64 " games</p>\n", about->games);
	report_command(report, &command, false);
	int code = put_branch(about, &about->root, "Moves", true);
	code = code == EXIT_DONE ? ask_findings(about) : code;
	code = code == EXIT_DONE && about->has_root ? report_plans(report, &about->root) : code;
	code = code == EXIT_DONE ? put_models(about) : code;
	report_end(report);
	return code;
}

/* What the page is about: the first position, line and player of the options. */
static int find_subject(struct cli *cli, struct about *about)
{
	const struct game_terms *terms = &about->state->terms;
	struct place place;
	int code = place_parse(cli, "startpos", strlen("startpos"), NULL, &place);
	for (size_t i = 0; code == EXIT_DONE && i < terms->n; i++) {
		const struct chi_filter_term *term = &terms->term[i];
		bool root = strcmp(term->name, "position") == 0 || strcmp(term->name, "moves") == 0;
		if (root && !term->negated && !about->has_root) {
			about->has_root = true;
			code = place_parse(cli, term->value, strlen(term->value), NULL, &place);
		}
		if (strcmp(term->name, "player") == 0 && !term->negated && about->player == NULL) {
			about->player = term->value;
		}
	}
	if (code == EXIT_DONE) {
		about->root = place.key;
		about->plies = place.plies;
	}
	return code;
}

static int write_report(struct cli *cli, struct about *about)
{
	_cleanup_(target_discard) struct target target = {.file = NULL};
	struct chi_info info;
	int status = chi_store_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	int code = report_count(&about->report, about->report.filter, &about->games);
	game_terms_remark(cli);
	if (code == EXIT_DONE && about->games == 0) {
		cli_message("no game fits");
		return EXIT_NOT_FOUND;
	}
	code = code == EXIT_DONE ? target_open(&target, about->state->path) : code;
	about->report.file = target.file;
	code = code == EXIT_DONE ? put_page(about, cli->argv[0], &info) : code;
	return code == EXIT_DONE ? target_finish(&target) : code;
}

static int run_report(struct cli *cli)
{
	struct report_state *state = cli->state;
	struct about about = {.report = {.cli = cli, .filter = state->terms.text}, .state = state};
	if (cli->json) {
		return cli_usage(cli, "what it writes is HTML, not JSON");
	}
	if (!chi_utf8_valid(cli->argv[0], strlen(cli->argv[0]))) {
		return cli_usage(cli, "the title is not UTF-8");
	}
	int code = game_terms_take(cli, &state->terms);
	code = code == EXIT_DONE ? find_subject(cli, &about) : code;
	return code == EXIT_DONE ? write_report(cli, &about) : code;
}

static const struct cli_option options[] = {
	OPTION_TEXT(report_state, path, "output", "FILE",
		    "-o too: a file instead of standard output"),
	OPTION_NUMBER(report_state, split, 1, 9999, "split", "YEAR",
		      "what changed from that year on (default: the median year of the games)"),
	GAME_TERM_OPTIONS(report_state, terms),
	OPTIONS_END,
};

const struct command cmd_report = {
	.name = "report",
	.arguments = "TITLE",
	.summary = "write a page about an opening, a player or a gameset",
	.help = "Writes one HTML page, which needs nothing from elsewhere, about the games that "
		"the\n"
		"options choose: the moves of the position that --position or --moves name (else\n"
		"the initial one) with games, scores and what ratings let expect; findings of\n"
		"performance, novelties, gap and drift, of a --player also weak and strong; the\n"
		"squares that pieces go to in the 20 plies after the position; and games of the\n"
		"highest ratings. Below each table is the command that prints its numbers again.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games report Najdorf -o najdorf.html "
		   "--moves 'e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6'\n"
		   "chistore -a ./games report 'Viswan Velan' -o velan.html --player Velan",
	.options = options,
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct report_state),
	.run = run_report,
};
