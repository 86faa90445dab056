/* SPDX-License-Identifier: MIT */
/*
 * Printing explorations. All texts of all moves are made before the first is printed: an answer
 * that fits no position prints nothing, and columns are as wide as their widest cell.
 */
#include "cli/out/explored.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "propagate/evals.h"
#include "chess/key.h"
#include "chess/openings/openings.h"
#include "formats/endgame_json.h"
#include "cli/out/output.h"

#define CELL_SIZE 24 /* a number of 64 bits and more */
#define NAME_MIN  12 /* columns of an opening's name, however narrow the terminal */

/* Numbers of a move; the opening's name follows them as it is. */
enum column {
	SAN = 0,
	UCI,
	GAMES,
	WHITE,
	DRAWS,
	BLACK,
	OTHER,
	SCORE,
	EVAL,
	DEPTH,
	BACKED,
	REACHED,
	REACHED_WHITE,
	REACHED_DRAWS,
	REACHED_BLACK,
	CHI2,
	ECO,
	COLUMNS
};

static const char *const names[COLUMNS] = {
	"san",		 "uci",		  "games",	   "white", "draws",  "black",
	"other",	 "score",	  "eval",	   "depth", "backed", "reached",
	"reached_white", "reached_draws", "reached_black", "chi2",  "eco",
};

/* What the table for people leaves out. */
static const bool hidden[COLUMNS] = {
	[UCI] = true,		[OTHER] = true,		[DEPTH] = true,
	[REACHED_WHITE] = true, [REACHED_DRAWS] = true, [REACHED_BLACK] = true,
};

struct line {
	const struct chi_explore_move *move;
	const struct chi_backed_move *backed; /* NULL: none */
	char cell[COLUMNS][CELL_SIZE];
};

struct page {
	const struct chi_explored *explore;
	const struct chi_backed *backed; /* NULL: none */
	struct line *lines;
	size_t n;
	bool black_to_move;
	char fen[CHI_FEN_SIZE];
};

/* What the side to move made of its games, in percent; negative if there is none. */
static double score_of(const struct chi_counts *counts, bool black)
{
	/* Summed where nothing overflows: a server may tell any numbers. */
	double games = (double)counts->white + (double)counts->draws + (double)counts->black;
	double wins = (double)(black ? counts->black : counts->white);
	return games > 0 ? 100 * (wins + (double)counts->draws / 2) / games : -1;
}

/* Games, and the results among them, into cells side by side; not known of a position that is not
 * kept. */
static void write_counts(const struct chi_counts *c, bool known, char out[][CELL_SIZE])
{
	const uint64_t counts[] = {games_of(c), c->white, c->draws, c->black};
	for (size_t i = 0; i < CHI_COUNT(counts); i++) {
		memcpy(out[i], "-", 2);
		if (known) {
			(void)snprintf(out[i], CELL_SIZE, "%" PRIu64, counts[i]);
		}
	}
}

/* A code is ASCII; a server's may be anything. */
static void write_eco(const char *eco, char out[CELL_SIZE])
{
	size_t len = 0;
	for (eco = eco != NULL ? eco : "-"; *eco != '\0' && len < CELL_SIZE - 1; eco++) {
		out[len++] = *eco > 0x20 && *eco < 0x7f ? *eco : '?';
	}
	out[len] = '\0';
}

/* The evaluation in White's view, and its depth. `black`: the side to move there. */
static void write_eval(const struct chi_row *row, bool black, char out[][CELL_SIZE])
{
	memcpy(out[0], "-", 2);
	memcpy(out[1], "-", 2);
	if (row->has_eval) {
		card_eval_print(row->is_mate, row->score, black, out[0]);
		(void)snprintf(out[1], CELL_SIZE, "%d", (int)row->depth);
	}
}

static int fill_line(const struct page *page, const struct chi_explore_move *move,
		     struct line *line)
{
	const struct chi_key *key = &page->explore->position.key;
	const struct chi_counts *played = &move->played;
	line->move = move;
	line->backed = page->backed == NULL ? NULL : chi_backed_of(page->backed, move->move);
	int status = chi_key_san(key, move->move, line->cell[SAN]);
	if (status == CHI_OK) {
		status = chi_key_uci(key, move->move, line->cell[UCI]);
	}
	write_counts(played, true, &line->cell[GAMES]);
	(void)snprintf(line->cell[OTHER], CELL_SIZE, "%" PRIu64, played->other);
	double score = score_of(played, page->black_to_move);
	(void)snprintf(line->cell[SCORE], CELL_SIZE, score < 0 ? "-" : "%.1f", score);
	write_eval(&move->child, !page->black_to_move, &line->cell[EVAL]);
	memcpy(line->cell[BACKED], "-", 2);
	if (line->backed != NULL) {
		card_eval_print(line->backed->is_mate, line->backed->score, !page->black_to_move,
				line->cell[BACKED]);
	}
	write_counts(&move->child.counts, move->child.found, &line->cell[REACHED]);
	(void)chi_chi2_print(move->child.chi2, line->cell[CHI2]);
	write_eco(move->eco, line->cell[ECO]);
	return status;
}

/* ---- Rows for programs --------------------------------------------------------------------- */

static void print_tsv(const struct page *page)
{
	for (size_t j = 0; j < COLUMNS; j++) {
		printf("%s\t", names[j]);
	}
	printf("opening\n");
	for (size_t i = 0; i < page->n; i++) {
		for (size_t j = 0; j < COLUMNS; j++) {
			printf("%s\t", page->lines[i].cell[j]);
		}
		/* It came from elsewhere when a server sent it: one line, and no tab. */
		const char *name = page->lines[i].move->opening;
		for (const char *c = name != NULL ? name : "-"; *c != '\0'; c++) {
			(void)putchar((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
		}
		(void)putchar('\n');
	}
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static json_t *json_string_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

static json_t *json_score(const struct chi_counts *counts, bool black)
{
	double score = score_of(counts, black);
	return score < 0 ? json_null() : json_real(score);
}

/* The counts' members, as pairs for json_pack; null if they are not known. */
#define COUNTS_FORM "s:o, s:o, s:o, s:o, s:o"
#define COUNTS_OF(c, known)                                                                        \
	"games", json_known(games_of(c), known), "white", json_known((c)->white, known), "draws",  \
		json_known((c)->draws, known), "black", json_known((c)->black, known), "other",    \
		json_known((c)->other, known)

static json_t *json_known(uint64_t count, bool known)
{
	return known ? json_count(count) : json_null();
}

/* As in the records of get: the side to move's view, named by its unit. */
static json_t *json_eval(const struct chi_row *row)
{
	return !row->has_eval ? json_null()
			      : json_pack("{s:i, s:i}", "depth", (int)row->depth,
					  row->is_mate ? "mate" : "cp", (int)row->score);
}

static json_t *json_backed(const struct chi_backed_move *backed)
{
	return backed == NULL
		       ? json_null()
		       : json_pack("{s:i}", backed->is_mate ? "mate" : "cp", (int)backed->score);
}

/* The members that the position explored and those that moves lead to share. */
#define ROW_FORM "s:o, s:b, s:o, s:o, s:o, " COUNTS_FORM
#define ROW_OF(row, fen, eco, opening)                                                             \
	"fen", json_string_or_null(fen), "found", (row)->found, "eco", json_string_or_null(eco),   \
		"opening", json_string_or_null(opening), "chi2", json_chi2((row)->chi2),           \
		COUNTS_OF(&(row)->counts, (row)->found)

static json_t *move_json(const struct page *page, const struct line *line)
{
	const struct chi_explore_move *move = line->move;
	const struct chi_row *child = &move->child;
	char fen[CHI_FEN_SIZE];
	bool has_key = child->key.len > 0 && chi_key_to_fen(&child->key, fen, NULL) == CHI_OK;
	return json_pack("{s:s, s:s, " COUNTS_FORM ", s:o, s:{" ROW_FORM ", s:o, s:o}}", "san",
			 line->cell[SAN], "uci", line->cell[UCI], COUNTS_OF(&move->played, true),
			 "score", json_score(&move->played, page->black_to_move), "child",
			 ROW_OF(child, has_key ? fen : NULL, move->eco, move->opening), "eval",
			 json_eval(child), "backed", json_backed(line->backed));
}

/* The last opening on the way to the position that has a name, and how long ago that was. */
static json_t *last_opening(const struct card *card)
{
	return card->opening == NULL ? json_null()
				     : json_pack("{s:s, s:s, s:I}", "eco", card->eco, "opening",
						 card->opening, "plies", (json_int_t)card->plies);
}

static json_t *json_endgame(const struct chi_key *key)
{
	char text[CHI_ENDGAME_JSON_SIZE];
	return json_loadb(text, chi_endgame_json(key, text), JSON_DECODE_ANY, NULL);
}

static void print_json(const struct page *page, const struct card *card)
{
	const struct chi_explored *explore = page->explore;
	const struct chi_row *row = &explore->position;
	json_t *moves = json_array();
	for (size_t i = 0; moves != NULL && i < page->n; i++) {
		if (json_array_append_new(moves, move_json(page, &page->lines[i])) != 0) {
			json_decref(moves);
			moves = NULL;
		}
	}
	output_json(json_pack("{" ROW_FORM ", s:o, s:o, s:o, s:o, s:o}",
			      ROW_OF(row, page->fen, explore->eco, explore->opening),
			      "last_opening", last_opening(card), "endgame",
			      json_endgame(&card->key), "score",
			      json_score(&row->counts, page->black_to_move), "min_ply",
			      explore->min_ply >= 0 ? json_integer(explore->min_ply) : json_null(),
			      "moves", moves));
}

/* ---- The table for people ------------------------------------------------------------------ */

/* How wide everything is. */
struct layout {
	size_t columns[COLUMNS]; /* 0: not shown */
	size_t bar;
	size_t name; /* the opening's; 0: any */
};

/* Texts to the left, numbers to the right. */
static void print_cell(const struct table *table, const char *text, size_t column, size_t width)
{
	bool left = column == SAN || column == ECO;
	fprintf(table->out, "%s%*s%s  ", column == SAN ? table_bold(table) : "",
		left ? -(int)width : (int)width, text, column == SAN ? table_plain(table) : "");
}

/* The numbers of results are followed by their bar. `line`: NULL for the heading. */
static void print_line(const struct table *table, const struct line *line,
		       const struct layout *layout)
{
	for (size_t j = 0; j < COLUMNS; j++) {
		if (layout->columns[j] == 0) {
			continue;
		}
		print_cell(table, line != NULL ? line->cell[j] : names[j], j, layout->columns[j]);
		if (j == BLACK && line != NULL) {
			table_bar(table, &line->move->played, (int)layout->bar);
			fprintf(table->out, "  ");
		} else if (j == BLACK) {
			fprintf(table->out, "%*s", (int)layout->bar + 2, "");
		}
	}
	const char *name = line != NULL ? line->move->opening : "opening";
	table_print(table, name != NULL ? name : "-", layout->name);
	(void)putc('\n', table->out);
}

/* As wide as the widest cell; 0 if no row has anything in it. */
static size_t column_width(const struct page *page, size_t column)
{
	size_t width = strlen(names[column]);
	bool any = false;
	for (size_t i = 0; i < page->n && !hidden[column]; i++) {
		size_t len = strlen(page->lines[i].cell[column]);
		width = len > width ? len : width;
		any = any || strcmp(page->lines[i].cell[column], "-") != 0;
	}
	return any ? width : 0;
}

static size_t columns_used(const struct layout *layout)
{
	size_t used = layout->bar + 2;
	for (size_t j = 0; j < COLUMNS; j++) {
		used += layout->columns[j] > 0 ? layout->columns[j] + 2 : 0;
	}
	return used;
}

/* A narrow terminal gets a shorter bar, then fewer columns, so that no row is broken. */
static void lay_out(const struct page *page, size_t width, struct layout *layout)
{
	static const size_t dispensable[] = {CHI2, REACHED, BACKED};
	*layout = (struct layout){.bar = TABLE_BAR_COLUMNS};
	for (size_t j = 0; j < COLUMNS; j++) {
		layout->columns[j] = column_width(page, j);
	}
	if (width == 0) {
		return;
	}
	if (columns_used(layout) + NAME_MIN > width) {
		layout->bar = TABLE_BAR_COLUMNS / 2;
	}
	for (size_t i = 0; i < CHI_COUNT(dispensable); i++) {
		if (columns_used(layout) + NAME_MIN > width) {
			layout->columns[dispensable[i]] = 0;
		}
	}
	size_t used = columns_used(layout);
	layout->name = width > used + NAME_MIN ? width - used : NAME_MIN;
}

static void print_table(const struct page *page, const struct table *table)
{
	struct layout layout;
	lay_out(page, table->width, &layout);
	(void)putc('\n', table->out);
	print_line(table, NULL, &layout);
	for (size_t i = 0; i < page->n; i++) {
		print_line(table, &page->lines[i], &layout);
	}
}

/* ---- All forms ----------------------------------------------------------------------------- */

/* Makes the texts of the first `n` moves, in memory that the caller frees. */
static int fill_page(const struct chi_explored *explore, size_t n, const struct chi_backed *backed,
		     struct page *page)
{
	struct chi_position position;
	*page = (struct page){.explore = explore, .backed = backed, .n = n};
	/* One more than there are: calloc of nothing may give NULL. */
	page->lines = calloc(n + 1, sizeof(*page->lines));
	if (page->lines == NULL) {
		return -CHI_ENOMEM;
	}
	int status = chi_key_to_fen(&explore->position.key, page->fen, NULL);
	if (status == CHI_OK) {
		status = chi_key_decode(&explore->position.key, &position, NULL);
	}
	if (status != CHI_OK) {
		return status;
	}
	page->black_to_move = position.side == CHI_BLACK;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = fill_line(page, &explore->moves[i], &page->lines[i]);
	}
	return status;
}

static void page_deinit(struct page *page)
{
	free(page->lines);
}

int explored_print(const struct chi_explored *explore, size_t n, const struct chi_backed *backed,
		   const struct card *card, bool json)
{
	_cleanup_(page_deinit) struct page page;
	int status = fill_page(explore, n, backed, &page);
	if (status == CHI_OK && json) {
		print_json(&page, card);
	} else if (status == CHI_OK) {
		print_tsv(&page);
	}
	return status;
}

int explored_table(const struct chi_explored *explore, size_t n, const struct chi_backed *backed,
		   const struct table *table)
{
	_cleanup_(page_deinit) struct page page;
	int status = fill_page(explore, n, backed, &page);
	if (status == CHI_OK && n > 0) {
		print_table(&page, table);
	}
	return status;
}

/* Most played first, as in an exploration. */
static int compare_shown_moves(const void *left, const void *right)
{
	const struct chi_explore_move *a = left;
	const struct chi_explore_move *b = right;
	uint64_t games_a = games_of(&a->played) + a->played.other;
	uint64_t games_b = games_of(&b->played) + b->played.other;
	if (games_a != games_b) {
		return games_a > games_b ? -1 : 1;
	}
	return a->move < b->move ? -1 : a->move > b->move;
}

int explored_record(const struct chi_key *key, const struct chi_record *record,
		    const struct table *table)
{
	struct chi_explored explore = {.position.key = *key, .n_moves = record->n_moves};
	_cleanup_(chi_freep) struct chi_explore_move *moves =
		calloc(record->n_moves + 1, sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < record->n_moves; i++) {
		struct chi_key next;
		moves[i].move = record->moves[i].move;
		moves[i].played = record->moves[i].counts;
		if (chi_key_play(key, moves[i].move, &next) == CHI_OK) {
			(void)chi_opening_find(&next, &moves[i].eco, &moves[i].opening);
		}
	}
	qsort(moves, record->n_moves, sizeof(*moves), compare_shown_moves);
	explore.moves = moves;
	return explored_table(&explore, record->n_moves, NULL, table);
}

int explored_take_engine(struct cli *cli, const struct cli_option *option, const char *value,
			 void *out)
{
	*(const char **)out = value;
	return chi_backup_name_ok(value) ? EXIT_DONE
					 : cli_usage(cli,
						     "--%s: a name begins with '" CHI_BACKUP_ENGINE
						     "' and has at most %d bytes",
						     option->name, CHI_ENGINE_MAX);
}
