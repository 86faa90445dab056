/* SPDX-License-Identifier: MIT */
/* A tree that the tests of names fill, look at and damage. */
#include "tests/store/names_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"

static MDB_env *names_env;
MDB_txn *names_txn;
MDB_dbi names_dbi;
struct chi_name_cache *names_cache;

static void print_report(void *context, const char *text)
{
	(void)context;
	print_message("# %s\n", text);
}

void names_begin(void)
{
	assert_int_equal(mdb_txn_begin(names_env, NULL, 0, &names_txn), 0);
	assert_int_equal(mdb_dbi_open(names_txn, NAMES_TREE, MDB_CREATE, &names_dbi), 0);
	MDB_stat stat;
	assert_int_equal(mdb_stat(names_txn, names_dbi, &stat), 0);
	if (stat.ms_entries == 0) {
		assert_int_equal(chi_chain_make(names_txn, names_dbi, CHI_CHAIN_NAMES), 0);
	}
}

void names_check(void)
{
	uint64_t names;
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
	ok(chi_names_check(names_txn, names_dbi, print_report, NULL, &names));
}

void names_commit(void)
{
	names_check();
	assert_int_equal(mdb_txn_commit(names_txn), 0);
	chi_name_cache_reset(names_cache);
	names_txn = NULL;
}

int names_setup(void **state)
{
	(void)state;
	const char *path = help_path("names.mdb");
	remove(path);
	assert_int_equal(mdb_env_create(&names_env), 0);
	assert_int_equal(mdb_env_set_maxdbs(names_env, 1), 0);
	assert_int_equal(mdb_env_set_mapsize(names_env, (size_t)256 << 20), 0);
	assert_int_equal(mdb_env_open(names_env, path, MDB_NOSUBDIR | MDB_NOSYNC, 0600), 0);
	ok(chi_name_cache_new((size_t)1 << 20, &names_cache));
	names_begin();
	return 0;
}

int names_teardown(void **state)
{
	(void)state;
	if (names_txn != NULL) {
		mdb_txn_abort(names_txn);
		names_txn = NULL;
	}
	mdb_env_close(names_env);
	chi_name_cache_free(names_cache);
	return 0;
}

uint32_t names_intern(enum chi_name_kind kind, const char *text, uint32_t fide)
{
	uint32_t id;
	ok(chi_names_intern(names_cache, names_txn, names_dbi, kind, text, strlen(text), fide,
			    &id));
	return id;
}

uint32_t names_player(const char *text)
{
	return names_intern(CHI_NAME_PLAYER, text, 0);
}

struct chi_name names_at(enum chi_name_kind kind, uint32_t id)
{
	struct chi_name name;
	ok(chi_name_text(names_txn, names_dbi, kind, id, &name));
	return name;
}

/* What is found, as "1 2 5". */
const char *names_found(enum chi_name_kind kind, const char *wanted)
{
	static char text[4096];
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids ids = {0};
	text[0] = '\0';
	ok(chi_names_find(names_txn, names_dbi, kind, wanted, &ids));
	for (size_t i = 0; i < ids.n; i++) {
		size_t at = strlen(text);
		snprintf(text + at, sizeof(text) - at, "%s%u", i > 0 ? " " : "", ids.id[i]);
	}
	return text;
}
