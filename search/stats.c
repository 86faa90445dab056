/* SPDX-License-Identifier: MIT */
/*
 * Groups are numbered by what they are of, a small number, and counted in an array; only kinds of
 * material are too many for that, and have a hash table. What ratings let expect is fitted on all
 * games of the snapshot first.
 */
#include "search/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/pgn/speed.h"
#include "base/fault.h"
#include "chess/endgame/endgame.h"
#include "chess/material.h"
#include "chess/sieve.h"
#include "chistore/games.h"
#include "search/filter/matcher.h"
#include "search/filter/terms.h"
#include "store/names/names.h"
#include "store/ratings/expect.h"

#define POSITIONS_A_STEP 100
#define ROWS		 64
#define LENGTHS		 (UINT16_MAX / 2 + 2)
#define RATINGS		 (CHI_GAME_ELO_MAX / 100 + 1)

struct group {
	uint64_t key; /* of material, plus 1; 0: free */
	struct chi_counts counts;
	uint64_t positions;
	uint64_t rated;
	double points; /* in rated games, */
	double expected;
	double variance; /* of what is expected */
};

struct chi_stats {
	uint8_t by;
	uint64_t limit;
	struct chi_terms terms;
	struct chi_matcher *matcher; /* of games, */
	struct chi_scan *scan;	     /* or positions */
	struct chi_archive_view view;
	struct chi_expect expect;
	bool is_fitted;
	struct chi_unknown_names unknown;
	struct group *groups;
	size_t n_groups; /* room; of a hash table a power of two */
	size_t used;
	struct chi_stats_row *rows;
	size_t n_rows;
	int rc;
};

void chi_stats_detach(struct chi_stats *stats)
{
	chi_matcher_free(stats->matcher);
	chi_scan_free(stats->scan);
	stats->matcher = NULL;
	stats->scan = NULL;
}

void chi_stats_close(struct chi_stats *stats)
{
	if (stats != NULL) {
		chi_stats_detach(stats);
		free(stats->groups);
		free(stats->rows);
		free(stats);
	}
}

static void stats_closep(struct chi_stats **stats)
{
	chi_stats_close(*stats);
}

static bool of_positions(uint8_t by)
{
	return by >= CHI_STATS_PIECES;
}

/* ---- Opening ------------------------------------------------------------------------------ */

static int count_names(const struct chi_archive_view *view, enum chi_name_kind kind, size_t *out)
{
	uint32_t n = 0;
	int rc = chi_names_count(view->txn, view->trees.names, kind, &n);
	*out = (size_t)n + 1;
	return rc;
}

/* How many groups there may be. */
static int size_of(const struct chi_archive_view *view, uint8_t by, size_t *out)
{
	static const size_t sizes[CHI_STATS_KINDS] = {
		[CHI_STATS_YEAR] = 10000,
		[CHI_STATS_RATING] = RATINGS,
		[CHI_STATS_ECO] = CHI_ECO_CODES + 1,
		[CHI_STATS_OPENING] = 6,
		[CHI_STATS_LENGTH] = LENGTHS,
		[CHI_STATS_SPEED] = CHI_SPEEDS,
		[CHI_STATS_PIECES] = 33,
		[CHI_STATS_MATERIAL] = 1024,
		[CHI_STATS_ENDGAME] = CHI_ENDGAME_FAMILIES,
	};
	switch (by) {
	case CHI_STATS_EVENT:
		return count_names(view, CHI_NAME_EVENT, out);
	case CHI_STATS_SITE:
		return count_names(view, CHI_NAME_SITE, out);
	case CHI_STATS_SOURCE:
		return count_names(view, CHI_NAME_SOURCE, out);
	case CHI_STATS_PLAYER:
	case CHI_STATS_WHITE:
	case CHI_STATS_BLACK:
		return count_names(view, CHI_NAME_PLAYER, out);
	default:
		*out = sizes[by];
		return CHI_OK;
	}
}

static int open_source(struct chi_stats *stats, struct chi_read *read,
		       const struct chi_stats_spec *spec, struct chi_fault *fault)
{
	const struct chi_matcher_spec from = {.from = 1};
	const struct chi_scan_spec scan = {
		.chi2_max = CHI_CHI2_MAX, .order = CHI_ORDER_POSITION, .want = CHI_WANT_COUNTS};
	const char *filter = spec->filter != NULL ? spec->filter : "";
	int rc = chi_terms_parse(filter, strlen(filter), &stats->terms, fault);
	if (rc < 0) {
		return rc;
	}
	if (!of_positions(spec->by)) {
		rc = chi_matcher_new(read, &stats->terms, &from, &stats->matcher, fault);
		if (rc == CHI_OK) {
			chi_matcher_unknown(stats->matcher, &stats->unknown);
		}
		return rc;
	}
	if (stats->terms.n > 0) {
		return chi_fail(fault, -CHI_EINVAL,
				"stats: a filter of games is not possible for positions");
	}
	return chi_read_scan(read, &scan, &stats->scan, fault);
}

int chi_stats_open(struct chi_read *read, const struct chi_stats_spec *spec, struct chi_stats **out,
		   struct chi_fault *fault)
{
	if (spec->by >= CHI_STATS_KINDS) {
		return chi_fail(fault, -CHI_EINVAL, "stats: unknown kind %u", spec->by);
	}
	_cleanup_(stats_closep) struct chi_stats *stats = calloc(1, sizeof(*stats));
	if (stats == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	stats->by = spec->by;
	stats->limit = spec->limit;
	int rc = open_source(stats, read, spec, fault);
	rc = rc == CHI_OK ? chi_read_archive(read, &stats->view) : rc;
	rc = rc == CHI_OK ? size_of(&stats->view, spec->by, &stats->n_groups) : rc;
	if (rc == CHI_OK) {
		stats->groups = calloc(stats->n_groups, sizeof(*stats->groups));
		rc = stats->groups != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	if (rc < 0) {
		return rc;
	}
	*out = stats;
	stats = NULL;
	return CHI_OK;
}

size_t chi_stats_memory(const struct chi_stats *stats)
{
	return sizeof(*stats) + stats->n_groups * sizeof(*stats->groups) +
	       stats->n_rows * sizeof(*stats->rows) +
	       (stats->matcher != NULL ? chi_matcher_memory(stats->matcher) : 0) +
	       (stats->scan != NULL ? chi_scan_memory(stats->scan) : 0);
}

/* ---- Games -------------------------------------------------------------------------------- */

static void add_result(struct chi_counts *counts, uint32_t result)
{
	counts->white += result == CHI_RESULT_WHITE;
	counts->draws += result == CHI_RESULT_DRAW;
	counts->black += result == CHI_RESULT_BLACK;
	counts->other += result >= CHI_RESULT_OTHER;
}

/* The group that a game is in; by player it is in two, the first White's. */
static uint32_t value_of(uint8_t by, const struct chi_columns_chunk *chunk, uint32_t row)
{
#define AT(column) chi_column_value(chunk, CHI_COLUMN_##column, row)
	switch (by) {
	case CHI_STATS_YEAR:
		return AT(YEAR);
	case CHI_STATS_RATING:
		return AT(WHITE_ELO) != 0 && AT(BLACK_ELO) != 0
			       ? (AT(WHITE_ELO) + AT(BLACK_ELO)) / 200
			       : 0;
	case CHI_STATS_ECO:
		return AT(ECO);
	case CHI_STATS_OPENING:
		return (AT(ECO) + 99) / 100;
	case CHI_STATS_LENGTH:
		return (AT(PLIES) + 1) / 2;
	case CHI_STATS_SPEED:
		return AT(SPEED);
	case CHI_STATS_EVENT:
		return AT(EVENT);
	case CHI_STATS_SITE:
		return AT(SITE);
	case CHI_STATS_SOURCE:
		return AT(SOURCE);
	case CHI_STATS_BLACK:
		return AT(BLACK);
	default:
		return AT(WHITE);
	}
#undef AT
}

/* Of a game as one side sees it. */
struct side_game {
	uint32_t result;
	bool is_rated;
	double expected;
	double variance;
};

/* -CHI_ECORRUPT: a column has what there is not. */
static int count_stat_game(struct chi_stats *stats, uint32_t value, const struct side_game *game)
{
	if (value >= stats->n_groups) {
		return -CHI_ECORRUPT;
	}
	struct group *group = &stats->groups[value];
	add_result(&group->counts, game->result);
	if (game->is_rated) {
		group->rated++;
		group->points += chi_expect_points(game->result);
		group->expected += game->expected;
		group->variance += game->variance;
	}
	return CHI_OK;
}

/* As Black sees it. */
static void turn_side(struct side_game *game)
{
	game->result = game->result == CHI_RESULT_WHITE	  ? CHI_RESULT_BLACK
		       : game->result == CHI_RESULT_BLACK ? CHI_RESULT_WHITE
							  : game->result;
	game->expected = 1 - game->expected;
}

static int add_row(struct chi_stats *stats, const struct chi_columns_chunk *chunk, uint32_t row)
{
	uint32_t value = value_of(stats->by, chunk, row);
	struct side_game game = {.result = chi_column_value(chunk, CHI_COLUMN_RESULT, row)};
	game.is_rated =
		chi_expect_of(&stats->expect, chi_column_value(chunk, CHI_COLUMN_WHITE_ELO, row),
			      chi_column_value(chunk, CHI_COLUMN_BLACK_ELO, row), game.result,
			      &game.expected, &game.variance);
	if (stats->by == CHI_STATS_BLACK) {
		turn_side(&game);
	}
	int rc = count_stat_game(stats, value, &game);
	if (rc == CHI_OK && stats->by == CHI_STATS_PLAYER) {
		uint32_t black = chi_column_value(chunk, CHI_COLUMN_BLACK, row);
		turn_side(&game);
		rc = black != value ? count_stat_game(stats, black, &game) : CHI_OK;
	}
	return rc;
}

static int step_games(struct chi_stats *stats, uint64_t steps)
{
	struct chi_hits hits;
	int rc = CHI_OK;
	if (!stats->is_fitted) {
		rc = chi_expect_step(&stats->expect, stats->view.txn, stats->view.trees.columns,
				     &steps);
		stats->is_fitted = rc == CHI_NONE;
		rc = rc == CHI_NONE ? CHI_OK : rc;
		if (!stats->is_fitted) {
			return rc;
		}
	}
	while (rc == CHI_OK && steps > 0) {
		rc = chi_matcher_next(stats->matcher, &steps, &hits);
		const struct chi_columns_chunk *chunk = chi_matcher_chunk(stats->matcher);
		for (uint32_t w = 0; rc == CHI_OK && w < CHI_HIT_WORDS; w++) {
			for (uint64_t left = hits.words[w]; rc == CHI_OK && left != 0;
			     left &= left - 1) {
				rc = add_row(stats, chunk,
					     64 * w + (uint32_t)__builtin_ctzll(left));
			}
		}
	}
	return rc;
}

/* ---- Positions ---------------------------------------------------------------------------- */

/* Counters of five bits by colour and kind. */
static uint64_t material_of(const struct chi_key *key)
{
	static const uint8_t kinds[16] = {11, 2, 5,  1, 0, 4,  3, 3,
					  12, 8, 11, 7, 6, 10, 9, 9}; /* 12: passed, see below */
	uint64_t sum = 0;
	uint64_t passed = 0;
	bool black_moves = false;
	uint32_t n = chi_sieve_count(key->bytes, key->len);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t code = key->bytes[8 + i / 2] >> (i % 2 == 0 ? 4 : 0) & 15;
		black_moves |= code == 0;
		if (kinds[code] < 12) {
			sum += UINT64_C(1) << (5 * kinds[code]);
		} else {
			passed++;
		}
	}
	/* The pawn that may be taken is of the side that is not to move. */
	return sum + (passed << (black_moves ? 0 : 30));
}

/* Makes the table twice as large. */
static int grow_stats(struct chi_stats *stats)
{
	size_t n = 2 * stats->n_groups;
	struct group *groups = calloc(n, sizeof(*groups));
	if (groups == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < stats->n_groups; i++) {
		if (stats->groups[i].key != 0) {
			size_t at = stats->groups[i].key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
			for (at &= n - 1; groups[at].key != 0; at = (at + 1) & (n - 1)) {
			}
			groups[at] = stats->groups[i];
		}
	}
	free(stats->groups);
	stats->groups = groups;
	stats->n_groups = n;
	return CHI_OK;
}

static int find_material(struct chi_stats *stats, uint64_t key, struct group **out)
{
	if (2 * stats->used >= stats->n_groups) {
		int rc = grow_stats(stats);
		if (rc < 0) {
			return rc;
		}
	}
	size_t last = stats->n_groups - 1;
	size_t at = (key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & last;
	while (stats->groups[at].key != 0 && stats->groups[at].key != key) {
		at = (at + 1) & last;
	}
	stats->used += stats->groups[at].key == 0;
	stats->groups[at].key = key;
	*out = &stats->groups[at];
	return CHI_OK;
}

static int add_stat_position(struct chi_stats *stats, const struct chi_row *row)
{
	const struct chi_key *key = &row->key;
	struct group *group = NULL;
	if (stats->by == CHI_STATS_MATERIAL) {
		int rc = find_material(stats, material_of(key) + 1, &group);
		if (rc < 0) {
			return rc;
		}
	} else {
		uint32_t value = stats->by == CHI_STATS_PIECES
					 ? chi_sieve_count(key->bytes, key->len)
					 : chi_endgame_family_of(key->bytes);
		if (value >= stats->n_groups) {
			return -CHI_ECORRUPT;
		}
		group = &stats->groups[value];
	}
	group->positions++;
	group->counts.white += row->counts.white;
	group->counts.draws += row->counts.draws;
	group->counts.black += row->counts.black;
	group->counts.other += row->counts.other;
	return CHI_OK;
}

static int step_positions(struct chi_stats *stats, uint64_t steps)
{
	struct chi_row rows[ROWS];
	int rc = CHI_OK;
	for (; rc == CHI_OK && steps > 0; steps--) {
		size_t n = 0;
		rc = chi_scan_rows(stats->scan, rows, ROWS, POSITIONS_A_STEP, &n);
		for (size_t i = 0; rc >= 0 && i < n; i++) {
			int added = add_stat_position(stats, &rows[i]);
			rc = added < 0 ? added : rc;
		}
	}
	return rc;
}

/* ---- The answer --------------------------------------------------------------------------- */

static void print_material(uint64_t key, char out[40])
{
	struct chi_material material;
	for (int i = 0; i < 6; i++) {
		material.white[i] = (uint8_t)(key >> (5 * i) & 31);
		material.black[i] = (uint8_t)(key >> (30 + 5 * i) & 31);
	}
	(void)chi_material_print(&material, out);
}

static void print_text(uint8_t by, const struct group *group, struct chi_stats_row *row)
{
	uint32_t value = row->value;
	switch (by) {
	case CHI_STATS_ECO:
		if (value != 0) {
			snprintf(row->text, sizeof(row->text), "%c%02u",
				 (char)('A' + (value - 1) / 100), (value - 1) % 100);
		}
		break;
	case CHI_STATS_OPENING:
		row->text[0] = value != 0 ? (char)('A' + value - 1) : '\0';
		break;
	case CHI_STATS_SPEED:
		snprintf(row->text, sizeof(row->text), "%s",
			 value > 0 ? chi_speed_names[value] : "");
		break;
	case CHI_STATS_ENDGAME:
		snprintf(row->text, sizeof(row->text), "%s",
			 chi_endgame_family_name((uint8_t)value));
		break;
	case CHI_STATS_MATERIAL:
		print_material(group->key - 1, row->text);
		break;
	default:
		break;
	}
}

static uint64_t size_of_group(const struct chi_stats_row *row)
{
	const struct chi_counts *c = &row->counts;
	return row->positions != 0 ? row->positions : c->white + c->draws + c->black + c->other;
}

static int compare_value(const void *left, const void *right)
{
	const struct chi_stats_row *a = left;
	const struct chi_stats_row *b = right;
	return a->value != b->value ? (a->value > b->value ? 1 : -1) : strcmp(a->text, b->text);
}

static int compare_size(const void *left, const void *right)
{
	uint64_t a = size_of_group(left);
	uint64_t b = size_of_group(right);
	return a != b ? (a < b ? 1 : -1) : compare_value(left, right);
}

/* What ratings say of a group's rated games. */
static void rate(const struct group *group, struct chi_stats_row *row)
{
	double n = (double)group->rated;
	row->rated = group->rated;
	if (group->rated > 0) {
		double z = (group->points - group->expected) / sqrt(group->variance);
		double hundredths = round(100 * z);
		row->expected = (uint32_t)lround(CHI_STATS_POINT * group->expected / n);
		row->beyond = (int32_t)fmax(-CHI_STATS_BEYOND_MAX,
					    fmin(CHI_STATS_BEYOND_MAX, hundredths));
	}
}

static int finish_stats(struct chi_stats *stats)
{
	static const struct group empty;
	stats->rows = calloc(stats->n_groups, sizeof(*stats->rows));
	if (stats->rows == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < stats->n_groups; i++) {
		const struct group *group = &stats->groups[i];
		struct chi_stats_row *row = &stats->rows[stats->n_rows];
		if (memcmp(group, &empty, sizeof(empty)) == 0) {
			continue;
		}
		row->value = stats->by == CHI_STATS_MATERIAL ? 0
			     : stats->by == CHI_STATS_RATING ? (uint32_t)i * 100
							     : (uint32_t)i;
		row->counts = group->counts;
		row->positions = group->positions;
		rate(group, row);
		print_text(stats->by, group, row);
		stats->n_rows++;
	}
	/* All but material are in order of values already. */
	if (stats->limit != 0 || stats->by == CHI_STATS_MATERIAL) {
		qsort(stats->rows, stats->n_rows, sizeof(*stats->rows),
		      stats->limit != 0 ? compare_size : compare_value);
	}
	if (stats->limit != 0 && stats->n_rows > stats->limit) {
		stats->n_rows = (size_t)stats->limit;
	}
	return CHI_OK;
}

int chi_stats_step(struct chi_stats *stats, uint64_t steps)
{
	if (stats->rc == CHI_OK) {
		stats->rc = of_positions(stats->by) ? step_positions(stats, steps)
						    : step_games(stats, steps);
		if (stats->rc == CHI_NONE) {
			int rc = finish_stats(stats);
			stats->rc = rc < 0 ? rc : CHI_NONE;
		}
	}
	return stats->rc;
}

const struct chi_stats_row *chi_stats_rows(const struct chi_stats *stats, size_t *n)
{
	*n = stats->n_rows;
	return stats->rows;
}

/* The kind of names whose numbers groups have; 0: none. */
static int stat_kind_of(uint8_t by)
{
	switch (by) {
	case CHI_STATS_EVENT:
		return CHI_NAME_EVENT;
	case CHI_STATS_SITE:
		return CHI_NAME_SITE;
	case CHI_STATS_SOURCE:
		return CHI_NAME_SOURCE;
	case CHI_STATS_PLAYER:
	case CHI_STATS_WHITE:
	case CHI_STATS_BLACK:
		return CHI_NAME_PLAYER;
	default:
		return 0;
	}
}

int chi_stats_group_of(struct chi_read *read, uint8_t by, const struct chi_stats_row *row,
		       struct chi_arena *arena, struct chi_stats_group *out)
{
	struct chi_archive_view view;
	struct chi_name name = {.text = row->text, .len = strlen(row->text)};
	int rc = chi_read_archive(read, &view);
	if (rc == CHI_OK && stat_kind_of(by) != 0 && row->value != 0) {
		rc = chi_name_text(view.txn, view.trees.names, (enum chi_name_kind)stat_kind_of(by),
				   row->value, &name);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	*out = (struct chi_stats_group){
		.value = row->value,
		.text = chi_arena_text(arena, name.text, name.len),
		.counts = row->counts,
		.positions = row->positions,
		.rated = row->rated,
		.expected = row->expected,
		.beyond = row->beyond,
	};
	return out->text != NULL ? CHI_OK : -CHI_ENOMEM;
}

const char *chi_stats_unknown(const struct chi_stats *stats, size_t i)
{
	return i < stats->unknown.n ? stats->unknown.name[i] : NULL;
}
