/* SPDX-License-Identifier: MIT */
/*
 * How LMDB 0.9 (data version 1) lays out its pages, as offsets, in the machine's byte order:
 *
 *	page	0 number (8)  8 unused (2)  10 flags (2)  12 lower (2)  14 upper (2)
 *		16 offsets of its nodes in key order (2 each), up to `lower`; nodes from `upper` on
 *	node	0 low half (2)  2 high half (2)  4 flags (2)  6 length of the key (2)  8 the key
 *		in a branch page, low, high and flags are the number of the page below; the first
 *		node's key stands for "less than all"
 *		in a leaf page, low and high are the length of the value, which follows the key;
 *		with NODE_BIG, the number of the first of its overflow pages follows instead
 *	tree	a named tree's record, the value of its name in the main tree:
 *		0 unused (4)  4 flags (2)  6 depth (2)  8 how many branch pages (8)
 *		16 how many leaf pages (8)  24 .. of other pages  32 entries (8)
 *		40 number of the root page (8)
 *
 * Only what must look at pages itself includes this: LMDB's own functions are the rule.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define PAGE_NUMBER 0
#define PAGE_FLAGS  10
#define PAGE_LOWER  12
#define PAGE_COUNT  12 /* of an overflow page: how many there are, instead of lower and upper */
#define PAGE_UPPER  14
#define PAGE_HEADER 16

#define FLAG_BRANCH   0x01
#define FLAG_LEAF     0x02
#define FLAG_OVERFLOW 0x04
#define FLAG_META     0x08
/* All flags that say what kind of page it is; the others are a writer's notes to itself, and none
 * of them is in a file. */
#define FLAG_KINDS 0x6f

#define NODE_FLAGS  4
#define NODE_KSIZE  6
#define NODE_HEADER 8
#define NODE_BIG    0x01
#define NODE_TREE   0x02
#define NODE_MANY   0x04 /* several values under one key */

#define TREE_FLAGS    4
#define TREE_DEPTH    6
#define TREE_BRANCHES 8
#define TREE_LEAVES   16
#define TREE_ENTRIES  32
#define TREE_ROOT     40
#define TREE_BYTES    48

/* The root of a tree without entries. */
#define NO_PAGE UINT64_MAX

#define LMDB_MAGIC UINT32_C(0xBEEFC0DE)
/* Of the two meta pages: header, then the meta. */
#define META_MAGIC 16

static inline uint64_t chi_u64_at(const uint8_t *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint32_t chi_u32_at(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint16_t chi_u16_at(const uint8_t *bytes)
{
	uint16_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The length of a leaf node's value; the low 32 bits of a branch node's page. */
static inline uint32_t chi_node_size(const uint8_t *node)
{
	return chi_u16_at(node) | (uint32_t)chi_u16_at(node + 2) << 16;
}

/* The number of the page below a branch node. */
static inline uint64_t chi_node_child(const uint8_t *node)
{
	return chi_node_size(node) | (uint64_t)chi_u16_at(node + NODE_FLAGS) << 32;
}
