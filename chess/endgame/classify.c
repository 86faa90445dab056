/* SPDX-License-Identifier: MIT */
/* Family and result of a position; endgame.h has the rules. */
#include "chess/endgame/endgame.h"

#include <endian.h>
#include <string.h>

#include "chess/endgame/known.h"
#include "chess/key.h"
#include "chess/position.h"

#define OFFICERS_MAX  4
#define LIGHT_SQUARES UINT64_C(0x55aa55aa55aa55aa)
#define FILE_A	      UINT64_C(0x0101010101010101)
#define FILE_H	      UINT64_C(0x8080808080808080)

/* The squares around each corner from which a king holds it. */
#define CORNER_A8 UINT64_C(0x0303000000000000)
#define CORNER_H8 UINT64_C(0xc0c0000000000000)
#define CORNER_A1 UINT64_C(0x0000000000000303)
#define CORNER_H1 UINT64_C(0x000000000000c0c0)

/* One side's pieces. */
struct army {
	uint8_t counts[CHI_KINDS];
	uint64_t king;
	uint64_t pawns;
	uint64_t bishops;
	int value; /* in pawns, as textbooks count */
	bool is_white;
};

/* ---- Families ------------------------------------------------------------------------------ */

/* Officers and pawns of both sides, and whether each has its king. */
static uint8_t choose_family(int minors, int rooks, int queens, int pawns, bool kings)
{
	static const uint8_t families[8] = {
		/* 1: minor pieces, 2: rooks, 4: queens */
		CHI_ENDGAME_PAWN,	CHI_ENDGAME_MINOR, CHI_ENDGAME_ROOK,
		CHI_ENDGAME_ROOK_MINOR, CHI_ENDGAME_QUEEN, CHI_ENDGAME_QUEEN_MINOR,
		CHI_ENDGAME_QUEEN_ROOK, CHI_ENDGAME_MIXED,
	};
	if (!kings || minors + rooks + queens > OFFICERS_MAX) {
		return CHI_ENDGAME_NONE;
	}
	if (minors + rooks + queens + pawns == 0) {
		return CHI_ENDGAME_BARE;
	}
	return families[(minors > 0) + 2 * (rooks > 0) + 4 * (queens > 0)];
}

uint8_t chi_endgame_family_by(const uint8_t counts[2][CHI_KINDS])
{
	const uint8_t *white = counts[CHI_WHITE];
	const uint8_t *black = counts[CHI_BLACK];
	return choose_family(
		white[CHI_KNIGHT] + white[CHI_BISHOP] + black[CHI_KNIGHT] + black[CHI_BISHOP],
		white[CHI_ROOK] + black[CHI_ROOK], white[CHI_QUEEN] + black[CHI_QUEEN],
		white[CHI_PAWN] + black[CHI_PAWN], white[CHI_KING] == 1 && black[CHI_KING] == 1);
}

/* Sixteen codes of a key, and one bit for each of them, the lowest of its nibble, if it is there
 * and of the kind; those of the other sixteen may be beside them. */
struct codes {
	uint64_t minors;
	uint64_t rooks;
	uint64_t queens;
	uint64_t white_kings;
	uint64_t black_kings;
	uint64_t others; /* pawns */
};

/*
 * All sixteen at once, by the bits of the codes (chess/key.h):
 *
 *	..0.1  minor pieces: 1 3 9 11		.11.  rooks: 6 7 14 15
 *	.101   queens: 5 13			0010  White's king; 1010 and 0000 Black's
 *
 * `n` are there, the first in the high half of the first byte.
 */
static void sort_codes(const uint8_t *bytes, int n, unsigned shift, struct codes *out)
{
	const uint64_t ones = UINT64_C(0x1111111111111111);
	uint64_t x;
	memcpy(&x, bytes, sizeof(x));
	x = le64toh(x);
	unsigned whole = 4 * ((unsigned)n & ~1u);
	uint64_t there = n >= 16 ? ones : ones & ((UINT64_C(1) << whole) - 1);
	there |= n < 16 && n % 2 != 0 ? UINT64_C(0x10) << whole : 0;
	uint64_t b0 = x & there;
	uint64_t b1 = x >> 1 & there;
	uint64_t b2 = x >> 2 & there;
	uint64_t b3 = x >> 3 & there;
	uint64_t minors = b0 & ~b2;
	uint64_t rooks = b1 & b2;
	uint64_t queens = b0 & b2 & ~b1;
	uint64_t white = b1 & ~b0 & ~b2 & ~b3;
	uint64_t black = (there & ~(b0 | b1 | b2 | b3)) | (b1 & b3 & ~b0 & ~b2);
	out->minors |= minors << shift;
	out->rooks |= rooks << shift;
	out->queens |= queens << shift;
	out->white_kings |= white << shift;
	out->black_kings |= black << shift;
	out->others |= (there & ~(minors | rooks | queens | white | black)) << shift;
}

uint8_t chi_endgame_family_of(const uint8_t *key)
{
	struct codes codes = {0};
	uint64_t mask;
	memcpy(&mask, key, sizeof(mask));
	int n = chi_popcount(mask);
	sort_codes(key + 8, n, 0, &codes);
	if (n > 16) {
		sort_codes(key + 16, n - 16, 1, &codes);
	}
	/* Most positions have more, which is said soonest. */
	int minors = chi_popcount(codes.minors);
	int rooks = chi_popcount(codes.rooks);
	int queens = chi_popcount(codes.queens);
	if (minors + rooks + queens > OFFICERS_MAX) {
		return CHI_ENDGAME_NONE;
	}
	bool kings = chi_popcount(codes.white_kings) == 1 && chi_popcount(codes.black_kings) == 1;
	return choose_family(minors, rooks, queens, codes.others != 0, kings);
}

/* ---- What squares say ---------------------------------------------------------------------- */

static int officers(const struct army *army)
{
	return army->counts[CHI_KNIGHT] + army->counts[CHI_BISHOP] + army->counts[CHI_ROOK] +
	       army->counts[CHI_QUEEN];
}

/* The corner where pawns of one rook's file promote, or 0 if there are others. */
static uint64_t promotion_corner(const struct army *army)
{
	if (army->pawns == 0) {
		return 0;
	}
	if ((army->pawns & ~FILE_A) == 0) {
		return army->is_white ? CORNER_A8 : CORNER_A1;
	}
	if ((army->pawns & ~FILE_H) == 0) {
		return army->is_white ? CORNER_H8 : CORNER_H1;
	}
	return 0;
}

/*
 * Rook's pawns on one file, and no bishop that can attack the corner where they promote: against
 * a lone king. On the corner or beside it that king can never be driven away: it can always step
 * into the corner, which only a king beside it could attack.
 */
static bool wrong_corner(const struct army *strong, const struct army *weak,
			 struct chi_endgame *out)
{
	uint64_t corner = promotion_corner(strong);
	if (corner == 0 || officers(strong) != strong->counts[CHI_BISHOP] || officers(weak) > 0 ||
	    weak->pawns != 0) {
		return false;
	}
	uint64_t last = corner & (CHI_RANK_1 | CHI_RANK_8) & (FILE_A | FILE_H);
	uint64_t colour = (last & LIGHT_SQUARES) != 0 ? LIGHT_SQUARES : ~LIGHT_SQUARES;
	if ((strong->bishops & colour) != 0) {
		return false;
	}
	out->note =
		strong->bishops != 0
			? "wrong bishop: drawn if the king reaches the corner of the rook's pawn"
			: "rook's pawn: drawn if the king reaches its corner";
	if ((weak->king & corner) != 0) {
		out->result = CHI_ENDGAME_DRAW;
		out->certain = true;
	}
	return true;
}

/* Whether an army without pawns can force mate on a lone king. */
static bool can_mate(const struct army *army)
{
	bool both = (army->bishops & LIGHT_SQUARES) != 0 && (army->bishops & ~LIGHT_SQUARES) != 0;
	return army->counts[CHI_QUEEN] + army->counts[CHI_ROOK] > 0 || both ||
	       (army->bishops != 0 && army->counts[CHI_KNIGHT] > 0) ||
	       army->counts[CHI_KNIGHT] >= 3;
}

static bool opposite_bishops(const struct army *a, const struct army *b)
{
	return a->counts[CHI_BISHOP] == 1 && b->counts[CHI_BISHOP] == 1 &&
	       ((a->bishops & LIGHT_SQUARES) == 0) != ((b->bishops & LIGHT_SQUARES) == 0);
}

/* True if the squares decide what is said. */
static bool by_squares(const struct chi_position *position, const struct army *strong,
		       const struct army *weak, struct chi_endgame *out)
{
	if (chi_position_insufficient(position)) {
		out->result = CHI_ENDGAME_DEAD;
		out->certain = true;
		return true;
	}
	if (wrong_corner(strong, weak, out)) {
		return true;
	}
	if (out->opposite_bishops && officers(strong) == 1 && officers(weak) == 1) {
		int more = strong->counts[CHI_PAWN] - weak->counts[CHI_PAWN];
		out->note = "bishops of opposite colours draw even a pawn or two behind";
		out->result = more <= 1 ? CHI_ENDGAME_DRAW : CHI_ENDGAME_OPEN;
		return true;
	}
	if (strong->counts[CHI_BISHOP] > 1 && strong->counts[CHI_BISHOP] == officers(strong) &&
	    strong->pawns == 0 && !can_mate(strong)) {
		out->note = "the bishops are on squares of one colour and cannot mate";
		return true;
	}
	return false;
}

/* ---- What material says -------------------------------------------------------------------- */

static uint8_t win_of(const struct army *army)
{
	return army->is_white ? CHI_ENDGAME_WHITE : CHI_ENDGAME_BLACK;
}

/* A queen against three pieces: none of the rules fits. */
static bool queen_against_many(const struct army *a, const struct army *b)
{
	return a->counts[CHI_QUEEN] > 0 && b->counts[CHI_QUEEN] == 0 && officers(b) >= 3;
}

/* Signatures that are in no table. */
static void by_rule(const struct army *strong, const struct army *weak, struct chi_endgame *out)
{
	int more = strong->value - weak->value;
	if (officers(weak) == 0 && weak->pawns == 0) {
		bool wins = can_mate(strong) || strong->counts[CHI_PAWN] >= 2 ||
			    (strong->pawns != 0 && officers(strong) > 0);
		out->result = wins ? win_of(strong) : CHI_ENDGAME_OPEN;
	} else if ((strong->pawns | weak->pawns) == 0 && !queen_against_many(strong, weak) &&
		   !queen_against_many(weak, strong)) {
		bool wins = more >= 5 && strong->counts[CHI_QUEEN] + strong->counts[CHI_ROOK] > 0;
		out->result = wins	 ? win_of(strong)
			      : more < 4 ? CHI_ENDGAME_DRAW
					 : CHI_ENDGAME_OPEN;
	}
}

static void by_table(const struct chi_known *known, const struct army *first,
		     const struct army *second, struct chi_endgame *out)
{
	out->result = known->usual == 'w'   ? win_of(first)
		      : known->usual == 'l' ? win_of(second)
		      : known->usual == 'd' ? CHI_ENDGAME_DRAW
					    : CHI_ENDGAME_OPEN;
	out->note = known->note;
}

/* ---- Together ------------------------------------------------------------------------------ */

static struct army army_of(const struct chi_position *position, int colour)
{
	static const int values[CHI_KINDS] = {1, 3, 3, 5, 9, 0};
	struct army army = {.is_white = colour == CHI_WHITE};
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		int n = chi_popcount(chi_position_pieces(position, colour, kind));
		army.counts[kind] = (uint8_t)n;
		army.value += n * values[kind];
	}
	army.king = chi_position_pieces(position, colour, CHI_KING);
	army.pawns = chi_position_pieces(position, colour, CHI_PAWN);
	army.bishops = chi_position_pieces(position, colour, CHI_BISHOP);
	return army;
}

/* Whether `a` is named before `b`: more value, else the greater pieces. */
static bool is_stronger(const struct army *a, const struct army *b)
{
	if (a->value != b->value) {
		return a->value > b->value;
	}
	for (int kind = CHI_QUEEN; kind >= CHI_PAWN; kind--) {
		if (a->counts[kind] != b->counts[kind]) {
			return a->counts[kind] > b->counts[kind];
		}
	}
	return a->is_white;
}

static void print_signature(const struct army *first, const struct army *second,
			    char out[CHI_MATERIAL_TEXT_SIZE])
{
	struct chi_material material;
	memcpy(material.white, first->counts, sizeof(material.white));
	memcpy(material.black, second->counts, sizeof(material.black));
	(void)chi_material_print(&material, out);
}

/* Finds the signature in either order; the sides change places to that of the table. */
static const struct chi_known *find_known(struct army *first, struct army *second,
					  struct chi_endgame *out)
{
	print_signature(first, second, out->signature);
	const struct chi_known *known = chi_known_find(out->signature);
	if (known != NULL) {
		return known;
	}
	print_signature(second, first, out->signature);
	known = chi_known_find(out->signature);
	if (known == NULL) {
		print_signature(first, second, out->signature);
		return NULL;
	}
	struct army other = *first;
	*first = *second;
	*second = other;
	return known;
}

void chi_endgame_classify(const struct chi_key *key, struct chi_endgame *out)
{
	struct chi_position position;
	memset(out, 0, sizeof(*out));
	if (chi_key_decode(key, &position, NULL) != CHI_OK) {
		return;
	}
	struct army first = army_of(&position, CHI_WHITE);
	struct army second = army_of(&position, CHI_BLACK);
	out->family = chi_endgame_family_of(key->bytes);
	if (out->family == CHI_ENDGAME_NONE) {
		return;
	}
	if (is_stronger(&second, &first)) {
		struct army other = first;
		first = second;
		second = other;
	}
	struct army strong = first;
	struct army weak = second;
	const struct chi_known *known = find_known(&first, &second, out);
	chi_endgame_name(first.counts, second.counts, out->name);
	out->first = first.is_white ? CHI_WHITE : CHI_BLACK;
	out->opposite_bishops = opposite_bishops(&strong, &weak);
	if (known != NULL && known->longest > 0) {
		out->has_figures = true;
		out->won = known->won;
		out->drawn = known->drawn;
		out->lost = known->lost;
		out->longest = known->longest;
	}
	if (by_squares(&position, &strong, &weak, out)) {
		return;
	}
	if (known != NULL) {
		by_table(known, &first, &second, out);
	} else {
		by_rule(&strong, &weak, out);
	}
}
