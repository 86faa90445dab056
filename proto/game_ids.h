/* SPDX-License-Identifier: MIT */
/*
 * Games, what is played from a position, and what became of an import, between our structs and
 * protobuf, both ways. A game as such travels packed, in CHI_GAME_BYTES bytes:
 *
 *    0                              16       17       18          20
 *   +--------------------------------+--------+--------+-----------+
 *   | id                             | result | flags  | max_ply LE|     flags: bit 0 pruned
 *   +--------------------------------+--------+--------+-----------+
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/pbc.h"

/* Writes `n` games; returns the place behind them. */
uint8_t *chi_put_packed_game_ids(uint8_t *at, const struct chi_game_id *games, size_t n);

/* Reads all of the bytes as games, at most `max`. Flaws name the field "games". */
CHI_MUSTUSE int chi_packed_game_ids_from(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
					 size_t max, const struct chi_game_id **out, size_t *n);

/* ---- Results ----------------------------------------------------------------------------- */

/* To the generated structs, with memory of the arena; -CHI_ENOMEM. */
CHI_MUSTUSE int chi_explore_to(struct chi_arena *arena, const struct chi_explore *from,
			       PB(ExploreResult) * *out);
CHI_MUSTUSE int chi_import_to(struct chi_arena *arena, const struct chi_response *from,
			      PB(ImportResult) * *out);
CHI_MUSTUSE int chi_game_ids_to(struct chi_arena *arena, const struct chi_response *from,
				PB(GameIdsResult) * *out);

/* And back; texts stay where protobuf-c has put them. */
CHI_MUSTUSE int chi_explore_from(struct chi_unpacker *u, const PB(ExploreResult) * from,
				 struct chi_explore *out);
CHI_MUSTUSE int chi_import_from(struct chi_unpacker *u, const PB(ImportResult) * from,
				struct chi_response *out);
CHI_MUSTUSE int chi_game_ids_from(struct chi_unpacker *u, const PB(GameIdsResult) * from,
				  struct chi_response *out);

/* Shared by PutResult as a result of its own and in an import's. */
void chi_put_result_to(const struct chi_put_result *from, PB(PutResult) * out);
void chi_put_result_from(const PB(PutResult) * from, struct chi_put_result *out);
