/* SPDX-License-Identifier: MIT */
/* Groups are decoded in two ways, one for any processor and one for those that count bits and
 * shuffle bytes: both find the same in sound groups, and say the same of damaged ones whose
 * checksum is right. */
#include "tests/store/trees.h"

#include "store/block/decode.c"

#define KEYS	 2000
#define DAMAGES	 40
#define BODY_MAX 700

static unsigned sound;
static unsigned damaged;
static unsigned picked[2];

static void check_finds(const struct chi_group *group, const struct chi_block_entry *entries,
			uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *value[2];
		size_t len[2];
		const uint8_t *key = entries[i].bytes + 2;
		size_t key_len = entries[i].key_len;
		ok(find_plain(group, key, key_len, &value[0], &len[0]));
		ok(find_quick(group, key, key_len, &value[1], &len[1]));
		assert_ptr_equal(value[0], entries[i].value);
		assert_ptr_equal(value[1], entries[i].value);
		assert_int_equal(len[0], entries[i].len);
		assert_int_equal(len[1], entries[i].len);
		/* One beside it, of other squares, other pieces or another number of them. */
		uint8_t other[CHI_KEY_MAX];
		memcpy(other, key, sizeof(other));
		other[help_below((unsigned)key_len)] ^= (uint8_t)(1u << help_below(8));
		size_t other_len = key_len - (key_len > CHI_KEY_MIN && help_below(8) == 0);
		int rc = find_plain(group, other, other_len, &value[0], &len[0]);
		assert_int_equal(find_quick(group, other, other_len, &value[1], &len[1]), rc);
		if (rc == CHI_OK) {
			assert_ptr_equal(value[0], value[1]);
			assert_int_equal(len[0], len[1]);
		}
	}
}

static void check_entry(enum chi_tree_kind kind, const struct chi_block_entry *a,
			const struct chi_block_entry *b)
{
	assert_memory_equal(a->bytes + 2 - chi_tree_skip(kind), b->bytes + 2 - chi_tree_skip(kind),
			    CHI_KEY_MAX + chi_tree_skip(kind));
	assert_int_equal(a->key_len, b->key_len);
	assert_int_equal(a->pieces, b->pieces);
	assert_ptr_equal(a->value, b->value);
	assert_int_equal(a->len, b->len);
}

/* Mostly what one entry fits, and others may. */
static struct chi_mask_wants random_wants(const struct chi_block_entry *entries, uint32_t n)
{
	struct chi_mask_wants wants = {.n = help_below(5)};
	for (uint32_t i = 0; i < wants.n; i++) {
		struct chi_mask_want *want = &wants.any[i];
		const uint8_t *mask = entries[help_below(n)].bytes + 2;
		for (int j = 0; j < 8; j++) {
			want->occupied |= (uint64_t)mask[j] << 8 * j;
		}
		want->decides = help_random() & help_random();
		want->decides &= help_below(4) == 0 ? 0 : help_random();
		want->occupied &= want->decides;
		want->least = help_below(2) == 0 ? 1 : 1 + help_below(32);
		want->span = help_below(2) == 0 ? 31 : help_below(8);
	}
	return wants;
}

static bool fits_one(const struct chi_mask_wants *wants, const struct chi_block_entry *entry)
{
	bool fits = false;
	for (uint32_t i = 0; i < wants->n; i++) {
		const struct chi_mask_want *want = &wants->any[i];
		bool all =
			entry->pieces >= want->least && entry->pieces <= want->least + want->span;
		for (unsigned bit = 0; bit < 64; bit++) {
			bool there = (entry->bytes[2 + bit / 8] >> bit % 8 & 1) != 0;
			bool asked = (want->decides >> bit & 1) != 0;
			all = all && (!asked || there == ((want->occupied >> bit & 1) != 0));
		}
		fits = fits || all;
	}
	return fits;
}

/* Reads those that fit, both ways; `entries` are all, if the group is sound. */
static void check_pick(enum chi_tree_kind kind, const struct chi_group *group,
		       const struct chi_block_entry *entries, uint32_t n,
		       const struct chi_mask_wants *wants)
{
	static struct chi_block_entry some[2][CHI_GROUP_MOST];
	uint32_t fit[2] = {0};
	uint16_t ends[2][2] = {{0}};
	int rc = pick_plain(kind, group, wants, some[0], &fit[0], ends[0]);
	assert_int_equal(pick_fast(kind, group, wants, some[1], &fit[1], ends[1]), rc);
	assert_true(rc == CHI_OK || n == 0);
	for (uint32_t i = 0; rc == CHI_OK && i < CHI_GROUP_MOST; i++) {
		bool fits = (fit[0] >> i & 1) != 0;
		assert_int_equal(fit[1] >> i & 1, fits);
		if (fits) {
			check_entry(kind, &some[0][i], &some[1][i]);
		}
		if (n > 0) {
			assert_int_equal(fits, i < n && fits_one(wants, &entries[i]));
		}
		if (fits && n > 0) {
			check_entry(kind, &entries[i], &some[0][i]);
		}
		picked[fits]++;
	}
	if (n > 0 && kind == CHI_TREE_STRENGTH) {
		assert_int_equal(ends[0][0], chi_chi2_of(entries[0].bytes));
		assert_int_equal(ends[1][0], chi_chi2_of(entries[0].bytes));
		assert_int_equal(ends[0][1], chi_chi2_of(entries[n - 1].bytes));
		assert_int_equal(ends[1][1], chi_chi2_of(entries[n - 1].bytes));
	}
}

/* Reads it both ways. */
static void check_group(enum chi_tree_kind kind, const struct chi_group *group)
{
	static struct chi_block_entry entries[2][CHI_GROUP_MOST];
	uint32_t n[2];
	int rc = read_plain(kind, group, entries[0], &n[0]);
	assert_int_equal(read_fast(kind, group, entries[1], &n[1]), rc);
	assert_int_equal(n[0], n[1]);
	for (uint32_t i = 0; i < n[0]; i++) {
		check_entry(kind, &entries[0][i], &entries[1][i]);
	}
	static struct chi_mask_wants wants;
	if (n[0] > 0) {
		wants = random_wants(entries[0], n[0]);
	}
	check_pick(kind, group, entries[0], n[0], &wants);
	if (rc == CHI_OK) {
		sound++;
	} else {
		damaged++;
	}
	if (kind == CHI_TREE_POSITION) {
		check_finds(group, entries[0], n[0]);
	}
}

/* Its checksum is wrong, which nothing misses, whether an entry fits or none. */
static void check_unsealed(enum chi_tree_kind kind, const struct chi_group *group)
{
	static struct chi_block_entry entries[CHI_GROUP_MOST];
	struct chi_mask_wants wants = {.n = 0};
	uint32_t n = 0;
	uint16_t ends[2];
	assert_int_equal(chi_group_decode(kind, group, entries, &n), -CHI_ECORRUPT);
	assert_int_equal(chi_group_pick(kind, group, &wants, entries, &n, ends), -CHI_ECORRUPT);
	chi_masks_init(&wants);
	assert_int_equal(chi_group_pick(kind, group, &wants, entries, &n, ends), -CHI_ECORRUPT);
}

/* Changes bits of a group and sets its checksum right; the room before it is as in a block. */
static void check_damaged(enum chi_tree_kind kind, const struct chi_group *group)
{
	static uint8_t room[CHI_BLOCK_ROOM];
	size_t len = (size_t)(group->end - group->at);
	if (len > BODY_MAX) {
		return;
	}
	for (unsigned i = 0; i < DAMAGES; i++) {
		uint8_t *at = room + sizeof(room) - len;
		memcpy(at, group->at, len);
		for (unsigned j = 0; j <= help_below(2); j++) {
			at[CHECKSUM_SIZE + help_below((unsigned)(len - CHECKSUM_SIZE))] ^=
				(uint8_t)(1u << help_below(8));
		}
		struct chi_group changed = *group;
		changed.at = at;
		changed.end = at + len;
		if (memcmp(at, group->at, len) != 0) {
			check_unsealed(kind, &changed);
		}
		store_u32(at, group_sum(kind, group->leader, group->n, at + CHECKSUM_SIZE,
					len - CHECKSUM_SIZE));
		check_group(kind, &changed);
	}
}

static int take_block(void *context, const uint8_t *low, size_t low_len, const uint8_t *bytes,
		      size_t len)
{
	const enum chi_tree_kind *kind = context;
	struct chi_block block;
	ok(chi_block_open(*kind, low, low_len, bytes, len, &block));
	for (uint32_t i = 0; i < block.groups; i++) {
		struct chi_group group = {.n = 0};
		assert_true(group_at(&block, i, &group));
		check_group(*kind, &group);
		check_damaged(*kind, &group);
	}
	return CHI_OK;
}

static int by_bytes(const void *left, const void *right)
{
	const struct chi_key *a = left;
	const struct chi_key *b = right;
	return chi_tree_compare(CHI_TREE_POSITION, a->bytes, a->len, b->bytes, b->len);
}

static void check_tree(enum chi_tree_kind kind, unsigned run)
{
	static struct chi_key keys[KEYS];
	static struct chi_builder builder;
	static uint8_t room[CHI_BUILDER_ROOM];
	trees_runs(keys, KEYS, run);
	qsort(keys, KEYS, sizeof(*keys), by_bytes);
	chi_builder_init(&builder, kind, room, take_block, &kind);
	for (size_t i = 0; i < KEYS; i++) {
		uint8_t value[300];
		uint8_t key[CHI_TREE_KEY_MAX] = {(uint8_t)(1 + i / 7 % 200), (uint8_t)(i / 1400)};
		size_t len = help_below(8) == 0 ? help_below(sizeof(value)) : 2 + help_below(8);
		size_t skip = chi_tree_skip(kind);
		for (size_t j = 0; j < sizeof(value); j++) {
			value[j] = (uint8_t)help_random();
		}
		memcpy(key + skip, keys[i].bytes, keys[i].len);
		if (i == 0 || by_bytes(&keys[i - 1], &keys[i]) != 0) {
			ok(chi_builder_add(&builder, key, skip + keys[i].len, value,
					   skip > 0 && help_below(4) > 0 ? 0 : len));
		}
	}
	ok(chi_builder_finish(&builder));
}

CASE(test_both_ways)
{
	if (!is_fast() || !is_quick()) {
		print_message("# one way alone on this machine: nothing to compare\n");
		return;
	}
	for (unsigned run = 1; run <= 16; run *= 4) {
		check_tree(CHI_TREE_POSITION, run);
		check_tree(CHI_TREE_STRENGTH, run);
	}
	print_message("# figures: %u sound groups, %u damaged ones, %u of %u entries\n", sound,
		      damaged, picked[true], picked[false] + picked[true]);
	assert_true(sound > 100 && damaged > 100);
	assert_true(picked[false] > 1000 && picked[true] > 1000);
}
