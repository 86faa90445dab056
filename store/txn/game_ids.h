/* SPDX-License-Identifier: MIT */
/* The ids of the games that are counted. */
#pragma once

#include <lmdb.h>
#include <stdint.h>

#include "chistore/types.h"

/* The game of that id, or CHI_NONE. */
CHI_MUSTUSE int chi_game_ids_find(MDB_txn *txn, MDB_dbi games, const uint8_t id[CHI_GAME_ID_SIZE],
				  struct chi_game_id *out);
