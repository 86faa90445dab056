/* SPDX-License-Identifier: MIT */
/* Another store takes the place of the one that is open, under its address. */
#include <stdio.h>
#include <string.h>

#include "tests/base/cases.h"
#include "tests/client/world.h"

/* Position 0 is in the copy, position 1 was added after it was made. */
static void make_copy(struct world *world, char copy[96])
{
	(void)snprintf(copy, 96, "%s/copy", world->dir);
	world_fill(world->client, 0, 1);
	world_ok(world->client, chi_store_backup(world->client, copy, CHI_BACKUP_STORE));
	world_fill(world->client, 1, 1);
}

static void swap(struct world *world, const char *copy)
{
	char old[96];
	(void)snprintf(old, sizeof(old), "%s/old", world->dir);
	assert_int_equal(rename(world->store, old), 0);
	assert_int_equal(rename(copy, world->store), 0);
}

static bool is_changed(struct chi_client *client)
{
	bool changed = true;
	world_ok(client, chi_store_changed(client, &changed));
	return changed;
}

static bool has(struct chi_prober *prober, unsigned i)
{
	struct chi_key key = world_key(i);
	struct chi_row row;
	assert_int_equal(chi_prober_key(prober, &key, &row), CHI_OK);
	return row.found;
}

/* The tickets of the new store are not those of the old one. */
static void tickets_of_another_store(struct chi_prober *prober, uint64_t old)
{
	uint64_t tickets[CHI_PREFETCH_MAX];
	struct chi_key keys[CHI_PREFETCH_MAX];
	struct chi_row row;
	for (unsigned i = 0; i < CHI_PREFETCH_MAX; i++) {
		keys[i] = world_key(i);
	}
	assert_int_equal(chi_prober_prefetch(prober, keys, CHI_PREFETCH_MAX, tickets), CHI_OK);
	for (unsigned i = 0; i < CHI_PREFETCH_MAX; i++) {
		assert_true(tickets[i] > old);
	}
	assert_int_equal(chi_prober_collect(prober, old, &row), CHI_NONE);
	assert_int_equal(chi_prober_collect(prober, tickets[0], &row), CHI_OK);
	assert_true(row.found);
}

static void a_restored_directory(void **state)
{
	struct world *world = *state;
	char copy[96];
	bool moved = true;
	struct chi_prober *prober = NULL;
	make_copy(world, copy);
	world_ok(world->client, chi_prober_open(world->client, &world_patience, &prober));
	assert_false(is_changed(world->client));
	assert_int_equal(chi_prober_follow(prober, &moved), CHI_OK);
	assert_false(moved);
	if (world->kind != WORLD_FILE) {
		world_stop_daemon(world);
	}
	swap(world, copy);
	if (world->kind != WORLD_FILE) {
		world_start_daemon(world);
		assert_int_equal(chi_prober_follow(prober, &moved), CHI_OK);
		assert_false(moved);
		assert_true(has(prober, 0) && !has(prober, 1));
	} else {
		/* A store that lives has locks: it is opened again by hand. */
		assert_true(has(prober, 0) && has(prober, 1));
		assert_int_equal(chi_prober_follow(prober, &moved), -CHI_ESTALE);
		assert_true(!moved && has(prober, 0) && has(prober, 1));
	}
	/* The client's own store stays what it was. */
	assert_true(is_changed(world->client));
	chi_prober_close(prober);
	chi_close(world->client);
	world->client = world_open(world);
	assert_false(is_changed(world->client));
}

static void a_published_copy(void **state)
{
	struct world *world = *state;
	char path[96];
	bool moved = false;
	struct chi_client *reader = NULL;
	struct chi_prober *prober = NULL;
	(void)snprintf(path, sizeof(path), "%s/published", world->dir);
	world_fill(world->client, 0, 1);
	world_ok(world->client, chi_store_backup(world->client, path, CHI_BACKUP_PUBLISHED));
	assert_int_equal(chi_open(path, NULL, &reader, NULL), CHI_OK);
	world_ok(reader, chi_prober_open(reader, NULL, &prober));
	assert_false(is_changed(reader));
	world_fill(world->client, 1, 1);
	world_ok(world->client, chi_store_backup(world->client, path, CHI_BACKUP_PUBLISHED));
	assert_true(is_changed(reader));
	assert_false(has(prober, 1));
	uint64_t ticket = 0;
	struct chi_row row;
	struct chi_key key = world_key(1);
	assert_int_equal(chi_prober_prefetch(prober, &key, 1, &ticket), CHI_OK);
	assert_int_equal(chi_prober_follow(prober, &moved), CHI_OK);
	assert_true(moved && has(prober, 1));
	if (world->kind == WORLD_FILE) {
		assert_int_equal(chi_prober_collect(prober, ticket, &row), CHI_NONE);
		tickets_of_another_store(prober, ticket);
	}
	assert_int_equal(chi_prober_follow(prober, &moved), CHI_OK);
	assert_false(moved);
	/* With no store there what is open stays. */
	world_remove_dir(path);
	bool changed = true;
	assert_int_equal(chi_store_changed(reader, &changed), -CHI_ENOSTORE);
	assert_int_equal(chi_prober_follow(prober, &moved), -CHI_ENOSTORE);
	assert_true(!moved && has(prober, 1));
	chi_prober_close(prober);
	chi_close(reader);
}

/* Clients that chi_open_again gives read what the first one reads, whatever the address leads to.
 */
static void the_same_files_again(void **state)
{
	struct world *world = *state;
	char path[96];
	struct chi_client *old = NULL;
	struct chi_client *again = NULL;
	struct chi_client *third = NULL;
	struct chi_client *newest = NULL;
	struct chi_info is;
	struct chi_info was;
	(void)snprintf(path, sizeof(path), "%s/published", world->dir);
	world_fill(world->client, 0, 1);
	world_ok(world->client, chi_store_backup(world->client, path, CHI_BACKUP_PUBLISHED));
	assert_int_equal(chi_open(path, NULL, &old, NULL), CHI_OK);
	world_ok(old, chi_store_info(old, &was));
	world_ok(old, chi_open_newest(old, &newest));
	assert_null(newest);
	world_fill(world->client, 1, 1);
	world_ok(world->client, chi_store_backup(world->client, path, CHI_BACKUP_PUBLISHED));
	world_ok(old, chi_open_again(old, &again));
	assert_true(again != old && is_changed(again));
	world_ok(again, chi_store_info(again, &is));
	assert_true(is.sequence == was.sequence);
	world_ok(old, chi_open_newest(old, &newest));
	assert_non_null(newest);
	world_ok(newest, chi_store_info(newest, &is));
	assert_true(is.sequence > was.sequence && !is_changed(newest));
	chi_close(newest);
	/* In any order: each alone keeps the files open. */
	chi_close(old);
	world_ok(again, chi_open_again(again, &third));
	chi_close(again);
	world_ok(third, chi_store_info(third, &is));
	assert_true(is.sequence == was.sequence);
	assert_int_equal(chi_open(path, NULL, &newest, NULL), CHI_OK);
	world_ok(newest, chi_store_info(newest, &is));
	assert_true(is.sequence > was.sequence && !is_changed(newest));
	chi_close(third);
	chi_close(newest);
}

/* Of a client that writes: in process the other one only reads, a server is asked as before. */
static void another_client(void **state)
{
	struct world *world = *state;
	struct chi_client *again = NULL;
	world_fill(world->client, 0, 1);
	world_ok(world->client, chi_open_again(world->client, &again));
	world_fill(world->client, 1, 1);
	struct chi_key key = world_key(1);
	struct chi_row row;
	world_ok(again, chi_probe(again, &key, 1, &row));
	assert_true(row.found);
	const struct chi_put_entry put = {
		.key = world_key(2), .parts = CHI_PUT_COUNTS, .record.counts.white = 1};
	int status = chi_put(again, &put, 1, CHI_SYNC, NULL);
	assert_int_equal(status, world->kind == WORLD_FILE ? -CHI_EREADONLY : CHI_OK);
	chi_close(world->client);
	world->client = NULL;
	world_ok(again, chi_probe(again, &key, 1, &row));
	assert_true(row.found);
	chi_close(again);
}

/* Copies are the cluster's own there; what follows a store that was made again is in
 * tests/rados/test_store.c. */
static void no_copies_on_rados(void **state)
{
	struct world *world = *state;
	assert_false(is_changed(world->client));
	world_refused(world->client, chi_store_backup(world->client, world->dir, CHI_BACKUP_STORE),
		      -CHI_EUNSUPPORTED,
		      "not on RADOS: backup; take a snapshot of the pool, or a dump");
	world_refused(world->client,
		      chi_store_backup(world->client, world->dir, CHI_BACKUP_PUBLISHED),
		      -CHI_EUNSUPPORTED, "not on RADOS: backup");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_restored_directory, world_external, world_drop),
		cmocka_unit_test_setup_teardown(a_published_copy, world_external, world_drop),
		cmocka_unit_test_setup_teardown(the_same_files_again, world_external, world_drop),
		cmocka_unit_test_setup_teardown(another_client, world_external, world_drop),
	};
	const struct CMUnitTest refused[] = {
		cmocka_unit_test_setup_teardown(no_copies_on_rados, world_external, world_drop),
	};
	if (!world_choose(argc, argv)) {
		return 0;
	}
	if (world_chosen() == WORLD_RADOS) {
		return cmocka_run_group_tests_name("changed", refused, NULL, NULL);
	}
	return cmocka_run_group_tests_name("changed", tests, NULL, NULL);
}
