/* SPDX-License-Identifier: MIT */
/* Positions follow from numbers: of the writer, of the generation or of the place in the set. */
#include "tests/system/generation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MARK_BIT (UINT32_C(1) << 29)

/*
 * The position number `id` (below 2^30): a king in each lower and upper corner and a white knight
 * on square 8 + i for each bit i of the number. Different numbers are different positions.
 */
static struct chi_key make_key(uint32_t id)
{
	struct chi_key key;
	struct chi_fault fault = {""};
	uint64_t knights = (uint64_t)id << 8;
	uint64_t white_king = 1;
	uint64_t black_king = UINT64_C(1) << 63;
	struct chi_board board = {
		.white = knights | white_king,
		.black = black_king,
		.knights = knights,
		.kings = white_king | black_king,
		.en_passant = -1,
		.black_to_move = (id & 1) != 0,
	};
	if (chi_key_from_board(&board, &key, &fault) != CHI_OK) {
		fprintf(stderr, "hammer: position %" PRIu32 ": %s\n", id, fault.text);
		abort();
	}
	return key;
}

struct chi_key set_key(uint64_t writer, uint64_t slot)
{
	return make_key((uint32_t)((writer + 1) << 24 | slot));
}

struct chi_key mark_key(uint64_t writer, uint64_t generation)
{
	return make_key((uint32_t)(MARK_BIT | writer << 24 | generation));
}

struct chi_key game_key(uint64_t adder)
{
	return set_key(adder, SET);
}

static uint16_t chi2_of(uint64_t generation)
{
	return (uint16_t)(1 + generation * 7919 % CHI_CHI2_MAX);
}

struct chi_put_entry make_put(const struct chi_key *key, uint64_t generation)
{
	struct chi_put_entry put = {.key = *key, .parts = CHI_PUT_CHI2 | CHI_PUT_COUNTS};
	put.record.chi2 = chi2_of(generation);
	put.record.counts.white = generation;
	return put;
}

bool row_is(const struct chi_row *row, uint64_t generation)
{
	return row->found && row->counts.white == generation && row->chi2 == chi2_of(generation);
}

bool one_generation(const struct chi_row *rows, uint64_t writer, uint64_t *generation)
{
	uint64_t first = rows[0].counts.white;
	for (size_t i = 0; i < SET; i++) {
		bool same = first == 0 ? !rows[i].found : row_is(&rows[i], first);
		if (!same) {
			fprintf(stderr,
				"hammer: torn: writer %" PRIu64
				", position 0 is of generation %" PRIu64
				", position %zu of %" PRIu64 "\n",
				writer, first, i, rows[i].counts.white);
			return false;
		}
	}
	*generation = first;
	return true;
}
