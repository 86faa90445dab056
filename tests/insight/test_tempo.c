/* SPDX-License-Identifier: MIT */
/* What a tempo is worth: games made so that it is known, and loops over all games. */
#include "tests/insight/world.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "tests/import/session.h"

static struct insight_world world;

/* ---- Games made by hand ------------------------------------------------------------------- */

/* So many games of a line, by result. */
struct made_line {
	const char *start; /* FEN; NULL: the initial position */
	const char *moves;
	unsigned white;
	unsigned draws;
	unsigned black;
	unsigned other;
};

static void print_games(FILE *out, const struct made_line *line, const char *result, unsigned n)
{
	static unsigned number;
	for (; n > 0; n--) {
		fprintf(out, "[White \"w%u\"]\n[Result \"%s\"]\n", number++, result);
		if (line->start != NULL) {
			fprintf(out, "[FEN \"%s\"]\n[SetUp \"1\"]\n", line->start);
		}
		fprintf(out, "\n%s %s\n\n", line->moves, result);
	}
}

/* Opens a store of these lines, and asks for the pairs. */
static struct chi_insight *ask_made(const struct made_line *lines, size_t n, uint64_t min_games)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_TEMPO,
					      .min_games = min_games};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	for (size_t i = 0; i < n; i++) {
		print_games(out, &lines[i], "1-0", lines[i].white);
		print_games(out, &lines[i], "1/2-1/2", lines[i].draws);
		print_games(out, &lines[i], "0-1", lines[i].black);
		print_games(out, &lines[i], "*", lines[i].other);
	}
	fclose(out);
	insight_world_open(&world, text);
	free(text);
	return insight_world_ask(&world, &spec, 1 + help_below(5));
}

static void close_made(struct chi_insight *insight)
{
	chi_insight_close(insight);
	insight_world_close(&world);
}

static void assert_key(const struct chi_insight_row *row, const char *fen)
{
	struct chi_key key = help_fen(fen);
	assert_memory_equal(row->key.bytes, key.bytes, CHI_KEY_MAX);
}

#define AFTER_D4_NF6 "rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2"
#define AFTER_NF3_D5 "rnbqkbnr/ppp1pppp/8/3p4/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 0 2"

CASE(pair_is_one_row)
{
	static const struct made_line lines[] = {
		{NULL, "1. Nf3 d5", 10, 4, 6, 3},  /* White has 12 of 20 */
		{NULL, "1. d4 Nf6", 12, 16, 2, 0}, /* 20 of 30 */
		{NULL, "1. a3", 5, 0, 0, 0},
	};
	struct chi_insight *insight = ask_made(lines, CHI_COUNT(lines), 20);
	const struct chi_insight_result *result = chi_insight_rows(insight);
	assert_int_equal(result->n, 1);
	assert_int_equal(result->tested, 3); /* and the initial one, which is its own pair */
	assert_int_equal(result->games, 58);
	const struct chi_insight_row *row = &result->rows[0];
	assert_key(row, AFTER_D4_NF6);
	assert_int_equal(row->games, 30);
	assert_int_equal(row->others, 20);
	assert_int_equal(row->score, 6667);
	assert_int_equal(row->expected, 4000); /* of 1 less 12 of 20 */
	assert_int_equal(row->game, 24);
	assert_int_equal(row->ply, 2);
	assert_int_equal(row->move, 0);
	/* A won and a lost game are added to each. */
	double a = 21.0 / 32;
	double b = 13.0 / 22;
	double variance =
		((12 + 16 / 4.0 + 1) / 32 - a * a) / 32 + ((10 + 4 / 4.0 + 1) / 22 - b * b) / 22;
	assert_int_equal(row->low, lround((a + b - 1 - 1.96 * sqrt(variance)) * 10000));
	assert_int_equal(row->high, lround((a + b - 1 + 1.96 * sqrt(variance)) * 10000));
	close_made(insight);
	/* Games without a result do not count. */
	insight = ask_made(lines, CHI_COUNT(lines), 21);
	assert_int_equal(chi_insight_rows(insight)->n, 0);
	close_made(insight);
}

CASE(position_of_more_games_has_the_row)
{
	static const struct made_line lines[] = {
		{NULL, "1. Nf3 d5", 9, 0, 2, 0},
		{NULL, "1. d4 Nf6", 5, 0, 5, 0},
	};
	struct chi_insight *insight = ask_made(lines, CHI_COUNT(lines), 10);
	const struct chi_insight_row *row = chi_insight_rows(insight)->rows;
	assert_int_equal(chi_insight_rows(insight)->n, 1);
	assert_key(row, AFTER_NF3_D5);
	assert_int_equal(row->score - row->expected, 8182 - 5000);
	close_made(insight);
	/* Of as many one has it, too. */
	insight = ask_made(lines + 1, 1, 10);
	assert_int_equal(chi_insight_rows(insight)->n, 0);
	close_made(insight);
	static const struct made_line equal[] = {
		{NULL, "1. Nf3 d5", 9, 0, 1, 0},
		{NULL, "1. d4 Nf6", 5, 0, 5, 0},
	};
	insight = ask_made(equal, CHI_COUNT(equal), 10);
	assert_int_equal(chi_insight_rows(insight)->n, 1);
	row = chi_insight_rows(insight)->rows;
	assert_int_equal(row->score - row->expected, 4000);
	close_made(insight);
}

CASE(rows_are_in_order_of_what_it_is_worth)
{
	static const struct made_line lines[] = {
		{NULL, "1. c4 Nf6", 6, 0, 5, 0}, {NULL, "1. Nf3 c5", 5, 0, 5, 0},
		{NULL, "1. d4 e6", 11, 0, 0, 0}, {NULL, "1. e3 d5", 9, 0, 1, 0},
		{NULL, "1. d4 Nf6", 1, 0, 9, 0}, {NULL, "1. Nf3 d5", 1, 0, 10, 0},
	};
	struct chi_insight *insight = ask_made(lines, CHI_COUNT(lines), 10);
	const struct chi_insight_result *result = chi_insight_rows(insight);
	assert_int_equal(result->n, 3);
	assert_int_equal(result->rows[0].score - result->rows[0].expected, 9000);
	assert_int_equal(result->rows[0].high, CHI_INSIGHT_POINT);
	assert_int_equal(result->rows[1].score, 5455);
	assert_int_equal(result->rows[1].expected, 5000);
	assert_key(&result->rows[2], AFTER_NF3_D5);
	assert_int_equal(result->rows[2].score, 909);
	assert_int_equal(result->rows[2].expected, 9000);
	close_made(insight);
}

/* The pair of a position has what it has, rights to castle included, and an en passant capture has
 * none. */
CASE(rights_are_turned_round)
{
	static const struct made_line castling[] = {
		{"r3k2r/8/8/8/8/P7/8/R3K2R w KQq - 0 1", "1. a4", 2, 0, 0, 0},
		{"r3k2r/8/p7/8/8/8/8/R3K2R w Qkq - 0 1", "1. O-O-O", 3, 0, 0, 0},
		{"r3k2r/8/p7/8/8/8/8/R3K2R w KQq - 0 1", "1. O-O-O", 3, 0, 0, 0},
		{"r3k2r/8/p7/8/8/8/8/R3K2R w KQkq - 0 1", "1. O-O-O", 3, 0, 0, 0},
	};
	static const struct made_line passant[] = {
		{"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "1. e6", 3, 0, 0, 0},
		{"4k3/8/8/8/3Pp3/8/8/4K3 w - - 0 1", "1. d5", 2, 0, 0, 0},
	};
	struct chi_insight *insight = ask_made(castling, CHI_COUNT(castling), 2);
	const struct chi_insight_result *result = chi_insight_rows(insight);
	assert_int_equal(result->n, 1);
	assert_key(&result->rows[0], castling[1].start);
	assert_int_equal(result->rows[0].game, 3);
	assert_int_equal(result->rows[0].ply, 0);
	close_made(insight);
	insight = ask_made(passant, CHI_COUNT(passant), 2);
	assert_int_equal(chi_insight_rows(insight)->n, 0);
	close_made(insight);
}

CASE(store_without_games_has_rows_without_one)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_TEMPO,
					      .min_games = 1};
	insight_world_counts(&world, "[White \"a\"]\n\n1. d4 Nf6 1-0\n\n"
				     "[White \"b\"]\n\n1. Nf3 d5 1/2-1/2\n\n");
	struct chi_insight *insight = insight_world_ask(&world, &spec, 1);
	const struct chi_insight_result *result = chi_insight_rows(insight);
	assert_int_equal(result->n, 1);
	assert_int_equal(result->games, 2);
	assert_int_equal(result->rows[0].game, 0);
	assert_int_equal(result->rows[0].score + CHI_INSIGHT_POINT - result->rows[0].expected,
			 3 * CHI_INSIGHT_POINT / 2);
	close_made(insight);
}

CASE(filter_is_refused)
{
	struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_TEMPO,
					.filter = "year 2000"};
	struct chi_insight *insight;
	insight_world_open(&world, "[White \"w\"]\n\n1. e4 e5 *\n\n");
	assert_int_equal(chi_insight_open(world.read, &spec, &insight, &fault), -CHI_EINVAL);
	insight_world_close(&world);
}

/* ---- All games ---------------------------------------------------------------------------- */

/* The pair by its FEN: ranks in the other order, other letters, White to move. False: it has none.
 */
static bool slow_pair(const struct chi_key *key, struct chi_key *out)
{
	char fen[CHI_FEN_SIZE];
	char board[CHI_FEN_SIZE];
	char side[4];
	char rights[12];
	char passant[4];
	char pair[2 * CHI_FEN_SIZE] = "";
	char text[sizeof(pair) + 16 + CHI_FEN_SIZE];
	ok(chi_key_to_fen(key, fen, &fault));
	assert_int_equal(sscanf(fen, "%s %s %s %s", board, side, rights, passant), 4);
	if (strcmp(side, "w") != 0 || strcmp(passant, "-") != 0) {
		return false;
	}
	for (int rank = 0; rank < 8; rank++) {
		char *last = strrchr(board, '/');
		strcat(pair, last != NULL ? last + 1 : board);
		strcat(pair, rank < 7 ? "/" : " ");
		*(last != NULL ? last : board) = '\0';
	}
	strcat(pair, rights);
	for (char *c = pair; *c != '\0'; c++) {
		*c = (char)(isupper((unsigned char)*c) ? tolower((unsigned char)*c)
						       : toupper((unsigned char)*c));
	}
	*strchr(pair, ' ') = '\0';
	snprintf(text, sizeof(text), "%s w %s - 0 1", pair, pair + strlen(pair) + 1);
	return chi_key_from_fen(text, strlen(text), out, NULL) == CHI_OK;
}

struct slow_score {
	unsigned games;
	double points;
	double squares;
};

static struct slow_score slow_score(const struct insight_place *places, size_t n)
{
	struct slow_score score = {0};
	for (size_t i = 0; i < n; i++) {
		unsigned result = world.heads[places[i].game].result;
		double points = result == CHI_RESULT_WHITE  ? 1
				: result == CHI_RESULT_DRAW ? 0.5
							    : 0;
		score.games += result != CHI_RESULT_OTHER;
		score.points += points;
		score.squares += points * points;
	}
	return score;
}

/* The place of a position's row; SIZE_MAX: it has none. */
static size_t find_row(const struct chi_insight_result *result, const struct chi_key *key)
{
	for (size_t i = 0; i < result->n; i++) {
		if (memcmp(result->rows[i].key.bytes, key->bytes, CHI_KEY_MAX) == 0) {
			return i;
		}
	}
	return SIZE_MAX;
}

static void assert_row(const struct chi_insight_row *row, const struct insight_place *places,
		       struct slow_score a, struct slow_score b)
{
	assert_int_equal(row->games, a.games);
	assert_int_equal(row->others, b.games);
	assert_int_equal(row->game, places[0].game);
	assert_int_equal(row->ply, places[0].ply);
	assert_int_equal(row->score, lround(a.points / a.games * 10000));
	assert_int_equal(row->expected, lround((b.games - b.points) / b.games * 10000));
	double m = (a.points + 1) / (a.games + 2);
	double n = (b.points + 1) / (b.games + 2);
	double half = 1.96 * sqrt(((a.squares + 1) / (a.games + 2) - m * m) / (a.games + 2) +
				  ((b.squares + 1) / (b.games + 2) - n * n) / (b.games + 2));
	double low = fmax(-1, m + n - 1 - half);
	double high = fmin(1, m + n - 1 + half);
	assert_true(fabs(row->low - low * 10000) < 1 && fabs(row->high - high * 10000) < 1);
}

/* Returns the rows. */
static size_t compare_all(uint64_t min_games, uint64_t steps)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_TEMPO,
					      .min_games = min_games};
	struct chi_insight *insight = insight_world_ask(&world, &spec, steps);
	const struct chi_insight_result *result = chi_insight_rows(insight);
	size_t n = 0;
	size_t len;
	size_t other_len;
	for (size_t i = 0; i < world.n_places; i += len) {
		const struct insight_place *places = &world.places[i];
		struct chi_key key;
		insight_world_find(&world, &places->key, &len);
		struct slow_score a = slow_score(places, len);
		if (a.games < min_games || !slow_pair(&places->key, &key) ||
		    memcmp(key.bytes, places->key.bytes, CHI_KEY_MAX) == 0) {
			assert_true(find_row(result, &places->key) == SIZE_MAX);
			continue;
		}
		const struct insight_place *others = insight_world_find(&world, &key, &other_len);
		struct slow_score b = slow_score(others, other_len);
		size_t at = find_row(result, &places->key);
		bool is_pair = b.games >= min_games;
		/* One of both has it: that of more games. */
		assert_int_equal(is_pair, (at != SIZE_MAX) + (find_row(result, &key) != SIZE_MAX));
		if (at != SIZE_MAX) {
			assert_true(a.games >= b.games);
			assert_row(&result->rows[at], places, a, b);
			n++;
		}
	}
	assert_int_equal(result->n, n);
	for (size_t i = 1; i < n; i++) {
		const struct chi_insight_row *row = &result->rows[i];
		assert_true(row[-1].low >= row->low);
	}
	chi_insight_close(insight);
	return n;
}

CASE(loops_over_random_games_find_the_same)
{
	size_t n = 0;
	for (unsigned round = 0; round < 20; round++) {
		char *text = insight_world_random(100 + help_below(400));
		insight_world_open(&world, text);
		free(text);
		for (unsigned i = 0; i < 3; i++) {
			n += compare_all(1 + help_below(4), 1 + help_below(3));
		}
		insight_world_close(&world);
	}
	print_message("# %zu pairs\n", n);
	assert_true(n > 200);
}

CASE(steps_and_limits_change_nothing_else)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	insight_world_open(&world, text);
	free(text);
	assert_true(compare_all(1, 1000) > 2);
	struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_TEMPO,
					.min_games = 1};
	struct chi_insight *once = insight_world_ask(&world, &spec, UINT64_MAX);
	struct chi_insight *often = insight_world_ask(&world, &spec, 1);
	insight_world_same(chi_insight_rows(once), chi_insight_rows(often));
	chi_insight_close(often);
	spec.limit = 2;
	often = insight_world_ask(&world, &spec, 7);
	struct chi_insight_result first = *chi_insight_rows(once);
	first.n = 2;
	insight_world_same(&first, chi_insight_rows(often));
	chi_insight_close(often);
	chi_insight_close(once);
	for (unsigned calls = 0; calls < 12; calls++) {
		ok(chi_insight_open(world.read, &spec, &often, &fault));
		for (unsigned i = 0; i < calls; i++) {
			assert_true(chi_insight_step(often, 1, &fault) >= 0);
		}
		chi_insight_close(often);
	}
	insight_world_close(&world);
}

CASES_MAIN(NULL, help_teardown)
