/* SPDX-License-Identifier: MIT */
/*
 * Where the game came to a position that no earlier game of the store had, from one that was known.
 * Earlier is a game whose date, as far as it is known, is before the first day that this one can
 * have been played on; of a game without a year all others are earlier. So a game that is in the
 * store itself is not among them: it has the same date, or is left out by its number.
 */
#include "cli/work/review.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "chistore/games.h"

#define FILTER_SIZE 64
#define ALIKE_MAX   64 /* games that end in the same position, of as many plies */

/* ---- Dates -------------------------------------------------------------------------------- */

/* A part of "1999.12.31"; 0: it is not known. */
static unsigned date_part(const struct chi_pgn_game *game, size_t at, size_t len, unsigned max)
{
	const struct chi_pgn_span *date = &game->tags[CHI_PGN_DATE];
	uint64_t part = 0;
	bool is_there = date->text != NULL && date->len >= at + len;
	return is_there && chi_num_u64(date->text + at, len, max, &part) == CHI_OK ? (unsigned)part
										   : 0;
}

/* What the filters say of games before that date; empty: the game has no year. */
static void before_date(const struct chi_pgn_game *game, char out[FILTER_SIZE])
{
	unsigned year = date_part(game, 0, 4, 9999);
	unsigned month = year > 0 ? date_part(game, 5, 2, 12) : 0;
	unsigned day = month > 0 ? date_part(game, 8, 2, 31) : 0;
	out[0] = '\0';
	if (day > 1) {
		(void)snprintf(out, FILTER_SIZE, "until %04u-%02u-%02u", year, month, day - 1);
	} else if (month > 1) {
		(void)snprintf(out, FILTER_SIZE, "until %04u-%02u", year, month - 1);
	} else if (year > 1) {
		(void)snprintf(out, FILTER_SIZE, "until %04u", year - 1);
	} else if (year == 1) {
		(void)snprintf(out, FILTER_SIZE, "number 1 not number 1"); /* none */
	}
}

/* ---- The game itself ---------------------------------------------------------------------- */

static bool has_tag(const struct chi_game *game, const char *name, const struct chi_pgn_span *span)
{
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		if (tag->name_len == strlen(name) && memcmp(tag->name, name, tag->name_len) == 0) {
			return span->text != NULL && tag->value_len == span->len &&
			       memcmp(tag->value, span->text, span->len) == 0;
		}
	}
	return span->text == NULL;
}

static bool is_itself(const struct chi_pgn_game *game, const struct chi_game *other)
{
	return other->head.result == game->result && other->n_plies == game->n_plies &&
	       memcmp(other->moves, game->moves, game->n_plies * sizeof(*game->moves)) == 0 &&
	       has_tag(other, "White", &game->tags[CHI_PGN_WHITE]) &&
	       has_tag(other, "Black", &game->tags[CHI_PGN_BLACK]);
}

/* Games without a year that end as it does. */
static int find_alike(const struct review *review, uint32_t numbers[ALIKE_MAX], size_t *n)
{
	char filter[FILTER_SIZE];
	(void)snprintf(filter, sizeof(filter), "plies %zu", (size_t)review->game->n_plies);
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = filter,
					   .position = &review->keys[review->game->n_plies],
					   .skip_ply = true};
	_cleanup_(chi_rows_closep) struct chi_rows *rows = NULL;
	const struct chi_game_row *row = NULL;
	int status = chi_games_open(review->cli->client, &spec, &rows);
	while (status == CHI_OK && *n < ALIKE_MAX &&
	       (status = chi_games_next(rows, &row)) == CHI_OK) {
		if (row->head.year == 0 && row->head.plies == review->game->n_plies) {
			numbers[(*n)++] = row->head.number;
		}
	}
	return status < 0 ? status : CHI_OK;
}

/* Leaves out the game itself, of which no date says that it is not earlier. */
static int without_itself(const struct review *review, char out[FILTER_SIZE])
{
	uint32_t numbers[ALIKE_MAX];
	struct chi_game_row row;
	struct chi_game other;
	size_t n = 0;
	int status = find_alike(review, numbers, &n);
	for (size_t i = 0; i < n && status >= 0; i++) {
		status = chi_game_get(review->cli->client, numbers[i], &row, &other);
		if (status == CHI_OK && is_itself(review->game, &other)) {
			(void)snprintf(out, FILTER_SIZE, "not number %" PRIu32, numbers[i]);
			break;
		}
	}
	return status < 0 ? status : CHI_OK;
}

/* ---- The move ----------------------------------------------------------------------------- */

/* Games of the filter that came to the position: as many as there are, but not over `most`. */
static int count_earlier(const struct review *review, size_t i, const char *filter, uint64_t most,
			 uint64_t *n)
{
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = filter,
					   .position = &review->keys[i], .skip_ply = true,
					   .limit = most};
	_cleanup_(chi_rows_closep) struct chi_rows *rows = NULL;
	const struct chi_game_row *row = NULL;
	*n = 0;
	if (!review->rows[i].found) {
		return CHI_OK;
	}
	int status = chi_games_open(review->cli->client, &spec, &rows);
	while (status == CHI_OK && (status = chi_games_next(rows, &row)) == CHI_OK) {
		++*n;
	}
	return status < 0 ? status : CHI_OK;
}

/* What earlier games did in the position before the new move. */
static int take_new(struct review *review, size_t i, const char *filter)
{
	struct chi_explored found;
	int status = chi_explore(review->cli->client, &review->keys[i], filter, NULL, &found);
	if (status == CHI_OK) {
		const struct chi_counts *counts = &found.position.counts;
		const struct chi_explore_move *most = found.n_moves > 0 ? &found.moves[0] : NULL;
		review->is_new = true;
		review->new_at = i;
		review->n_before = counts->white + counts->draws + counts->black + counts->other;
		review->before = most == NULL ? (struct played){0}
					      : review_played(most->move, &most->played,
							      review->game->positions[i].side);
	}
	return status;
}

int review_find_new(struct review *review)
{
	char filter[FILTER_SIZE];
	uint64_t least = review->state->min_games;
	uint64_t before = 0;
	uint64_t after = 0;
	int status = CHI_OK;
	review->is_new = false;
	if (!review->has_games) {
		return CHI_OK;
	}
	before_date(review->game, filter);
	if (filter[0] == '\0') {
		status = without_itself(review, filter);
	}
	status = status == CHI_OK ? count_earlier(review, 0, filter, least, &before) : status;
	for (size_t i = 0; status == CHI_OK && i < review->game->n_plies; i++, before = after) {
		status = count_earlier(review, i + 1, filter, least, &after);
		if (status == CHI_OK && after == 0 && before >= least) {
			return take_new(review, i, filter);
		}
	}
	return status;
}
