/* SPDX-License-Identifier: MIT */
/* What all readers of a pattern's texts use: narrowing, and saying where it failed. */
#include "chess/pattern/draft.h"

#include <string.h>

#include "base/fault.h"

void chi_draft_init(struct chi_draft *draft)
{
	const uint32_t pawns = chi_set_of(CHI_WHITE, CHI_PAWN) | chi_set_of(CHI_BLACK, CHI_PAWN);
	memset(draft, 0, sizeof(*draft));
	for (int square = 0; square < 64; square++) {
		bool edge = square < 8 || square > 55;
		draft->allowed[square] = edge ? SET_ALL & ~pawns : SET_ALL;
	}
	for (int piece = 0; piece < PIECES; piece++) {
		draft->counts[piece].most = piece % CHI_KINDS == CHI_KING ? 1 : MEN_MAX;
	}
	draft->men = (struct chi_range_int){.least = 1, .most = MEN_MAX};
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		draft->balance[kind] = (struct chi_range_int){.least = -MEN_MAX, .most = MEN_MAX};
	}
}

const char *chi_draft_piece(int piece)
{
	static const char *const names[PIECES] = {
		"white pawn",	"white knight", "white bishop", "white rook",
		"white queen",	"white king",	"black pawn",	"black knight",
		"black bishop", "black rook",	"black queen",	"black king",
	};
	return names[piece];
}

int chi_draft_narrow(struct chi_draft *draft, int square, uint32_t set, struct chi_origin origin,
		     struct chi_fault *fault)
{
	struct chi_origin *before = &draft->origin[square];
	uint32_t left = draft->allowed[square] & set;
	char file = (char)('a' + (square & 7));
	int rank = (square >> 3) + 1;
	if (left == 0 && before->field == NULL) {
		return chi_fail(fault, -CHI_EINVAL, "%s, character %zu: no pawn can be on %c%d",
				origin.field, origin.at, file, rank);
	}
	if (left == 0) {
		return chi_fail(fault, -CHI_EINVAL,
				"%s, character %zu: contradicts %s, character %zu: "
				"nothing can be on %c%d that fits both",
				origin.field, origin.at, before->field, before->at, file, rank);
	}
	if (left != draft->allowed[square]) {
		draft->allowed[square] = left;
		*before = origin;
	}
	return CHI_OK;
}

int chi_draft_bound(struct chi_range_int *range, int least, int most, const char *what,
		    struct chi_origin origin, struct chi_fault *fault)
{
	if (least > range->most || most < range->least) {
		return chi_fail(fault, -CHI_EINVAL,
				"%s, character %zu: number of %s: %d..%d contradicts %d..%d",
				origin.field, origin.at, what, least, most, range->least,
				range->most);
	}
	if (least > range->least || most < range->most) {
		range->origin = origin;
	}
	range->least = least > range->least ? least : range->least;
	range->most = most < range->most ? most : range->most;
	return CHI_OK;
}
