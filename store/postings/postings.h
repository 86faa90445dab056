/* SPDX-License-Identifier: MIT */
/*
 * The long lists of games that reached a position, in chunks (FORMAT.md, "Postings tree"). Works on
 * a transaction and a tree's handle; codes are LMDB's, MDB_CORRUPTED for a damaged chunk. Which
 * lists are kept here, and how long they are, the positions' records say.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "store/chain/chain.h"

/* A chunk's key: a position key, or what else a tree of lists has, and the number of its first
 * game, big-endian. */
#define CHI_POSTINGS_CHUNK_KEY_MAX (CHI_KEY_MAX + 4)

/* The longest value of a chunk: two of them fill a page. */
#define CHI_POSTINGS_CHUNK_MAX 2000

/* No chunk has more entries: each takes a byte at least. */
#define CHI_POSTINGS_CHUNK_ENTRIES CHI_POSTINGS_CHUNK_MAX

/* Adds entries after those that are there; they ascend, and so does the whole. */
CHI_MUSTUSE int chi_postings_append(MDB_txn *txn, MDB_dbi tree, enum chi_chain chain,
				    const uint8_t *key, size_t key_len,
				    const struct chi_posting *entries, size_t n);

/* Takes ascending entries out. MDB_NOTFOUND: one is not there, and others may be gone. */
CHI_MUSTUSE int chi_postings_remove(MDB_txn *txn, MDB_dbi tree, enum chi_chain chain,
				    const uint8_t *key, size_t key_len,
				    const struct chi_posting *entries, size_t n);

/* How many entries a list has, as its chunks say; they are not read. */
CHI_MUSTUSE int chi_postings_count(MDB_txn *txn, MDB_dbi tree, const uint8_t *key, size_t key_len,
				   uint64_t *n);

/* The key of a list's first chunk, in `bytes`. MDB_NOTFOUND: it has none. */
CHI_MUSTUSE int chi_postings_first(MDB_txn *txn, MDB_dbi tree, const uint8_t *key, size_t key_len,
				   uint8_t bytes[CHI_POSTINGS_CHUNK_KEY_MAX], MDB_val *out);

/* Takes a whole list out. */
CHI_MUSTUSE int chi_postings_drop(MDB_txn *txn, MDB_dbi tree, const uint8_t *key, size_t key_len);

/* A walk through a list, a chunk at a time. */
struct chi_postings_walk {
	MDB_cursor *cursor;
	enum chi_chain chain;
	uint8_t key[CHI_KEY_MAX];
	size_t key_len;
	bool over;
};

/* Begins so that the first chunk that is delivered is the one in which game `from` would be, 0 for
 * the first of all. To be closed, also after a failure. */
CHI_MUSTUSE int chi_postings_open(struct chi_postings_walk *walk, MDB_txn *txn, MDB_dbi tree,
				  enum chi_chain chain, const uint8_t *key, size_t key_len);
void chi_postings_close(struct chi_postings_walk *walk);

/* The chunk in which game `from` would be. MDB_NOTFOUND: there is none. */
CHI_MUSTUSE int chi_postings_seek(struct chi_postings_walk *walk, uint32_t from,
				  struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES], size_t *n);

/* The next chunk. MDB_NOTFOUND: there are no more. */
CHI_MUSTUSE int chi_postings_next(struct chi_postings_walk *walk,
				  struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES], size_t *n);

/* How many entries a value says that it has; 0: it is damaged. */
uint64_t chi_postings_chunk_size(const MDB_val *value);

/* Decodes an entry of the tree, whose key is a chunk's; how long the position's key is becomes
 * *key_len. */
CHI_MUSTUSE int chi_postings_chunk_decode(const MDB_val *key, const MDB_val *value, size_t *key_len,
					  struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES],
					  size_t *n);

/* The same of any tree of lists, whose keys begin with another than a position's. */
CHI_MUSTUSE int chi_postings_chunk_read(const MDB_val *key, const MDB_val *value, size_t *key_len,
					struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES],
					size_t *n);

/* Encodes as many of the entries as one chunk holds, and returns how many: 1 or more. */
size_t chi_postings_chunk_encode(const uint8_t *key, size_t key_len,
				 const struct chi_posting *entries, size_t n,
				 uint8_t out_key[CHI_POSTINGS_CHUNK_KEY_MAX], size_t *out_key_len,
				 uint8_t out[CHI_POSTINGS_CHUNK_MAX], size_t *len);
