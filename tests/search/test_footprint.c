/* SPDX-License-Identifier: MIT */
/* Positions of some games, found by playing these, against a walk over all positions. */
#include "tests/search/world.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "search/footprint.h"
#include "tests/base/seed.h"

#define GAMES 300

static struct search_world world;

static struct chi_among *find(const char *filter)
{
	struct chi_among *among;
	uint64_t steps = UINT64_MAX;
	ok(chi_among_open(world.read, filter, strlen(filter), &among, &fault));
	assert_int_equal(chi_among_step(among, &steps), CHI_NONE);
	return among;
}

static struct chi_footprint *play(const struct chi_among *among)
{
	struct chi_footprint *footprint;
	int rc = CHI_OK;
	ok(chi_footprint_new(among, CHI_FOOTPRINT_MAX, &footprint));
	while (rc == CHI_OK) {
		uint64_t steps = help_below(3);
		rc = chi_footprint_step(footprint, world.read, &steps);
		assert_true(chi_footprint_memory(footprint) > 0);
	}
	assert_int_equal(rc, CHI_NONE);
	return footprint;
}

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, CHI_KEY_MAX);
}

/* Ascending, each once, and just those of the games. */
static void check_keys(const struct chi_footprint *footprint, const struct chi_terms *terms)
{
	size_t n = 0;
	size_t met = 0;
	const uint8_t *keys = chi_footprint_keys(footprint, &n);
	bool *seen = calloc(n + 1, sizeof(*seen));
	assert_non_null(seen);
	for (size_t i = 1; i < n; i++) {
		assert_true(memcmp(keys + (i - 1) * CHI_KEY_MAX, keys + i * CHI_KEY_MAX,
				   CHI_KEY_MAX) < 0);
	}
	for (uint32_t number = 1; number <= world.n; number++) {
		const struct world_game *game = &world.games[number];
		for (size_t ply = 0; world_fits(game, terms) && ply <= game->plies; ply++) {
			uint8_t key[CHI_KEY_MAX] = {0};
			memcpy(key, game->keys[ply].bytes, game->keys[ply].len);
			const uint8_t *found = bsearch(key, keys, n, CHI_KEY_MAX, compare_keys);
			assert_non_null(found);
			seen[(size_t)(found - keys) / CHI_KEY_MAX] = true;
		}
	}
	for (size_t i = 0; i < n; i++) {
		met += seen[i];
	}
	assert_int_equal(met, n);
	free(seen);
}

/* The rows of a sorted scan, or the count, of positions given or walked over. */
static size_t scan(const struct chi_scan_spec *spec, struct chi_among *among,
		   const struct chi_footprint *footprint, bool counts, struct chi_row *rows,
		   uint64_t *count)
{
	struct chi_scan *scan;
	size_t n = 0;
	size_t keys = 0;
	int rc = CHI_OK;
	*count = 0;
	ok(chi_read_scan(world.read, spec, &scan, &fault));
	chi_among_judge(among, scan, spec->whole_counts);
	if (footprint != NULL) {
		const uint8_t *given = chi_footprint_keys(footprint, &keys);
		chi_scan_given(scan, given, keys);
	}
	while (rc == CHI_OK) {
		size_t got = 0;
		rc = counts ? chi_scan_tally(scan, 1 + help_below(50), count)
			    : chi_scan_rows(scan, rows + n, 50 - n, 1 + help_below(500), &got);
		n += got;
	}
	assert_int_equal(rc, CHI_NONE);
	chi_scan_free(scan);
	return n;
}

CASE(given_positions_are_those_of_a_walk)
{
	static struct chi_terms terms;
	char filter[2048];
	size_t some = 0;
	for (size_t round = seed_rounds(60); round > 0; round--) {
		struct chi_row walked[50] = {0};
		struct chi_row given[50] = {0};
		uint64_t counts[2];
		struct chi_scan_spec spec = {
			.chi2_max = CHI_CHI2_MAX,
			.want = CHI_WANT_COUNTS,
			.sort = (uint8_t)(CHI_SORT_GAMES + help_below(2)),
			.limit = 50,
			.whole_counts = help_below(4) == 0,
			.filter = {.games_min = help_below(3), .side = (uint8_t)help_below(3)}};
		world_filter(&world, filter, sizeof(filter));
		ok(chi_terms_parse(filter, strlen(filter), &terms, &fault));
		struct chi_among *among = find(filter);
		struct chi_footprint *footprint = play(among);
		check_keys(footprint, &terms);
		size_t n = scan(&spec, among, NULL, false, walked, counts);
		assert_int_equal(scan(&spec, among, footprint, false, given, counts), n);
		assert_memory_equal(walked, given, n * sizeof(walked[0]));
		some += n > 0;
		spec.sort = CHI_SORT_NONE;
		spec.limit = 0;
		scan(&spec, among, NULL, true, NULL, &counts[0]);
		scan(&spec, among, footprint, true, NULL, &counts[1]);
		assert_int_equal(counts[0], counts[1]);
		/* In order of keys, and from one of them on. */
		spec.order = CHI_ORDER_POSITION;
		spec.limit = 20;
		n = scan(&spec, among, NULL, false, walked, counts);
		assert_int_equal(scan(&spec, among, footprint, false, given, counts), n);
		assert_memory_equal(walked, given, n * sizeof(walked[0]));
		if (n > 0) {
			spec.after =
				(struct chi_cursor){true, walked[n / 2].chi2, walked[n / 2].key};
			n = scan(&spec, among, NULL, false, walked, counts);
			assert_int_equal(scan(&spec, among, footprint, false, given, counts), n);
			assert_memory_equal(walked, given, n * sizeof(walked[0]));
		}
		chi_footprint_free(footprint);
		chi_among_close(among);
	}
	assert_true(some > seed_rounds(60) / 4);
}

/* Many games are not played. */
CASE(it_pays_for_few_games)
{
	struct chi_among *among = find("");
	assert_false(chi_footprint_pays(among, 10 * GAMES, CHI_FOOTPRINT_MAX));
	assert_true(chi_footprint_pays(among, 1000 * GAMES, CHI_FOOTPRINT_MAX));
	assert_false(chi_footprint_pays(among, 1000 * GAMES, GAMES));
	chi_among_close(among);
}

int main(void)
{
	return world_run(&world, GAMES);
}
