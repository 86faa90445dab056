/* SPDX-License-Identifier: MIT */
#include "store/games/briefs.h"

#include <stdlib.h>

#include "store/games/columns.h"

/* A game, from the lowest bit: 1, result (2 bits), day (5), month (4), year (16), ratings of White
 * and Black (16 each). 0: it is not known. Threads that add the same game write the same. */
#define KNOWN 1

void chi_briefs_deinit(struct chi_briefs *briefs)
{
	for (size_t i = 0; i < CHI_BRIEFS_BLOCKS; i++) {
		free(atomic_load(&briefs->blocks[i]));
		atomic_store(&briefs->blocks[i], NULL);
	}
}

/* The block of a number, made if it is the first; NULL: there is none. */
static struct chi_briefs_block *block_for(struct chi_briefs *briefs, uint32_t number)
{
	size_t at = number / CHI_BRIEFS_BLOCK_GAMES;
	struct chi_briefs_block *block = NULL;
	if (at >= CHI_BRIEFS_BLOCKS) {
		return NULL;
	}
	block = atomic_load(&briefs->blocks[at]);
	if (block != NULL) {
		return block;
	}
	struct chi_briefs_block *made = calloc(1, sizeof(*made));
	if (made != NULL && !atomic_compare_exchange_strong(&briefs->blocks[at], &block, made)) {
		free(made);
		return block;
	}
	return made;
}

/* 0: a value has more bits than it has here, or the game was removed. */
static uint64_t pack(const struct chi_columns_chunk *chunk, uint32_t row)
{
#define AT(column) ((uint64_t)chi_column_value(chunk, CHI_COLUMN_##column, row))
	uint64_t result = AT(RESULT);
	uint64_t day = AT(DAY);
	uint64_t month = AT(MONTH);
	if (result > CHI_RESULT_OTHER || day > 31 || month > 15) {
		return 0;
	}
	return KNOWN | result << 1 | day << 3 | month << 8 | (AT(YEAR) & UINT16_MAX) << 12 |
	       (AT(WHITE_ELO) & UINT16_MAX) << 28 | (AT(BLACK_ELO) & UINT16_MAX) << 44;
#undef AT
}

void chi_briefs_add(struct chi_briefs *briefs, const struct chi_columns_chunk *chunk)
{
	struct chi_briefs_block *block = NULL;
	for (uint32_t row = 0; row < chunk->n; row++) {
		uint32_t number = chunk->first + row;
		uint32_t place = number % CHI_BRIEFS_BLOCK_GAMES;
		uint64_t packed = pack(chunk, row);
		if (block == NULL || place == 0) {
			block = block_for(briefs, number);
		}
		if (block == NULL) {
			return;
		}
		if (packed != 0) {
			atomic_store_explicit(&block->games[place], packed, memory_order_relaxed);
		}
	}
}

bool chi_briefs_get(const struct chi_briefs *briefs, uint32_t number, struct chi_game_head *out)
{
	size_t at = number / CHI_BRIEFS_BLOCK_GAMES;
	const struct chi_briefs_block *block =
		at < CHI_BRIEFS_BLOCKS
			? atomic_load_explicit(&briefs->blocks[at], memory_order_acquire)
			: NULL;
	if (block == NULL) {
		return false;
	}
	uint64_t packed = atomic_load_explicit(&block->games[number % CHI_BRIEFS_BLOCK_GAMES],
					       memory_order_relaxed);
	*out = (struct chi_game_head){.number = number,
				      .result = (uint8_t)(packed >> 1 & 3),
				      .day = (uint8_t)(packed >> 3 & 31),
				      .month = (uint8_t)(packed >> 8 & 15),
				      .year = (uint16_t)(packed >> 12),
				      .white_elo = (uint16_t)(packed >> 28),
				      .black_elo = (uint16_t)(packed >> 44)};
	return packed != 0;
}
