/* SPDX-License-Identifier: MIT */
/*
 * Reaches store/block/block.h: any bytes as a block. The first byte says of which tree, then come
 * the low key, 8 bytes or 10, and the block. Its checksums are set right first, else no input would
 * come past them. What can be read is found again, and a block that is changed, as the first bytes
 * of its own keys say, holds what it held but for the change.
 */
#include <string.h>

#include "store/block/block_priv.h"
#include "store/record/codec.h"
#include "tests/fuzz/fuzz.h"

#define BYTES_MAX 4096
#define ENTRIES	  (CHI_GROUP_MOST * 64)

static struct chi_block_entry entries[ENTRIES];

/* The checksums of the head and of all groups that lie in the block. */
static void seal(struct chi_block *block, uint8_t *bytes)
{
	size_t body = block->head - CHECKSUM_SIZE;
	store_u32(bytes + body, chi_head_sum(block->kind, block->low, block->low_len, bytes, body));
	for (uint32_t i = 0; i < block->groups; i++) {
		struct chi_group place;
		if (group_at(block, i, &place)) {
			size_t len = (size_t)(place.end - place.at) - CHECKSUM_SIZE;
			store_u32(bytes + (place.at - bytes),
				  group_sum(block->kind, leader_at(block, i), block->counts[i],
					    place.at + CHECKSUM_SIZE, len));
		}
	}
}

/* Of a sound group those whose masks fit are as in `all`; of another nothing is promised. */
static void check_picked(const struct chi_block *block, uint32_t at,
			 const struct chi_block_entry *all, uint32_t n)
{
	static struct chi_block_entry some[CHI_GROUP_MOST];
	struct chi_group group;
	struct chi_mask_wants wants = {.n = 1};
	uint32_t fit = 0;
	uint16_t ends[2];
	if (chi_group_at(block, at, &group) < 0) {
		return;
	}
	wants.any[0].decides = load_u64(group.leader + chi_tree_skip(block->kind)) & 0x00ff00ff00ff;
	wants.any[0].occupied = wants.any[0].decides;
	wants.any[0].span = CHI_MASK_PIECES;
	int rc = chi_group_pick(block->kind, &group, &wants, some, &fit, ends);
	REQUIRE(n == 0 || rc == CHI_OK);
	for (uint32_t i = 0; i < n; i++) {
		bool fits = chi_masks_fit(&wants, load_u64(all[i].bytes + 2), all[i].pieces);
		REQUIRE(fits == ((fit >> i & 1) != 0));
		REQUIRE(!fits || (some[i].key_len == all[i].key_len &&
				  some[i].value == all[i].value && some[i].len == all[i].len &&
				  memcmp(chi_entry_key(&some[i], block->kind),
					 chi_entry_key(&all[i], block->kind),
					 chi_entry_key_len(&all[i], block->kind)) == 0));
	}
}

/* All entries, if all groups are sound and in order; else 0. */
static size_t read_all(const struct chi_block *block)
{
	size_t n = 0;
	for (uint32_t i = 0; i < block->groups; i++) {
		uint32_t more = 0;
		if (n + CHI_GROUP_MOST > ENTRIES) {
			return 0;
		}
		int rc = chi_group_read(block, i, entries + n, &more);
		check_picked(block, i, entries + n, more);
		if (rc < 0) {
			return 0;
		}
		n += more;
	}
	for (size_t i = 0; i < n; i++) {
		const uint8_t *key = chi_entry_key(&entries[i], block->kind);
		size_t len = chi_entry_key_len(&entries[i], block->kind);
		bool ascends =
			i == 0 ||
			chi_tree_compare(block->kind, chi_entry_key(&entries[i - 1], block->kind),
					 chi_entry_key_len(&entries[i - 1], block->kind), key,
					 len) < 0;
		if (!ascends || !chi_block_covers(block, key, len)) {
			return 0;
		}
	}
	return n;
}

static void check_found(const struct chi_block *block, const struct chi_block_entry *entry)
{
	const uint8_t *value;
	size_t len;
	const uint8_t *key = chi_entry_key(entry, block->kind);
	size_t key_len = chi_entry_key_len(entry, block->kind);
	REQUIRE(chi_block_find(block, key, key_len, &value, &len) == CHI_OK);
	REQUIRE(value == entry->value && len == entry->len);
	if (block->kind == CHI_TREE_POSITION) {
		struct chi_group group;
		chi_block_aim(block->bytes, block->len, key, &group);
		REQUIRE(chi_block_probe(block->kind, block->low, block->low_len, block->bytes,
					block->len, &group, key, key_len, &value, &len) == CHI_OK);
		REQUIRE(value == entry->value && len == entry->len);
	}
}

/* Whether an entry is of those that a change is about: every third from `which` on. */
static bool is_changed(size_t at, size_t which, uint32_t changes)
{
	return at >= which && (at - which) % 3 == 0 && (at - which) / 3 < changes;
}

/* Removes entries, or puts their values over them: the blocks that come out hold the others. */
static void check_change(const struct chi_block *block, size_t n, size_t which, bool removes)
{
	static uint8_t room[2 * (CHI_EDIT_ROOM + BYTES_MAX)];
	struct chi_block_edit edit = {.bytes = room, .size = sizeof(room)};
	struct chi_change changes[CHI_EDIT_CHANGES];
	uint32_t k = 0;
	size_t values = 0;
	int added;
	const uint8_t *fence = NULL;
	for (size_t i = which; i < n && k < CHI_EDIT_CHANGES; i += 3, k++) {
		const struct chi_block_entry *entry = &entries[i];
		values += removes ? 0 : entry->len;
		if (k > 0 && values > CHI_EDIT_VALUES) {
			break;
		}
		changes[k] = (struct chi_change){.key = chi_entry_key(entry, block->kind),
						 .key_len = chi_entry_key_len(entry, block->kind),
						 .value = removes ? NULL : entry->value,
						 .len = removes ? 0 : entry->len};
	}
	REQUIRE(chi_edit_block(block, changes, k, &edit, &added) == CHI_OK);
	REQUIRE(added == (removes ? -(int)k : 0) && edit.n > 0);
	size_t at = 0;
	for (uint32_t i = 0; i < edit.n; i++) {
		struct chi_block part;
		const uint8_t *low = room + edit.blocks[i].at;
		REQUIRE(chi_block_open(block->kind, low, edit.blocks[i].low_len,
				       low + edit.blocks[i].low_len, edit.blocks[i].len,
				       &part) == CHI_OK);
		REQUIRE(fence == NULL || memcmp(fence, low, edit.blocks[i].low_len) == 0);
		fence = part.fence;
		for (uint32_t g = 0; g < part.groups; g++) {
			struct chi_block_entry some[CHI_GROUP_MOST];
			uint32_t more;
			REQUIRE(chi_group_read(&part, g, some, &more) == CHI_OK);
			for (uint32_t j = 0; j < more; j++, at++) {
				at += removes && is_changed(at, which, k);
				REQUIRE(at < n && some[j].key_len == entries[at].key_len);
				REQUIRE(memcmp(chi_entry_key(&some[j], block->kind),
					       chi_entry_key(&entries[at], block->kind),
					       chi_entry_key_len(&some[j], block->kind)) == 0);
				REQUIRE(some[j].len == entries[at].len);
				REQUIRE(memcmp(some[j].value, entries[at].value, some[j].len) == 0);
			}
		}
	}
	REQUIRE(at + (removes && is_changed(at, which, k)) == n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[CHI_TREE_KEY_MAX + BYTES_MAX];
	enum chi_tree_kind kind =
		size > 0 && (data[0] & 1) != 0 ? CHI_TREE_STRENGTH : CHI_TREE_POSITION;
	size_t low_len = leader_size(kind);
	struct chi_block block;
	if (size <= 1 + low_len || size > BYTES_MAX) {
		return 0;
	}
	memcpy(bytes, data + 1, size - 1);
	size_t len = size - 1 - low_len;
	uint8_t *block_bytes = bytes + low_len;
	if (!chi_block_look(kind, bytes, low_len, block_bytes, len, &block)) {
		return 0;
	}
	seal(&block, block_bytes);
	if (chi_block_open(kind, bytes, low_len, block_bytes, len, &block) != CHI_OK) {
		return 0;
	}
	size_t n = read_all(&block);
	for (size_t i = 0; i < n; i++) {
		check_found(&block, &entries[i]);
	}
	if (n > 0) {
		check_change(&block, n, data[0] / 2 % n, true);
		check_change(&block, n, data[0] / 2 % n, false);
	}
	return 0;
}
