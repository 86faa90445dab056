/* SPDX-License-Identifier: MIT */
/*
 * Reading walks the candidates in their order and counts down until the number is used up. Writing
 * knows the move, and sums up those of the classes, kinds and pieces before it. Sliding pieces,
 * whose targets cost most, come last and are not looked at in most positions. What is called with
 * `how` is compiled twice, once for processors with instructions that count and find bits.
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
#define NO_NUMBER  UINT32_MAX

/* How it is compiled: with the instructions. */
#define FAST 1u

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

/* What is looked for and what is found. Writing: `move` is known, `number` counts up, and `found`
 * says that the move is a candidate of its piece. Reading: `number` counts down to 0, and `move` is
 * set. */
struct search {
	const struct chi_position *position;
	int us;
	uint64_t own;
	uint64_t enemy; /* without its king */
	uint64_t occupied;
	uint64_t safe;	  /* no enemy pawn attacks these */
	uint64_t targets; /* where pieces may go, but for class 1 */
	unsigned number;
	bool found;
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

/* ---- Candidates -------------------------------------------------------------------------- */

CHI_INLINE void begin_search(struct search *s, const struct chi_position *p, int last)
{
	s->position = p;
	s->us = p->side;
	s->own = p->colour[p->side];
	s->occupied = chi_position_occupied(p);
	s->enemy = p->colour[p->side ^ 1] & ~p->kind[CHI_KING];
	s->targets = s->enemy | ~s->occupied;
	if (last != CHI_NO_SQUARE) {
		s->targets &= ~(s->enemy & chi_bit(last));
	}
	uint64_t pawns = p->colour[p->side ^ 1] & p->kind[CHI_PAWN];
	s->safe = p->side == CHI_WHITE ? ~((pawns & ~FILE_A) >> 9 | (pawns & ~FILE_H) >> 7)
				       : ~((pawns & ~FILE_A) << 7 | (pawns & ~FILE_H) << 9);
}

/* Class 1: what can capture on the target of the last move, if an enemy is there. */
CHI_INLINE uint64_t find_answers(const struct search *s, int last)
{
	const uint64_t *kind = s->position->kind;
	uint64_t slanted = kind[CHI_BISHOP] | kind[CHI_QUEEN];
	uint64_t straight = kind[CHI_ROOK] | kind[CHI_QUEEN];
	if (last == CHI_NO_SQUARE || (s->enemy >> last & 1) == 0) {
		return 0;
	}
	/* Unlike chi_attackers without a look whether there are any: a wrong guess costs more. */
	return s->own & ((chi_attacks.pawn[s->us ^ 1][last] & kind[CHI_PAWN]) |
			 (chi_attacks.knight[last] & kind[CHI_KNIGHT]) |
			 (chi_attacks.king[last] & kind[CHI_KING]) |
			 (chi_bishop_attacks(last, s->occupied) & slanted) |
			 (chi_rook_attacks(last, s->occupied) & straight));
}

CHI_INLINE bool may_castle(uint64_t occupied, int king, int rook)
{
	int king_to = chi_castling_king_to(king, rook);
	int rook_to = chi_castling_rook_to(king, rook);
	uint64_t path = chi_attacks.between[king][king_to] | chi_bit(king_to) |
			chi_attacks.between[rook][rook_to] | chi_bit(rook_to);
	return (path & occupied & ~(chi_bit(king) | chi_bit(rook))) == 0;
}

/* Where pawns come to: by captures towards the a-file and the h-file, and by steps. */
struct pawn_targets {
	uint64_t left;
	uint64_t right;
	uint64_t promoting; /* by a step */
	uint64_t usual;
	uint64_t others;
};

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

CHI_INLINE struct pawn_targets aim_pawns(const struct search *s)
{
	const struct chi_position *p = s->position;
	uint64_t pawns = s->own & p->kind[CHI_PAWN];
	uint64_t prey = (s->enemy & s->targets) | (p->ep == CHI_NO_SQUARE ? 0 : chi_bit(p->ep));
	uint64_t left = s->us == CHI_WHITE ? (pawns & ~FILE_A) << 7 : (pawns & ~FILE_A) >> 9;
	uint64_t right = s->us == CHI_WHITE ? (pawns & ~FILE_H) << 9 : (pawns & ~FILE_H) >> 7;
	uint64_t steps = pushes(s, pawns);
	uint64_t good = usual[s->us][CHI_PAWN];
	return (struct pawn_targets){
		.left = left & prey,
		.right = right & prey,
		.promoting = steps & ENDS,
		.usual = steps & good & ~ENDS,
		.others = steps & ~good & ~ENDS,
	};
}

/* Where a piece of the kind goes from a square. */
CHI_INLINE uint64_t aim_piece(const struct search *s, int kind, int from)
{
	uint64_t attacks = kind == CHI_KNIGHT	? chi_attacks.knight[from]
			   : kind == CHI_KING	? chi_attacks.king[from]
			   : kind == CHI_BISHOP ? chi_bishop_attacks(from, s->occupied)
			   : kind == CHI_ROOK	? chi_rook_attacks(from, s->occupied)
						: chi_queen_attacks(from, s->occupied);
	return attacks & s->targets;
}

/* As chi_position_kind, of an officer or a king, without branches. */
CHI_INLINE int kind_on(const struct chi_position *p, int square)
{
	int kind = 0;
	for (int k = CHI_KNIGHT; k < CHI_KINDS; k++) {
		kind += (int)(p->kind[k] >> square & 1) * k;
	}
	return kind;
}

/* The targets of a kind that are usual. */
CHI_INLINE uint64_t good_targets(const struct search *s, int kind)
{
	return (usual[s->us][kind] | s->enemy) & s->safe;
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* The moves of the piece on `from` to the set. True: the number is one of theirs. */
CHI_INLINE bool look(struct search *s, int from, uint64_t set, unsigned how)
{
	unsigned n = count(set, how);
	if (s->number < n) {
		s->move = chi_move_make(from, nth(s->us, set, s->number, how), 0);
		return true;
	}
	s->number -= n;
	return false;
}

/* One move, or four if it promotes. */
CHI_INLINE bool look_at_move(struct search *s, int from, int to, bool promotes)
{
	unsigned n = promotes ? 4 : 1;
	if (s->number < n) {
		s->move = chi_move_make(from, to, promotes ? CHI_QUEEN - (int)s->number : 0);
		return true;
	}
	s->number -= n;
	return false;
}

/* Class 1. */
CHI_INLINE bool look_answers(struct search *s, int last)
{
	uint64_t attackers = find_answers(s, last);
	while (attackers != 0) {
		int from = square_of(s->us, highest(seen_by(s->us, attackers)));
		bool promotes =
			(ENDS >> last & 1) != 0 && (s->position->kind[CHI_PAWN] >> from & 1) != 0;
		attackers ^= chi_bit(from);
		if (look_at_move(s, from, last, promotes)) {
			return true;
		}
	}
	return false;
}

/* Class 2. */
static bool look_castling(struct search *s)
{
	uint64_t rooks = s->position->castle & s->own;
	int king = chi_position_king(s->position, s->us);
	while (rooks != 0) {
		int rook = highest(rooks);
		rooks ^= chi_bit(rook);
		if (may_castle(s->occupied, king, rook) && look_at_move(s, king, rook, false)) {
			return true;
		}
	}
	return false;
}

/* Pawn moves to a set, each from `step` squares back as its side sees it. */
static bool look_pawns(struct search *s, uint64_t set, int step)
{
	set = seen_by(s->us, set);
	while (set != 0) {
		int seen = highest(set);
		set ^= chi_bit(seen);
		if (look_at_move(s, square_of(s->us, seen - step), square_of(s->us, seen),
				 seen >= 56)) {
			return true;
		}
	}
	return false;
}

/* Part of the pushes. */
CHI_INLINE bool look_push(struct search *s, uint64_t set, unsigned how)
{
	int back = s->us == CHI_WHITE ? -8 : 8;
	unsigned n = count(set, how);
	if (s->number < n) {
		uint64_t pawns = s->own & s->position->kind[CHI_PAWN];
		int to = nth(s->us, set, s->number, how);
		int from = (pawns >> (to + back) & 1) != 0 ? to + back : to + 2 * back;
		s->move = chi_move_make(from, to, 0);
		return true;
	}
	s->number -= n;
	return false;
}

CHI_INLINE struct piece *add_kind(struct search *s, int kind, struct piece *out)
{
	uint64_t pieces = seen_by(s->us, s->own & s->position->kind[kind]);
	uint64_t good = good_targets(s, kind);
	while (pieces != 0) {
		int from = square_of(s->us, chi_pop(&pieces));
		uint64_t targets = aim_piece(s, kind, from);
		*out++ = (struct piece){targets & good, targets & ~good, from};
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

/* All candidates in their order until the number is used up. */
CHI_INLINE bool read_number(struct search *s, const struct chi_position *p, int last, unsigned how)
{
	struct piece pieces[PIECES_MAX];
	begin_search(s, p, last);
	if (look_answers(s, last) || ((p->castle & s->own) != 0 && look_castling(s))) {
		return true;
	}
	struct pawn_targets pawns = aim_pawns(s);
	if (((pawns.left | pawns.right | pawns.promoting) != 0 &&
	     (look_pawns(s, pawns.left, 7) || look_pawns(s, pawns.right, 9) ||
	      look_pawns(s, pawns.promoting, 8))) ||
	    look_push(s, pawns.usual, how)) {
		return true;
	}
	struct piece *end = add_kind(s, CHI_KING, add_kind(s, CHI_KNIGHT, pieces));
	if (look_pieces(s, pieces, end, true, how) || look_push(s, pawns.others, how) ||
	    look_pieces(s, pieces, end, false, how)) {
		return true;
	}
	end = add_kind(s, CHI_BISHOP, pieces);
	end = add_kind(s, CHI_QUEEN, add_kind(s, CHI_ROOK, end));
	return look_pieces(s, pieces, end, true, how) || look_pieces(s, pieces, end, false, how);
}

/* ---- Writing ----------------------------------------------------------------------------- */

/* Adds the moves of pawns to a set, four where they promote: all, or if the move is one of them
 * (`its`: as far as its way tells) those before it, and true. */
CHI_INLINE bool sum_pawns(struct search *s, uint64_t set, bool its, unsigned how)
{
	int to = chi_move_to(s->move);
	if (its && (set >> to & 1) != 0) {
		s->number += count_before(s->us, set, to, how) +
			     3 * count_before(s->us, set & ENDS, to, how);
		s->found = true;
		return true;
	}
	s->number += count(set, how);
	if (CHI_UNLIKELY((set & ENDS) != 0)) {
		s->number += 3 * count(set & ENDS, how);
	}
	return false;
}

/* Class 1. True: the move is of it, or none. */
CHI_INLINE bool sum_answers(struct search *s, int last, unsigned how)
{
	uint64_t attackers = find_answers(s, last);
	int from = chi_move_from(s->move);
	uint64_t pawns =
		CHI_UNLIKELY((ENDS >> last & 1) != 0) ? attackers & s->position->kind[CHI_PAWN] : 0;
	if (chi_move_to(s->move) == last) {
		s->found = (attackers >> from & 1) != 0;
		s->number = count_before(s->us, attackers, from, how) +
			    3 * count_before(s->us, pawns, from, how);
		return true;
	}
	s->number = count(attackers, how) + 3 * count(pawns, how);
	return false;
}

/* Class 2. True: the move is of it. */
CHI_INLINE bool sum_castling(struct search *s)
{
	uint64_t rooks = s->position->castle & s->own;
	while (rooks != 0) {
		int king = chi_position_king(s->position, s->us);
		int rook = highest(rooks);
		rooks ^= chi_bit(rook);
		if (!may_castle(s->occupied, king, rook)) {
			continue;
		}
		if (s->move == chi_move_make(king, rook, 0)) {
			return true;
		}
		s->number++;
	}
	return false;
}

/* Adds the moves of a kind that come before the move, which is in `class`. The kind's usual moves
 * are in one class, the others in another. */
CHI_INLINE void sum_kind(struct search *s, int kind, int class, unsigned how)
{
	bool slides = kind != CHI_KNIGHT && kind != CHI_KING;
	int class_usual = slides ? 8 : 5;
	int class_others = slides ? 9 : 7;
	uint64_t good = good_targets(s, kind);
	uint64_t before = (class_usual < class ? good : 0) | (class_others < class ? ~good : 0);
	uint64_t its = class == class_usual ? good : class == class_others ? ~good : 0;
	uint64_t pieces = seen_by(s->us, s->own & s->position->kind[kind]);
	its = s->found ? 0 : its;
	while (pieces != 0 && (before | its) != 0) {
		int from = square_of(s->us, chi_pop(&pieces));
		uint64_t targets = aim_piece(s, kind, from);
		if (its != 0 && from == chi_move_from(s->move)) {
			int to = chi_move_to(s->move);
			s->found = (targets & its) >> to & 1;
			s->number += count_before(s->us, targets & its, to, how);
			its = 0;
		}
		s->number += count(targets & (before | its), how);
	}
}

/* The same of all kinds; compiled for each class. */
CHI_INLINE void sum_kinds(struct search *s, int class, unsigned how)
{
	sum_kind(s, CHI_KNIGHT, class, how);
	sum_kind(s, CHI_KING, class, how);
	if (class > 7) {
		sum_kind(s, CHI_BISHOP, class, how);
		sum_kind(s, CHI_ROOK, class, how);
		sum_kind(s, CHI_QUEEN, class, how);
	}
}

/* Classes 3 to 9 of a piece's move. */
CHI_INLINE void sum_piece(struct search *s, int kind, unsigned how)
{
	struct pawn_targets pawns = aim_pawns(s);
	bool slides = kind != CHI_KNIGHT && kind != CHI_KING;
	bool is_usual = (good_targets(s, kind) >> chi_move_to(s->move) & 1) != 0;
	(void)sum_pawns(s, pawns.left, false, how);
	(void)sum_pawns(s, pawns.right, false, how);
	(void)sum_pawns(s, pawns.usual | pawns.promoting, false, how);
	if (!slides && is_usual) {
		sum_kinds(s, 5, how);
		return;
	}
	(void)sum_pawns(s, pawns.others, false, how);
	if (!slides) {
		sum_kinds(s, 7, how);
	} else if (is_usual) {
		sum_kinds(s, 8, how);
	} else {
		sum_kinds(s, 9, how);
	}
}

/* Classes 3, 4 and 6: a pawn's move. */
CHI_INLINE void sum_pawn(struct search *s, unsigned how)
{
	struct pawn_targets pawns = aim_pawns(s);
	int to = chi_move_to(s->move);
	int way = square_of(s->us, to) - square_of(s->us, chi_move_from(s->move));
	/* Two squares, unless it is another pawn's step. */
	int back = s->us == CHI_WHITE ? -8 : 8;
	bool step = way == 8 || (way == 16 && (s->occupied >> (to + back) & 1) == 0);
	if (sum_pawns(s, pawns.left, way == 7, how) || sum_pawns(s, pawns.right, way == 9, how) ||
	    sum_pawns(s, pawns.promoting, step, how) || sum_pawns(s, pawns.usual, step, how)) {
		return;
	}
	sum_kinds(s, 6, how);
	(void)sum_pawns(s, pawns.others, step, how);
}

/* The number of a move, or NO_NUMBER if it is no candidate. */
CHI_INLINE unsigned sum_number(const struct chi_position *p, int last, chi_move move, unsigned how)
{
	struct search s = {.move = move & 0xfff};
	int from = chi_move_from(move);
	begin_search(&s, p, last);
	if ((s.own >> from & 1) == 0) {
		return NO_NUMBER;
	}
	if (last != CHI_NO_SQUARE && (s.enemy >> last & 1) != 0 && sum_answers(&s, last, how)) {
		return s.found ? s.number : NO_NUMBER;
	}
	if (sum_castling(&s)) {
		return s.number;
	}
	if ((p->kind[CHI_PAWN] >> from & 1) != 0) {
		sum_pawn(&s, how);
	} else {
		sum_piece(&s, kind_on(p, from), how);
	}
	return s.found ? s.number : NO_NUMBER;
}

/* ---- As the processor can ---------------------------------------------------------------- */

#if HAVE_FAST
FAST_TARGET static bool read_fast(struct search *s, const struct chi_position *p, int last)
{
	return read_number(s, p, last, FAST);
}

FAST_TARGET static unsigned sum_fast(const struct chi_position *p, int last, chi_move move)
{
	return sum_number(p, last, move, FAST);
}

static inline bool can_fast(void)
{
	return CHI_LIKELY(__builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi2"));
}
#endif

static bool find_candidate(struct search *s, const struct chi_position *p, int last)
{
#if HAVE_FAST
	if (can_fast()) {
		return read_fast(s, p, last);
	}
#endif
	return read_number(s, p, last, 0);
}

static unsigned find_number(const struct chi_position *p, int last, chi_move move)
{
#if HAVE_FAST
	if (can_fast()) {
		return sum_fast(p, last, move);
	}
#endif
	return sum_number(p, last, move, 0);
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

/* As chi_movecode_write. */
static inline size_t write_move(const struct chi_position *position, int last, chi_move move,
				uint8_t *out)
{
	/* Promotions of one pawn: the queen comes first. */
	int promotion = chi_move_promotion(move);
	if (!promotion_fits(position, move)) {
		return 0;
	}
	unsigned number = find_number(position, last, move);
	if (number == NO_NUMBER) {
		return 0;
	}
	number += promotion != 0 ? (unsigned)(CHI_QUEEN - promotion) : 0;
	size_t len = 0;
	/* There are never so many candidates that the bytes do not do. */
	while (CHI_UNLIKELY(number >= ESCAPE) && len < CHI_MOVECODE_MAX - 1) {
		out[len++] = ESCAPE;
		number -= ESCAPE;
	}
	out[len++] = (uint8_t)number;
	return len;
}

size_t chi_movecode_write(const struct chi_position *position, int last, chi_move move,
			  uint8_t out[CHI_MOVECODE_MAX])
{
	return write_move(position, last, move, out);
}

int chi_movecode_encode(const struct chi_position *start, const chi_move *moves, size_t n,
			uint8_t *out, size_t *len)
{
	struct chi_position positions[2] = {*start};
	int last = CHI_NO_SQUARE;
	*len = 0;
	for (size_t i = 0; i < n; i++) {
		size_t wrote = write_move(&positions[i & 1], last, moves[i], out + *len);
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
		size_t wrote = write_move(&positions[i], last, moves[i], out + *len);
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
	if (!find_candidate(&search, &replay->positions[replay->now], replay->last)) {
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
