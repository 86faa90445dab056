/* SPDX-License-Identifier: MIT */
/* Calls on the store as a whole. */
#include <stdio.h>

#include "tests/base/cases.h"
#include "tests/client/world.h"

static void count_reports(void *context, const char *text)
{
	(void)text;
	++*(unsigned *)context;
}

static void copy_and_compact(struct world *world)
{
	struct chi_client *client = world->client;
	uint64_t before = 0;
	uint64_t after = 0;
	if (world->kind == WORLD_RADOS) {
		world_refused(client, chi_store_backup(client, "copy", CHI_BACKUP_STORE),
			      -CHI_EUNSUPPORTED, "not on RADOS: backup");
		world_refused(client, chi_store_compact(client, &before, &after), -CHI_EUNSUPPORTED,
			      "not on RADOS: compact");
		return;
	}
	char copy[96];
	(void)snprintf(copy, sizeof(copy), "%.60s/copy", world->dir);
	world_ok(client, chi_store_backup(client, copy, CHI_BACKUP_STORE));
	assert_int_equal(chi_store_backup(client, copy, CHI_BACKUP_STORE), -CHI_EEXIST);
	struct chi_client *other = NULL;
	struct chi_info info;
	assert_int_equal(chi_open(copy, NULL, &other, NULL), CHI_OK);
	world_ok(other, chi_store_info(other, &info));
	assert_int_equal(info.positions, 3000);
	chi_close(other);
	world_ok(client, chi_store_compact(client, &before, &after));
	assert_true(after > 0 && after <= before);
}

CASE(whole_store, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	struct chi_verify_result found;
	unsigned reports = 0;
	struct chi_info info;
	world_fill(client, 0, 3000);
	world_ok(client, chi_store_verify(client, count_reports, &reports, &found));
	assert_int_equal(reports, 0);
	assert_int_equal(found.positions, 3000);
	assert_int_equal(found.known, 3000);
	assert_int_equal(found.errors, 0);
	copy_and_compact(world);
	world_fill(client, 3000, 10);
	world_refused(client, chi_store_rescore(client, NULL, NULL), -CHI_EUNSUPPORTED, "");
	world_ok(client, chi_store_info(client, &info));
	assert_int_equal(info.positions, 3010);
}

WORLD_MAIN
