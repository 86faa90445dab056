/* SPDX-License-Identifier: MIT */
#include "tests/store/archive.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "store/chain/chain.h"
#include "tests/store/help.h"

static MDB_dbi tree(struct archive *archive, const char *name, enum chi_chain chain)
{
	MDB_dbi dbi;
	assert_int_equal(mdb_dbi_open(archive->txn, name, MDB_CREATE, &dbi), 0);
	assert_int_equal(chi_chain_make(archive->txn, dbi, chain), 0);
	return dbi;
}

int archive_setup(void **state)
{
	struct archive *archive = calloc(1, sizeof(*archive));
	const char *path = help_path("archive");
	assert_non_null(archive);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(mdb_env_create(&archive->env), 0);
	assert_int_equal(mdb_env_set_maxdbs(archive->env, 6), 0);
	assert_int_equal(mdb_env_set_mapsize(archive->env, (size_t)1 << 30), 0);
	assert_int_equal(mdb_env_open(archive->env, path, MDB_NOSYNC, 0600), 0);
	assert_int_equal(mdb_txn_begin(archive->env, NULL, 0, &archive->txn), 0);
	archive->trees = (struct chi_archive_trees){
		.games = tree(archive, "games", CHI_CHAIN_GAMES),
		.columns = tree(archive, "columns", CHI_CHAIN_COLUMNS),
		.names = tree(archive, "names", CHI_CHAIN_NAMES),
		.postings = tree(archive, "postings", CHI_CHAIN_POSTINGS),
		.traits = tree(archive, "traits", CHI_CHAIN_TRAITS),
		.gamesets = tree(archive, "gamesets", CHI_CHAIN_GAMESETS),
	};
	*state = archive;
	return 0;
}

int archive_teardown(void **state)
{
	struct archive *archive = *state;
	mdb_txn_abort(archive->txn);
	mdb_env_close(archive->env);
	free(archive);
	return help_teardown(state);
}
