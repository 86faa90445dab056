/* SPDX-License-Identifier: MIT */
/*
 * The two large trees, block by block, entry by entry.
 *
 * That they agree is found without a look-up for each entry: the strength entries that the records
 * call for, and those that are there, are summed up as hashes. Only if these sums differ are the
 * entries looked up one by one, to say which are wrong.
 */
#include "store/admin/verify_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/record.h"
#include "chess/key.h"
#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/pages.h"
#include "store/record/checksum.h"
#include "store/record/codec.h"
#include "store/record/examine.h"
#include "store/record/merge.h"
#include "store/store.h"

static void add_entry(struct chi_verify_entries *entries, const uint8_t *key, size_t key_len,
		      const uint8_t *value, size_t len)
{
	entries->n++;
	entries->sum += chi_checksum_inline(key, key_len, value, len);
}

/* ---- Records ------------------------------------------------------------------------------ */

/* The strength entry that a record with a known statistic calls for. */
struct wanted_entry {
	uint8_t key[CHI_STRENGTH_KEY_MAX];
	size_t key_len;
	uint8_t value[CHI_STRENGTH_VALUE_MAX];
	size_t len;
};

static void want_entry(const MDB_val *key, const struct chi_record *record,
		       struct wanted_entry *out)
{
	out->key_len = chi_strength_key(record->chi2, key->mv_data, key->mv_size, out->key);
	out->len = chi_strength_value(record->line, record->n_line, out->value);
}

static void complain_position(struct chi_verify *v, const MDB_val *key, const char *problem)
{
	char name[CHI_FEN_SIZE];
	chi_page_complain(&v->walk, "position %s: %s",
			  chi_key_name(key->mv_data, key->mv_size, name), problem);
}

static void complain_strength(struct chi_verify *v, const MDB_val *key, const char *problem)
{
	char name[CHI_FEN_SIZE];
	const uint8_t *bytes = key->mv_data;
	size_t len = key->mv_size;
	chi_page_complain(&v->walk, "strength entry %s: %s",
			  len > 2 ? chi_key_name(bytes + 2, len - 2, name) : "too short", problem);
}

/* ---- Blocks ------------------------------------------------------------------------------- */

CHI_PRINTF(3, 4)
static void complain_block(struct chi_verify *v, const struct chi_verify_blocks *blocks,
			   const char *format, ...)
{
	char name[CHI_FEN_SIZE];
	char what[64];
	va_list args;
	if (v->walk.quiet) {
		return;
	}
	va_start(args, format);
	(void)vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	size_t skip = chi_tree_skip(blocks->kind);
	chi_page_complain(&v->walk, "the %s tree, from %s on: %s",
			  blocks->kind == CHI_TREE_STRENGTH ? STRENGTH_TREE : POSITION_TREE,
			  blocks->low_len > skip
				  ? chi_key_name(blocks->low + skip, blocks->low_len - skip, name)
				  : "its start",
			  what);
}

/* Entries ascend through all blocks, and lie where the block says. */
static bool in_order(struct chi_verify_blocks *blocks, const struct chi_block *block,
		     const MDB_val *key)
{
	bool good = chi_block_covers(block, key->mv_data, key->mv_size) &&
		    chi_tree_compare(blocks->kind, blocks->last, blocks->last_len, key->mv_data,
				     key->mv_size) < 0;
	memcpy(blocks->last, key->mv_data, key->mv_size);
	blocks->last_len = key->mv_size;
	return good;
}

static int take_groups(struct chi_verify *v, struct chi_verify_blocks *blocks,
		       const struct chi_block *block)
{
	struct chi_block_entry entries[CHI_GROUP_MOST];
	uint32_t n;
	int rc = CHI_OK;
	for (uint32_t i = 0; rc == CHI_OK && i < block->groups; i++) {
		if (chi_group_read(block, i, entries, &n) < 0) {
			complain_block(v, blocks, "a group of %u entries is damaged",
				       block->counts[i]);
			continue;
		}
		for (uint32_t j = 0; rc == CHI_OK && j < n; j++) {
			const MDB_val key = chi_val(chi_entry_key(&entries[j], block->kind),
						    chi_entry_key_len(&entries[j], block->kind));
			const MDB_val value = chi_val(entries[j].value, entries[j].len);
			if (!in_order(blocks, block, &key)) {
				complain_block(v, blocks, "its entries are out of order");
			}
			rc = blocks->take(v, &key, &value);
		}
	}
	return rc;
}

/* A block begins where the one before it says that the next one does. */
int chi_verify_block(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *low,
		     const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	enum chi_tree_kind kind =
		tree == &v->trees[CHI_VERIFY_STRENGTH] ? CHI_TREE_STRENGTH : CHI_TREE_POSITION;
	struct chi_verify_blocks *blocks = &v->blocks[kind];
	struct chi_block block;
	blocks->low_len = low->mv_size < sizeof(blocks->low) ? low->mv_size : sizeof(blocks->low);
	memcpy(blocks->low, low->mv_data, blocks->low_len);
	if (chi_block_open(kind, low->mv_data, low->mv_size, value->mv_data, value->mv_size,
			   &block) < 0) {
		complain_block(v, blocks, "a block is damaged");
		blocks->sound = false;
		return CHI_OK;
	}
	if (blocks->sound && (blocks->fence_len != low->mv_size ||
			      memcmp(blocks->fence, low->mv_data, low->mv_size) != 0)) {
		complain_block(v, blocks, "it is not the block that comes next");
	}
	blocks->sound = true;
	blocks->bytes += chi_block_taken(low->mv_size, value->mv_size);
	blocks->fence_len = block.fence_len;
	memcpy(blocks->fence, block.fence, block.fence_len);
	return take_groups(v, blocks, &block);
}

static void begin_blocks(struct chi_verify *v, enum chi_tree_kind kind, chi_verify_sound *take)
{
	v->blocks[kind] = (struct chi_verify_blocks){
		.kind = kind, .take = take, .sound = true, .fence_len = chi_tree_first_len(kind)};
}

/* All entries of the trees were taken: the last block says that it is the last. */
void chi_verify_end_blocks(struct chi_verify *v)
{
	for (int kind = CHI_TREE_POSITION; kind <= CHI_TREE_STRENGTH; kind++) {
		struct chi_verify_blocks *blocks = &v->blocks[kind];
		bool empty = blocks->low_len == 0;
		if (blocks->sound && !empty && blocks->fence_len != 0) {
			complain_block(v, blocks, "the block after it is missing");
		}
	}
}

/* The record, and what is wrong with it, as far as the depth asks. */
static int read_record(struct chi_verify *v, const MDB_val *key, const MDB_val *value,
		       struct chi_record *record, struct chi_record_rest *rest)
{
	const char *problem = NULL;
	int rc;
	if (v->depth == CHI_VERIFY_WHOLE) {
		rc = chi_record_examine(v->env->stamp.statistic, key, value, &v->arena, record,
					rest, &problem);
	} else {
		chi_arena_reset(&v->arena);
		rc = chi_record_decode(value->mv_data, value->mv_size, &v->arena, record, rest);
		problem = rc < 0 && rc != -CHI_ENOMEM ? "its record is damaged" : NULL;
	}
	if (problem != NULL) {
		complain_position(v, key, problem);
	}
	return rc;
}

static int take_position(struct chi_verify *v, const MDB_val *key, const MDB_val *value)
{
	struct chi_record record = {0};
	struct chi_record_rest rest = {0};
	struct wanted_entry wanted;
	int rc = read_record(v, key, value, &record, &rest);
	if (rc < 0) {
		return rc == -CHI_ENOMEM ? rc : CHI_OK;
	}
	if (record.chi2 != CHI_CHI2_UNKNOWN) {
		want_entry(key, &record, &wanted);
		add_entry(&v->wanted, wanted.key, wanted.key_len, wanted.value, wanted.len);
	}
	v->result->positions++;
	return v->depth == CHI_VERIFY_WHOLE ? chi_verify_list(v, key, &record, &rest) : CHI_OK;
}

static int take_strength(struct chi_verify *v, const MDB_val *key, const MDB_val *value)
{
	if (!chi_strength_ok(key->mv_data, key->mv_size, value->mv_size)) {
		complain_strength(v, key, "the entry is damaged");
		return CHI_OK;
	}
	add_entry(&v->there, key->mv_data, key->mv_size, value->mv_data, value->mv_size);
	v->result->known++;
	return CHI_OK;
}

void chi_verify_begin_blocks(struct chi_verify *v, enum chi_tree_kind kind)
{
	begin_blocks(v, kind, kind == CHI_TREE_STRENGTH ? take_strength : take_position);
}

/* ---- Where the trees disagree ------------------------------------------------------------- */

/* Looks up a key in the other tree. *memory is the caller's to free. */
static int find_value(struct chi_verify *v, enum chi_tree_kind kind, const MDB_val *key,
		      MDB_val *value, uint8_t **memory)
{
	struct chi_page_file_node node;
	MDB_val bytes;
	struct chi_block block;
	const uint8_t *found = NULL;
	size_t len = 0;
	const struct chi_page_tree *tree =
		&v->trees[kind == CHI_TREE_STRENGTH ? CHI_VERIFY_STRENGTH : CHI_VERIFY_POSITION];
	int rc = chi_page_find(&v->walk.file_image, tree, key, v->page, &node);
	if (rc < 0 || tree->root == NO_PAGE) {
		return rc;
	}
	if (node.key_len == 0) {
		return -CHI_ECORRUPT;
	}
	rc = chi_page_value(&v->walk.file_image, &node, &bytes, memory);
	rc = rc == CHI_OK ? chi_block_open(kind, node.key, node.key_len, bytes.mv_data,
					   bytes.mv_size, &block)
			  : rc;
	rc = rc == CHI_OK ? chi_block_find(&block, key->mv_data, key->mv_size, &found, &len) : rc;
	*value = chi_val(found, len);
	return rc;
}

/* A record, sound in itself, and the strength entry that it calls for. */
static int compare_position(struct chi_verify *v, const MDB_val *key, const MDB_val *value)
{
	struct chi_record record = {0};
	const char *problem = NULL;
	struct wanted_entry wanted;
	MDB_val there;
	_cleanup_(chi_freep) uint8_t *memory = NULL;
	int rc = chi_record_examine(v->env->stamp.statistic, key, value, &v->arena, &record, NULL,
				    &problem);
	if (rc < 0 || record.chi2 == CHI_CHI2_UNKNOWN) {
		return rc == -CHI_ENOMEM ? rc : CHI_OK;
	}
	want_entry(key, &record, &wanted);
	const MDB_val entry = chi_val(wanted.key, wanted.key_len);
	rc = find_value(v, CHI_TREE_STRENGTH, &entry, &there, &memory);
	if (rc == -CHI_ENOMEM) {
		return rc;
	}
	if (rc != CHI_OK) {
		problem = rc == CHI_NONE ? "it has no entry in the strength tree"
					 : "its entry in the strength tree cannot be read";
	} else if (there.mv_size != wanted.len ||
		   memcmp(there.mv_data, wanted.value, wanted.len) != 0) {
		problem = "its entry in the strength tree differs";
	}
	if (problem != NULL) {
		complain_position(v, key, problem);
		v->result->positions--;
	}
	return CHI_OK;
}

/* A strength entry, sound in itself, and the record it came from. Lines were compared by the other
 * walk: here only whether there is such a record. */
static int compare_strength(struct chi_verify *v, const MDB_val *key, const MDB_val *value)
{
	const uint8_t *bytes = key->mv_data;
	_cleanup_(chi_freep) uint8_t *memory = NULL;
	MDB_val record;
	uint16_t chi2;
	struct chi_counts counts;
	const char *problem = NULL;
	if (!chi_strength_ok(bytes, key->mv_size, value->mv_size)) {
		return CHI_OK;
	}
	const MDB_val position = chi_val(bytes + 2, key->mv_size - 2);
	int rc = find_value(v, CHI_TREE_POSITION, &position, &record, &memory);
	if (rc == -CHI_ENOMEM) {
		return rc;
	}
	if (rc != CHI_OK) {
		problem = rc == CHI_NONE ? "the position tree does not have it"
					 : "its record cannot be read";
	} else if (chi_record_peek(record.mv_data, record.mv_size, &chi2, &counts) < 0) {
		problem = "its record is damaged";
	} else if (chi2 != chi_chi2_of(bytes)) {
		problem = "its record has another statistic";
	}
	if (problem != NULL) {
		complain_strength(v, key, problem);
		v->result->known--;
	}
	return CHI_OK;
}

static int locate_position(struct chi_verify *v, const MDB_val *key, const MDB_val *value)
{
	struct chi_record record = {0};
	struct chi_record_rest rest = {0};
	chi_arena_reset(&v->arena);
	int rc = chi_record_decode(value->mv_data, value->mv_size, &v->arena, &record, &rest);
	return rc == CHI_OK ? chi_verify_list(v, key, &record, &rest) : rc;
}

int chi_verify_locate_positions(struct chi_verify *v)
{
	begin_blocks(v, CHI_TREE_POSITION, locate_position);
	return chi_page_walk_tree(&v->walk, &v->trees[CHI_VERIFY_POSITION]);
}

/* Both trees once more, entry by entry. Their pages were reported before. */
int chi_verify_compare(struct chi_verify *v)
{
	uint64_t before = v->walk.errors;
	if (v->wanted.n == v->there.n && v->wanted.sum == v->there.sum) {
		return CHI_OK;
	}
	_cleanup_(chi_freep) uint8_t *page = malloc(v->walk.file_image.page_size);
	if (page == NULL) {
		return -CHI_ENOMEM;
	}
	v->page = page;
	chi_page_walk_restart(&v->walk);
	v->walk.quiet = true;
	begin_blocks(v, CHI_TREE_POSITION, compare_position);
	begin_blocks(v, CHI_TREE_STRENGTH, compare_strength);
	int rc = chi_page_walk_tree(&v->walk, &v->trees[CHI_VERIFY_POSITION]);
	if (rc == CHI_OK) {
		rc = chi_page_walk_tree(&v->walk, &v->trees[CHI_VERIFY_STRENGTH]);
	}
	v->walk.quiet = false;
	if (rc == CHI_OK && v->walk.errors == before) {
		chi_page_complain(&v->walk, "the position and strength trees do not agree");
	}
	return rc;
}
