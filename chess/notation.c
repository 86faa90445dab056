/* SPDX-License-Identifier: MIT */
/*
 * UCI moves, SAN, and lines of moves in either notation. What SAN says is found in chess/san.c; in
 * printing it the other pieces that attack the target decide how much of the origin must be named.
 */
#include "chess/notation.h"

#include <string.h>

#include "base/fault.h"
#include "chess/movegen.h"
#include "chess/san.h"

#define E_FILE 4

static const char promotion_letters[] = "-nbrq???";

static char *print_square(int square, char *at)
{
	*at++ = (char)('a' + (square & 7));
	*at++ = (char)('1' + (square >> 3));
	return at;
}

/* True if castling with this king and rook is what standard chess knows. */
static bool is_standard_castling(int king, int rook)
{
	return (king & 7) == E_FILE && ((rook & 7) == 0 || (rook & 7) == 7);
}

size_t chi_uci_print(const struct chi_position *position, chi_move move, char out[CHI_UCI_SIZE])
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	int promotion = chi_move_promotion(move) & 7;
	if (chi_position_is_castling(position, move) && is_standard_castling(from, to)) {
		to = chi_castling_king_to(from, to);
	}
	char *at = print_square(to, print_square(from, out));
	if (promotion != 0) {
		*at++ = promotion_letters[promotion];
	}
	*at = '\0';
	return (size_t)(at - out);
}

static bool read_square(const char *text, int *square)
{
	if (text[0] < 'a' || text[0] > 'h' || text[1] < '1' || text[1] > '8') {
		return false;
	}
	*square = (text[1] - '1') * 8 + text[0] - 'a';
	return true;
}

/* Castling by the king's step of two squares, e1g1: the move as king takes rook, or 0. */
static chi_move castling_by_step(const struct chi_position *position, int from, int to)
{
	uint64_t rooks = position->castle & position->colour[position->side];
	if (from != chi_position_king(position, position->side) || (from & 7) != E_FILE) {
		return 0;
	}
	while (rooks != 0) {
		int rook = __builtin_ctzll(rooks);
		rooks &= rooks - 1;
		if (chi_castling_king_to(from, rook) == to) {
			return chi_move_make(from, rook, 0);
		}
	}
	return 0;
}

/* The move that UCI text spells, legal or not; 0 if it spells none. */
static chi_move read_uci(const char *text, size_t len)
{
	int from = 0;
	int to = 0;
	int promotion = 0;
	if ((len != 4 && len != 5) || !read_square(text, &from) || !read_square(text + 2, &to)) {
		return 0;
	}
	if (len == 5) {
		const char *letter = memchr("nbrq", text[4], 4);
		if (letter == NULL) {
			return 0;
		}
		promotion = (int)(strchr(promotion_letters, *letter) - promotion_letters);
	}
	return chi_move_make(from, to, promotion);
}

int chi_uci_parse(const struct chi_position *position, const char *text, size_t len, chi_move *out,
		  struct chi_fault *fault)
{
	chi_move move = read_uci(text, len);
	if (move != 0 && !chi_movegen_is_legal(position, move)) {
		move = castling_by_step(position, chi_move_from(move),
					len == 4 ? chi_move_to(move) : CHI_NO_SQUARE);
		move = move != 0 && chi_movegen_is_legal(position, move) ? move : 0;
	}
	if (move == 0) {
		return chi_fail(fault, -CHI_EMOVE, "'%.*s' is not a legal move here",
				(int)(len < CHI_SAN_INPUT_MAX ? len : CHI_SAN_INPUT_MAX), text);
	}
	*out = move;
	return CHI_OK;
}

/* ---- SAN --------------------------------------------------------------------------------- */

/* Removes marks that say nothing about which move it is. */
static size_t strip_marks(const char *text, size_t len)
{
	while (len > 0 && memchr("+#!?", text[len - 1], 4) != NULL) {
		len--;
	}
	if (len > 4 && memcmp(text + len - 4, "e.p.", 4) == 0) {
		len -= 4;
	}
	return len;
}

int chi_san_parse(const struct chi_position *position, const char *text, size_t len, chi_move *out,
		  struct chi_fault *fault)
{
	struct chi_san_found found;
	if (len > CHI_SAN_INPUT_MAX) {
		return chi_fail(fault, -CHI_EMOVE, "a move of %zu bytes, at most %d are read", len,
				CHI_SAN_INPUT_MAX);
	}
	switch (chi_san_find(position, text, strip_marks(text, len), &found)) {
	case CHI_SAN_MOVE:
		*out = found.moves[0];
		return CHI_OK;
	case CHI_SAN_MANY:
		return chi_fail(fault, -CHI_EMOVE, "'%.*s' matches more than one legal move",
				(int)len, text);
	case CHI_SAN_NOT_LEGAL:
		return chi_fail(fault, -CHI_EMOVE, "'%.*s' is not a legal move here", (int)len,
				text);
	default:
		return chi_fail(fault, -CHI_EMOVE, "'%.*s' is not a move", (int)len, text);
	}
}

/* Prints as much of the origin as tells the piece from others of its kind that may go there. */
static char *print_origin(const struct chi_position *position, chi_move move, int kind, char *at)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	uint64_t rivals = position->kind[kind] & position->colour[position->side] & ~chi_bit(from);
	bool rival = false;
	bool same_file = false;
	bool same_rank = false;
	if (rivals != 0) {
		rivals &= chi_piece_attacks(position->side, kind, to,
					    chi_position_occupied(position));
	}
	while (rivals != 0) {
		int other = chi_pop(&rivals);
		if (chi_san_is_safe(position, other, to, kind)) {
			rival = true;
			same_file = same_file || (other & 7) == (from & 7);
			same_rank = same_rank || other >> 3 == from >> 3;
		}
	}
	if (rival && (!same_file || same_rank)) {
		*at++ = (char)('a' + (from & 7));
	}
	if (same_file) {
		*at++ = (char)('1' + (from >> 3));
	}
	return at;
}

/* Everything but castling and the check mark. */
static char *print_plain(const struct chi_position *position, chi_move move, char *at)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	int kind = chi_position_kind(position, from);
	bool capture = (chi_position_occupied(position) >> to & 1) != 0 ||
		       (kind == CHI_PAWN && to == position->ep);
	if (kind != CHI_PAWN) {
		*at++ = CHI_KIND_LETTERS[kind];
		at = print_origin(position, move, kind, at);
	} else if (capture) {
		*at++ = (char)('a' + (from & 7));
	}
	if (capture) {
		*at++ = 'x';
	}
	at = print_square(to, at);
	if (chi_move_promotion(move) != 0) {
		*at++ = '=';
		*at++ = CHI_KIND_LETTERS[chi_move_promotion(move)];
	}
	return at;
}

size_t chi_san_write(const struct chi_position *position, chi_move move,
		     const struct chi_position *next, char out[CHI_SAN_SIZE])
{
	char *at = out;
	if (chi_position_is_castling(position, move)) {
		bool short_side = chi_move_to(move) > chi_move_from(move);
		memcpy(at, "O-O-O", 5);
		at += short_side ? 3 : 5;
	} else {
		at = print_plain(position, move, at);
	}
	if (chi_position_in_check(next, next->side)) {
		struct chi_move_list list;
		chi_movegen_legal(next, &list);
		*at++ = list.n == 0 ? '#' : '+';
	}
	*at = '\0';
	return (size_t)(at - out);
}

size_t chi_san_print(const struct chi_position *position, chi_move move, char out[CHI_SAN_SIZE])
{
	struct chi_position next;
	if (!chi_movegen_is_legal(position, move)) {
		/* A caller's mistake, or a damaged record's move: say what it spells. */
		return chi_uci_print(position, move, out);
	}
	chi_position_play(position, move, &next);
	return chi_san_write(position, move, &next, out);
}

/* ---- Lines ------------------------------------------------------------------------------- */

int chi_move_parse(const struct chi_position *position, const char *text, size_t len, chi_move *out,
		   struct chi_fault *fault)
{
	if (chi_san_parse(position, text, len, out, fault) == CHI_OK) {
		return CHI_OK;
	}
	/* SAN's fault stays unless the text spells a move in UCI's form. */
	return chi_uci_parse(position, text, len, out, read_uci(text, len) != 0 ? fault : NULL);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Length of a move number with its dots at the start of `text`; 0 if there is none. */
static size_t number_length(const char *text, size_t len)
{
	size_t digits = 0;
	while (digits < len && text[digits] >= '0' && text[digits] <= '9') {
		digits++;
	}
	size_t end = digits;
	while (end < len && text[end] == '.') {
		end++;
	}
	return digits > 0 && end > digits ? end : 0;
}

/* Takes the next move's text, without its number, from `*text`; false at the end. */
static bool next_token(const char **text, size_t *len, const char **token, size_t *token_len)
{
	const char *at = *text;
	const char *end = at + *len;
	size_t skipped = 0;
	do {
		while (at < end && is_space(*at)) {
			at++;
		}
		skipped = number_length(at, (size_t)(end - at));
		at += skipped;
	} while (skipped > 0);
	*token = at;
	while (at < end && !is_space(*at)) {
		at++;
	}
	*token_len = (size_t)(at - *token);
	*text = at;
	*len = (size_t)(end - at);
	return *token_len > 0;
}

int chi_line_parse(const struct chi_position *position, const char *text, size_t len, chi_move *out,
		   size_t max, size_t *n, struct chi_fault *fault)
{
	struct chi_position current = *position;
	const char *token = NULL;
	size_t token_len = 0;
	size_t count = 0;
	while (next_token(&text, &len, &token, &token_len)) {
		struct chi_position next;
		struct chi_fault why = {{0}};
		if (count == max) {
			return chi_fail(fault, -CHI_ETOOBIG, "more than %zu moves", max);
		}
		if (chi_move_parse(&current, token, token_len, &out[count], &why) != CHI_OK) {
			return chi_fail(fault, -CHI_EMOVE, "move %zu: %s", count + 1, why.text);
		}
		chi_position_play(&current, out[count], &next);
		current = next;
		count++;
	}
	*n = count;
	return CHI_OK;
}

int chi_line_check(const struct chi_position *position, const chi_move *moves, size_t n,
		   struct chi_fault *fault)
{
	struct chi_position current = *position;
	for (size_t i = 0; i < n; i++) {
		struct chi_position next;
		if (!chi_movegen_is_legal(&current, moves[i])) {
			char text[CHI_UCI_SIZE];
			chi_uci_print(&current, moves[i], text);
			return chi_fail(fault, -CHI_EMOVE, "move %zu, %s, is not legal", i + 1,
					text);
		}
		chi_position_play(&current, moves[i], &next);
		current = next;
	}
	return CHI_OK;
}
