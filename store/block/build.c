/* SPDX-License-Identifier: MIT */
/* Encoding entries, groups and heads, and building blocks by append. */
#include "store/block/block.h"

#include "base/wire.h"
#include "store/block/block_priv.h"

/* Which way a mask goes on from the one before. */
static uint32_t way_of(const uint8_t *before, const uint8_t *mask)
{
	/* The first way with so many bytes shared at the start. */
	static const uint8_t first[MASK_SIZE + 1] = {0, 8, 15, 21, 26, 30, 33, 35, MASK_ALL};
	uint32_t start = 0;
	uint32_t end = 0;
	while (start < MASK_SIZE && before[start] == mask[start]) {
		start++;
	}
	while (start + end + 1 < MASK_SIZE && before[7 - end] == mask[7 - end]) {
		end++;
	}
	return first[start] + end;
}

/* How many bytes of the pieces are shared at the start, and of what is left at the end. */
static void share_pieces(const uint8_t *before, size_t before_len, const uint8_t *key,
			 size_t key_len, size_t *start, size_t *end)
{
	size_t least = (before_len < key_len ? before_len : key_len) - MASK_SIZE;
	size_t n = 0;
	while (n < least && n < SHARED_START_MOST && before[MASK_SIZE + n] == key[MASK_SIZE + n]) {
		n++;
	}
	*start = n;
	n = 0;
	while (*start + n < least && n < SHARED_END_MOST &&
	       before[before_len - 1 - n] == key[key_len - 1 - n]) {
		n++;
	}
	*end = n;
}

/* The code of a value's length. */
static uint32_t code_of(size_t len)
{
	uint32_t code = 0;
	while (code < LENGTH_VARINT && usual_lengths[code] != len) {
		code++;
	}
	return code;
}

size_t chi_entry_encode(enum chi_tree_kind kind, const uint8_t *before, size_t before_len,
			const uint8_t *key, size_t key_len, const uint8_t *value, size_t len,
			uint8_t *out)
{
	size_t skip = chi_tree_skip(kind);
	struct chi_writer w = chi_writer_of(out, ENTRY_MOST + len);
	bool statistic = before != NULL && skip > 0 && memcmp(before, key, skip) != 0;
	uint32_t code = kind == CHI_TREE_POSITION ? code_of(len)
						  : (statistic ? LENGTH_STATISTIC : 0u) |
							    (len > 0 ? LENGTH_LINE : 0u);
	uint32_t way = MASK_ALL;
	size_t start = 0;
	size_t end = 0;
	const uint8_t *mask = key + skip;
	if (before != NULL) {
		way = way_of(before + skip, mask);
		share_pieces(before + skip, before_len - skip, mask, key_len - skip, &start, &end);
	}
	const struct mask_way *ways = &chi_mask_ways[way];
	chi_write_le(&w, way | (uint32_t)(start << 6 | end << 10) | code << 13, 2);
	if (statistic) {
		chi_write_bytes(&w, key, skip);
	}
	chi_write_bytes(&w, mask + ways->shift / 8, ways->bytes);
	chi_write_bytes(&w, mask + MASK_SIZE + start, key_len - skip - MASK_SIZE - start - end);
	if (kind == CHI_TREE_POSITION ? code == LENGTH_VARINT : len > 0) {
		chi_write_varint(&w, len);
	}
	chi_write_bytes(&w, value, len);
	return (size_t)(w.at - out);
}

size_t chi_block_write(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		       const uint8_t *fence, size_t fence_len, const struct part *parts,
		       uint32_t groups, uint8_t *out, size_t room)
{
	size_t head = head_size(kind, groups, fence_len);
	size_t len = head;
	for (uint32_t i = 0; i < groups; i++) {
		len += parts[i].len;
	}
	if (low_len + len > room || groups > UINT8_MAX) {
		return 0;
	}
	uint8_t *block = out + low_len;
	uint8_t *at = block + HEAD_LEADERS;
	memcpy(out, low, low_len);
	block[HEAD_GROUPS] = (uint8_t)groups;
	for (uint32_t i = 0; i < groups; i++, at += leader_size(kind)) {
		memcpy(at, parts[i].leader, leader_size(kind));
	}
	for (uint32_t i = 0; i < groups; i++) {
		*at++ = (uint8_t)parts[i].n;
	}
	size_t offset = head;
	for (uint32_t i = 0; i < groups; i++) {
		memcpy(block + offset, parts[i].bytes, parts[i].len);
		offset += parts[i].len;
		if (i + 1 < groups) {
			/* Of several groups none is so long that this would not do. */
			store_u16(at, (uint32_t)offset);
			at += 2;
		}
	}
	*at++ = (uint8_t)fence_len;
	if (fence_len > 0) {
		memcpy(at, fence, fence_len);
	}
	size_t body = head - CHECKSUM_SIZE;
	store_u32(block + body, chi_head_sum(kind, out, low_len, block, body));
	return len;
}

/* ---- By append ------------------------------------------------------------------------------ */

static void begin_block(struct chi_builder *b, const uint8_t *low, size_t low_len)
{
	memcpy(b->low, low, low_len);
	b->low_len = low_len;
	b->groups = 0;
	b->n = 0;
	b->in_group = 0;
	b->len = 0;
}

void chi_builder_init(struct chi_builder *b, enum chi_tree_kind kind, uint8_t *bytes,
		      chi_builder_take *take, void *context)
{
	b->kind = kind;
	b->bytes = bytes;
	b->take = take;
	b->context = context;
	b->added = 0;
	b->last_len = 0;
	begin_block(b, chi_tree_first, chi_tree_first_len(kind));
}

static void close_group(struct chi_builder *b)
{
	if (b->in_group > 0) {
		uint8_t *group = b->bytes + b->offsets[b->groups - 1];
		size_t len = b->len - b->offsets[b->groups - 1];
		store_u32(group, group_sum(b->kind, b->leaders[b->groups - 1],
					   group + CHECKSUM_SIZE, len - CHECKSUM_SIZE));
		b->counts[b->groups - 1] = (uint8_t)b->in_group;
		b->in_group = 0;
	}
}

/* Gives the block away. The groups stand at the start of the room, the block is made behind them.
 */
static int give(struct chi_builder *b, const uint8_t *fence, size_t fence_len)
{
	struct part parts[256];
	close_group(b);
	for (uint32_t i = 0; i < b->groups; i++) {
		size_t end = i + 1 < b->groups ? b->offsets[i + 1] : b->len;
		parts[i] = (struct part){.leader = b->leaders[i],
					 .bytes = b->bytes + b->offsets[i],
					 .len = end - b->offsets[i],
					 .n = b->counts[i]};
	}
	uint8_t *out = b->bytes + b->len;
	size_t len = chi_block_write(b->kind, b->low, b->low_len, fence, fence_len, parts,
				     b->groups, out, CHI_BUILDER_ROOM - b->len);
	return len == 0 ? -CHI_EINTERNAL
			: b->take(b->context, out, b->low_len, out + b->low_len, len);
}

/* True if the block has room for an entry of `size` bytes, which may begin a group, and a fence. */
static bool has_room(const struct chi_builder *b, size_t size, bool begins)
{
	size_t head = head_size(b->kind, b->groups + begins, CHI_TREE_KEY_MAX);
	return b->groups + begins < UINT8_MAX &&
	       b->low_len + head + b->len + size + (begins ? CHECKSUM_SIZE : 0) <= CHI_BLOCK_ROOM;
}

/* Encodes into the room behind the groups, as the first of its group or the next; its size. */
static size_t encode(struct chi_builder *b, const uint8_t *key, size_t key_len,
		     const uint8_t *value, size_t len, bool begins)
{
	uint8_t *at = b->bytes + b->len + (begins ? CHECKSUM_SIZE : 0);
	return chi_entry_encode(b->kind, begins ? NULL : b->last, b->last_len, key, key_len, value,
				len, at);
}

int chi_builder_add(struct chi_builder *b, const uint8_t *key, size_t key_len, const uint8_t *value,
		    size_t len)
{
	if (CHI_UNLIKELY(len > CHI_BUILDER_ROOM - CHI_EDIT_ROOM ||
			 (b->last_len > 0 &&
			  chi_tree_compare(b->kind, b->last, b->last_len, key, key_len) >= 0))) {
		return -CHI_EINTERNAL;
	}
	size_t group = b->in_group > 0 ? b->len - b->offsets[b->groups - 1] : 0;
	bool begins = b->in_group == 0 || b->in_group == group_full(b->kind) ||
		      group + len > group_bytes(b->kind);
	/* What cannot share a block is not encoded behind what is there. */
	bool large = len > CHI_BLOCK_ROOM && b->n > 0;
	size_t size = large ? 0 : encode(b, key, key_len, value, len, begins);
	if (!begins && group + size > group_bytes(b->kind)) {
		begins = true;
		size = encode(b, key, key_len, value, len, begins);
	}
	if (large || (b->n > 0 && !has_room(b, size, begins))) {
		int rc = give(b, key, key_len);
		if (rc != 0) {
			return rc;
		}
		begin_block(b, key, key_len);
		begins = true;
		size = encode(b, key, key_len, value, len, begins);
	}
	if (begins) {
		close_group(b);
		/* The entry stands where it belongs already, its checksum's room before it. */
		memcpy(b->leaders[b->groups], key, leader_size(b->kind));
		b->offsets[b->groups++] = b->len;
		b->len += CHECKSUM_SIZE;
	}
	b->len += size;
	b->n++;
	b->in_group++;
	b->added++;
	memcpy(b->last, key, key_len);
	b->last_len = key_len;
	return CHI_OK;
}

int chi_builder_finish(struct chi_builder *b)
{
	return b->n > 0 ? give(b, NULL, 0) : CHI_OK;
}
