/* SPDX-License-Identifier: MIT */
/*
 * A block that is looked at is copied, because LMDB may move a page at any change. Splits and joins
 * change one block's neighbours only where these are joined: a fence is the low key of the block
 * after it, and neither of a block's two borders moves while it is alone.
 */
#include "store/txn/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/lmdb_err.h"
#include "store/record/codec.h"

/* The longest block with its low key, and room for a change of one. */
#define ROOM	  (CHI_EDIT_ROOM + CHI_RECORD_BYTES_MAX)
#define EDIT_ROOM (2 * (size_t)ROOM)

void chi_tree_init(struct chi_tree *tree, enum chi_tree_kind kind, MDB_txn *txn, MDB_dbi dbi,
		   uint64_t *entries, uint64_t *bytes)
{
	*tree = (struct chi_tree){
		.kind = kind, .txn = txn, .dbi = dbi, .entries = entries, .bytes = bytes};
}

void chi_tree_deinit(struct chi_tree *tree)
{
	free(tree->memory);
	tree->memory = NULL;
	tree->loaded = false;
}

/* A code of ours as LMDB's. */
static int code_of(int status)
{
	switch (status) {
	case CHI_OK:
		return 0;
	case CHI_NONE:
		return MDB_NOTFOUND;
	case -CHI_ECORRUPT:
		return MDB_CORRUPTED;
	default:
		return MDB_BAD_VALSIZE;
	}
}

/* Keeps what LMDB failed in: some of a change may be made. */
static int changed(struct chi_tree *tree, int error)
{
	tree->broken = tree->broken || error != 0;
	return error;
}

static int ready(struct chi_tree *tree)
{
	if (tree->memory == NULL) {
		tree->memory = malloc(ROOM + EDIT_ROOM);
	}
	if (tree->memory == NULL) {
		return ENOMEM;
	}
	return tree->cursor != NULL ? 0 : mdb_cursor_open(tree->txn, tree->dbi, &tree->cursor);
}

/* Keeps a copy of a block. */
static int keep(struct chi_tree *tree, const void *low, size_t low_len, const void *bytes,
		size_t len, bool dirty)
{
	tree->loaded = false;
	tree->dirty = false;
	if (low_len > CHI_TREE_KEY_MAX || len > ROOM - CHI_TREE_KEY_MAX) {
		return MDB_CORRUPTED;
	}
	memcpy(tree->memory, low, low_len);
	memcpy(tree->memory + low_len, bytes, len);
	int rc = chi_block_open(tree->kind, tree->memory, low_len, tree->memory + low_len, len,
				&tree->block);
	tree->loaded = rc == CHI_OK;
	tree->dirty = tree->loaded && dirty;
	return code_of(rc);
}

/* `before`: what the block takes that it is put over. */
static int put(struct chi_tree *tree, const uint8_t *low, size_t low_len, size_t len,
	       uint64_t before)
{
	MDB_val key = chi_val(low, low_len);
	MDB_val value = chi_val(low + low_len, len);
	*tree->bytes += chi_block_taken(low_len, len) - before;
	return changed(tree, mdb_cursor_put(tree->cursor, &key, &value, 0));
}

int chi_tree_flush(struct chi_tree *tree)
{
	if (!tree->loaded || !tree->dirty) {
		return 0;
	}
	uint64_t before = tree->taken;
	tree->dirty = false;
	tree->taken = chi_block_taken(tree->block.low_len, tree->block.len);
	return put(tree, tree->block.low, tree->block.low_len, tree->block.len, before);
}

/* The block that is responsible for a key becomes the one that is kept. MDB_NOTFOUND: the tree is
 * empty. */
static int load(struct chi_tree *tree, const MDB_val *asked)
{
	if (tree->loaded && chi_block_covers(&tree->block, asked->mv_data, asked->mv_size)) {
		return 0;
	}
	int rc = ready(tree);
	rc = rc == 0 ? chi_tree_flush(tree) : rc;
	tree->loaded = false;
	if (rc != 0) {
		return rc;
	}
	MDB_val key = *asked;
	MDB_val value;
	rc = mdb_cursor_get(tree->cursor, &key, &value, MDB_SET_RANGE);
	if (rc == MDB_NOTFOUND) {
		rc = mdb_cursor_get(tree->cursor, &key, &value, MDB_LAST);
	} else if (rc == 0 && chi_tree_compare(tree->kind, key.mv_data, key.mv_size, asked->mv_data,
					       asked->mv_size) != 0) {
		rc = mdb_cursor_get(tree->cursor, &key, &value, MDB_PREV);
		/* The first block begins before all keys. */
		rc = rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
	}
	rc = rc == 0 ? keep(tree, key.mv_data, key.mv_size, value.mv_data, value.mv_size, false)
		     : rc;
	if (rc == 0 && !chi_block_covers(&tree->block, asked->mv_data, asked->mv_size)) {
		tree->loaded = false;
		return MDB_CORRUPTED;
	}
	tree->taken = rc == 0 ? chi_block_taken(tree->block.low_len, tree->block.len) : 0;
	return rc;
}

int chi_tree_find(struct chi_tree *tree, const MDB_val *key, MDB_val *value)
{
	const uint8_t *bytes = NULL;
	size_t len = 0;
	int rc = load(tree, key);
	if (rc != 0) {
		return rc;
	}
	rc = code_of(chi_block_find(&tree->block, key->mv_data, key->mv_size, &bytes, &len));
	*value = chi_val(bytes, len);
	return rc;
}

/* Takes over what became of the block: keeps the one that is responsible for `key`. */
static int adopt(struct chi_tree *tree, const struct chi_edit *edit, const MDB_val *key)
{
	uint32_t own = 0;
	for (uint32_t i = 1; i < edit->n; i++) {
		const uint8_t *low = edit->bytes + edit->blocks[i].at;
		if (chi_tree_compare(tree->kind, low, edit->blocks[i].low_len, key->mv_data,
				     key->mv_size) <= 0) {
			own = i;
		}
	}
	for (uint32_t i = 0; i < edit->n; i++) {
		int rc = i == own ? 0
				  : put(tree, edit->bytes + edit->blocks[i].at,
					edit->blocks[i].low_len, edit->blocks[i].len,
					i == 0 ? tree->taken : 0);
		if (rc != 0) {
			tree->loaded = false;
			return rc;
		}
	}
	/* The first one takes the place of the block that it came from. */
	tree->taken = own == 0 ? tree->taken : 0;
	const uint8_t *low = edit->bytes + edit->blocks[own].at;
	size_t low_len = edit->blocks[own].low_len;
	return keep(tree, low, low_len, low + low_len, edit->blocks[own].len, true);
}

static struct chi_edit edit_of(const struct chi_tree *tree)
{
	return (struct chi_edit){.bytes = tree->memory + ROOM, .size = EDIT_ROOM};
}

int chi_tree_set(struct chi_tree *tree, const MDB_val *key, const MDB_val *value)
{
	int added;
	int rc = load(tree, key);
	if (rc == MDB_NOTFOUND) {
		uint8_t *bytes = tree->memory + ROOM;
		size_t len = chi_block_empty(tree->kind, bytes, EDIT_ROOM);
		size_t low_len = chi_tree_first_len(tree->kind);
		rc = keep(tree, bytes, low_len, bytes + low_len, len, true);
	}
	if (rc != 0) {
		return rc;
	}
	struct chi_edit edit = edit_of(tree);
	/* An empty value is one too. */
	static const uint8_t nothing;
	rc = code_of(chi_block_edit(&tree->block, key->mv_data, key->mv_size,
				    value->mv_size > 0 ? value->mv_data : &nothing, value->mv_size,
				    &edit, &added));
	if (rc != 0) {
		return rc;
	}
	*tree->entries += (uint64_t)added;
	return adopt(tree, &edit, key);
}

/* ---- Joining -------------------------------------------------------------------------------- */

/* The block beside the one that is kept, which LMDB has. MDB_NOTFOUND: there is none, or it is
 * damaged: then it stays as it is. */
static int neighbour(struct chi_tree *tree, MDB_cursor_op side, struct chi_block *out)
{
	MDB_val key = chi_val(tree->block.low, tree->block.low_len);
	MDB_val value;
	int rc = mdb_cursor_get(tree->cursor, &key, &value, MDB_SET);
	rc = rc == 0 ? mdb_cursor_get(tree->cursor, &key, &value, side) : rc;
	if (rc == 0 && chi_block_open(tree->kind, key.mv_data, key.mv_size, value.mv_data,
				      value.mv_size, out) < 0) {
		rc = MDB_NOTFOUND;
	}
	return rc;
}

/* Joins the block with the one on that side. MDB_NOTFOUND: they are not joined. */
static int join(struct chi_tree *tree, MDB_cursor_op side)
{
	struct chi_block other;
	struct chi_edit edit = edit_of(tree);
	uint8_t gone[CHI_TREE_KEY_MAX];
	bool after = side == MDB_NEXT;
	int rc = neighbour(tree, side, &other);
	if (rc != 0) {
		return rc;
	}
	const struct chi_block *right = after ? &other : &tree->block;
	MDB_val key = {right->low_len, gone};
	uint64_t right_taken = chi_block_taken(right->low_len, right->len);
	uint64_t left_taken = after ? tree->taken : chi_block_taken(other.low_len, other.len);
	memcpy(gone, right->low, right->low_len);
	if (chi_block_join(after ? &tree->block : &other, right, &edit) != CHI_OK) {
		return MDB_NOTFOUND;
	}
	rc = changed(tree, mdb_del(tree->txn, tree->dbi, &key, NULL));
	*tree->bytes -= right_taken;
	tree->taken = left_taken;
	key = chi_val(edit.bytes, edit.blocks[0].low_len);
	return rc == 0 ? adopt(tree, &edit, &key) : rc;
}

/* Joins what has become small; what has become empty and has no neighbour goes. */
static int settle(struct chi_tree *tree)
{
	if (!chi_block_is_small(&tree->block)) {
		return 0;
	}
	int rc = chi_tree_flush(tree);
	if (rc == 0 && tree->block.groups == 0 && tree->block.fence_len == 0 &&
	    tree->block.low_len == chi_tree_first_len(tree->kind)) {
		MDB_val key = chi_val(tree->block.low, tree->block.low_len);
		tree->loaded = false;
		*tree->bytes -= tree->taken;
		return changed(tree, mdb_del(tree->txn, tree->dbi, &key, NULL));
	}
	rc = rc == 0 ? join(tree, MDB_NEXT) : rc;
	rc = rc == MDB_NOTFOUND ? join(tree, MDB_PREV) : rc;
	return rc == MDB_NOTFOUND ? 0 : rc;
}

int chi_tree_unset(struct chi_tree *tree, const MDB_val *key)
{
	int added;
	int rc = load(tree, key);
	if (rc != 0) {
		return rc;
	}
	struct chi_edit edit = edit_of(tree);
	rc = code_of(
		chi_block_edit(&tree->block, key->mv_data, key->mv_size, NULL, 0, &edit, &added));
	if (rc != 0) {
		return rc;
	}
	*tree->entries += (uint64_t)added;
	rc = adopt(tree, &edit, key);
	return rc == 0 ? settle(tree) : rc;
}

/* ---- Walking -------------------------------------------------------------------------------- */

/* The first entry of the block that is kept whose key is greater than `key`, or not less. */
static int next_in_block(struct chi_tree *tree, const MDB_val *key, bool or_equal,
			 struct chi_entry *out)
{
	struct chi_entry entries[CHI_GROUP_MOST];
	uint32_t group = 0;
	uint32_t n;
	int rc = tree->block.groups == 0
			 ? CHI_NONE
			 : chi_block_seek(&tree->block, key->mv_data, key->mv_size, &group);
	for (; rc == CHI_OK && group < tree->block.groups; group++) {
		rc = chi_group_read(&tree->block, group, entries, &n);
		for (uint32_t i = 0; rc == CHI_OK && i < n; i++) {
			int order =
				chi_tree_compare(tree->kind, chi_entry_key(&entries[i], tree->kind),
						 chi_entry_key_len(&entries[i], tree->kind),
						 key->mv_data, key->mv_size);
			if (order > 0 || (or_equal && order == 0)) {
				*out = entries[i];
				return CHI_OK;
			}
		}
	}
	return rc < 0 ? rc : CHI_NONE;
}

int chi_tree_next(struct chi_tree *tree, const MDB_val *key, struct chi_entry *out)
{
	uint8_t bytes[CHI_TREE_KEY_MAX];
	MDB_val from = key != NULL ? *key : chi_val(chi_tree_first, chi_tree_first_len(tree->kind));
	int rc = load(tree, &from);
	rc = rc == 0 ? code_of(next_in_block(tree, &from, false, out)) : rc;
	while (rc == MDB_NOTFOUND && tree->loaded && tree->block.fence_len > 0) {
		from = (MDB_val){tree->block.fence_len, bytes};
		memcpy(bytes, tree->block.fence, tree->block.fence_len);
		rc = load(tree, &from);
		rc = rc == 0 ? code_of(next_in_block(tree, &from, true, out)) : rc;
	}
	return rc;
}

int chi_tree_drop(struct chi_tree *tree)
{
	tree->loaded = false;
	tree->dirty = false;
	*tree->entries = 0;
	*tree->bytes = 0;
	return changed(tree, mdb_drop(tree->txn, tree->dbi, 0));
}
