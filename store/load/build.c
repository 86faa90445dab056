/* SPDX-License-Identifier: MIT */
/* A tree built by append: full blocks, each put after the last of the tree. */
#include <errno.h>
#include <stdlib.h>

#include "store/lmdb_err.h"
#include "store/load/load_priv.h"

void chi_load_put_down(struct chi_load *load)
{
	/* In a child it is the parent's. */
	bool forked = load->write != NULL && chi_env_forked(load->write->env);
	if (load->cursor != NULL && !forked) {
		mdb_cursor_close(load->cursor);
	}
	load->cursor = NULL;
}

/* Puts the last entry of a tree of LMDB's, at once or in a while; commits at times. */
static int put_last(struct chi_load *load, MDB_dbi tree, MDB_val *key, MDB_val *value)
{
	size_t size = key->mv_size + value->mv_size;
	int rc = 0;
	if (load->appender != NULL) {
		return chi_appender_put(load->appender, tree, key, value);
	}
	if (load->cursor != NULL && mdb_cursor_dbi(load->cursor) != tree) {
		chi_load_put_down(load);
	}
	if (load->cursor == NULL) {
		rc = mdb_cursor_open(load->txn, tree, &load->cursor);
	}
	rc = rc == 0 ? mdb_cursor_put(load->cursor, key, value, MDB_APPEND) : rc;
	/* What is appended ascends. */
	rc = rc == MDB_KEYEXIST ? MDB_CORRUPTED : rc;
	return rc == 0 ? chi_load_saved(load, size) : rc;
}

int chi_load_put_postings(struct chi_load *load, MDB_val *key, MDB_val *value)
{
	MDB_dbi tree = load->archive.postings;
	struct chi_chain_at *chain = &load->postings_chain;
	int rc = chain->len == 0 ? chi_chain_begin(load->txn, tree, chain) : 0;
	return rc == 0 ? put_last(load, tree, key, chi_chain_sign(chain, key, value)) : rc;
}

int chi_load_end_chains(struct chi_load *load)
{
	int rc = 0;
	if (load->ids_chain.len > 0) {
		rc = chi_chain_end(load->txn, load->ids, &load->ids_chain);
	}
	if (rc == 0 && load->postings_chain.len > 0) {
		rc = chi_chain_end(load->txn, load->archive.postings, &load->postings_chain);
	}
	return rc;
}

static struct chi_tree *tree_of(struct chi_load *load)
{
	return load->builder.kind == CHI_TREE_STRENGTH ? load->strength_tree : load->position_tree;
}

static int put_block(void *context, const uint8_t *low, size_t low_len, const uint8_t *bytes,
		     size_t len)
{
	struct chi_load *load = context;
	MDB_val key = chi_val(low, low_len);
	MDB_val value = chi_val(bytes, len);
	*tree_of(load)->bytes += chi_block_taken(low_len, len);
	return put_last(load, tree_of(load)->dbi, &key, &value);
}

int chi_load_build(struct chi_load *load, enum chi_tree_kind kind)
{
	if (load->room == NULL) {
		load->room = malloc(CHI_BUILDER_ROOM);
	}
	if (load->room == NULL) {
		return ENOMEM;
	}
	chi_load_put_down(load);
	chi_builder_init(&load->builder, kind, load->room, put_block, load);
	load->building = true;
	return 0;
}

int chi_load_append(struct chi_load *load, const MDB_val *key, const MDB_val *value)
{
	int rc = chi_builder_add(&load->builder, key->mv_data, key->mv_size, value->mv_data,
				 value->mv_size);
	return rc == -CHI_EINTERNAL ? MDB_KEYEXIST : rc;
}

int chi_load_built(struct chi_load *load)
{
	if (!load->building) {
		return 0;
	}
	load->building = false;
	int rc = chi_builder_finish(&load->builder);
	*tree_of(load)->entries = load->builder.added;
	chi_load_put_down(load);
	return rc == -CHI_EINTERNAL ? MDB_CORRUPTED : rc;
}
