/* SPDX-License-Identifier: MIT */
/* New moves: games made so that each rule decides one, and loops over all games. */
#include "tests/insight/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "tests/import/session.h"

static struct insight_world world;

/* ---- Games made by hand ------------------------------------------------------------------- */

struct made_game {
	const char *date;
	const char *moves;
	const char *result;
	unsigned white_elo;
	unsigned black_elo;
};

#define MADE_MOST 24

/* The known games: three in the position where 3. Bb5 will be new. */
#define KNOWN_GAMES                                                                                \
	{"1990.01.01", "1. e4 e5 2. Nf3 Nc6 3. Bc4", "1-0", 0, 0},                                 \
		{"1991.??.??", "1. e4 e5 2. Nf3 Nc6 3. Bc4", "0-1", 0, 0},                         \
	{                                                                                          \
		"1999.12.31", "1. e4 e5 2. Nf3 Nc6 3. Bc4", "1-0", 0, 0                            \
	}
#define NEW_LINE "1. e4 e5 2. Nf3 Nc6 3. Bb5"

static void open_made(const struct made_game *games)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	for (size_t i = 0; i < MADE_MOST && games[i].moves != NULL; i++) {
		fprintf(out, "[White \"w%zu\"]\n[Date \"%s\"]\n[Result \"%s\"]\n", i + 1,
			games[i].date, games[i].result);
		if (games[i].white_elo != 0) {
			fprintf(out, "[WhiteElo \"%u\"]\n[BlackElo \"%u\"]\n", games[i].white_elo,
				games[i].black_elo);
		}
		fprintf(out, "\n%s %s\n\n", games[i].moves, games[i].result);
	}
	fclose(out);
	insight_world_open(&world, text);
	free(text);
}

/* The only row, or a zeroed one if there is none. */
static struct chi_insight_row ask_one(const struct chi_insight_spec *spec)
{
	struct chi_insight *insight = insight_world_ask(&world, spec, 1 + help_below(100));
	const struct chi_insight_result *result = chi_insight_rows(insight);
	struct chi_insight_row row = {0};
	assert_in_range(result->n, 0, 1);
	if (result->n == 1) {
		row = result->rows[0];
	}
	chi_insight_close(insight);
	return row;
}

static struct chi_insight_row ask_made(const struct made_game *games, uint64_t min_games,
				       uint32_t known, uint32_t years, const char *filter)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT,  .kind = CHI_INSIGHT_NOVELTIES,
					      .min_games = min_games, .known = known,
					      .years = years,	      .filter = filter};
	open_made(games);
	struct chi_insight_row row = ask_one(&spec);
	insight_world_close(&world);
	return row;
}

/* The position before, the move and the side, as text. */
static void assert_move(const struct chi_insight_row *row, const char *fen, const char *uci)
{
	struct chi_key key = help_fen(fen);
	struct chi_position position;
	char text[CHI_UCI_SIZE];
	assert_memory_equal(row->key.bytes, key.bytes, CHI_KEY_MAX);
	ok(chi_key_decode(&row->key, &position, &fault));
	chi_uci_print(&position, row->move, text);
	assert_string_equal(text, uci);
}

static const struct made_game followed_games[MADE_MOST] = {
	KNOWN_GAMES,
	{"2001.05.01", NEW_LINE, "1-0", 0, 0},	   /* 4 */
	{"2000.05.01", NEW_LINE, "1/2-1/2", 0, 0}, /* 5: the first */
	{"2003.05.01", NEW_LINE, "1-0", 0, 0},
	{"2003.05.02", NEW_LINE, "0-1", 0, 0},
	{"2002.??.??", NEW_LINE, "*", 0, 0},
	{"????.??.??", NEW_LINE, "1-0", 0, 0},
	{"2005.01.01", NEW_LINE, "1-0", 0, 0},
};

CASE(first_game_by_date_has_the_new_move)
{
	struct chi_insight_row row = ask_made(followed_games, 6, 3, 3, NULL);
	assert_move(&row, "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
		    "f1b5");
	assert_int_equal(row.game, 5);
	assert_int_equal(row.ply, 4);
	assert_int_equal(row.games, 6);	   /* with a date */
	assert_int_equal(row.others, 3);   /* before */
	assert_int_equal(row.followed, 3); /* 2001, 2002 and the last day of three years */
	assert_int_equal(row.score, 7000); /* 3.5 of 5 */
	assert_int_equal(row.expected, CHI_INSIGHT_UNKNOWN);
	/* Of 9 games, two won and two lost ones added, 5.5 points. */
	double mean = 5.5 / 9;
	double half = 1.96 * sqrt(((5 + 0.25) / 9 - mean * mean) / 9);
	assert_int_equal(row.low, lround((mean - half) * CHI_INSIGHT_POINT));
	assert_int_equal(row.high, lround((mean + half) * CHI_INSIGHT_POINT));
}

CASE(years_bound_who_followed)
{
	static const unsigned followed[] = {0, 1, 1, 3, 4, 5};
	for (uint32_t years = 1; years < CHI_COUNT(followed); years++) {
		struct chi_insight_row row = ask_made(followed_games, 6, 3, years, NULL);
		assert_int_equal(row.followed, followed[years]);
	}
	assert_int_equal(ask_made(followed_games, 6, 3, UINT32_MAX, NULL).followed, 5);
}

CASE(too_few_games_are_no_row)
{
	assert_int_equal(ask_made(followed_games, 6, 3, 3, NULL).game, 5);
	assert_int_equal(ask_made(followed_games, 7, 3, 3, NULL).game, 0);
	assert_int_equal(ask_made(followed_games, 6, 4, 3, NULL).game, 0);
}

CASE(first_game_is_one_of_the_filter)
{
	assert_int_equal(ask_made(followed_games, 6, 3, 3, "year 2000").game, 5);
	assert_int_equal(ask_made(followed_games, 6, 3, 3, "year 2001").game, 0);
	assert_int_equal(ask_made(followed_games, 6, 3, 3, "player w5").followed, 3);
	assert_int_equal(ask_made(followed_games, 6, 3, 3, "not player w5").game, 0);
}

CASE(of_one_day_the_lower_number_is_the_first)
{
	struct made_game games[MADE_MOST] = {
		{"2000.05.01", NEW_LINE, "1-0", 0, 0},
		{"2000.05.01", NEW_LINE, "0-1", 0, 0},
		KNOWN_GAMES,
		{"2000.05.01", NEW_LINE, "0-1", 0, 0},
	};
	struct chi_insight_row row = ask_made(games, 3, 3, 3, NULL);
	assert_int_equal(row.game, 1);
	assert_int_equal(row.followed, 2);
	/* Known on the same day is not known before. */
	games[4].date = "2000.05.01";
	assert_int_equal(ask_made(games, 3, 3, 3, NULL).game, 0);
	assert_int_equal(ask_made(games, 3, 2, 3, NULL).others, 2);
	games[4].date = "2000.04.30";
	assert_int_equal(ask_made(games, 3, 3, 3, NULL).game, 1);
}

CASE(date_known_in_part_is_its_last_day)
{
	struct made_game games[MADE_MOST] = {
		KNOWN_GAMES,
		{"2000.??.??", NEW_LINE, "1-0", 0, 0},
		{"2000.11.30", NEW_LINE, "1-0", 0, 0},
		{"2000.11.??", NEW_LINE, "1-0", 0, 0},
	};
	assert_int_equal(ask_made(games, 3, 3, 3, NULL).game, 5);
	games[4].date = "2000.12.31"; /* no later than 4 */
	assert_int_equal(ask_made(games, 3, 3, 3, NULL).game, 6);
	games[5].date = "2000.12.??";
	assert_int_equal(ask_made(games, 3, 3, 3, NULL).game, 4);
	games[3].date = "????.11.30";
	games[6] = games[4];
	assert_int_equal(ask_made(games, 3, 3, 3, NULL).game, 5);
	/* The known ones are earlier if they are for sure. */
	games[2].date = "2000.??.??";
	games[3].date = "2000.??.??";
	assert_int_equal(ask_made(games, 4, 3, 3, NULL).game, 0);
	assert_int_equal(ask_made(games, 4, 2, 3, NULL).others, 2);
	games[4].date = "2001.??.??";
	games[3].date = "2001.01.??";
	games[5].date = "2001.02.01";
	games[6].date = "2001.03.01";
	assert_int_equal(ask_made(games, 4, 3, 3, NULL).game, 4);
	games[2].date = "2001.01.01"; /* the new move may be as old */
	assert_int_equal(ask_made(games, 4, 3, 3, NULL).game, 0);
	games[2].date = "2000.12.31";
	assert_int_equal(ask_made(games, 4, 3, 3, NULL).others, 3);
	/* And followers are in time if they are for sure. */
	games[4].date = "2002.??.??";
	games[5].date = "2002.01.??";
	assert_int_equal(ask_made(games, 4, 3, 1, NULL).followed, 2);
}

CASE(game_without_a_year_is_not_looked_at)
{
	struct made_game games[MADE_MOST] = {
		KNOWN_GAMES,
		{"????.??.??", NEW_LINE, "0-1", 0, 0},
		{"2000.05.01", NEW_LINE, "1-0", 0, 0},
		{"2001.05.01", NEW_LINE, "1-0", 0, 0},
	};
	struct chi_insight_row row = ask_made(games, 2, 3, 3, NULL);
	assert_int_equal(row.game, 5);
	assert_int_equal(row.games, 2);
	assert_int_equal(row.score, CHI_INSIGHT_POINT);
	assert_int_equal(ask_made(games, 3, 3, 3, NULL).game, 0);
	games[1].date = "????.??.??";
	assert_int_equal(ask_made(games, 2, 3, 3, NULL).game, 0);
	assert_int_equal(ask_made(games, 2, 2, 3, NULL).others, 2);
}

CASE(other_orders_of_moves_follow)
{
	struct made_game games[MADE_MOST] = {
		{"1990.01.01", "1. d4 d5 2. c4", "1-0", 0, 0},
		{"1991.01.01", "1. d4 d5 2. c4", "1-0", 0, 0},
		{"1980.01.01", "1. Nf3 d5 2. g3", "1-0", 0, 0},
		{"1980.01.02", "1. Nf3 d5 2. g3", "1-0", 0, 0},
		{"1980.01.02", "1. Nf3 d5 2. g3", "1-0", 0, 0},
		{"2001.01.01", "1. Nf3 d5 2. d4", "1-0", 0, 0},
		{"2000.01.01", "1. d4 d5 2. Nf3", "1-0", 0, 0}, /* 7 */
		{"2002.01.01", "1. Nf3 d5 2. d4", "1-0", 0, 0},
		{"2003.01.01", "1. Nf3 d5 2. d4", "1-0", 0, 0},
	};
	struct chi_insight_row row = ask_made(games, 4, 2, 3, NULL);
	assert_int_equal(row.game, 7);
	assert_int_equal(row.games, 4);
	assert_int_equal(row.followed, 3);
	assert_int_equal(row.others, 2);
	assert_move(&row, "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2", "g1f3");
	/* It was new only there, where the first game was, not where the others came from. */
	assert_int_equal(ask_made(games, 4, 3, 3, NULL).game, 0);
	games[6].date = "2004.01.01";
	row = ask_made(games, 4, 3, 3, NULL);
	assert_int_equal(row.game, 6);
	assert_move(&row, "rnbqkbnr/ppp1pppp/8/3p4/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 0 2", "d2d4");
}

CASE(score_is_that_of_who_played_it)
{
	struct made_game games[MADE_MOST] = {
		{"1990.01.01", "1. d4 d5", "1-0", 2700, 2500},
		{"1991.01.01", "1. d4 d5", "1-0", 2700, 2500},
		{"2000.01.01", "1. d4 f5", "0-1", 2500, 2400},
		{"2001.01.01", "1. d4 f5", "1-0", 0, 2400},
		{"2002.01.01", "1. d4 f5", "0-1", 2400, 2800},
		{"2002.01.01", "1. d4 f5", "1/2-1/2", 0, 0},
	};
	struct chi_insight_row row = ask_made(games, 4, 2, 3, NULL);
	assert_int_equal(row.score, 6250);
	double expected =
		(2 - 1 / (1 + pow(10, -135.0 / 400)) - 1 / (1 + pow(10, 365.0 / 400))) / 2;
	assert_in_range(row.expected, lround(expected * 10000) - 1, lround(expected * 10000) + 1);
	assert_true(row.low < 6250 && row.high > 6250);
	games[2].result = games[4].result = games[5].result = "1-0";
	row = ask_made(games, 4, 2, 3, NULL);
	assert_int_equal(row.score, 0);
	assert_int_equal(row.low, 0);
	assert_true(row.high > 0);
}

/* ---- Evaluations -------------------------------------------------------------------------- */

#define BEFORE_NEW "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
#define AFTER_NEW  "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"

/* As the side to move sees it. */
static void put_eval(const char *fen, const char *engine, unsigned depth, int score, bool is_mate)
{
	struct chi_eval eval = {.engine = engine,
				.engine_len = strlen(engine),
				.depth = depth,
				.is_mate = is_mate,
				.score = score};
	const struct chi_put_entry put = {.key = help_fen(fen),
					  .parts = CHI_PUT_EVALS,
					  .record = {.evals = &eval, .n_evals = 1}};
	insight_world_put(&world, &put);
}

CASE(loss_is_by_the_deepest_evaluations_of_both_positions)
{
	struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_NOVELTIES,
					.min_games = 6, .known = 3};
	open_made(followed_games);
	assert_false(ask_one(&spec).has_loss);
	put_eval(BEFORE_NEW, "a", 20, 35, false);
	assert_false(ask_one(&spec).has_loss);
	put_eval(AFTER_NEW, "a", 10, 15, false);
	struct chi_insight_row row = ask_one(&spec);
	assert_true(row.has_loss);
	assert_int_equal(row.loss, 50);
	/* Deeper ones count, and others if they are the chosen ones. */
	put_eval(AFTER_NEW, "b", 30, -60, false);
	assert_int_equal(ask_one(&spec).loss, -25);
	put_eval(BEFORE_NEW, "b", 19, 500, false);
	assert_int_equal(ask_one(&spec).loss, -25);
	spec.evidence.depth = (struct chi_range){true, 0, 19};
	row = ask_one(&spec);
	assert_int_equal(row.loss, 515);
	spec.evidence.depth.max = 9;
	assert_false(ask_one(&spec).has_loss);
	insight_world_close(&world);
}

CASE(loss_of_a_mate_is_beyond_all_others)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_NOVELTIES,
					      .min_games = 6, .known = 3};
	open_made(followed_games);
	put_eval(BEFORE_NEW, "a", 20, 3, true);
	put_eval(AFTER_NEW, "a", 20, 15, false);
	assert_int_equal(ask_one(&spec).loss, 1000015);
	put_eval(AFTER_NEW, "a", 21, 2, true);
	assert_int_equal(ask_one(&spec).loss, CHI_INSIGHT_LOSS_MAX);
	put_eval(AFTER_NEW, "a", 22, -2, true);
	assert_int_equal(ask_one(&spec).loss, 0);
	insight_world_close(&world);
}

/* ---- All games ---------------------------------------------------------------------------- */

/* The last day of a date as one number. */
static long slow_last(const struct chi_game_head *head)
{
	long month = head->month != 0 ? head->month : 12;
	long day = head->month != 0 && head->day != 0 ? head->day : 31;
	return head->year * 10000L + month * 100 + day;
}

/* And a number not above its first day, but above the day before. */
static double slow_first(const struct chi_game_head *head)
{
	long month = head->month != 0 ? head->month : 1;
	long day = head->month != 0 && head->day != 0 ? head->day : 1;
	return (double)(head->year * 10000L + month * 100 + day) - 0.5;
}

static double slow_points(const struct chi_game_head *head, bool black)
{
	double points = head->result == CHI_RESULT_WHITE  ? 1
			: head->result == CHI_RESULT_DRAW ? 0.5
							  : 0;
	return black ? 1 - points : points;
}

/* Scores of the games of a row. */
static void slow_score(const struct insight_place *places, size_t n, bool black,
		       struct chi_insight_row *row)
{
	double sum = 0;
	double expected = 0;
	double spread = 0;
	unsigned ended = 0;
	unsigned rated = 0;
	for (size_t i = 0; i < n; i++) {
		const struct chi_game_head *head = &world.heads[places[i].game];
		if (head->year == 0 || head->result == CHI_RESULT_OTHER) {
			continue;
		}
		ended++;
		sum += slow_points(head, black);
		if (head->white_elo != 0 && head->black_elo != 0) {
			double d = head->white_elo + 35.0 - head->black_elo;
			double e = 1 / (1 + pow(10, -d / 400));
			rated++;
			expected += black ? 1 - e : e;
		}
	}
	double mean = (sum + 2) / (ended + 4);
	for (size_t i = 0; i < n; i++) {
		const struct chi_game_head *head = &world.heads[places[i].game];
		if (head->year != 0 && head->result != CHI_RESULT_OTHER) {
			spread += pow(slow_points(head, black) - mean, 2);
		}
	}
	spread += 2 * mean * mean + 2 * (1 - mean) * (1 - mean);
	double half = 1.96 * sqrt(spread / (ended + 4) / (ended + 4));
	row->score = ended > 0 ? (uint32_t)lround(sum / ended * 10000) : 0;
	row->expected =
		rated > 0 ? (uint32_t)lround(expected / rated * 10000) : CHI_INSIGHT_UNKNOWN;
	row->low = (int32_t)lround(fmax(0, mean - half) * 10000);
	row->high = (int32_t)lround(fmin(1, mean + half) * 10000);
}

/* What is new of a position, all of whose games these are. False: nothing. */
static bool slow_row(const struct chi_insight_spec *spec, const struct insight_place *places,
		     size_t n, uint64_t *tested, struct chi_insight_row *row)
{
	const struct insight_place *first = NULL;
	*row = (struct chi_insight_row){0};
	for (size_t i = 0; i < n; i++) {
		const struct chi_game_head *head = &world.heads[places[i].game];
		row->games += head->year != 0;
		if (head->year != 0 &&
		    (first == NULL || slow_last(head) < slow_last(&world.heads[first->game]))) {
			first = &places[i];
		}
	}
	*tested += row->games >= spec->min_games;
	if (row->games < spec->min_games || first->ply == 0) {
		return false;
	}
	struct chi_game_head until = world.heads[first->game];
	row->game = first->game;
	row->ply = first->ply - 1;
	row->key = world.keys[first->game][row->ply];
	row->move = world.moves[first->game][row->ply];
	until.year = (uint16_t)(until.year + spec->years);
	for (size_t i = 0; i < n; i++) {
		const struct chi_game_head *head = &world.heads[places[i].game];
		row->followed += head->year != 0 && &places[i] != first &&
				 slow_last(head) <= slow_last(&until);
	}
	size_t n_before;
	const struct insight_place *before = insight_world_find(&world, &row->key, &n_before);
	for (size_t i = 0; i < n_before; i++) {
		const struct chi_game_head *head = &world.heads[before[i].game];
		row->others += head->year != 0 &&
			       (double)slow_last(head) < slow_first(&world.heads[first->game]);
	}
	struct chi_position position;
	ok(chi_key_decode(&row->key, &position, &fault));
	slow_score(places, n, position.side == CHI_BLACK, row);
	return row->others >= spec->known;
}

static int compare_rows(const void *a, const void *b)
{
	const struct chi_insight_row *x = a;
	const struct chi_insight_row *y = b;
	int64_t order = (int64_t)y->followed - (int64_t)x->followed;
	order = order != 0 ? order : (int64_t)y->games - (int64_t)x->games;
	order = order != 0 ? order : (int64_t)x->game - (int64_t)y->game;
	order = order != 0 ? order : (int64_t)x->ply - (int64_t)y->ply;
	return order < 0 ? -1 : order > 0;
}

/* Expectations are kept with fewer digits. */
static void assert_like(const struct chi_insight_row *x, const struct chi_insight_row *y)
{
	assert_memory_equal(x->key.bytes, y->key.bytes, CHI_KEY_MAX);
	assert_int_equal(x->move, y->move);
	assert_int_equal(x->game, y->game);
	assert_int_equal(x->ply, y->ply);
	assert_int_equal(x->games, y->games);
	assert_int_equal(x->others, y->others);
	assert_int_equal(x->followed, y->followed);
	assert_int_equal(x->score, y->score);
	assert_true(labs((long)x->expected - (long)y->expected) <= 1);
	assert_true(labs((long)x->low - (long)y->low) <= 1);
	assert_true(labs((long)x->high - (long)y->high) <= 1);
}

/* Returns the rows. */
static size_t compare_all(const struct chi_insight_spec *spec, uint64_t steps)
{
	struct chi_insight_row *rows = calloc(world.n_places, sizeof(rows[0]));
	struct chi_insight *insight = insight_world_ask(&world, spec, steps);
	const struct chi_insight_result *result = chi_insight_rows(insight);
	size_t n = 0;
	uint64_t tested = 0;
	uint64_t dated = 0;
	size_t len;
	for (size_t i = 0; i < world.n_places; i += len) {
		insight_world_find(&world, &world.places[i].key, &len);
		n += slow_row(spec, &world.places[i], len, &tested, &rows[n]);
	}
	for (uint32_t number = 1; number <= world.n; number++) {
		dated += world.heads[number].year != 0;
	}
	qsort(rows, n, sizeof(rows[0]), compare_rows);
	assert_int_equal(result->n, n);
	assert_int_equal(result->tested, tested);
	assert_int_equal(result->games, dated);
	for (size_t i = 0; i < n; i++) {
		assert_like(&result->rows[i], &rows[i]);
	}
	chi_insight_close(insight);
	free(rows);
	return n;
}

CASE(loops_over_random_games_find_the_same)
{
	size_t n = 0;
	for (unsigned round = 0; round < 20; round++) {
		char *text = insight_world_random(20 + help_below(300));
		insight_world_open(&world, text);
		if (round % 4 == 0) { /* without the first half, about */
			*strstr(text + strlen(text) / 2, "[White ") = '\0';
			insight_world_subtract(&world, text);
		}
		free(text);
		for (unsigned i = 0; i < 10; i++) {
			const struct chi_insight_spec spec = {
				CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_NOVELTIES,
				.min_games = 1 + help_below(6), .known = 1 + help_below(6),
				.years = 1 + help_below(5)};
			n += compare_all(&spec, 1 + help_below(3));
		}
		insight_world_close(&world);
	}
	print_message("# %zu new moves\n", n);
	assert_true(n > 500);
}

CASE(loops_over_the_file_of_games_find_the_same)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	insight_world_open(&world, text);
	free(text);
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_NOVELTIES,
					      .min_games = 2, .known = 1, .years = 10};
	assert_true(compare_all(&spec, 1000000) > 20);
	insight_world_close(&world);
}

/* Their positions alone are looked at, and have the rows that a walk over all of them finds. */
CASE(few_games_of_a_filter_have_the_same_rows)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	insight_world_open(&world, text);
	free(text);
	struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_NOVELTIES,
					.min_games = 1, .known = 1};
	struct chi_insight *all = insight_world_ask(&world, &spec, 1000000);
	const struct chi_insight_result *found = chi_insight_rows(all);
	struct chi_insight_row *rows = calloc(found->n, sizeof(rows[0]));
	size_t most = 0;
	for (unsigned round = 0; round < 40; round++) {
		unsigned from = 1 + help_below(world.n);
		unsigned to = from + (round % 2 == 0 ? 0 : help_below(60));
		char filter[64];
		struct chi_insight_result some = *found;
		some.rows = rows;
		some.n = 0;
		for (size_t i = 0; i < found->n; i++) {
			if (found->rows[i].game >= from && found->rows[i].game <= to) {
				rows[some.n++] = found->rows[i];
			}
		}
		(void)snprintf(filter, sizeof(filter), "number %u..%u", from, to);
		spec.filter = filter;
		struct chi_insight *few = insight_world_ask(&world, &spec, 1 + help_below(50));
		some.tested = chi_insight_rows(few)->tested;
		insight_world_same(&some, chi_insight_rows(few));
		most = some.n > most ? some.n : most;
		chi_insight_close(few);
	}
	assert_in_range(most, 30, found->n - 1);
	chi_insight_close(all);
	free(rows);
	insight_world_close(&world);
}

CASE(store_without_games_has_no_new_moves)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_NOVELTIES,
					      .min_games = 1, .known = 1};
	char *text = insight_world_random(100);
	insight_world_counts(&world, text);
	free(text);
	struct chi_insight *insight = insight_world_ask(&world, &spec, 1);
	assert_int_equal(chi_insight_rows(insight)->n, 0);
	assert_int_equal(chi_insight_rows(insight)->games, 0);
	chi_insight_close(insight);
	insight_world_close(&world);
}

CASE(steps_and_limits_change_nothing_else)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	insight_world_open(&world, text);
	free(text);
	struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_NOVELTIES,
					.min_games = 2, .known = 1};
	struct chi_insight *once = insight_world_ask(&world, &spec, UINT64_MAX);
	struct chi_insight *often = insight_world_ask(&world, &spec, 1);
	insight_world_same(chi_insight_rows(once), chi_insight_rows(often));
	chi_insight_close(often);
	spec.limit = 5;
	often = insight_world_ask(&world, &spec, 7);
	struct chi_insight_result first = *chi_insight_rows(once);
	first.n = 5;
	insight_world_same(&first, chi_insight_rows(often));
	chi_insight_close(often);
	chi_insight_close(once);
	/* Closed on the way. */
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
