/* SPDX-License-Identifier: MIT */
/* Printing filters: one text for all that mean the same, with quotes only where they are needed. */
#include "search/filter/terms.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chistore/games.h"
#include "search/filter/terms_priv.h"

struct printer {
	char *out;
	size_t used;
};

CHI_PRINTF(2, 3) static void print(struct printer *p, const char *format, ...)
{
	va_list arguments;
	size_t room = CHI_TERMS_PRINT_SIZE - p->used;
	va_start(arguments, format);
	int n = vsnprintf(p->out + p->used, room, format, arguments);
	va_end(arguments);
	p->used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

/* A space, but at the beginning and after a parenthesis. */
static void print_gap(struct printer *p)
{
	if (p->used > 0 && p->out[p->used - 1] != '(') {
		print(p, " ");
	}
}

static void print_value(struct printer *p, const char *text)
{
	if (chi_term_is_bare(text)) {
		print(p, " %s", text);
		return;
	}
	print(p, " \"");
	for (; *text != '\0'; text++) {
		print(p, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	print(p, "\"");
}

static void print_end(struct printer *p, const struct chi_term *term, uint32_t value)
{
	if (term->kind == CHI_TERM_ECO) {
		print(p, "%c%02u", (char)('A' + (value - 1) / 100), (value - 1) % 100);
	} else {
		print(p, "%u", value);
	}
}

static void print_range(struct printer *p, const struct chi_term *term)
{
	const struct chi_term_word *word = &chi_term_words[term->kind];
	print(p, " ");
	if (term->min == term->max) {
		print_end(p, term, term->min);
		return;
	}
	if (term->min != word->least) {
		print_end(p, term, term->min);
	}
	print(p, "..");
	if (term->max != word->most) {
		print_end(p, term, term->max);
	}
}

static void print_date(struct printer *p, uint32_t date)
{
	print(p, " %04u", date / 10000);
	if (date % 10000 != 0) {
		print(p, "-%02u", date / 100 % 100);
	}
	if (date % 100 != 0) {
		print(p, "-%02u", date % 100);
	}
}

static void print_list(struct printer *p, const struct chi_term *term)
{
	const char *const *words = chi_term_list((enum chi_term_kind)term->kind);
	char before = ' ';
	for (size_t i = 0; words[i] != NULL; i++) {
		if ((term->set >> i & 1) != 0) {
			print(p, "%c%s", before, words[i]);
			before = ',';
		}
	}
}

static void print_pattern(struct printer *p, const struct chi_terms *terms,
			  const struct chi_term_pattern *pattern)
{
	for (size_t i = 0; i < CHI_CONDITIONS; i++) {
		if (pattern->texts[i] != 0) {
			print_gap(p);
			print(p, "%s", chi_condition_words[i]);
			print_value(p, chi_term_text_of(terms, pattern->texts[i]));
		}
	}
	if (pattern->side != CHI_SIDE_ANY) {
		print_gap(p);
		print(p, "to-move %s", pattern->side == CHI_SIDE_WHITE ? "white" : "black");
	}
}

static void print_scaled(struct printer *p, int32_t value, int32_t scale)
{
	int32_t size = value < 0 ? -value : value;
	print(p, "%s%d", value < 0 ? "-" : "", size / scale);
	if (size % scale != 0) {
		print(p, size % 10 == 0 ? ".%d" : ".%02d",
		      size % 10 == 0 ? size % scale / 10 : size % scale);
	}
}

static void print_test(struct printer *p, const struct chi_terms *terms,
		       const struct chi_term_test *test)
{
	const struct chi_test_word *word = &chi_test_words[test->kind];
	if (test->negated) {
		print_gap(p);
		print(p, "not");
	}
	if (test->kind == CHI_TEST_PATTERN) {
		print_pattern(p, terms, &test->pattern);
		return;
	}
	print_gap(p);
	print(p, "%s", word->name);
	if (word->shape == TEST_TEXT) {
		print_value(p, chi_term_text_of(terms, test->text));
	} else if (word->shape == TEST_RANGE) {
		bool single = test->min == test->max;
		print(p, " ");
		if (single || test->min != word->least) {
			print_scaled(p, test->min, word->scale);
		}
		print(p, "%s", single ? "" : "..");
		if (!single && test->max != word->most) {
			print_scaled(p, test->max, word->scale);
		}
	}
}

/* How a tree's leaves are printed: terms, or tests. */
typedef void print_leaf(struct printer *p, const struct chi_terms *terms, size_t number);

/* Without parentheses that are not needed: `or` inside of an "and" has them. */
static void print_tree(struct printer *p, const struct chi_terms *terms, uint8_t at, bool inside,
		       print_leaf *leaf)
{
	const struct chi_term_node *node = &terms->nodes[at];
	if (node->op == CHI_NODE_LEAF) {
		leaf(p, terms, node->left);
		return;
	}
	bool is_or = node->op == CHI_NODE_OR;
	bool opens = is_or && inside;
	if (opens) {
		print_gap(p);
		print(p, "(");
	}
	print_tree(p, terms, node->left, !is_or, leaf);
	print(p, "%s", is_or ? " or" : "");
	print_tree(p, terms, node->right, !is_or, leaf);
	print(p, "%s", opens ? ")" : "");
}

static void print_test_leaf(struct printer *p, const struct chi_terms *terms, size_t number)
{
	print_test(p, terms, &terms->tests[number]);
}

/* What is the motif's stands in its first moment. */
static void print_symmetry(struct printer *p, const struct chi_term *term)
{
	bool files = term->motif.shift_files;
	bool ranks = term->motif.shift_ranks;
	print(p, "%s%s", term->motif.mirror ? " mirror" : "",
	      term->motif.either_colour ? " either-colour" : "");
	if (files || ranks) {
		print(p, " shift%s", files && ranks ? "" : files ? " files" : " ranks");
	}
}

static void print_moment(struct printer *p, const struct chi_terms *terms,
			 const struct chi_term *term, const struct chi_term_moment *moment)
{
	if (moment->link != CHI_LINK_NONE) {
		print(p, moment->link == CHI_LINK_NEXT ? " next" : " then");
	}
	if (moment->within != 0) {
		print(p, " within %u", moment->within);
	}
	print_tree(p, terms, moment->root, true, print_test_leaf);
	if (moment->link == CHI_LINK_NONE) {
		print_symmetry(p, term);
	}
	if (moment->run > 1) {
		print(p, " for %u", moment->run);
	}
	if (moment->counted && moment->least == moment->most) {
		print(p, " times %u", moment->least);
	} else if (moment->counted) {
		print(p, " times %u..", moment->least);
		if (moment->most != UINT16_MAX) {
			print(p, "%u", moment->most);
		}
	}
}

static void print_motif(struct printer *p, const struct chi_terms *terms,
			const struct chi_term *term)
{
	for (size_t i = 0; i < term->motif.n; i++) {
		print_moment(p, terms, term, &terms->moments[term->motif.first + i]);
	}
}

static void print_player(struct printer *p, const struct chi_terms *terms,
			 const struct chi_term *term)
{
	print_value(p, chi_term_text_of(terms, term->text));
	if (term->side != CHI_SIDE_ANY) {
		print(p, " as %s", term->side == CHI_SIDE_WHITE ? "white" : "black");
	}
	if (term->opponent != 0) {
		print(p, " opponent");
		print_value(p, chi_term_text_of(terms, term->opponent));
	}
}

static void print_term(struct printer *p, const struct chi_terms *terms,
		       const struct chi_term *term)
{
	char fen[CHI_FEN_SIZE];
	const struct chi_term_word *word = &chi_term_words[term->kind];
	print_gap(p);
	print(p, "%s%s", term->negated ? "not " : "", word->name);
	switch (word->shape) {
	case SHAPE_PLAYER:
		print_player(p, terms, term);
		break;
	case SHAPE_DATE:
		print_date(p, term->min);
		break;
	case SHAPE_RANGE:
	case SHAPE_ECO:
		print_range(p, term);
		break;
	case SHAPE_LIST:
		print_list(p, term);
		break;
	case SHAPE_FEN:
		if (chi_key_to_fen(&term->key, fen, NULL) == CHI_OK) {
			print_value(p, fen);
		}
		break;
	case SHAPE_MOMENTS:
		print_motif(p, terms, term);
		break;
	case SHAPE_TEXT:
	case SHAPE_LINE:
	case SHAPE_GAMESET:
	default:
		print_value(p, chi_term_text_of(terms, term->text));
		break;
	}
}

static void print_term_leaf(struct printer *p, const struct chi_terms *terms, size_t number)
{
	print_term(p, terms, &terms->term[number]);
}

size_t chi_terms_print(const struct chi_terms *terms, char out[CHI_TERMS_PRINT_SIZE])
{
	struct printer p = {.out = out};
	out[0] = '\0';
	if (terms->n > 0) {
		print_tree(&p, terms, terms->root, false, print_term_leaf);
	}
	return p.used;
}
