/* SPDX-License-Identifier: MIT */
/* Positions that a pattern fits, and games that reached one: the same as a loop over all positions
 * of all games finds. */
#include "tests/search/world.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "search/filter/replay.h"
#include "search/find.h"
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
static struct chi_wanted wanted;

/* What a loop finds. */
static struct chi_key *keys;
static size_t n_keys;
static uint32_t numbers[2 * GAMES];
static size_t n_numbers;

static int compare(const void *a, const void *b)
{
	return help_key_compare(a, b);
}

static void loop(const char *pattern, const char *filter)
{
	const struct chi_term all = {.kind = CHI_TERM_PATTERN};
	ok(chi_terms_parse(pattern, strlen(pattern), &terms, &fault));
	ok(chi_wanted_init(&terms, terms.n > 0 ? &terms.term[0] : &all, &wanted));
	ok(chi_terms_parse(filter, strlen(filter), &terms, &fault));
	n_keys = 0;
	n_numbers = 0;
	for (uint32_t number = 1; number <= world.n; number++) {
		const struct world_game *game = &world.games[number];
		bool found = false;
		for (size_t i = 0; world_fits(game, &terms) && i <= game->plies; i++) {
			if (chi_wanted_fits(&wanted, game->keys[i].bytes)) {
				keys[n_keys++] = game->keys[i];
				found = true;
			}
		}
		if (found) {
			numbers[n_numbers++] = number;
		}
	}
	qsort(keys, n_keys, sizeof(keys[0]), compare);
	size_t n = 0;
	for (size_t i = 0; i < n_keys; i++) {
		if (n == 0 || memcmp(&keys[n - 1], &keys[i], sizeof(keys[i])) != 0) {
			keys[n++] = keys[i];
		}
	}
	n_keys = n;
}

static struct chi_find_spec spec_of(const char *pattern, const char *filter)
{
	return (struct chi_find_spec){.pattern = pattern,
				      .pattern_len = strlen(pattern),
				      .filter = filter,
				      .filter_len = strlen(filter)};
}

/* One page from *at on. True if there may be another. */
static bool check_positions(struct chi_find_spec spec, char *cursor, size_t *at)
{
	struct chi_find *find;
	struct chi_row rows[9];
	uint64_t total;
	size_t got = 0;
	int rc = CHI_OK;
	spec.cursor = cursor;
	spec.cursor_len = strlen(cursor);
	ok(chi_find_open(world.read, &spec, &find, &fault));
	while (rc == CHI_OK) {
		size_t n = 0;
		rc = chi_find_positions(find, rows, 1 + help_below(9), help_below(9), &n);
		assert_true(rc >= 0);
		assert_true(chi_find_progress(find) <= 1000);
		for (size_t i = 0; i < n; i++, got++) {
			assert_true(*at < n_keys);
			assert_memory_equal(&rows[i].key, &keys[*at], sizeof(rows[i].key));
			assert_true(rows[i].found);
			++*at;
		}
	}
	if (spec.want_total || spec.only_count) {
		assert_true(chi_find_total(find, &total));
		assert_int_equal(total, n_keys);
	}
	chi_find_cursor(find, cursor);
	chi_find_close(find);
	assert_true(spec.limit == 0 || got <= spec.limit);
	return spec.limit != 0 && got == spec.limit;
}

/* `ply` is where the pattern fits first. */
static void check_ply(const struct chi_games_row *row)
{
	const struct world_game *game = &world.games[row->head.number];
	size_t ply = 0;
	while (!chi_wanted_fits(&wanted, game->keys[ply].bytes)) {
		ply++;
	}
	assert_int_equal(row->ply, ply);
	assert_int_equal(row->move, ply < game->plies ? game->moves[ply] : 0);
}

static void check_games(struct chi_find_spec spec)
{
	char cursor[CHI_FIND_CURSOR_SIZE] = "";
	size_t at = 0;
	for (bool more = true; more && at < 60;) {
		struct chi_find *find;
		struct chi_games_row rows[9];
		uint64_t total;
		int rc = CHI_OK;
		size_t before = at;
		spec.cursor = cursor;
		spec.cursor_len = strlen(cursor);
		ok(chi_find_open(world.read, &spec, &find, &fault));
		while (rc == CHI_OK) {
			size_t n = 0;
			rc = chi_find_games(find, rows, 1 + help_below(9), help_below(90), &n);
			assert_true(rc >= 0);
			for (size_t i = 0; i < n; i++) {
				assert_true(at < n_numbers);
				assert_int_equal(rows[i].head.number, numbers[at++]);
				check_ply(&rows[i]);
			}
		}
		assert_true(chi_find_total(find, &total));
		assert_int_equal(total, n_numbers);
		chi_find_cursor(find, cursor);
		chi_find_close(find);
		more = spec.limit != 0 && at - before == spec.limit;
		assert_true(more || at == n_numbers);
	}
}

/* Lets go of the snapshot, takes back what was found since `sent`, and goes on. */
static void move_on(struct chi_find *find, size_t *n, const char *sent)
{
	chi_find_detach(find);
	if (*n > 0 && help_below(2) == 0) {
		chi_find_rewind(find, *n, sent);
		*n = 0;
	}
	assert_true(chi_find_memory(find) > 0);
	ok(chi_find_attach(find, world.read, &fault));
}

/* The number of rows, each compared; moved to another snapshot now and then. */
static size_t move_through(struct chi_find_spec spec)
{
	char sent[CHI_FIND_CURSOR_SIZE] = "";
	struct chi_find *find;
	uint64_t total;
	size_t at = 0; /* rows up to `sent` */
	size_t n = 0;  /* after it */
	int rc = CHI_OK;
	ok(chi_find_open(world.read, &spec, &find, &fault));
	while (rc == CHI_OK) {
		struct chi_row rows[9];
		struct chi_games_row games[9];
		size_t max = 1 + help_below(9);
		size_t got = 0;
		rc = spec.games ? chi_find_games(find, games, max, 1 + help_below(20), &got)
				: chi_find_positions(find, rows, max, 1 + help_below(20), &got);
		assert_true(rc >= 0);
		for (size_t i = 0; i < got; i++, n++) {
			assert_true(at + n < (spec.games ? n_numbers : n_keys));
			if (spec.games) {
				assert_int_equal(games[i].head.number, numbers[at + n]);
			} else {
				assert_memory_equal(&rows[i].key, &keys[at + n], sizeof(keys[0]));
			}
		}
		if (help_below(3) == 0) {
			sent[chi_find_cursor(find, sent)] = '\0';
			at += n;
			n = 0;
		}
		if (rc == CHI_OK && chi_find_may_detach(find) && help_below(2) == 0) {
			move_on(find, &n, sent);
		}
	}
	assert_true(chi_find_total(find, &total) || !spec.want_total);
	assert_true(!spec.want_total || total == (spec.games ? n_numbers : n_keys));
	chi_find_close(find);
	return at + n;
}

/* However often it is moved to another snapshot, the search delivers and counts the same. */
static void test_moved(void **state)
{
	char filter[2048] = "";
	(void)state;
	keys = malloc((size_t)(world.n + 1) * (WORLD_PLIES + 1) * sizeof(*keys));
	assert_non_null(keys);
	for (size_t round = seed_rounds(32); round > 0; round--) {
		const char *pattern = patterns[round % CHI_COUNT(patterns)];
		filter[0] = '\0';
		if (help_below(2) == 0) {
			world_filter(&world, filter, sizeof(filter));
		}
		loop(pattern, filter);
		struct chi_find_spec spec = spec_of(pattern, filter);
		spec.games = help_below(2) == 0;
		spec.want_total = help_below(2) == 0;
		spec.limit = help_below(2) == 0 ? 0 : 1 + help_below(200);
		size_t all = spec.games ? n_numbers : n_keys;
		assert_int_equal(move_through(spec),
				 spec.limit == 0 || all < spec.limit ? all : spec.limit);
	}
	free(keys);
}

static void test_random(void **state)
{
	char filter[2048] = "";
	(void)state;
	keys = malloc((size_t)(world.n + 1) * (WORLD_PLIES + 1) * sizeof(*keys));
	assert_non_null(keys);
	for (size_t round = seed_rounds(120); round > 0; round--) {
		const char *pattern = patterns[help_below(CHI_COUNT(patterns))];
		filter[0] = '\0';
		if (round % 2 == 1) {
			world_filter(&world, filter, sizeof(filter));
		}
		loop(pattern, filter);
		struct chi_find_spec spec = spec_of(pattern, filter);
		char cursor[CHI_FIND_CURSOR_SIZE] = "";
		size_t at = 0;
		spec.limit = 1 + help_below(40);
		for (unsigned i = 0; check_positions(spec, cursor, &at) && i < 5; i++) {
		}
		at = 0;
		cursor[0] = '\0';
		spec.want_total = true;
		check_positions(spec, cursor, &at);
		/* The cursor is the last row's, although the rest was counted. */
		spec.want_total = false;
		check_positions(spec, cursor, &at);
		cursor[0] = '\0';
		spec.only_count = true;
		spec.threads = help_below(4);
		check_positions(spec, cursor, &at);
		spec = spec_of(pattern, filter);
		spec.games = true;
		spec.limit = help_below(2) ? 0 : 7;
		check_games(spec);
	}
	free(keys);
}

/* The games found count as the bits that they take, not as what they would be stored as. */
static void test_memory(void **state)
{
	(void)state;
	struct chi_find_spec spec = spec_of("", "");
	struct chi_find *find;
	struct chi_games_row row;
	size_t n = 0;
	spec.games = true;
	ok(chi_find_open(world.read, &spec, &find, &fault));
	size_t before = chi_find_memory(find);
	while (n == 0) {
		ok(chi_find_games(find, &row, 1, 4, &n));
	}
	size_t bits = chi_find_memory(find) - before;
	assert_in_range(bits, 512, 512 + 64);
	chi_find_close(find);
}

static void open_fails(struct chi_find_spec spec, int rc)
{
	struct chi_find *find;
	assert_int_equal(chi_find_open(world.read, &spec, &find, &fault), rc);
	assert_true(fault.text[0] != '\0');
}

static void test_refused(void **state)
{
	(void)state;
	open_fails(spec_of("event x", ""), -CHI_EINVAL);
	open_fails(spec_of("not has Nd5", ""), -CHI_EINVAL);
	open_fails(spec_of("has Nd5 pattern has Nd6", ""), -CHI_EINVAL);
	open_fails(spec_of("has Nd9", ""), -CHI_ESYNTAX);
	open_fails(spec_of("has \"Nd5 bd5\"", ""), -CHI_EINVAL);
	open_fails(spec_of("", "in nothing"), -CHI_EINVAL);
	struct chi_find_spec spec = spec_of("", "");
	spec.cursor = "g01";
	spec.cursor_len = 3;
	open_fails(spec, -CHI_EINVAL);
	spec.games = true;
	open_fails(spec, -CHI_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_refused),
	};
	return world_run(&world, GAMES, "search/find", tests, CHI_COUNT(tests));
}
