/* SPDX-License-Identifier: MIT */
/* A verification, as shared by the files that check the two large trees and all the rest. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "store/admin/verify_archive.h"
#include "store/block/block.h"
#include "store/chain/chain.h"
#include "store/env/env.h"
#include "store/pages/page_walk.h"
#include "store/queue/queue.h"
#include "store/record/meta.h"

/* Strength entries, of any order. */
struct chi_verify_entries {
	uint64_t n;
	uint64_t sum; /* of their hashes */
};

/* Places of the queue, as they are and as its entries say. */
struct chi_verify_queue {
	struct chi_queue_totals totals;
	struct chi_queue_counts counted; /* by the entries */
	uint64_t places;		 /* the sum of the hashes of all keys of places */
	uint64_t wanted;
};

/* In the order in which they are walked: what others are held against comes first. */
enum {
	CHI_VERIFY_META,
	CHI_VERIFY_IDS,
	CHI_VERIFY_NAMES,
	CHI_VERIFY_COLUMNS,
	CHI_VERIFY_GAMES,
	CHI_VERIFY_TRAITS,
	CHI_VERIFY_POSTINGS,
	CHI_VERIFY_GAMESETS,
	CHI_VERIFY_POSITION,
	CHI_VERIFY_STRENGTH,
	CHI_VERIFY_CLIENTS,
	CHI_VERIFY_QUEUE,
	CHI_VERIFY_TREES
};

/* Bytes of a text that is reported. */
#define CHI_VERIFY_TEXT 256

struct chi_verify;

/* Takes an entry of a sound group. */
typedef int chi_verify_sound(struct chi_verify *verify, const MDB_val *key, const MDB_val *value);

/* Where the walk through the blocks of a tree is. */
struct chi_verify_blocks {
	enum chi_tree_kind kind;
	chi_verify_sound *take;
	bool sound; /* the block before was: */
	size_t fence_len;
	uint8_t fence[CHI_TREE_KEY_MAX];
	size_t last_len; /* the last entry's key */
	uint8_t last[CHI_TREE_KEY_MAX];
	uint64_t bytes; /* that the blocks take */
	size_t low_len; /* of this block */
	uint8_t low[CHI_TREE_KEY_MAX];
};

/* A part of the positions: the low key of its first block, and the fence of its last one. */
struct chi_verify_part {
	size_t low_len;
	size_t fence_len;
	uint8_t low[CHI_TREE_KEY_MAX];
	uint8_t fence[CHI_TREE_KEY_MAX];
};

struct chi_verify {
	struct chi_page_walk walk;
	const struct chi_env *env;
	enum chi_verify_depth depth;
	struct chi_verify_result *result;
	struct chi_arena arena;
	struct chi_page_tree trees[CHI_VERIFY_TREES];
	bool found[CHI_VERIFY_TREES];
	struct chi_store_state state;
	bool stated;			    /* the state was found and is sound */
	bool stamped;			    /* so was the stamp */
	struct chi_counts games;	    /* entries of the identities tree by result */
	struct chi_verify_blocks blocks[2]; /* by kind of tree */
	struct chi_verify_entries wanted;   /* by the records */
	struct chi_verify_entries there;
	uint8_t *page; /* room for look-ups */
	struct chi_verify_archive archive;
	struct chi_verify_queue queue;
	struct chi_chain_at chain;    /* of the tree that is walked */
	unsigned threads;	      /* more than 1: only whether all is sound is asked */
	struct chi_verify_part *part; /* that is walked, then */
};

/* One of the trees, with what comes before and after its walk. As chi_page_walk_tree. */
CHI_MUSTUSE int chi_verify_tree(struct chi_verify *verify, int tree);

/* ---- verify_parts.c ---------------------------------------------------------------------------
 */

/* Games, positions and strength by verify->threads threads, of which fewer may begin. The trees
 * that they are held against were walked, postings too. CHI_OK: they are as sound as their walks
 * one after the other find them, if no damage was counted; any other status: that is not known.
 * Takes 4 bytes a game for each thread, and some 100 for each branch page of the positions. */
CHI_MUSTUSE int chi_verify_together(struct chi_verify *verify);

/* ---- verify_queue.c ---------------------------------------------------------------------------
 */

chi_page_take chi_verify_queued;
void chi_verify_queue_end(struct chi_verify *verify);

/* ---- verify_trees.c ---------------------------------------------------------------------------
 */

/* Before such a tree is walked; and after both were. */
void chi_verify_begin_blocks(struct chi_verify *verify, enum chi_tree_kind kind);
void chi_verify_end_blocks(struct chi_verify *verify);

/* For the walks through the two large trees: a block, and all entries in it. */
chi_page_take chi_verify_block;

/* The positions once more, for their lists alone. */
CHI_MUSTUSE int chi_verify_locate_positions(struct chi_verify *verify);

/* Where the two disagree, entry by entry: their pages were reported before. */
CHI_MUSTUSE int chi_verify_compare(struct chi_verify *verify);
