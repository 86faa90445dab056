/* SPDX-License-Identifier: MIT */
/*
 * Matches a pattern on the bytes of a key. The mask alone rules most positions out. A piece is
 * found by counting the bits of the mask before its square; material, by one addition for each
 * two pieces. What several views need is computed once.
 */
#include "chess/pattern/draft.h"

#include <endian.h>
#include <string.h>

#include "base/attr.h"
#include "chess/bitboard.h"

#define HIGH_BITS    UINT64_C(0x8080808080808080)
#define BALANCE_ZERO UINT64_C(0x404040404040)
#define NIBBLES	     UINT64_C(0x1111111111111111)

/* A key being looked at. */
struct look {
	const uint8_t *codes; /* of its pieces, two to a byte */
	uint64_t mask;	      /* a1 is the highest bit */
	uint32_t n;
	bool has_side;
	bool black_moves;
	bool has_counts;
	uint64_t counts[2];
};

/* Compiled for processors with and without an instruction for it. */
CHI_INLINE uint32_t count_bits(bool fast, uint64_t set)
{
	return fast ? (uint32_t)__builtin_popcountll(set) : (uint32_t)chi_popcount(set);
}

static uint64_t load_word(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof(word));
	return be64toh(word);
}

/* The codes of pieces `from` to `from` + 15, zeros after the last; which of the nibbles have one
 * is in `*used`, a bit each. */
static uint64_t codes_word(const struct look *look, uint32_t from, uint64_t *used)
{
	uint32_t n = look->n <= from ? 0 : look->n - from;
	uint64_t ones = n == 0 ? 0 : n >= 16 ? ~UINT64_C(0) : ~UINT64_C(0) << (64 - 4 * n);
	*used = NIBBLES & ones;
	return load_word(look->codes + from / 2) & ones;
}

/* Black is to move if some code is 0. */
static bool black_moves(struct look *look)
{
	if (!look->has_side) {
		uint64_t zeros = 0;
		for (uint32_t from = 0; from < MEN_MAX; from += 16) {
			uint64_t used = 0;
			uint64_t word = codes_word(look, from, &used);
			word |= word >> 1;
			zeros |= ~(word | word >> 2) & used;
		}
		look->black_moves = zeros != 0;
		look->has_side = true;
	}
	return look->black_moves;
}

/* What a byte of two codes of key.h adds to the counters of each colour, a byte for each kind. Byte
 * 6 of White's is for pawns that may be taken en passant, whose colour a code does not tell. */
#define UNIT(kind) (UINT64_C(1) << (8 * (kind)))
#define UNIT_OF(code)                                                                              \
	((code) == 4	   ? UNIT(CHI_PAWN)                                                        \
	 : (code) == 3	   ? UNIT(CHI_KNIGHT)                                                      \
	 : (code) == 1	   ? UNIT(CHI_BISHOP)                                                      \
	 : (code) / 2 == 3 ? UNIT(CHI_ROOK)                                                        \
	 : (code) == 5	   ? UNIT(CHI_QUEEN)                                                       \
	 : (code) == 2	   ? UNIT(CHI_KING)                                                        \
			   : 0)
#define WHITE_OF(code) ((code) == 8 ? UNIT(6) : UNIT_OF(code))
#define BLACK_OF(code) ((code) == 0 ? UNIT(CHI_KING) : (code) > 8 ? UNIT_OF((code)-8) : 0)
#define PAIR(high, low)                                                                            \
	{                                                                                          \
		WHITE_OF(high) + WHITE_OF(low), BLACK_OF(high) + BLACK_OF(low)                     \
	}
#define FOUR(high, low)                                                                            \
	PAIR(high, low), PAIR(high, (low) + 1), PAIR(high, (low) + 2), PAIR(high, (low) + 3)
#define PAIRS(high)  FOUR(high, 0), FOUR(high, 4), FOUR(high, 8), FOUR(high, 12)
#define HIGHS(first) PAIRS(first), PAIRS((first) + 1), PAIRS((first) + 2), PAIRS((first) + 3)
static const uint64_t pairs[256][2] = {HIGHS(0), HIGHS(4), HIGHS(8), HIGHS(12)};

/* All sixteen bytes are added, however many there are: that is faster than a loop that ends now
 * here, now there. Those after the last piece look like black kings. */
static void count_pieces(struct look *look)
{
	uint64_t white = 0;
	uint64_t black = 0;
	for (uint32_t from = 0; from < MEN_MAX; from += 16) {
		uint64_t used = 0;
		uint64_t word = codes_word(look, from, &used);
		for (int i = 0; i < 8; i++) {
			const uint64_t *pair = pairs[word >> (8 * i) & 255];
			white += pair[CHI_WHITE];
			black += pair[CHI_BLACK];
		}
	}
	black -= (uint64_t)(MEN_MAX - look->n) << (8 * CHI_KING);
	uint64_t passed = white >> 48;
	white &= (UINT64_C(1) << 48) - 1;
	if (passed != 0 && black_moves(look)) {
		white += passed << (8 * CHI_PAWN);
	} else {
		black += passed << (8 * CHI_PAWN);
	}
	look->counts[CHI_WHITE] = white;
	look->counts[CHI_BLACK] = black;
	look->has_counts = true;
}

static bool within(struct chi_pattern_bounds bounds, uint64_t counts)
{
	uint64_t enough = ((counts | HIGH_BITS) - bounds.least) & HIGH_BITS;
	uint64_t not_too_many = (bounds.most - counts) & HIGH_BITS;
	return (enough & not_too_many) == HIGH_BITS;
}

static bool counts_match(const struct chi_pattern_view *view, struct look *look)
{
	if (!look->has_counts) {
		count_pieces(look);
	}
	uint64_t white = look->counts[CHI_WHITE];
	uint64_t black = look->counts[CHI_BLACK];
	return within(view->counts[CHI_WHITE], white) && within(view->counts[CHI_BLACK], black) &&
	       (!view->has_balance || within(view->balance, white + BALANCE_ZERO - black));
}

/* The code on a square that holds a piece. */
CHI_INLINE uint32_t code_at(bool fast, const struct look *look, uint32_t shift)
{
	uint32_t before = count_bits(fast, look->mask >> shift >> 1);
	return look->codes[before / 2] >> (before % 2 == 0 ? 4 : 0) & 15;
}

/* Squares that hold a piece for sure; then those that may be empty, as most of them are. */
CHI_INLINE bool tests_match(bool fast, const struct chi_pattern_view *view, const struct look *look)
{
	for (uint32_t i = 0; i < view->n_tests; i++) {
		const struct chi_pattern_test *test = &view->tests[i];
		if ((test->codes >> code_at(fast, look, test->shift) & 1) == 0) {
			return false;
		}
	}
	for (uint64_t left = view->limited & look->mask; left != 0; left &= left - 1) {
		uint32_t shift = (uint32_t)__builtin_ctzll(left);
		if ((view->codes[shift] >> code_at(fast, look, shift) & 1) == 0) {
			return false;
		}
	}
	return true;
}

CHI_INLINE bool term_holds(bool fast, const struct chi_pattern_term *term, const struct look *look)
{
	if ((term->codes >> 16 & 1) != 0 && (term->squares & ~look->mask) != 0) {
		return true;
	}
	for (uint64_t left = term->squares & look->mask; left != 0; left &= left - 1) {
		uint32_t shift = (uint32_t)__builtin_ctzll(left);
		if ((term->codes >> code_at(fast, look, shift) & 1) != 0) {
			return true;
		}
	}
	return false;
}

/* Every clause has a term that holds. */
CHI_INLINE bool terms_match(bool fast, const struct chi_pattern_view *view, const struct look *look)
{
	bool holds = false;
	for (uint32_t i = 0; i < view->n_terms; i++) {
		holds = holds || term_holds(fast, &view->terms[i], look);
		if (view->terms[i].last) {
			if (!holds) {
				return false;
			}
			holds = false;
		}
	}
	return true;
}

/* Of two bishops, one of each colour: whether the colours of their squares are as asked. */
CHI_INLINE bool bishops_match(bool fast, const struct chi_pattern_view *view,
			      const struct look *look)
{
	const uint32_t bishops = 1u << 1 | 1u << 9;
	uint32_t colours = 0;
	for (uint64_t left = look->mask; left != 0; left &= left - 1) {
		uint32_t shift = (uint32_t)__builtin_ctzll(left);
		if ((bishops >> code_at(fast, look, shift) & 1) != 0) {
			colours += (shift + (shift >> 3)) & 1;
		}
	}
	return (colours == 1) == (view->bishops == CHI_BISHOPS_OPPOSITE);
}

CHI_INLINE bool view_matches(bool fast, const struct chi_pattern_view *view, struct look *look)
{
	if ((look->mask & view->occupied) != view->occupied || (look->mask & view->empty) != 0 ||
	    look->n - view->least > view->span || !tests_match(fast, view, look)) {
		return false;
	}
	if (view->side != CHI_SIDE_ANY &&
	    view->side == (black_moves(look) ? CHI_SIDE_WHITE : CHI_SIDE_BLACK)) {
		return false;
	}
	return (!(view->has_counts || view->has_balance) || counts_match(view, look)) &&
	       terms_match(fast, view, look) &&
	       (view->bishops == CHI_BISHOPS_ANY || bishops_match(fast, view, look));
}

CHI_INLINE bool matches(bool fast, const struct chi_pattern *pattern, const uint8_t *key)
{
	struct look look = {.codes = key + sizeof(uint64_t), .mask = load_word(key)};
	look.n = count_bits(fast, look.mask);
	for (uint32_t i = 0; i < pattern->n_views; i++) {
		if (view_matches(fast, &pattern->views[i], &look)) {
			return true;
		}
	}
	return false;
}

#if defined(__x86_64__)
__attribute__((target("popcnt"))) static bool matches_fast(const struct chi_pattern *pattern,
							   const uint8_t *key)
{
	return matches(true, pattern, key);
}
#else
static bool matches_fast(const struct chi_pattern *pattern, const uint8_t *key)
{
	return matches(true, pattern, key);
}
#endif

bool chi_pattern_matches(const struct chi_pattern *pattern, const uint8_t *key)
{
	return pattern->fast_count ? matches_fast(pattern, key) : matches(false, pattern, key);
}

/* ---- Without a board ----------------------------------------------------------------------- */

static enum chi_pattern_verdict judge_counts(const struct chi_pattern_view *view,
					     const uint64_t counts[2], bool moved)
{
	const struct chi_pattern_bounds *bounds = moved ? view->counts : view->follow;
	uint64_t both = counts[CHI_WHITE] + counts[CHI_BLACK];
	uint64_t men = both * UINT64_C(0x010101010101) >> 40 & 255;
	if (!within(bounds[CHI_WHITE], counts[CHI_WHITE]) ||
	    !within(bounds[CHI_BLACK], counts[CHI_BLACK]) ||
	    (view->has_balance &&
	     !within(view->balance, counts[CHI_WHITE] + BALANCE_ZERO - counts[CHI_BLACK]))) {
		return CHI_PATTERN_NEVER;
	}
	if (men - view->least > view->span && !(moved && view->has_rest)) {
		return CHI_PATTERN_NEVER;
	}
	return view->has_rest ? CHI_PATTERN_MAYBE : CHI_PATTERN_ALWAYS;
}

enum chi_pattern_verdict chi_pattern_by_counts(const struct chi_pattern *pattern,
					       const uint8_t counts[2][CHI_KINDS], bool moved)
{
	enum chi_pattern_verdict best = CHI_PATTERN_NEVER;
	uint64_t packed[2] = {0};
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		packed[CHI_WHITE] |= (uint64_t)counts[CHI_WHITE][kind] << (8 * kind);
		packed[CHI_BLACK] |= (uint64_t)counts[CHI_BLACK][kind] << (8 * kind);
	}
	for (uint32_t i = 0; i < pattern->n_views; i++) {
		enum chi_pattern_verdict verdict = judge_counts(&pattern->views[i], packed, moved);
		best = verdict > best ? verdict : best;
	}
	return best;
}

enum chi_pattern_verdict chi_pattern_by_home(const struct chi_pattern *pattern, uint64_t home)
{
	for (uint32_t i = 0; i < pattern->n_views; i++) {
		const uint16_t *asked = pattern->views[i].home;
		if ((home & asked[0]) == 0 && (~home & asked[1]) == 0) {
			return CHI_PATTERN_MAYBE;
		}
	}
	return CHI_PATTERN_NEVER;
}

static uint8_t lesser(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* Bits of the mask are from a1 down. */
static uint64_t squares_of_mask(uint64_t mask)
{
	return __builtin_bswap64(chi_mirror_files(mask));
}

void chi_pattern_needs_of(const struct chi_pattern *pattern, struct chi_pattern_needs *out)
{
	*out = (struct chi_pattern_needs){0};
	for (uint32_t i = 0; !pattern->idle && i < pattern->n_views; i++) {
		const struct chi_pattern_view *view = &pattern->views[i];
		struct chi_pattern_needs one = {.occupied = squares_of_mask(view->occupied),
						.home = {(view->home[1] & UINT64_C(0xff)) << 8,
							 (uint64_t)(view->home[1] >> 8) << 48},
						.men = view->least};
		for (int colour = 0; colour < 2; colour++) {
			one.pawns[colour] = view->follow[colour].least >> (8 * CHI_PAWN) & 127;
		}
		out->occupied = i == 0 ? one.occupied : out->occupied & one.occupied;
		out->men = i == 0 ? one.men : lesser(out->men, one.men);
		for (int colour = 0; colour < 2; colour++) {
			out->home[colour] =
				i == 0 ? one.home[colour] : out->home[colour] & one.home[colour];
			out->pawns[colour] = i == 0 ? one.pawns[colour]
						    : lesser(out->pawns[colour], one.pawns[colour]);
		}
	}
}

void chi_pattern_masks_of(const struct chi_pattern *pattern, struct chi_mask_wants *out)
{
	out->n = pattern->n_views;
	for (uint32_t i = 0; i < pattern->n_views; i++) {
		const struct chi_pattern_view *view = &pattern->views[i];
		out->any[i] = (struct chi_mask_want){
			.decides = __builtin_bswap64(view->occupied | view->empty),
			.occupied = __builtin_bswap64(view->occupied),
			.least = view->least,
			.span = view->span,
		};
	}
}
