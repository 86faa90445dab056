/* SPDX-License-Identifier: MIT */
/*
 * The bytes of records and strength entries (FORMAT.md) and their structs. Knows
 * nothing of LMDB. Every record has exactly one encoding; decoding refuses all others, trusts
 * no length. Checksums are the blocks' (store/block).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/record.h"
#include "chistore/games.h"
#include "chistore/types.h"

/* The longest value of the position tree. The largest record that types.h
 * allows takes 150 KiB, 36 of them plies; what is left is for sections of later versions. */
#define CHI_RECORD_BYTES_MAX (192u << 10)

/* An arena of this budget is enough to decode any record. */
#define CHI_RECORD_ARENA (1u << 20)

/* A list of games has at most so many entries in a record; a longer one is in the postings tree. */
#define CHI_LIST_HERE_MAX 16

/* What else a record holds, which is carried over when it is rewritten: the list of the archive's
 * games that reached the position, or how long it is in the postings tree; and sections that this
 * version does not know, bytes inside the value decoded. */
struct chi_record_rest {
	const uint8_t *bytes;
	size_t len;
	const struct chi_posting *games; /* at most CHI_LIST_HERE_MAX */
	size_t n_games;
	uint64_t listed;       /* entries in the postings tree, more than CHI_LIST_HERE_MAX; or 0 */
	uint64_t listed_games; /* and how many different games these are */
};

/* True if the list of games is in the postings tree: of a value whose first bytes are sound. */
bool chi_record_is_listed(const uint8_t *value, size_t len);

/* Statistic and counts alone; the rest of the value is not looked at. CHI_OK or -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_record_peek(const uint8_t *value, size_t len, uint16_t *chi2,
				struct chi_counts *counts);

/* Those, the deepest evaluation and the best move (types.h), without memory, into a row that holds
 * its key and nothing else. Reads no more than it needs, and checks what it reads. Evaluations that
 * are not seen are as if they were not there; NULL: all are seen. CHI_OK or -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_record_decode_strength(const uint8_t *value, size_t len,
					   const struct chi_evidence *evidence,
					   struct chi_row *out);

/* The same, and what filters ask for besides. */
struct chi_record_summary {
	struct chi_row row; /* its key is not filled */
	int32_t min_ply;    /* -1: not known */
	uint32_t engines;   /* that have evaluated the position (rank 0) */
};
CHI_MUSTUSE int chi_record_summarise(const uint8_t *value, size_t len,
				     const struct chi_evidence *evidence,
				     struct chi_record_summary *out);

/* The whole record, copied into memory of `arena`. `rest` may be NULL. CHI_OK, -CHI_ECORRUPT,
 * -CHI_ENOMEM (the arena's budget). */
CHI_MUSTUSE int chi_record_decode(const uint8_t *value, size_t len, struct chi_arena *arena,
				  struct chi_record *out, struct chi_record_rest *rest);

/*
 * Encodes into `out` (room for `size` bytes). Checks what the format demands: -CHI_EINVAL for
 * what no record may hold (order, text, move numbers), -CHI_ETOOBIG over a limit of types.h or
 * over `size`. `rest` may be NULL.
 */
CHI_MUSTUSE int chi_record_encode(const struct chi_record *record,
				  const struct chi_record_rest *rest, uint8_t *out, size_t size,
				  size_t *len);

/* ---- Strength entries ----------------------------------------------------------------------- */

#define CHI_STRENGTH_KEY_MAX   (2 + CHI_KEY_MAX)
#define CHI_STRENGTH_VALUE_MAX (2 * CHI_LINE_MAX)

/* The statistic's two bytes: hundredths, then the whole part. */
static inline void chi_chi2_bytes(uint16_t chi2, uint8_t out[2])
{
	out[0] = (uint8_t)(chi2 % 100);
	out[1] = (uint8_t)(chi2 / 100);
}

/* The reverse; CHI_CHI2_UNKNOWN if the bytes are no known statistic. */
static inline uint16_t chi_chi2_of(const uint8_t bytes[2])
{
	return bytes[0] > 99 ? CHI_CHI2_UNKNOWN : (uint16_t)(bytes[1] * 100 + bytes[0]);
}

/* The key of a known statistic; returns its length. */
size_t chi_strength_key(uint16_t chi2, const uint8_t *key, size_t key_len,
			uint8_t out[CHI_STRENGTH_KEY_MAX]);

/* The value of an entry with this line; returns its length. n_line at most CHI_LINE_MAX. */
size_t chi_strength_value(const chi_move *line, size_t n_line, uint8_t out[CHI_STRENGTH_VALUE_MAX]);

/* True if key and value are an entry that was written so: hundredths, the position key's
 * shape, whole moves. */
bool chi_strength_ok(const uint8_t *entry_key, size_t key_len, size_t len);

/* Order of the position tree: bytewise, the shorter first where one starts the other; LMDB's own
 * order of keys, only faster. */
int chi_position_compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);

/* Order of the strength tree: whole part, hundredths, position key bytewise. Total for bytes of
 * any length. */
int chi_strength_compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);

/* ---- Games ------------------------------------------------------------------------------- */

#define CHI_GAME_VALUE_MAX 11

/* The value of a game's entry; returns its length, 0 if the result is no result. */
size_t chi_game_encode(const struct chi_game_id *game, uint8_t out[CHI_GAME_VALUE_MAX]);

/* The reverse. -CHI_ECORRUPT: not an entry that was written so. */
CHI_MUSTUSE int chi_game_decode(const uint8_t *id, size_t id_len, const uint8_t *value, size_t len,
				struct chi_game_id *out);

/* ---- Checksums ---------------------------------------------------------------------------- */

/* XXH3-64 over `key` and `value` as if written one after the other. */
uint64_t chi_checksum(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len);
