/* SPDX-License-Identifier: MIT */
/*
 * The facts are written into memory first, a line each with a label in front, and then put beside
 * the ranks of the board, broken where the terminal ends.
 */
#include "cli/out/card.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "chess/endgame/endgame.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "cli/out/output.h"

#define LABEL_COLUMNS 9
#define BOARD_COLUMNS 18
#define GAP_COLUMNS   3
#define WIDTH	      100 /* where there is no terminal */
#define WIDTH_MIN     60

struct facts {
	const struct card *card;
	const struct table *table;
	struct table text; /* the facts; as `table`, but in other memory */
	struct chi_position position;
};

/* ---- The board --------------------------------------------------------------------------- */

static const char *piece_text(const struct table *table, int colour, int kind)
{
	/* By enum chi_piece_kind. On coloured squares both sides have the solid figures. */
	static const char *const white[] = {"\u2659", "\u2658", "\u2657",
					    "\u2656", "\u2655", "\u2654"};
	static const char *const black[] = {"\u265f", "\u265e", "\u265d",
					    "\u265c", "\u265b", "\u265a"};
	static const char *const letters[2][6] = {{"P", "N", "B", "R", "Q", "K"},
						  {"p", "n", "b", "r", "q", "k"}};
	if (table->ascii) {
		return letters[colour][kind];
	}
	return colour == CHI_WHITE && !table->color ? white[kind] : black[kind];
}

static void print_square(const struct facts *facts, int square)
{
	const struct table *table = facts->table;
	int kind = chi_position_kind(&facts->position, square);
	int colour =
		(facts->position.colour[CHI_WHITE] & chi_bit(square)) != 0 ? CHI_WHITE : CHI_BLACK;
	bool light = ((square >> 3) + square) % 2 != 0;
	const char *text = kind != CHI_KINDS ? piece_text(table, colour, kind)
			   : table->color    ? " "
			   : table->ascii    ? "."
					     : "\u00b7";
	if (table->color) {
		fprintf(table->out, "\x1b[48;5;%dm\x1b[%sm", light ? 109 : 66,
			colour == CHI_WHITE ? "1;38;5;231" : "38;5;16");
	}
	fprintf(table->out, " %s", text);
}

/* Row 0 is the eighth rank, row 8 the files' letters; below them the board is blank. */
static void print_board_row(const struct facts *facts, int row)
{
	FILE *out = facts->table->out;
	if (row > 8) {
		fprintf(out, "%*s", BOARD_COLUMNS, "");
		return;
	}
	if (row == 8) {
		fprintf(out, "   a b c d e f g h");
		return;
	}
	fprintf(out, "%d ", 8 - row);
	for (int file = 0; file < 8; file++) {
		print_square(facts, (7 - row) * 8 + file);
	}
	(void)fputs(table_plain(facts->table), out);
}

/* ---- Facts ------------------------------------------------------------------------------- */

static void label(const struct facts *facts, const char *name)
{
	fprintf(facts->text.out, "%-*s", LABEL_COLUMNS, name);
}

static void write_opening(const struct facts *facts)
{
	const struct card *card = facts->card;
	if (card->opening == NULL) {
		return;
	}
	label(facts, "opening");
	table_print(&facts->text, card->eco, 0);
	(void)fputs(table_bold(facts->table), facts->text.out);
	(void)putc(' ', facts->text.out);
	table_print(&facts->text, card->opening, 0);
	(void)fputs(table_plain(facts->table), facts->text.out);
	if (card->plies > 0) {
		fprintf(facts->text.out, " (%zu %s before)", card->plies,
			card->plies == 1 ? "ply" : "plies");
	}
	(void)putc('\n', facts->text.out);
}

static void write_side(const struct facts *facts)
{
	const struct chi_position *position = &facts->position;
	struct chi_move_list list;
	bool check = chi_position_in_check(position, position->side);
	chi_movegen_legal(position, &list);
	label(facts, "to move");
	fprintf(facts->text.out, "%s%s\n", position->side == CHI_WHITE ? "White" : "Black",
		list.n == 0 ? check ? ", checkmate" : ", stalemate"
		: check	    ? ", in check"
			    : "");
}

/* Class and name, and in a line of its own what is known. */
static void write_endgame(const struct facts *facts)
{
	struct chi_endgame endgame;
	FILE *out = facts->text.out;
	chi_endgame_classify(&facts->card->key, &endgame);
	if (endgame.family == CHI_ENDGAME_NONE) {
		return;
	}
	label(facts, "endgame");
	fprintf(out, "%s, %s: %s\n", endgame.signature, chi_endgame_family_name(endgame.family),
		endgame.name);
	const char *result = chi_endgame_result_text(&endgame);
	if (result[0] == '\0' && endgame.note == NULL && !endgame.has_figures) {
		return;
	}
	label(facts, "known");
	fprintf(out, "%s%s%s", result, result[0] != '\0' && endgame.note != NULL ? "; " : "",
		endgame.note != NULL ? endgame.note : "");
	if (endgame.has_figures) {
		fprintf(out,
			"%s%s to move wins %.1f %%, draws %.1f %%, loses %.1f %% of all positions; "
			"longest mate %d moves",
			result[0] != '\0' || endgame.note != NULL ? "; " : "",
			endgame.first == CHI_WHITE ? "White" : "Black", endgame.won / 10.0,
			endgame.drawn / 10.0, endgame.lost / 10.0, (int)endgame.longest);
	}
	(void)putc('\n', out);
}

static double percent(uint64_t part, uint64_t whole)
{
	return 100 * (double)part / (double)whole;
}

static void write_games(const struct facts *facts)
{
	const struct chi_counts *c = &facts->card->record->counts;
	FILE *out = facts->text.out;
	uint64_t games = games_of(c);
	label(facts, "games");
	fprintf(out, "%" PRIu64, games);
	if (games > 0) {
		fprintf(out,
			": White %" PRIu64 " (%.1f %%), draws %" PRIu64 " (%.1f %%), Black %" PRIu64
			" (%.1f %%)",
			c->white, percent(c->white, games), c->draws, percent(c->draws, games),
			c->black, percent(c->black, games));
	}
	if (c->other > 0) {
		fprintf(out, "; %" PRIu64 " without a result", c->other);
	}
	(void)putc('\n', out);
	if (games > 0) {
		bool black = facts->position.side == CHI_BLACK;
		double wins = (double)(black ? c->black : c->white) + (double)c->draws / 2;
		label(facts, "");
		table_bar(&facts->text, c, TABLE_BAR_COLUMNS);
		(void)putc('\n', out);
		label(facts, "score");
		fprintf(out, "%.1f %% for %s\n", 100 * wins / (double)games,
			black ? "Black" : "White");
	}
}

/* Moves in SAN, played one after the other, with a blank in front of each. */
static int write_line(const struct facts *facts, const chi_move *moves, size_t n)
{
	struct chi_position position = facts->position;
	struct chi_position next;
	char san[CHI_SAN_SIZE];
	for (size_t i = 0; i < n; i++) {
		if (!chi_movegen_is_legal(&position, moves[i])) {
			return -CHI_EMOVE;
		}
		(void)chi_san_print(&position, moves[i], san);
		fprintf(facts->text.out, " %s", san);
		chi_position_play(&position, moves[i], &next);
		position = next;
	}
	(void)putc('\n', facts->text.out);
	return CHI_OK;
}

void card_eval_print(bool is_mate, int32_t score, bool black, char out[CARD_EVAL_SIZE])
{
	double white = (double)score * (black ? -1 : 1);
	if (is_mate) {
		/* Mated now says nothing of the side by its sign. */
		bool loses = score <= 0;
		(void)snprintf(out, CARD_EVAL_SIZE, "#%s%.0f", loses != black ? "-" : "",
			       white < 0 ? -white : white);
	} else {
		(void)snprintf(out, CARD_EVAL_SIZE, "%+.2f", score == 0 ? 0.0 : white / 100);
	}
}

static int write_eval(const struct facts *facts, const struct chi_eval *eval)
{
	char score[CARD_EVAL_SIZE];
	FILE *out = facts->text.out;
	_cleanup_(chi_freep) char *engine = strndup(eval->engine, eval->engine_len);
	if (engine == NULL) {
		return -CHI_ENOMEM;
	}
	card_eval_print(eval->is_mate, eval->score, facts->position.side == CHI_BLACK, score);
	label(facts, "eval");
	fprintf(out, "%s%s%s  ", table_bold(facts->table), score, table_plain(facts->table));
	table_print(&facts->text, engine, 0);
	fprintf(out, ", depth %" PRIu32, eval->depth);
	if (eval->rank > 0) {
		fprintf(out, ", line %d", eval->rank + 1);
	}
	fputs(eval->n_pv > 0 ? ":" : "", out);
	return write_line(facts, eval->pv, eval->n_pv);
}

/* The deepest first. */
static int write_evals(const struct facts *facts)
{
	const struct chi_record *record = facts->card->record;
	uint32_t below = UINT32_MAX;
	for (size_t written = 0; written < record->n_evals;) {
		uint32_t depth = 0;
		for (size_t i = 0; i < record->n_evals; i++) {
			bool next = record->evals[i].depth < below;
			depth = next && record->evals[i].depth > depth ? record->evals[i].depth
								       : depth;
		}
		for (size_t i = 0; i < record->n_evals; i++) {
			if (record->evals[i].depth == depth) {
				int status = write_eval(facts, &record->evals[i]);
				if (status != CHI_OK) {
					return status;
				}
				written++;
			}
		}
		below = depth;
	}
	return CHI_OK;
}

/* The place in the store's order, and what orders it. */
static void write_statistic(const struct facts *facts)
{
	char value[CHI_CHI2_TEXT_SIZE];
	const char *name = chi_statistic_name((int)facts->card->statistic);
	(void)chi_chi2_print(facts->card->record->chi2, value);
	label(facts, "chi2");
	fprintf(facts->text.out, "%s (%s", value, name != NULL ? name : "unknown");
	if (facts->card->statistic == CHI_STATISTIC_PERFORMANCE &&
	    facts->card->record->chi2 != CHI_CHI2_UNKNOWN) {
		fprintf(facts->text.out, " %+.2f",
			(facts->card->record->chi2 - CHI_PERFORMANCE_EVEN) / 100.0);
	}
	fputs(")\n", facts->text.out);
}

static int write_record(const struct facts *facts)
{
	const struct chi_record *record = facts->card->record;
	write_games(facts);
	write_statistic(facts);
	if (record->n_plies > 0) {
		label(facts, "first");
		fprintf(facts->text.out, "at ply %d\n", (int)record->plies[0].ply);
	}
	int status = write_evals(facts);
	if (status == CHI_OK && record->n_line > 0) {
		fprintf(facts->text.out, "%-*s", LABEL_COLUMNS - 1, "line");
		status = write_line(facts, record->line, record->n_line);
	}
	if (record->n_note > 0) {
		_cleanup_(chi_freep) char *note = strndup(record->note, record->n_note);
		label(facts, "note");
		table_print(&facts->text, note != NULL ? note : "", 0);
		(void)putc('\n', facts->text.out);
	}
	return status;
}

/* ---- Side by side ------------------------------------------------------------------------ */

/* Bytes of `text` that go on a line of so many columns: up to a blank where there is one. Escape
 * sequences take no column. */
static size_t fitting(const char *text, size_t len, size_t columns)
{
	size_t used = 0;
	size_t blank = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\x1b') {
			i += strcspn(text + i, "m");
			continue;
		}
		used += table_columns(text + i, 1);
		if (used > columns) {
			return blank > LABEL_COLUMNS ? blank : i;
		}
		blank = text[i] == ' ' ? i : blank;
	}
	return len;
}

/* A fact on as many rows as it takes. */
static void put_fact(const struct facts *facts, const char *text, size_t len, int *row)
{
	FILE *out = facts->table->out;
	size_t width = facts->table->width > 0 ? facts->table->width : WIDTH;
	size_t columns = (width > WIDTH_MIN ? width : WIDTH_MIN) - BOARD_COLUMNS - GAP_COLUMNS;
	for (bool first = true; len > 0; first = false) {
		size_t n = fitting(text, len, columns - (first ? 0 : LABEL_COLUMNS));
		print_board_row(facts, (*row)++);
		fprintf(out, "%*s%.*s\n", GAP_COLUMNS + (first ? 0 : LABEL_COLUMNS), "", (int)n,
			text);
		n += n < len && text[n] == ' ' ? 1 : 0;
		text += n;
		len -= n;
	}
}

static void put_facts(const struct facts *facts, const char *fen)
{
	FILE *out = facts->table->out;
	int row = 0;
	fprintf(out, "%-*s%s\n\n", LABEL_COLUMNS, "FEN", fen);
	for (const char *at = facts->text.text; *at != '\0';) {
		size_t len = strcspn(at, "\n");
		put_fact(facts, at, len, &row);
		at += len + (at[len] == '\n' ? 1 : 0);
	}
	while (row <= 8) {
		print_board_row(facts, row++);
		(void)putc('\n', out);
	}
}

int card_statistic(struct chi_client *client, enum chi_statistic *out)
{
	struct chi_info info;
	int status = chi_store_info(client, &info);
	if (status == CHI_OK) {
		*out = (enum chi_statistic)info.statistic;
	}
	return status;
}

int card_print(const struct table *table, const struct card *card)
{
	struct facts facts = {.card = card, .table = table, .text = *table};
	char fen[CHI_FEN_SIZE];
	int status = chi_key_decode(&card->key, &facts.position, NULL);
	if (status == CHI_OK) {
		status = chi_key_to_fen(&card->key, fen, NULL);
	}
	if (status != CHI_OK) {
		return status;
	}
	facts.text.out = open_memstream(&facts.text.text, &facts.text.len);
	if (facts.text.out == NULL) {
		return -CHI_ENOMEM;
	}
	write_opening(&facts);
	write_side(&facts);
	write_endgame(&facts);
	if (card->record != NULL) {
		status = write_record(&facts);
	}
	if (status == CHI_OK && (fflush(facts.text.out) != 0 || ferror(facts.text.out) != 0)) {
		status = -CHI_ENOMEM;
	}
	if (status == CHI_OK) {
		put_facts(&facts, fen);
	}
	table_deinit(&facts.text);
	return status;
}
