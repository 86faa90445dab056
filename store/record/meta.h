/* SPDX-License-Identifier: MIT */
/* The two records of the meta tree: the stamp, written once, and the state, written by every
 * write transaction (FORMAT.md). */
#pragma once

#include <lmdb.h>
#include <stdint.h>

#include "chistore/games.h"
#include "chistore/types.h"

#define CHI_FORMAT_MAJOR 5
#define CHI_FORMAT_MINOR 0

/* Read-only compatible feature: a published copy, which is never written. */
#define CHI_FEATURE_PUBLISHED UINT64_C(1)

#define CHI_STAMP_SIZE 112
#define CHI_STATE_SIZE 176
/* Without what was added last, which is read as zeros. */
#define CHI_STATE_SIZE_LEAST 144

struct chi_stamp {
	uint16_t major;
	uint16_t minor;
	enum chi_statistic statistic;
	enum chi_keep keep;
	uint64_t incompatible;	/* feature bits: unknown ones forbid opening, */
	uint64_t ro_compatible; /* unknown ones forbid writing, */
	uint64_t compatible;	/* unknown ones are harmless */
	uint8_t uuid[16];
	uint64_t created;
	char creator[32];
};

/* Stored as it is: numbers of 8 bytes. */
struct chi_store_state {
	uint64_t sequence;
	struct chi_counts base;
	struct chi_counts games; /* of the identities tree, by result */
	uint64_t positions;	 /* entries of the position tree, */
	uint64_t known;		 /* and of the strength tree */
	uint64_t position_bytes; /* that the blocks of the position tree take, of CHI_BLOCK_ROOM
				    each at most, */
	uint64_t strength_bytes; /* and those of the strength tree */
	uint64_t last_game;	 /* the highest number that a game was given; 0: none was */
	uint64_t txn;		 /* LMDB's number of the transaction that wrote it */
	uint64_t horizon; /* the latest transaction of a client that was forgotten; 0: none was */
	uint64_t partial; /* 0: each game that is kept is in the lists of all its positions; 1: some
			     may not be */
	struct chi_expectation expected; /* of a performance store */
};

/* Notes that a game has the number. */
static inline void chi_state_number(struct chi_store_state *state, uint32_t number)
{
	state->last_game = number > state->last_game ? number : state->last_game;
}

/* The game is in the lists of all its positions, or it is not kept. */
static inline bool chi_game_is_whole(const struct chi_game_id *game)
{
	return game->number == 0 || (!game->pruned && game->max_ply == 0);
}

/* Notes a game that is counted, with its number. */
static inline void chi_state_game(struct chi_store_state *state, const struct chi_game_id *game)
{
	chi_state_number(state, game->number);
	state->partial |= chi_game_is_whole(game) ? 0 : 1;
}

/* -CHI_EINVAL: no store can have the statistic and keep that. */
CHI_MUSTUSE int chi_statistic_allowed(enum chi_statistic statistic, enum chi_keep keep,
				      struct chi_fault *fault);

/* Fills a stamp for a store made now by this program. -CHI_EIO if there is no randomness. */
CHI_MUSTUSE int chi_stamp_new(enum chi_statistic statistic, enum chi_keep keep,
			      struct chi_stamp *out);

void chi_stamp_encode(const struct chi_stamp *stamp, uint8_t out[CHI_STAMP_SIZE]);

/* -CHI_ENOSTORE (not our magic), -CHI_EVERSION, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_stamp_decode(const uint8_t *bytes, size_t len, bool readonly,
				 struct chi_stamp *out, struct chi_fault *fault);

void chi_state_encode(const struct chi_store_state *state, uint8_t out[CHI_STATE_SIZE]);
CHI_MUSTUSE int chi_state_decode(const uint8_t *bytes, size_t len, struct chi_store_state *out);

/* Reading and writing in a transaction. */
CHI_MUSTUSE int chi_stamp_get(MDB_txn *txn, MDB_dbi meta, bool readonly, struct chi_stamp *out,
			      struct chi_fault *fault);
CHI_MUSTUSE int chi_stamp_put(MDB_txn *txn, MDB_dbi meta, const struct chi_stamp *stamp);
CHI_MUSTUSE int chi_state_get(MDB_txn *txn, MDB_dbi meta, struct chi_store_state *out);
/* With the number of `txn` instead of state->txn. Returns LMDB's code: the caller knows the path a
 * fault names. */
CHI_MUSTUSE int chi_state_put(MDB_txn *txn, MDB_dbi meta, const struct chi_store_state *state);
