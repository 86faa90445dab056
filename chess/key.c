/* SPDX-License-Identifier: MIT */
/*
 * Keys are made through four sets of squares, one for each bit of a nibble, so that a piece's
 * code is four shifts instead of a search through the kinds. They are read nibble by nibble, and
 * what an encoder would not have written is refused: one position, one key.
 */
#include "chess/key.h"

#include <endian.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/fault.h"
#include "chess/bitboard.h"
#include "chess/fen.h"
#include "chess/validate.h"

#define MASK_SIZE  8
#define PIECES_MAX 32

/* Nibble codes that are more than a kind of piece; the table in chess/key.h has all. */
enum code {
	CODE_BLACK_KING_MOVES = 0,
	CODE_WHITE_CASTLE = 7,
	CODE_EP_PAWN = 8,
	CODE_BLACK_CASTLE = 15,
};

/* The mask at the start of a key as a set of squares. Byte 0 is rank 1, and its highest bit the
 * a-file. */
static uint64_t mask_squares(const uint8_t *bytes)
{
	uint64_t mask;
	memcpy(&mask, bytes, sizeof(mask));
	return chi_mirror_files(le64toh(mask));
}

/* The number of pieces, for which the order of the mask's bits is all the same. */
static int mask_count(const uint8_t *bytes)
{
	uint64_t mask;
	memcpy(&mask, bytes, sizeof(mask));
	return chi_popcount(mask);
}

static size_t key_size(int pieces)
{
	return MASK_SIZE + (size_t)(pieces + 1) / 2;
}

/* Fills one set of squares for each bit of the codes, bit 0 first. */
static void code_planes(const struct chi_position *p, uint64_t planes[4])
{
	uint64_t ep_pawn = p->ep == CHI_NO_SQUARE ? 0 : chi_bit(p->ep ^ 8);
	uint64_t moving_king =
		p->side == CHI_BLACK ? chi_position_pieces(p, CHI_BLACK, CHI_KING) : 0;
	planes[0] = p->kind[CHI_BISHOP] | p->kind[CHI_KNIGHT] | p->kind[CHI_QUEEN] | p->castle;
	planes[1] = (p->kind[CHI_KING] | p->kind[CHI_KNIGHT] | p->kind[CHI_ROOK]) & ~moving_king;
	planes[2] = (p->kind[CHI_PAWN] & ~ep_pawn) | p->kind[CHI_QUEEN] | p->kind[CHI_ROOK];
	planes[3] = (p->colour[CHI_BLACK] | ep_pawn) & ~moving_king;
}

/* Writes the lowest bytes first. */
static void put_word(uint8_t *out, uint64_t word)
{
	word = htole64(word);
	memcpy(out, &word, sizeof(word));
}

/* The codes of the pieces in the order of the squares, four bits each, square by square. */
static void put_codes(const uint64_t planes[4], uint64_t occupied, uint8_t *out)
{
	uint64_t left = occupied;
	/* The bound cannot be reached by a position that keeps its contract. */
	for (int i = 0; left != 0 && i < PIECES_MAX; i++) {
		int square = chi_pop(&left);
		unsigned code =
			(unsigned)((planes[0] >> square & 1) | (planes[1] >> square & 1) << 1 |
				   (planes[2] >> square & 1) << 2 | (planes[3] >> square & 1) << 3);
		out[i / 2] |= (uint8_t)(i % 2 == 0 ? code << 4 : code);
	}
}

#if defined(__x86_64__)
/* Sixteen codes: bit i of each plane becomes a bit of nibble i; then the nibbles of each byte
 * change places, since the first is in the upper half. */
__attribute__((target("bmi2"))) static uint64_t spread(const uint64_t packed[4], unsigned shift)
{
	const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);
	uint64_t codes = _pdep_u64(packed[0] >> shift, UINT64_C(0x1111111111111111)) |
			 _pdep_u64(packed[1] >> shift, UINT64_C(0x2222222222222222)) |
			 _pdep_u64(packed[2] >> shift, UINT64_C(0x4444444444444444)) |
			 _pdep_u64(packed[3] >> shift, UINT64_C(0x8888888888888888));
	return (codes & low) << 4 | (codes >> 4 & low);
}

/* As put_codes, without a loop: the processor gathers the bits of all pieces at once. */
__attribute__((target("bmi2"))) static void put_codes_bmi2(const uint64_t planes[4],
							   uint64_t occupied, uint8_t *out)
{
	uint64_t packed[4];
	for (int i = 0; i < 4; i++) {
		packed[i] = _pext_u64(planes[i], occupied);
	}
	put_word(out, spread(packed, 0));
	put_word(out + 8, spread(packed, 16));
}
#endif

void chi_key_bytes(const struct chi_position *position, uint8_t out[CHI_KEY_MAX])
{
	uint64_t planes[4];
	uint64_t occupied = chi_position_occupied(position);
	code_planes(position, planes);
	put_word(out, chi_mirror_files(occupied));
#if defined(__x86_64__)
	if (__builtin_cpu_supports("bmi2")) {
		put_codes_bmi2(planes, occupied, out + MASK_SIZE);
		return;
	}
#endif
	memset(out + MASK_SIZE, 0, CHI_KEY_MAX - MASK_SIZE);
	put_codes(planes, occupied, out + MASK_SIZE);
}

void chi_key_encode(const struct chi_position *position, struct chi_key *out)
{
	out->len = (uint8_t)key_size(chi_popcount(chi_position_occupied(position)));
	chi_key_bytes(position, out->bytes);
}

size_t chi_key_length(const uint8_t mask[8])
{
	return key_size(mask_count(mask));
}

bool chi_key_shape_ok(const uint8_t *bytes, size_t len)
{
	if (len < CHI_KEY_MIN || len > CHI_KEY_MAX) {
		return false;
	}
	int n = mask_count(bytes);
	return n >= 1 && n <= PIECES_MAX && len == key_size(n) &&
	       (n % 2 == 0 || (bytes[len - 1] & 15) == 0);
}

/* The squares of each code become pieces, and the rights they carry. */
static int set_pieces(const uint64_t at[16], struct chi_position *out, struct chi_fault *fault)
{
	uint64_t passed = at[CODE_EP_PAWN];
	uint64_t white_passed = passed & CHI_RANK_1 << 24;
	uint64_t black_passed = passed & CHI_RANK_1 << 32;
	if ((passed & (passed - 1)) != 0 || passed != (white_passed | black_passed)) {
		return chi_fail(fault, -CHI_EKEY, "misplaced en passant pawn");
	}
	uint64_t *kind = out->kind;
	kind[CHI_PAWN] = at[4] | at[12] | passed;
	kind[CHI_KNIGHT] = at[3] | at[11];
	kind[CHI_BISHOP] = at[1] | at[9];
	kind[CHI_ROOK] = at[6] | at[14] | at[CODE_WHITE_CASTLE] | at[CODE_BLACK_CASTLE];
	kind[CHI_QUEEN] = at[5] | at[13];
	kind[CHI_KING] = at[2] | at[10] | at[CODE_BLACK_KING_MOVES];
	out->colour[CHI_WHITE] = at[1] | at[2] | at[3] | at[4] | at[5] | at[6] |
				 at[CODE_WHITE_CASTLE] | white_passed;
	out->colour[CHI_BLACK] = at[9] | at[10] | at[11] | at[12] | at[13] | at[14] |
				 at[CODE_BLACK_CASTLE] | at[CODE_BLACK_KING_MOVES] | black_passed;
	out->castle = at[CODE_WHITE_CASTLE] | at[CODE_BLACK_CASTLE];
	out->side = at[CODE_BLACK_KING_MOVES] != 0 ? CHI_BLACK : CHI_WHITE;
	out->ep = passed != 0 ? (uint8_t)(__builtin_ctzll(passed) ^ 8) : CHI_NO_SQUARE;
	return CHI_OK;
}

int chi_key_decode(const struct chi_key *key, struct chi_position *out, struct chi_fault *fault)
{
	struct chi_position position;
	if (!chi_key_shape_ok(key->bytes, key->len)) {
		return chi_fail(fault, -CHI_EKEY,
				"%u bytes do not fit the mask, or the padding is not zero",
				key->len);
	}
	for (size_t i = key->len; i < CHI_KEY_MAX; i++) {
		if (key->bytes[i] != 0) {
			return chi_fail(fault, -CHI_EKEY, "bytes after the key are not zero");
		}
	}
	uint64_t at[16] = {0};
	uint64_t left = mask_squares(key->bytes);
	for (int i = 0; left != 0; i++) {
		unsigned pair = key->bytes[MASK_SIZE + i / 2];
		at[i % 2 == 0 ? pair >> 4 : pair & 15] |= left & -left;
		left &= left - 1;
	}
	int rc = set_pieces(at, &position, fault);
	if (rc == CHI_OK) {
		rc = chi_position_check(&position, -CHI_EKEY, fault);
	}
	if (rc == CHI_OK) {
		*out = position;
	}
	return rc;
}

int chi_key_from_fen(const char *text, size_t len, struct chi_key *out, struct chi_fault *fault)
{
	struct chi_position position;
	int rc = chi_fen_parse(text, len, &position, fault);
	if (rc == CHI_OK) {
		chi_key_encode(&position, out);
	}
	return rc;
}

int chi_key_to_fen(const struct chi_key *key, char out[CHI_FEN_SIZE], struct chi_fault *fault)
{
	struct chi_position position;
	int rc = chi_key_decode(key, &position, fault);
	if (rc == CHI_OK) {
		chi_fen_print(&position, out);
	}
	return rc;
}
