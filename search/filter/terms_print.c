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
			  const struct chi_term *term)
{
	for (size_t i = 0; i < CHI_CONDITIONS; i++) {
		if (term->pattern.texts[i] != 0) {
			print(p, " %s", chi_condition_words[i]);
			print_value(p, chi_term_text_of(terms, term->pattern.texts[i]));
		}
	}
	if (term->pattern.side != CHI_SIDE_ANY) {
		print(p, " to-move %s", term->pattern.side == CHI_SIDE_WHITE ? "white" : "black");
	}
	if (term->pattern.mirror) {
		print(p, " mirror");
	}
	if (term->pattern.either_colour) {
		print(p, " either-colour");
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
	print(p, "%s%s%s", p->used > 0 ? " " : "", term->negated ? "not " : "", word->name);
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
	case SHAPE_PATTERN:
		print_pattern(p, terms, term);
		break;
	case SHAPE_TEXT:
	case SHAPE_LINE:
	case SHAPE_GAMESET:
	default:
		print_value(p, chi_term_text_of(terms, term->text));
		break;
	}
}

size_t chi_terms_print(const struct chi_terms *terms, char out[CHI_TERMS_PRINT_SIZE])
{
	struct printer p = {.out = out};
	out[0] = '\0';
	for (size_t i = 0; i < terms->n; i++) {
		print_term(&p, terms, &terms->term[i]);
	}
	return p.used;
}
