/* SPDX-License-Identifier: MIT */
#include "chess/moment/features.h"

#include <string.h>

#include "base/num.h"
#include "chess/moment/reading.h"
#include "chess/pattern/contents.h"

#define FILE_A	  UINT64_C(0x0101010101010101)
#define FILE_H	  UINT64_C(0x8080808080808080)
#define COUNT_MAX 64

static const char *const names[] = {"attacked", "occupied", "pinned",
				    "passed",	"isolated", "doubled"};

/* ---- Reading ------------------------------------------------------------------------------ */

static int read_pieces(struct chi_condition_text *reader, uint32_t of, uint32_t *set)
{
	return chi_condition_pieces(reader, of,
				    of == SET_PAWNS
					    ? "only pawns are this: P, p, or nothing for both"
					    : "pieces are expected, not an empty square",
				    set);
}

static int read_where(struct chi_condition_text *reader, struct chi_feature *out)
{
	int rc = CHI_OK;
	out->on = SET_ALL;
	if (!chi_condition_squares(reader, &out->squares)) {
		out->squares = UINT64_MAX;
		rc = read_pieces(reader, SET_PIECES, &out->on);
	}
	out->around = rc == CHI_OK && *reader->at == '+';
	reader->at += out->around;
	return rc;
}

static int read_by(struct chi_condition_text *reader)
{
	if (strncmp(reader->at, " by ", 4) != 0) {
		return chi_condition_refuse(reader,
					    "after the squares comes 'by', and what attacks "
					    "them: h7 by A, k+ by [QR] 2..");
	}
	reader->at += 4;
	return CHI_OK;
}

/* A number up to the maximum at *at, or *out stays. */
static void take_count(const char **at, uint64_t *out)
{
	size_t len = strspn(*at, "0123456789");
	if (len > 0 && chi_num_u64(*at, len, COUNT_MAX, out) == CHI_OK) {
		*at += len;
	}
}

/* " 2..", " ..3", " 1..2", " 2", or nothing for 1 and more. */
static int read_count(struct chi_condition_text *reader, struct chi_feature *out)
{
	uint64_t min = 0;
	uint64_t max = COUNT_MAX;
	out->min = 1;
	out->max = COUNT_MAX;
	if (*reader->at == '\0') {
		return CHI_OK;
	}
	const char *at = reader->at + (*reader->at == ' ');
	const char *begin = at;
	take_count(&at, &min);
	if (strncmp(at, "..", 2) == 0) {
		at += 2;
		take_count(&at, &max);
	} else {
		max = min;
	}
	if (*reader->at != ' ' || at == begin || *at != '\0' || min > max) {
		return chi_condition_refuse(reader,
					    "a range of numbers is expected, or nothing: 2.., "
					    "..3, 1..2, 2, up to 64");
	}
	reader->at = at;
	out->min = (uint8_t)min;
	out->max = (uint8_t)max;
	return CHI_OK;
}

static int read_pawns(struct chi_condition_text *reader, struct chi_feature *out)
{
	int rc = CHI_OK;
	out->on = SET_PAWNS;
	/* In a4 the letter is a file, in a*4 it is a piece. */
	const char *begin = reader->at;
	bool taken = chi_condition_squares(reader, &out->squares);
	if (!taken || (*reader->at != '\0' && strchr("Aa", *begin) != NULL)) {
		reader->at = begin;
		rc = read_pieces(reader, SET_PAWNS, &out->on);
		if (rc == CHI_OK && !chi_condition_squares(reader, &out->squares)) {
			rc = chi_condition_refuse(reader,
						  "squares are expected: d5, d*, ** or a..c4..5");
		}
	}
	return rc == CHI_OK && *reader->at != '\0'
		       ? chi_condition_refuse(reader, "nothing more is possible after the squares")
		       : rc;
}

int chi_feature_parse(enum chi_feature_kind kind, const char *text, struct chi_feature *out,
		      struct chi_fault *fault)
{
	struct chi_condition_text reader = {names[kind], text, text, fault};
	*out = (struct chi_feature){.kind = (uint8_t)kind};
	int rc = CHI_OK;
	switch (kind) {
	case CHI_FEATURE_ATTACKED:
		rc = read_where(&reader, out);
		rc = rc == CHI_OK ? read_by(&reader) : rc;
		rc = rc == CHI_OK ? read_pieces(&reader, SET_PIECES, &out->by) : rc;
		return rc == CHI_OK ? read_count(&reader, out) : rc;
	case CHI_FEATURE_OCCUPIED:
		rc = read_where(&reader, out);
		rc = rc == CHI_OK ? read_by(&reader) : rc;
		rc = rc == CHI_OK ? read_pieces(&reader, SET_ALL, &out->by) : rc;
		return rc == CHI_OK && *reader.at != '\0'
			       ? chi_condition_refuse(&reader,
						      "nothing more is possible after the pieces")
			       : rc;
	case CHI_FEATURE_PINNED:
		rc = read_pieces(&reader, SET_PIECES, &out->on);
		return rc == CHI_OK ? read_count(&reader, out) : rc;
	default:
		return read_pawns(&reader, out);
	}
}

int chi_feature_shift(struct chi_feature *feature, struct chi_shift shift)
{
	return chi_squares_shift(&feature->squares, shift) ? CHI_OK : CHI_NONE;
}

/* ---- Fitting ------------------------------------------------------------------------------ */

/* The squares on which pieces of a set stand. */
static uint64_t squares_of(const struct chi_position *position, uint32_t set)
{
	uint64_t squares = 0;
	for (uint32_t left = set & SET_PIECES; left != 0; left &= left - 1) {
		int piece = __builtin_ctz(left);
		squares |= chi_position_pieces(position, piece / CHI_KINDS, piece % CHI_KINDS);
	}
	return squares;
}

static uint64_t squares_around(uint64_t squares)
{
	uint64_t around = 0;
	while (squares != 0) {
		around |= chi_attacks.king[chi_pop(&squares)];
	}
	return around;
}

static bool is_count(const struct chi_feature *feature, int n)
{
	return n >= feature->min && n <= feature->max;
}

static uint64_t where_of(const struct chi_feature *feature, const struct chi_position *position)
{
	uint64_t where = feature->on == SET_ALL
				 ? feature->squares
				 : feature->squares & squares_of(position, feature->on);
	return feature->around ? squares_around(where) : where;
}

/* What stands nowhere does not occupy anything. */
static bool is_occupied(const struct chi_feature *feature, const struct chi_position *position)
{
	uint64_t where = where_of(feature, position);
	uint64_t by = squares_of(position, feature->by) |
		      ((feature->by & SET_EMPTY) != 0 ? ~chi_position_occupied(position) : 0);
	return where != 0 && (where & ~by) == 0;
}

static bool is_attacked(const struct chi_feature *feature, const struct chi_position *position)
{
	uint64_t by = squares_of(position, feature->by);
	uint64_t occupied = chi_position_occupied(position);
	uint64_t where = where_of(feature, position);
	while (where != 0) {
		int square = chi_pop(&where);
		uint64_t attackers = chi_attackers(position, square, CHI_WHITE, occupied) |
				     chi_attackers(position, square, CHI_BLACK, occupied);
		if (is_count(feature, chi_popcount(attackers & by))) {
			return true;
		}
	}
	return false;
}

/* Pieces of a colour that alone stand between its king and a slider. */
static uint64_t pinned_of(const struct chi_position *position, int colour)
{
	int king = chi_position_king(position, colour);
	uint64_t pinned = 0;
	if (king == CHI_NO_SQUARE) {
		return 0;
	}
	uint64_t enemy = position->colour[colour ^ 1];
	uint64_t queens = position->kind[CHI_QUEEN];
	uint64_t sliders =
		enemy & ((chi_attacks.rook_rays[king] & (position->kind[CHI_ROOK] | queens)) |
			 (chi_attacks.bishop_rays[king] & (position->kind[CHI_BISHOP] | queens)));
	while (sliders != 0) {
		uint64_t between = chi_attacks.between[king][chi_pop(&sliders)] &
				   chi_position_occupied(position);
		if (chi_popcount(between) == 1) {
			pinned |= between & position->colour[colour];
		}
	}
	return pinned;
}

static bool is_pinned(const struct chi_feature *feature, const struct chi_position *position)
{
	uint64_t pinned = pinned_of(position, CHI_WHITE) | pinned_of(position, CHI_BLACK);
	return is_count(feature, chi_popcount(pinned & squares_of(position, feature->on)));
}

static uint64_t beside(uint64_t squares)
{
	return (squares & ~FILE_H) << 1 | (squares & ~FILE_A) >> 1;
}

/* All squares of the files that squares are on. */
static uint64_t files_of(uint64_t squares)
{
	for (int shift = 8; shift < 64; shift *= 2) {
		squares |= squares << shift | squares >> shift;
	}
	return squares;
}

/* The squares before pawns of a colour, on their files. */
static uint64_t before_pawns(uint64_t pawns, int colour)
{
	uint64_t squares = colour == CHI_WHITE ? pawns << 8 : pawns >> 8;
	for (int shift = 8; shift < 64; shift *= 2) {
		squares |= colour == CHI_WHITE ? squares << shift : squares >> shift;
	}
	return squares;
}

static uint64_t pawns_so(const struct chi_feature *feature, const struct chi_position *position,
			 int colour)
{
	uint64_t own = chi_position_pieces(position, colour, CHI_PAWN);
	uint64_t enemy = chi_position_pieces(position, colour ^ 1, CHI_PAWN);
	uint64_t guarded = 0;
	switch (feature->kind) {
	case CHI_FEATURE_PASSED:
		/* Squares that an enemy pawn stands before, or guards on its way. */
		guarded = before_pawns(enemy, colour ^ 1);
		return own & ~(guarded | beside(guarded));
	case CHI_FEATURE_ISOLATED:
		return own & ~beside(files_of(own));
	default:
		return own & (before_pawns(own, CHI_WHITE) | before_pawns(own, CHI_BLACK));
	}
}

bool chi_feature_fits(const struct chi_feature *feature, const struct chi_position *position)
{
	uint64_t pawns = 0;
	switch (feature->kind) {
	case CHI_FEATURE_ATTACKED:
		return is_attacked(feature, position);
	case CHI_FEATURE_OCCUPIED:
		return is_occupied(feature, position);
	case CHI_FEATURE_PINNED:
		return is_pinned(feature, position);
	default:
		for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
			if ((feature->on & chi_set_of(colour, CHI_PAWN)) != 0) {
				pawns |= pawns_so(feature, position, colour);
			}
		}
		return (pawns & feature->squares) != 0;
	}
}

int chi_counts_points(const uint8_t counts[2][CHI_KINDS])
{
	static const int worth[CHI_KINDS] = {1, 3, 3, 5, 9, 0};
	int points = 0;
	for (int kind = 0; kind < CHI_KING; kind++) {
		points += worth[kind] * (counts[CHI_WHITE][kind] - counts[CHI_BLACK][kind]);
	}
	return points;
}

int chi_position_points(const struct chi_position *position)
{
	uint8_t counts[2][CHI_KINDS];
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
			counts[colour][kind] =
				(uint8_t)chi_popcount(chi_position_pieces(position, colour, kind));
		}
	}
	return chi_counts_points(counts);
}
