/* SPDX-License-Identifier: MIT */
/*
 * Strictly legal moves in one pass: pins and checks are found first, as sets of squares, and each
 * piece's targets are cut down to them, so that no move need be tried and taken back. Only en
 * passant, which empties two squares at once, is tested move by move.
 */
#include "chess/movegen.h"

#include "base/attr.h"
#include "chess/bitboard.h"

#define FILE_A UINT64_C(0x0101010101010101)
#define FILE_H UINT64_C(0x8080808080808080)

/* What the generator knows of the position, worked out once. */
struct scene {
	const struct chi_position *position;
	int us;
	int king; /* or CHI_NO_SQUARE */
	uint64_t own;
	uint64_t enemy; /* without its king: nothing captures that */
	uint64_t occupied;
	uint64_t checkers;
	uint64_t pinned;  /* own pieces that may only move on their line with the king */
	uint64_t targets; /* where pieces other than the king may go */
	chi_move *out;
};

static inline void emit(struct scene *s, int from, uint64_t targets)
{
	while (targets != 0) {
		*s->out++ = chi_move_make(from, chi_pop(&targets), 0);
	}
}

/* Finds the pieces that give check, and the pinned ones. */
static void find_checks(struct scene *s)
{
	const struct chi_position *p = s->position;
	uint64_t enemy = p->colour[s->us ^ 1];
	uint64_t straight = p->kind[CHI_ROOK] | p->kind[CHI_QUEEN];
	uint64_t slanted = p->kind[CHI_BISHOP] | p->kind[CHI_QUEEN];
	/* An adjacent enemy king, which no game can show, counts as giving check. */
	s->checkers = enemy & ((chi_attacks.pawn[s->us][s->king] & p->kind[CHI_PAWN]) |
			       (chi_attacks.knight[s->king] & p->kind[CHI_KNIGHT]) |
			       (chi_attacks.king[s->king] & p->kind[CHI_KING]));
	uint64_t snipers = enemy & ((chi_attacks.rook_rays[s->king] & straight) |
				    (chi_attacks.bishop_rays[s->king] & slanted));
	while (snipers != 0) {
		int sniper = chi_pop(&snipers);
		uint64_t shield = chi_attacks.between[s->king][sniper] & s->occupied;
		if (shield == 0) {
			s->checkers |= chi_bit(sniper);
		} else if ((shield & (shield - 1)) == 0) {
			s->pinned |= shield & s->own;
		}
	}
}

static void set_scene(struct scene *s, const struct chi_position *position, chi_move *out)
{
	int us = position->side;
	*s = (struct scene){
		.position = position,
		.us = us,
		.king = chi_position_king(position, us),
		.own = position->colour[us],
		.enemy = position->colour[us ^ 1] & ~position->kind[CHI_KING],
		.occupied = chi_position_occupied(position),
		.out = out,
	};
	s->targets = s->enemy | ~s->occupied;
	if (s->king == CHI_NO_SQUARE) {
		return;
	}
	find_checks(s);
	if (s->checkers != 0) {
		/* Take the checker or step between; the caller has seen to double checks. */
		int checker = __builtin_ctzll(s->checkers);
		s->targets &= chi_attacks.between[s->king][checker] | s->checkers;
	}
}

static void king_moves(struct scene *s)
{
	uint64_t targets = chi_attacks.king[s->king] & (s->enemy | ~s->occupied);
	/* The king does not hide the squares beyond it from the piece that gives check. */
	uint64_t occupied = s->occupied ^ chi_bit(s->king);
	while (targets != 0) {
		int to = chi_pop(&targets);
		if (chi_attackers(s->position, to, s->us ^ 1, occupied) == 0) {
			*s->out++ = chi_move_make(s->king, to, 0);
		}
	}
}

static bool can_castle(const struct scene *s, int rook)
{
	int king_to = chi_castling_king_to(s->king, rook);
	int rook_to = chi_castling_rook_to(s->king, rook);
	uint64_t movers = chi_bit(s->king) | chi_bit(rook);
	uint64_t king_path = chi_attacks.between[s->king][king_to] | chi_bit(king_to);
	uint64_t rook_path = chi_attacks.between[rook][rook_to] | chi_bit(rook_to);
	if (((king_path | rook_path) & s->occupied & ~movers) != 0) {
		return false;
	}
	uint64_t on_the_way = king_path & ~chi_bit(king_to);
	while (on_the_way != 0) {
		if (chi_attackers(s->position, chi_pop(&on_the_way), s->us ^ 1,
				  s->occupied ^ chi_bit(s->king)) != 0) {
			return false;
		}
	}
	/* In Chess960 the rook may have shielded the king's new place. */
	uint64_t after = (s->occupied ^ movers) | chi_bit(king_to) | chi_bit(rook_to);
	return chi_attackers(s->position, king_to, s->us ^ 1, after) == 0;
}

static void castling_moves(struct scene *s)
{
	uint64_t rooks = s->position->castle & s->own;
	while (rooks != 0) {
		int rook = chi_pop(&rooks);
		if (can_castle(s, rook)) {
			*s->out++ = chi_move_make(s->king, rook, 0);
		}
	}
}

/* Emits pawn moves to `targets`, each from the square `step` before it. */
static inline void emit_pawns(struct scene *s, uint64_t targets, int step)
{
	uint64_t promotions = targets & (CHI_RANK_1 | CHI_RANK_8);
	targets ^= promotions;
	while (targets != 0) {
		int to = chi_pop(&targets);
		*s->out++ = chi_move_make(to - step, to, 0);
	}
	while (promotions != 0) {
		int to = chi_pop(&promotions);
		for (int kind = CHI_QUEEN; kind >= CHI_KNIGHT; kind--) {
			*s->out++ = chi_move_make(to - step, to, kind);
		}
	}
}

/* Moves of a set of pawns that may go to `targets`, but for en passant. */
static void pawn_moves(struct scene *s, uint64_t pawns, uint64_t targets)
{
	uint64_t empty = ~s->occupied;
	if (s->us == CHI_WHITE) {
		uint64_t single = pawns << 8 & empty;
		uint64_t twice = (single & CHI_RANK_1 << 16) << 8 & empty;
		emit_pawns(s, single & targets, 8);
		emit_pawns(s, twice & targets, 16);
		emit_pawns(s, (pawns & ~FILE_A) << 7 & s->enemy & targets, 7);
		emit_pawns(s, (pawns & ~FILE_H) << 9 & s->enemy & targets, 9);
	} else {
		uint64_t single = pawns >> 8 & empty;
		uint64_t twice = (single & CHI_RANK_8 >> 16) >> 8 & empty;
		emit_pawns(s, single & targets, -8);
		emit_pawns(s, twice & targets, -16);
		emit_pawns(s, (pawns & ~FILE_H) >> 7 & s->enemy & targets, -7);
		emit_pawns(s, (pawns & ~FILE_A) >> 9 & s->enemy & targets, -9);
	}
}

static void all_pawn_moves(struct scene *s)
{
	uint64_t pawns = s->own & s->position->kind[CHI_PAWN];
	pawn_moves(s, pawns & ~s->pinned, s->targets);
	uint64_t pinned = pawns & s->pinned;
	while (pinned != 0) {
		int from = chi_pop(&pinned);
		pawn_moves(s, chi_bit(from), s->targets & chi_attacks.line[s->king][from]);
	}
	if (s->position->ep == CHI_NO_SQUARE) {
		return;
	}
	uint64_t capturers = chi_attacks.pawn[s->us ^ 1][s->position->ep] & pawns;
	while (capturers != 0) {
		int from = chi_pop(&capturers);
		if (chi_position_ep_safe(s->position, from, s->position->ep)) {
			*s->out++ = chi_move_make(from, s->position->ep, 0);
		}
	}
}

/* Targets of a piece that may be pinned. */
static inline uint64_t allowed(const struct scene *s, int from)
{
	if (CHI_UNLIKELY((s->pinned >> from & 1) != 0)) {
		return s->targets & chi_attacks.line[s->king][from];
	}
	return s->targets;
}

static void piece_moves(struct scene *s)
{
	const uint64_t *kind = s->position->kind;
	/* A pinned knight cannot move. */
	uint64_t knights = s->own & kind[CHI_KNIGHT] & ~s->pinned;
	while (knights != 0) {
		int from = chi_pop(&knights);
		emit(s, from, chi_attacks.knight[from] & s->targets);
	}
	uint64_t slanted = s->own & (kind[CHI_BISHOP] | kind[CHI_QUEEN]);
	while (slanted != 0) {
		int from = chi_pop(&slanted);
		emit(s, from, chi_bishop_attacks(from, s->occupied) & allowed(s, from));
	}
	uint64_t straight = s->own & (kind[CHI_ROOK] | kind[CHI_QUEEN]);
	while (straight != 0) {
		int from = chi_pop(&straight);
		emit(s, from, chi_rook_attacks(from, s->occupied) & allowed(s, from));
	}
}

void chi_movegen_legal(const struct chi_position *position, struct chi_move_list *out)
{
	struct scene s;
	set_scene(&s, position, out->moves);
	if (s.king != CHI_NO_SQUARE) {
		king_moves(&s);
	}
	/* Against a double check only the king can move. */
	if ((s.checkers & (s.checkers - 1)) == 0) {
		piece_moves(&s);
		all_pawn_moves(&s);
		if (s.checkers == 0) {
			castling_moves(&s);
		}
	}
	out->n = (size_t)(s.out - out->moves);
}

bool chi_move_list_has(const struct chi_move_list *list, chi_move move)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->moves[i] == move) {
			return true;
		}
	}
	return false;
}

/* Only the moves of the piece on the move's origin are made. */
bool chi_movegen_is_legal(const struct chi_position *position, chi_move move)
{
	struct chi_move_list list;
	struct scene s;
	int from = chi_move_from(move);
	set_scene(&s, position, list.moves);
	if (from == s.king) {
		king_moves(&s);
		if (s.checkers == 0) {
			castling_moves(&s);
		}
	} else if ((s.checkers & (s.checkers - 1)) == 0) {
		s.own &= chi_bit(from);
		piece_moves(&s);
		all_pawn_moves(&s);
	}
	list.n = (size_t)(s.out - list.moves);
	return chi_move_list_has(&list, move);
}
