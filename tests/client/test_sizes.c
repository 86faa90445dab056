/* SPDX-License-Identifier: MIT */
/*
 * Structs of callers that begin with their size: what a program built for an older or a newer
 * header gives is taken for what it means, and nothing behind it is read.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/client/world.h"

/* Of a later header: so many bytes more. */
#define LATER 24

typedef int use_spec(struct world *world, const void *spec);

static int open_scan(struct world *world, const void *spec)
{
	struct chi_rows *rows = NULL;
	int status = chi_scan_open(world->client, spec, &rows);
	chi_rows_close(rows);
	return status;
}

static int count_scan(struct world *world, const void *spec)
{
	uint64_t count = 0;
	return chi_scan_count(world->client, spec, &count, NULL);
}

static int open_games(struct world *world, const void *spec)
{
	struct chi_rows *rows = NULL;
	int status = chi_games_open(world->client, spec, &rows);
	chi_rows_close(rows);
	return status;
}

static int list_names(struct world *world, const void *spec)
{
	struct chi_names names;
	return chi_names_list(world->client, spec, &names);
}

static int list_suspects(struct world *world, const void *spec)
{
	struct chi_suspect_groups groups;
	return chi_suspects_list(world->client, spec, &groups);
}

static int list_stats(struct world *world, const void *spec)
{
	struct chi_stats_result stats;
	return chi_stats_list(world->client, spec, &stats);
}

static int list_twins(struct world *world, const void *spec)
{
	struct chi_twin_groups twins;
	return chi_twins_list(world->client, spec, &twins);
}

static int list_insight(struct world *world, const void *spec)
{
	struct chi_insight_result insight;
	return chi_insight_list(world->client, spec, &insight);
}

static int take_queued(struct world *world, const void *spec)
{
	struct chi_queue_lease lease;
	return chi_queue_take(world->client, spec, &lease);
}

static int open_prober(struct world *world, const void *spec)
{
	struct chi_prober *prober = NULL;
	int status = chi_prober_open(world->client, spec, &prober);
	chi_prober_close(prober);
	return status;
}

static int open_client(struct world *world, const void *spec)
{
	struct chi_client *client = NULL;
	int status = chi_open(world->address, spec, &client, NULL);
	chi_close(client);
	return status;
}

static int open_import(struct world *world, const void *spec)
{
	struct chi_import *import = NULL;
	int status = chi_import_open(world->address, NULL, 0, spec, &import, NULL);
	chi_import_close(import);
	return status;
}

static int open_client_to_import(struct world *world, const void *spec)
{
	const struct chi_import_options games = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	struct chi_import *import = NULL;
	int status = chi_import_open(world->address, spec, 0, &games, &import, NULL);
	chi_import_close(import);
	return status;
}

/* Each is refused where it must be, taken where it may be: `least` bytes hold what is set. */
struct sized {
	const char *name;
	use_spec *use;
	const void *spec;
	size_t size;
	size_t least;
};

#define UP_TO(type, member) (offsetof(struct type, member) + sizeof(((struct type *)0)->member))
#define SIZED(use, type, member, ...)                                                              \
	{                                                                                          \
#use, use,                                                                         \
			&(const struct type){__VA_ARGS__ }, sizeof(struct type),                   \
					     UP_TO(type, member)                                   \
	}

static const struct sized all[] = {
	SIZED(open_scan, chi_scan_spec, chi2_max, CHI_SCAN_SPEC_INIT, .chi2_max = 100),
	SIZED(count_scan, chi_scan_spec, chi2_max, CHI_SCAN_SPEC_INIT, .chi2_max = 100),
	SIZED(open_games, chi_game_spec, filter, CHI_GAME_SPEC_INIT, .filter = "year 2000"),
	SIZED(list_names, chi_names_spec, limit, CHI_NAMES_SPEC_INIT, .kind = 1, .limit = 1),
	SIZED(list_suspects, chi_suspects_spec, limit, CHI_SUSPECTS_SPEC_INIT, .kind = 1,
	      .limit = 1),
	SIZED(list_stats, chi_stats_spec, by, CHI_STATS_SPEC_INIT, .by = CHI_STATS_YEAR),
	SIZED(list_twins, chi_twin_spec, size, CHI_TWIN_SPEC_INIT),
	SIZED(list_insight, chi_insight_spec, size, CHI_INSIGHT_SPEC_INIT),
	SIZED(take_queued, chi_queue_take_spec, limit, CHI_QUEUE_TAKE_SPEC_INIT, .holder = "a",
	      .lease_ms = 1, .limit = 1),
	SIZED(open_prober, chi_prober_options, size, CHI_PROBER_OPTIONS_INIT),
	SIZED(open_client, chi_options, writable, CHI_OPTIONS_INIT, .writable = true),
	SIZED(open_client_to_import, chi_options, writable, CHI_OPTIONS_INIT, .writable = true),
	SIZED(open_import, chi_import_options, kind, CHI_IMPORT_OPTIONS_INIT,
	      .kind = CHI_IMPORT_ADD),
};

/* What is behind `n` bytes cannot be read: the sanitizers see it. */
static void used_with(struct world *world, const struct sized *sized, size_t n, size_t size,
		      uint8_t behind, int status)
{
	uint8_t *copy = malloc(n);
	assert_non_null(copy);
	memset(copy, behind, n);
	memcpy(copy, sized->spec, n < sized->size ? n : sized->size);
	memcpy(copy, &size, sizeof(size));
	int got = sized->use(world, copy);
	/* A server may not have seen the end of the import before: a millisecond, as asking it at
	 * once, again and again, costs most of what this test takes. */
	while (got == -CHI_EBUSY && status == CHI_OK && world->kind != WORLD_FILE) {
		poll(NULL, 0, 1);
		got = sized->use(world, copy);
	}
	if (got != status) {
		fail_msg("%s with size %zu: %d instead of %d: %s", sized->name, size, got, status,
			 chi_error(world->client));
	}
	free(copy);
}

static int make(void **state)
{
	int failed = world_control(state);
	struct world *world = *state;
	for (unsigned i = 0; i < 3; i++) {
		struct chi_put_entry entry = {.key = world_key(i)};
		world_ok(world->client, chi_put(world->client, &entry, 1, CHI_SYNC, NULL));
	}
	return failed;
}

CASE(of_every_age, make, world_drop)
{
	struct world *world = *state;
	for (size_t i = 0; i < CHI_COUNT(all); i++) {
		const struct sized *one = &all[i];
		used_with(world, one, one->size, one->size, 0, CHI_OK);
		for (size_t n = one->least; n < one->size; n++) {
			used_with(world, one, n, n, 0, CHI_OK);
		}
		used_with(world, one, one->size + LATER, one->size + LATER, 0, CHI_OK);
		used_with(world, one, one->size + LATER, one->size + LATER, 1, -CHI_EUNSUPPORTED);
		for (size_t n = 0; n < sizeof(size_t); n++) {
			used_with(world, one, one->size, n, 0, -CHI_EINVAL);
		}
		/* Nothing was set: what lay there is no size, and is not walked along. */
		used_with(world, one, one->size, SIZE_MAX, 0, -CHI_EINVAL);
	}
}

/* Rows of one kind are not taken for the other's, before the first and after it. */
CASE(rows_are_of_their_kind, make, world_drop)
{
	struct world *world = *state;
	const struct chi_scan_spec scan = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	const struct chi_game_spec games = {CHI_GAME_SPEC_INIT};
	struct chi_rows *rows;
	const struct chi_row *row;
	const struct chi_game_row *game;
	world_ok(world->client, chi_scan_open(world->client, &scan, &rows));
	for (unsigned i = 0; i < 2; i++) {
		int status = chi_games_next(rows, &game);
		world_refused(world->client, status, -CHI_EINVAL, "rows of a scan");
		assert_null(game);
		world_ok(world->client, chi_scan_next(rows, &row, NULL));
	}
	chi_rows_close(rows);
	world_ok(world->client, chi_games_open(world->client, &games, &rows));
	assert_int_equal(chi_scan_next(rows, &row, NULL), -CHI_EINVAL);
	assert_null(row);
	assert_int_equal(chi_games_next(rows, &game), CHI_NONE);
	assert_int_equal(chi_scan_next(rows, &row, NULL), -CHI_EINVAL);
	chi_rows_close(rows);
}

int main(int argc, char **argv)
{
	if (!world_choose(argc, argv)) {
		return EXIT_FAILURE;
	}
	return cases_run(NULL, NULL);
}
