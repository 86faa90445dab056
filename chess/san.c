/* SPDX-License-Identifier: MIT */
/*
 * A text is taken apart into a wish: which kind of piece, from where, to where. A wish names few
 * candidates, found backwards from the target by the attacks of the wished piece; of them the one
 * that does not leave its king attacked is the move.
 */
#include "chess/san.h"

#include <string.h>

#include "base/attr.h"
#include "chess/bitboard.h"
#include "chess/movegen.h"

#define ANY 8 /* a file or rank that is not named */

#define NO_KIND CHI_KINDS

/* What a text says of a move. */
struct wish {
	uint8_t kind;	   /* NO_KIND: no letter; a pawn, or what is on the origin if it is named */
	uint8_t from_file; /* 0..7 or ANY, as the next three */
	uint8_t from_rank;
	uint8_t to_file;
	uint8_t to_rank;   /* ANY in a pawn's capture written "ed" */
	uint8_t promotion; /* enum chi_piece_kind; 0 none */
	uint8_t castling;  /* 0 none, 2 short, 3 long */
};

/* What the first byte of a usual text is: a piece's letter, its kind plus one; or a file. */
#define FIRST_FILE (CHI_KINDS + 1)
static const uint8_t firsts[256] = {
	['N'] = CHI_KNIGHT + 1, ['B'] = CHI_BISHOP + 1, ['R'] = CHI_ROOK + 1,
	['Q'] = CHI_QUEEN + 1,	['K'] = CHI_KING + 1,	['a' ... 'h'] = FIRST_FILE,
};

/* 2 or 3 for castling written with O, o or 0, else 0. */
static uint8_t castling_of(const char *text, size_t len)
{
	if (len != 3 && len != 5) {
		return 0;
	}
	for (size_t i = 0; i < len; i++) {
		bool letter = text[i] == 'O' || text[i] == 'o' || text[i] == '0';
		if (i % 2 == 0 ? !letter : text[i] != '-') {
			return 0;
		}
	}
	return (uint8_t)(len / 2 + 1);
}

/* Takes a promotion ("=Q", "/Q", "Q", "q") off the end; false if one is there that cannot be. */
static bool take_promotion(const char *text, size_t *len, struct wish *wish)
{
	if (*len < 3) {
		return true;
	}
	char letter = text[*len - 1];
	char before = text[*len - 2];
	bool sign = before == '=' || before == '/';
	if (!sign && before != '8' && before != '1') {
		/* "ed=Q" has no rank, "edQ" is nothing. */
		return true;
	}
	uint8_t kind = chi_kind_of((char)(letter >= 'a' ? letter - 0x20 : letter));
	if (kind == NO_KIND) {
		return !sign;
	}
	*len -= sign ? 2 : 1;
	wish->promotion = kind;
	return kind != CHI_PAWN && kind != CHI_KING;
}

/* Sorts up to four coordinates, in their order, into origin and target. */
static bool place(const char *coordinates, size_t n, struct wish *wish)
{
	bool is_rank[4] = {false};
	for (size_t i = 0; i < n; i++) {
		is_rank[i] = coordinates[i] <= '8';
	}
	if (n == 2 && !is_rank[0] && !is_rank[1]) {
		wish->from_file = (uint8_t)(coordinates[0] - 'a');
		wish->to_file = (uint8_t)(coordinates[1] - 'a');
		return wish->kind == NO_KIND || wish->kind == CHI_PAWN;
	}
	if (n < 2 || is_rank[n - 2] || !is_rank[n - 1]) {
		return false;
	}
	wish->to_file = (uint8_t)(coordinates[n - 2] - 'a');
	wish->to_rank = (uint8_t)(coordinates[n - 1] - '1');
	n -= 2;
	if (n == 2 && (is_rank[0] || !is_rank[1])) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_rank[i]) {
			wish->from_rank = (uint8_t)(coordinates[i] - '1');
		} else {
			wish->from_file = (uint8_t)(coordinates[i] - 'a');
		}
	}
	return true;
}

/* Reads what follows the piece's letter. */
static bool read_squares(const char *text, size_t len, struct wish *wish)
{
	char coordinates[4];
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if ((c >= 'a' && c <= 'h') || (c >= '1' && c <= '8')) {
			if (n == CHI_COUNT(coordinates)) {
				return false;
			}
			coordinates[n++] = c;
		} else if (c != 'x' && c != '-' && c != ':' && c != 'X') {
			return false;
		}
	}
	return place(coordinates, n, wish);
}

/* The usual texts: "Nf3", "Nxf3", "Nbd2", "N1xd2", "e4", "dxe5", perhaps with one check mark.
 * False: read_wish() knows. */
CHI_INLINE bool read_usual(const char *text, size_t len, struct wish *wish)
{
	if (len < 2 || len > 6) {
		return false;
	}
	len -= len > 2 && (text[len - 1] == '+' || text[len - 1] == '#');
	unsigned file = (unsigned char)text[len - 2] - (unsigned)'a';
	unsigned rank = (unsigned char)text[len - 1] - (unsigned)'1';
	uint8_t first = firsts[(unsigned char)text[0]];
	if (file > 7 || rank > 7 || first == 0) {
		return false;
	}
	*wish = (struct wish){
		.kind = (uint8_t)(first - 1),
		.from_file = ANY,
		.from_rank = ANY,
		.to_file = (uint8_t)file,
		.to_rank = (uint8_t)rank,
	};
	if (first == FIRST_FILE) {
		wish->from_file = len == 2 ? ANY : (uint8_t)(text[0] - 'a');
		return len == 2 || (len == 4 && text[1] == 'x');
	}
	if (len == 3 || (len == 4 && text[1] == 'x')) {
		return true;
	}
	unsigned from_file = (unsigned char)text[1] - (unsigned)'a';
	unsigned from_rank = (unsigned char)text[1] - (unsigned)'1';
	wish->from_file = from_file < ANY ? (uint8_t)from_file : ANY;
	wish->from_rank = from_rank < ANY ? (uint8_t)from_rank : ANY;
	return (from_file < ANY || from_rank < ANY) && (len == 4 || (len == 5 && text[2] == 'x'));
}

static bool read_wish(const char *text, size_t len, struct wish *wish)
{
	*wish = (struct wish){
		.kind = NO_KIND,
		.from_file = ANY,
		.from_rank = ANY,
		.to_file = ANY,
		.to_rank = ANY,
	};
	/* Check marks prove nothing: many are missing, some are wrong. */
	while (len > 0 && (text[len - 1] == '+' || text[len - 1] == '#' || text[len - 1] == ':')) {
		len--;
	}
	if (len == 0) {
		return false;
	}
	if (text[0] == 'O' || text[0] == '0' || text[0] == 'o') {
		wish->castling = castling_of(text, len);
		return wish->castling != 0;
	}
	/* Capital letters only: 'b' is a file. */
	uint8_t kind = chi_kind_of(text[0]);
	if (kind != NO_KIND) {
		wish->kind = kind;
		text++;
		len--;
	}
	if (kind == NO_KIND || kind == CHI_PAWN) {
		if (!take_promotion(text, &len, wish)) {
			return false;
		}
	}
	return read_squares(text, len, wish);
}

/* True if the king on `king` is not attacked once the piece on `from`, another, has gone to `to`.
 * Looks along the king's own lines for sliders, of which there are few. */
CHI_INLINE bool is_covered(const struct chi_position *position, int king, int from, int to)
{
	const uint64_t *kind = position->kind;
	int us = position->side;
	/* A piece taken on `to` no longer attacks anything. */
	uint64_t enemy = position->colour[us ^ 1] & ~chi_bit(to);
	uint64_t occupied = (chi_position_occupied(position) ^ chi_bit(from)) | chi_bit(to);
	uint64_t near = (chi_attacks.pawn[us][king] & kind[CHI_PAWN]) |
			(chi_attacks.knight[king] & kind[CHI_KNIGHT]) |
			(chi_attacks.king[king] & kind[CHI_KING]);
	uint64_t sliders = (chi_attacks.rook_rays[king] & (kind[CHI_ROOK] | kind[CHI_QUEEN])) |
			   (chi_attacks.bishop_rays[king] & (kind[CHI_BISHOP] | kind[CHI_QUEEN]));
	sliders &= enemy;
	if (CHI_UNLIKELY((near & enemy) != 0)) {
		return false;
	}
	while (sliders != 0) {
		if ((chi_attacks.between[king][chi_pop(&sliders)] & occupied) == 0) {
			return false;
		}
	}
	return true;
}

CHI_INLINE bool is_safe(const struct chi_position *position, int from, int to, int kind)
{
	int us = position->side;
	if (kind == CHI_KING) {
		/* Without itself on the board, or it would hide the squares beyond it. */
		uint64_t occupied = (chi_position_occupied(position) ^ chi_bit(from)) | chi_bit(to);
		return chi_attackers(position, to, us ^ 1, occupied) == 0;
	}
	int king = chi_position_king(position, us);
	return king == CHI_NO_SQUARE || is_covered(position, king, from, to);
}

bool chi_san_is_safe(const struct chi_position *position, int from, int to, int kind)
{
	return is_safe(position, from, to, kind);
}

static inline void found(struct chi_san_found *finding, chi_move move)
{
	if (finding->n < CHI_SAN_FOUND_MAX) {
		finding->moves[finding->n] = move;
	}
	finding->n++;
}

static inline uint64_t named_origins(const struct wish *wish)
{
	uint64_t set = ~UINT64_C(0);
	if (wish->from_file != ANY) {
		set &= UINT64_C(0x0101010101010101) << wish->from_file;
	}
	if (wish->from_rank != ANY) {
		set &= UINT64_C(0xff) << 8 * wish->from_rank;
	}
	return set;
}

/* Squares that a piece of the side to move can come to: empty, or an enemy's but the king's. */
static bool can_enter(const struct chi_position *position, int to)
{
	return ((position->colour[position->side] | position->kind[CHI_KING]) >> to & 1) == 0;
}

/* Moves of a piece to `to`, found backwards: it attacks from there what attacks it. */
static inline void find_piece(const struct chi_position *position, uint64_t origins, int kind,
			      int to, struct chi_san_found *finding)
{
	uint64_t candidates = position->kind[kind] & position->colour[position->side] & origins;
	if (!can_enter(position, to) || candidates == 0) {
		return;
	}
	candidates &= chi_piece_attacks(position->side, kind, to, chi_position_occupied(position));
	while (candidates != 0) {
		int from = chi_pop(&candidates);
		if (is_safe(position, from, to, kind)) {
			found(finding, chi_move_make(from, to, 0));
		}
	}
}

/* A pawn's capture on `to` from the squares named. */
static void find_capture(const struct chi_position *position, uint64_t origins, int promotion,
			 int to, struct chi_san_found *finding)
{
	int us = position->side;
	bool ep = to == position->ep;
	if (!ep && (position->colour[us ^ 1] & ~position->kind[CHI_KING] & chi_bit(to)) == 0) {
		return;
	}
	uint64_t candidates = chi_attacks.pawn[us ^ 1][to] & position->kind[CHI_PAWN] &
			      position->colour[us] & origins;
	while (candidates != 0) {
		int from = chi_pop(&candidates);
		if (ep ? chi_position_ep_safe(position, from, to)
		       : is_safe(position, from, to, CHI_PAWN)) {
			found(finding, chi_move_make(from, to, promotion));
		}
	}
}

/* A pawn's step to `to`, one square or two. */
static void find_step(const struct chi_position *position, uint64_t origins, int promotion, int to,
		      struct chi_san_found *finding)
{
	int us = position->side;
	int back = us == CHI_WHITE ? -8 : 8;
	uint64_t pawns = position->kind[CHI_PAWN] & position->colour[us];
	uint64_t occupied = chi_position_occupied(position);
	int from = to + back;
	if (from < 0 || from > 63 || (occupied >> to & 1) != 0) {
		return;
	}
	/* The square before is empty: it can only be a double step. */
	if ((occupied >> from & 1) == 0 && to >> 3 == (us == CHI_WHITE ? 3 : 4)) {
		from += back;
	}
	if ((pawns & origins & chi_bit(from)) != 0 && is_safe(position, from, to, CHI_PAWN)) {
		found(finding, chi_move_make(from, to, promotion));
	}
}

/* A pawn on the last rank becomes something, elsewhere nothing. */
static bool promotion_fits(const struct wish *wish, int to)
{
	bool last = to >> 3 == 0 || to >> 3 == 7;
	return last == (wish->promotion != 0);
}

static inline void find_pawn(const struct chi_position *position, const struct wish *wish, int to,
			     struct chi_san_found *finding)
{
	if (!promotion_fits(wish, to)) {
		return;
	}
	/* A capture must name its file: "e5" never means "dxe5". */
	if (wish->from_file == ANY || wish->from_file == (to & 7)) {
		find_step(position, named_origins(wish), wish->promotion, to, finding);
	} else {
		find_capture(position, named_origins(wish), wish->promotion, to, finding);
	}
}

/* "ed": any capture from one file to the other. */
static void find_file_capture(const struct chi_position *position, const struct wish *wish,
			      struct chi_san_found *finding)
{
	for (int rank = 0; rank < 8; rank++) {
		int to = rank * 8 + wish->to_file;
		if (promotion_fits(wish, to)) {
			find_capture(position, named_origins(wish), wish->promotion, to, finding);
		}
	}
}

/* Castling; the generator knows its rules, and twice a game is not worth a second set of them. */
static void find_castling(const struct chi_position *position, int side,
			  struct chi_san_found *finding)
{
	int king = chi_position_king(position, position->side);
	uint64_t rooks = position->castle & position->colour[position->side];
	while (rooks != 0) {
		int rook = chi_pop(&rooks);
		chi_move move = chi_move_make(king, rook, 0);
		if ((rook > king) == (side == 2) && chi_movegen_is_legal(position, move)) {
			found(finding, move);
		}
	}
}

/* Both squares without a piece's letter: UCI, or a pawn's move written in full. */
static void find_from(const struct chi_position *position, const struct wish *wish, int from,
		      int to, struct chi_san_found *finding)
{
	int kind = chi_position_kind(position, from);
	if (kind == CHI_PAWN) {
		find_pawn(position, wish, to, finding);
		return;
	}
	if (kind == CHI_KINDS || wish->promotion != 0) {
		return;
	}
	uint64_t own = position->colour[position->side];
	bool own_rook = (own & position->castle & chi_bit(to)) != 0;
	bool two_steps = from >> 3 == to >> 3 && (from - to == 2 || to - from == 2);
	if (kind == CHI_KING && (own >> from & 1) != 0 && (own_rook || two_steps)) {
		find_castling(position, to > from ? 2 : 3, finding);
	} else {
		find_piece(position, named_origins(wish), kind, to, finding);
	}
}

/* All legal moves that fit the wish; no two are the same, as each origin is tried once. */
static void find_moves(const struct chi_position *position, const struct wish *wish,
		       struct chi_san_found *finding)
{
	if (wish->castling != 0) {
		find_castling(position, wish->castling, finding);
		return;
	}
	if (wish->to_rank == ANY) {
		find_file_capture(position, wish, finding);
		return;
	}
	int to = wish->to_rank * 8 + wish->to_file;
	if (wish->kind != NO_KIND && wish->kind != CHI_PAWN) {
		find_piece(position, named_origins(wish), wish->kind, to, finding);
	} else if (wish->kind == NO_KIND && wish->from_file != ANY && wish->from_rank != ANY) {
		find_from(position, wish, wish->from_rank * 8 + wish->from_file, to, finding);
	} else {
		find_pawn(position, wish, to, finding);
	}
}

/* Words that are no moves and do no harm; anything without a letter or digit is one too. */
static enum chi_san_verdict judge_other(const char *text, size_t len)
{
	static const char *const nulls[] = {"--", "Z0", "0000", "null", "@@@@"};
	static const char *const remarks[] = {"N", "D", "TN", "ep", "e.p.", "ch", "mate", "dis"};
	for (size_t i = 0; i < CHI_COUNT(nulls); i++) {
		if (strlen(nulls[i]) == len && memcmp(nulls[i], text, len) == 0) {
			return CHI_SAN_NULL;
		}
	}
	for (size_t i = 0; i < CHI_COUNT(remarks); i++) {
		if (strlen(remarks[i]) == len && memcmp(remarks[i], text, len) == 0) {
			return CHI_SAN_REMARK;
		}
	}
	for (size_t i = 0; i < len; i++) {
		char lower = (char)(text[i] | 0x20);
		if ((lower >= 'a' && lower <= 'z') || (text[i] >= '0' && text[i] <= '9')) {
			return CHI_SAN_NO_MOVE;
		}
	}
	return CHI_SAN_REMARK;
}

enum chi_san_verdict chi_san_find(const struct chi_position *position, const char *text, size_t len,
				  struct chi_san_found *out)
{
	struct wish usual;
	struct wish wish;
	out->n = 0;
	if (read_usual(text, len, &usual)) {
		int to = usual.to_rank * 8 + usual.to_file;
		if (usual.kind != NO_KIND) {
			find_piece(position, named_origins(&usual), usual.kind, to, out);
		} else {
			find_pawn(position, &usual, to, out);
		}
	} else if (len <= CHI_SAN_TEXT_MAX && read_wish(text, len, &wish)) {
		find_moves(position, &wish, out);
	} else {
		return judge_other(text, len);
	}
	if (out->n == 1) {
		return CHI_SAN_MOVE;
	}
	return out->n == 0 ? CHI_SAN_NOT_LEGAL : CHI_SAN_MANY;
}
