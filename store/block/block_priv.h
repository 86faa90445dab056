/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a block (FORMAT.md, "Blocks"):
 *
 *	head	groups (1); leaders (8 each, 10 in the strength tree);
 *		entries of each group (1 each); offsets of the groups but the first (2 each);
 *		length of the fence (1); the fence;
 *		checksum (4) over the low key and all of these
 *
 *	group	checksum (4) over its leader, its number of entries and the rest;
 *		headers (2 each); statistics; bytes of the masks;
 *		lengths, the last entry's first; values;
 *		bytes of the pieces, the last entry's first
 *
 *	header	bits 0-5 which bytes of the mask are those of the entry before, 6-9 how many bytes
 *		of the pieces from their start, 10-12 and from their end, 13-15 the value's length;
 *		of the first entry, which has none before it, bits 0-12: where the values begin
 *
 * Column by column, because a look-up needs the headers and masks of many entries, and of one the
 * value. Lengths go down from where the values begin, pieces from the group's end: where those of
 * an entry are is known once the headers and masks up to it are.
 */
#pragma once

#include <endian.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "chess/bitboard.h"
#include "store/block/block.h"

#define HEAD_GROUPS   0
#define HEAD_LEADERS  1
#define CHECKSUM_SIZE 4
#define HEADER_SIZE   2

#define MASK_SIZE 8u

/* How much of a mask is that of the one before: so many bytes from its start, so many from its end.
 * 37 ways; the last is all of it. */
#define MASK_ALL 36u

#define SHARED_START_MOST 15
#define SHARED_END_MOST	  7

/* Bits 13-15 of a header in the position tree: values of the usual lengths, or another that is told
 * apart.
 */
#define LENGTH_VARINT	 7
#define LENGTH_SIZE_MOST 3
static const uint8_t usual_lengths[LENGTH_VARINT + 1] = {2, 4, 5, 6, 7, 8, 9, 0};
/* In the strength tree: the statistic is another one and follows; the value is not empty. */
#define LENGTH_STATISTIC 1
#define LENGTH_LINE	 2

/* Of a header's number: the way of the mask; of the first entry's, where the values begin. */
#define WAY_BITS   63u
#define START_BITS 0x1fffu

/* For each way: bits of the mask's bytes, the first lowest, that are literal; how many bits are
 * above them; and how many bytes they are. There are as many as a header has numbers for them. */
struct mask_way {
	uint64_t literal;
	uint8_t above;
	uint8_t bytes;
};
extern const struct mask_way chi_mask_ways[WAY_BITS + 1];

static inline uint64_t load_u64(const uint8_t *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

static inline void store_u64(uint8_t *bytes, uint64_t value)
{
	value = htole64(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline uint64_t load_mask(const uint8_t *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof(value));
	return be64toh(value);
}

static inline uint32_t load_u32(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

static inline uint32_t load_u16(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

static inline void store_u16(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)value;
	bytes[1] = (uint8_t)(value >> 8);
}

static inline void store_u32(uint8_t *bytes, uint32_t value)
{
	value = htole32(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline size_t leader_size(enum chi_tree_kind kind)
{
	return chi_tree_skip(kind) + MASK_SIZE;
}

/* A statistic's two bytes as a number of their order. */
static inline uint32_t statistic_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[1] << 8 | bytes[0];
}

/* Bytes of the pieces of a position with this mask, in any byte order; 0: there is no such. */
static inline size_t pieces_size(uint64_t mask)
{
	unsigned n = (unsigned)chi_popcount(mask);
	return n <= 32 ? (n + 1) / 2 : 0;
}

/*
 * A group that is written by append is closed when it has so many entries, or would have more
 * bytes: of the position tree so many that its checksum is one of the fast ones (up to 240 bytes),
 * as each look-up computes one.
 */
static inline uint32_t group_full(enum chi_tree_kind kind)
{
	return kind == CHI_TREE_STRENGTH ? 24 : 16;
}

static inline size_t group_bytes(enum chi_tree_kind kind)
{
	return kind == CHI_TREE_STRENGTH ? 600 : CHECKSUM_SIZE + 240;
}

static inline const uint8_t *leader_at(const struct chi_block *block, uint32_t group)
{
	return block->leaders + group * leader_size(block->kind);
}

/* Where a group lies, if it does in its block. */
static inline bool group_at(const struct chi_block *block, uint32_t group, struct chi_group *out)
{
	size_t at = group == 0 ? block->head : load_u16(block->offsets + 2 * (size_t)(group - 1));
	size_t end = group + 1 == block->groups ? block->len
						: load_u16(block->offsets + 2 * (size_t)group);
	if (CHI_UNLIKELY(at < block->head || at + CHECKSUM_SIZE > end || end > block->len)) {
		return false;
	}
	out->leader = leader_at(block, group);
	out->at = block->bytes + at;
	out->end = block->bytes + end;
	out->n = block->counts[group];
	return true;
}

/* Of a group's bytes, its leader and the number of its entries, which are in the head: a record
 * that is found needs no other checksum. */
static inline uint32_t group_sum(enum chi_tree_kind kind, const uint8_t *leader, uint32_t n,
				 const uint8_t *bytes, size_t len)
{
	size_t skip = chi_tree_skip(kind);
	uint64_t more = n | (skip > 0 ? statistic_at(leader) << 8 : 0);
	uint64_t seed = load_u64(leader + skip) ^ more * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)XXH3_64bits_withSeed(bytes, len, seed);
}

/* Whether there may be such a group and its checksum holds. Then its leader has a mask, and the
 * pieces of its first entry are in it. */
static inline bool verify_group(enum chi_tree_kind kind, const struct chi_group *group)
{
	const uint8_t *bytes = group->at + CHECKSUM_SIZE;
	size_t pieces = pieces_size(load_u64(group->leader + chi_tree_skip(kind)));
	size_t len = (size_t)(group->end - bytes);
	return CHI_LIKELY(group->n - 1 < CHI_GROUP_MOST && pieces > 0 &&
			  len >= HEADER_SIZE * (size_t)group->n + pieces &&
			  load_u32(group->at) ==
				  group_sum(kind, group->leader, group->n, bytes, len));
}

/* chi_block_open in two parts: where everything is, and whether the checksum holds. */
bool chi_block_look(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		    const uint8_t *bytes, size_t len, struct chi_block *out);
bool chi_block_verify(const struct chi_block *block);

/* Looks for a key of the position tree in a group. CHI_NONE: it is not there. */
CHI_MUSTUSE int chi_group_find(const struct chi_group *group, const uint8_t *key, size_t key_len,
			       const uint8_t **value, size_t *len);

/* The sum of a head that begins at `low`, with low key and head side by side or not. Those of the
 * trees are each other's complements, so that none passes for the other's. */
uint32_t chi_head_sum(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		      const uint8_t *head, size_t len);

/* ---- Encoding ----------------------------------------------------------------------------- */

/* The most that an entry takes beside its value. */
#define ENTRY_MOST (HEADER_SIZE + CHI_TREE_KEY_MAX + 4)

/* Of the bytes before a group's values. */
#define GROUP_FRONT_MOST                                                                           \
	(CHECKSUM_SIZE + CHI_GROUP_MOST * (HEADER_SIZE + MASK_SIZE + 2 + LENGTH_SIZE_MOST))

/* How an entry is written after the last one of a group, or as the first. */
struct entry_form {
	uint32_t header;
	uint8_t mask_at; /* its bytes of the mask, */
	uint8_t mask_len;
	uint8_t piece_at; /* and of the pieces */
	uint8_t piece_len;
	uint8_t statistic; /* bytes of it */
	uint8_t length;	   /* bytes of the value's length */
	size_t size;	   /* of all, value included */
};

/* Writes a group, wherever that is to be. */
void chi_group_begin(struct chi_group_writer *group, enum chi_tree_kind kind, uint8_t *out);
void chi_group_form(const struct chi_group_writer *group, bool first, const uint8_t *key,
		    size_t key_len, size_t len, struct entry_form *form);
/* The same of an entry that is not the first, if the one before it is that which `header` goes on
 * from: no key is compared. */
void chi_group_form_again(enum chi_tree_kind kind, uint32_t header, size_t key_len, size_t len,
			  struct entry_form *form);
/* `out` has room for GROUP_FRONT_MOST and what chi_group_size will be. */
void chi_group_add(struct chi_group_writer *group, const struct entry_form *form,
		   const uint8_t *key, size_t key_len, const uint8_t *value, size_t len);
size_t chi_group_size(const struct chi_group_writer *group);
/* Puts its columns one after the other. Returns its size. */
size_t chi_group_finish(struct chi_group_writer *group);

/* A group to be written, or copied. */
struct chi_group_part {
	const uint8_t *leader;
	const uint8_t *bytes; /* with the checksum */
	size_t len;
	uint32_t n; /* entries */
};

/* Low key, head and groups of a block, one after the other, into `out`, which has `room` bytes.
 * `fence_len` 0: there is none. Returns the block's length without the low key; 0: no room. */
size_t chi_block_write(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		       const uint8_t *fence, size_t fence_len, const struct chi_group_part *parts,
		       uint32_t groups, uint8_t *out, size_t room);

/* Bytes of a head. */
static inline size_t head_size(enum chi_tree_kind kind, uint32_t groups, size_t fence_len)
{
	size_t offsets = groups > 0 ? 2 * (size_t)(groups - 1) : 0;
	return HEAD_LEADERS + groups * (leader_size(kind) + 1) + offsets + 1 + fence_len +
	       CHECKSUM_SIZE;
}
