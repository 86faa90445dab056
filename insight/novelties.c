/* SPDX-License-Identifier: MIT */
/*
 * Moves that were new. Of each position with games enough the first game by date is found, and in
 * that game the position before. If enough games had been there earlier, the move that led on was
 * new in it: all later games with the position after it follow, whatever their order of moves.
 *
 * Dates. A game without a year is not looked at. A date of which the day, or the month too, is not
 * known stands for the last day that it can mean: such a game is not taken to be the first, nor to
 * have followed in time, unless it must be. Of one day the lower number is the first. Earlier are
 * games whose last day is before the first that the new move can have been played on.
 *
 * Cost: a walk of all positions by their counts; lists of games are read only of those with games
 * enough, and eight bytes of each game are in memory.
 */
#include "insight/insight_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "store/games/archive.h"
#include "store/games/columns.h"

#define ROWS_A_STEP  256  /* of positions */
#define GAMES_A_STEP 8192 /* of lists */
#define STEPS_A_GAME 3	  /* that is unpacked and played */

/* What is asked of a game. */
struct dated_game {
	uint32_t date : 24; /* year << 9 | month << 5 | day, those not known 0; 0: no year is */
	uint32_t result : 8;
	float expected; /* White's points by ratings; less than 0: they are not known */
};

#define DATE_MASK  ((UINT32_C(1) << 24) - 1)
#define DATE_YEAR  9
#define DATE_MONTH 5
#define DATE_DAYS  ((UINT32_C(1) << DATE_MONTH) - 1)
#define DATE_REST  ((UINT32_C(1) << DATE_YEAR) - 1)

struct novelties {
	struct chi_insight insight;
	struct dated_game *games; /* [0..view.last]; NULL: not begun */
	uint32_t next;		  /* games below are loaded */
	bool is_loaded;
	struct chi_scan *scan;
	struct chi_archive_reader *reader;
	struct chi_row rows[ROWS_A_STEP]; /* that the walk delivered last */
	size_t n_rows;
	size_t row; /* the next one to be looked at */
	bool is_over;
};

/* What is found of a list of games, those with a year, each once. */
struct dated_list {
	uint64_t games;
	uint32_t first; /* number of the first by date; 0: none */
	uint64_t followed;
	/* Of games with a result, as White's points. */
	uint64_t ended;
	double points;
	double squares;
	uint64_t rated;
	double expected;
};

/* The position before the new one, and the move. */
struct new_move {
	struct chi_key before;
	chi_move move;
	uint8_t side;
	uint32_t ply;
};

/* ---- Dates -------------------------------------------------------------------------------- */

/* The last day that a date can mean. */
static uint32_t last_day(uint32_t date)
{
	if ((date & DATE_REST) >> DATE_MONTH == 0) {
		return (date & ~DATE_REST) | 12 << DATE_MONTH | 31;
	}
	return (date & DATE_DAYS) == 0 ? date | 31 : date;
}

/* The first, or a number between it and the day before. */
static uint32_t first_day(uint32_t date)
{
	return (date & DATE_REST) >> DATE_MONTH == 0 ? date & ~DATE_REST : date;
}

/* Whether game `a` counts as played before game `b`; both have a year. */
static bool is_earlier(const struct dated_game *games, uint32_t a, uint32_t b)
{
	uint32_t day_a = last_day(games[a].date);
	uint32_t day_b = last_day(games[b].date);
	return day_a != day_b ? day_a < day_b : a < b;
}

static void load_chunk(struct novelties *novelties, const struct chi_columns_chunk *chunk)
{
	struct chi_insight *insight = &novelties->insight;
	for (uint32_t row = 0; row < chunk->n && chunk->first + row <= insight->view.last; row++) {
		struct dated_game *game = &novelties->games[chunk->first + row];
		uint32_t result = chi_column_value(chunk, CHI_COLUMN_RESULT, row);
		uint32_t year = chi_column_value(chunk, CHI_COLUMN_YEAR, row);
		double expected;
		double variance;
		if (result == CHI_ROW_REMOVED || year == 0) {
			continue;
		}
		bool is_rated = chi_expect_of(&insight->expect,
					      chi_column_value(chunk, CHI_COLUMN_WHITE_ELO, row),
					      chi_column_value(chunk, CHI_COLUMN_BLACK_ELO, row),
					      result, &expected, &variance);
		uint32_t date = year << DATE_YEAR |
				chi_column_value(chunk, CHI_COLUMN_MONTH, row) << DATE_MONTH |
				chi_column_value(chunk, CHI_COLUMN_DAY, row);
		game->date = date & DATE_MASK;
		game->result = (uint8_t)result;
		game->expected = is_rated ? (float)expected : -1.0F;
		insight->result.games++;
	}
	novelties->next = chunk->first + chunk->n;
}

/* CHI_OK: call again; CHI_NONE: all games are loaded. */
static int load_games(struct novelties *novelties, uint64_t *steps)
{
	const struct chi_archive_view *view = &novelties->insight.view;
	struct chi_columns_reader reader;
	int rc = chi_columns_reader_init(&reader, view->txn, view->trees.columns);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_columns_seek(&reader, novelties->next);
	for (; rc == CHI_OK && *steps > 0; --*steps) {
		load_chunk(novelties, &reader.chunk);
		rc = chi_columns_next(&reader);
	}
	chi_columns_reader_deinit(&reader);
	return rc;
}

/* ---- Lists of games ----------------------------------------------------------------------- */

typedef void take_game(const struct novelties *novelties, struct dated_list *list, uint32_t number);

static void take_first(const struct novelties *novelties, struct dated_list *list, uint32_t number)
{
	list->games++;
	if (list->first == 0 || is_earlier(novelties->games, number, list->first)) {
		list->first = number;
	}
}

/* Games earlier than list->first. */
static void take_before(const struct novelties *novelties, struct dated_list *list, uint32_t number)
{
	const struct dated_game *games = novelties->games;
	list->games += last_day(games[number].date) < first_day(games[list->first].date);
}

/* Results, and who followed list->first. */
static void take_result(const struct novelties *novelties, struct dated_list *list, uint32_t number)
{
	const struct dated_game *game = &novelties->games[number];
	uint64_t until = last_day(novelties->games[list->first].date) +
			 ((uint64_t)novelties->insight.spec.years << DATE_YEAR);
	list->games++;
	list->followed += number != list->first && last_day(game->date) <= until;
	if (game->result < CHI_RESULT_OTHER) {
		double points = chi_expect_points(game->result);
		list->ended++;
		list->points += points;
		list->squares += points * points;
	}
	if (game->expected >= 0) {
		list->rated++;
		list->expected += (double)game->expected;
	}
}

static void spend_steps(uint64_t *steps, uint64_t n)
{
	*steps -= *steps < n ? *steps : n;
}

/* Games of a position that have a year, each once. CHI_NONE: it is not stored, or has no list. */
static int read_dated_games(const struct novelties *novelties, const struct chi_key *key,
			    take_game *take, struct dated_list *list, uint64_t *steps)
{
	struct chi_reached *reached;
	const struct chi_posting *entries;
	size_t n;
	uint32_t last = 0;
	int rc = chi_reached_open(novelties->insight.read, key, 0, &reached);
	if (rc != CHI_OK) {
		return rc;
	}
	spend_steps(steps, 1 + chi_reached_entries(reached) / GAMES_A_STEP);
	while ((rc = chi_reached_next(reached, &entries, &n)) == CHI_OK) {
		for (size_t i = 0; i < n; i++) {
			uint32_t number = entries[i].game;
			if (number > novelties->insight.view.last) {
				chi_reached_close(reached);
				return -CHI_ECORRUPT;
			}
			if (number != last && novelties->games[number].date != 0) {
				take(novelties, list, number);
			}
			last = number;
		}
	}
	chi_reached_close(reached);
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* ---- Positions ---------------------------------------------------------------------------- */

/* How the game came to the position first. CHI_NONE: it began there. */
static int find_move(struct novelties *novelties, uint32_t number, const struct chi_key *key,
		     struct new_move *out)
{
	struct chi_game_moves moves;
	struct chi_replay replay;
	struct chi_key reached;
	int rc = chi_archive_moves(novelties->reader, number, &moves);
	if (rc != CHI_OK) { /* its number is in a list */
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	*out = (struct new_move){0};
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	chi_key_encode(chi_replay_position(&replay), &reached);
	if (memcmp(reached.bytes, key->bytes, CHI_KEY_MAX) == 0) {
		return CHI_NONE;
	}
	for (;; out->ply++) {
		out->before = reached;
		out->side = chi_replay_position(&replay)->side;
		rc = chi_replay_next(&replay, &out->move);
		if (rc != CHI_OK) {
			return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
		}
		chi_key_encode(chi_replay_position(&replay), &reached);
		if (memcmp(reached.bytes, key->bytes, CHI_KEY_MAX) == 0) {
			return CHI_OK;
		}
	}
}

/*
 * 95 % of intervals made so have the mean in them: the normal one, with the variance of the games,
 * after two won and two lost ones are added, so that it is not too short where there are few games
 * or all ended alike (A. Agresti and B. Coull, "Approximate is better than 'exact' for interval
 * estimation of binomial proportions", The American Statistician 52, 1998; there without draws).
 */
static void set_interval(struct chi_insight_row *row, const struct dated_list *list, double points)
{
	double n = (double)list->ended + 4;
	double mean = (points + 2) / n;
	/* The variance is the same seen from either side. */
	double white = (list->points + 2) / n;
	double half = 1.96 * sqrt(((list->squares + 2) / n - white * white) / n);
	row->low = insight_score(mean - half, 1);
	row->high = insight_score(mean + half, 1);
}

/* The row of a new move, of its side's points. */
static int add_novelty(struct chi_insight *insight, const struct new_move *move,
		       const struct dated_list *list, uint64_t before)
{
	bool white = move->side == CHI_WHITE;
	double points = white ? list->points : (double)list->ended - list->points;
	double expected = white ? list->expected : (double)list->rated - list->expected;
	struct chi_insight_row row = {.key = move->before,
				      .move = move->move,
				      .game = list->first,
				      .ply = move->ply,
				      .games = list->games,
				      .others = before,
				      .followed = list->followed,
				      .score = insight_score(points, (double)list->ended),
				      .expected = CHI_INSIGHT_UNKNOWN};
	if (list->rated > 0) {
		row.expected = insight_score(expected, (double)list->rated);
	}
	set_interval(&row, list, points);
	return insight_add(insight, &row);
}

/* A position that has games enough by its counts. */
static int look_at(struct novelties *novelties, const struct chi_key *key, uint64_t *steps)
{
	struct chi_insight *insight = &novelties->insight;
	struct dated_list found = {0};
	struct new_move move;
	int rc = read_dated_games(novelties, key, take_first, &found, steps);
	if (rc != CHI_OK || found.games < insight->spec.min_games) {
		return rc == CHI_NONE ? CHI_OK : rc;
	}
	insight->result.tested++;
	if (!chi_among_has(insight->among, found.first)) {
		return CHI_OK;
	}
	spend_steps(steps, STEPS_A_GAME);
	rc = find_move(novelties, found.first, key, &move);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? CHI_OK : rc;
	}
	struct dated_list before = {.first = found.first};
	rc = read_dated_games(novelties, &move.before, take_before, &before, steps);
	if (rc < 0 || before.games < insight->spec.known) {
		return rc < 0 ? rc : CHI_OK;
	}
	struct dated_list all = {.first = found.first};
	rc = read_dated_games(novelties, key, take_result, &all, steps);
	return rc == CHI_OK ? add_novelty(insight, &move, &all, before.games) : rc;
}

/* The next positions of the walk. CHI_NONE: there are none. */
static int walk_on(struct novelties *novelties, uint64_t *steps)
{
	if (novelties->is_over) {
		return CHI_NONE;
	}
	int rc = chi_scan_rows(novelties->scan, novelties->rows, ROWS_A_STEP, ROWS_A_STEP,
			       &novelties->n_rows);
	novelties->row = 0;
	novelties->is_over = rc == CHI_NONE;
	spend_steps(steps, 1);
	return rc < 0 ? rc : CHI_OK;
}

/* CHI_OK: there are more. */
static int look_at_next(struct novelties *novelties, uint64_t *steps)
{
	if (novelties->row == novelties->n_rows) {
		return walk_on(novelties, steps);
	}
	const struct chi_row *row = &novelties->rows[novelties->row++];
	const struct chi_counts *counts = &row->counts;
	bool enough = counts->white + counts->draws + counts->black + counts->other >=
		      novelties->insight.spec.min_games;
	return enough ? look_at(novelties, &row->key, steps) : CHI_OK;
}

/* ---- The kind ----------------------------------------------------------------------------- */

static int begin_novelties(struct novelties *novelties)
{
	static const struct chi_scan_spec all = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
						 .order = CHI_ORDER_POSITION,
						 .want = CHI_WANT_COUNTS};
	const struct chi_archive_view *view = &novelties->insight.view;
	novelties->games = calloc((size_t)view->last + 1, sizeof(novelties->games[0]));
	if (novelties->games == NULL) {
		return -CHI_ENOMEM;
	}
	int rc = chi_archive_reader_new(&novelties->reader);
	rc = rc == CHI_OK ? chi_archive_reader_begin(novelties->reader, view->txn, &view->trees)
			  : rc;
	return rc == CHI_OK ? chi_read_scan(novelties->insight.read, &all, &novelties->scan, NULL)
			    : rc;
}

static int step_novelties(struct chi_insight *insight, uint64_t *steps)
{
	struct novelties *novelties = (struct novelties *)insight;
	int rc = novelties->games == NULL ? begin_novelties(novelties) : CHI_OK;
	if (rc == CHI_OK && !novelties->is_loaded) {
		rc = load_games(novelties, steps);
		novelties->is_loaded = rc == CHI_NONE;
		rc = rc == CHI_NONE ? CHI_OK : rc;
	}
	while (rc == CHI_OK && *steps > 0) {
		rc = look_at_next(novelties, steps);
	}
	return rc;
}

static void end_novelties(struct chi_insight *insight)
{
	struct novelties *novelties = (struct novelties *)insight;
	chi_scan_free(novelties->scan);
	novelties->scan = NULL;
	if (novelties->reader != NULL) {
		chi_archive_reader_end(novelties->reader);
		chi_archive_reader_free(novelties->reader);
		novelties->reader = NULL;
	}
	free(novelties->games);
	novelties->games = NULL;
}

static size_t novelties_memory(const struct chi_insight *insight)
{
	const struct novelties *novelties = (const struct novelties *)insight;
	return ((size_t)insight->view.last + 1) * sizeof(novelties->games[0]) +
	       CHI_ARCHIVE_READER_BYTES +
	       (novelties->scan != NULL ? chi_scan_memory(novelties->scan) : 0);
}

/* The most followed first. */
static int compare_novelties(const void *a, const void *b)
{
	const struct chi_insight_row *x = a;
	const struct chi_insight_row *y = b;
	if (x->followed != y->followed) {
		return x->followed > y->followed ? -1 : 1;
	}
	if (x->games != y->games) {
		return x->games > y->games ? -1 : 1;
	}
	if (x->game != y->game) {
		return x->game < y->game ? -1 : 1;
	}
	return x->ply < y->ply ? -1 : x->ply > y->ply;
}

const struct insight_kind insight_novelties = {
	.size = sizeof(struct novelties),
	.step = step_novelties,
	.end = end_novelties,
	.memory = novelties_memory,
	.compare = compare_novelties,
};
