/* SPDX-License-Identifier: MIT */
/* Games that show a pattern, looked for in all positions or in games played again: the same as a
 * loop over all positions of all games finds. */
#include "tests/search/world.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "search/filter/replay.h"
#include "search/filter/motif.h"
#include "search/games.h"
#include "tests/base/seed.h"

#define GAMES 900

static const char *const patterns[] = {
	"",
	"has Pe4",
	"has \"Nf3 Pd4\" mirror",
	"material P=..14",
	"to-move black balance \"P v\"",
	"pattern balance \"v N\" either-colour",
	"has \"Qd8\"",
	"pawns \"+ d4 / +\"",
};

static struct search_world world;
static struct chi_terms terms;
static struct chi_motif *wanted;

/* What a loop finds. */
static uint32_t numbers[2 * GAMES];
static size_t n_numbers;

static bool shows(const struct world_game *game)
{
	for (size_t i = 0; i <= game->plies; i++) {
		if (chi_motif_fits(wanted, game->keys[i].bytes)) {
			return true;
		}
	}
	return false;
}

static void loop(const char *pattern, const char *filter)
{
	free(wanted);
	ok(chi_motif_parse(pattern, &wanted, &fault));
	ok(chi_terms_parse(filter, strlen(filter), &terms, &fault));
	n_numbers = 0;
	for (uint32_t number = 1; number <= world.n; number++) {
		const struct world_game *game = &world.games[number];
		if (world_fits(game, &terms) && shows(game)) {
			numbers[n_numbers++] = number;
		}
	}
}

/* `ply` is where the pattern fits first. */
static void check_ply(const struct chi_games_row *row)
{
	const struct world_game *game = &world.games[row->head.number];
	size_t ply = 0;
	while (!chi_motif_fits(wanted, game->keys[ply].bytes)) {
		ply++;
	}
	assert_int_equal(row->ply, ply);
	assert_int_equal(row->move, ply < game->plies ? game->moves[ply] : 0);
}

/* From the n-th on, moved to another snapshot now and then. */
static size_t check_page(struct chi_games_spec spec, const char *cursor, size_t at, bool has_ply)
{
	struct chi_game_walk *games;
	struct chi_games_row rows[9];
	uint64_t total;
	int rc = CHI_OK;
	spec.cursor = cursor;
	spec.cursor_len = strlen(cursor);
	ok(chi_game_walk_open(world.read, &spec, &games, &fault));
	while (rc == CHI_OK) {
		size_t n = 0;
		rc = chi_game_walk_next(games, rows, 1 + help_below(9), help_below(90), &n);
		assert_true(rc >= 0);
		assert_true(chi_game_walk_progress(games) <= 1000);
		assert_true(chi_game_walk_memory(games) > 0);
		for (size_t i = 0; i < n; i++) {
			assert_true(at < n_numbers);
			assert_int_equal(rows[i].head.number, numbers[at++]);
			if (has_ply) {
				check_ply(&rows[i]);
			}
		}
		if (rc == CHI_OK && chi_game_walk_may_detach(games) && help_below(3) == 0) {
			chi_game_walk_detach(games);
			ok(chi_game_walk_attach(games, world.read, &fault));
		}
	}
	assert_int_equal(chi_game_walk_total(games, &total), spec.want_total);
	if (spec.want_total && total != n_numbers) {
		fail_msg("%.*s: %u", (int)spec.filter_len, spec.filter, (unsigned)total);
	}
	chi_game_walk_close(games);
	return at;
}

CASE(test_random)
{
	char filter[2048] = "";
	char text[4096];
	for (size_t round = seed_rounds(120); round > 0; round--) {
		const char *pattern = patterns[help_below(CHI_COUNT(patterns))];
		char cursor[CHI_GAMES_CURSOR_SIZE] = "";
		filter[0] = '\0';
		if (round % 2 == 1) {
			world_filter(&world, filter, sizeof(filter));
		}
		loop(pattern, filter);
		(void)snprintf(text, sizeof(text), "%s%s%s", pattern,
			       pattern[0] != '\0' && filter[0] != '\0' ? " and " : "", filter);
		struct chi_games_spec spec = {.filter = text,
					      .filter_len = strlen(text),
					      .want_total = help_below(2) > 0,
					      .want_ply = true,
					      .by_positions = help_below(2) > 0,
					      .threads = help_below(4),
					      .limit = help_below(2) ? 0 : 7};
		size_t at = check_page(spec, cursor, 0, pattern[0] != '\0');
		assert_int_equal(at, spec.limit == 0 || n_numbers < 7 ? n_numbers : 7);
		if (at > 0 && at < n_numbers) {
			const struct chi_game_head last = {.number = numbers[at - 1]};
			cursor[chi_game_walk_cursor_of(&last, CHI_GAMES_NUMBER, false, cursor)] =
				'\0';
			spec.limit = 0;
			assert_int_equal(check_page(spec, cursor, at, pattern[0] != '\0'),
					 n_numbers);
		}
	}
}

/* The opposite of a pattern leaves the other games. */
CASE(test_negated)
{
	const char *text = "not has \"Nf3 Pd4\"";
	const struct chi_games_spec spec = {.filter = text,
					    .filter_len = strlen(text),
					    .by_positions = true,
					    .want_total = true,
					    .limit = 1};
	struct chi_game_walk *games;
	struct chi_games_row row;
	uint64_t total = 0;
	size_t n;
	int rc;
	loop("", text);
	ok(chi_game_walk_open(world.read, &spec, &games, &fault));
	do {
		rc = chi_game_walk_next(games, &row, 1, 50, &n);
	} while (rc == CHI_OK);
	assert_int_equal(rc, CHI_NONE);
	assert_true(chi_game_walk_total(games, &total));
	assert_int_equal(total, n_numbers);
	chi_game_walk_close(games);
}

CASE(test_refused)
{
	static const char *const texts[] = {
		"event x", "not has Nd5",     "has Nd5 pattern has Nd6", "has \"Nd5 bd5\"",
		"has Nd9", "played captures", "check next check",	 "has Nd5 for 2",
		"last",	   "reached 5..",     "has Nd5 or has Nd6",	 "any times 2",
	};
	struct chi_motif *line = NULL;
	for (size_t i = 0; i < CHI_COUNT(texts); i++) {
		assert_true(chi_motif_parse(texts[i], &line, &fault) < 0);
		assert_memory_equal(fault.text, "pattern", 7);
	}
}

int main(void)
{
	int rc = world_run(&world, GAMES);
	free(wanted);
	return rc;
}
