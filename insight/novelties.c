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
 * Cost: a walk of all positions by their counts, or of those that few games of the filter reached;
 * lists of games are read only of those with games enough, and eight bytes of each game are in
 * memory.
 */
#include "insight/games.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "search/filter/facts.h"
#include "store/games/archive.h"

#define STEPS_A_GAME 3 /* that is unpacked and played */
#define STEPS_A_LOSS 2 /* positions that are looked up */

#define DATE_DAYS ((UINT32_C(1) << INSIGHT_MONTH) - 1)
#define DATE_REST ((UINT32_C(1) << INSIGHT_YEAR) - 1)

struct novelties {
	struct chi_insight insight;
	struct insight_walk walk;
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
	if ((date & DATE_REST) >> INSIGHT_MONTH == 0) {
		return (date & ~DATE_REST) | 12 << INSIGHT_MONTH | 31;
	}
	return (date & DATE_DAYS) == 0 ? date | 31 : date;
}

/* The first, or a number between it and the day before. */
static uint32_t first_day(uint32_t date)
{
	return (date & DATE_REST) >> INSIGHT_MONTH == 0 ? date & ~DATE_REST : date;
}

/* Whether game `a` counts as played before game `b`; both have a year. */
static bool is_earlier(const struct insight_game *games, uint32_t a, uint32_t b)
{
	uint32_t day_a = last_day(games[a].date);
	uint32_t day_b = last_day(games[b].date);
	return day_a != day_b ? day_a < day_b : a < b;
}

/* ---- Lists of games ----------------------------------------------------------------------- */

typedef void take_game(const struct novelties *novelties, struct dated_list *list, uint32_t number);

static void take_first(const struct novelties *novelties, struct dated_list *list, uint32_t number)
{
	list->games++;
	if (list->first == 0 || is_earlier(novelties->walk.games, number, list->first)) {
		list->first = number;
	}
}

/* Games earlier than list->first. */
static void take_before(const struct novelties *novelties, struct dated_list *list, uint32_t number)
{
	const struct insight_game *games = novelties->walk.games;
	list->games += last_day(games[number].date) < first_day(games[list->first].date);
}

/* Results, and who followed list->first. */
static void take_result(const struct novelties *novelties, struct dated_list *list, uint32_t number)
{
	const struct insight_game *game = &novelties->walk.games[number];
	uint64_t until = last_day(novelties->walk.games[list->first].date) +
			 ((uint64_t)novelties->insight.spec.years << INSIGHT_YEAR);
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

struct dated_take {
	const struct novelties *novelties;
	struct dated_list *list;
	take_game *take;
};

static int take_dated_game(void *context, uint32_t number)
{
	const struct dated_take *taking = context;
	if (taking->novelties->walk.games[number].date != 0) {
		taking->take(taking->novelties, taking->list, number);
	}
	return CHI_OK;
}

/* Games of a position that have a year, each once. CHI_NONE: it is not stored, or has no list. */
static int read_dated_games(const struct novelties *novelties, const struct chi_key *key,
			    take_game *take, struct dated_list *list, uint64_t *steps)
{
	struct dated_take taking = {novelties, list, take};
	return insight_walk_games(&novelties->insight, key, take_dated_game, &taking, steps);
}

/* ---- Positions ---------------------------------------------------------------------------- */

/* How the game came to the position first. CHI_NONE: it began there. */
static int find_move(struct novelties *novelties, uint32_t number, const struct chi_key *key,
		     struct new_move *out)
{
	struct chi_game_moves moves;
	struct chi_replay replay;
	struct chi_key reached;
	int rc = chi_archive_moves(novelties->walk.reader, number, &moves);
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
	row->low = (int32_t)insight_score(mean - half, 1);
	row->high = (int32_t)insight_score(mean + half, 1);
}

/* What evaluations say of the move, if they do. */
static int set_loss(const struct chi_insight *insight, struct chi_insight_row *row,
		    const struct chi_key *key)
{
	struct chi_row before;
	struct chi_row after;
	int rc = chi_read_row(insight->read, &row->key, &before);
	rc = rc >= 0 ? chi_read_row(insight->read, key, &after) : rc;
	if (rc < 0) {
		return rc;
	}
	row->has_loss = chi_facts_loss(&before, &after, &row->loss);
	return CHI_OK;
}

/* The row of a new move, which led to `key`, of its side's points. */
static int add_novelty(struct chi_insight *insight, const struct new_move *move,
		       const struct chi_key *key, const struct dated_list *list, uint64_t before)
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
	int rc = set_loss(insight, &row, key);
	return rc == CHI_OK ? insight_add(insight, &row) : rc;
}

/* A position that has games enough by its counts. */
static int look_at(struct chi_insight *insight, const struct chi_row *at, uint64_t *steps)
{
	const struct chi_key *key = &at->key;
	struct novelties *novelties = (struct novelties *)insight;
	struct dated_list found = {0};
	struct new_move move;
	int rc = read_dated_games(novelties, key, take_first, &found, steps);
	if (rc != CHI_OK || found.games < insight->spec.min_games) {
		return rc == CHI_NONE ? CHI_OK : rc;
	}
	if (!chi_among_has(insight->among, found.first)) {
		return CHI_OK;
	}
	insight->result.tested++;
	insight_spend(steps, STEPS_A_GAME);
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
	insight_spend(steps, STEPS_A_LOSS);
	return rc == CHI_OK ? add_novelty(insight, &move, key, &all, before.games) : rc;
}

/* ---- The kind ----------------------------------------------------------------------------- */

static int step_novelties(struct chi_insight *insight, uint64_t *steps)
{
	struct novelties *novelties = (struct novelties *)insight;
	return insight_walk_step(&novelties->walk, insight, look_at, steps);
}

static void end_novelties(struct chi_insight *insight)
{
	insight_walk_end(&((struct novelties *)insight)->walk);
}

static size_t novelties_memory(const struct chi_insight *insight)
{
	return insight_walk_memory(&((const struct novelties *)insight)->walk, insight);
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
