/* SPDX-License-Identifier: MIT */
/*
 * Squares that each kind of piece goes to in the plies after a position. Some games, played again,
 * say which squares are usual; of these all games are counted, by a filter that `games` takes, too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "cli/work/report.h"

#define PLIES	  20
#define SAMPLE	  300
#define SQUARES	  3 /* of each kind of piece */
#define KINDS	  12
#define CONDITION 512

static const char letters[] = "KQRBNPkqrbnp";

/* A game of the sample, and where it reached the position. */
struct sampled {
	uint32_t number;
	uint32_t ply;
};

struct plans {
	const struct report *report;
	const struct chi_key *root;
	char fen[CHI_FEN_SIZE];
	uint64_t games;
	struct sampled sample[SAMPLE];
	size_t n;
	uint32_t tally[KINDS][64]; /* games of the sample */
};

struct plan_row {
	const char *piece;
	const char *square;
	uint64_t games;
	uint64_t all;
};

static void share_cell(const void *at, struct chi_cell *out)
{
	const struct plan_row *row = at;
	/* There may be more by now than were counted at first. */
	uint64_t all = row->all > row->games ? row->all : row->games;
	chi_cell_hundredths(out, all > 0 ? (int32_t)(10000 * row->games / all) : 0);
}

static const struct chi_row_column columns[] = {
	COLUMN(SHOW_NAME, struct plan_row, piece, "piece"),
	COLUMN(SHOW_NAME, struct plan_row, square, "square"),
	COLUMN(SHOW_COUNT, struct plan_row, games, "games"),
	COLUMN_MADE("share", share_cell),
};

/* ---- The sample --------------------------------------------------------------------------- */

static int take_sample(struct plans *plans)
{
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = plans->report->filter,
					   .position = plans->root, .limit = SAMPLE};
	_cleanup_(chi_rows_closep) struct chi_rows *rows = NULL;
	const struct chi_game_row *row = NULL;
	int status = chi_games_open(plans->report->cli->client, &spec, &rows);
	while (status == CHI_OK && (status = chi_games_next(rows, &row)) == CHI_OK) {
		if (plans->n < SAMPLE && row->ply >= 0) {
			plans->sample[plans->n++] =
				(struct sampled){row->head.number, (uint32_t)row->ply};
		}
	}
	return status < 0 ? status : CHI_OK;
}

/* Where the piece is then; of castling the king, as filters have it. */
static int square_after(const struct chi_position *now, chi_move move)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	return !chi_position_is_castling(now, move) ? to : (from & ~7) | (to > from ? 6 : 2);
}

/* Each piece and square of a game once. */
static void tally_game(struct plans *plans, const struct chi_game *game, size_t from)
{
	struct chi_position position[2] = {chi_position_initial};
	bool seen[KINDS][64] = {{false}};
	if (game->has_start && chi_key_decode(&game->start, &position[0], NULL) != CHI_OK) {
		return;
	}
	for (size_t i = 0; i < game->n_plies && i < from + PLIES; i++) {
		const struct chi_position *now = &position[i & 1];
		chi_move move = game->moves[i];
		if (!chi_movegen_is_legal(now, move)) { /* a server can say anything */
			return;
		}
		int to = square_after(now, move);
		int kind = chi_position_kind(now, chi_move_from(move));
		const char *letter = strchr(letters, "PNBRQK"[kind]);
		size_t piece = (size_t)(letter - letters) + (now->side == CHI_BLACK ? 6 : 0);
		if (i >= from && !seen[piece][to]) {
			seen[piece][to] = true;
			plans->tally[piece][to]++;
		}
		chi_position_play(now, move, &position[~i & 1]);
	}
}

static int play_sample(struct plans *plans)
{
	struct chi_game_row row;
	struct chi_game game;
	int status = CHI_OK;
	for (size_t i = 0; i < plans->n && status >= 0; i++) {
		status = chi_game_get(plans->report->cli->client, plans->sample[i].number, &row,
				      &game);
		if (status == CHI_OK) {
			tally_game(plans, &game, plans->sample[i].ply);
		}
	}
	return status < 0 ? status : CHI_OK;
}

/* ---- All games ---------------------------------------------------------------------------- */

/* The games where that piece goes there: at once, or within the plies after that. */
static void write_condition(const struct plans *plans, char piece, const char *square,
			    char out[CONDITION])
{
	const char *fen = plans->fen;
	size_t board = strcspn(fen, " ");
	const char *side = strncmp(fen + board, " w", 2) == 0 ? "white" : "black";
	(void)snprintf(out, CONDITION,
		       "pattern fen \"%.*s\" to-move %s played %c-%s or "
		       "pattern fen \"%.*s\" to-move %s then within %d played %c-%s",
		       (int)board, fen, side, piece, square, (int)board, fen, side, PLIES - 1,
		       piece, square);
}

static int put_plan(const struct plans *plans, size_t piece, int to)
{
	const char name[2] = {letters[piece], '\0'};
	const char square[3] = {(char)('a' + to % 8), (char)('1' + to / 8), '\0'};
	char condition[CONDITION];
	char filter[CHI_FILTER_TEXT_SIZE];
	struct plan_row row = {.piece = name, .square = square, .all = plans->games};
	write_condition(plans, name[0], square, condition);
	const struct chi_filter_term more = {.name = "filter", .value = condition};
	if (!report_join(plans->report, &more, 1, filter)) {
		return EXIT_USAGE;
	}
	int code = report_count(plans->report, filter, &row.games);
	struct report_command command = report_asks(plans->report, "games");
	report_word(&command, "--count", NULL);
	report_word(&command, "--filter", condition);
	if (code == EXIT_DONE) {
		report_row(plans->report, columns, CHI_COUNT(columns), &row, &command);
	}
	return code;
}

/* The square that most games of the sample have, which is taken out. Negative: none. */
static int take_square(uint32_t tally[64])
{
	int best = -1;
	for (int to = 0; to < 64; to++) {
		best = tally[to] > (best < 0 ? 0 : tally[best]) ? to : best;
	}
	if (best >= 0) {
		tally[best] = 0;
	}
	return best;
}

int report_plans(const struct report *report, const struct chi_key *root)
{
	_cleanup_(chi_freep) struct plans *plans = calloc(1, sizeof(*plans));
	if (plans == NULL) {
		return cli_no_memory();
	}
	plans->report = report;
	plans->root = root;
	int code = report_count(report, report->filter, &plans->games);
	int status = code == EXIT_DONE ? chi_key_to_fen(root, plans->fen, NULL) : CHI_OK;
	status = status == CHI_OK && code == EXIT_DONE ? take_sample(plans) : status;
	status = status == CHI_OK ? play_sample(plans) : status;
	if (code != EXIT_DONE || status < 0) {
		return code != EXIT_DONE ? code : cli_fail(report->cli->client, status);
	}
	report_section(report, "Plans",
		       "Squares that pieces go to in the 20 plies after the position: games, and "
		       "their share in percent.");
	report_table(report, columns, CHI_COUNT(columns), true);
	for (size_t piece = 0; code == EXIT_DONE && piece < KINDS; piece++) {
		for (int i = 0; code == EXIT_DONE && i < SQUARES; i++) {
			int to = take_square(plans->tally[piece]);
			code = to >= 0 ? put_plan(plans, piece, to) : code;
		}
	}
	report_table_end(report);
	return code;
}
