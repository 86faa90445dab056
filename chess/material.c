/* SPDX-License-Identifier: MIT */
/*
 * Material of a key without decoding it. A scan asks this of every key it passes, so the cheap
 * questions come first: the mask's population count alone rejects most keys.
 */
#include "chess/material.h"

#include <string.h>

#include "base/fault.h"
#include "chess/bitboard.h"

#define MASK_SIZE  8
#define PIECES_MAX 32
/* Twelve counters of five bits, White's pawn lowest, kinds in the order of chi_material. 32 of
 * one kind carry into the next counter, which only another total of pieces could confuse. */
#define COUNTER_BITS	  5
#define ONE(colour, kind) (UINT64_C(1) << (COUNTER_BITS * ((colour)*CHI_KINDS + (kind))))

static const char letters[] = "PNBRQK";

static int total_of(const struct chi_material *material)
{
	int total = 0;
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		total += material->white[kind] + material->black[kind];
	}
	return total;
}

/* Reads one side's letters into `counts`. */
static int parse_side(const char *text, size_t len, const char *colour, uint8_t counts[CHI_KINDS],
		      struct chi_fault *fault)
{
	for (size_t i = 0; i < len; i++) {
		const char *letter = memchr(letters, text[i], CHI_KINDS);
		if (letter == NULL) {
			return chi_fault(fault, -CHI_ESYNTAX,
					 "material: %s has something other than K Q R B N P",
					 colour);
		}
		int kind = (int)(letter - letters);
		if (kind == CHI_KING && counts[kind] > 0) {
			return chi_fault(fault, -CHI_ESYNTAX, "material: two %s kings", colour);
		}
		counts[kind]++;
	}
	return CHI_OK;
}

/* Where Black's part starts, and how long the separator is; false if nothing tells. */
static bool find_black(const char *text, size_t len, size_t *white_len, size_t *separator)
{
	const char *v = memchr(text, 'v', len);
	if (v != NULL) {
		*white_len = (size_t)(v - text);
		*separator = 1;
		return true;
	}
	const char *first = memchr(text, 'K', len);
	if (first == NULL) {
		return false;
	}
	const char *second = memchr(first + 1, 'K', (size_t)(text + len - first) - 1);
	if (second == NULL) {
		return false;
	}
	*white_len = (size_t)(second - text);
	*separator = 0;
	return true;
}

int chi_material_parse(const char *text, size_t len, struct chi_material *out,
		       struct chi_fault *fault)
{
	struct chi_material material = {0};
	size_t white_len = 0;
	size_t separator = 0;
	if (len == 0) {
		return chi_fault(fault, -CHI_ESYNTAX, "material: empty");
	}
	if (!find_black(text, len, &white_len, &separator)) {
		return chi_fault(fault, -CHI_ESYNTAX,
				 "material: neither a second K nor a 'v' starts black's part");
	}
	if (len - separator > PIECES_MAX || len == separator) {
		return chi_fault(fault, -CHI_ESYNTAX, "material: %zu pieces, 1 to %d are possible",
				 len - separator, PIECES_MAX);
	}
	int rc = parse_side(text, white_len, "white", material.white, fault);
	if (rc == CHI_OK) {
		size_t start = white_len + separator;
		rc = parse_side(text + start, len - start, "black", material.black, fault);
	}
	if (rc == CHI_OK) {
		*out = material;
	}
	return rc;
}

static char *print_side(const uint8_t counts[CHI_KINDS], char *at, const char *end)
{
	for (int kind = CHI_KING; kind >= 0; kind--) {
		for (int i = 0; i < counts[kind] && at < end; i++) {
			*at++ = letters[kind];
		}
	}
	return at;
}

size_t chi_material_print(const struct chi_material *material, char out[CHI_MATERIAL_TEXT_SIZE])
{
	/* Counts out of range, which chi_filter_check would refuse, are cut, not written past. */
	char *at = print_side(material->white, out, out + CHI_MATERIAL_TEXT_SIZE - 2);
	*at++ = 'v';
	at = print_side(material->black, at, out + CHI_MATERIAL_TEXT_SIZE - 1);
	*at = '\0';
	return (size_t)(at - out);
}

static uint64_t pack(const uint8_t white[CHI_KINDS], const uint8_t black[CHI_KINDS])
{
	uint64_t packed = 0;
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		packed += ONE(CHI_WHITE, kind) * white[kind] + ONE(CHI_BLACK, kind) * black[kind];
	}
	return packed;
}

/* The nibbles of a key's pieces from the most significant down, zero behind the last. */
struct nibbles {
	uint64_t high;
	uint64_t low;
	int n;
};

static struct nibbles load_nibbles(const uint8_t *key, size_t len, int n)
{
	uint8_t bytes[16] = {0};
	uint64_t words[2];
	size_t given = len > MASK_SIZE ? len - MASK_SIZE : 0;
	memcpy(bytes, key + MASK_SIZE, given < sizeof(bytes) ? given : sizeof(bytes));
	for (int i = 0; i < 2; i++) {
		words[i] = 0;
		for (int k = 0; k < 8; k++) {
			words[i] = words[i] << 8 | bytes[8 * i + k];
		}
	}
	return (struct nibbles){.high = words[0], .low = words[1], .n = n};
}

/* Pieces by kind, packed. The pawn that may be taken en passant (8) is White's if Black is to
 * move, and Black's otherwise. */
static uint64_t count_kinds(const struct nibbles *nibbles, bool black_moves)
{
	const uint64_t value[16] = {
		ONE(CHI_BLACK, CHI_KING),
		ONE(CHI_WHITE, CHI_BISHOP),
		ONE(CHI_WHITE, CHI_KING),
		ONE(CHI_WHITE, CHI_KNIGHT),
		ONE(CHI_WHITE, CHI_PAWN),
		ONE(CHI_WHITE, CHI_QUEEN),
		ONE(CHI_WHITE, CHI_ROOK),
		ONE(CHI_WHITE, CHI_ROOK),
		black_moves ? ONE(CHI_WHITE, CHI_PAWN) : ONE(CHI_BLACK, CHI_PAWN),
		ONE(CHI_BLACK, CHI_BISHOP),
		ONE(CHI_BLACK, CHI_KING),
		ONE(CHI_BLACK, CHI_KNIGHT),
		ONE(CHI_BLACK, CHI_PAWN),
		ONE(CHI_BLACK, CHI_QUEEN),
		ONE(CHI_BLACK, CHI_ROOK),
		ONE(CHI_BLACK, CHI_ROOK),
	};
	uint64_t packed = 0;
	uint64_t word = nibbles->high;
	for (int i = 0; i < nibbles->n; i++) {
		if (i == 16) {
			word = nibbles->low;
		}
		packed += value[word >> 60];
		word <<= 4;
	}
	return packed;
}

/* True if one of the `n` highest nibbles is 0: the black king whose side is to move. */
static bool has_zero(uint64_t word, int n)
{
	uint64_t set = word | word >> 1;
	set = (set | set >> 2) & UINT64_C(0x1111111111111111);
	uint64_t wanted = n >= 16 ? UINT64_C(0x1111111111111111)
				  : UINT64_C(0x1111111111111111) & ~(UINT64_MAX >> (4 * n));
	return (set & wanted) != wanted;
}

static bool black_to_move(const struct nibbles *nibbles)
{
	return has_zero(nibbles->high, nibbles->n) ||
	       (nibbles->n > 16 && has_zero(nibbles->low, nibbles->n - 16));
}

static int count_pieces(const uint8_t *key)
{
	uint64_t mask;
	memcpy(&mask, key, sizeof(mask)); /* the order of the bytes does not matter here */
	return chi_popcount(mask);
}

static bool material_matches(const struct chi_filter *filter, const struct nibbles *nibbles,
			     bool black_moves)
{
	const struct chi_material *wanted = &filter->material;
	uint64_t found = count_kinds(nibbles, black_moves);
	return found == pack(wanted->white, wanted->black) ||
	       (filter->either_colour && found == pack(wanted->black, wanted->white));
}

bool chi_filter_matches_key(const struct chi_filter *filter, const uint8_t *key, size_t len)
{
	int n = count_pieces(key);
	if ((filter->pieces_min != 0 && n < filter->pieces_min) ||
	    (filter->pieces_max != 0 && n > filter->pieces_max) ||
	    (filter->has_material && n != total_of(&filter->material))) {
		return false;
	}
	if (!filter->has_material && filter->side == CHI_SIDE_ANY) {
		return true;
	}
	struct nibbles nibbles = load_nibbles(key, len, n);
	bool black_moves = black_to_move(&nibbles);
	if ((filter->side == CHI_SIDE_WHITE && black_moves) ||
	    (filter->side == CHI_SIDE_BLACK && !black_moves)) {
		return false;
	}
	return !filter->has_material || material_matches(filter, &nibbles, black_moves);
}

bool chi_filter_ignores_key(const struct chi_filter *filter)
{
	return !filter->has_material && filter->pieces_min == 0 && filter->pieces_max == 0 &&
	       filter->side == CHI_SIDE_ANY;
}

int chi_filter_check(const struct chi_filter *filter, struct chi_fault *fault)
{
	const struct chi_material *material = &filter->material;
	if (filter->pieces_min > PIECES_MAX || filter->pieces_max > PIECES_MAX) {
		return chi_fault(fault, -CHI_EINVAL, "pieces: %d..%d is not within 1..%d",
				 filter->pieces_min, filter->pieces_max, PIECES_MAX);
	}
	if (filter->pieces_max != 0 && filter->pieces_min > filter->pieces_max) {
		return chi_fault(fault, -CHI_EINVAL, "pieces: the least, %d, is above the most, %d",
				 filter->pieces_min, filter->pieces_max);
	}
	if (filter->side > CHI_SIDE_BLACK) {
		return chi_fault(fault, -CHI_EINVAL, "side: %d is none of 0, 1, 2", filter->side);
	}
	if (!filter->has_material) {
		return CHI_OK;
	}
	int total = total_of(material);
	if (total < 1 || total > PIECES_MAX) {
		return chi_fault(fault, -CHI_EINVAL, "material: %d pieces, 1 to %d are possible",
				 total, PIECES_MAX);
	}
	if (material->white[CHI_KING] > 1 || material->black[CHI_KING] > 1) {
		return chi_fault(fault, -CHI_EINVAL, "material: more than one king of a colour");
	}
	return CHI_OK;
}
