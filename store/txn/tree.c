/* SPDX-License-Identifier: MIT */
/*
 * Blocks are looked into where LMDB has them, which holds until it changes anything; what lives
 * longer is copied. What becomes of a block is made in one of two rooms, by turns, as the other one
 * may hold the block. Splits and joins change one block's neighbours only where these are joined: a
 * fence is the low key of the block after it, and neither of a block's two borders moves while it
 * is alone.
 */
#include "store/txn/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"

/* The longest block with its low key, and room for a change of one. */
#define ROOM	  (CHI_EDIT_ROOM + CHI_RECORD_BYTES_MAX)
#define EDIT_ROOM (2 * (size_t)ROOM)

/* The most bytes of keys and values that are pending. */
#define PENDING_BYTES (8u << 20)

#define NO_MARK SIZE_MAX

void chi_tree_init(struct chi_tree *tree, enum chi_tree_kind kind, MDB_txn *txn, MDB_dbi dbi,
		   uint64_t *entries, uint64_t *bytes)
{
	*tree = (struct chi_tree){
		.kind = kind,
		.txn = txn,
		.dbi = dbi,
		.entries = entries,
		.bytes = bytes,
		.most = CHI_TREE_PENDING_FEW,
		.mark = NO_MARK,
	};
	chi_memtable_init(&tree->pending);
}

void chi_tree_deinit(struct chi_tree *tree)
{
	chi_memtable_deinit(&tree->pending);
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

static int ready_tree(struct chi_tree *tree)
{
	if (tree->memory == NULL) {
		tree->memory = malloc(ROOM);
	}
	if (tree->memory == NULL) {
		return ENOMEM;
	}
	return tree->cursor != NULL ? 0 : mdb_cursor_open(tree->txn, tree->dbi, &tree->cursor);
}

/* The block at LMDB's cursor, if it is responsible for a key. */
static int open_at(const struct chi_tree *tree, const MDB_val *low, const MDB_val *bytes,
		   const MDB_val *asked, struct chi_block *out)
{
	bool good = bytes->mv_size <= ROOM - CHI_TREE_KEY_MAX &&
		    chi_block_open(tree->kind, low->mv_data, low->mv_size, bytes->mv_data,
				   bytes->mv_size, out) == CHI_OK &&
		    chi_block_covers(out, asked->mv_data, asked->mv_size);
	return good ? 0 : MDB_CORRUPTED;
}

/* By the first block that begins after the key, which may be on another page. */
static int locate_from_next(struct chi_tree *tree, const MDB_val *asked, struct chi_block *out)
{
	MDB_val key = *asked;
	MDB_val value;
	int rc = mdb_cursor_get(tree->cursor, &key, &value, MDB_SET_RANGE);
	if (rc == MDB_NOTFOUND) {
		rc = mdb_cursor_get(tree->cursor, &key, &value, MDB_LAST);
	} else if (rc == 0 && chi_tree_compare(tree->kind, key.mv_data, key.mv_size, asked->mv_data,
					       asked->mv_size) != 0) {
		rc = mdb_cursor_get(tree->cursor, &key, &value, MDB_PREV);
		/* The first block begins before all keys. */
		rc = rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
	}
	return rc == 0 ? open_at(tree, &key, &value, asked, out) : rc;
}

/* The block that LMDB has for a key. The cursor is on it, and it lives until LMDB changes anything.
 * MDB_NOTFOUND: the tree is empty. Where LMDB does not find a key it leaves the cursor where that
 * would be, so that the one before is nearly always on the same page; what it does not promise is
 * tried, and looked for otherwise if it fails. */
static int locate(struct chi_tree *tree, const MDB_val *asked, struct chi_block *out)
{
	int rc = ready_tree(tree);
	if (rc != 0) {
		return rc;
	}
	MDB_val key = *asked;
	MDB_val value;
	rc = mdb_cursor_get(tree->cursor, &key, &value, MDB_SET);
	if (rc == MDB_NOTFOUND) {
		rc = mdb_cursor_get(tree->cursor, &key, &value, MDB_PREV);
	}
	rc = rc == 0 ? open_at(tree, &key, &value, asked, out) : rc;
	return CHI_LIKELY(rc == 0) ? 0 : locate_from_next(tree, asked, out);
}

/* ---- Looking up ----------------------------------------------------------------------------- */

/* Keeps a copy of a block that LMDB has. */
static int keep_copy(struct chi_tree *tree, const struct chi_block *block)
{
	memcpy(tree->memory, block->low, block->low_len);
	memcpy(tree->memory + block->low_len, block->bytes, block->len);
	int rc = chi_block_open(tree->kind, tree->memory, block->low_len,
				tree->memory + block->low_len, block->len, &tree->block);
	tree->loaded = rc == CHI_OK;
	tree->dirty = false;
	return code_of(rc);
}

static bool is_kept(const struct chi_tree *tree, const MDB_val *key)
{
	return tree->loaded && chi_block_covers(&tree->block, key->mv_data, key->mv_size);
}

/* Keeps a copy of the block that is responsible for a key. */
static int hold_block(struct chi_tree *tree, const MDB_val *key)
{
	struct chi_block block;
	int rc = is_kept(tree, key) ? 0 : locate(tree, key, &block);
	return rc != 0 || is_kept(tree, key) ? rc : keep_copy(tree, &block);
}

/* The value in a block that is not kept. */
static int find_in(struct chi_tree *tree, const struct chi_block *block, const MDB_val *key,
		   MDB_val *value)
{
	const uint8_t *bytes = NULL;
	size_t len = 0;
	int rc = code_of(chi_block_find(block, key->mv_data, key->mv_size, &bytes, &len));
	tree->loaded = false;
	if (rc == 0 && len > 0) {
		memcpy(tree->memory, bytes, len);
	}
	*value = chi_val(tree->memory, len);
	return rc;
}

/* A block that was looked into is copied the second time in a row: who asks in the tree's order
 * asks again. */
static int find_stored(struct chi_tree *tree, const MDB_val *key, MDB_val *value)
{
	struct chi_block block;
	const uint8_t *bytes = NULL;
	size_t len = 0;
	if (!is_kept(tree, key)) {
		int rc = locate(tree, key, &block);
		if (rc != 0) {
			return rc;
		}
		bool again = tree->seen_len == block.low_len &&
			     memcmp(tree->seen, block.low, block.low_len) == 0;
		tree->seen_len = block.low_len;
		memcpy(tree->seen, block.low, block.low_len);
		rc = again ? keep_copy(tree, &block) : find_in(tree, &block, key, value);
		if (rc != 0 || !again) {
			return rc;
		}
	}
	int rc = code_of(chi_block_find(&tree->block, key->mv_data, key->mv_size, &bytes, &len));
	*value = chi_val(bytes, len);
	return rc;
}

int chi_tree_find(struct chi_tree *tree, const MDB_val *key, MDB_val *value)
{
	const struct chi_memtable_entry *entry;
	*value = (MDB_val){0};
	if (chi_memtable_find(&tree->pending, key->mv_data, key->mv_size, &entry) < 0) {
		return ENOMEM;
	}
	if (entry == NULL) {
		return find_stored(tree, key, value);
	}
	*value = chi_val(chi_memtable_value(entry), entry->len);
	return entry->puts ? 0 : MDB_NOTFOUND;
}

/* ---- Changing ------------------------------------------------------------------------------- */

/* `before`: what the block takes that it is put over. */
static int put_block(struct chi_tree *tree, const uint8_t *low, size_t low_len, size_t len,
		     uint64_t before, bool at_cursor)
{
	MDB_val key = chi_val(low, low_len);
	MDB_val value = chi_val(low + low_len, len);
	*tree->bytes += chi_block_taken(low_len, len) - before;
	tree->at_cursor = false;
	return mdb_cursor_put(tree->cursor, &key, &value, at_cursor ? MDB_CURRENT : 0);
}

/* Gives LMDB the block that is kept. */
static int put_kept(struct chi_tree *tree)
{
	if (!tree->loaded || !tree->dirty) {
		return 0;
	}
	uint64_t before = tree->taken;
	tree->dirty = false;
	tree->taken = chi_block_taken(tree->block.low_len, tree->block.len);
	return put_block(tree, tree->block.low, tree->block.low_len, tree->block.len, before,
			 tree->at_cursor);
}

/* Keeps a block as it is in the memory. */
static int keep_bytes(struct chi_tree *tree, const uint8_t *low, size_t low_len, size_t len)
{
	int rc = chi_block_open(tree->kind, low, low_len, low + low_len, len, &tree->block);
	tree->loaded = rc == CHI_OK;
	tree->dirty = tree->loaded;
	return code_of(rc);
}

/* The block that is responsible for a key becomes the one that is kept, until LMDB changes
 * anything. In an empty tree it is made. */
static int load_block(struct chi_tree *tree, const MDB_val *asked)
{
	if (is_kept(tree, asked)) {
		return 0;
	}
	int rc = put_kept(tree);
	tree->loaded = false;
	rc = rc == 0 ? locate(tree, asked, &tree->block) : rc;
	if (rc == MDB_NOTFOUND) {
		tree->taken = 0;
		tree->at_cursor = false;
		return keep_bytes(tree, tree->memory, chi_tree_first_len(tree->kind),
				  chi_block_empty(tree->kind, tree->memory, ROOM));
	}
	tree->loaded = rc == 0;
	tree->dirty = false;
	tree->at_cursor = rc == 0;
	tree->taken = rc == 0 ? chi_block_taken(tree->block.low_len, tree->block.len) : 0;
	return rc;
}

/* Takes over what became of the block: keeps the one that is responsible for `key`. */
static int adopt(struct chi_tree *tree, const struct chi_block_edit *edit, const MDB_val *key)
{
	uint32_t own = 0;
	tree->side ^= 1;
	for (uint32_t i = 1; i < edit->n; i++) {
		const uint8_t *low = edit->bytes + edit->blocks[i].at;
		if (chi_tree_compare(tree->kind, low, edit->blocks[i].low_len, key->mv_data,
				     key->mv_size) <= 0) {
			own = i;
		}
	}
	for (uint32_t i = 0; i < edit->n; i++) {
		int rc = i == own ? 0
				  : put_block(tree, edit->bytes + edit->blocks[i].at,
					      edit->blocks[i].low_len, edit->blocks[i].len,
					      i == 0 ? tree->taken : 0, i == 0 && tree->at_cursor);
		if (rc != 0) {
			tree->loaded = false;
			return rc;
		}
	}
	/* The first one takes the place of the block that it came from. */
	tree->taken = own == 0 ? tree->taken : 0;
	return keep_bytes(tree, edit->bytes + edit->blocks[own].at, edit->blocks[own].low_len,
			  edit->blocks[own].len);
}

static struct chi_block_edit edit_of(const struct chi_tree *tree)
{
	return (struct chi_block_edit){.bytes = tree->rooms + tree->side * EDIT_ROOM,
				       .size = EDIT_ROOM};
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
static int join_blocks(struct chi_tree *tree, MDB_cursor_op side)
{
	struct chi_block other;
	struct chi_block_edit edit = edit_of(tree);
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
	rc = mdb_del(tree->txn, tree->dbi, &key, NULL);
	*tree->bytes -= right_taken;
	tree->at_cursor = false;
	tree->taken = left_taken;
	key = chi_val(edit.bytes, edit.blocks[0].low_len);
	return rc == 0 ? adopt(tree, &edit, &key) : rc;
}

/* Joins what has become small; what has become empty and has no neighbour goes. */
static int settle_block(struct chi_tree *tree)
{
	if (!chi_block_is_small(&tree->block)) {
		return 0;
	}
	int rc = put_kept(tree);
	if (rc == 0 && tree->block.groups == 0 && tree->block.fence_len == 0 &&
	    tree->block.low_len == chi_tree_first_len(tree->kind)) {
		MDB_val key = chi_val(tree->block.low, tree->block.low_len);
		tree->loaded = false;
		*tree->bytes -= tree->taken;
		return mdb_del(tree->txn, tree->dbi, &key, NULL);
	}
	rc = rc == 0 ? join_blocks(tree, MDB_NEXT) : rc;
	rc = rc == MDB_NOTFOUND ? join_blocks(tree, MDB_PREV) : rc;
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* The first of so many entries of the log that are of one block, at once. *done: how many. */
static int change_block(struct chi_tree *tree, const struct chi_memtable_entry *entries, size_t n,
			size_t *done)
{
	struct chi_change changes[CHI_EDIT_CHANGES];
	MDB_val key = chi_val(entries[0].key, entries[0].key_len);
	size_t values = 0;
	uint32_t k = 0;
	int added;
	bool removes = false;
	int rc = load_block(tree, &key);
	if (rc != 0) {
		return rc;
	}
	for (; k < n && k < CHI_EDIT_CHANGES; k++) {
		const struct chi_memtable_entry *entry = &entries[k];
		values += entry->puts ? entry->len : 0;
		if (k > 0 && (values > CHI_EDIT_VALUES ||
			      !chi_block_covers(&tree->block, entry->key, entry->key_len))) {
			break;
		}
		key = chi_val(entry->key, entry->key_len);
		removes = removes || !entry->puts;
		changes[k] =
			(struct chi_change){.key = entry->key,
					    .key_len = entry->key_len,
					    .value = entry->puts ? chi_memtable_value(entry) : NULL,
					    .len = entry->len,
					    .may_lack = entry->first_puts};
	}
	*done = k;
	struct chi_block_edit edit = edit_of(tree);
	rc = code_of(chi_edit_block(&tree->block, changes, k, &edit, &added));
	if (rc != 0) {
		/* What is to be removed is not there. */
		return rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
	}
	*tree->entries += (uint64_t)added;
	rc = adopt(tree, &edit, &key);
	return rc == 0 && removes ? settle_block(tree) : rc;
}

int chi_tree_flush(struct chi_tree *tree)
{
	struct chi_memtable *pending = &tree->pending;
	if (pending->n == 0) {
		return 0;
	}
	int rc = ready_tree(tree);
	/* Not longer than they are needed: small transactions then find the allocator's memory as
	 * the last one left it. */
	tree->rooms = rc == 0 ? malloc(2 * EDIT_ROOM) : NULL;
	if (tree->rooms == NULL) {
		return rc == 0 ? ENOMEM : rc;
	}
	tree->loaded = false;
	tree->seen_len = 0;
	chi_memtable_sort(pending, tree->kind);
	for (size_t i = 0; rc == 0 && i < pending->n;) {
		size_t done = 0;
		rc = change_block(tree, pending->log + i, pending->n - i, &done);
		i += done;
	}
	rc = rc == 0 ? put_kept(tree) : rc;
	tree->loaded = false;
	tree->broken = tree->broken || rc != 0;
	free(tree->rooms);
	tree->rooms = NULL;
	chi_memtable_clear(pending);
	tree->mark = tree->mark != NO_MARK ? 0 : NO_MARK;
	return rc;
}

/* Changes since the mark wait, however many. */
static int change(struct chi_tree *tree, const MDB_val *key, const void *value, size_t len)
{
	const struct chi_memtable *pending = &tree->pending;
	bool may_flush = tree->mark == NO_MARK || tree->mark == pending->n;
	if (may_flush && (pending->n >= tree->most || pending->bytes >= PENDING_BYTES)) {
		int rc = chi_tree_flush(tree);
		if (rc != 0) {
			return rc;
		}
	}
	return chi_memtable_add(&tree->pending, tree->kind, key->mv_data, key->mv_size, value,
				len) < 0
		       ? ENOMEM
		       : 0;
}

int chi_tree_set(struct chi_tree *tree, const MDB_val *key, const MDB_val *value)
{
	/* An empty value is one too. */
	static const uint8_t nothing;
	return change(tree, key, value->mv_size > 0 ? value->mv_data : &nothing, value->mv_size);
}

int chi_tree_unset(struct chi_tree *tree, const MDB_val *key)
{
	return change(tree, key, NULL, 0);
}

void chi_tree_mark(struct chi_tree *tree)
{
	tree->mark = tree->pending.n;
}

void chi_tree_rollback(struct chi_tree *tree)
{
	chi_memtable_truncate(&tree->pending, tree->mark);
}

/* ---- Walking -------------------------------------------------------------------------------- */

/* The first entry of the block that is kept whose key is greater than `key`, or not less. */
static int next_in_block(struct chi_tree *tree, const MDB_val *key, bool or_equal,
			 struct chi_block_entry *out)
{
	struct chi_block_entry entries[CHI_GROUP_MOST];
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

int chi_tree_next(struct chi_tree *tree, const MDB_val *key, struct chi_block_entry *out)
{
	uint8_t bytes[CHI_TREE_KEY_MAX];
	MDB_val from = key != NULL ? *key : chi_val(chi_tree_first, chi_tree_first_len(tree->kind));
	int rc = hold_block(tree, &from);
	rc = rc == 0 ? code_of(next_in_block(tree, &from, false, out)) : rc;
	while (rc == MDB_NOTFOUND && tree->loaded && tree->block.fence_len > 0) {
		from = (MDB_val){tree->block.fence_len, bytes};
		memcpy(bytes, tree->block.fence, tree->block.fence_len);
		rc = hold_block(tree, &from);
		rc = rc == 0 ? code_of(next_in_block(tree, &from, true, out)) : rc;
	}
	return rc;
}

int chi_tree_drop(struct chi_tree *tree)
{
	chi_memtable_clear(&tree->pending);
	tree->loaded = false;
	*tree->entries = 0;
	*tree->bytes = 0;
	int rc = mdb_drop(tree->txn, tree->dbi, 0);
	tree->broken = tree->broken || rc != 0;
	return rc;
}
