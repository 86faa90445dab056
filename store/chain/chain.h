/* SPDX-License-Identifier: MIT */
/*
 * Trees whose entries are chained (FORMAT.md, "Chains"): each tells, by a short hash before
 * its value, which entry comes before it, and an entry of its own, the head, which one is the last.
 * So "not there" and the end of a walk are vouched for: a key, a page or a pointer that is damaged
 * breaks the chain, and is MDB_CORRUPTED instead.
 *
 * The functions stand in for LMDB's of the same names, and return its codes; nothing else may read
 * or change such a tree. Values are without their links, and the head is not seen.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"

/* The tree, which the links vouch for too. The numbers are those of the format. */
enum chi_chain {
	CHI_CHAIN_IDS = 1,
	CHI_CHAIN_CLIENTS,
	CHI_CHAIN_QUEUE,
	CHI_CHAIN_GAMES,
	CHI_CHAIN_COLUMNS,
	CHI_CHAIN_NAMES,
	CHI_CHAIN_POSTINGS,
	CHI_CHAIN_GAMESETS,
	CHI_CHAIN_TRAITS, /* the last */
};

/* Bytes before each value. */
#define CHI_CHAIN_LINK 2

/* ---- Reading ----------------------------------------------------------------------------- */

/* As mdb_get. */
CHI_MUSTUSE int chi_chain_get(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *key,
			      MDB_val *value);

/* As mdb_cursor_get, with MDB_FIRST, MDB_LAST, MDB_NEXT, MDB_PREV, MDB_SET_RANGE and
 * MDB_GET_CURRENT. */
CHI_MUSTUSE int chi_chain_step(MDB_cursor *cursor, enum chi_chain chain, MDB_val *key,
			       MDB_val *value, MDB_cursor_op op);

/* Goes to the entry that is responsible for *key among those whose keys begin with its first
 * `common` bytes: the last one that is not greater, else the first. MDB_NOTFOUND: there is none. */
CHI_MUSTUSE int chi_chain_seek(MDB_cursor *cursor, enum chi_chain chain, size_t common,
			       MDB_val *key, MDB_val *value);

/* Calls for each entry from `from` on whose key begins with the first `common` bytes of that; NULL:
 * for all. Ends with what `visit` returns other than CHI_OK. A status, not LMDB's code. */
typedef int chi_chain_visit(void *context, const MDB_val *key, const MDB_val *value);
CHI_MUSTUSE int chi_chain_walk(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *from,
			       size_t common, chi_chain_visit *visit, void *context);

/* What a key of the tree is called in a message. */
#define CHI_CHAIN_TEXT 128
const char *chi_chain_name(enum chi_chain chain);
const char *chi_chain_key_name(enum chi_chain chain, const MDB_val *key, char out[CHI_CHAIN_TEXT]);

/* ---- Writing ----------------------------------------------------------------------------- */

/* The head of a new tree. */
CHI_MUSTUSE int chi_chain_make(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain);

/* As mdb_put with flags 0 or MDB_NOOVERWRITE. */
CHI_MUSTUSE int chi_chain_put(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *key,
			      const MDB_val *value, unsigned flags);

/* As mdb_del. */
CHI_MUSTUSE int chi_chain_del(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *key);

/* Empties a tree, whatever its state. */
CHI_MUSTUSE int chi_chain_drop(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain);

/* ---- A chain in one's own hands ---------------------------------------------------------- */

/* Where a chain is. Set `chain`, the rest to zero. */
struct chi_chain_at {
	enum chi_chain chain;
	uint16_t head; /* the head's link */
	size_t len;    /* of the key before; 0: none came, not even the head's */
	uint8_t last[64];
};

/* Takes the link off the value of an entry that was read without the functions above. False: it is
 * the head. */
bool chi_chain_strip(const MDB_val *key, MDB_val *value);

/* The next entry of a tree that is read as a whole, with its link. False: it does not fit. */
bool chi_chain_follow(struct chi_chain_at *at, const MDB_val *key, const MDB_val *value);

/* Whether these were all. */
bool chi_chain_over(const struct chi_chain_at *at);

/* A tree with nothing but a head is built by appending entries that are signed; the head is true
 * again after chi_chain_end. chi_chain_sign writes the link before the value, where there is room
 * for it, and returns both. */
CHI_MUSTUSE int chi_chain_begin(MDB_txn *txn, MDB_dbi dbi, struct chi_chain_at *at);
MDB_val *chi_chain_sign(struct chi_chain_at *at, const MDB_val *key, MDB_val *value);
CHI_MUSTUSE int chi_chain_end(MDB_txn *txn, MDB_dbi dbi, const struct chi_chain_at *at);
