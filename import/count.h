/* SPDX-License-Identifier: MIT */
/*
 * Games as items to sort. A game's position and the move played there make one item of
 * base/sorter.h: the position's key with zeros after it, then 64 bits, big-endian:
 *
 *     63            32 31      19 18    17   16 15        0
 *    +----------------+----------+-----+-------+-----------+
 *    |  game's number |   ply    |first| result|   move    |
 *    +----------------+----------+-----+-------+-----------+
 *
 * `first`: the game counts for the position by this item, and reached it first at this ply. A game
 * that comes back to a position makes another item there only for another move. The move is 0 where
 * none is counted: at the game's end.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/sorter.h"
#include "chess/pgn/pgn.h"
#include "chistore/types.h"

#define CHI_COUNT_PLY_SHIFT    19
#define CHI_COUNT_PLY_MASK     0x1fffu
#define CHI_COUNT_FIRST	       (UINT64_C(1) << 18)
#define CHI_COUNT_RESULT_SHIFT 16

static inline uint64_t chi_count_payload(const struct chi_sort_item *item)
{
	uint64_t word;
	memcpy(&word, item->bytes + CHI_SORT_GROUP, sizeof(word));
	return be64toh(word);
}

static inline uint32_t chi_count_game(uint64_t payload)
{
	return (uint32_t)(payload >> 32);
}

static inline unsigned chi_count_ply(uint64_t payload)
{
	return (unsigned)(payload >> CHI_COUNT_PLY_SHIFT) & CHI_COUNT_PLY_MASK;
}

static inline unsigned chi_count_result(uint64_t payload)
{
	return (unsigned)(payload >> CHI_COUNT_RESULT_SHIFT) & 3;
}

static inline chi_move chi_count_move(uint64_t payload)
{
	return (chi_move)payload;
}

/* Slots of the tables that find repetitions: twice the positions of the longest game. */
#define CHI_COUNT_SLOTS 16384

/* What one thread needs to count a game. */
struct chi_counter {
	struct chi_sort_item items[CHI_PGN_PLIES_MAX + 1];
	uint16_t firsts[CHI_COUNT_SLOTS]; /* item's index + 1 of a position seen; 0: free */
	uint16_t again[CHI_COUNT_SLOTS];  /* the same of items that are not `first` */
};

/*
 * How many moves of a game are counted: all, unless a position before them has more legal moves
 * than a record holds. Only games that begin with more men than chess gives get there; they count
 * up to that position, whether they are added or taken out.
 */
size_t chi_count_plies(const struct chi_pgn_game *game);

/* Makes the items of a game's positions up to ply `n`, which is at most its number of moves;
 * returns how many. */
size_t chi_count_game_items(struct chi_counter *counter, const struct chi_pgn_game *game, size_t n,
			    uint32_t number);
