/* SPDX-License-Identifier: MIT */
/*
 * Which of some games may have a twin (search/twins.h), by their columns: only these need be
 * unpacked. Where dates or names are many or few are given, all are. What is chosen does not change
 * what twins are. Used by one thread, on one snapshot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/search.h"
#include "store/games/columns.h"
#include "store/names/names.h"

/* A game, by its columns. */
struct chi_twin_game {
	uint32_t number;
	uint32_t white; /* and black: names */
	uint32_t black;
	uint32_t date; /* year, month and day from high bits to low */
	uint16_t plies;
	uint16_t eco; /* and CHI_TWIN_CHOSEN: it was chosen */
};
#define CHI_TWIN_CHOSEN 0x8000u

/* Where a game is in an order. */
struct chi_twin_place {
	uint32_t key;
	uint32_t at;
};

/* Openings and lengths of games without a whole date: bits of a hash. */
#define CHI_TWIN_UNSURE_BITS (1u << 16)

/* Zeroed but for the first four. */
struct chi_twin_choice {
	const struct chi_twin_spec *spec;
	MDB_txn *txn;
	MDB_dbi names;
	uint32_t last; /* the greatest number that there may be */
	struct chi_twin_game *games;
	size_t n;
	size_t room;
	size_t n_chosen;
	bool begun;
	bool second;		     /* games without a whole date are looked at */
	struct chi_name_mask *masks; /* of names, by number */
	size_t n_masks;
	struct chi_twin_place *places; /* two arrays of n; the first one is sorted */
	size_t n_places;
	size_t at;
	size_t end;	/* of those near to the last one */
	size_t crowded; /* where the last crowd ends */
	uint8_t unsure[CHI_TWIN_UNSURE_BITS / 8];
};

void chi_twin_choice_deinit(struct chi_twin_choice *c);

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_twin_choice_add(struct chi_twin_choice *c,
				    const struct chi_columns_chunk *chunk, uint32_t row);

/* After all were added: CHI_OK: call again; CHI_NONE: they are chosen. */
CHI_MUSTUSE int chi_twin_choice_choose(struct chi_twin_choice *c, uint64_t *steps);

/* Whether game i was. */
bool chi_twin_choice_has(const struct chi_twin_choice *c, size_t i);

/* Gives back what choosing takes. */
void chi_twin_choice_stop(struct chi_twin_choice *c);

/* Bytes that they take, about. */
size_t chi_twin_choice_memory(const struct chi_twin_choice *c);

/* ---- Players and dates -------------------------------------------------------------------- */

/* Known to the day. */
bool chi_twin_date_is_whole(uint32_t date);

/* Whether two dates may be within so many days, as far as they are known. */
bool chi_twin_dates_near(uint32_t a, uint32_t b, uint32_t days);

/* Whether two players may be one: the same name, one joined to it, one that is alike, or one that
 * is not known. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_twin_names_alike(const struct chi_twin_choice *c, uint32_t a, uint32_t b,
				     bool *alike);
