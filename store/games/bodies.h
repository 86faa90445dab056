/* SPDX-License-Identifier: MIT */
/*
 * The bodies of games, compressed some 70 together (FORMAT.md, "Games tree"): an entry of LMDB is
 * a chunk of games with consecutive numbers, that fills a page; only a game too long for that
 * takes more. What the parts of a body are is not known here.
 *
 * Statuses and transactions are as in columns.h.
 */
#pragma once

#include <lmdb.h>
#include <stdint.h>

#include "store/chain/chain.h"
#include "store/games/body.h"

/* Bytes of a chunk, unless a single game needs more. */
#define CHI_BODIES_ROOM (4080 - CHI_CHAIN_LINK)
/* Games of a chunk at most. */
#define CHI_BODIES_ROWS 1024

/* ---- Reading ----------------------------------------------------------------------------- */

/* Remembers the chunk it is in, unpacked. One thread at a time; any number of transactions one
 * after the other. */
struct chi_bodies_reader;

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_bodies_reader_new(struct chi_bodies_reader **out);
/* NULL is fine. */
void chi_bodies_reader_free(struct chi_bodies_reader *reader);

/* Between these the reader works in a transaction. */
CHI_MUSTUSE int chi_bodies_reader_begin(struct chi_bodies_reader *reader, MDB_txn *txn,
					MDB_dbi dbi);
void chi_bodies_reader_end(struct chi_bodies_reader *reader);

/* Verifies and unpacks an entry of the tree, from wherever it was read; its games, `first` and the
 * n - 1 numbers after it, are then read without a transaction. -CHI_ECORRUPT, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_bodies_open(struct chi_bodies_reader *reader, const MDB_val *key,
				const MDB_val *value, uint32_t *first, uint32_t *n);

/* The body of a game, in the reader's memory until its next call. CHI_NONE: there is no such game.
 */
CHI_MUSTUSE int chi_bodies_read(struct chi_bodies_reader *reader, uint32_t number,
				struct chi_body *out);

/* ---- Writing ----------------------------------------------------------------------------- */

/* Appends and removes; keeps the games of the last chunk in memory until they fill one, or are
 * flushed. */
struct chi_bodies_writer;

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_bodies_writer_new(MDB_txn *txn, MDB_dbi dbi, struct chi_bodies_writer **out);
/* What was not flushed is lost. NULL is fine. */
void chi_bodies_writer_free(struct chi_bodies_writer *writer);

/* Appends a body, whose number must be greater than all before it: -CHI_EINVAL; so are one
 * without a shape and one over CHI_BODY_MAX. */
CHI_MUSTUSE int chi_bodies_append(struct chi_bodies_writer *writer, uint32_t number,
				  const struct chi_body *body);

/* Writes what is kept: before the commit, and before anything else reads or changes the tree. */
CHI_MUSTUSE int chi_bodies_flush(struct chi_bodies_writer *writer);

/* Takes a body out. CHI_NONE: there is no such game. */
CHI_MUSTUSE int chi_bodies_remove(MDB_txn *txn, MDB_dbi dbi, uint32_t number);
