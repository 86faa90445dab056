/* SPDX-License-Identifier: MIT */
/*
 * Traits of a game: what some position or some move of it has, of a few kinds that many questions
 * can be answered by, or be asked of fewer games. Which traits a game has follows from its moves.
 *
 *    material   how many pieces of each kind there were in some position
 *    home       which pawns stood on their home squares, at some time
 *    event      a move or a position of a rare kind
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

/* A kind, and a value of 48 bits of that kind. Ascending ones of a kind are together. */
typedef uint64_t chi_trait;

enum chi_trait_kind {
	CHI_TRAIT_MATERIAL = 1,
	CHI_TRAIT_HOME = 2,
	CHI_TRAIT_EVENT = 3,
};

/* Values of events, a colour's own by adding it. */
enum chi_trait_event {
	CHI_TRAIT_O_O = 0,	  /* White, Black castled: the king to the g-file, */
	CHI_TRAIT_O_O_O = 2,	  /* or to the c-file */
	CHI_TRAIT_EP = 4,	  /* took en passant */
	CHI_TRAIT_MADE = 6,	  /* promoted: + 2 * (kind - CHI_KNIGHT), knight to queen */
	CHI_TRAIT_MATED = 14,	  /* was to move, and mated */
	CHI_TRAIT_STALEMATE = 16, /* was to move, and stalemated */
	CHI_TRAIT_DEAD = 18,	  /* no colour: a position that no moves can mate in */
	CHI_TRAIT_EVENTS = 19,
};

static inline chi_trait chi_trait_make(enum chi_trait_kind kind, uint64_t value)
{
	return (uint64_t)kind << 48 | value;
}

static inline enum chi_trait_kind chi_trait_kind_of(chi_trait trait)
{
	return (enum chi_trait_kind)(trait >> 48);
}

static inline uint64_t chi_trait_value(chi_trait trait)
{
	return trait & ((UINT64_C(1) << 48) - 1);
}

/* The value of material: 12 numbers of 4 bits, highest first: kings of White and Black; White's
 * queens, rooks, bishops, knights; Black's; pawns of White and Black. What is more than 15 is
 * 15. */
uint64_t chi_trait_material(const struct chi_position *position);

/* Numbers by colour and kind. */
void chi_trait_counts(uint64_t material, uint8_t counts[2][CHI_KINDS]);

/* The value of home: bits 0..7 White's pawns on a2..h2, 8..15 Black's on a7..h7. */
uint64_t chi_trait_home(const struct chi_position *position);

/* No game has more: of 32 men 31 can be taken and 32 promote, of 16 places at home each is left
 * once. */
#define CHI_TRAITS_MAX 128

/* The traits of one game, as they are gathered; one thread. */
struct chi_traits {
	size_t n;
	chi_trait trait[CHI_TRAITS_MAX]; /* each once */
	uint64_t home;			 /* of the last position, */
	uint64_t waiting;		 /* the men of the side that was not to move, */
	unsigned men;			 /* and how many men and pawns */
	bool promoted;			 /* by the last move */
	uint32_t events;
};

void chi_traits_begin(struct chi_traits *traits);

/* The next position, and the move played there, 0 if the game ended. */
void chi_traits_add(struct chi_traits *traits, const struct chi_position *position, chi_move move);

/* After the last. */
void chi_traits_end(struct chi_traits *traits);
