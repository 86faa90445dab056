/* SPDX-License-Identifier: MIT */
/*
 * A filter's questions about columns, made ready for one snapshot: names are numbers, and a chunk's
 * rows are tested column by column. Private to the room; thread safe once it is made.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/bitboard.h"
#include "search/filter/terms.h"
#include "store/archive.h"
#include "store/games/columns.h"

/* Rows of a chunk as bits. */
#define CHI_HIT_WORDS (CHI_COLUMNS_ROWS / 64)
struct chi_hits {
	uint64_t words[CHI_HIT_WORDS];
};

/* How many rows there are. */
static inline uint64_t chi_hits_count(const struct chi_hits *hits)
{
	uint64_t n = 0;
	for (size_t w = 0; w < CHI_HIT_WORDS; w++) {
		n += hits->words[w] != 0 ? (unsigned)chi_popcount(hits->words[w]) : 0;
	}
	return n;
}

struct chi_tester;

/* `terms` must outlive it; those that are not about columns are passed over. -CHI_ENOMEM,
 * -CHI_ECORRUPT, -CHI_EIO. */
CHI_MUSTUSE int chi_tester_new(const struct chi_archive_view *view, const struct chi_terms *terms,
			       struct chi_tester **out);
/* NULL is fine. */
void chi_tester_free(struct chi_tester *tester);

/* True if it asks for anything; if term `i` is about columns. */
bool chi_tester_asks(const struct chi_tester *tester);
bool chi_tester_has(const struct chi_tester *tester, size_t i);

/* The rows whose games are there. Bits after the last row are 0, here and in the next. */
void chi_tester_there(const struct chi_columns_chunk *chunk, struct chi_hits *hits);

/* The rows that fit term `i`, which is about columns, with its `not`. */
void chi_tester_run(const struct chi_tester *tester, size_t i,
		    const struct chi_columns_chunk *chunk, struct chi_hits *hits);

/* The text of the i-th name that is in no game; NULL: there are no more. */
const char *chi_tester_unknown(const struct chi_tester *tester, size_t i);
