/* SPDX-License-Identifier: MIT */
/*
 * Positions packed for the loader, by any number of threads beside it: what takes time and needs no
 * store is done here. An entry of a block is the key's length (1 byte), the key, the length of the
 * record (varint) and the record as a store holds it, with the statistic that it has if it is new.
 * If that says that the list of games stands in the postings tree, their number follows (4 bytes),
 * and they themselves. A piece of such a list ahead of the record has the key's length with AHEAD,
 * the key, the number and the games.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/wire.h"
#include "chess/key.h"
#include "store/record/list.h"
#include "store/record/record_priv.h"
#include "store/record/codec.h"
#include "store/record/merge.h"
#include "store/load/load_priv.h"

/* Room for a record without the lists, and for each item of them. */
#define RECORD_ROOM 128
#define MOVE_ROOM   48
#define PLY_ROOM    16

/* Before the record: the key with its length, and the record's length. */
#define HEAD_ROOM (1 + CHI_KEY_MAX)
#define SIZE_ROOM 3

_Static_assert(CHI_RECORD_BYTES_MAX < 1u << 21, "a record's length takes three bytes at most");

void chi_load_block_free(struct chi_load_block *block)
{
	free(block->bytes);
	*block = (struct chi_load_block){0};
}

/* Makes room for `more` bytes. */
static int reserve_block(struct chi_load_block *block, size_t more)
{
	return CHI_LIKELY(block->capacity - block->len >= more)
		       ? CHI_OK
		       : chi_grow(&block->bytes, &block->capacity, block->len + more, 1);
}

/* The record stays in its place if its length takes `SIZE_ROOM` bytes, and is moved down to
 * the shorter form: nearly all are shorter than 128 bytes. */
static int encode(struct chi_load_block *block, const struct chi_key *key,
		  const struct chi_record *record, const struct chi_record_rest *rest, size_t room)
{
	int rc = reserve_block(block, HEAD_ROOM + SIZE_ROOM + room);
	if (rc < 0) {
		return rc;
	}
	uint8_t *at = block->bytes + block->len;
	uint8_t *value = at + 1 + key->len + SIZE_ROOM;
	size_t len;
	rc = chi_record_encode(record, rest, value, room, &len);
	if (rc < 0) {
		return rc;
	}
	struct chi_writer w = chi_writer_of(at, HEAD_ROOM + SIZE_ROOM);
	chi_write_u8(&w, key->len);
	chi_write_bytes(&w, key->bytes, key->len);
	chi_write_varint(&w, len);
	memmove(w.at, value, len);
	block->len += (size_t)(w.at - at) + len;
	block->n++;
	return CHI_OK;
}

/* A list that is too long for the record, as it is in memory. */
static int add_list(struct chi_load_block *block, const struct chi_posting *games, size_t n)
{
	uint32_t number = (uint32_t)n;
	size_t size = n * sizeof(*games);
	int rc = n > UINT32_MAX ? -CHI_ETOOBIG : reserve_block(block, sizeof(number) + size);
	if (rc < 0) {
		return rc;
	}
	memcpy(block->bytes + block->len, &number, sizeof(number));
	memcpy(block->bytes + block->len + sizeof(number), games, size);
	block->len += sizeof(number) + size;
	return CHI_OK;
}

/* How many of the entries can go, sorted to the front. */
static size_t ripe(const struct chi_load_spec *spec, struct chi_posting *games, size_t n,
		   uint32_t least)
{
	size_t left = n;
	if (spec->subtract) {
		while (left > 0 && games[left - 1].game == games[n - 1].game) {
			left--;
		}
		chi_postings_sort(games, left);
		return left;
	}
	chi_postings_sort(games, n);
	while (left > 0 && games[left - 1].game >= least) {
		left--;
	}
	return left;
}

int chi_load_pack_ahead(const struct chi_load_spec *spec, const struct chi_key *key,
			struct chi_posting *games, size_t *n, uint32_t least,
			struct chi_load_block *block)
{
	size_t some = ripe(spec, games, *n, least);
	int rc = some > 0 ? reserve_block(block, HEAD_ROOM) : CHI_NONE;
	if (rc != CHI_OK) {
		return rc < 0 ? rc : CHI_OK;
	}
	struct chi_writer w = chi_writer_of(block->bytes + block->len, HEAD_ROOM);
	chi_write_u8(&w, key->len | CHI_LOAD_AHEAD);
	chi_write_bytes(&w, key->bytes, key->len);
	block->len += 1u + key->len;
	block->ahead.n += some;
	block->ahead.games += chi_postings_games(games, some);
	block->n++;
	rc = add_list(block, games, some);
	*n -= some;
	memmove(games, games + some, *n * sizeof(*games));
	return rc;
}

int chi_load_pack(const struct chi_load_spec *spec, const struct chi_key *key,
		  const struct chi_record *record, struct chi_posting *games, size_t n_games,
		  struct chi_load_block *block)
{
	struct chi_record packed = *record;
	const struct chi_load_ahead ahead = block->ahead;
	bool apart = ahead.n > 0 || n_games > CHI_LIST_HERE_MAX;
	chi_postings_sort(games, n_games);
	const struct chi_record_rest rest = {
		.games = games,
		.n_games = apart ? 0 : n_games,
		.listed = apart ? ahead.n + n_games : 0,
		.listed_games = apart ? ahead.games + chi_postings_games(games, n_games) : 0,
	};
	block->ahead = (struct chi_load_ahead){0};
	if (!chi_key_shape_ok(key->bytes, key->len)) {
		return -CHI_EINVAL;
	}
	packed.chi2 = spec->computed ? record->chi2 : CHI_CHI2_UNKNOWN;
	if (!spec->subtract && !spec->computed &&
	    chi_record_statistic(spec->statistic, &spec->base, key, record, &packed.chi2) < 0) {
		return -CHI_EINVAL;
	}
	int rc = encode(block, key, &packed, &rest,
			RECORD_ROOM + record->n_moves * MOVE_ROOM + record->n_plies * PLY_ROOM);
	if (rc == -CHI_ETOOBIG) {
		/* It has other parts, or is too large for any store. */
		rc = encode(block, key, &packed, &rest, CHI_RECORD_BYTES_MAX);
	}
	if (rc == CHI_OK && apart) {
		rc = add_list(block, games, n_games);
	}
	return rc == -CHI_ETOOBIG ? -CHI_EINVAL : rc;
}

int chi_load_less(const struct chi_record *games, struct chi_arena *arena,
		  struct chi_record *record, struct chi_fault *fault)
{
	return chi_subtract(games, arena, record, fault);
}

/* The record of one game: head byte, statistic, number, ply, move; its length. */
static size_t one_record(uint8_t *at, uint16_t chi2, enum chi_result result, uint16_t ply,
			 chi_move move, uint32_t game)
{
	uint8_t *start = at++;
	*start = (uint8_t)((game != 0 ? COUNTS_NUMBERED : COUNTS_ONE) << 1 | (unsigned)result << 3 |
			   HEAD_PLIES);
	if (chi2 != CHI_CHI2_UNKNOWN) {
		*start |= HEAD_CHI2;
		chi_chi2_bytes(chi2, at);
		at += 2;
	}
	for (uint32_t left = game; left != 0; left >>= 7) {
		*at++ = (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
	}
	if (ply >= 0x80) {
		*at++ = (uint8_t)(0x80 | (ply & 0x7f));
		ply >>= 7;
	}
	*at++ = (uint8_t)ply;
	if (move != 0) {
		*start |= HEAD_MOVES;
		*at++ = (uint8_t)(move & 0xff);
		*at++ = (uint8_t)(move >> 8);
	}
	return (size_t)(at - start);
}

/* The longest such record. */
#define ONE_MAX 12

int chi_load_pack_one(const struct chi_load_spec *spec, const uint8_t key[CHI_KEY_MAX],
		      size_t key_len, enum chi_result result, uint16_t ply, chi_move move,
		      uint32_t game, struct chi_load_block *block)
{
	uint16_t chi2 = CHI_CHI2_UNKNOWN;
	if (!chi_key_shape_ok(key, key_len) || ply > CHI_PLY_MAX || (unsigned)result > 3 ||
	    (move != 0 && !chi_move_possible(move))) {
		return -CHI_EINVAL;
	}
	/* One game has no evaluation, and is too few for a statistic of results. */
	if (spec->statistic == CHI_STATISTIC_CONTROL && !spec->subtract) {
		struct chi_key whole = {.len = (uint8_t)key_len};
		memcpy(whole.bytes, key, key_len);
		const struct chi_record none = {0};
		if (chi_record_statistic(spec->statistic, &spec->base, &whole, &none, &chi2) < 0) {
			return -CHI_EINVAL;
		}
	}
	int rc = reserve_block(block, HEAD_ROOM + SIZE_ROOM + ONE_MAX);
	if (rc < 0) {
		return rc;
	}
	uint8_t *at = block->bytes + block->len;
	*at++ = (uint8_t)key_len;
	memcpy(at, key, CHI_KEY_MAX);
	at += key_len;
	size_t len = one_record(at + 1, chi2, result, ply, move, game);
	*at = (uint8_t)len;
	at += 1 + len;
	block->len = (size_t)(at - block->bytes);
	block->n++;
	return CHI_OK;
}
