/* SPDX-License-Identifier: MIT */
#include "chess/pattern/contents.h"

#include <stdbool.h>
#include <stddef.h>

#include "chess/position.h"

/* What one character means, or 0. */
static uint32_t set_of_letter(char c)
{
	if (c == '?') {
		return SET_ALL;
	}
	if (c == '.') {
		return SET_EMPTY;
	}
	if (c == 'A' || c == 'a') {
		return c == 'A' ? SET_WHITE : SET_BLACK;
	}
	bool small = c >= 'a' && c <= 'z';
	int kind = chi_kind_of(small ? (char)(c - 'a' + 'A') : c);
	return kind == CHI_KINDS ? 0 : chi_set_of(small ? CHI_BLACK : CHI_WHITE, kind);
}

/* Inside of brackets, to the one that closes. */
static const char *read_bracket(const char **at, uint32_t *set)
{
	*set = 0;
	for (++*at; **at != ']'; ++*at) {
		uint32_t one = set_of_letter(**at);
		if (**at == '\0') {
			return "']' is missing";
		}
		if (one == 0) {
			return "in brackets are K Q R B N P A, small or capital, '.' or '?'";
		}
		*set |= one;
	}
	if (*set == 0) {
		return "nothing in the brackets";
	}
	++*at;
	return NULL;
}

const char *chi_contents_read(const char **at, uint32_t *set)
{
	bool is_not = **at == '!';
	const char *why = NULL;
	*at += is_not;
	if (**at == '[') {
		why = read_bracket(at, set);
	} else {
		*set = set_of_letter(**at);
		if (*set == 0) {
			return "a piece is expected: K Q R B N P A, small for Black, '.' for "
			       "empty, "
			       "'?' for anything, or [...]";
		}
		++*at;
	}
	if (why == NULL && is_not) {
		*set = SET_ALL & ~*set;
		why = *set == 0 ? "not anything: nothing is that" : NULL;
	}
	return why;
}

/* One of eight, beginning with `first`, some of them, or '*'; as bits, 0: none. */
static uint32_t read_eight(const char **at, char first)
{
	const char *text = *at;
	if (*text == '*') {
		++*at;
		return 0xff;
	}
	unsigned from = (unsigned)(text[0] - first);
	unsigned to = from;
	if (from > 7) {
		return 0;
	}
	++*at;
	if (text[1] == '.' && text[2] == '.') {
		to = (unsigned)(text[3] - first);
		if (to > 7 || to < from) {
			return 0;
		}
		*at += 3;
	}
	return (2u << to) - (1u << from);
}

const char *chi_squares_read(const char **at, uint64_t *squares)
{
	uint32_t files = read_eight(at, 'a');
	if (files == 0) {
		return "a file is expected, a to h, '*', or several: a..c";
	}
	uint32_t ranks = read_eight(at, '1');
	if (ranks == 0) {
		return "a rank is expected after the file, 1 to 8, '*', or several: 4..5";
	}
	*squares = 0;
	for (int rank = 0; rank < 8; rank++) {
		*squares |= (uint64_t)((ranks >> rank & 1) * files) << (8 * rank);
	}
	return NULL;
}
