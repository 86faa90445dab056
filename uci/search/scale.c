/* SPDX-License-Identifier: MIT */
/*
 * How much an advantage is worth in an endgame, from the table of endgames: figures where it has
 * them, else the usual result. Both depend on the material alone, and are remembered; where squares
 * decide (a rook's pawn with or without the right bishop) the position is asked about each time.
 */
#include <string.h>

#include "chess/endgame/endgame.h"
#include "chess/key.h"
#include "uci/search/evaluate.h"

#define WHOLE	   64
#define PIECES_MAX 4 /* beside kings and pawns: with more there is no endgame */

#define LIGHT	   UINT64_C(0x55aa55aa55aa55aa)
#define ROOK_FILES UINT64_C(0x8181818181818181)

static uint64_t material_of(const struct chi_position *p)
{
	uint64_t out = 0;
	for (int colour = 0; colour < 2; colour++) {
		uint64_t bishops = chi_position_pieces(p, colour, CHI_BISHOP);
		for (int kind = CHI_PAWN; kind <= CHI_QUEEN; kind++) {
			uint64_t pieces = chi_position_pieces(p, colour, kind);
			out = out << 4 | (uint64_t)(chi_popcount(pieces) & 15);
		}
		out = out << 4 | (uint64_t)(chi_popcount(bishops & LIGHT) & 15);
	}
	return out + 1;
}

/* Whose figures they are: the side named first in the signature. It is White's unless the first
 * side's pieces are not White's. */
static int first_side(const struct chi_position *p, const struct chi_endgame *endgame)
{
	static const char letters[] = CHI_KIND_LETTERS;
	char text[CHI_MATERIAL_TEXT_SIZE];
	size_t n = 0;
	text[n++] = 'K';
	for (int kind = CHI_QUEEN; kind >= CHI_PAWN; kind--) {
		int count = chi_popcount(chi_position_pieces(p, CHI_WHITE, kind));
		for (int i = 0; i < count && n < sizeof(text) - 1; i++) {
			text[n++] = letters[kind];
		}
	}
	bool white = strncmp(endgame->signature, text, n) == 0 &&
		     (endgame->signature[n] == 'v' || endgame->signature[n] == '\0');
	return white ? CHI_WHITE : CHI_BLACK;
}

static int clip(int scale)
{
	return scale < 4 ? 4 : scale > WHOLE ? WHOLE : scale;
}

/* Of a lead of `colour`. */
static int scale_of(const struct chi_position *p, const struct chi_endgame *endgame, int colour)
{
	int wins = colour == CHI_WHITE ? CHI_ENDGAME_WHITE : CHI_ENDGAME_BLACK;
	if (endgame->result == CHI_ENDGAME_DEAD ||
	    (endgame->result == CHI_ENDGAME_DRAW && endgame->certain)) {
		return 0;
	}
	if (endgame->has_figures) {
		int won = first_side(p, endgame) == colour ? endgame->won : endgame->lost;
		return clip(won * WHOLE / 600);
	}
	if (endgame->opposite_bishops) {
		return WHOLE / 2;
	}
	if (endgame->result == CHI_ENDGAME_DRAW) {
		return chi_position_pieces(p, colour, CHI_PAWN) != 0 ? WHOLE / 4 : WHOLE / 32;
	}
	return endgame->result == wins || endgame->result == CHI_ENDGAME_OPEN ? WHOLE : WHOLE / 2;
}

static bool squares_decide(const struct chi_position *p)
{
	uint64_t pawns = p->kind[CHI_PAWN];
	return pawns != 0 && (pawns & ~ROOK_FILES) == 0 &&
	       (p->kind[CHI_KNIGHT] | p->kind[CHI_ROOK] | p->kind[CHI_QUEEN]) == 0;
}

static void classify(const struct chi_position *p, uint8_t scale[2])
{
	struct chi_key key;
	struct chi_endgame endgame;
	chi_key_encode(p, &key);
	chi_endgame_classify(&key, &endgame);
	for (int colour = 0; colour < 2; colour++) {
		scale[colour] = (uint8_t)(endgame.family == CHI_ENDGAME_NONE
						  ? WHOLE
						  : scale_of(p, &endgame, colour));
	}
}

int chi_evaluate_scale(const struct chi_position *p, int colour, struct chi_classes *classes)
{
	uint64_t pieces =
		p->kind[CHI_KNIGHT] | p->kind[CHI_BISHOP] | p->kind[CHI_ROOK] | p->kind[CHI_QUEEN];
	uint8_t scale[2];
	if (chi_popcount(pieces) > PIECES_MAX) {
		return WHOLE;
	}
	if (squares_decide(p)) {
		classify(p, scale);
		return scale[colour];
	}
	uint64_t material = material_of(p);
	size_t i = material * UINT64_C(0x9e3779b97f4a7c15) >> 52;
	if (classes->seen[i].material != material) {
		classify(p, classes->seen[i].scale);
		classes->seen[i].material = material;
	}
	return classes->seen[i].scale[colour];
}
