/* SPDX-License-Identifier: MIT */
/* Lists in the tree: appended to, taken from, walked. One chunk at a time is decoded. */
#include "store/postings/postings.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/chain/chain.h"
#include "store/lmdb_err.h"
#include "store/record/list.h"

static MDB_val chunk_key(uint8_t out[CHI_POSTINGS_CHUNK_KEY_MAX], const uint8_t *key,
			 size_t key_len, uint32_t game)
{
	uint32_t number = htobe32(game);
	memcpy(out, key, key_len);
	memcpy(out + key_len, &number, sizeof(number));
	return (MDB_val){key_len + sizeof(number), out};
}

static bool belongs(const MDB_val *found, const uint8_t *key, size_t key_len)
{
	return found->mv_size == key_len + sizeof(uint32_t) &&
	       memcmp(found->mv_data, key, key_len) == 0;
}

/* ---- Walking ----------------------------------------------------------------------------- */

int chi_postings_open(struct chi_postings_walk *walk, MDB_txn *txn, MDB_dbi tree,
		      enum chi_chain chain, const uint8_t *key, size_t key_len)
{
	*walk = (struct chi_postings_walk){.chain = chain, .key_len = key_len};
	memcpy(walk->key, key, key_len);
	return mdb_cursor_open(txn, tree, &walk->cursor);
}

void chi_postings_close(struct chi_postings_walk *walk)
{
	if (walk->cursor != NULL) {
		mdb_cursor_close(walk->cursor);
	}
	walk->cursor = NULL;
}

static int take_chunk(struct chi_postings_walk *walk, const MDB_val *found, const MDB_val *value,
		      struct chi_posting *out, size_t *n)
{
	size_t key_len;
	if (!belongs(found, walk->key, walk->key_len)) {
		walk->over = true;
		return MDB_NOTFOUND;
	}
	return chi_postings_chunk_read(found, value, &key_len, out, n);
}

int chi_postings_seek(struct chi_postings_walk *walk, uint32_t from,
		      struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES], size_t *n)
{
	uint8_t bytes[CHI_POSTINGS_CHUNK_KEY_MAX];
	MDB_val found = chunk_key(bytes, walk->key, walk->key_len, from);
	MDB_val value;
	walk->over = false;
	int rc = chi_chain_seek(walk->cursor, walk->chain, walk->key_len, &found, &value);
	return rc == 0 ? take_chunk(walk, &found, &value, out, n) : rc;
}

int chi_postings_next(struct chi_postings_walk *walk,
		      struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES], size_t *n)
{
	MDB_val found;
	MDB_val value;
	int rc = walk->over ? MDB_NOTFOUND
			    : chi_chain_step(walk->cursor, walk->chain, &found, &value, MDB_NEXT);
	return rc == 0 ? take_chunk(walk, &found, &value, out, n) : rc;
}

int chi_postings_count(MDB_txn *txn, MDB_dbi tree, const uint8_t *key, size_t key_len, uint64_t *n)
{
	uint8_t bytes[CHI_POSTINGS_CHUNK_KEY_MAX];
	MDB_cursor *cursor;
	MDB_val value;
	MDB_val found = chunk_key(bytes, key, key_len, 0);
	*n = 0;
	int rc = mdb_cursor_open(txn, tree, &cursor);
	if (rc != 0) {
		return rc;
	}
	rc = chi_chain_step(cursor, CHI_CHAIN_POSTINGS, &found, &value, MDB_SET_RANGE);
	while (rc == 0 && belongs(&found, key, key_len)) {
		*n += chi_postings_chunk_size(&value);
		rc = chi_chain_step(cursor, CHI_CHAIN_POSTINGS, &found, &value, MDB_NEXT);
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* ---- Writing ----------------------------------------------------------------------------- */

/* Writes all of the entries, in as few chunks as hold them. */
static int write_chunks(MDB_txn *txn, MDB_dbi tree, enum chi_chain chain, const uint8_t *key,
			size_t key_len, const struct chi_posting *entries, size_t n)
{
	uint8_t chunk[CHI_POSTINGS_CHUNK_KEY_MAX];
	uint8_t bytes[CHI_POSTINGS_CHUNK_MAX];
	int rc = 0;
	for (size_t done = 0; done < n && rc == 0;) {
		MDB_val at = {.mv_data = chunk};
		MDB_val value = {.mv_data = bytes};
		done += chi_postings_chunk_encode(key, key_len, entries + done, n - done, chunk,
						  &at.mv_size, bytes, &value.mv_size);
		rc = chi_chain_put(txn, tree, chain, &at, &value, 0);
	}
	return rc;
}

/* The last chunk of the list takes what fits: it is written again with more entries. */
int chi_postings_append(MDB_txn *txn, MDB_dbi tree, enum chi_chain chain, const uint8_t *key,
			size_t key_len, const struct chi_posting *entries, size_t n)
{
	struct chi_postings_walk walk;
	size_t old = 0;
	struct chi_posting *all = malloc((CHI_POSTINGS_CHUNK_ENTRIES + n) * sizeof(*all));
	if (all == NULL) {
		return ENOMEM;
	}
	int rc = chi_postings_open(&walk, txn, tree, chain, key, key_len);
	if (rc == 0) {
		rc = chi_postings_seek(&walk, UINT32_MAX, all, &old);
	}
	chi_postings_close(&walk);
	if (rc == 0 || rc == MDB_NOTFOUND) {
		memcpy(all + old, entries, n * sizeof(*all));
		rc = old == 0 || chi_posting_before(&all[old - 1], &entries[0])
			     ? write_chunks(txn, tree, chain, key, key_len, all, old + n)
			     : MDB_KEYEXIST;
	}
	free(all);
	return rc;
}

/* Removes from `all` what is in `entries`; returns how many of these were reached. */
static size_t subtract(struct chi_posting *all, size_t *n_all, const struct chi_posting *entries,
		       size_t n, bool *lacking)
{
	size_t kept = 0;
	size_t done = 0;
	for (size_t i = 0; i < *n_all; i++) {
		if (done < n && chi_posting_before(&entries[done], &all[i])) {
			*lacking = true;
			return done;
		}
		if (done < n && !chi_posting_before(&all[i], &entries[done])) {
			done++;
		} else {
			all[kept++] = all[i];
		}
	}
	*n_all = kept;
	return done;
}

static int replace_chunk(MDB_txn *txn, MDB_dbi tree, enum chi_chain chain, const uint8_t *key,
			 size_t key_len, uint32_t first, const struct chi_posting *entries,
			 size_t n)
{
	uint8_t bytes[CHI_POSTINGS_CHUNK_KEY_MAX];
	MDB_val at = chunk_key(bytes, key, key_len, first);
	int rc = chi_chain_del(txn, tree, chain, &at);
	return rc == 0 ? write_chunks(txn, tree, chain, key, key_len, entries, n) : rc;
}

/* Takes out what lies in the chunk of the first entry; *done are gone. */
static int remove_some(MDB_txn *txn, MDB_dbi tree, enum chi_chain chain, const uint8_t *key,
		       size_t key_len, const struct chi_posting *entries, size_t n,
		       struct chi_posting *room, size_t *done)
{
	struct chi_postings_walk walk;
	size_t n_room = 0;
	bool lacking = false;
	int rc = chi_postings_open(&walk, txn, tree, chain, key, key_len);
	if (rc == 0) {
		rc = chi_postings_seek(&walk, entries[0].game, room, &n_room);
	}
	chi_postings_close(&walk);
	if (rc != 0) {
		return rc;
	}
	uint32_t first = room[0].game;
	*done = subtract(room, &n_room, entries, n, &lacking);
	return lacking || *done == 0
		       ? MDB_NOTFOUND
		       : replace_chunk(txn, tree, chain, key, key_len, first, room, n_room);
}

int chi_postings_remove(MDB_txn *txn, MDB_dbi tree, enum chi_chain chain, const uint8_t *key,
			size_t key_len, const struct chi_posting *entries, size_t n)
{
	int rc = 0;
	struct chi_posting *room = malloc(CHI_POSTINGS_CHUNK_ENTRIES * sizeof(*room));
	if (room == NULL) {
		return ENOMEM;
	}
	for (size_t done = 0; done < n && rc == 0;) {
		size_t some = 0;
		rc = remove_some(txn, tree, chain, key, key_len, entries + done, n - done, room,
				 &some);
		done += some;
	}
	free(room);
	return rc;
}

int chi_postings_first(MDB_txn *txn, MDB_dbi tree, const uint8_t *key, size_t key_len,
		       uint8_t bytes[CHI_POSTINGS_CHUNK_KEY_MAX], MDB_val *out)
{
	MDB_cursor *cursor;
	MDB_val value;
	MDB_val found = chunk_key(bytes, key, key_len, 0);
	int rc = mdb_cursor_open(txn, tree, &cursor);
	if (rc != 0) {
		return rc;
	}
	rc = chi_chain_step(cursor, CHI_CHAIN_POSTINGS, &found, &value, MDB_SET_RANGE);
	rc = rc == 0 && !belongs(&found, key, key_len) ? MDB_NOTFOUND : rc;
	if (rc == 0) {
		memcpy(bytes, found.mv_data, found.mv_size);
		*out = (MDB_val){found.mv_size, bytes};
	}
	mdb_cursor_close(cursor);
	return rc;
}

int chi_postings_drop(MDB_txn *txn, MDB_dbi tree, const uint8_t *key, size_t key_len)
{
	uint8_t bytes[CHI_POSTINGS_CHUNK_KEY_MAX];
	MDB_val chunk;
	int rc;
	while ((rc = chi_postings_first(txn, tree, key, key_len, bytes, &chunk)) == 0) {
		rc = chi_chain_del(txn, tree, CHI_CHAIN_POSTINGS, &chunk);
		if (rc != 0) {
			return rc;
		}
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}
