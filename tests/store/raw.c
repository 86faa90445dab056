/* SPDX-License-Identifier: MIT */
#include "tests/store/raw.h"

#include <string.h>

#include "store/chain/chain.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "store/txn/tree.h"

bool raw_wrong_order;

static int compare(const MDB_val *a, const MDB_val *b)
{
	return chi_strength_compare(a->mv_data, a->mv_size, b->mv_data, b->mv_size);
}

/* A write transaction on the store's file, as no program should begin one. */
struct raw {
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
};

static void raw_open(struct raw *raw, const char *name, const char *tree)
{
	assert_int_equal(mdb_env_create(&raw->env), 0);
	assert_int_equal(mdb_env_set_maxdbs(raw->env, 16), 0);
	assert_int_equal(mdb_env_open(raw->env, help_path(name), MDB_NOSYNC, 0600), 0);
	assert_int_equal(mdb_txn_begin(raw->env, NULL, 0, &raw->txn), 0);
	assert_int_equal(mdb_dbi_open(raw->txn, tree, 0, &raw->dbi), 0);
	if (strcmp(tree, "strength") == 0 && !raw_wrong_order) {
		assert_int_equal(mdb_set_compare(raw->txn, raw->dbi, compare), 0);
	}
}

/* The state counts the transaction, and what it added. */
static void raw_close(struct raw *raw, const struct chi_store_state *more)
{
	MDB_dbi meta;
	struct chi_store_state state;
	assert_int_equal(mdb_dbi_open(raw->txn, "meta", 0, &meta), 0);
	if (chi_state_get(raw->txn, meta, &state) == CHI_OK) {
		state.sequence++;
		state.positions += more->positions;
		state.known += more->known;
		state.position_bytes += more->position_bytes;
		state.strength_bytes += more->strength_bytes;
		assert_int_equal(chi_state_put(raw->txn, meta, &state), 0);
	}
	assert_int_equal(mdb_txn_commit(raw->txn), 0);
	mdb_env_close(raw->env);
}

/* Puts into or deletes from one tree alone, in blocks that are sound. `value` NULL deletes. */
void raw_change(const char *name, const char *tree, const void *key, size_t key_len,
		const void *value, size_t len)
{
	struct raw raw;
	struct chi_tree blocks;
	uint64_t entries = 0;
	uint64_t bytes = 0;
	bool position = strcmp(tree, "position") == 0;
	const MDB_val k = chi_val(key, key_len);
	const MDB_val v = chi_val(value, len);
	raw_open(&raw, name, tree);
	chi_tree_init(&blocks, position ? CHI_TREE_POSITION : CHI_TREE_STRENGTH, raw.txn, raw.dbi,
		      &entries, &bytes);
	assert_int_equal(
		value != NULL ? chi_tree_set(&blocks, &k, &v) : chi_tree_unset(&blocks, &k), 0);
	assert_int_equal(chi_tree_flush(&blocks), 0);
	chi_tree_deinit(&blocks);
	struct chi_store_state more = {0};
	*(position ? &more.positions : &more.known) = entries;
	*(position ? &more.position_bytes : &more.strength_bytes) = bytes;
	raw_close(&raw, &more);
}

enum chi_chain raw_chain(const char *tree)
{
	enum chi_chain chain = CHI_CHAIN_TRAITS;
	while (chain > 0 && strcmp(chi_chain_name(chain), tree) != 0) {
		chain--;
	}
	return chain;
}

/* Puts a whole block, a record of the meta tree or a value as it is. */
void raw_put(const char *name, const char *tree, const void *key, size_t key_len, const void *value,
	     size_t len)
{
	struct raw raw;
	const enum chi_chain chain = raw_chain(tree);
	uint8_t key_copy[64];
	static uint8_t copy[CHI_RECORD_BYTES_MAX];
	memcpy(key_copy, key, key_len);
	MDB_val k = {key_len, key_copy};
	raw_open(&raw, name, tree);
	if (value != NULL) {
		memcpy(copy, value, len);
		MDB_val v = {len, copy};
		assert_int_equal(chain != 0 ? chi_chain_put(raw.txn, raw.dbi, chain, &k, &v, 0)
					    : mdb_put(raw.txn, raw.dbi, &k, &v, 0),
				 0);
	} else {
		assert_int_equal(chain != 0 ? chi_chain_del(raw.txn, raw.dbi, chain, &k)
					    : mdb_del(raw.txn, raw.dbi, &k, NULL),
				 0);
	}
	if (strcmp(tree, "meta") == 0) {
		assert_int_equal(mdb_txn_commit(raw.txn), 0);
		mdb_env_close(raw.env);
	} else {
		raw_close(&raw, &(struct chi_store_state){0});
	}
}

void raw_edit(const char *name, const char *tree,
	      int (*edit)(MDB_txn *txn, MDB_dbi dbi, uint32_t number), uint32_t number)
{
	struct raw raw;
	raw_open(&raw, name, tree);
	ok(edit(raw.txn, raw.dbi, number));
	raw_close(&raw, &(struct chi_store_state){0});
}

/* The block that has a key; where in it the group with the key is, and its bytes. */
void raw_find(const char *name, const char *tree, enum chi_tree_kind kind, const uint8_t *key,
	      size_t key_len, struct raw_block *out, size_t *at, size_t *len)
{
	struct raw raw;
	MDB_cursor *cursor;
	MDB_val k = chi_val(key, key_len);
	MDB_val v;
	struct chi_block block;
	uint32_t group;
	raw_open(&raw, name, tree);
	assert_int_equal(mdb_cursor_open(raw.txn, raw.dbi, &cursor), 0);
	int rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	if (rc != 0 || chi_tree_compare(kind, k.mv_data, k.mv_size, key, key_len) != 0) {
		rc = mdb_cursor_get(cursor, &k, &v, rc == 0 ? MDB_PREV : MDB_LAST);
	}
	assert_int_equal(rc, 0);
	out->low_len = k.mv_size;
	out->len = v.mv_size;
	memcpy(out->low, k.mv_data, k.mv_size);
	memcpy(out->bytes, v.mv_data, v.mv_size);
	mdb_cursor_close(cursor);
	mdb_txn_abort(raw.txn);
	mdb_env_close(raw.env);
	ok(chi_block_open(kind, out->low, out->low_len, out->bytes, out->len, &block));
	ok(chi_block_seek(&block, key, key_len, &group));
	*at = group == 0 ? block.head
			 : block.offsets[2 * group - 2] + 256u * block.offsets[2 * group - 1];
	*len = (group + 1 == block.groups
			? block.len
			: block.offsets[2 * group] + 256u * block.offsets[2 * group + 1]) -
	       *at;
}
