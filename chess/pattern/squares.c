/* SPDX-License-Identifier: MIT */
/* Reads what is said of squares: `has`, `fen` and `pawns`; pattern.h defines them. */
#include "chess/pattern/draft.h"

#include <string.h>

#include "base/fault.h"

/* A text being read. */
struct reader {
	const char *field;
	const char *text;
	const char *at;
	struct chi_fault *fault;
	struct chi_shift shift;
};

static struct chi_origin here(const struct reader *reader)
{
	return (struct chi_origin){reader->field, (size_t)(reader->at - reader->text) + 1};
}

static int refuse_squares(const struct reader *reader, const char *reason)
{
	return chi_fail(reader->fault, -CHI_ESYNTAX, "%s, character %zu: %s", reader->field,
			here(reader).at, reason);
}

static bool is_gap(char c)
{
	return c == ' ' || c == ',' || c == '\t';
}

static void skip_gaps(struct reader *reader)
{
	while (is_gap(*reader->at)) {
		reader->at++;
	}
}

/* Contents, and whether '!' is before them. */
static int read_contents(struct reader *reader, uint32_t *set, bool *is_not)
{
	*is_not = *reader->at == '!';
	const char *why = chi_contents_read(&reader->at, set);
	return why == NULL ? CHI_OK : refuse_squares(reader, why);
}

static int read_target(struct reader *reader, uint64_t *squares)
{
	const char *why = chi_squares_read(&reader->at, squares);
	if (why != NULL) {
		return refuse_squares(reader, why);
	}
	return chi_squares_shift(squares, reader->shift) ? CHI_OK : CHI_NONE;
}

/* All of these squares have something of `set`. */
static int narrow_all(struct chi_draft *draft, uint64_t squares, uint32_t set,
		      struct chi_origin origin, struct chi_fault *fault)
{
	int rc = CHI_OK;
	while (squares != 0 && rc == CHI_OK) {
		rc = chi_draft_narrow(draft, chi_pop(&squares), set, origin, fault);
	}
	return rc;
}

/* One alternative. `n` have come before it in its clause. */
static int read_alternative(struct reader *reader, size_t n, struct chi_draft_term *term,
			    bool *is_all)
{
	bool is_not = false;
	int rc = read_contents(reader, &term->set, &is_not);
	if (rc == CHI_OK) {
		rc = read_target(reader, &term->squares);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	bool is_line = chi_popcount(term->squares) > 1;
	if (is_not && is_line && (n > 0 || *reader->at == '|')) {
		return refuse_squares(reader,
				      "'!' with a '*' cannot be one of several alternatives");
	}
	*is_all = !is_line || is_not;
	return CHI_OK;
}

/* A condition: alternatives with '|' between them. */
static int read_condition(struct reader *reader, struct chi_draft *draft)
{
	struct chi_origin origin = here(reader);
	struct chi_draft_clause clause = {origin, draft->n_terms, 0};
	struct chi_draft_term term = {0};
	bool is_all = false;
	do {
		reader->at += clause.n > 0;
		int rc = read_alternative(reader, clause.n, &term, &is_all);
		if (rc != CHI_OK) {
			return rc;
		}
		if (draft->n_terms == CHI_PATTERN_TERMS_MAX) {
			return chi_fail(reader->fault, -CHI_ETOOBIG,
					"%s, character %zu: over %d alternatives and lines",
					origin.field, origin.at, CHI_PATTERN_TERMS_MAX);
		}
		draft->terms[draft->n_terms++] = term;
		clause.n++;
	} while (*reader->at == '|');
	if (*reader->at != '\0' && !is_gap(*reader->at)) {
		return refuse_squares(reader, "a space, a comma or '|' is expected after a square");
	}
	if (clause.n == 1 && is_all) {
		draft->n_terms--;
		return narrow_all(draft, term.squares, term.set, origin, reader->fault);
	}
	if (draft->n_clauses == CHI_PATTERN_CLAUSES_MAX) {
		return chi_fail(reader->fault, -CHI_ETOOBIG,
				"%s, character %zu: over %d conditions with '*' or '|'",
				origin.field, origin.at, CHI_PATTERN_CLAUSES_MAX);
	}
	draft->clauses[draft->n_clauses++] = clause;
	return CHI_OK;
}

int chi_draft_has(struct chi_draft *draft, const char *text, struct chi_fault *fault)
{
	struct reader reader = {"has", text, text, fault, draft->shift};
	skip_gaps(&reader);
	if (*reader.at == '\0') {
		return refuse_squares(&reader, "empty");
	}
	while (*reader.at != '\0') {
		int rc = read_condition(&reader, draft);
		if (rc != CHI_OK) {
			return rc;
		}
		skip_gaps(&reader);
	}
	return CHI_OK;
}

/* A rank, from the a-file on: eight squares. */
static int read_rank(struct reader *reader, struct chi_draft *draft, int rank)
{
	int file = 0;
	while (*reader->at != '\0' && *reader->at != '/' && !is_gap(*reader->at)) {
		struct chi_origin origin = here(reader);
		uint32_t set = SET_ALL;
		int n = 1;
		bool is_digit = *reader->at >= '1' && *reader->at <= '8';
		if (is_digit) {
			n = *reader->at++ - '0';
		} else {
			bool is_not = false;
			int rc = read_contents(reader, &set, &is_not);
			if (rc != CHI_OK) {
				return rc;
			}
		}
		if (file + n > 8) {
			return chi_fail(reader->fault, -CHI_ESYNTAX,
					"%s, character %zu: rank %d has more than 8 squares",
					origin.field, origin.at, rank + 1);
		}
		if (n == 1 && set != SET_ALL) {
			uint64_t square = chi_bit(8 * rank + file);
			int rc = chi_squares_shift(&square, reader->shift)
					 ? narrow_all(draft, square, set, origin, reader->fault)
					 : CHI_NONE;
			if (rc != CHI_OK) {
				return rc;
			}
		}
		file += n;
	}
	return file == 8 ? CHI_OK : refuse_squares(reader, "the rank has less than 8 squares");
}

/* The side to move after the placement, if it is given. */
static int read_side(struct reader *reader, struct chi_draft *draft)
{
	skip_gaps(reader);
	if (*reader->at == '\0') {
		return CHI_OK;
	}
	uint8_t side = *reader->at == 'w'   ? CHI_SIDE_WHITE
		       : *reader->at == 'b' ? CHI_SIDE_BLACK
					    : CHI_SIDE_ANY;
	if (side == CHI_SIDE_ANY) {
		return refuse_squares(reader, "after the placement is w or b, or nothing");
	}
	if (draft->side != CHI_SIDE_ANY && draft->side != side) {
		return chi_fail(reader->fault, -CHI_EINVAL,
				"%s, character %zu: contradicts the side to move asked for",
				reader->field, here(reader).at);
	}
	draft->side = side;
	reader->at++;
	skip_gaps(reader);
	return *reader->at == '\0'
		       ? CHI_OK
		       : refuse_squares(reader, "castling, en passant and counters cannot be "
						"asked for here");
}

int chi_draft_fen(struct chi_draft *draft, const char *text, struct chi_fault *fault)
{
	struct reader reader = {"fen", text, text, fault, draft->shift};
	skip_gaps(&reader);
	for (int rank = 7; rank >= 0; rank--) {
		int rc = read_rank(&reader, draft, rank);
		if (rc != CHI_OK) {
			return rc;
		}
		if (rank > 0 && *reader.at != '/') {
			return refuse_squares(&reader,
					      "8 ranks with '/' between them are expected");
		}
		reader.at += rank > 0;
	}
	if (*reader.at == '/') {
		return refuse_squares(&reader, "there are 8 ranks already");
	}
	return read_side(&reader, draft);
}

/* The pawns of one colour, to '/' or the end. */
static int read_pawns(struct reader *reader, struct chi_draft *draft, int colour)
{
	struct chi_origin start = here(reader);
	uint64_t given = 0;
	bool more = false;
	for (skip_gaps(reader); *reader->at != '\0' && *reader->at != '/'; skip_gaps(reader)) {
		struct chi_origin origin = here(reader);
		uint64_t squares = 0;
		if (*reader->at == '+') {
			more = true;
			reader->at++;
			continue;
		}
		int rc = read_target(reader, &squares);
		if (rc == CHI_OK && chi_popcount(squares) > 1) {
			rc = refuse_squares(reader, "'*' is no square of a pawn");
		}
		if (rc == CHI_OK) {
			rc = narrow_all(draft, squares, chi_set_of(colour, CHI_PAWN), origin,
					reader->fault);
		}
		if (rc != CHI_OK) {
			return rc;
		}
		given |= squares;
	}
	int n = chi_popcount(given);
	int rc = more ? CHI_OK
		      : chi_draft_bound(&draft->counts[colour * CHI_KINDS + CHI_PAWN], n, n,
					colour == CHI_WHITE ? "white pawns" : "black pawns", start,
					reader->fault);
	return rc;
}

int chi_draft_pawns(struct chi_draft *draft, const char *text, struct chi_fault *fault)
{
	struct reader reader = {"pawns", text, text, fault, draft->shift};
	int rc = read_pawns(&reader, draft, CHI_WHITE);
	if (rc == CHI_OK && *reader.at != '/') {
		rc = refuse_squares(&reader, "'/' and black's pawns are missing ('/ +': any)");
	}
	if (rc == CHI_OK) {
		reader.at++;
		rc = read_pawns(&reader, draft, CHI_BLACK);
	}
	if (rc == CHI_OK && *reader.at != '\0') {
		rc = refuse_squares(&reader, "a second '/'");
	}
	return rc;
}
