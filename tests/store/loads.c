/* SPDX-License-Identifier: MIT */
/* Random positions with random games: most with one, and some with many. */
#include "tests/store/loads.h"

#include <stdlib.h>
#include <string.h>

#include "chess/key.h"
#include "chess/movegen.h"

struct item items[POSITIONS];
struct chi_game_id games[GAMES];

static int compare_items(const void *a, const void *b)
{
	return help_key_compare(&((const struct item *)a)->key, &((const struct item *)b)->key);
}

int loads_compare_games(const void *a, const void *b)
{
	return memcmp(a, b, CHI_GAME_ID_SIZE);
}

/* Some games here, most of one: and in outcome stores a few that have a statistic. */
static void fill_item(struct item *item)
{
	struct chi_position position;
	struct chi_move_list list;
	struct chi_counts *counts = &item->record.counts;
	bool many = help_below(4) == 0;
	uint64_t *of[] = {&counts->white, &counts->draws, &counts->black, &counts->other};
	item->record = (struct chi_record){.moves = item->moves, .plies = item->plies};
	ok(chi_key_decode(&item->key, &position, &fault));
	chi_movegen_legal(&position, &list);
	*of[help_below(4)] = 1;
	for (size_t i = 0; many && i < 3; i++) {
		*of[i] += help_below(60);
	}
	uint64_t total = counts->white + counts->draws + counts->black + counts->other;
	for (unsigned i = 0; i < (many ? 3u : 1u) && i < list.n; i++) {
		item->moves[i].move = list.moves[i];
		item->moves[i].counts = (struct chi_counts){0};
		if (many) {
			item->moves[i].counts.draws = 1 + help_below(9);
		} else {
			item->moves[i].counts = *counts;
		}
		item->record.n_moves = i + 1;
	}
	for (size_t i = 1; i < item->record.n_moves; i++) {
		for (size_t j = i; j > 0 && item->moves[j].move < item->moves[j - 1].move; j--) {
			struct chi_move_stat swap = item->moves[j];
			item->moves[j] = item->moves[j - 1];
			item->moves[j - 1] = swap;
		}
	}
	item->plies[0] = (struct chi_ply_stat){(uint16_t)help_below(40), 1};
	item->plies[1] = (struct chi_ply_stat){(uint16_t)(40 + help_below(40)), total - 1};
	item->record.n_plies = total > 1 ? 2 : 1;
}

/* Positions by ascending key, games by ascending id. */
void loads_make(void)
{
	static struct chi_key keys[POSITIONS];
	help_keys(keys, POSITIONS);
	for (size_t i = 0; i < POSITIONS; i++) {
		items[i].key = keys[i];
		fill_item(&items[i]);
	}
	qsort(items, POSITIONS, sizeof(items[0]), compare_items);
	/* Copies moved: so did what their records point to. */
	for (size_t i = 0; i < POSITIONS; i++) {
		items[i].record.moves = items[i].moves;
		items[i].record.plies = items[i].plies;
	}
	for (size_t i = 0; i < GAMES; i++) {
		games[i] = (struct chi_game_id){.result = (uint8_t)help_below(4),
						.pruned = help_below(8) == 0,
						.max_ply = help_below(2) ? 0 : 1 + help_below(300)};
		for (size_t j = 0; j < CHI_GAME_ID_SIZE; j++) {
			games[i].id[j] = (uint8_t)help_below(256);
		}
	}
	qsort(games, GAMES, sizeof(games[0]), loads_compare_games);
}
