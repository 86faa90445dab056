/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a chunk: checksum (4) | entries (varint) | moves (varint) | each move (2) | list.
 * The first entry counts from the number in the key.
 */
#include "store/postings/postings.h"

#include <endian.h>
#include <string.h>

#include "base/wire.h"
#include "chess/key.h"
#include "store/record/checksum.h"
#include "store/record/list.h"

#define SUM_SIZE    4
#define NUMBER_SIZE 4

static uint32_t sum_of(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len)
{
	return (uint32_t)chi_checksum_apart(key, key_len, value + SUM_SIZE, len - SUM_SIZE);
}

/* The moves that occur, ascending; at most CHI_MOVES_MAX, since more are legal in no position that
 * is counted. */
static size_t moves_of(const struct chi_posting *entries, size_t n, chi_move moves[CHI_MOVES_MAX])
{
	size_t n_moves = 0;
	for (size_t i = 0; i < n; i++) {
		size_t at = 0;
		while (at < n_moves && moves[at] < entries[i].move) {
			at++;
		}
		if (entries[i].move == 0 || (at < n_moves && moves[at] == entries[i].move) ||
		    n_moves == CHI_MOVES_MAX) {
			continue;
		}
		memmove(moves + at + 1, moves + at, (n_moves - at) * sizeof(*moves));
		moves[at] = entries[i].move;
		n_moves++;
	}
	return n_moves;
}

/* All of the entries, or as many as there is room for. */
static size_t try_encode(const struct chi_posting *entries, size_t n, uint8_t *out, size_t *len)
{
	chi_move moves[CHI_MOVES_MAX];
	size_t n_moves = moves_of(entries, n, moves);
	struct chi_writer w = chi_writer_of(out + SUM_SIZE, CHI_POSTINGS_CHUNK_MAX - SUM_SIZE);
	chi_write_varint(&w, n);
	chi_write_varint(&w, n_moves);
	for (size_t i = 0; i < n_moves; i++) {
		chi_write_le(&w, moves[i], 2);
	}
	size_t written = chi_postings_write(&w, entries, n, entries[0].game, moves, n_moves);
	*len = (size_t)(w.at - out);
	return written;
}

/* At most `most` of the entries, but all or none of a game, whose number may begin one chunk only.
 * A game has less than a chunk holds. */
static size_t whole_games(const struct chi_posting *entries, size_t n, size_t most)
{
	most = n < most ? n : most;
	while (most > 1 && most < n && entries[most].game == entries[most - 1].game) {
		most--;
	}
	return most;
}

size_t chi_postings_chunk_encode(const uint8_t *key, size_t key_len,
				 const struct chi_posting *entries, size_t n,
				 uint8_t out_key[CHI_POSTINGS_CHUNK_KEY_MAX], size_t *out_key_len,
				 uint8_t out[CHI_POSTINGS_CHUNK_MAX], size_t *len)
{
	uint32_t first = htobe32(entries[0].game);
	size_t most = whole_games(entries, n, CHI_POSTINGS_CHUNK_ENTRIES);
	/* Fewer entries have no more moves, and take no more bytes. */
	for (size_t fit = try_encode(entries, most, out, len); fit < most;) {
		most = whole_games(entries, n, fit);
		fit = try_encode(entries, most, out, len);
	}
	memcpy(out_key, key, key_len);
	memcpy(out_key + key_len, &first, sizeof(first));
	*out_key_len = key_len + NUMBER_SIZE;
	uint32_t sum = htole32(sum_of(out_key, *out_key_len, out, *len));
	memcpy(out, &sum, sizeof(sum));
	return most;
}

static bool read_chunk(struct chi_reader *r, uint32_t first, struct chi_posting *out, size_t *n)
{
	chi_move moves[CHI_MOVES_MAX];
	uint64_t entries = chi_read_small(r);
	uint64_t n_moves = chi_read_small(r);
	if (r->bad || entries == 0 || entries > CHI_POSTINGS_CHUNK_ENTRIES ||
	    n_moves > CHI_MOVES_MAX) {
		return false;
	}
	for (size_t i = 0; i < n_moves; i++) {
		moves[i] = (chi_move)chi_read_le(r, 2);
		if (moves[i] == 0 || (i > 0 && moves[i] <= moves[i - 1])) {
			return false;
		}
	}
	chi_postings_read(r, out, (size_t)entries, first, moves, (size_t)n_moves);
	*n = (size_t)entries;
	return !r->bad && chi_reader_left(r) == 0 && out[0].game == first;
}

uint64_t chi_postings_chunk_size(const MDB_val *value)
{
	if (value->mv_size <= SUM_SIZE) {
		return 0;
	}
	struct chi_reader r = chi_reader_of((const uint8_t *)value->mv_data + SUM_SIZE,
					    value->mv_size - SUM_SIZE);
	uint64_t n = chi_read_small(&r);
	return r.bad || n > CHI_POSTINGS_CHUNK_ENTRIES ? 0 : n;
}

int chi_postings_chunk_read(const MDB_val *key, const MDB_val *value, size_t *key_len,
			    struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES], size_t *n)
{
	uint32_t sum;
	uint32_t first;
	if (key->mv_size <= NUMBER_SIZE || key->mv_size > CHI_POSTINGS_CHUNK_KEY_MAX ||
	    value->mv_size <= SUM_SIZE || value->mv_size > CHI_POSTINGS_CHUNK_MAX) {
		return MDB_CORRUPTED;
	}
	*key_len = key->mv_size - NUMBER_SIZE;
	memcpy(&sum, value->mv_data, sizeof(sum));
	memcpy(&first, (const uint8_t *)key->mv_data + *key_len, sizeof(first));
	struct chi_reader r = chi_reader_of((const uint8_t *)value->mv_data + SUM_SIZE,
					    value->mv_size - SUM_SIZE);
	bool ok = le32toh(sum) ==
			  sum_of(key->mv_data, key->mv_size, value->mv_data, value->mv_size) &&
		  read_chunk(&r, be32toh(first), out, n);
	return ok ? 0 : MDB_CORRUPTED;
}

int chi_postings_chunk_decode(const MDB_val *key, const MDB_val *value, size_t *key_len,
			      struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES], size_t *n)
{
	return key->mv_size >= CHI_KEY_MIN + NUMBER_SIZE &&
			       chi_key_shape_ok(key->mv_data, key->mv_size - NUMBER_SIZE)
		       ? chi_postings_chunk_read(key, value, key_len, out, n)
		       : MDB_CORRUPTED;
}
