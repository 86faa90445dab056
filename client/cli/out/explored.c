/* SPDX-License-Identifier: MIT */
/*
 * Printing explorations. All texts of all moves are made before the first is printed: an answer
 * that fits no position prints nothing, and columns are as wide as their widest cell.
 */
#include "client/cli/out/explored.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chess/key.h"
#include "client/cli/out/output.h"

#define BAR_CELLS 20
#define CELL_SIZE 24 /* a number of 64 bits and more */

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
	REACHED,
	REACHED_WHITE,
	REACHED_DRAWS,
	REACHED_BLACK,
	CHI2,
	ECO,
	COLUMNS
};

static const char *const names[COLUMNS] = {
	"san",	 "uci",	    "games",	     "white",	      "draws",	       "black", "other",
	"score", "reached", "reached_white", "reached_draws", "reached_black", "chi2",	"eco",
};

/* What the table for people leaves out. */
static const bool hidden[COLUMNS] = {
	[UCI] = true,		[OTHER] = true,		[REACHED_WHITE] = true,
	[REACHED_DRAWS] = true, [REACHED_BLACK] = true,
};

struct line {
	const struct chi_explore_move *move;
	char cell[COLUMNS][CELL_SIZE];
};

struct page {
	const struct chi_explore *explore;
	const struct explored_style *style;
	struct line *lines;
	size_t n;
	bool black_to_move;
	char fen[CHI_FEN_SIZE];
};

bool explored_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	if (locale == (locale_t)0) {
		return false;
	}
	bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return utf8;
}

/* Summed where nothing overflows: a server may tell any numbers. */
static double sum_of(const struct chi_counts *counts)
{
	return (double)counts->white + (double)counts->draws + (double)counts->black;
}

/* What the side to move made of its games, in percent; negative if there is none. */
static double score_of(const struct chi_counts *counts, bool black)
{
	double games = sum_of(counts);
	double wins = (double)(black ? counts->black : counts->white);
	return games > 0 ? 100 * (wins + (double)counts->draws / 2) / games : -1;
}

static void write_score(const struct chi_counts *counts, bool black, char out[CELL_SIZE])
{
	double score = score_of(counts, black);
	if (score < 0) {
		memcpy(out, "-", 2);
	} else {
		(void)snprintf(out, CELL_SIZE, "%.1f", score);
	}
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

static int fill_line(const struct page *page, const struct chi_explore_move *move,
		     struct line *line)
{
	const struct chi_key *key = &page->explore->position.key;
	const struct chi_counts *played = &move->played;
	line->move = move;
	int status = chi_key_san(key, move->move, line->cell[SAN]);
	if (status == CHI_OK) {
		status = chi_key_uci(key, move->move, line->cell[UCI]);
	}
	write_counts(played, true, &line->cell[GAMES]);
	(void)snprintf(line->cell[OTHER], CELL_SIZE, "%" PRIu64, played->other);
	write_score(played, page->black_to_move, line->cell[SCORE]);
	write_counts(&move->child.counts, move->child.found, &line->cell[REACHED]);
	(void)chi_num_chi2_print(move->child.chi2, line->cell[CHI2]);
	write_eco(move->eco, line->cell[ECO]);
	return status;
}

/* A name came from elsewhere when a server sent it: one line, and no tab, whatever is in it. */
static void print_name(const char *name)
{
	for (const char *c = name != NULL ? name : "-"; *c != '\0'; c++) {
		(void)putchar((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
	}
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
		print_name(page->lines[i].move->opening);
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
	return json_pack("{s:s, s:s, " COUNTS_FORM ", s:o, s:{" ROW_FORM "}}", "san",
			 line->cell[SAN], "uci", line->cell[UCI], COUNTS_OF(&move->played, true),
			 "score", json_score(&move->played, page->black_to_move), "child",
			 ROW_OF(child, has_key ? fen : NULL, move->eco, move->opening));
}

static void print_json(const struct page *page)
{
	const struct chi_explore *explore = page->explore;
	const struct chi_row *row = &explore->position;
	json_t *moves = json_array();
	for (size_t i = 0; moves != NULL && i < page->n; i++) {
		if (json_array_append_new(moves, move_json(page, &page->lines[i])) != 0) {
			json_decref(moves);
			moves = NULL;
		}
	}
	output_json(json_pack("{" ROW_FORM ", s:o, s:o, s:o}",
			      ROW_OF(row, page->fen, explore->eco, explore->opening), "score",
			      json_score(&row->counts, page->black_to_move), "min_ply",
			      explore->min_ply >= 0 ? json_integer(explore->min_ply) : json_null(),
			      "moves", moves));
}

/* ---- The table for people ------------------------------------------------------------------ */

/* Three shades, White's first. Cells are rounded at their ends, so that they always add up. */
static void print_bar(const struct page *page, const struct chi_counts *counts)
{
	static const char *const shades[2][3] = {{"\u2588", "\u2592", "\u2591"}, {"#", "=", "."}};
	const char *const *shade = shades[page->style->ascii ? 1 : 0];
	double games = sum_of(counts);
	double cells = BAR_CELLS / (games > 0 ? games : 1);
	int white = (int)((double)counts->white * cells + 0.5);
	int drawn = (int)(((double)counts->white + (double)counts->draws) * cells + 0.5);
	for (int i = 0; i < BAR_CELLS; i++) {
		const char *cell = i < white ? shade[0] : i < drawn ? shade[1] : shade[2];
		(void)fputs(games > 0 ? cell : " ", stdout);
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return 100 * (double)part / (double)whole;
}

static void print_games(const struct page *page)
{
	const struct chi_counts *c = &page->explore->position.counts;
	uint64_t games = games_of(c);
	char score[CELL_SIZE];
	printf("games    %" PRIu64, games);
	if (games > 0) {
		printf(": White %" PRIu64 " (%.1f %%), draws %" PRIu64 " (%.1f %%), Black %" PRIu64
		       " (%.1f %%)",
		       c->white, percent(c->white, games), c->draws, percent(c->draws, games),
		       c->black, percent(c->black, games));
	}
	if (c->other > 0) {
		printf("; %" PRIu64 " without a result", c->other);
	}
	(void)putchar('\n');
	if (games > 0) {
		write_score(c, page->black_to_move, score);
		printf("         ");
		print_bar(page, c);
		printf("\nscore    %s %% for %s, to move\n", score,
		       page->black_to_move ? "Black" : "White");
	}
}

/* What is known of the position itself. */
static void print_head(const struct page *page)
{
	const struct chi_explore *explore = page->explore;
	char chi2[CHI_CHI2_TEXT_SIZE];
	printf("FEN      %s\n", page->fen);
	if (explore->opening != NULL) {
		printf("opening  ");
		print_name(explore->eco);
		(void)putchar(' ');
		print_name(explore->opening);
		(void)putchar('\n');
	}
	if (!explore->position.found) {
		return;
	}
	print_games(page);
	(void)chi_num_chi2_print(explore->position.chi2, chi2);
	printf("chi2     %s\n", chi2);
	if (explore->min_ply >= 0) {
		printf("first    at ply %" PRId32 "\n", explore->min_ply);
	}
}

static void print_cell(const char *text, size_t column, size_t width)
{
	/* Texts to the left, numbers to the right. */
	if (column == SAN || column == ECO) {
		printf("%-*s  ", (int)width, text);
	} else {
		printf("%*s  ", (int)width, text);
	}
}

/* The numbers of results are followed by their bar. */
static void print_line(const struct page *page, const struct line *line, const size_t *widths)
{
	for (size_t j = 0; j < COLUMNS; j++) {
		if (hidden[j]) {
			continue;
		}
		print_cell(line != NULL ? line->cell[j] : names[j], j, widths[j]);
		if (j != BLACK) {
			continue;
		}
		if (line != NULL) {
			print_bar(page, &line->move->played);
			printf("  ");
		} else {
			printf("%*s", BAR_CELLS + 2, "");
		}
	}
	print_name(line != NULL ? line->move->opening : "opening");
	(void)putchar('\n');
}

static void print_table(const struct page *page)
{
	size_t widths[COLUMNS];
	print_head(page);
	if (page->n == 0) {
		return;
	}
	for (size_t j = 0; j < COLUMNS; j++) {
		widths[j] = strlen(names[j]);
		for (size_t i = 0; i < page->n; i++) {
			size_t len = strlen(page->lines[i].cell[j]);
			widths[j] = len > widths[j] ? len : widths[j];
		}
	}
	(void)putchar('\n');
	print_line(page, NULL, widths);
	for (size_t i = 0; i < page->n; i++) {
		print_line(page, &page->lines[i], widths);
	}
}

int explored_print(const struct chi_explore *explore, size_t n, const struct explored_style *style)
{
	/* One more than there are: calloc of nothing may give NULL. */
	_cleanup_(chi_freep) struct line *lines = calloc(n + 1, sizeof(*lines));
	struct page page = {.explore = explore, .style = style, .lines = lines, .n = n};
	struct chi_position position;
	if (lines == NULL) {
		return -CHI_ENOMEM;
	}
	int status = chi_key_to_fen(&explore->position.key, page.fen, NULL);
	if (status == CHI_OK) {
		status = chi_key_decode(&explore->position.key, &position, NULL);
	}
	if (status != CHI_OK) {
		return status;
	}
	page.black_to_move = position.side == CHI_BLACK;
	for (size_t i = 0; i < n; i++) {
		status = fill_line(&page, &explore->moves[i], &lines[i]);
		if (status != CHI_OK) {
			return status;
		}
	}
	if (style->form == EXPLORED_JSON) {
		print_json(&page);
	} else if (style->form == EXPLORED_TABLE) {
		print_table(&page);
	} else {
		print_tsv(&page);
	}
	return CHI_OK;
}
