/* SPDX-License-Identifier: MIT */
/*
 * FEN reader and printer. The reader first splits the text into fields, then reads field by field
 * into a position, each step checking before it writes; what only the whole board can tell
 * (kings, pieces that no key can hold) is left to chi_position_check.
 */
#include "chess/fen.h"

#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "chess/bitboard.h"
#include "chess/validate.h"

#define FIELDS_MIN 4
#define FIELDS_MAX 6
/* Highest counter accepted, far above any game. Counters are checked, then dropped. */
#define COUNTER_MAX 99999

struct field {
	const char *at;
	size_t len;
};

/* Names a character of outside text in a way that is safe to print. */
static int refuse_char(struct chi_fault *fault, const char *field, char c)
{
	if (c > ' ' && c < 127) {
		return chi_fail(fault, -CHI_EFEN, "%s: unexpected '%c'", field, c);
	}
	return chi_fail(fault, -CHI_EFEN, "%s: unexpected byte 0x%02x", field, (unsigned char)c);
}

static bool is_separator(char c)
{
	return c == ' ' || c == '_' || c == '+';
}

/* Fills `fields`, of which there may be FIELDS_MAX, and `n`. */
static int split_fields(const char *text, size_t len, struct field *fields, size_t *n,
			struct chi_fault *fault)
{
	*n = 0;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c < ' ' || c == 127) {
			return chi_fail(fault, -CHI_EFEN, "control character 0x%02x at byte %zu", c,
					i);
		}
		if (is_separator(text[i])) {
			continue;
		}
		if (i == 0 || is_separator(text[i - 1])) {
			if (*n == FIELDS_MAX) {
				return chi_fail(fault, -CHI_EFEN, "more than %d fields",
						FIELDS_MAX);
			}
			fields[(*n)++] = (struct field){.at = text + i, .len = 0};
		}
		fields[*n - 1].len++;
	}
	if (*n < FIELDS_MIN) {
		return chi_fail(fault, -CHI_EFEN, "%zu field%s, at least %d are needed", *n,
				*n == 1 ? "" : "s", FIELDS_MIN);
	}
	return CHI_OK;
}

/* Puts the piece that a letter names; false if it names none. */
static bool put_letter(struct chi_position *position, char letter, int square)
{
	bool black = letter >= 'a';
	int kind = chi_kind_of((char)(black ? letter - 0x20 : letter));
	if (kind < CHI_KINDS) {
		chi_position_put(position, black ? CHI_BLACK : CHI_WHITE, kind, square);
	}
	return kind < CHI_KINDS;
}

/* Reads one rank, 8 down to 1, of the placement. */
static int read_rank(struct chi_position *position, const char *text, size_t len, int rank,
		     struct chi_fault *fault)
{
	int file = 0;
	bool after_digit = false;
	for (size_t i = 0; i < len; i++) {
		bool digit = text[i] >= '1' && text[i] <= '8';
		int width = digit ? text[i] - '0' : 1;
		if (file + width > 8) {
			return chi_fail(fault, -CHI_EFEN, "rank %d has more than 8 squares", rank);
		}
		if (digit && after_digit) {
			return chi_fail(fault, -CHI_EFEN, "rank %d has two digits in a row", rank);
		}
		if (!digit && !put_letter(position, text[i], (rank - 1) * 8 + file)) {
			return refuse_char(fault, "placement", text[i]);
		}
		file += width;
		after_digit = digit;
	}
	if (file < 8) {
		return chi_fail(fault, -CHI_EFEN, "rank %d has %d squares", rank, file);
	}
	return CHI_OK;
}

static int read_placement(struct chi_position *position, struct field field,
			  struct chi_fault *fault)
{
	const char *end = field.at + field.len;
	const char *at = field.at;
	for (int rank = 8; rank >= 1; rank--) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		const char *stop = slash != NULL ? slash : end;
		if ((slash == NULL) != (rank == 1)) {
			return chi_fail(fault, -CHI_EFEN, "placement: %s than 8 ranks",
					slash == NULL ? "fewer" : "more");
		}
		int rc = read_rank(position, at, (size_t)(stop - at), rank, fault);
		if (rc != CHI_OK) {
			return rc;
		}
		at = slash != NULL ? slash + 1 : end;
	}
	return CHI_OK;
}

static int read_side(struct chi_position *position, struct field field, struct chi_fault *fault)
{
	if (field.len != 1 || (field.at[0] != 'w' && field.at[0] != 'b')) {
		return chi_fail(fault, -CHI_EFEN, "side to move is neither 'w' nor 'b'");
	}
	position->side = field.at[0] == 'w' ? CHI_WHITE : CHI_BLACK;
	return CHI_OK;
}

/* Rooks of `colour` on its back rank on one side of its king there; none without the king. */
static uint64_t rooks_beside_king(const struct chi_position *position, int colour, bool right)
{
	uint64_t back_rank = colour == CHI_WHITE ? CHI_RANK_1 : CHI_RANK_8;
	uint64_t king = chi_position_pieces(position, colour, CHI_KING) & back_rank;
	/* With two kings, which chi_position_check refuses later, the lowest decides. */
	king &= -king;
	uint64_t side = king == 0 ? 0 : right ? ~(king | (king - 1)) : king - 1;
	return side & back_rank & chi_position_pieces(position, colour, CHI_ROOK);
}

/* The outermost of such rooks, or the empty set. */
static uint64_t outermost(uint64_t rooks, bool right)
{
	if (rooks == 0) {
		return 0;
	}
	return right ? chi_bit(63 - __builtin_clzll(rooks)) : rooks & -rooks;
}

/* The rook a castling letter (checked to be one) stands for; the empty set if it is not there. */
static uint64_t castling_rook(const struct chi_position *position, char letter)
{
	int colour = letter >= 'a' ? CHI_BLACK : CHI_WHITE;
	char lower = (char)(letter | 0x20);
	uint64_t right = rooks_beside_king(position, colour, true);
	uint64_t left = rooks_beside_king(position, colour, false);
	if (lower == 'k') {
		return outermost(right, true);
	}
	if (lower == 'q') {
		return outermost(left, false);
	}
	int square = lower - 'a' + (colour == CHI_WHITE ? 0 : 56);
	return chi_bit(square) & (right | left);
}

static int read_castling(struct chi_position *position, struct field field, struct chi_fault *fault)
{
	if (field.len == 1 && field.at[0] == '-') {
		return CHI_OK;
	}
	if (field.len > 4) {
		return chi_fail(fault, -CHI_EFEN, "castling: more than 4 letters");
	}
	for (size_t i = 0; i < field.len; i++) {
		char c = field.at[i];
		if (memchr("KQABCDEFGHkqabcdefgh", c, 20) == NULL) {
			return refuse_char(fault, "castling", c);
		}
		if (memchr(field.at, c, i) != NULL) {
			return chi_fail(fault, -CHI_EFEN, "castling: '%c' occurs twice", c);
		}
		position->castle |= castling_rook(position, c);
	}
	return CHI_OK;
}

static int read_en_passant(struct chi_position *position, struct field field,
			   struct chi_fault *fault)
{
	if (field.len == 1 && field.at[0] == '-') {
		return CHI_OK;
	}
	char rank = position->side == CHI_WHITE ? '6' : '3';
	if (field.len != 2 || field.at[0] < 'a' || field.at[0] > 'h' || field.at[1] != rank) {
		return chi_fail(fault, -CHI_EFEN, "en passant: neither '-' nor a square on rank %c",
				rank);
	}
	int square = (rank - '1') * 8 + field.at[0] - 'a';
	if (chi_position_ep_legal(position, square)) {
		position->ep = (uint8_t)square;
	}
	return CHI_OK;
}

static int check_counters(const struct field *fields, size_t n, struct chi_fault *fault)
{
	uint64_t value = 0;
	if (n > 4 && chi_num_u64(fields[4].at, fields[4].len, COUNTER_MAX, &value) != CHI_OK) {
		return chi_fail(fault, -CHI_EFEN, "half-move clock is not a number from 0 to %d",
				COUNTER_MAX);
	}
	if (n > 5 && (chi_num_u64(fields[5].at, fields[5].len, COUNTER_MAX, &value) != CHI_OK ||
		      value == 0)) {
		return chi_fail(fault, -CHI_EFEN, "move number is not a number from 1 to %d",
				COUNTER_MAX);
	}
	return CHI_OK;
}

int chi_fen_parse(const char *text, size_t len, struct chi_position *out, struct chi_fault *fault)
{
	struct field fields[FIELDS_MAX];
	struct chi_position position;
	size_t n = 0;
	if (len > CHI_FEN_INPUT_MAX) {
		return chi_fail(fault, -CHI_ETOOBIG, "FEN of %zu bytes, at most %d are read", len,
				CHI_FEN_INPUT_MAX);
	}
	chi_position_clear(&position);
	int rc = split_fields(text, len, fields, &n, fault);
	if (rc == CHI_OK) {
		rc = read_placement(&position, fields[0], fault);
	}
	if (rc == CHI_OK) {
		rc = read_side(&position, fields[1], fault);
	}
	if (rc == CHI_OK) {
		rc = read_castling(&position, fields[2], fault);
	}
	if (rc == CHI_OK) {
		rc = read_en_passant(&position, fields[3], fault);
	}
	if (rc == CHI_OK) {
		rc = check_counters(fields, n, fault);
	}
	if (rc == CHI_OK) {
		rc = chi_position_check(&position, -CHI_EFEN, fault);
	}
	if (rc == CHI_OK) {
		*out = position;
	}
	return rc;
}

/* The letters are put on a board of bytes first, so that each piece is looked at once. */
static void set_letters(const struct chi_position *position, char board[64])
{
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		uint64_t left = position->kind[kind];
		while (left != 0) {
			int square = chi_pop(&left);
			unsigned black = position->colour[CHI_BLACK] >> square & 1;
			board[square] = (char)((unsigned)CHI_KIND_LETTERS[kind] | black << 5);
		}
	}
}

static char *print_placement(const struct chi_position *position, char *at)
{
	char board[64];
	uint64_t occupied = chi_position_occupied(position);
	set_letters(position, board);
	for (int rank = 7; rank >= 0; rank--) {
		unsigned left = (unsigned)(occupied >> (8 * rank) & 0xff);
		int file = 0; /* the first that is not written */
		while (left != 0) {
			int next = __builtin_ctz(left);
			left &= left - 1;
			if (next > file) {
				*at++ = (char)('0' + next - file);
			}
			*at++ = board[8 * rank + next];
			file = next + 1;
		}
		if (file < 8) {
			*at++ = (char)('8' - file);
		}
		if (rank > 0) {
			*at++ = '/';
		}
	}
	return at;
}

static char *print_castling(const struct chi_position *position, char *at)
{
	char *start = at;
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		for (int side = 0; side < 2; side++) {
			bool right = side == 0;
			uint64_t rooks = rooks_beside_king(position, colour, right);
			uint64_t rook = rooks & position->castle;
			if (rook == 0) {
				continue;
			}
			char letter = right ? 'K' : 'Q';
			if (rook != outermost(rooks, right)) {
				letter = (char)('A' + (__builtin_ctzll(rook) & 7));
			}
			*at++ = (char)(colour == CHI_WHITE ? letter : letter | 0x20);
		}
	}
	if (at == start) {
		*at++ = '-';
	}
	return at;
}

size_t chi_fen_print(const struct chi_position *position, char out[CHI_FEN_SIZE])
{
	static const char counters[] = " 0 1";
	char *at = print_placement(position, out);
	*at++ = ' ';
	*at++ = position->side == CHI_WHITE ? 'w' : 'b';
	*at++ = ' ';
	at = print_castling(position, at);
	*at++ = ' ';
	if (position->ep == CHI_NO_SQUARE) {
		*at++ = '-';
	} else {
		*at++ = (char)('a' + (position->ep & 7));
		*at++ = (char)('1' + (position->ep >> 3));
	}
	memcpy(at, counters, sizeof(counters));
	return (size_t)(at - out) + sizeof(counters) - 1;
}
