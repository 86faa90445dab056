/* SPDX-License-Identifier: MIT */
/*
 * Blocks: what an LMDB entry of the position tree or the strength tree holds (FORMAT.md, "Blocks").
 * Knows nothing of LMDB, and trusts no byte: a block is believed once its head's checksum holds,
 * the entries of a group once the group's does.
 *
 * A block is responsible for all keys from its own, the low key, up to its fence, which is the low
 * key of the block after it: what is not in it is in none.
 *
 * Keys are passed in the form of their tree: a position key, with the statistic's two bytes before
 * it in the strength tree. All of them have a position key's shape (chess/key.h), except low keys.
 *
 * Nothing here allocates. Different threads may use different structs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chess/masks.h"
#include "chistore/types.h"

enum chi_tree_kind {
	CHI_TREE_POSITION,
	CHI_TREE_STRENGTH,
};

/* Bytes of the statistic before a position key. */
static inline size_t chi_tree_skip(enum chi_tree_kind kind)
{
	return kind == CHI_TREE_STRENGTH ? 2 : 0;
}

#define CHI_TREE_KEY_MAX (2 + CHI_KEY_MAX)

/* The low key of a tree's first block: less than all keys. */
extern const uint8_t chi_tree_first[CHI_TREE_KEY_MAX];
static inline size_t chi_tree_first_len(enum chi_tree_kind kind)
{
	return chi_tree_skip(kind) + sizeof(uint64_t);
}

/* The order of a tree's keys. */
int chi_tree_compare(enum chi_tree_kind kind, const uint8_t *a, size_t a_len, const uint8_t *b,
		     size_t b_len);

/* Low key and bytes of a block with more than one entry together: two such fit on one page of
 * 4 KiB. */
#define CHI_BLOCK_ROOM 2030

/* Entries of a group at most. */
#define CHI_GROUP_MOST 32

/* An entry. In the position tree the first two bytes are not used. */
struct chi_block_entry {
	uint8_t bytes[2 + CHI_KEY_MAX]; /* zeros after the key */
	uint8_t key_len;		/* of the position key, */
	uint8_t pieces;			/* which has so many */
	uint32_t len;
	const uint8_t *value; /* in the block */
};

static inline const uint8_t *chi_entry_key(const struct chi_block_entry *entry,
					   enum chi_tree_kind kind)
{
	return entry->bytes + 2 - chi_tree_skip(kind);
}

static inline size_t chi_entry_key_len(const struct chi_block_entry *entry, enum chi_tree_kind kind)
{
	return entry->key_len + chi_tree_skip(kind);
}

/* A block whose head was verified; points into its bytes. */
struct chi_block {
	enum chi_tree_kind kind;
	const uint8_t *low;
	size_t low_len;
	const uint8_t *bytes;
	size_t len;
	uint32_t groups;
	const uint8_t *leaders; /* of each group the first entry's statistic and mask, */
	const uint8_t *counts;	/* and how many it has */
	const uint8_t *offsets; /* of all groups but the first */
	const uint8_t *fence;
	size_t fence_len; /* 0: there is no block after it */
	size_t head;	  /* bytes before the first group */
};

/* Where a group lies in a block, and its leader in the head. */
struct chi_group {
	const uint8_t *leader;
	const uint8_t *at; /* its checksum */
	const uint8_t *end;
	uint32_t n; /* entries */
};

/* ---- Reading ---------------------------------------------------------------------------- */

/* Verifies the head. CHI_OK or -CHI_ECORRUPT. The bytes must stay where they are. */
CHI_MUSTUSE int chi_block_open(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
			       const uint8_t *bytes, size_t len, struct chi_block *out);

/* Whether the key is one that the block is responsible for. */
bool chi_block_covers(const struct chi_block *block, const uint8_t *key, size_t key_len);

/* Verifies and decodes group `group`, < block->groups: *n entries, ascending. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_group_read(const struct chi_block *block, uint32_t group,
			       struct chi_block_entry entries[CHI_GROUP_MOST], uint32_t *n);

/* The same in two parts: where group `group` lies, which is in the block's bytes; and the rest. */
CHI_MUSTUSE int chi_group_at(const struct chi_block *block, uint32_t group, struct chi_group *out);
CHI_MUSTUSE int chi_group_decode(enum chi_tree_kind kind, const struct chi_group *group,
				 struct chi_block_entry entries[CHI_GROUP_MOST], uint32_t *n);

/* Verifies a group and decodes those of its entries whose masks fit: *fit has a bit for each, the
 * first one's lowest. The others' bytes are anything. -CHI_ECORRUPT; what is wrong with entries
 * that do not fit may go unseen, if the checksum holds. `ends`, of the strength tree alone: the
 * statistics of the group's first and last entry. */
CHI_MUSTUSE int chi_group_pick(enum chi_tree_kind kind, const struct chi_group *group,
			       const struct chi_mask_wants *wants,
			       struct chi_block_entry entries[CHI_GROUP_MOST], uint32_t *fit,
			       uint16_t ends[2]);

/* Looks for a key: CHI_OK and where its value is; CHI_NONE: the tree does not have it;
 * -CHI_ECORRUPT: damage, or a key that this block is not responsible for. */
CHI_MUSTUSE int chi_block_find(const struct chi_block *block, const uint8_t *key, size_t key_len,
			       const uint8_t **value, size_t *len);

/* The same without opening the block before, for those who want nothing else of it: a record is
 * found by its group's checksum alone, which covers the group's leader too; only that there is none
 * needs the head's. `group` is what chi_block_aim has found. */
CHI_MUSTUSE int chi_block_probe(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
				const uint8_t *bytes, size_t size, const struct chi_group *group,
				const uint8_t *key, size_t key_len, const uint8_t **value,
				size_t *len);

/* The group that the key is in, or would be: the last one that does not begin after it, or the
 * first. -CHI_ECORRUPT: groups that must be looked into to know are damaged. */
CHI_MUSTUSE int chi_block_seek(const struct chi_block *block, const uint8_t *key, size_t key_len,
			       uint32_t *group);

/* Asks for the memory that chi_block_aim will look at, in the `len` bytes of a block. */
void chi_block_ask(const uint8_t *bytes, size_t len);

/* The group of the position tree that chi_block_probe will look into. The block is not verified,
 * its `len` bytes may be anything: group->n is 0 if there is none such, and the group is empty. */
void chi_block_aim(const uint8_t *bytes, size_t len, const uint8_t *key, struct chi_group *group);

/* Lines of a processor's cache that a group has at most, unless it is a large one. */
#define CHI_GROUP_LINES 5

/* Asks for one of them, or the group's last: of several groups, the first lines of all before the
 * second ones, so that they wait for their pages' addresses together. */
static inline void chi_group_ask(const struct chi_group *group, size_t line)
{
	/* The same number each time: the processor need not guess. */
	size_t last = (size_t)(group->end - group->at);
	__builtin_prefetch(group->at + (line * 64 < last ? line * 64 : last));
}

/* ---- Writing ---------------------------------------------------------------------------- */

/* A change of an entry. */
struct chi_change {
	const uint8_t *key;
	size_t key_len;
	const uint8_t *value; /* NULL: the entry is removed */
	size_t len;
	bool may_lack; /* there may be nothing to remove */
};

/* Changes of one block at once, and the most bytes that the values of several have together. */
#define CHI_EDIT_CHANGES 32
#define CHI_EDIT_VALUES	 2048

/* The most blocks that one block becomes. */
#define CHI_EDIT_MOST 16

/* Blocks that take one's place. `bytes` holds low keys and blocks, one after the other, and is the
 * caller's: twice the room for CHI_EDIT_ROOM and the longest value. */
struct chi_block_edit {
	uint8_t *bytes;
	size_t size;
	uint32_t n;
	struct {
		size_t at; /* of the low key; the block follows it */
		size_t low_len;
		size_t len; /* of the block */
	} blocks[CHI_EDIT_MOST];
};
#define CHI_EDIT_ROOM (16u << 10)

/*
 * What becomes of the block if entries are put, new or over others, or removed: 1 to
 * CHI_EDIT_CHANGES changes, by ascending key, whose values are CHI_EDIT_VALUES long, or a single
 * one. A group that is not changed keeps its bytes and its checksum, whatever they are. CHI_NONE: a
 * removed entry that may not lack is not there. -CHI_ECORRUPT: a group to be changed is damaged, or
 * the block is not responsible for a key. *added: of the entries.
 */
CHI_MUSTUSE int chi_edit_block(const struct chi_block *block, const struct chi_change *changes,
			       uint32_t n, struct chi_block_edit *out, int *added);

/* One block of two neighbours. CHI_NONE: they would fill it too much; -CHI_ECORRUPT: they are not
 * neighbours. */
CHI_MUSTUSE int chi_block_join(const struct chi_block *left, const struct chi_block *right,
			       struct chi_block_edit *out);

/* The only block of a tree, without entries; low key and block into `out`, which has `size` bytes.
 * Returns the block's length without the low key. */
size_t chi_block_empty(enum chi_tree_kind kind, uint8_t *out, size_t size);

/* The bytes that a block takes of the room that it may: all, if it is too long for others beside
 * it. */
static inline uint64_t chi_block_taken(size_t low_len, size_t len)
{
	return low_len + len < CHI_BLOCK_ROOM ? low_len + len : CHI_BLOCK_ROOM;
}

/* True if a block has become so small that it should be joined with a neighbour. */
static inline bool chi_block_is_small(const struct chi_block *block)
{
	return block->low_len + block->len < CHI_BLOCK_ROOM / 2;
}

/* ---- Building by append ----------------------------------------------------------------- */

/* Takes a finished block; a status, or an error of LMDB's: chi_builder_add returns what is not 0.
 */
typedef int chi_builder_take(void *context, const uint8_t *low, size_t low_len,
			     const uint8_t *bytes, size_t len);

/* The group that is being written: its columns, but for the values, which are where it will be.
 */
struct chi_group_writer {
	enum chi_tree_kind kind;
	uint8_t *out;
	uint32_t n;
	uint8_t last[CHI_TREE_KEY_MAX]; /* the last key */
	size_t last_len;
	uint8_t leader[10];
	uint8_t headers[CHI_GROUP_MOST * 2];
	uint8_t masks[CHI_GROUP_MOST * 8];
	uint8_t statistics[CHI_GROUP_MOST * 2];
	uint8_t lengths[CHI_GROUP_MOST * 3]; /* from their end on */
	uint8_t pieces[CHI_GROUP_MOST * 16]; /* the same */
	size_t masks_len;
	size_t lengths_len;
	size_t statistics_len;
	size_t values_len;
	size_t pieces_len;
};

/* The groups of the block that is being built; `low` is its low key. */
struct chi_builder {
	enum chi_tree_kind kind;
	chi_builder_take *take;
	void *context;
	uint64_t added;
	uint8_t low[CHI_TREE_KEY_MAX];
	size_t low_len;
	struct chi_group_writer group; /* the last one, from `len` on */
	uint32_t groups;	       /* before it, */
	size_t len;		       /* and their bytes */
	uint8_t *bytes; /* these; room for CHI_BUILDER_ROOM, and from the builder's owner */
	size_t offsets[256];
	uint8_t leaders[256][10];
	uint8_t counts[256];
};
/* For the longest record, in a group and again in its block. */
#define CHI_BUILDER_ROOM (2 * ((192u << 10) + CHI_EDIT_ROOM))

/* Begins with the tree's first block. `bytes` has CHI_BUILDER_ROOM bytes. */
void chi_builder_init(struct chi_builder *builder, enum chi_tree_kind kind, uint8_t *bytes,
		      chi_builder_take *take, void *context);

/* The next entry, whose key must be greater than all before. -CHI_EINTERNAL if it is not; or what
 * `take` returned. */
CHI_MUSTUSE int chi_builder_add(struct chi_builder *builder, const uint8_t *key, size_t key_len,
				const uint8_t *value, size_t len);

/* Gives the last block away, which has no fence. Nothing if there was no entry. */
CHI_MUSTUSE int chi_builder_finish(struct chi_builder *builder);
