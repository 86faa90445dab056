/* SPDX-License-Identifier: MIT */
/* What the moves of a game say of the lists of its positions. */
#include "store/admin/verify_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "store/record/checksum.h"

/* No game is longer. */
#define PLIES_MAX UINT16_MAX
#define SLOTS	  (4 * (PLIES_MAX + 1u))

/* The entries of one game, each once. */
struct chi_verify_room {
	uint64_t positions[PLIES_MAX + 1]; /* hashes */
	uint64_t slots[SLOTS];		   /* hashes of entries; 0: free */
	size_t mask;			   /* of those in use */
};

struct chi_verify_room *chi_verify_room_new(void)
{
	return malloc(sizeof(struct chi_verify_room));
}

uint64_t chi_verify_hash(const uint8_t key[CHI_KEY_MAX])
{
	return XXH3_64bits(key, CHI_KEY_MAX);
}

uint64_t chi_verify_entry_hash(uint64_t position, uint32_t game, chi_move move)
{
	uint64_t h = position ^ ((uint64_t)game << 16 | move) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
	h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 32;
	return h != 0 ? h : 1;
}

uint32_t chi_verify_trait_hash(chi_trait trait, uint32_t game)
{
	return (uint32_t)chi_verify_entry_hash(trait * UINT64_C(0x9e3779b97f4a7c15), game, 0);
}

/* False: it is there already. */
static bool add_once(struct chi_verify_room *room, uint64_t hash)
{
	size_t slot = hash & room->mask;
	for (; room->slots[slot] != 0; slot = (slot + 1) & room->mask) {
		if (room->slots[slot] == hash) {
			return false;
		}
	}
	room->slots[slot] = hash;
	return true;
}

static void clear(struct chi_verify_room *room, size_t plies)
{
	size_t slots = 64;
	while (slots < 2 * (plies + 1)) {
		slots *= 2;
	}
	room->mask = slots - 1;
	memset(room->slots, 0, slots * sizeof(room->slots[0]));
}

/* ---- Pruned games ------------------------------------------------------------------------- */

static uint64_t second(uint64_t hash)
{
	return hash >> 33 ^ hash << 17;
}

bool chi_verify_may_be(const struct chi_verify_archive *a, uint64_t hash)
{
	uint64_t one = hash & a->filter_mask;
	uint64_t two = second(hash) & a->filter_mask;
	return (a->filter[one / 64] >> one % 64 & 1) != 0 &&
	       (a->filter[two / 64] >> two % 64 & 1) != 0;
}

static void let_be(struct chi_verify_archive *a, uint64_t hash)
{
	uint64_t one = hash & a->filter_mask;
	uint64_t two = second(hash) & a->filter_mask;
	a->filter[one / 64] |= UINT64_C(1) << one % 64;
	a->filter[two / 64] |= UINT64_C(1) << two % 64;
}

/* ---- Entries ------------------------------------------------------------------------------ */

static int note_call(struct chi_verify_archive *a, const uint8_t key[CHI_KEY_MAX],
		     const struct chi_posting *entry, uint64_t hash)
{
	if (chi_grow(&a->calls, &a->calls_size, a->n_calls + 1, sizeof(*a->calls)) < 0) {
		return -CHI_ENOMEM;
	}
	struct chi_verify_call *call = &a->calls[a->n_calls++];
	*call = (struct chi_verify_call){.hash = hash, .entry = *entry};
	memcpy(call->key, key, sizeof(call->key));
	return CHI_OK;
}

static int call_for(struct chi_verify *v, struct chi_verify_game *known, const uint8_t *key,
		    const struct chi_posting *entry, uint64_t hash)
{
	struct chi_verify_archive *a = &v->archive;
	if (a->locating) {
		return note_call(a, key, entry, hash);
	}
	if ((known->flags & CHI_VERIFY_PRUNED) != 0) {
		let_be(a, hash);
	} else {
		a->sums[entry->game] += (uint32_t)hash;
	}
	return CHI_OK;
}

static bool was_there(const struct chi_verify_room *room, size_t n, uint64_t position)
{
	for (size_t i = 0; i < n; i++) {
		if (room->positions[i] == position) {
			return true;
		}
	}
	return false;
}

/* Where a game begins with more men than chess gives, its count ends before a position with more
 * moves than a record holds. */
static bool ends_count(const struct chi_game *game, const struct chi_position *position)
{
	struct chi_move_list legal;
	if (!game->has_start) {
		return false;
	}
	chi_movegen_legal(position, &legal);
	return legal.n > CHI_MOVES_MAX;
}

static int start_of(const struct chi_game *game, struct chi_position *out)
{
	int rc = game->has_start ? chi_key_decode(&game->start, out, NULL)
				 : chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), out, NULL);
	return rc == CHI_OK ? CHI_OK : -CHI_ECORRUPT;
}

/* All of a game counts, however much of it positions count. */
static void sum_traits(struct chi_verify_game *known, const struct chi_game *game,
		       struct chi_position positions[2])
{
	struct chi_traits traits;
	chi_traits_begin(&traits);
	for (size_t ply = 0; ply < game->n_plies; ply++) {
		chi_traits_add(&traits, &positions[ply & 1], game->moves[ply]);
		chi_position_play(&positions[ply & 1], game->moves[ply], &positions[~ply & 1]);
	}
	chi_traits_add(&traits, &positions[game->n_plies & 1], 0);
	chi_traits_end(&traits);
	for (size_t i = 0; i < traits.n; i++) {
		known->traits += chi_verify_trait_hash(traits.trait[i], game->head.number);
	}
}

int chi_verify_replay(struct chi_verify *v, const struct chi_game *game)
{
	struct chi_verify_room *room = v->archive.room;
	struct chi_verify_game *known = chi_verify_find_game(v, game->head.number);
	struct chi_position positions[2];
	if (v->archive.locating && (known->flags & CHI_VERIFY_WRONG) == 0) {
		return CHI_OK;
	}
	int rc = start_of(game, &positions[0]);
	if (rc == CHI_OK && !v->archive.locating) {
		sum_traits(known, game, positions);
		rc = start_of(game, &positions[0]);
	}
	size_t n = known->max_ply != 0 && known->max_ply < game->n_plies ? known->max_ply
									 : game->n_plies;
	clear(room, n);
	for (size_t ply = 0; rc == CHI_OK && ply <= n; ply++) {
		const struct chi_position *now = &positions[ply & 1];
		uint8_t key[CHI_KEY_MAX];
		bool last = ply == n || ends_count(game, now);
		n = last ? ply : n;
		struct chi_posting entry = {.game = game->head.number,
					    .move = last ? 0 : game->moves[ply]};
		chi_key_bytes(now, key);
		room->positions[ply] = chi_verify_hash(key);
		uint64_t hash = chi_verify_entry_hash(room->positions[ply], entry.game, entry.move);
		/* A game that comes back to end is listed with what it played before. */
		if (last ? !was_there(room, ply, room->positions[ply]) : add_once(room, hash)) {
			rc = call_for(v, known, key, &entry, hash);
		}
		if (!last) {
			chi_position_play(now, entry.move, &positions[~ply & 1]);
		}
	}
	return rc;
}
