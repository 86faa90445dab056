/* SPDX-License-Identifier: MIT */
/* Looking into blocks. */
#include "store/block/block.h"

#include "store/block/block_priv.h"
#include "store/record/codec.h"

const uint8_t chi_tree_first[CHI_TREE_KEY_MAX] = {0};

int chi_tree_compare(enum chi_tree_kind kind, const uint8_t *a, size_t a_len, const uint8_t *b,
		     size_t b_len)
{
	return kind == CHI_TREE_STRENGTH ? chi_strength_compare(a, a_len, b, b_len)
					 : chi_position_compare(a, a_len, b, b_len);
}

uint32_t chi_head_sum(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		      const uint8_t *head, size_t len)
{
	uint32_t sum;
	if (CHI_LIKELY(low + low_len == head)) {
		sum = (uint32_t)XXH3_64bits(low, low_len + len);
	} else {
		XXH3_state_t state;
		XXH3_64bits_reset(&state);
		XXH3_64bits_update(&state, low, low_len);
		XXH3_64bits_update(&state, head, len);
		sum = (uint32_t)XXH3_64bits_digest(&state);
	}
	return kind == CHI_TREE_STRENGTH ? ~sum : sum;
}

/* The parts of a head lie within the block. */
static bool measure(struct chi_block *block)
{
	const uint8_t *bytes = block->bytes;
	if (block->len < HEAD_LEADERS + 1 + CHECKSUM_SIZE) {
		return false;
	}
	block->groups = bytes[HEAD_GROUPS];
	block->leaders = bytes + HEAD_LEADERS;
	block->counts = block->leaders + block->groups * leader_size(block->kind);
	block->offsets = block->counts + block->groups;
	size_t fence_at = head_size(block->kind, block->groups, 0) - 1 - CHECKSUM_SIZE;
	if (fence_at >= block->len) {
		return false;
	}
	block->fence = bytes + fence_at + 1;
	block->fence_len = bytes[fence_at];
	block->head = fence_at + 1 + block->fence_len + CHECKSUM_SIZE;
	/* A fence has a mask at least, as the look-ups of the next block have. */
	return block->head <= block->len && block->fence_len <= CHI_TREE_KEY_MAX &&
	       (block->fence_len == 0 || block->fence_len >= leader_size(block->kind)) &&
	       (block->groups > 0 || block->head == block->len) &&
	       (block->groups <= 1 || block->low_len + block->len <= CHI_BLOCK_ROOM);
}

bool chi_block_look(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		    const uint8_t *bytes, size_t len, struct chi_block *out)
{
	*out = (struct chi_block){
		.kind = kind, .low = low, .low_len = low_len, .bytes = bytes, .len = len};
	return CHI_LIKELY(low_len >= leader_size(kind) && low_len <= CHI_TREE_KEY_MAX &&
			  measure(out));
}

bool chi_block_verify(const struct chi_block *block)
{
	size_t body = block->head - CHECKSUM_SIZE;
	return CHI_LIKELY(chi_head_sum(block->kind, block->low, block->low_len, block->bytes,
				       body) == load_u32(block->bytes + body));
}

int chi_block_open(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		   const uint8_t *bytes, size_t len, struct chi_block *out)
{
	return chi_block_look(kind, low, low_len, bytes, len, out) && chi_block_verify(out)
		       ? CHI_OK
		       : -CHI_ECORRUPT;
}

bool chi_block_covers(const struct chi_block *block, const uint8_t *key, size_t key_len)
{
	/* Masks tell nearly always. */
	if (block->kind == CHI_TREE_POSITION && key_len >= MASK_SIZE && block->fence_len > 0) {
		uint64_t mask = load_mask(key);
		if (CHI_LIKELY(load_mask(block->low) < mask && mask < load_mask(block->fence))) {
			return true;
		}
	}
	return chi_tree_compare(block->kind, block->low, block->low_len, key, key_len) <= 0 &&
	       (block->fence_len == 0 ||
		chi_tree_compare(block->kind, key, key_len, block->fence, block->fence_len) < 0);
}

/* How many leaders are not greater, by statistic and mask. Without a branch that depends on them.
 */
CHI_INLINE uint32_t count_leaders(enum chi_tree_kind kind, const uint8_t *leaders, uint32_t n,
				  const uint8_t *key)
{
	size_t skip = chi_tree_skip(kind);
	uint32_t statistic = skip > 0 ? statistic_at(key) : 0;
	uint64_t mask = load_mask(key + skip);
	uint32_t count = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *leader = leaders + i * (skip + MASK_SIZE);
		uint64_t its = load_mask(leader + skip);
		if (skip > 0) {
			uint32_t statistics = statistic_at(leader);
			count += statistics < statistic || (statistics == statistic && its <= mask);
		} else {
			count += its <= mask;
		}
	}
	return count;
}

/* How the first entry of a group compares with a key that has its statistic and mask. */
static int compare_leader(const struct chi_block *block, uint32_t group, const uint8_t *key,
			  size_t key_len, int *order)
{
	struct chi_group place;
	uint8_t first[CHI_TREE_KEY_MAX];
	size_t size = leader_size(block->kind);
	if (!group_at(block, group, &place) || !verify_group(block->kind, &place)) {
		return -CHI_ECORRUPT;
	}
	size_t pieces = pieces_size(load_u64(key + size - MASK_SIZE));
	memcpy(first, key, size);
	memcpy(first + size, place.end - pieces, pieces);
	*order = chi_tree_compare(block->kind, first, size + pieces, key, key_len);
	return CHI_OK;
}

int chi_block_seek(const struct chi_block *block, const uint8_t *key, size_t key_len,
		   uint32_t *group)
{
	size_t size = leader_size(block->kind);
	uint32_t count =
		block->kind == CHI_TREE_STRENGTH
			? count_leaders(CHI_TREE_STRENGTH, block->leaders, block->groups, key)
			: count_leaders(CHI_TREE_POSITION, block->leaders, block->groups, key);
	/* The last eight bytes of a leader tell it from most. */
	while (count > 1 && CHI_UNLIKELY(load_u64(leader_at(block, count - 1) + size - MASK_SIZE) ==
						 load_u64(key + size - MASK_SIZE) &&
					 memcmp(leader_at(block, count - 1), key, size) == 0)) {
		int order = 0;
		int rc = compare_leader(block, count - 1, key, key_len, &order);
		if (rc < 0 || order <= 0) {
			*group = count - 1;
			return rc;
		}
		count--;
	}
	*group = count > 0 ? count - 1 : 0;
	return CHI_OK;
}

/* In the strength tree, where few look. */
static int find_strength(const struct chi_block *block, uint32_t group, const uint8_t *key,
			 size_t key_len, const uint8_t **value, size_t *len)
{
	struct chi_block_entry entries[CHI_GROUP_MOST];
	uint32_t n;
	int rc = chi_group_read(block, group, entries, &n);
	for (uint32_t i = 0; rc == CHI_OK && i < n; i++) {
		if (chi_entry_key_len(&entries[i], block->kind) == key_len &&
		    memcmp(chi_entry_key(&entries[i], block->kind), key, key_len) == 0) {
			*value = entries[i].value;
			*len = entries[i].len;
			return CHI_OK;
		}
	}
	return rc < 0 ? rc : CHI_NONE;
}

/* By leaders that may not have been verified, and groups that are. */
static int search_block(const struct chi_block *block, const uint8_t *key, size_t key_len,
			const uint8_t **value, size_t *len)
{
	uint32_t group;
	struct chi_group place;
	if (block->groups == 0) {
		return CHI_NONE;
	}
	int rc = chi_block_seek(block, key, key_len, &group);
	if (rc < 0 || !group_at(block, group, &place)) {
		return -CHI_ECORRUPT;
	}
	return block->kind == CHI_TREE_STRENGTH
		       ? find_strength(block, group, key, key_len, value, len)
		       : chi_group_find(&place, key, key_len, value, len);
}

int chi_block_find(const struct chi_block *block, const uint8_t *key, size_t key_len,
		   const uint8_t **value, size_t *len)
{
	bool own = key_len >= leader_size(block->kind) && chi_block_covers(block, key, key_len);
	return CHI_LIKELY(own) ? search_block(block, key, key_len, value, len) : -CHI_ECORRUPT;
}

int chi_block_probe(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		    const uint8_t *bytes, size_t size, const struct chi_group *group,
		    const uint8_t *key, size_t key_len, const uint8_t **value, size_t *len)
{
	struct chi_block block;
	int rc = CHI_NONE;
	bool ambiguous = group->n == 0 || load_u64(group->leader) == load_u64(key);
	if (CHI_LIKELY(group->n > 0)) {
		rc = chi_group_find(group, key, key_len, value, len);
		if (CHI_LIKELY(rc == CHI_OK)) {
			return CHI_OK;
		}
	}
	if (CHI_UNLIKELY(rc < 0 || !chi_block_look(kind, low, low_len, bytes, size, &block))) {
		return -CHI_ECORRUPT;
	}
	/* It may be one of those before the leader that have its mask. */
	if (CHI_UNLIKELY(ambiguous)) {
		rc = search_block(&block, key, key_len, value, len);
	}
	bool proven = rc == CHI_OK || (rc == CHI_NONE && chi_block_verify(&block) &&
				       chi_block_covers(&block, key, key_len));
	return CHI_LIKELY(proven) ? rc : -CHI_ECORRUPT;
}

/* ---- Asking for memory ---------------------------------------------------------------------- */

/* Bytes of the head of a full block. */
#define HEAD_USUAL 128

void chi_block_ask(const uint8_t *bytes, size_t len)
{
	size_t last = len < HEAD_USUAL ? len : HEAD_USUAL;
	__builtin_prefetch(bytes);
	__builtin_prefetch(bytes + last / 2);
	__builtin_prefetch(bytes + last);
}

void chi_block_aim(const uint8_t *bytes, size_t len, const uint8_t *key, struct chi_group *group)
{
	group->at = bytes;
	group->end = bytes;
	group->n = 0;
	uint32_t groups = len > HEAD_LEADERS ? bytes[HEAD_GROUPS] : 0;
	const uint8_t *leaders = bytes + HEAD_LEADERS;
	size_t counts = HEAD_LEADERS + groups * (size_t)MASK_SIZE;
	size_t fence = counts + 3 * (size_t)groups - 2;
	if (CHI_UNLIKELY(groups == 0 || fence >= len)) {
		return;
	}
	const uint8_t *offsets = bytes + counts + groups;
	uint32_t count = count_leaders(CHI_TREE_POSITION, leaders, groups, key);
	uint32_t i = count > 0 ? count - 1 : 0;
	size_t head = fence + 1 + bytes[fence] + CHECKSUM_SIZE;
	size_t at = i == 0 ? head : load_u16(offsets + 2 * (size_t)i - 2);
	size_t end = i + 1 == groups ? len : load_u16(offsets + 2 * (size_t)i);
	if (CHI_UNLIKELY(at < head || at + CHECKSUM_SIZE > end || end > len)) {
		return;
	}
	group->leader = leaders + (size_t)i * MASK_SIZE;
	group->at = bytes + at;
	group->end = bytes + end;
	group->n = bytes[counts + i];
}
