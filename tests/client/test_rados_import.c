/* SPDX-License-Identifier: MIT */
/* Imports into a store on RADOS whose importers are killed at every step, or meet damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/attr.h"
#include "store/record/codec.h"
#include "tests/client/raw.h"

/* A journal of one position, committed by a client that was killed then. */
static void raw_journal(struct raw *raw, const struct chi_key *key)
{
	static const uint8_t id[16] = {7};
	const struct chi_record record = {.chi2 = CHI_CHI2_UNKNOWN, .counts.white = 5};
	uint8_t bytes[1024];
	char text[CHI_RADOS_HEAD_SIZE];
	char object[CHI_OBJECT_SIZE];
	struct chi_rados_head head;
	size_t len = 0;
	size_t at = CHI_JOURNAL_HEAD + 1 + (size_t)key->len;
	chi_journal_head(CHI_JOURNAL_ADD, 1, bytes);
	bytes[CHI_JOURNAL_HEAD] = key->len;
	memcpy(bytes + CHI_JOURNAL_HEAD + 1, key->bytes, key->len);
	assert_int_equal(chi_record_encode(&record, NULL, bytes + at + 4, 512, &len), CHI_OK);
	memcpy(bytes + at, (const uint8_t[4]){(uint8_t)len}, 4);
	len += at + 4 + CHI_JOURNAL_TAIL;
	chi_journal_seal(bytes, len);
	chi_journal_object(raw->place.name, id, 0, object);
	assert_int_equal(rados_write_full(raw->io, object, (const char *)bytes, len), 0);
	raw_read_head(raw, &head);
	memcpy(head.import, id, sizeof(head.import));
	head.import_parts = 1;
	(void)chi_rados_head_print(&head, text);
	raw_head(raw, text);
}

/* An import that is under way when another one is committed and killed finishes that first. */
static void killed_imports_are_not_forgotten(void **state)
{
	static const char pgn[] = "[Event \"a\"]\n[White \"b\"]\n[Black \"c\"]\n\n1. e4 e5 1-0\n";
	struct world *world = *state;
	const struct chi_import_options options = {.kind = CHI_IMPORT_ADD};
	struct chi_import *games = NULL;
	struct chi_key key = world_key(3);
	struct chi_rados_head head;
	struct chi_row row;
	struct raw raw;
	raw_open(world, &raw);
	assert_int_equal(chi_import_open(world->address, NULL, 0, &options, &games, NULL), CHI_OK);
	assert_int_equal(chi_import_file(games, "some.pgn"), CHI_OK);
	assert_int_equal(chi_import_feed(games, pgn, sizeof(pgn) - 1), CHI_OK);
	raw_journal(&raw, &key);
	assert_int_equal(chi_import_commit(games, NULL), CHI_OK);
	chi_import_close(games);
	raw_read_head(&raw, &head);
	assert_int_equal(head.import_parts, 0);
	raw_close(&raw);
	world_ok(world->client, chi_probe(world->client, &key, 1, &row));
	assert_true(row.found);
	assert_int_equal(row.counts.white, 5);
	world_ok(world->client, chi_verify(world->client, NULL, NULL, NULL));
}

/* What is read from the cluster is checked before it is applied. */
static void damaged_journals_are_refused(void **state)
{
	struct world *world = *state;
	const struct chi_import_options options = {.kind = CHI_IMPORT_ADD};
	const struct chi_key none = {.len = 1};
	struct chi_import *games = NULL;
	struct chi_fault fault = {{0}};
	struct chi_info info;
	struct raw raw;
	raw_open(world, &raw);
	raw_journal(&raw, &none);
	raw_close(&raw);
	assert_int_equal(chi_import_open(world->address, NULL, 0, &options, &games, &fault),
			 -CHI_ECORRUPT);
	assert_string_equal(fault.text, "the journal of an import is damaged");
	world_ok(world->client, chi_get_info(world->client, &info));
	assert_int_equal(info.positions, 0);
}

int main(void)
{
	char kind[] = "rados";
	char *argv[] = {kind, kind, NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(killed_imports_are_not_forgotten, world_external,
						world_drop),
		cmocka_unit_test_setup_teardown(damaged_journals_are_refused, world_external,
						world_drop),
	};
	return world_choose(2, argv)
		       ? cmocka_run_group_tests_name("rados import", tests, NULL, NULL)
		       : 0;
}
