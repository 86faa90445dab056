/* SPDX-License-Identifier: MIT */
/* The transposition table. */
#include "uci/search/table.h"

#include <stdlib.h>
#include <string.h>

#include "uci/search/engine.h"

#define LINE_BYTES (CHI_TABLE_LINE * sizeof(struct chi_table_entry))

int chi_table_init(struct chi_table *table, size_t mib)
{
	_Static_assert(LINE_BYTES == 64, "one line of the cache");
	size_t lines = 1;
	while (lines * 2 * LINE_BYTES <= mib << 20) {
		lines *= 2;
	}
	/* Zeroed by the kernel, page by page as a search comes to it: most programs that start this
	 * one never search, and the table is large. */
	uint8_t *memory = calloc(lines + 1, LINE_BYTES);
	if (memory == NULL) {
		return -CHI_ENOMEM;
	}
	size_t skip = LINE_BYTES - (uintptr_t)memory % LINE_BYTES;
	*table = (struct chi_table){
		.memory = memory, .entries = (void *)(memory + skip), .lines = lines};
	return CHI_OK;
}

void chi_table_deinit(struct chi_table *table)
{
	free(table->memory);
	*table = (struct chi_table){.lines = 0};
}

void chi_table_clear(struct chi_table *table)
{
	memset(table->entries, 0, table->lines * LINE_BYTES);
}

static struct chi_table_entry *line_of(const struct chi_table *table, uint64_t hash)
{
	return table->entries + (hash & (table->lines - 1)) * CHI_TABLE_LINE;
}

static int from_root(int score, int ply)
{
	return score >= CHI_MATE_BOUND	  ? score - ply
	       : score <= -CHI_MATE_BOUND ? score + ply
					  : score;
}

static int from_node(int score, int ply)
{
	return score >= CHI_MATE_BOUND	  ? score + ply
	       : score <= -CHI_MATE_BOUND ? score - ply
					  : score;
}

bool chi_table_find(const struct chi_table *table, uint64_t hash, int ply,
		    struct chi_table_entry *out)
{
	hash ^= table->salt;
	const struct chi_table_entry *line = line_of(table, hash);
	for (int i = 0; i < CHI_TABLE_LINE; i++) {
		if (line[i].hash == hash && line[i].bound_age != 0) {
			*out = line[i];
			out->score = (int16_t)from_root(out->score, ply);
			return true;
		}
	}
	return false;
}

/* The entry of the same position, or else that of least worth. */
static struct chi_table_entry *victim(const struct chi_table *table, uint64_t hash)
{
	struct chi_table_entry *line = line_of(table, hash);
	struct chi_table_entry *worst = line;
	int least = INT32_MAX;
	for (int i = 0; i < CHI_TABLE_LINE; i++) {
		if (line[i].hash == hash || line[i].bound_age == 0) {
			return &line[i];
		}
		int older = (uint8_t)(table->age - (line[i].bound_age & 0xfc)) >> 2;
		int worth = line[i].depth - 4 * older;
		if (worth < least) {
			least = worth;
			worst = &line[i];
		}
	}
	return worst;
}

void chi_table_store(struct chi_table *table, uint64_t hash, int ply, struct chi_table_entry entry,
		     int bound)
{
	hash ^= table->salt;
	struct chi_table_entry *to = victim(table, hash);
	bool same = to->bound_age != 0 && to->hash == hash;
	if (same && entry.move == 0) {
		entry.move = to->move;
	}
	if (same && bound != CHI_ENGINE_EXACT && to->depth > entry.depth + 3 &&
	    (to->bound_age & 0xfc) == table->age) {
		return;
	}
	entry.hash = hash;
	entry.score = (int16_t)from_node(entry.score, ply);
	entry.bound_age = (uint8_t)(table->age | (bound + 1));
	*to = entry;
}

unsigned chi_table_full(const struct chi_table *table)
{
	unsigned n = 0;
	for (size_t i = 0; i < 1000; i++) {
		const struct chi_table_entry *entry = &table->entries[i];
		n += entry->bound_age != 0 && (entry->bound_age & 0xfc) == table->age;
	}
	return n;
}
