/* SPDX-License-Identifier: MIT */
/*
 * Standard algebraic notation. Reading: the text is taken apart into what it says of the move,
 * and the legal moves are searched for the one that fits; nothing is guessed. Printing: the legal
 * moves tell how much of the origin must be named.
 */
#include "chess/notation.h"

#include <string.h>

#include "base/fault.h"
#include "chess/movegen.h"

#define ANY (-1)

/* What SAN text says of a move. */
struct wish {
	int kind;
	int from_file; /* or ANY, as the next */
	int from_rank;
	int to; /* ANY with castling */
	int promotion;
	int castling; /* 0 none, 2 with the h-side rook (O-O), 3 with the a-side rook (O-O-O) */
};

static const char kind_letters[] = "PNBRQK";

static int kind_of(char letter)
{
	const char *found = memchr(kind_letters + 1, letter, CHI_KINDS - 1);
	return found != NULL ? (int)(found - kind_letters) : CHI_KINDS;
}

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

/* 2 or 3 for castling written with O or 0, else 0. */
static int read_castling(const char *text, size_t len)
{
	if (len != 3 && len != 5) {
		return 0;
	}
	for (size_t i = 0; i < len; i++) {
		bool letter = text[i] == text[0] && (text[i] == 'O' || text[i] == '0');
		if (i % 2 == 0 ? !letter : text[i] != '-') {
			return 0;
		}
	}
	return (int)len / 2 + 1;
}

/* Takes a promotion ("=Q", "Q" behind the rank) off the end. */
static size_t read_promotion(const char *text, size_t len, struct wish *wish)
{
	if (len < 3) {
		return len;
	}
	char letter = text[len - 1];
	int kind = kind_of((char)(letter >= 'a' ? letter - 0x20 : letter));
	bool sign = text[len - 2] == '=';
	bool behind_rank = text[len - 2] == '8' || text[len - 2] == '1';
	if (kind >= CHI_KING || (!sign && !behind_rank)) {
		return len;
	}
	wish->promotion = kind;
	return len - (sign ? 2 : 1);
}

/* Takes the target square off the end. */
static bool read_target(const char *text, size_t *len, struct wish *wish)
{
	if (*len < 2) {
		return false;
	}
	char file = text[*len - 2];
	char rank = text[*len - 1];
	if (file < 'a' || file > 'h' || rank < '1' || rank > '8') {
		return false;
	}
	wish->to = (rank - '1') * 8 + file - 'a';
	*len -= 2;
	return true;
}

/* Reads what is left of the target: at most a file, then at most a rank, then at most an x. */
static bool read_origin(const char *text, size_t len, struct wish *wish)
{
	size_t i = 0;
	if (i < len && text[i] >= 'a' && text[i] <= 'h') {
		wish->from_file = text[i++] - 'a';
	}
	if (i < len && text[i] >= '1' && text[i] <= '8') {
		wish->from_rank = text[i++] - '1';
	}
	if (i < len && (text[i] == 'x' || text[i] == '-' || text[i] == ':')) {
		i++;
	}
	return i == len;
}

static bool read_san(const char *text, size_t len, struct wish *wish)
{
	*wish = (struct wish){.from_file = ANY, .from_rank = ANY, .to = ANY};
	len = strip_marks(text, len);
	wish->castling = read_castling(text, len);
	if (wish->castling != 0) {
		wish->kind = CHI_KING;
		return true;
	}
	int kind = len > 0 ? kind_of(text[0]) : CHI_KINDS;
	if (kind != CHI_KINDS) {
		wish->kind = kind;
		text++;
		len--;
	} else {
		wish->kind = CHI_PAWN;
		len = read_promotion(text, len, wish);
	}
	return read_target(text, &len, wish) && read_origin(text, len, wish);
}

static bool fits(const struct chi_position *position, chi_move move, const struct wish *wish)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	if ((position->kind[wish->kind] >> from & 1) == 0) {
		return false;
	}
	if (chi_position_is_castling(position, move)) {
		return wish->castling == (to > from ? 2 : 3);
	}
	/* A pawn that leaves its file without naming it would be "e5" for "dxe5". */
	bool silent = wish->kind == CHI_PAWN && wish->from_file == ANY && (from & 7) != (to & 7);
	return wish->castling == 0 && wish->to == to && !silent &&
	       (wish->from_file == ANY || wish->from_file == (from & 7)) &&
	       (wish->from_rank == ANY || wish->from_rank == from >> 3) &&
	       wish->promotion == chi_move_promotion(move);
}

int chi_san_parse(const struct chi_position *position, const char *text, size_t len, chi_move *out,
		  struct chi_fault *fault)
{
	struct wish wish;
	struct chi_move_list list;
	if (len > CHI_SAN_INPUT_MAX) {
		return chi_fault(fault, -CHI_EMOVE, "a move of %zu bytes, at most %d are read", len,
				 CHI_SAN_INPUT_MAX);
	}
	if (!read_san(text, len, &wish)) {
		return chi_fault(fault, -CHI_EMOVE, "'%.*s' is not a move", (int)len, text);
	}
	chi_movegen_legal(position, &list);
	chi_move found = 0;
	for (size_t i = 0; i < list.n; i++) {
		if (!fits(position, list.moves[i], &wish)) {
			continue;
		}
		if (found != 0) {
			return chi_fault(fault, -CHI_EMOVE, "'%.*s' fits more than one legal move",
					 (int)len, text);
		}
		found = list.moves[i];
	}
	if (found == 0) {
		return chi_fault(fault, -CHI_EMOVE, "'%.*s' is no legal move here", (int)len, text);
	}
	*out = found;
	return CHI_OK;
}

/* Prints as much of the origin as tells the move from the others to the same square. */
static char *print_origin(const struct chi_position *position, const struct chi_move_list *list,
			  chi_move move, int kind, char *at)
{
	int from = chi_move_from(move);
	bool rival = false;
	bool same_file = false;
	bool same_rank = false;
	for (size_t i = 0; i < list->n; i++) {
		int other = chi_move_from(list->moves[i]);
		if (chi_move_to(list->moves[i]) != chi_move_to(move) || other == from ||
		    (position->kind[kind] >> other & 1) == 0) {
			continue;
		}
		rival = true;
		same_file = same_file || (other & 7) == (from & 7);
		same_rank = same_rank || other >> 3 == from >> 3;
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
static char *print_plain(const struct chi_position *position, const struct chi_move_list *list,
			 chi_move move, char *at)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	int kind = chi_position_kind(position, from);
	bool capture = (chi_position_occupied(position) >> to & 1) != 0 ||
		       (kind == CHI_PAWN && to == position->ep);
	if (kind != CHI_PAWN) {
		*at++ = kind_letters[kind];
		at = print_origin(position, list, move, kind, at);
	} else if (capture) {
		*at++ = (char)('a' + (from & 7));
	}
	if (capture) {
		*at++ = 'x';
	}
	*at++ = (char)('a' + (to & 7));
	*at++ = (char)('1' + (to >> 3));
	if (chi_move_promotion(move) != 0) {
		*at++ = '=';
		*at++ = kind_letters[chi_move_promotion(move)];
	}
	return at;
}

static bool contains(const struct chi_move_list *list, chi_move move)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->moves[i] == move) {
			return true;
		}
	}
	return false;
}

size_t chi_san_print(const struct chi_position *position, chi_move move, char out[CHI_SAN_SIZE])
{
	struct chi_move_list list;
	struct chi_position next;
	char *at = out;
	chi_movegen_legal(position, &list);
	if (!contains(&list, move)) {
		/* A caller's mistake, or a damaged record's move: say what it spells. */
		return chi_uci_print(position, move, out);
	}
	if (chi_position_is_castling(position, move)) {
		bool short_side = chi_move_to(move) > chi_move_from(move);
		memcpy(at, "O-O-O", 5);
		at += short_side ? 3 : 5;
	} else {
		at = print_plain(position, &list, move, at);
	}
	chi_position_play(position, move, &next);
	if (chi_position_in_check(&next, next.side)) {
		chi_movegen_legal(&next, &list);
		*at++ = list.n == 0 ? '#' : '+';
	}
	*at = '\0';
	return (size_t)(at - out);
}
