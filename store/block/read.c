/* SPDX-License-Identifier: MIT */
/* Looking into blocks. */
#include "store/block/block.h"

#include "store/block/block_priv.h"
#include "store/record/codec.h"

const uint8_t chi_tree_first[CHI_TREE_KEY_MAX] = {0};

/* From `p` shared bytes at the start and `s` at the end. */
#define WAY(p, s)                                                                                  \
	{                                                                                          \
		(UINT64_MAX >> (64 - 8 * (8 - (p) - (s)))) << (8 * (p)), 8 * (p), 8 - (p) - (s)    \
	}

/* In the order of the shared bytes at the start, then at the end. */
const struct mask_way chi_mask_ways[MASK_WAYS] = {
	WAY(0, 0), WAY(0, 1), WAY(0, 2), WAY(0, 3), WAY(0, 4), WAY(0, 5), WAY(0, 6), WAY(0, 7),
	WAY(1, 0), WAY(1, 1), WAY(1, 2), WAY(1, 3), WAY(1, 4), WAY(1, 5), WAY(1, 6), WAY(2, 0),
	WAY(2, 1), WAY(2, 2), WAY(2, 3), WAY(2, 4), WAY(2, 5), WAY(3, 0), WAY(3, 1), WAY(3, 2),
	WAY(3, 3), WAY(3, 4), WAY(4, 0), WAY(4, 1), WAY(4, 2), WAY(4, 3), WAY(5, 0), WAY(5, 1),
	WAY(5, 2), WAY(6, 0), WAY(6, 1), WAY(7, 0), {0, 0, 0},
};

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
	struct group_place place;
	struct chi_entry entry;
	bool good = begin_group(block, group, &place, &entry) &&
		    (block->kind == CHI_TREE_STRENGTH
			     ? next_entry((struct way_to_read){CHI_TREE_STRENGTH, false, true},
					  &place, &entry, true)
			     : next_entry((struct way_to_read){CHI_TREE_POSITION, false, true},
					  &place, &entry, true));
	if (!good) {
		return -CHI_ECORRUPT;
	}
	*order = chi_tree_compare(block->kind, chi_entry_key(&entry, block->kind),
				  chi_entry_key_len(&entry, block->kind), key, key_len);
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

CHI_INLINE int find_in(struct way_to_read how, const struct chi_block *block, uint32_t group,
		       const uint8_t *key, size_t key_len, const uint8_t **value, size_t *len)
{
	size_t skip = chi_tree_skip(how.kind);
	struct group_place place;
	struct chi_entry entry;
	uint64_t mask = load_u64(key + skip);
	bool leader = true;
	if (CHI_UNLIKELY(!begin_group(block, group, &place, &entry))) {
		return -CHI_ECORRUPT;
	}
	while (place.at < place.end) {
		if (CHI_UNLIKELY(!next_entry(how, &place, &entry, leader))) {
			return -CHI_ECORRUPT;
		}
		leader = false;
		if (load_u64(entry.bytes + 2) == mask && entry.key_len + skip == key_len &&
		    memcmp(entry.bytes + 2 - skip, key, key_len) == 0) {
			*value = entry.value;
			*len = entry.len;
			return CHI_OK;
		}
	}
	return CHI_NONE;
}

CHI_INLINE int read_in(struct way_to_read how, const struct chi_block *block, uint32_t group,
		       struct chi_entry *entries, uint32_t *n)
{
	struct group_place place;
	struct chi_entry entry;
	uint32_t count = block->counts[group];
	*n = 0;
	if (CHI_UNLIKELY(count > CHI_GROUP_MOST || !begin_group(block, group, &place, &entry))) {
		return -CHI_ECORRUPT;
	}
	for (uint32_t i = 0; i < count; i++) {
		/* In one place, which is copied: the next one needs not wait for a copy. */
		if (CHI_UNLIKELY(!next_entry(how, &place, &entry, i == 0))) {
			return -CHI_ECORRUPT;
		}
		struct chi_entry *out = &entries[i];
		memcpy(out->bytes, entry.bytes, 32);
		out->key_len = entry.key_len;
		out->pieces = entry.pieces;
		out->len = entry.len;
		out->value = entry.value;
	}
	if (CHI_UNLIKELY(place.at != place.end)) {
		return -CHI_ECORRUPT;
	}
	*n = count;
	return CHI_OK;
}

/* A function for each tree, and where the processor counts bits, others that let it. */
#define FUNCTIONS(find, read, kind, popcnt)                                                        \
	static int find(const struct chi_block *block, uint32_t group, const uint8_t *key,         \
			size_t key_len, const uint8_t **value, size_t *len)                        \
	{                                                                                          \
		return find_in((struct way_to_read){kind, popcnt, false}, block, group, key,       \
			       key_len, value, len);                                               \
	}                                                                                          \
	POPCNT_##popcnt static int read(const struct chi_block *block, uint32_t group,             \
					struct chi_entry *entries, uint32_t *n)                    \
	{                                                                                          \
		return read_in((struct way_to_read){kind, popcnt, true}, block, group, entries,    \
			       n);                                                                 \
	}
#define POPCNT_false
#define POPCNT_true __attribute__((target("popcnt")))

FUNCTIONS(find_position, read_position, CHI_TREE_POSITION, false)
FUNCTIONS(find_strength, read_strength, CHI_TREE_STRENGTH, false)
#if defined(__x86_64__)
POPCNT_true FUNCTIONS(find_position_fast, read_position_fast, CHI_TREE_POSITION, true) POPCNT_true
	FUNCTIONS(find_strength_fast, read_strength_fast, CHI_TREE_STRENGTH, true)
#endif

	/* By leaders that may not have been verified, and groups that are. */
	static int search(const struct chi_block *block, const uint8_t *key, size_t key_len,
			  const uint8_t **value, size_t *len)
{
	uint32_t group;
	if (block->groups == 0) {
		return CHI_NONE;
	}
	int rc = chi_block_seek(block, key, key_len, &group);
	if (CHI_UNLIKELY(rc < 0)) {
		return rc;
	}
	bool strength = block->kind == CHI_TREE_STRENGTH;
#if defined(__x86_64__)
	if (CHI_LIKELY(__builtin_cpu_supports("popcnt"))) {
		return strength ? find_strength_fast(block, group, key, key_len, value, len)
				: find_position_fast(block, group, key, key_len, value, len);
	}
#endif
	return strength ? find_strength(block, group, key, key_len, value, len)
			: find_position(block, group, key, key_len, value, len);
}

int chi_block_find(const struct chi_block *block, const uint8_t *key, size_t key_len,
		   const uint8_t **value, size_t *len)
{
	bool own = key_len >= leader_size(block->kind) && chi_block_covers(block, key, key_len);
	return CHI_LIKELY(own) ? search(block, key, key_len, value, len) : -CHI_ECORRUPT;
}

int chi_block_probe(enum chi_tree_kind kind, const uint8_t *low, size_t low_len,
		    const uint8_t *bytes, size_t size, const uint8_t *key, size_t key_len,
		    const uint8_t **value, size_t *len)
{
	struct chi_block block;
	if (CHI_UNLIKELY(key_len < leader_size(kind) ||
			 !chi_block_look(kind, low, low_len, bytes, size, &block))) {
		return -CHI_ECORRUPT;
	}
	int rc = search(&block, key, key_len, value, len);
	if (CHI_LIKELY(rc == CHI_OK)) {
		return CHI_OK;
	}
	bool proven = rc == CHI_NONE && chi_block_verify(&block) &&
		      chi_block_covers(&block, key, key_len);
	return proven ? CHI_NONE : -CHI_ECORRUPT;
}

int chi_group_read(const struct chi_block *block, uint32_t group,
		   struct chi_entry entries[CHI_GROUP_MOST], uint32_t *n)
{
	bool strength = block->kind == CHI_TREE_STRENGTH;
#if defined(__x86_64__)
	if (CHI_LIKELY(__builtin_cpu_supports("popcnt"))) {
		return strength ? read_strength_fast(block, group, entries, n)
				: read_position_fast(block, group, entries, n);
	}
#endif
	return strength ? read_strength(block, group, entries, n)
			: read_position(block, group, entries, n);
}

/* ---- Asking for memory ---------------------------------------------------------------------- */

#define LINE 64

static void ask(const uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len; i += LINE) {
		__builtin_prefetch(at + i);
	}
	__builtin_prefetch(at + len - 1);
}

/* Bytes of the head of a full block. */
#define HEAD_USUAL 128

void chi_block_ask_head(const uint8_t *bytes, size_t len)
{
	ask(bytes, len < HEAD_USUAL ? len : HEAD_USUAL);
}

void chi_block_ask_group(enum chi_tree_kind kind, const uint8_t *bytes, size_t len,
			 const uint8_t *key)
{
	/* The bytes of a group of 16 at most. */
	static const size_t most = 448;
	if (len < HEAD_LEADERS) {
		return;
	}
	uint32_t groups = bytes[HEAD_GROUPS];
	size_t leaders = groups * leader_size(kind);
	if (HEAD_LEADERS + leaders + 3 * (size_t)groups > len) {
		return;
	}
	uint32_t count =
		kind == CHI_TREE_STRENGTH
			? count_leaders(CHI_TREE_STRENGTH, bytes + HEAD_LEADERS, groups, key)
			: count_leaders(CHI_TREE_POSITION, bytes + HEAD_LEADERS, groups, key);
	const uint8_t *offsets = bytes + HEAD_LEADERS + leaders + groups;
	size_t at = count < 2 ? head_size(kind, groups, CHI_KEY_MIN)
			      : load_u16(offsets + 2 * (size_t)(count - 2));
	size_t end =
		count < 1 || count >= groups ? len : load_u16(offsets + 2 * (size_t)(count - 1));
	end = end < len ? end : len;
	if (at < end) {
		ask(bytes + at, end - at < most ? end - at : most);
	}
}
