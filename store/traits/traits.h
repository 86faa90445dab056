/* SPDX-License-Identifier: MIT */
/*
 * Lists of games by trait (chess/traits/traits.h, FORMAT.md, "Traits tree"): every game of the
 * archive is in the lists of all its traits, and in no others. Works on a transaction and a tree's
 * handle; statuses of ours.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/traits/traits.h"
#include "chistore/games.h"
#include "store/postings/postings.h"

/* ---- Reading ----------------------------------------------------------------------------- */

/* What is done with lists. */
struct chi_traits_visitor {
	/* Whether the games of a trait are asked for. */
	bool (*wants)(void *context, chi_trait trait);
	/* Some of its games, ascending, 1 or more, whose numbers are not held against the
	 * archive's; their moves are 0. A list comes in several calls
	 * if it is long. The walk ends with what is returned other than CHI_OK. */
	int (*take)(void *context, chi_trait trait, const struct chi_posting *games, size_t n);
	void *context;
};

/* Visits lists of the traits `from` to `to`, ascending; a kind's are chi_trait_make(kind, 0) to
 * chi_trait_make(kind + 1, 0) - 1. -CHI_ECORRUPT, -CHI_ENOMEM, -CHI_EIO. */
CHI_MUSTUSE int chi_traits_walk(MDB_txn *txn, MDB_dbi dbi, chi_trait from, chi_trait to,
				const struct chi_traits_visitor *visitor);

/* Verifies and decodes an entry of the tree, a list or a piece of one. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_traits_open(const MDB_val *key, const MDB_val *value, chi_trait *trait,
				struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES], size_t *n);

/* ---- Writing ----------------------------------------------------------------------------- */

/* Gathers games that come or go, for one tree; lives through transactions. One thread. */
struct chi_traits_writer;

/* Gathers in `memory` bytes at most, but one game's at least; the longest list takes 8 bytes a game
 * more as it is written. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_traits_writer_new(uint64_t memory, struct chi_traits_writer **out);
/* What was not flushed is lost. NULL is fine. */
void chi_traits_writer_free(struct chi_traits_writer *writer);

/* The traits of a game that comes, whose number is greater than all before, or goes: `n` of type
 * chi_trait, each once, one after the other, aligned or not. -CHI_ENOMEM, and what
 * chi_traits_flush returns. */
CHI_MUSTUSE int chi_traits_append(struct chi_traits_writer *writer, MDB_txn *txn, MDB_dbi dbi,
				  uint32_t number, const uint8_t *traits, size_t n);
CHI_MUSTUSE int chi_traits_remove(struct chi_traits_writer *writer, MDB_txn *txn, MDB_dbi dbi,
				  uint32_t number, const uint8_t *traits, size_t n);

/* Writes what is gathered: before the last commit, and before anything else reads or changes the
 * tree. -CHI_ECORRUPT: a list does not have what goes, or has what comes; -CHI_EFULL, ... */
CHI_MUSTUSE int chi_traits_flush(struct chi_traits_writer *writer, MDB_txn *txn, MDB_dbi dbi);
