/* SPDX-License-Identifier: MIT */
#include "store/txn/memtable.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"

void chi_memtable_init(struct chi_memtable *table)
{
	*table = (struct chi_memtable){0};
	chi_arena_init(&table->arena, SIZE_MAX);
}

void chi_memtable_deinit(struct chi_memtable *table)
{
	free(table->log);
	free(table->slots);
	chi_arena_deinit(&table->arena);
	*table = (struct chi_memtable){0};
}

/* Keys have a mask at least, but for those of damaged trees, which none asks for. */
static uint64_t order_of(enum chi_tree_kind kind, const uint8_t *key, size_t key_len)
{
	uint64_t order = 0;
	memcpy(&order, key, key_len < sizeof(order) ? key_len : sizeof(order));
	order = be64toh(order);
	if (kind == CHI_TREE_STRENGTH) {
		uint64_t statistic = (order >> 48 & 0xff) << 8 | order >> 56;
		order = statistic << 48 | (order & UINT64_MAX >> 16);
	}
	return order;
}

int chi_memtable_add(struct chi_memtable *table, enum chi_tree_kind kind, const uint8_t *key,
		     size_t key_len, const uint8_t *value, size_t len)
{
	uint8_t *bytes = chi_arena_alloc(&table->arena, key_len + len);
	if (bytes == NULL ||
	    (table->n == table->capacity &&
	     chi_grow(&table->log, &table->capacity, table->n + 1, sizeof(*table->log)) < 0)) {
		return -CHI_ENOMEM;
	}
	memcpy(bytes, key, key_len);
	if (len > 0) {
		memcpy(bytes + key_len, value, len);
	}
	table->log[table->n] = (struct chi_memtable_entry){
		.order = order_of(kind, key, key_len),
		.key = bytes,
		.len = (uint32_t)len,
		.place = (uint32_t)table->n,
		.key_len = (uint8_t)key_len,
		.puts = value != NULL,
	};
	table->n++;
	table->bytes += key_len + len;
	return CHI_OK;
}

/* ---- Searching ------------------------------------------------------------------------------ */

static bool has_key(const struct chi_memtable_entry *entry, const uint8_t *key, size_t key_len)
{
	return entry->key_len == key_len && memcmp(entry->key, key, key_len) == 0;
}

/* The slot of a key: that of its newest change so far, or a free one. */
static uint32_t *slot_of(const struct chi_memtable *table, const uint8_t *key, size_t key_len)
{
	uint64_t hash = 0;
	for (size_t at = 0; at < key_len; at += sizeof(hash)) {
		uint64_t word = 0;
		size_t left = key_len - at;
		memcpy(&word, key + at, left < sizeof(word) ? left : sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	size_t i = hash & (table->n_slots - 1);
	while (table->slots[i] != 0 && !has_key(&table->log[table->slots[i] - 1], key, key_len)) {
		i = (i + 1) & (table->n_slots - 1);
	}
	return &table->slots[i];
}

/* Brings the hash table up to the log. */
static int hash_all(struct chi_memtable *table)
{
	if (2 * table->n > table->n_slots) {
		size_t n_slots = 4 * (table->capacity > 0 ? table->capacity : 1);
		uint32_t *slots = calloc(n_slots, sizeof(*slots));
		if (slots == NULL) {
			return -CHI_ENOMEM;
		}
		free(table->slots);
		table->slots = slots;
		table->n_slots = n_slots;
		table->hashed = 0;
	}
	for (; table->hashed < table->n; table->hashed++) {
		struct chi_memtable_entry *entry = &table->log[table->hashed];
		uint32_t *slot = slot_of(table, entry->key, entry->key_len);
		entry->before = *slot;
		*slot = (uint32_t)table->hashed + 1;
	}
	return CHI_OK;
}

int chi_memtable_find(struct chi_memtable *table, const uint8_t *key, size_t key_len,
		      const struct chi_memtable_entry **out)
{
	*out = NULL;
	if (table->n == 0) {
		return CHI_OK;
	}
	int rc = hash_all(table);
	if (rc == CHI_OK) {
		uint32_t slot = *slot_of(table, key, key_len);
		*out = slot != 0 ? &table->log[slot - 1] : NULL;
	}
	return rc;
}

/* From the last to the first each gives its slot back to the one that had it: one that becomes free
 * was free when all that are left were noted, so that none of them is looked for past it. */
void chi_memtable_truncate(struct chi_memtable *table, size_t n)
{
	for (; table->hashed > n; table->hashed--) {
		const struct chi_memtable_entry *entry = &table->log[table->hashed - 1];
		*slot_of(table, entry->key, entry->key_len) = entry->before;
	}
	table->n = n;
	if (n == 0) {
		table->bytes = 0;
		chi_arena_reset(&table->arena);
	}
}

void chi_memtable_clear(struct chi_memtable *table)
{
	if (table->hashed > 0) {
		memset(table->slots, 0, table->n_slots * sizeof(*table->slots));
	}
	table->hashed = 0;
	chi_memtable_truncate(table, 0);
}

/* ---- Sorting -------------------------------------------------------------------------------- */

static int compare_entries(enum chi_tree_kind kind, const struct chi_memtable_entry *a,
			   const struct chi_memtable_entry *b)
{
	if (CHI_LIKELY(a->order != b->order)) {
		return a->order < b->order ? -1 : 1;
	}
	int order = chi_tree_compare(kind, a->key, a->key_len, b->key, b->key_len);
	return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static int compare_position(const void *a, const void *b)
{
	return compare_entries(CHI_TREE_POSITION, a, b);
}

static int compare_strength(const void *a, const void *b)
{
	return compare_entries(CHI_TREE_STRENGTH, a, b);
}

void chi_memtable_sort(struct chi_memtable *table, enum chi_tree_kind kind)
{
	struct chi_memtable_entry *log = table->log;
	size_t n = 0;
	if (table->n > 1) {
		qsort(log, table->n, sizeof(*log),
		      kind == CHI_TREE_STRENGTH ? compare_strength : compare_position);
	}
	for (size_t i = 0; i < table->n; i++) {
		bool same = n > 0 && has_key(&log[n - 1], log[i].key, log[i].key_len);
		bool first_puts = same ? log[n - 1].first_puts : log[i].puts;
		n -= same;
		log[n] = log[i];
		log[n++].first_puts = first_puts;
	}
	table->n = n;
}
