/* SPDX-License-Identifier: MIT */
/* The numbers are made as Stockfish makes them, whenever they are needed. */
#include "formats/evals/stockfish.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"
#include "chess/movegen.h"

#define SEED 1070372

#define MATE	   32000
#define MATE_PLIES 246
#define TABLE	   (MATE - MATE_PLIES - 1)
#define TABLE_LOW  (TABLE - MATE_PLIES)
#define TABLE_CP   20000

enum move_kind {
	PROMOTION = 1,
	EN_PASSANT = 2,
	CASTLING = 3,
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static uint64_t highest_bit(uint64_t number)
{
	return UINT64_C(1) << (63 - __builtin_clzll(number));
}

/* Gauss: the numbers are independent, and so each leaves one of its own. */
static void make_basis(struct chi_sf_keys *keys)
{
	for (size_t i = 0; i < CHI_COUNT(keys->basis); i++) {
		uint64_t number = keys->clock[i + 1];
		for (size_t k = 0; k < i; k++) {
			number ^= (number & highest_bit(keys->basis[k])) != 0 ? keys->basis[k] : 0;
		}
		for (size_t k = 0; k < i; k++) {
			keys->basis[k] ^= (keys->basis[k] & highest_bit(number)) != 0 ? number : 0;
		}
		keys->basis[i] = number;
	}
}

void chi_sf_keys_init(struct chi_sf_keys *keys)
{
	uint64_t state = SEED;
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		for (int kind = CHI_PAWN; kind < CHI_KINDS; kind++) {
			for (int square = 0; square < 64; square++) {
				keys->piece[colour][kind][square] = next_random(&state);
			}
		}
	}
	for (size_t i = 0; i < CHI_COUNT(keys->ep); i++) {
		keys->ep[i] = next_random(&state);
	}
	for (size_t i = 0; i < CHI_COUNT(keys->castling); i++) {
		keys->castling[i] = next_random(&state);
	}
	keys->black = next_random(&state);
	keys->clock[0] = 0;
	for (size_t i = 1; i < CHI_COUNT(keys->clock); i++) {
		/* The number of eight plies. */
		keys->clock[i] =
			(i - 1) * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	}
	make_basis(keys);
}

uint64_t chi_sf_reduce(const struct chi_sf_keys *keys, uint64_t key)
{
	for (size_t i = 0; i < CHI_COUNT(keys->basis); i++) {
		key ^= (key & highest_bit(keys->basis[i])) != 0 ? keys->basis[i] : 0;
	}
	return key;
}

/* A right is short if its rook is beyond the king: so it is in Chess960, too. */
static size_t castling_rights(const struct chi_position *position)
{
	size_t rights = 0;
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		int king = chi_position_king(position, colour);
		uint64_t rooks = position->castle & position->colour[colour];
		while (rooks != 0) {
			int is_long = chi_pop(&rooks) < king ? 1 : 0;
			rights |= (size_t)1 << (2 * colour + is_long);
		}
	}
	return rights;
}

uint64_t chi_sf_key(const struct chi_sf_keys *keys, const struct chi_position *position, int ep)
{
	uint64_t key = keys->castling[castling_rights(position)];
	key ^= position->side == CHI_BLACK ? keys->black : 0;
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		for (int kind = CHI_PAWN; kind < CHI_KINDS; kind++) {
			uint64_t set = chi_position_pieces(position, colour, kind);
			while (set != 0) {
				key ^= keys->piece[colour][kind][chi_pop(&set)];
			}
		}
	}
	if (ep != CHI_NO_SQUARE && (chi_attacks.pawn[position->side ^ 1][ep] &
				    chi_position_pieces(position, position->side, CHI_PAWN)) != 0) {
		key ^= keys->ep[ep & 7];
	}
	return key;
}

int chi_sf_move(const struct chi_position *position, uint16_t bits, chi_move *out)
{
	bool promotes = bits >> 14 == PROMOTION;
	int piece = promotes ? (bits >> 12 & 3) + CHI_KNIGHT : 0;
	chi_move move = chi_move_make(bits >> 6 & 63, bits & 63, piece);
	if (!chi_movegen_is_legal(position, move)) {
		return -CHI_EMOVE;
	}
	*out = move;
	return CHI_OK;
}

uint16_t chi_sf_bits(const struct chi_position *position, chi_move move)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	int kind = 0;
	int piece = 0;
	if (chi_move_promotion(move) != 0) {
		kind = PROMOTION;
		piece = chi_move_promotion(move) - CHI_KNIGHT;
	} else if (chi_position_is_castling(position, move)) {
		kind = CASTLING;
	} else if (to == position->ep && (position->kind[CHI_PAWN] & chi_bit(from)) != 0) {
		kind = EN_PASSANT;
	}
	return (uint16_t)(kind << 14 | piece << 12 | from << 6 | to);
}

/* Of the material in pawns, 58 being 1; fitted by Stockfish's authors to their games. */
static double material_of(const struct chi_position *position)
{
	static const int worth[CHI_KINDS] = {1, 3, 3, 5, 9, 0};
	int material = 0;
	for (int kind = CHI_PAWN; kind < CHI_KINDS; kind++) {
		material += worth[kind] * __builtin_popcountll(position->kind[kind]);
	}
	material = material < 17 ? 17 : material > 78 ? 78 : material;
	return material / 58.0;
}

static double pawn_of(double m)
{
	return ((-37.45051876 * m + 121.19101539) * m - 132.78783573) * m + 420.70576692;
}

int chi_sf_score(const struct chi_position *position, int32_t value, struct chi_eval *eval)
{
	if (value < -MATE || value > MATE) {
		return CHI_NONE;
	}
	int32_t size = value < 0 ? -value : value;
	eval->is_mate = size > TABLE;
	if (eval->is_mate) {
		eval->score = value > 0 ? (MATE - size + 1) / 2 : -((MATE - size) / 2);
	} else if (size >= TABLE_LOW) {
		int32_t cp = TABLE_CP - (TABLE - size);
		eval->score = value > 0 ? cp : -cp;
	} else {
		eval->score = (int32_t)lround(100.0 * value / pawn_of(material_of(position)));
	}
	return CHI_OK;
}

int32_t chi_sf_value(const struct chi_position *position, const struct chi_eval *eval)
{
	int32_t size = eval->score < 0 ? -eval->score : eval->score;
	int32_t value;
	if (eval->is_mate) {
		int32_t plies = eval->score > 0 ? 2 * size - 1 : 2 * size;
		value = MATE - (plies < MATE_PLIES ? plies : MATE_PLIES);
		return eval->score > 0 ? value : -value;
	}
	if (size > TABLE_CP - MATE_PLIES && size <= TABLE_CP) {
		value = TABLE - (TABLE_CP - size);
	} else {
		double exact = size * pawn_of(material_of(position)) / 100;
		value = exact < TABLE_LOW - 1 ? (int32_t)lround(exact) : TABLE_LOW - 1;
	}
	return eval->score < 0 ? -value : value;
}

int chi_sf_percent(const struct chi_position *position, int32_t value)
{
	double m = material_of(position);
	double a = pawn_of(m);
	double b = ((90.26261072 * m - 137.26549898) * m + 71.10130540) * m + 51.35259597;
	double v = value < -4000 ? -4000 : value > 4000 ? 4000 : value;
	double wins = 1 / (1 + exp((a - v) / b));
	double losses = 1 / (1 + exp((a + v) / b));
	return (int)lround(50 * (1 + wins - losses));
}
