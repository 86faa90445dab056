/* SPDX-License-Identifier: MIT */
#include "chess/traits/traits.h"

#include "chess/moment/moment.h"

/* Pieces in the order of a value of material, but kings and pawns, which are its ends. */
static const uint8_t officers[] = {CHI_QUEEN, CHI_ROOK, CHI_BISHOP, CHI_KNIGHT};

static uint64_t count(const struct chi_position *position, int colour, int kind)
{
	unsigned n = (unsigned)chi_popcount(chi_position_pieces(position, colour, kind));
	return n < 15 ? n : 15;
}

uint64_t chi_trait_material(const struct chi_position *position)
{
	uint64_t value =
		count(position, CHI_WHITE, CHI_KING) << 4 | count(position, CHI_BLACK, CHI_KING);
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		for (size_t i = 0; i < sizeof(officers); i++) {
			value = value << 4 | count(position, colour, officers[i]);
		}
	}
	return value << 8 | count(position, CHI_WHITE, CHI_PAWN) << 4 |
	       count(position, CHI_BLACK, CHI_PAWN);
}

void chi_trait_counts(uint64_t material, uint8_t counts[2][CHI_KINDS])
{
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		counts[colour][CHI_KING] = material >> (44 - 4 * colour) & 15;
		counts[colour][CHI_PAWN] = material >> (4 - 4 * colour) & 15;
		for (size_t i = 0; i < sizeof(officers); i++) {
			counts[colour][officers[i]] =
				material >> (36 - 16 * colour - 4 * (int)i) & 15;
		}
	}
}

uint64_t chi_trait_home(const struct chi_position *position)
{
	return (chi_position_pieces(position, CHI_WHITE, CHI_PAWN) >> 8 & 0xff) |
	       (chi_position_pieces(position, CHI_BLACK, CHI_PAWN) >> 40 & 0xff00);
}

void chi_traits_begin(struct chi_traits *traits)
{
	traits->n = 0;
	traits->events = 0;
}

/* Men and pawns at home get fewer only, but numbers above 15 are one in a trait. */
static void add_trait(struct chi_traits *traits, enum chi_trait_kind kind, uint64_t value)
{
	chi_trait trait = chi_trait_make(kind, value);
	for (size_t i = 0; i < traits->n; i++) {
		if (traits->trait[i] == trait) {
			return;
		}
	}
	if (traits->n < CHI_TRAITS_MAX) {
		traits->trait[traits->n++] = trait;
	}
}

/* What a move tells, and the end of a game. */
static uint32_t events_of(const struct chi_position *position, chi_move move)
{
	struct chi_moment moment;
	unsigned side = position->side;
	if (move == 0) {
		chi_moment_init(&moment, position, 0, NULL);
		return chi_moment_mate(&moment)	       ? 1u << (CHI_TRAIT_MATED + side)
		       : chi_moment_stalemate(&moment) ? 1u << (CHI_TRAIT_STALEMATE + side)
						       : 0;
	}
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	if ((position->kind[CHI_PAWN] & chi_bit(from)) != 0) {
		int made = chi_move_promotion(move);
		return made != 0 ? 1u << (CHI_TRAIT_MADE + 2 * (made - CHI_KNIGHT) + (int)side)
		       : to == position->ep ? 1u << (CHI_TRAIT_EP + side)
					    : 0;
	}
	return !chi_position_is_castling(position, move) ? 0
	       : to > from				 ? 1u << (CHI_TRAIT_O_O + side)
							 : 1u << (CHI_TRAIT_O_O_O + side);
}

/* Within a game, material changes with the number of men or of pawns. */
static void add_material(struct chi_traits *traits, const struct chi_position *position)
{
	unsigned men = (unsigned)chi_popcount(chi_position_occupied(position)) << 8 |
		       (unsigned)chi_popcount(position->kind[CHI_PAWN]);
	if (traits->n == 0 || men != traits->men) {
		traits->men = men;
		traits->events |= (uint32_t)chi_position_insufficient(position) << CHI_TRAIT_DEAD;
		add_trait(traits, CHI_TRAIT_MATERIAL, chi_trait_material(position));
	}
}

void chi_traits_add(struct chi_traits *traits, const struct chi_position *position, chi_move move)
{
	bool first = traits->n == 0;
	/* No one was taken, as the men of the side to move are where they were. */
	if (first || traits->promoted || position->colour[position->side] != traits->waiting) {
		add_material(traits, position);
	}
	traits->waiting = position->colour[position->side ^ 1];
	traits->promoted = chi_move_promotion(move) != 0;
	uint64_t home = chi_trait_home(position);
	if (first || home != traits->home) {
		traits->home = home;
		add_trait(traits, CHI_TRAIT_HOME, home);
	}
	traits->events |= events_of(position, move);
}

void chi_traits_end(struct chi_traits *traits)
{
	for (uint32_t left = traits->events; left != 0; left &= left - 1) {
		add_trait(traits, CHI_TRAIT_EVENT, (unsigned)__builtin_ctz(left));
	}
}
