/* SPDX-License-Identifier: MIT */
/*
 * Looks for contradictions between squares, numbers and balance, by narrowing each with what the
 * others leave, until nothing changes. A compiled pattern tests on the board what was asked, and of
 * what follows from it the number of men alone; the rest is for questions without a board.
 */
#include "chess/pattern/draft.h"

#include <stdio.h>

#include "base/fault.h"

static int max(int a, int b)
{
	return a > b ? a : b;
}

static int min(int a, int b)
{
	return a < b ? a : b;
}

/* "has, character 5" in `out`, which is returned. */
static const char *origin_text(struct chi_origin origin, char out[64])
{
	if (origin.field == NULL) {
		return "a rule of chess";
	}
	snprintf(out, 64, "%s, character %zu", origin.field, origin.at);
	return out;
}

/* Numbers of each side from the other's and the balance. */
static int solve_balance(struct chi_draft *draft, struct chi_fault *fault)
{
	static const char *const kinds[CHI_KINDS] = {"pawns", "knights", "bishops",
						     "rooks", "queens",	 "kings"};
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		struct chi_range_int *white = &draft->counts[kind];
		struct chi_range_int *black = &draft->counts[CHI_KINDS + kind];
		const struct chi_range_int *less = &draft->balance[kind];
		white->least = max(white->least, black->least + less->least);
		white->most = min(white->most, black->most + less->most);
		black->least = max(black->least, white->least - less->most);
		black->most = min(black->most, white->most - less->least);
		if (white->least > white->most || black->least > black->most) {
			return chi_fail(fault, -CHI_EINVAL,
					"balance: contradicts the numbers of %s that are asked "
					"for",
					kinds[kind]);
		}
	}
	return CHI_OK;
}

/* How many squares hold nothing but what is in `set`. */
static int count_within(const struct chi_draft *draft, uint32_t set)
{
	int n = 0;
	for (int square = 0; square < 64; square++) {
		n += (draft->allowed[square] & ~set) == 0;
	}
	return n;
}

/* How many squares may hold something of `set`. */
static int count_open(const struct chi_draft *draft, uint32_t set)
{
	int n = 0;
	for (int square = 0; square < 64; square++) {
		n += (draft->allowed[square] & set) != 0;
	}
	return n;
}

/* Takes a piece that is placed as often as it can be from all other squares. */
static void place_out(struct chi_draft *draft, int piece)
{
	uint32_t set = 1u << piece;
	for (int square = 0; square < 64; square++) {
		if (draft->allowed[square] != set) {
			draft->allowed[square] &= ~set;
		}
	}
}

/* The condition that asked for the piece on a square, the last of them. */
static struct chi_origin placed_by(const struct chi_draft *draft, int piece)
{
	struct chi_origin found = {NULL, 0};
	for (int square = 0; square < 64; square++) {
		const struct chi_origin *origin = &draft->origin[square];
		if (draft->allowed[square] == 1u << piece &&
		    (found.field == NULL || origin->at > found.at)) {
			found = *origin;
		}
	}
	return found;
}

/* Numbers from squares and squares from numbers, one piece. */
static int solve_piece(struct chi_draft *draft, int piece, struct chi_fault *fault)
{
	struct chi_range_int *count = &draft->counts[piece];
	int placed = count_within(draft, 1u << piece);
	int open = count_open(draft, 1u << piece);
	char by[64];
	char square[64];
	if (placed > count->most) {
		return chi_fail(fault, -CHI_EINVAL,
				"%s: squares ask for %d of %s, contradicts %s: at most %d",
				origin_text(placed_by(draft, piece), square), placed,
				chi_draft_piece(piece), origin_text(count->origin, by),
				count->most);
	}
	if (open < count->least) {
		return chi_fail(
			fault, -CHI_EINVAL, "%s: asks for %d of %s, but squares leave room for %d",
			origin_text(count->origin, by), count->least, chi_draft_piece(piece), open);
	}
	count->least = max(count->least, placed);
	count->most = min(count->most, open);
	if (placed == count->most) {
		place_out(draft, piece);
	}
	return CHI_OK;
}

/* The sum of both ends over the pieces of `set`. */
static struct chi_range_int range_sum(const struct chi_draft *draft, uint32_t set)
{
	struct chi_range_int sum = {0};
	for (int piece = 0; piece < PIECES; piece++) {
		if ((set >> piece & 1) != 0) {
			sum.least += draft->counts[piece].least;
			sum.most += draft->counts[piece].most;
		}
	}
	return sum;
}

/* The men in all, and of each colour. */
static int solve_men(struct chi_draft *draft, struct chi_fault *fault)
{
	static const uint32_t sets[] = {SET_WHITE, SET_BLACK, SET_WHITE | SET_BLACK};
	static const char *const names[] = {"white men", "black men", "men"};
	for (size_t i = 0; i < 3; i++) {
		struct chi_range_int sum = range_sum(draft, sets[i]);
		bool all = i == 2;
		int least = max(max(sum.least, count_within(draft, sets[i])),
				all ? draft->men.least : 0);
		int most = min(min(sum.most, count_open(draft, sets[i])), draft->men.most);
		if (least > most) {
			return chi_fail(fault, -CHI_EINVAL,
					"%d %s or more are asked for, there can be %d at most",
					least, names[i], most);
		}
		if (all) {
			draft->men.least = least;
			draft->men.most = most;
		}
	}
	for (int piece = 0; piece < PIECES; piece++) {
		struct chi_range_int *count = &draft->counts[piece];
		int others = range_sum(draft, SET_WHITE | SET_BLACK).least - count->least;
		count->most = min(count->most, draft->men.most - others);
	}
	return CHI_OK;
}

/* Each clause has a term that can hold. */
static int solve_clauses(const struct chi_draft *draft, struct chi_fault *fault)
{
	for (size_t i = 0; i < draft->n_clauses; i++) {
		const struct chi_draft_clause *clause = &draft->clauses[i];
		bool possible = false;
		for (size_t j = 0; j < clause->n; j++) {
			const struct chi_draft_term *term = &draft->terms[clause->first + j];
			uint64_t left = term->squares;
			while (left != 0 && !possible) {
				possible = (draft->allowed[chi_pop(&left)] & term->set) != 0;
			}
		}
		if (!possible) {
			return chi_fail(fault, -CHI_EINVAL,
					"%s, character %zu: contradicts what else is asked for",
					clause->origin.field, clause->origin.at);
		}
	}
	return CHI_OK;
}

/* One round over all. */
static int solve_round(struct chi_draft *draft, struct chi_fault *fault)
{
	int rc = solve_balance(draft, fault);
	for (int piece = 0; piece < PIECES && rc == CHI_OK; piece++) {
		rc = solve_piece(draft, piece, fault);
	}
	if (rc == CHI_OK) {
		rc = solve_men(draft, fault);
	}
	return rc;
}

/* Shrinks with every round that changes something. */
static int measure(const struct chi_draft *draft)
{
	int sum = draft->men.most - draft->men.least;
	for (int piece = 0; piece < PIECES; piece++) {
		sum += draft->counts[piece].most - draft->counts[piece].least;
	}
	for (int square = 0; square < 64; square++) {
		sum += chi_popcount(draft->allowed[square]);
	}
	return sum;
}

int chi_draft_solve(const struct chi_draft *draft, struct chi_draft *out, struct chi_fault *fault)
{
	int before = 0;
	int rc = CHI_OK;
	*out = *draft;
	do {
		before = measure(out);
		rc = solve_round(out, fault);
	} while (rc == CHI_OK && measure(out) < before);
	if (rc == CHI_OK) {
		rc = solve_clauses(out, fault);
	}
	if (rc == CHI_OK && out->side == CHI_SIDE_BLACK &&
	    out->counts[CHI_KINDS + CHI_KING].most == 0) {
		rc = chi_fail(fault, -CHI_EINVAL,
			      "there is no black king, so black cannot be to move");
	}
	return rc;
}
