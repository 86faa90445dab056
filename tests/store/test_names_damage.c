/* SPDX-License-Identifier: MIT */
/* The names tree with entries that are damaged, gone, or none of its own: verification tells, and
 * no reader takes harm. */
#include "tests/store/names_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "store/names/names_priv.h"
#include "tests/base/seed.h"

static unsigned reports;

static void count_report(void *context, const char *text)
{
	(void)context;
	(void)text;
	reports++;
}

/* ---- Damage ------------------------------------------------------------------------------- */

static void fill_some(void)
{
	for (unsigned i = 0; i < 300; i++) {
		char text[32];
		snprintf(text, sizeof(text), "Name%u, First%u", i, i % 7);
		names_intern(1 + i % (CHI_NAME_KINDS - 1), text, i % 5);
	}
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
	ok(chi_names_alias(names_txn, names_dbi, CHI_NAME_SITE, 3, 2, &fault));
	ok(chi_names_alias(names_txn, names_dbi, CHI_NAME_SOURCE, 1, 2, &fault));
	names_check();
}

/* Uses all that is read, whatever is there; only statuses may come. */
static void use_all(void)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids ids = {0};
	struct chi_suspect_list list;
	struct chi_name name;
	uint64_t names;
	uint32_t id;
	for (unsigned kind = 1; kind < CHI_NAME_KINDS; kind++) {
		(void)!chi_names_find(names_txn, names_dbi, kind, "Name7, First0", &ids);
		(void)!chi_names_find(names_txn, names_dbi, kind, "N", &ids);
		(void)!chi_names_group(names_txn, names_dbi, kind, 2, &ids);
		(void)!chi_name_text(names_txn, names_dbi, kind, 33, &name);
		(void)!chi_names_lookup(names_txn, names_dbi, kind, "Name7, First0", 13, &id);
		if (chi_names_suspects(names_txn, names_dbi, kind, CHI_ALIKE_INITIAL, &list) ==
		    CHI_OK) {
			chi_suspect_list_deinit(&list);
		}
	}
	(void)!chi_names_intern(names_cache, names_txn, names_dbi, CHI_NAME_PLAYER, "New", 3, 1,
				&id);
	(void)!chi_names_flush(names_cache, names_txn, names_dbi);
	(void)!chi_names_check(names_txn, names_dbi, count_report, NULL, &names);
}

/* One entry of the tree in a child transaction: taken out, or with a byte changed, or cut. */
static void damage(size_t at, unsigned how)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	uint8_t copy[8192];
	uint64_t names;
	assert_int_equal(mdb_cursor_open(names_txn, names_dbi, &cursor), 0);
	for (size_t i = 0; i <= at; i++) {
		assert_int_equal(mdb_cursor_get(cursor, &key, &value, MDB_NEXT), 0);
	}
	assert_true(value.mv_size <= sizeof(copy));
	memcpy(copy, value.mv_data, value.mv_size);
	value.mv_data = copy;
	if (how == 0) {
		assert_int_equal(mdb_cursor_del(cursor, 0), 0);
	} else if (how == 1) {
		copy[help_below((unsigned)value.mv_size)] ^= (uint8_t)(1 << help_below(8));
		assert_int_equal(mdb_cursor_put(cursor, &key, &value, MDB_CURRENT), 0);
	} else {
		value.mv_size = help_below((unsigned)value.mv_size);
		assert_int_equal(mdb_cursor_put(cursor, &key, &value, MDB_CURRENT), 0);
	}
	mdb_cursor_close(cursor);
	reports = 0;
	assert_int_equal(chi_names_check(names_txn, names_dbi, count_report, NULL, &names),
			 -CHI_ECORRUPT);
	assert_true(reports > 0);
	use_all();
}

CASE(test_finds_damage, names_setup, names_teardown)
{
	MDB_stat stat;
	fill_some();
	names_commit();
	names_begin();
	assert_int_equal(mdb_stat(names_txn, names_dbi, &stat), 0);
	mdb_txn_abort(names_txn);
	for (size_t i = 0; i < seed_rounds(300); i++) {
		names_begin();
		damage(help_below((unsigned)stat.ms_entries), (unsigned)i % 3);
		mdb_txn_abort(names_txn);
		names_txn = NULL;
		chi_name_cache_reset(names_cache);
	}
}

/* An entry more than there should be is damage too. */
CASE(test_finds_strange_entries, names_setup, names_teardown)
{
	static const struct {
		const char *key;
		size_t len;
	} strange[] = {
		{"\x01", 1},
		{"\x06\x01", 2},
		{"\x01\x07\x00\x00\x00\x00", 6},
		{"\x01\x01\x00", 3},
		{"\x05\x01\x00\x00\x00\x01\x00\x00\x00\x02", 10},
		{"\x05\x01\x00", 3},
		{"\x03\x01\x00", 3},
	};
	fill_some();
	names_commit();
	for (size_t i = 0; i < CHI_COUNT(strange); i++) {
		uint64_t names;
		char bytes[16];
		MDB_val key = {strange[i].len, bytes};
		MDB_val value = {0, bytes};
		memcpy(bytes, strange[i].key, strange[i].len);
		names_begin();
		assert_int_equal(
			chi_chain_put(names_txn, names_dbi, CHI_CHAIN_NAMES, &key, &value, 0), 0);
		assert_int_equal(chi_names_check(names_txn, names_dbi, count_report, NULL, &names),
				 -CHI_ECORRUPT);
		use_all();
		mdb_txn_abort(names_txn);
		names_txn = NULL;
		chi_name_cache_reset(names_cache);
	}
}

/* Whatever bit of a chunk is wrong, none of its names is given. */
CASE(test_returns_no_damaged_name, names_setup, names_teardown)
{
	uint8_t key_bytes[CHI_CHUNK_KEY];
	uint8_t copy[CHI_CHUNK_MAX];
	MDB_val key = {sizeof(key_bytes), key_bytes};
	MDB_val value;
	fill_some();
	chi_chunk_key(CHI_NAME_SITE, 0, key_bytes);
	assert_int_equal(chi_chain_get(names_txn, names_dbi, CHI_CHAIN_NAMES, &key, &value), 0);
	size_t len = value.mv_size;
	memcpy(copy, value.mv_data, len);
	for (size_t bit = 0; bit < 8 * len; bit++) {
		struct chi_name name;
		value = (MDB_val){len, copy};
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(
			chi_chain_put(names_txn, names_dbi, CHI_CHAIN_NAMES, &key, &value, 0), 0);
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(chi_name_text(names_txn, names_dbi, CHI_NAME_SITE, 1, &name),
				 -CHI_ECORRUPT);
	}
}

/* Roots that are joined themselves, are not there, or are the name itself. */
CASE(test_finds_chains, names_setup, names_teardown)
{
	static const uint32_t roots[] = {3, 5, 1000};
	fill_some();
	names_commit();
	for (size_t i = 0; i < CHI_COUNT(roots); i++) {
		uint64_t names;
		struct chi_name name;
		uint8_t bytes[CHI_MEMBER_KEY];
		MDB_val key = {sizeof(bytes), bytes};
		MDB_val value = {0, bytes};
		names_begin();
		ok(chi_name_text(names_txn, names_dbi, CHI_NAME_SITE, 5, &name));
		name.root = roots[i];
		ok(chi_name_rewrite(names_txn, names_dbi, CHI_NAME_SITE, &name));
		chi_member_key(CHI_NAME_SITE, roots[i], 5, bytes);
		assert_int_equal(
			chi_chain_put(names_txn, names_dbi, CHI_CHAIN_NAMES, &key, &value, 0), 0);
		reports = 0;
		assert_int_equal(chi_names_check(names_txn, names_dbi, count_report, NULL, &names),
				 -CHI_ECORRUPT);
		assert_int_equal(reports, 1);
		use_all();
		mdb_txn_abort(names_txn);
		names_txn = NULL;
		chi_name_cache_reset(names_cache);
	}
}

/* A name that was removed, and an index or an alias that leads to it. */
CASE(test_finds_what_leads_to_removed_names, names_setup, names_teardown)
{
	const struct chi_name removed = {.id = 4};
	uint64_t names;
	fill_some();
	names_commit();
	for (size_t i = 0; i < 2; i++) {
		names_begin();
		if (i == 0) {
			ok(chi_name_rewrite(names_txn, names_dbi, CHI_NAME_SITE, &removed));
		} else {
			ok(chi_names_alias(names_txn, names_dbi, CHI_NAME_SITE, 5, 4, &fault));
			struct chi_name name;
			ok(chi_name_text(names_txn, names_dbi, CHI_NAME_SITE, 4, &name));
			struct chi_name_item item =
				chi_text_item(CHI_NAME_SITE, name.text, name.len);
			item.id = 4;
			ok(chi_list_remove(names_txn, names_dbi, &item));
			assert_int_equal(chi_list_remove(names_txn, names_dbi, &item),
					 -CHI_ECORRUPT);
			ok(chi_name_rewrite(names_txn, names_dbi, CHI_NAME_SITE, &removed));
		}
		reports = 0;
		assert_int_equal(chi_names_check(names_txn, names_dbi, count_report, NULL, &names),
				 -CHI_ECORRUPT);
		assert_int_equal(reports, 2);
		use_all();
		mdb_txn_abort(names_txn);
		names_txn = NULL;
		chi_name_cache_reset(names_cache);
	}
}

CASES_MAIN(NULL, help_teardown)
