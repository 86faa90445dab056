/* SPDX-License-Identifier: MIT */
/*
 * Writing and reading walk the same candidates in the same order, one looking for a move and
 * counting, the other counting down until the number is used up. Sliding pieces, whose targets cost
 * most, come last and are not looked at in most positions. What is called with `how` is
 * compiled once for each, and once more for processors with instructions that count and find bits.
 */
#include "chess/moves/movecode.h"

/* A test compiles it without. */
#if defined(__x86_64__) && !defined(CHI_MOVECODE_PLAIN)
#define HAVE_FAST 1
#include <immintrin.h>
#define FAST_TARGET __attribute__((target("popcnt,bmi2")))
#else
#define HAVE_FAST 0
#endif

#include "base/attr.h"
#include "chess/bitboard.h"

#define FILE_A UINT64_C(0x0101010101010101)
#define FILE_H UINT64_C(0x8080808080808080)
#define ENDS   (CHI_RANK_1 | CHI_RANK_8)

#define PIECES_MAX 32
#define ESCAPE	   255

/* How the walk is compiled: */
#define READING 1u
#define FAST	2u /* with the instructions */

/* Where pieces of a kind, as White sees it, go in more than 2.4 of 100 positions that let them:
 * counted in 5,000 games between masters, quiet moves that no pawn can answer. Part of the format:
 * never to be changed. */
#define USUAL_PAWN   UINT64_C(0xffffffff3c5c0000)
#define USUAL_KNIGHT UINT64_C(0x2034febe7e7e7c20)
#define USUAL_BISHOP UINT64_C(0x00007e7ebf7fff10)
#define USUAL_ROOK   UINT64_C(0xffffffff6e60481c)
#define USUAL_QUEEN  UINT64_C(0x9c26f078bc706400)
#define USUAL_KING   UINT64_C(0xfffffffffffff752)

#define SEEN(set) __builtin_bswap64(set)
static const uint64_t usual[2][CHI_KINDS] = {
	{USUAL_PAWN, USUAL_KNIGHT, USUAL_BISHOP, USUAL_ROOK, USUAL_QUEEN, USUAL_KING},
	{SEEN(USUAL_PAWN), SEEN(USUAL_KNIGHT), SEEN(USUAL_BISHOP), SEEN(USUAL_ROOK),
	 SEEN(USUAL_QUEEN), SEEN(USUAL_KING)},
};

/* A piece with its targets in two parts. */
struct piece {
	uint64_t usual;
	uint64_t others;
	int from;
};

/* What is looked for and what is found. Writing: `move` is known, `number` counts up. Reading:
 * `number` counts down to 0, and `move` is set. */
struct search {
	const struct chi_position *position;
	int us;
	uint64_t own;
	uint64_t enemy; /* without its king */
	uint64_t occupied;
	uint64_t safe;	  /* no enemy pawn attacks these */
	uint64_t targets; /* where pieces may go, but for class 1 */
	unsigned number;
	chi_move move;
};

/* ---- Counting ---------------------------------------------------------------------------- */

/* A set as the side to move sees it, and back. */
static inline uint64_t seen_by(int us, uint64_t set)
{
	return us == CHI_WHITE ? set : __builtin_bswap64(set);
}

static inline int square_of(int us, int seen)
{
	return us == CHI_WHITE ? seen : seen ^ 56;
}

static inline int highest(uint64_t set)
{
	return 63 - __builtin_clzll(set);
}

CHI_INLINE unsigned count(uint64_t set, unsigned how)
{
	return (unsigned)((how & FAST) != 0 ? __builtin_popcountll(set) : chi_popcount(set));
}

#if HAVE_FAST
/* A bit, put where the set's bit of that place is. */
FAST_TARGET static inline int nth_fast(uint64_t set, unsigned n)
{
	unsigned place = (unsigned)__builtin_popcountll(set) - 1 - n;
	return __builtin_ctzll(_pdep_u64(UINT64_C(1) << place, set));
}
#endif

/* The `n`th of the squares, from the highest that the side to move sees down. */
CHI_INLINE int nth(int us, uint64_t set, unsigned n, unsigned how)
{
	(void)how;
	set = seen_by(us, set);
#if HAVE_FAST
	if ((how & FAST) != 0) {
		return square_of(us, nth_fast(set, n));
	}
#endif
	for (; n > 0; n--) {
		set ^= chi_bit(highest(set));
	}
	return square_of(us, highest(set));
}

/* Squares of the set that come before `square`, and so are above it. */
CHI_INLINE unsigned count_before(int us, uint64_t set, int square, unsigned how)
{
	/* Twice, as a shift by 64 is none. */
	return count(seen_by(us, set) >> square_of(us, square) >> 1, how);
}

/* Looks for the move among those of the piece on `from` to the set. True: the search ends. */
CHI_INLINE bool look(struct search *s, int from, uint64_t set, unsigned how)
{
	if ((how & READING) != 0) {
		unsigned n = count(set, how);
		if (s->number < n) {
			s->move = chi_move_make(from, nth(s->us, set, s->number, how), 0);
			return true;
		}
		s->number -= n;
		return false;
	}
	int to = chi_move_to(s->move);
	if (from == chi_move_from(s->move) && (set >> to & 1) != 0) {
		s->number += count_before(s->us, set, to, how);
		return true;
	}
	s->number += count(set, how);
	return false;
}

/* One move, or four if it promotes. */
CHI_INLINE bool look_at_move(struct search *s, int from, int to, bool promotes, unsigned how)
{
	unsigned n = promotes ? 4 : 1;
	chi_move move = chi_move_make(from, to, 0);
	if ((how & READING) != 0) {
		if (s->number < n) {
			s->move =
				chi_move_make(from, to, promotes ? CHI_QUEEN - (int)s->number : 0);
			return true;
		}
		s->number -= n;
		return false;
	}
	if ((s->move & 0xfff) == move) {
		s->number += promotes ? (unsigned)(CHI_QUEEN - chi_move_promotion(s->move)) : 0;
		return true;
	}
	s->number += n;
	return false;
}

/* ---- Classes ----------------------------------------------------------------------------- */

/* Class 1. */
CHI_INLINE bool answers(struct search *s, int last, unsigned how)
{
	const uint64_t *kind = s->position->kind;
	uint64_t slanted = kind[CHI_BISHOP] | kind[CHI_QUEEN];
	uint64_t straight = kind[CHI_ROOK] | kind[CHI_QUEEN];
	/* Unlike chi_attackers without a look whether there are any: a wrong guess costs more. */
	uint64_t attackers = s->own & ((chi_attacks.pawn[s->us ^ 1][last] & kind[CHI_PAWN]) |
				       (chi_attacks.knight[last] & kind[CHI_KNIGHT]) |
				       (chi_attacks.king[last] & kind[CHI_KING]) |
				       (chi_bishop_attacks(last, s->occupied) & slanted) |
				       (chi_rook_attacks(last, s->occupied) & straight));
	while (attackers != 0) {
		int from = square_of(s->us, highest(seen_by(s->us, attackers)));
		bool promotes = (ENDS >> last & 1) != 0 && (kind[CHI_PAWN] >> from & 1) != 0;
		attackers ^= chi_bit(from);
		if (look_at_move(s, from, last, promotes, how)) {
			return true;
		}
	}
	return false;
}

static bool may_castle(const struct search *s, int king, int rook)
{
	int king_to = chi_castling_king_to(king, rook);
	int rook_to = chi_castling_rook_to(king, rook);
	uint64_t path = chi_attacks.between[king][king_to] | chi_bit(king_to) |
			chi_attacks.between[rook][rook_to] | chi_bit(rook_to);
	return (path & s->occupied & ~(chi_bit(king) | chi_bit(rook))) == 0;
}

/* Class 2. */
static bool castling(struct search *s, uint64_t rooks, unsigned how)
{
	int king = chi_position_king(s->position, s->us);
	while (rooks != 0) {
		int rook = highest(rooks);
		rooks ^= chi_bit(rook);
		if (may_castle(s, king, rook) && look_at_move(s, king, rook, false, how)) {
			return true;
		}
	}
	return false;
}

/* Pawn moves to a set, each from `step` squares back as its side sees it. */
static bool pawn_moves(struct search *s, uint64_t set, int step, unsigned how)
{
	set = seen_by(s->us, set);
	while (set != 0) {
		int seen = highest(set);
		set ^= chi_bit(seen);
		if (look_at_move(s, square_of(s->us, seen - step), square_of(s->us, seen),
				 seen >= 56, how)) {
			return true;
		}
	}
	return false;
}

/* Where pawns come to by a step and by two; no square is in both. */
CHI_INLINE uint64_t pushes(const struct search *s, uint64_t pawns)
{
	uint64_t empty = ~s->occupied;
	if (s->us == CHI_WHITE) {
		uint64_t single = pawns << 8 & empty;
		return single | ((single & CHI_RANK_1 << 16) << 8 & empty);
	}
	uint64_t single = pawns >> 8 & empty;
	return single | ((single & CHI_RANK_8 >> 16) >> 8 & empty);
}

/* Part of the pushes. */
CHI_INLINE bool look_push(struct search *s, uint64_t pawns, uint64_t set, unsigned how)
{
	int back = s->us == CHI_WHITE ? -8 : 8;
	if ((how & READING) != 0) {
		unsigned n = count(set, how);
		if (s->number < n) {
			int to = nth(s->us, set, s->number, how);
			int from = (pawns >> (to + back) & 1) != 0 ? to + back : to + 2 * back;
			s->move = chi_move_make(from, to, 0);
			return true;
		}
		s->number -= n;
		return false;
	}
	int to = chi_move_to(s->move);
	int from = chi_move_from(s->move);
	if ((set >> to & 1) != 0 && (pawns >> from & 1) != 0 && (from & 7) == (to & 7)) {
		s->number += count_before(s->us, set, to, how);
		return true;
	}
	s->number += count(set, how);
	return false;
}

CHI_INLINE struct piece *add_kind(struct search *s, int kind, struct piece *out)
{
	uint64_t pieces = seen_by(s->us, s->own & s->position->kind[kind]);
	uint64_t good = (usual[s->us][kind] | s->enemy) & s->safe;
	while (pieces != 0) {
		int from = square_of(s->us, chi_pop(&pieces));
		uint64_t attacks = kind == CHI_KNIGHT	? chi_attacks.knight[from]
				   : kind == CHI_KING	? chi_attacks.king[from]
				   : kind == CHI_BISHOP ? chi_bishop_attacks(from, s->occupied)
				   : kind == CHI_ROOK	? chi_rook_attacks(from, s->occupied)
							: chi_queen_attacks(from, s->occupied);
		attacks &= s->targets;
		*out++ = (struct piece){attacks & good, attacks & ~good, from};
	}
	return out;
}

CHI_INLINE bool look_pieces(struct search *s, const struct piece *pieces, const struct piece *end,
			    bool only_usual, unsigned how)
{
	for (const struct piece *piece = pieces; piece != end; piece++) {
		if (look(s, piece->from, only_usual ? piece->usual : piece->others, how)) {
			return true;
		}
	}
	return false;
}

/* Class 3. */
CHI_INLINE bool captures(struct search *s, uint64_t pawns, unsigned how)
{
	const struct chi_position *p = s->position;
	uint64_t prey = (s->enemy & s->targets) | (p->ep == CHI_NO_SQUARE ? 0 : chi_bit(p->ep));
	uint64_t left = s->us == CHI_WHITE ? (pawns & ~FILE_A) << 7 : (pawns & ~FILE_A) >> 9;
	uint64_t right = s->us == CHI_WHITE ? (pawns & ~FILE_H) << 9 : (pawns & ~FILE_H) >> 7;
	return ((left | right) & prey) != 0 &&
	       (pawn_moves(s, left & prey, 7, how) || pawn_moves(s, right & prey, 9, how));
}

/* Classes 3 to 7. */
CHI_INLINE bool walk_pieces(struct search *s, unsigned how)
{
	struct piece pieces[PIECES_MAX];
	uint64_t pawns = s->own & s->position->kind[CHI_PAWN];
	uint64_t steps = pushes(s, pawns);
	uint64_t good = usual[s->us][CHI_PAWN];
	if (captures(s, pawns, how) ||
	    ((steps & ENDS) != 0 && pawn_moves(s, steps & ENDS, 8, how)) ||
	    look_push(s, pawns, steps & good & ~ENDS, how)) {
		return true;
	}
	struct piece *end = add_kind(s, CHI_KING, add_kind(s, CHI_KNIGHT, pieces));
	if (look_pieces(s, pieces, end, true, how) ||
	    look_push(s, pawns, steps & ~good & ~ENDS, how) ||
	    look_pieces(s, pieces, end, false, how)) {
		return true;
	}
	end = add_kind(s, CHI_BISHOP, pieces);
	end = add_kind(s, CHI_QUEEN, add_kind(s, CHI_ROOK, end));
	return look_pieces(s, pieces, end, true, how) || look_pieces(s, pieces, end, false, how);
}

/* All candidates in their order until the search ends. */
CHI_INLINE bool walk_all(struct search *s, const struct chi_position *p, int last, unsigned how)
{
	s->position = p;
	s->us = p->side;
	s->own = p->colour[p->side];
	s->occupied = chi_position_occupied(p);
	s->enemy = p->colour[p->side ^ 1] & ~p->kind[CHI_KING];
	s->targets = s->enemy | ~s->occupied;
	uint64_t pawns = p->colour[p->side ^ 1] & p->kind[CHI_PAWN];
	s->safe = p->side == CHI_WHITE ? ~((pawns & ~FILE_A) >> 9 | (pawns & ~FILE_H) >> 7)
				       : ~((pawns & ~FILE_A) << 7 | (pawns & ~FILE_H) << 9);
	if (last != CHI_NO_SQUARE && (s->enemy >> last & 1) != 0) {
		s->targets ^= chi_bit(last);
		if (answers(s, last, how)) {
			return true;
		}
	}
	uint64_t rooks = p->castle & s->own;
	return (rooks != 0 && castling(s, rooks, how)) || walk_pieces(s, how);
}

static bool walk_plain(struct search *s, const struct chi_position *p, int last, unsigned how)
{
	return (how & READING) != 0 ? walk_all(s, p, last, READING) : walk_all(s, p, last, 0);
}

#if HAVE_FAST
FAST_TARGET static bool write_fast(struct search *s, const struct chi_position *p, int last)
{
	return walk_all(s, p, last, FAST);
}

FAST_TARGET static bool read_fast(struct search *s, const struct chi_position *p, int last)
{
	return walk_all(s, p, last, READING | FAST);
}
#endif

/* Walks the candidates, as the processor can. */
static bool walk(struct search *s, const struct chi_position *p, int last, unsigned how)
{
#if HAVE_FAST
	if (CHI_LIKELY(__builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi2"))) {
		return how == READING ? read_fast(s, p, last) : write_fast(s, p, last);
	}
#endif
	return walk_plain(s, p, last, how);
}

/* ---- Games ------------------------------------------------------------------------------- */

/* True if what a move says of promotion is what its candidate says. */
static bool promotion_fits(const struct chi_position *position, chi_move move)
{
	int promotion = chi_move_promotion(move);
	bool pawn = (position->kind[CHI_PAWN] >> chi_move_from(move) & 1) != 0;
	bool promotes = pawn && (ENDS >> chi_move_to(move) & 1) != 0;
	return promotes ? promotion >= CHI_KNIGHT && promotion <= CHI_QUEEN : promotion == 0;
}

size_t chi_movecode_write(const struct chi_position *position, int last, chi_move move,
			  uint8_t out[CHI_MOVECODE_MAX])
{
	struct search search = {.move = move};
	if (!promotion_fits(position, move) || !walk(&search, position, last, 0)) {
		return 0;
	}
	size_t len = 0;
	/* There are never so many candidates that the bytes do not do. */
	for (; search.number >= ESCAPE && len < CHI_MOVECODE_MAX - 1; search.number -= ESCAPE) {
		out[len++] = ESCAPE;
	}
	out[len++] = (uint8_t)search.number;
	return len;
}

int chi_movecode_encode(const struct chi_position *start, const chi_move *moves, size_t n,
			uint8_t *out, size_t *len)
{
	struct chi_position positions[2] = {*start};
	int last = CHI_NO_SQUARE;
	*len = 0;
	for (size_t i = 0; i < n; i++) {
		size_t wrote = chi_movecode_write(&positions[i & 1], last, moves[i], out + *len);
		if (wrote == 0) {
			return -CHI_EMOVE;
		}
		*len += wrote;
		last = chi_move_to(moves[i]);
		chi_position_play(&positions[i & 1], moves[i], &positions[~i & 1]);
	}
	return CHI_OK;
}

int chi_movecode_encode_played(const struct chi_position *positions, const chi_move *moves,
			       size_t n, uint8_t *out, size_t *len)
{
	int last = CHI_NO_SQUARE;
	*len = 0;
	for (size_t i = 0; i < n; i++) {
		size_t wrote = chi_movecode_write(&positions[i], last, moves[i], out + *len);
		if (wrote == 0) {
			return -CHI_EMOVE;
		}
		*len += wrote;
		last = chi_move_to(moves[i]);
	}
	return CHI_OK;
}

void chi_replay_init(struct chi_replay *replay, const struct chi_position *start,
		     const uint8_t *bytes, size_t len)
{
	replay->positions[0] = *start;
	replay->now = 0;
	replay->last = CHI_NO_SQUARE;
	replay->at = bytes;
	replay->end = bytes + len;
}

int chi_replay_next(struct chi_replay *replay, chi_move *move)
{
	struct search search = {0};
	if (replay->at == replay->end) {
		return CHI_NONE;
	}
	while (CHI_UNLIKELY(*replay->at == ESCAPE)) {
		search.number += ESCAPE;
		replay->at++;
		if (replay->at == replay->end || search.number >= CHI_MOVECODE_MAX * ESCAPE) {
			return -CHI_ECORRUPT;
		}
	}
	search.number += *replay->at++;
	if (!walk(&search, &replay->positions[replay->now], replay->last, READING)) {
		return -CHI_ECORRUPT;
	}
	chi_position_play(search.position, search.move, &replay->positions[replay->now ^ 1]);
	replay->now ^= 1;
	replay->last = chi_move_to(search.move);
	*move = search.move;
	return CHI_OK;
}

int chi_movecode_decode(const struct chi_position *start, const uint8_t *bytes, size_t len,
			chi_move *moves, size_t n)
{
	struct chi_replay replay;
	chi_replay_init(&replay, start, bytes, len);
	for (size_t i = 0; i < n; i++) {
		if (chi_replay_next(&replay, &moves[i]) != CHI_OK) {
			return -CHI_ECORRUPT;
		}
	}
	return replay.at == replay.end ? CHI_OK : -CHI_ECORRUPT;
}
