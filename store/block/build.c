/* SPDX-License-Identifier: MIT */
/* Writing heads, and building blocks by append. */
#include "store/block/block.h"

#include "store/block/block_priv.h"

size_t chi_block_write(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		       const uint8_t *fence, size_t fence_len, const struct chi_group_part *parts,
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

/* The last group begins where the others end. */
static void begin_group(struct chi_builder *b)
{
	chi_group_begin(&b->group, b->kind, b->bytes + b->len);
}

static void begin_block(struct chi_builder *b, const uint8_t *low, size_t low_len)
{
	memcpy(b->low, low, low_len);
	b->low_len = low_len;
	b->groups = 0;
	b->len = 0;
	begin_group(b);
}

void chi_builder_init(struct chi_builder *b, enum chi_tree_kind kind, uint8_t *bytes,
		      chi_builder_take *take, void *context)
{
	b->kind = kind;
	b->bytes = bytes;
	b->take = take;
	b->context = context;
	b->added = 0;
	begin_block(b, chi_tree_first, chi_tree_first_len(kind));
}

static void finish_group(struct chi_builder *b)
{
	const struct chi_group_writer *group = &b->group;
	if (group->n > 0) {
		memcpy(b->leaders[b->groups], group->leader, leader_size(b->kind));
		b->counts[b->groups] = (uint8_t)group->n;
		b->offsets[b->groups++] = b->len;
		b->len += chi_group_finish(&b->group);
		begin_group(b);
	}
}

/* Gives the block away. The groups are at the start of the room, the block is made after them.
 */
static int give(struct chi_builder *b, const uint8_t *fence, size_t fence_len)
{
	struct chi_group_part parts[256];
	finish_group(b);
	for (uint32_t i = 0; i < b->groups; i++) {
		size_t end = i + 1 < b->groups ? b->offsets[i + 1] : b->len;
		parts[i] = (struct chi_group_part){.leader = b->leaders[i],
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

static bool is_empty(const struct chi_builder *b)
{
	return b->groups == 0 && b->group.n == 0;
}

/* True if the block has room for an entry of `size` bytes, which may begin a group, and a fence. */
static bool has_room(const struct chi_builder *b, size_t size, bool begins)
{
	uint32_t groups = b->groups + (b->group.n > 0) + begins;
	size_t len = b->len + (b->group.n > 0 ? chi_group_size(&b->group) : 0);
	return groups <= UINT8_MAX && b->low_len + head_size(b->kind, groups, CHI_TREE_KEY_MAX) +
						      len + size + (begins ? CHECKSUM_SIZE : 0) <=
					      CHI_BLOCK_ROOM;
}

int chi_builder_add(struct chi_builder *b, const uint8_t *key, size_t key_len, const uint8_t *value,
		    size_t len)
{
	struct chi_group_writer *group = &b->group;
	struct entry_form form;
	if (CHI_UNLIKELY(len > (CHI_BUILDER_ROOM - 2 * CHI_EDIT_ROOM) / 2 ||
			 (b->added > 0 && chi_tree_compare(b->kind, group->last, group->last_len,
							   key, key_len) >= 0))) {
		return -CHI_EINTERNAL;
	}
	bool begins = group->n == 0 || group->n == group_full(b->kind);
	chi_group_form(group, begins, key, key_len, len, &form);
	if (!begins && chi_group_size(group) + form.size > group_bytes(b->kind)) {
		begins = true;
		chi_group_form(group, begins, key, key_len, len, &form);
	}
	if (!is_empty(b) && !has_room(b, form.size, begins)) {
		int rc = give(b, key, key_len);
		if (rc != 0) {
			return rc;
		}
		begin_block(b, key, key_len);
		chi_group_form(group, true, key, key_len, len, &form);
	} else if (begins) {
		finish_group(b);
	}
	chi_group_add(group, &form, key, key_len, value, len);
	b->added++;
	return CHI_OK;
}

int chi_builder_finish(struct chi_builder *b)
{
	return !is_empty(b) ? give(b, NULL, 0) : CHI_OK;
}
