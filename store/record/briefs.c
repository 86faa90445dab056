/* SPDX-License-Identifier: MIT */
#include "store/record/briefs.h"

#include <stdlib.h>

/* A game, from the lowest bit: 1, result (2 bits), day (5), month (4), year (16), ratings of White
 * and Black (16 each). 0: it is not known. Threads that add the same game write the same. */
#define KNOWN 1

/* Blocks of all tables of the process. */
static atomic_uint blocks;

static struct chi_briefs_block *make_block(void)
{
	struct chi_briefs_block *made = NULL;
	if (atomic_fetch_add(&blocks, 1) < CHI_BRIEFS_BLOCKS) {
		made = calloc(1, sizeof(*made));
	}
	if (made == NULL) {
		atomic_fetch_sub(&blocks, 1);
	}
	return made;
}

static void free_block(struct chi_briefs_block *block)
{
	if (block != NULL) {
		free(block);
		atomic_fetch_sub(&blocks, 1);
	}
}

void chi_briefs_deinit(struct chi_briefs *briefs)
{
	for (size_t i = 0; i < CHI_BRIEFS_BLOCKS; i++) {
		free_block(atomic_load(&briefs->blocks[i]));
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
	struct chi_briefs_block *made = make_block();
	if (made != NULL && !atomic_compare_exchange_strong(&briefs->blocks[at], &block, made)) {
		free_block(made);
		return block;
	}
	return made;
}

/* 0: a value has more bits than it has here. */
static uint64_t pack_brief(const struct chi_game_head *head)
{
	if (head->result > CHI_RESULT_OTHER || head->day > 31 || head->month > 15) {
		return 0;
	}
	return KNOWN | (uint64_t)head->result << 1 | (uint64_t)head->day << 3 |
	       (uint64_t)head->month << 8 | (uint64_t)head->year << 12 |
	       (uint64_t)head->white_elo << 28 | (uint64_t)head->black_elo << 44;
}

void chi_briefs_add(struct chi_briefs *briefs, const struct chi_game_head *head)
{
	uint64_t packed = pack_brief(head);
	struct chi_briefs_block *block = packed != 0 ? block_for(briefs, head->number) : NULL;
	if (block != NULL) {
		atomic_store_explicit(&block->games[head->number % CHI_BRIEFS_BLOCK_GAMES], packed,
				      memory_order_relaxed);
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
