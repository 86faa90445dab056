/* SPDX-License-Identifier: MIT */
/* The games that fit a filter: the same as a loop over all games finds, whatever the order, the
 * pages and the budget of steps. */
#include "tests/search/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "search/filter/motif.h"
#include "search/games.h"
#include "tests/base/seed.h"

#define GAMES 3000

static struct search_world world;
static struct chi_terms terms;

/* What a loop finds: numbers in the order wanted. */
static uint32_t wanted[2 * GAMES];
static size_t n_wanted;
static const struct chi_games_spec *order;

static uint64_t value_of(uint32_t number)
{
	const struct chi_game_head *h = &world.games[number].head;
	switch (order->sort) {
	case CHI_GAMES_DATE:
		return h->year * 10000u + h->month * 100u + h->day;
	case CHI_GAMES_RATING:
		return h->white_elo != 0 && h->black_elo != 0 ? h->white_elo + h->black_elo : 0;
	default:
		return 0;
	}
}

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left;
	uint32_t b = *(const uint32_t *)right;
	uint64_t value_a = value_of(a);
	uint64_t value_b = value_of(b);
	int up = value_a != value_b ? (value_a > value_b ? 1 : -1) : a > b ? 1 : -(a < b);
	return order->descending ? -up : up;
}

static void search(const char *filter, const struct chi_games_spec *spec)
{
	order = spec;
	n_wanted = 0;
	if (chi_terms_parse(filter, strlen(filter), &terms, &fault) != CHI_OK) {
		fail_msg("%s: %s", filter, fault.text);
	}
	for (uint32_t number = 1; number <= world.n; number++) {
		if (world_fits(&world.games[number], &terms)) {
			wanted[n_wanted++] = number;
		}
	}
	qsort(wanted, n_wanted, sizeof(wanted[0]), compare);
}

/* Where the game reached the position of the first term that asks for one. */
static void check_ply(const struct chi_games_row *row, bool want)
{
	const struct world_game *game = &world.games[row->head.number];
	int32_t ply = -1;
	chi_move move = 0;
	for (size_t i = 0; want && i < terms.n; i++) {
		const struct chi_term *term = &terms.term[i];
		bool is_motif = term->kind == CHI_TERM_MOTIF;
		if ((term->kind != CHI_TERM_POSITION && term->kind != CHI_TERM_MOVES &&
		     !is_motif) ||
		    term->negated) {
			continue;
		}
		/* Of a filter with "or", the game may have come without it. */
		if (is_motif && !world_motif(game, &terms, term, &ply)) {
			ply = -1;
			break;
		}
		for (ply = is_motif ? ply : 0; !is_motif && ply <= (int32_t)game->plies; ply++) {
			if (memcmp(&game->keys[ply], &term->key, sizeof(term->key)) == 0) {
				break;
			}
		}
		if (ply > (int32_t)game->plies) {
			ply = -1;
			break;
		}
		move = (size_t)ply < game->plies ? game->moves[ply] : 0;
		break;
	}
	assert_int_equal(row->ply, ply);
	assert_int_equal(row->move, move);
}

/* Without a ply, it is any of the moves that the game played there. */
static void check_move(const struct chi_games_row *row)
{
	const struct world_game *game = &world.games[row->head.number];
	bool asked = false;
	bool played = false;
	for (size_t i = 0; !asked && i < terms.n; i++) {
		const struct chi_term *term = &terms.term[i];
		if (term->kind == CHI_TERM_MOTIF && !term->negated) {
			break;
		}
		if ((term->kind != CHI_TERM_POSITION && term->kind != CHI_TERM_MOVES) ||
		    term->negated) {
			continue;
		}
		asked = true;
		for (size_t ply = 0; ply <= game->plies; ply++) {
			chi_move move = ply < game->plies ? game->moves[ply] : 0;
			played |= memcmp(&game->keys[ply], &term->key, sizeof(term->key)) == 0 &&
				  move == row->move;
		}
	}
	assert_int_equal(row->ply, -1);
	assert_true(asked ? played || (!terms.joined && row->move == 0) : row->move == 0);
}

/* Briefs may have more than is asked for. */
static void check_head(const struct chi_game_head *head, const struct chi_game_head *stored,
		       bool brief)
{
	if (!brief) {
		assert_memory_equal(head, stored, sizeof(*head));
	}
	assert_int_equal(head->number, stored->number);
	assert_int_equal(head->result, stored->result);
	assert_int_equal(head->year, stored->year);
	assert_int_equal(head->month, stored->month);
	assert_int_equal(head->day, stored->day);
	assert_int_equal(head->white_elo, stored->white_elo);
	assert_int_equal(head->black_elo, stored->black_elo);
}

/* As a daemon does whose snapshots grow old; the last row says where to go on. */
static void let_go(struct chi_game_walk *games, const struct chi_games_spec *spec,
		   const struct chi_game_head *last, char *cursor)
{
	if (last != NULL) {
		cursor[chi_game_walk_cursor_of(last, spec->sort, spec->descending, cursor)] = '\0';
	}
	if (help_below(16) == 0 && chi_game_walk_may_detach(games)) {
		assert_true(chi_game_walk_memory(games) > 0);
		chi_game_walk_detach(games);
		ok(chi_game_walk_attach(games, world.read, &fault));
	}
}

/* One page from *at on; goes on to the next. Returns whether there is one. */
static bool check_page(const char *filter, struct chi_games_spec *spec, char *cursor, size_t *at)
{
	struct chi_game_walk *games;
	struct chi_games_row rows[7];
	char next[CHI_GAMES_CURSOR_SIZE];
	uint64_t total = 0;
	uint64_t got = 0;
	(void)snprintf(next, sizeof(next), "%s", cursor);
	int rc = CHI_OK;
	spec->filter = filter;
	spec->filter_len = strlen(filter);
	spec->cursor = cursor;
	spec->cursor_len = strlen(cursor);
	ok(chi_game_walk_open(world.read, spec, &games, &fault));
	while (rc == CHI_OK) {
		size_t n = 0;
		rc = chi_game_walk_next(games, rows, 1 + help_below(CHI_COUNT(rows)), help_below(4),
					&n);
		if (rc < 0) {
			fail_msg("%s: %d", filter, rc);
		}
		for (size_t i = 0; i < n; i++, got++) {
			if (*at >= n_wanted || rows[i].head.number != wanted[*at]) {
				fail_msg("%s: game %u", filter, rows[i].head.number);
			}
			const struct chi_game_head *head = &world.games[wanted[(*at)++]].head;
			check_head(&rows[i].head, head, spec->brief);
			if (spec->want_move && !spec->want_ply) {
				check_move(&rows[i]);
			} else {
				check_ply(&rows[i], spec->want_ply);
			}
		}
		let_go(games, spec, n > 0 ? &rows[n - 1].head : NULL, next);
	}
	assert_true(spec->limit == 0 || got <= spec->limit);
	if (spec->want_total) {
		assert_true(chi_game_walk_total(games, &total));
		assert_int_equal(total, n_wanted);
	}
	bool more = spec->limit != 0 && got == spec->limit;
	assert_true(more || *at == n_wanted);
	chi_game_walk_close(games);
	(void)snprintf(cursor, CHI_GAMES_CURSOR_SIZE, "%s", next);
	return more;
}

static void check_filter(const char *filter, struct chi_games_spec spec)
{
	char cursor[CHI_GAMES_CURSOR_SIZE] = "";
	size_t at = 0;
	search(filter, &spec);
	for (unsigned pages = 0; check_page(filter, &spec, cursor, &at) && pages < 5; pages++) {
	}
}

CASE(test_random)
{
	char filter[2048];
	size_t found = 0;
	const size_t rounds = seed_rounds(1500);
	for (size_t round = rounds; round > 0; round--) {
		struct chi_games_spec spec = {
			.sort = (uint8_t)help_below(3),
			.descending = help_below(2),
			.limit = 1 + help_below(help_below(2) ? 20 : 4000),
			.want_total = help_below(2),
			.want_ply = help_below(2),
			.want_move = help_below(2),
			.brief = help_below(2),
		};
		if (spec.sort == CHI_GAMES_NUMBER && !spec.descending && help_below(2)) {
			spec.limit = 0;
		}
		world_filter(&world, filter, sizeof(filter));
		check_filter(filter, spec);
		found += n_wanted > 0;
	}
	assert_true(found > rounds / 5);
}

/* Games of a position, of which the first chunks make the others known. */
CASE(test_brief_lists)
{
	size_t found = 0;
	for (size_t round = seed_rounds(400); round > 0; round--) {
		const struct world_game *game = &world.games[1 + help_below(world.n)];
		const struct chi_games_spec spec = {.brief = true,
						    .limit = help_below(3) ? 0 : 1 + help_below(30),
						    .want_total = help_below(2),
						    .want_move = help_below(2)};
		char fen[CHI_FEN_SIZE];
		char filter[CHI_FEN_SIZE + 16];
		if (game->there && game->plies >= 3) {
			ok(chi_key_to_fen(&game->keys[help_below(4)], fen, &fault));
			(void)snprintf(filter, sizeof(filter), "position \"%s\"", fen);
			check_filter(filter, spec);
			found += n_wanted;
		}
	}
	assert_true(found > 1000);
}

/* Only what is known of a game is in its row, so that no chunk was asked for it. */
CASE(test_brief_rows_are_from_memory)
{
	const char *filter = "position \"" CHI_FEN_START "\"";
	const struct chi_games_spec spec = {
		.filter = filter, .filter_len = strlen(filter), .brief = true, .want_move = true};
	struct chi_game_walk *games;
	struct chi_games_row row;
	size_t known = 0;
	for (unsigned round = 0; round < 2; round++) {
		int rc = CHI_OK;
		known = 0;
		ok(chi_game_walk_open(world.read, &spec, &games, &fault));
		while (rc == CHI_OK) {
			size_t n = 0;
			rc = chi_game_walk_next(games, &row, 1, 10, &n);
			known += n > 0 && row.head.white == 0 ? 1 : 0;
		}
		assert_int_equal(rc, CHI_NONE);
		chi_game_walk_close(games);
	}
	assert_true(known > 0);
}

static void open_fails(const char *filter, struct chi_games_spec spec, int rc)
{
	struct chi_game_walk *games;
	spec.filter = filter;
	spec.filter_len = strlen(filter);
	assert_int_equal(chi_game_walk_open(world.read, &spec, &games, &fault), rc);
	assert_true(fault.text[0] != '\0');
}

CASE(test_refused)
{
	static const char *const cursors[] = {"x",
					      "n",
					      "N0100000000000000",
					      "d0100000000000000",
					      "n010000000000000",
					      "n01000000000000000",
					      "n01000000000000zz"};
	open_fails("plyer x", (struct chi_games_spec){0}, -CHI_ESYNTAX);
	open_fails("", (struct chi_games_spec){.sort = 3}, -CHI_EINVAL);
	open_fails("", (struct chi_games_spec){.sort = CHI_GAMES_DATE}, -CHI_EINVAL);
	open_fails("", (struct chi_games_spec){.descending = true, .limit = 10001}, -CHI_EINVAL);
	for (size_t i = 0; i < CHI_COUNT(cursors); i++) {
		open_fails("",
			   (struct chi_games_spec){.cursor = cursors[i],
						   .cursor_len = strlen(cursors[i])},
			   -CHI_EINVAL);
	}
}

/* A cursor that was made up, of the right form: games after it, or none. */
CASE(test_made_up)
{
	for (size_t round = seed_rounds(200); round > 0; round--) {
		char cursor[CHI_GAMES_CURSOR_SIZE];
		struct chi_game_walk *games;
		struct chi_games_row rows[50];
		size_t n = 0;
		snprintf(cursor, sizeof(cursor), "n%016llx", (unsigned long long)help_random());
		struct chi_games_spec spec = {.cursor = cursor, .cursor_len = 17};
		ok(chi_game_walk_open(world.read, &spec, &games, &fault));
		assert_int_equal(chi_game_walk_next(games, rows, 50, 1000, &n), CHI_NONE);
		assert_int_equal(n, 0);
		chi_game_walk_close(games);
	}
}

/* Names that no game has are told. */
CASE(test_unknown)
{
	struct chi_game_walk *games;
	const char *filter = "player Nimzowitsch opponent Carlsen not event Nowhere site moscow";
	struct chi_games_spec spec = {.filter = filter, .filter_len = strlen(filter)};
	ok(chi_game_walk_open(world.read, &spec, &games, &fault));
	assert_string_equal(chi_game_walk_unknown(games, 0), "Nimzowitsch");
	assert_string_equal(chi_game_walk_unknown(games, 1), "Nowhere");
	assert_null(chi_game_walk_unknown(games, 2));
	chi_game_walk_close(games);
}

int main(void)
{
	return world_run(&world, GAMES);
}
