/* SPDX-License-Identifier: MIT */
/* Blocks against a sorted array: changes, splits, joins, building by append; absence is proven, and
 * no changed byte goes unseen. */
#include "tests/store/trees.h"

#include <stdlib.h>
#include <string.h>

#include "store/block/block.h"
#include "store/record/codec.h"
#include "tests/base/seed.h"

#define KEYS	4000
#define ROOM	(2 * (CHI_EDIT_ROOM + CHI_RECORD_BYTES_MAX))
#define LONGEST 5000

/* What should be there. */
struct known {
	uint8_t key[CHI_TREE_KEY_MAX];
	size_t key_len;
	bool stored;
	size_t len;
	uint8_t *value;
};

struct stored {
	uint8_t *bytes; /* low key and block */
	size_t low_len;
	size_t len;
};

static struct known known[KEYS];
static size_t n_known;
static struct stored blocks[KEYS];
static size_t n_blocks;
static enum chi_tree_kind kind;
static uint8_t room[ROOM];

static int by_key(const void *left, const void *right)
{
	const struct known *a = left;
	const struct known *b = right;
	return chi_tree_compare(kind, a->key, a->key_len, b->key, b->key_len);
}

static void make_known(unsigned run)
{
	static struct chi_key keys[KEYS];
	trees_runs(keys, KEYS, run);
	for (size_t i = 0; i < KEYS; i++) {
		free(known[i].value);
		known[i] = (struct known){.key_len = chi_tree_skip(kind) + keys[i].len};
		known[i].key[0] = (uint8_t)help_below(3);
		known[i].key[1] = (uint8_t)help_below(3);
		memcpy(known[i].key + chi_tree_skip(kind), keys[i].bytes, keys[i].len);
	}
	qsort(known, KEYS, sizeof(*known), by_key);
	n_known = 1;
	for (size_t i = 1; i < KEYS; i++) {
		if (by_key(&known[n_known - 1], &known[i]) != 0) {
			known[n_known++] = known[i];
		}
	}
}

/* Mostly of usual lengths. */
static void make_value(struct known *k)
{
	unsigned sort = help_below(200);
	k->len = sort == 0   ? 700 + help_below(LONGEST)
		 : sort < 20 ? help_below(200)
			     : 2 + help_below(8);
	k->len = kind == CHI_TREE_STRENGTH && sort > 10 ? 0 : k->len;
	free(k->value);
	k->value = malloc(k->len + 1);
	for (size_t i = 0; i < k->len; i++) {
		k->value[i] = (uint8_t)help_random();
	}
	k->stored = true;
}

static struct chi_block open_block(const struct stored *s)
{
	struct chi_block block;
	ok(chi_block_open(kind, s->bytes, s->low_len, s->bytes + s->low_len, s->len, &block));
	return block;
}

static void take(size_t place, const struct chi_block_edit *edit, size_t replaced)
{
	for (size_t i = 0; i < replaced; i++) {
		free(blocks[place + i].bytes);
	}
	memmove(&blocks[place + edit->n], &blocks[place + replaced],
		(n_blocks - place - replaced) * sizeof(*blocks));
	n_blocks = n_blocks - replaced + edit->n;
	for (size_t i = 0; i < edit->n; i++) {
		struct stored *s = &blocks[place + i];
		*s = (struct stored){.low_len = edit->blocks[i].low_len,
				     .len = edit->blocks[i].len};
		s->bytes = malloc(s->low_len + s->len);
		memcpy(s->bytes, edit->bytes + edit->blocks[i].at, s->low_len + s->len);
	}
}

static size_t place_of(const struct known *k)
{
	size_t i = n_blocks - 1;
	while (i > 0 &&
	       chi_tree_compare(kind, blocks[i].bytes, blocks[i].low_len, k->key, k->key_len) > 0) {
		i--;
	}
	return i;
}

static void join_small(size_t place)
{
	struct chi_block_edit edit = {.bytes = room, .size = ROOM};
	struct chi_block block = open_block(&blocks[place]);
	for (size_t left = place > 0 ? place - 1 : 0; left <= place && left + 1 < n_blocks;
	     left++) {
		struct chi_block a = open_block(&blocks[left]);
		struct chi_block b = open_block(&blocks[left + 1]);
		if (chi_block_is_small(&block) && chi_block_join(&a, &b, &edit) == CHI_OK) {
			assert_int_equal(edit.n, 1);
			take(left, &edit, 2);
			return;
		}
	}
}

static struct chi_change change_of(const struct known *k, bool removes)
{
	return (struct chi_change){.key = k->key,
				   .key_len = k->key_len,
				   .value = removes ? NULL : k->value,
				   .len = removes ? 0 : k->len};
}

static void change(struct known *k, bool removes)
{
	struct chi_block_edit edit = {.bytes = room, .size = ROOM};
	size_t place = place_of(k);
	struct chi_block block = open_block(&blocks[place]);
	bool was = k->stored;
	int added = 7;
	if (!removes) {
		make_value(k);
	}
	const struct chi_change one = change_of(k, removes);
	int rc = chi_edit_block(&block, &one, 1, &edit, &added);
	if (removes && !was) {
		assert_int_equal(rc, CHI_NONE);
		return;
	}
	ok(rc);
	assert_int_equal(added, removes ? -1 : !was);
	k->stored = !removes;
	take(place, &edit, 1);
	if (removes) {
		join_small(place);
	}
}

/* Some of the entries from `from` on that one block is responsible for, at once; of eight so many
 * are removed, as far as they are there. Returns where to go on. */
static size_t change_some(size_t from, unsigned removed)
{
	struct chi_block_edit edit = {.bytes = room, .size = ROOM};
	struct chi_change changes[CHI_EDIT_CHANGES];
	size_t place = place_of(&known[from]);
	struct chi_block block = open_block(&blocks[place]);
	size_t values = 0;
	uint32_t n = 0;
	int sum = 0;
	int added;
	unsigned step = 1 + help_below(6);
	for (; from < n_known && n < CHI_EDIT_CHANGES; from += 1 + help_below(step)) {
		struct known *k = &known[from];
		const struct known was = *k;
		bool removes = help_below(8) < removed;
		k->value = NULL;
		make_value(k);
		values += removes ? 0 : k->len;
		if (!chi_block_covers(&block, k->key, k->key_len) ||
		    (n > 0 && values > CHI_EDIT_VALUES)) {
			free(k->value);
			*k = was;
			break;
		}
		free(was.value);
		changes[n] = change_of(k, removes);
		changes[n++].may_lack = !was.stored;
		sum += (int)!removes - (int)was.stored;
		k->stored = !removes;
	}
	ok(chi_edit_block(&block, changes, n, &edit, &added));
	assert_int_equal(added, sum);
	take(place, &edit, 1);
	join_small(place);
	return from;
}

/* Everything, by look-ups and by a walk. */
static void check_all(void)
{
	size_t at = 0;
	for (size_t i = 0; i < n_known; i++) {
		const uint8_t *value;
		size_t len;
		struct chi_block block = open_block(&blocks[place_of(&known[i])]);
		int rc = chi_block_find(&block, known[i].key, known[i].key_len, &value, &len);
		assert_int_equal(rc, known[i].stored ? CHI_OK : CHI_NONE);
		if (rc == CHI_OK) {
			assert_int_equal(len, known[i].len);
			assert_memory_equal(value, known[i].value, len);
		}
	}
	const uint8_t *fence = chi_tree_first;
	size_t fence_len = chi_tree_first_len(kind);
	for (size_t i = 0; i < n_blocks; i++) {
		struct chi_block block = open_block(&blocks[i]);
		assert_int_equal(block.low_len, fence_len);
		assert_memory_equal(block.low, fence, fence_len);
		assert_true(block.groups <= 1 || block.low_len + block.len <= CHI_BLOCK_ROOM);
		fence = block.fence;
		fence_len = block.fence_len;
		for (uint32_t g = 0; g < block.groups; g++) {
			struct chi_block_entry entries[CHI_GROUP_MOST];
			uint32_t n;
			ok(chi_group_read(&block, g, entries, &n));
			for (uint32_t j = 0; j < n; j++, at++) {
				while (!known[at].stored) {
					at++;
				}
				assert_int_equal(chi_entry_key_len(&entries[j], kind),
						 known[at].key_len);
				assert_memory_equal(chi_entry_key(&entries[j], kind), known[at].key,
						    known[at].key_len);
				assert_int_equal(entries[j].len, known[at].len);
				assert_memory_equal(entries[j].value, known[at].value,
						    known[at].len);
			}
		}
	}
	assert_int_equal(fence_len, 0);
	while (at < n_known) {
		assert_false(known[at++].stored);
	}
}

static int take_built(void *context, const uint8_t *low, size_t low_len, const uint8_t *bytes,
		      size_t len)
{
	struct stored *s = &blocks[n_blocks++];
	assert_null(context);
	*s = (struct stored){malloc(low_len + len), low_len, len};
	memcpy(s->bytes, low, low_len);
	memcpy(s->bytes + low_len, bytes, len);
	return CHI_OK;
}

/* All that is stored, by append. */
static void build(void)
{
	static struct chi_builder builder;
	static uint8_t bytes[CHI_BUILDER_ROOM];
	while (n_blocks > 0) {
		free(blocks[--n_blocks].bytes);
	}
	chi_builder_init(&builder, kind, bytes, take_built, NULL);
	for (size_t i = 0; i < n_known; i++) {
		if (known[i].stored) {
			ok(chi_builder_add(&builder, known[i].key, known[i].key_len, known[i].value,
					   known[i].len));
		}
	}
	ok(chi_builder_finish(&builder));
}

static double fill_of(void)
{
	size_t sum = 0;
	for (size_t i = 0; i < n_blocks; i++) {
		size_t len = blocks[i].low_len + blocks[i].len;
		sum += len < CHI_BLOCK_ROOM ? len : CHI_BLOCK_ROOM;
	}
	return (double)sum / (double)(n_blocks * CHI_BLOCK_ROOM);
}

static void begin(enum chi_tree_kind which, unsigned run)
{
	kind = which;
	make_known(run);
	make_value(&known[0]);
	build();
}

static void end(void)
{
	while (n_blocks > 0) {
		free(blocks[--n_blocks].bytes);
	}
	for (size_t i = 0; i < KEYS; i++) {
		free(known[i].value);
		known[i] = (struct known){0};
	}
}

CASE(test_changes)
{
	for (unsigned round = 0; round < 4; round++) {
		begin(round % 2 == 0 ? CHI_TREE_POSITION : CHI_TREE_STRENGTH, round < 2 ? 2 : 40);
		/* As many at any effort: a store is as full as it has become after many. */
		const size_t changes = 30000;
		for (size_t i = 0; i < changes; i++) {
			struct known *k = &known[help_below((unsigned)n_known)];
			/* It grows, then it shrinks, then it is what it was. */
			unsigned removes = i < changes / 3 ? 1 : i < 2 * changes / 3 ? 7 : 4;
			change(k, help_below(8) < removes);
			if (i % (changes / 6) == 0) {
				check_all();
			}
		}
		check_all();
		print_message("# figures: %zu blocks, %.0f %% full after random changes\n",
			      n_blocks, 100 * fill_of());
		assert_true(fill_of() >= 0.6);
		for (size_t i = 0; i < n_known; i++) {
			change(&known[i], true);
		}
		check_all();
		assert_int_equal(n_blocks, 1);
		/* Ascending puts leave full blocks behind them. */
		for (size_t i = 0; i < n_known; i++) {
			change(&known[i], false);
		}
		check_all();
		assert_true(fill_of() >= 0.7);
		end();
	}
}

CASE(test_building)
{
	for (unsigned round = 0; round < 4; round++) {
		begin(round % 2 == 0 ? CHI_TREE_POSITION : CHI_TREE_STRENGTH, round < 2 ? 2 : 40);
		for (size_t i = 0; i < n_known; i++) {
			if (help_below(10) > 0) {
				make_value(&known[i]);
			}
		}
		/* One as long as records can be. */
		struct known *longest = &known[n_known / 2];
		make_value(longest);
		longest->value = realloc(longest->value, CHI_RECORD_BYTES_MAX);
		memset(longest->value + longest->len, 7, CHI_RECORD_BYTES_MAX - longest->len);
		longest->len = CHI_RECORD_BYTES_MAX;
		build();
		check_all();
		assert_true(fill_of() >= 0.8);
		end();
	}
}

/* By the whole block, or by its group first. */
static int find(const struct stored *s, const uint8_t *bytes, size_t len, const struct known *k,
		bool probes, const uint8_t **value, size_t *value_len)
{
	struct chi_block block;
	struct chi_group group;
	if (probes) {
		chi_block_aim(bytes + s->low_len, len, k->key, &group);
		return chi_block_probe(kind, bytes, s->low_len, bytes + s->low_len, len, &group,
				       k->key, k->key_len, value, value_len);
	}
	int rc = chi_block_open(kind, bytes, s->low_len, bytes + s->low_len, len, &block);
	return rc < 0 ? rc : chi_block_find(&block, k->key, k->key_len, value, value_len);
}

/* Whatever byte is changed: what is asked for is there as it was, or it is damage. */
CASE(test_changed_bytes_are_seen)
{
	for (unsigned round = 0; round < 2; round++) {
		begin(round == 0 ? CHI_TREE_POSITION : CHI_TREE_STRENGTH, 4);
		for (size_t i = 0; i < n_known; i += 1 + i % 2) {
			make_value(&known[i]);
		}
		build();
		size_t damages = seed_rounds(20000);
		size_t seen = 0;
		for (size_t i = 0; i < damages; i++) {
			struct stored *s = &blocks[help_below((unsigned)n_blocks)];
			size_t at = help_below((unsigned)(s->low_len + s->len));
			uint8_t flip = (uint8_t)(1u << help_below(8));
			size_t len = s->len - (help_below(10) == 0 ? 1 + help_below(20) : 0);
			const struct known *k = &known[help_below((unsigned)n_known)];
			const uint8_t *value;
			size_t value_len;
			bool probes = kind == CHI_TREE_POSITION && help_below(2) == 0;
			uint8_t *copy = malloc(s->low_len + len);
			memcpy(copy, s->bytes, s->low_len + len);
			if (len == s->len || at < s->low_len + len) {
				copy[at % (s->low_len + len)] ^= flip;
			}
			bool own = &blocks[place_of(k)] == s;
			int rc = find(s, copy, len, k, probes, &value, &value_len);
			if (rc != -CHI_ECORRUPT) {
				assert_true(own);
				assert_int_equal(rc, k->stored ? CHI_OK : CHI_NONE);
				if (rc == CHI_OK) {
					assert_int_equal(value_len, k->len);
					assert_memory_equal(value, k->value, k->len);
				}
			}
			seen += rc == -CHI_ECORRUPT;
			free(copy);
		}
		assert_true(seen > damages / 2);
		end();
	}
}

/* The same by many changes at once: it grows from nothing, changes, and shrinks to nothing. */
CASE(test_changes_at_once)
{
	for (unsigned round = 0; round < 4; round++) {
		static const unsigned removed[] = {0, 0, 2, 4, 1, 7, 8};
		begin(round % 2 == 0 ? CHI_TREE_POSITION : CHI_TREE_STRENGTH, round < 2 ? 2 : 40);
		for (size_t pass = 0; pass < sizeof(removed) / sizeof(removed[0]); pass++) {
			for (size_t at = help_below(8); at < n_known;) {
				at = change_some(at, removed[pass]);
			}
			check_all();
			assert_true(pass != 1 || fill_of() >= 0.6);
		}
		end();
	}
}

/* Changes that are refused: in no order, too many, of another block, of what is not there. */
CASE(test_changes_are_checked)
{
	struct chi_block_edit edit = {.bytes = room, .size = ROOM};
	struct chi_change changes[CHI_EDIT_CHANGES + 1];
	int added;
	begin(CHI_TREE_POSITION, 2);
	struct chi_block block = open_block(&blocks[0]);
	for (size_t i = 0; i <= CHI_EDIT_CHANGES; i++) {
		make_value(&known[i]);
		known[i].stored = i == 0;
		changes[i] = change_of(&known[i], i > 1);
		changes[i].may_lack = true;
	}
	ok(chi_edit_block(&block, changes, CHI_EDIT_CHANGES, &edit, &added));
	/* The first is stored. */
	assert_int_equal(added, 1);
	assert_int_equal(chi_edit_block(&block, changes, CHI_EDIT_CHANGES + 1, &edit, &added),
			 -CHI_EINTERNAL);
	assert_int_equal(chi_edit_block(&block, changes, 0, &edit, &added), -CHI_EINTERNAL);
	changes[2].may_lack = false;
	assert_int_equal(chi_edit_block(&block, changes, 4, &edit, &added), CHI_NONE);
	changes[1] = changes[0];
	assert_int_equal(chi_edit_block(&block, changes, 2, &edit, &added), -CHI_EINTERNAL);
	for (size_t i = 0; i < n_known; i++) {
		change(&known[i], false);
	}
	block = open_block(&blocks[0]);
	changes[0] = change_of(&known[0], false);
	changes[1] = change_of(&known[n_known - 1], false);
	assert_int_equal(chi_edit_block(&block, changes, 2, &edit, &added), -CHI_ECORRUPT);
	end();
}
