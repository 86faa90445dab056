/* SPDX-License-Identifier: MIT */
/*
 * A game's items. Most games repeat nothing, so that each position costs one look into a table of
 * indices, which is sized to the game to be cleared fast. Only when a position comes back a second
 * table is begun, of the moves played there later.
 */
#include "import/count.h"

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"

/* Odd numbers without a pattern, to mix by multiplication. */
#define MIX_A UINT64_C(0x9e3779b97f4a7c15)
#define MIX_B UINT64_C(0xc2b2ae3d27d4eb4f)

struct counter_table {
	struct chi_counter *counter;
	size_t mask; /* slots in use, less one */
	bool repeats;
};

static uint64_t hash(const struct chi_sort_item *item)
{
	uint64_t words[3];
	memcpy(words, item->bytes, sizeof(words));
	uint64_t h = (words[0] ^ words[1] * MIX_A) * MIX_B;
	h = (h ^ h >> 32 ^ words[2]) * MIX_A;
	return h ^ h >> 32;
}

/* The item that has the position already, or `index` itself, which is noted then. */
static size_t find_first(const struct counter_table *table, size_t index, uint64_t h)
{
	struct chi_counter *counter = table->counter;
	for (size_t slot = h & table->mask;; slot = (slot + 1) & table->mask) {
		size_t found = counter->firsts[slot];
		if (found == 0) {
			counter->firsts[slot] = (uint16_t)(index + 1);
			return index;
		}
		if (memcmp(counter->items[found - 1].bytes, counter->items[index].bytes,
			   CHI_SORT_GROUP) == 0) {
			return found - 1;
		}
	}
}

/* True if a later visit of the position had this move already; else notes that it has. */
static bool played_again(struct counter_table *table, size_t index, uint64_t h, chi_move move)
{
	struct chi_counter *counter = table->counter;
	if (!table->repeats) {
		memset(counter->again, 0, (table->mask + 1) * sizeof(counter->again[0]));
		table->repeats = true;
	}
	h += move * MIX_B >> 32;
	for (size_t slot = h & table->mask;; slot = (slot + 1) & table->mask) {
		size_t found = counter->again[slot];
		if (found == 0) {
			counter->again[slot] = (uint16_t)(index + 1);
			return false;
		}
		const struct chi_sort_item *item = &counter->items[found - 1];
		if (chi_count_move(chi_count_payload(item)) == move &&
		    memcmp(item->bytes, counter->items[index].bytes, CHI_SORT_GROUP) == 0) {
			return true;
		}
	}
}

/* A table at most half full. */
static size_t table_mask(size_t positions)
{
	size_t slots = 64;
	while (slots < 2 * positions) {
		slots *= 2;
	}
	return slots - 1;
}

/* An item whose position was there before, at item `first`: is it worth anything? */
static bool adds_nothing(struct counter_table *table, size_t first, size_t index, uint64_t h,
			 chi_move move)
{
	chi_move before = chi_count_move(chi_count_payload(&table->counter->items[first]));
	return move == 0 || move == before || played_again(table, index, h, move);
}

static int more_than(int n, int usual)
{
	return n > usual ? n - usual : 0;
}

/* The men are such as promotions can make of the initial ones, and so they are after every move:
 * then there are 218 moves at most. */
static bool is_usual(const struct chi_position *position, int colour)
{
	int n[CHI_KINDS];
	for (int kind = CHI_PAWN; kind < CHI_KINDS; kind++) {
		n[kind] = chi_popcount(chi_position_pieces(position, colour, kind));
	}
	return n[CHI_PAWN] + more_than(n[CHI_KNIGHT], 2) + more_than(n[CHI_BISHOP], 2) +
		       more_than(n[CHI_ROOK], 2) + more_than(n[CHI_QUEEN], 1) <=
	       8;
}

size_t chi_count_plies(const struct chi_pgn_game *game)
{
	struct chi_move_list legal;
	if (CHI_LIKELY(is_usual(&game->positions[0], CHI_WHITE) &&
		       is_usual(&game->positions[0], CHI_BLACK))) {
		return game->n_plies;
	}
	for (size_t ply = 0; ply < game->n_plies; ply++) {
		chi_movegen_legal(&game->positions[ply], &legal);
		if (legal.n > CHI_MOVES_MAX) {
			return ply;
		}
	}
	return game->n_plies;
}

size_t chi_count_game_items(struct chi_counter *counter, const struct chi_pgn_game *game, size_t n,
			    uint32_t number)
{
	struct counter_table table = {.counter = counter, .mask = table_mask(n + 1)};
	memset(counter->firsts, 0, (table.mask + 1) * sizeof(counter->firsts[0]));
	size_t used = 0;
	uint64_t fixed = (uint64_t)number << 32 | (uint64_t)game->result << CHI_COUNT_RESULT_SHIFT;
	for (size_t ply = 0; ply <= n; ply++) {
		struct chi_sort_item *item = &counter->items[used];
		chi_move move = ply < n ? game->moves[ply] : 0;
		uint64_t payload = fixed | (uint64_t)ply << CHI_COUNT_PLY_SHIFT | move;
		chi_key_bytes(&game->positions[ply], item->bytes);
		uint64_t h = hash(item);
		size_t first = find_first(&table, used, h);
		if (first == used) {
			payload |= CHI_COUNT_FIRST;
		} else if (adds_nothing(&table, first, used, h, move)) {
			continue;
		}
		payload = htobe64(payload);
		memcpy(item->bytes + CHI_SORT_GROUP, &payload, sizeof(payload));
		used++;
	}
	return used;
}
