/* SPDX-License-Identifier: MIT */
#include "search/footprint.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "store/archive.h"
#include "store/games/archive.h"

#define GAMES_A_STEP 25
/* A game has some 80 plies; one that is played, sorted and looked up takes as long as three
 * positions in a walk. */
#define POSITIONS_A_GAME 240
#define PLIES_A_GAME	 80

struct chi_footprint {
	const struct chi_among *among;
	uint32_t next; /* games below are played */
	bool sorted;
	uint32_t most;
	size_t n;
	size_t max;
	uint8_t (*keys)[CHI_KEY_MAX];
	struct chi_archive_reader *reader;
};

bool chi_footprint_pays(const struct chi_among *among, uint64_t positions, uint32_t most)
{
	uint64_t games = chi_among_count(among);
	return games < positions / POSITIONS_A_GAME && games < most / PLIES_A_GAME;
}

int chi_footprint_new(const struct chi_among *among, uint32_t most, struct chi_footprint **out)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL) {
		return -CHI_ENOMEM;
	}
	(*out)->among = among;
	(*out)->next = 1;
	(*out)->most = most;
	return chi_archive_reader_new(&(*out)->reader);
}

void chi_footprint_free(struct chi_footprint *footprint)
{
	if (footprint != NULL) {
		chi_archive_reader_free(footprint->reader);
		free(footprint->keys);
		free(footprint);
	}
}

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, CHI_KEY_MAX);
}

/* Each once, ascending. */
static void sort_keys(struct chi_footprint *footprint)
{
	uint8_t(*keys)[CHI_KEY_MAX] = footprint->keys;
	size_t n = 0;
	qsort(keys, footprint->n, sizeof(keys[0]), compare_keys);
	for (size_t i = 0; i < footprint->n; i++) {
		if (n == 0 || memcmp(keys[n - 1], keys[i], CHI_KEY_MAX) != 0) {
			memmove(keys[n++], keys[i], CHI_KEY_MAX);
		}
	}
	footprint->n = n;
	footprint->sorted = true;
}

/* Room for one key more. -CHI_ETOOBIG: there are too many. */
static int grow_keys(struct chi_footprint *footprint)
{
	if (footprint->n < footprint->max) {
		return CHI_OK;
	}
	size_t max = footprint->max > 0 ? 2 * footprint->max : 4096;
	if (max > footprint->most) {
		return -CHI_ETOOBIG;
	}
	void *keys = reallocarray(footprint->keys, max, sizeof(footprint->keys[0]));
	if (keys == NULL) {
		return -CHI_ENOMEM;
	}
	footprint->keys = keys;
	footprint->max = max;
	return CHI_OK;
}

/* One that a later snapshot lacks has reached nothing. */
static int play_game(struct chi_footprint *footprint, uint32_t number)
{
	struct chi_game_moves moves;
	struct chi_replay replay;
	int rc = chi_archive_moves(footprint->reader, number, &moves);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? CHI_OK : rc;
	}
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	while (rc == CHI_OK) {
		chi_move move;
		rc = grow_keys(footprint);
		if (rc == CHI_OK) {
			chi_key_bytes(chi_replay_position(&replay),
				      footprint->keys[footprint->n++]);
			rc = chi_replay_next(&replay, &move);
		}
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_footprint_step(struct chi_footprint *footprint, struct chi_read *read, uint64_t *steps)
{
	struct chi_archive_view view;
	uint32_t number = 0;
	if (footprint->sorted) {
		return CHI_NONE;
	}
	int rc = chi_read_archive(read, &view);
	rc = rc == CHI_OK ? chi_archive_reader_begin(footprint->reader, view.txn, &view.trees) : rc;
	bool more = chi_among_next(footprint->among, footprint->next, &number);
	for (; rc == CHI_OK && more && *steps > 0; --*steps) {
		for (int i = 0; rc == CHI_OK && more && i < GAMES_A_STEP; i++) {
			rc = play_game(footprint, number);
			footprint->next = number + 1;
			more = number < UINT32_MAX &&
			       chi_among_next(footprint->among, footprint->next, &number);
		}
	}
	chi_archive_reader_end(footprint->reader);
	if (rc == CHI_OK && !more) {
		/* No games have no memory to sort. */
		rc = grow_keys(footprint);
	}
	if (rc == CHI_OK && !more) {
		sort_keys(footprint);
		return CHI_NONE;
	}
	return rc;
}

const uint8_t *chi_footprint_keys(const struct chi_footprint *footprint, size_t *n)
{
	*n = footprint->n;
	return footprint->sorted ? footprint->keys[0] : NULL;
}

size_t chi_footprint_memory(const struct chi_footprint *footprint)
{
	return sizeof(*footprint) + CHI_ARCHIVE_READER_BYTES +
	       footprint->max * sizeof(footprint->keys[0]);
}
