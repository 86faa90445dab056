/* SPDX-License-Identifier: MIT */
#include "tests/store/archive.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "store/chain/chain.h"
#include "store/games/archive.h"
#include "store/games/body.h"
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

int archive_put(struct chi_archive_writer *writer, const struct chi_game *game)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer packed;
	struct chi_packed_game opened;
	chi_buffer_init(&packed, 2 * (size_t)CHI_BODY_MAX);
	int rc = chi_game_pack(game, NULL, &packed);
	rc = rc == CHI_OK ? chi_packed_open(chi_buffer_bytes(&packed), packed.len, &opened) : rc;
	return rc == CHI_OK ? chi_archive_append_packed(writer, game->head.number,
							game->head.source, &opened, NULL)
			    : rc;
}
