/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a block (FORMAT.md, "Blocks"):
 *
 *	head	0 groups (1)  1 leaders (8 each; 10 in the strength tree)
 *		entries of each group (1 each)  offsets of the groups but the first (2 each)
 *		length of the fence (1)  the fence
 *		checksum (4) over the low key and all of these
 *	group	0 checksum (4) over its leader, and over the rest  4 entries, one after the other
 *	entry	0 header (2)  bytes of the key that the entry before does not have  the value
 *
 *	header	bits 0-5 which bytes of the mask are those of the entry before, 6-9 how many bytes
 *of the pieces from their start, 10-12 and from their end, 13-15 the value's length
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

#define MASK_SIZE 8u

/* How much of a mask is that of the one before: so many bytes from its start, so many from its end.
 * 37 ways; the last is all of it. */
#define MASK_WAYS 37
#define MASK_ALL  36

#define SHARED_START_MOST 15
#define SHARED_END_MOST	  7

/* Bits 13-15 of a header in the position tree: values of the usual lengths, or a varint before it.
 */
#define LENGTH_VARINT 7
static const uint8_t usual_lengths[LENGTH_VARINT] = {2, 4, 5, 6, 7, 8, 9};
/* In the strength tree: the statistic is another one and follows; the value is not empty. */
#define LENGTH_STATISTIC 1
#define LENGTH_LINE	 2

/* For each way: bits of the mask's bytes, the first lowest, that are literal; by how many bits the
 * literals are moved up; and how many bytes they are. */
struct mask_way {
	uint64_t literal;
	uint8_t shift;
	uint8_t bytes;
};
extern const struct mask_way chi_mask_ways[MASK_WAYS];

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
	store_u16(bytes, value & 0xffff);
	store_u16(bytes + 2, value >> 16);
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

/* So many bytes may be read from where an entry begins. */
#define READ_AHEAD 32

/* A place in a group. */
struct group_place {
	const uint8_t *at;
	const uint8_t *end;   /* of the group */
	const uint8_t *limit; /* of the block: bytes up to here may be read */
};

/* Length of a value before which a varint stands; moves on to the value. Shortest form only. */
static inline bool read_length(struct group_place *place, uint32_t *out)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift <= 21; shift += 7) {
		if (place->at == place->end) {
			return false;
		}
		uint8_t byte = *place->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*out = (uint32_t)value;
			return byte != 0 || shift == 0;
		}
	}
	return false;
}

/* Constants, so that each kind of loop has code of its own. */
struct way_to_read {
	enum chi_tree_kind kind;
	bool popcnt; /* the processor counts bits, and this function may have it do so */
	bool strict; /* keys are checked in every way, though a checksum has held; else only what is
			touched */
};

CHI_INLINE uint32_t count_bits(uint64_t mask, bool popcnt)
{
	return (uint32_t)(popcnt ? __builtin_popcountll(mask) : chi_popcount(mask));
}

/* The key of the next entry, from `from`, where READ_AHEAD bytes may be read; *used: how many were.
 * `entry` holds the one before. The mask must be one of a position, the key the greater. */
CHI_INLINE bool next_key(struct way_to_read how, const uint8_t *from, struct chi_entry *entry,
			 bool leader, uint32_t *header, size_t *used)
{
	uint8_t *key = entry->bytes + 2;
	const uint8_t *at = from + 2;
	uint32_t h = load_u16(from);
	uint32_t way = h & 63;
	size_t start = h >> 6 & 15;
	size_t end = h >> 10 & 7;
	bool later = leader;
	*header = h >> 13;
	/* The first one's mask is its leader's; and nothing is shared. */
	if (CHI_UNLIKELY(way >= MASK_WAYS || (leader && (h & 0x1fff) != MASK_ALL))) {
		return false;
	}
	if (how.kind == CHI_TREE_STRENGTH && (*header & LENGTH_STATISTIC) != 0) {
		if (leader || statistic_at(at) <= statistic_at(entry->bytes)) {
			return false;
		}
		later = true;
		memcpy(entry->bytes, at, 2);
		at += 2;
	}
	const struct mask_way *ways = &chi_mask_ways[way];
	uint64_t before = load_u64(key);
	uint64_t mask = (before & ~ways->literal) | (load_u64(at) << ways->shift & ways->literal);
	at += ways->bytes;
	size_t size_before = entry->key_len - MASK_SIZE;
	uint32_t pieces = count_bits(mask, how.popcnt);
	size_t size = (pieces + 1) / 2;
	size_t least = size < size_before ? size : size_before;
	if (CHI_UNLIKELY(pieces - 1 >= 32 || start + end > least)) {
		return false;
	}
	uint8_t piece_before = key[MASK_SIZE + start];
	uint64_t tail = load_u64(key + size_before);
	store_u64(key, mask);
	memcpy(key + MASK_SIZE + start, at, 16);
	if (end > 0) {
		/* After the key there is room for the rest of the word. */
		store_u64(key + MASK_SIZE + size - end, tail >> (64 - 8 * end));
	}
	at += size - start - end;
	entry->key_len = (uint8_t)(MASK_SIZE + size);
	entry->pieces = (uint8_t)pieces;
	if (how.strict && CHI_UNLIKELY((key[MASK_SIZE + size - 1] & 15 & -(pieces & 1)) != 0)) {
		return false;
	}
	*used = (size_t)(at - from);
	if (!how.strict) {
		return true;
	}
	if (CHI_LIKELY(mask != before)) {
		return later || be64toh(htole64(mask)) > be64toh(htole64(before));
	}
	return later || (start < size && key[MASK_SIZE + start] > piece_before);
}

/* The entry after the one in `entry`, which for the first of a group holds its leader's statistic
 * and mask. False: the group is damaged, or over. */
CHI_INLINE bool next_entry(struct way_to_read how, struct group_place *place,
			   struct chi_entry *entry, bool leader)
{
	uint32_t length;
	size_t used;
	size_t room = (size_t)(place->limit - place->at);
	bool good;
	if (CHI_LIKELY(room >= READ_AHEAD)) {
		good = next_key(how, place->at, entry, leader, &length, &used);
	} else {
		uint8_t copy[READ_AHEAD + 16] = {0};
		memcpy(copy, place->at, room);
		good = next_key(how, copy, entry, leader, &length, &used);
	}
	if (CHI_UNLIKELY(!good || used > (size_t)(place->end - place->at))) {
		return false;
	}
	place->at += used;
	if (how.kind == CHI_TREE_POSITION && CHI_LIKELY(length != LENGTH_VARINT)) {
		entry->len = usual_lengths[length];
	} else if (how.kind == CHI_TREE_STRENGTH && (length & LENGTH_LINE) == 0) {
		entry->len = 0;
	} else if (!read_length(place, &entry->len)) {
		return false;
	}
	entry->value = place->at;
	if (CHI_UNLIKELY(entry->len > (size_t)(place->end - place->at))) {
		return false;
	}
	place->at += entry->len;
	return how.kind == CHI_TREE_POSITION || length <= (LENGTH_STATISTIC | LENGTH_LINE);
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

/* Where a group lies, if it does in its block. */
static inline bool group_at(const struct chi_block *block, uint32_t group, struct group_place *out)
{
	size_t at = group == 0 ? block->head : load_u16(block->offsets + 2 * (size_t)(group - 1));
	size_t end = group + 1 == block->groups ? block->len
						: load_u16(block->offsets + 2 * (size_t)group);
	if (CHI_UNLIKELY(at + CHECKSUM_SIZE > end || end > block->len)) {
		return false;
	}
	*out = (struct group_place){block->bytes + at, block->bytes + end,
				    block->bytes + block->len};
	return true;
}

static inline const uint8_t *leader_at(const struct chi_block *block, uint32_t group)
{
	return block->leaders + group * leader_size(block->kind);
}

/* Of a group's entries and its leader, which is in the head: a record that is found needs no other
 * checksum. */
static inline uint32_t group_sum(enum chi_tree_kind kind, const uint8_t *leader,
				 const uint8_t *bytes, size_t len)
{
	return (uint32_t)(XXH3_64bits(bytes, len) ^ XXH3_64bits(leader, leader_size(kind)));
}

/* Verifies the group's checksum, moves on to its first entry and makes of its leader what that is
 * decoded from. */
static inline bool begin_group(const struct chi_block *block, uint32_t group,
			       struct group_place *place, struct chi_entry *entry)
{
	size_t skip = chi_tree_skip(block->kind);
	if (CHI_UNLIKELY(!group_at(block, group, place))) {
		return false;
	}
	memcpy(entry->bytes + 2 - skip, leader_at(block, group), skip + MASK_SIZE);
	size_t pieces = pieces_size(load_u64(entry->bytes + 2));
	entry->key_len = (uint8_t)(MASK_SIZE + pieces);
	size_t len = (size_t)(place->end - place->at) - CHECKSUM_SIZE;
	place->at += CHECKSUM_SIZE;
	return CHI_LIKELY(pieces > 0 &&
			  load_u32(place->at - CHECKSUM_SIZE) ==
				  group_sum(block->kind, leader_at(block, group), place->at, len));
}

/* chi_block_open in two parts: where everything is, and whether the checksum holds. */
bool chi_block_look(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		    const uint8_t *bytes, size_t len, struct chi_block *out);
bool chi_block_verify(const struct chi_block *block);

/* The sum of a head that begins at `low`, with low key and head side by side or not. Those of the
 * trees are each other's complements, so that none passes for the other's. */
uint32_t chi_head_sum(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		      const uint8_t *head, size_t len);

/* ---- Encoding ----------------------------------------------------------------------------- */

/* The most that an entry takes beside its value. */
#define ENTRY_MOST (2 + CHI_TREE_KEY_MAX + 4)

/* Writes an entry that follows the one with key `before`; NULL: the first of its group. Both keys
 * in the tree's form. Returns its size; `out` has room for ENTRY_MOST and the value. */
size_t chi_entry_encode(enum chi_tree_kind kind, const uint8_t *before, size_t before_len,
			const uint8_t *key, size_t key_len, const uint8_t *value, size_t len,
			uint8_t *out);

/* A group to be written, or copied. */
struct part {
	const uint8_t *leader;
	const uint8_t *bytes; /* checksum and entries */
	size_t len;
	uint32_t n; /* entries */
};

/* Low key, head and groups of a block, one behind the other, into `out`, which has `room` bytes.
 * `fence_len` 0: there is none. Returns the block's length without the low key; 0: no room. */
size_t chi_block_write(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		       const uint8_t *fence, size_t fence_len, const struct part *parts,
		       uint32_t groups, uint8_t *out, size_t room);

/* Bytes of a head. */
static inline size_t head_size(enum chi_tree_kind kind, uint32_t groups, size_t fence_len)
{
	size_t offsets = groups > 0 ? 2 * (size_t)(groups - 1) : 0;
	return HEAD_LEADERS + groups * (leader_size(kind) + 1) + offsets + 1 + fence_len +
	       CHECKSUM_SIZE;
}
