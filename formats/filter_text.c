/* SPDX-License-Identifier: MIT */
/* Terms are written when all are known: a player, colour and opponent belong together, and so do
 * all conditions of a board. */
#include "formats/filter_text.h"

#include <string.h>

#include "base/attr.h"

struct filter_writer {
	char *at; /* NUL-terminated there */
	char *end;
	bool full;
};

static void put_char(struct filter_writer *w, char c)
{
	if (w->at + 1 >= w->end) {
		w->full = true;
		return;
	}
	*w->at++ = c;
	*w->at = '\0';
}

/* A blank, unless it is the first, and the text. */
static void put_text(struct filter_writer *w, const char *text, const char *begin)
{
	if (w->at > begin) {
		put_char(w, ' ');
	}
	for (; *text != '\0'; text++) {
		put_char(w, *text);
	}
}

static void put_value(struct filter_writer *w, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-.,/=+:_*";
	bool quoted = value[0] == '\0' || value[strspn(value, plain)] != '\0';
	put_char(w, ' ');
	if (quoted) {
		put_char(w, '"');
	}
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\') {
			put_char(w, '\\');
		}
		put_char(w, *value);
	}
	if (quoted) {
		put_char(w, '"');
	}
}

#define NAME(a, b, kind, name, value, help)                                                        \
	{                                                                                          \
		name, CHI_FILTER_##kind                                                            \
	}
const struct chi_filter_name chi_filter_names[] = {
	CHI_FILTER_TAGS(NAME, 0, 0),
	CHI_FILTER_STORED(NAME, 0, 0),
	CHI_FILTER_BOARDS(NAME, 0, 0),
	{NULL, 0},
};

enum chi_filter_kind chi_filter_kind_of(const char *name)
{
	const struct chi_filter_name *at = chi_filter_names;
	while (at->name != NULL && strcmp(at->name, name) != 0) {
		at++;
	}
	return at->kind;
}

const char *chi_filter_word(const char *name)
{
	return strcmp(name, "fen-part") == 0 ? "fen" : name;
}

static bool is_condition(const struct chi_filter_term *term)
{
	return chi_filter_is_board(chi_filter_kind_of(term->name));
}

/* By itself, whatever is before and after it. */
static void put_filter(struct filter_writer *w, struct chi_filter_term *term, const char *begin)
{
	if (term->value[strspn(term->value, " \t\r\n")] == '\0') {
		return;
	}
	if (w->at > begin) {
		put_text(w, "and", begin);
	}
	put_text(w, "(", begin);
	term->at = (size_t)(w->at - begin);
	put_text(w, term->value, begin);
	put_text(w, ")", begin);
}

static void put_term(struct filter_writer *w, struct chi_filter_term *term, const char *begin)
{
	term->at = (size_t)(w->at - begin);
	if (strcmp(term->name, "filter") == 0) {
		put_filter(w, term, begin);
		return;
	}
	if (term->negated) {
		put_text(w, is_condition(term) ? "not pattern" : "not", begin);
	}
	put_text(w, chi_filter_word(term->name), begin);
	if (term->value != NULL) {
		put_value(w, term->value);
	}
	if (term->side != NULL) {
		put_text(w, "as", begin);
		put_text(w, term->side, begin);
	}
	if (term->opponent != NULL) {
		put_text(w, "opponent", begin);
		put_value(w, term->opponent);
	}
}

/* One pattern has all conditions; those with `not` are each a pattern of their own. */
int chi_filter_text(struct chi_filter_term *terms, size_t n, char *out, size_t size)
{
	struct filter_writer w = {.at = out, .end = out + size};
	bool pattern = false;
	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (!is_condition(&terms[i]) || terms[i].negated) {
			put_term(&w, &terms[i], out);
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (is_condition(&terms[i]) && !terms[i].negated) {
			size_t at = (size_t)(w.at - out);
			if (!pattern) {
				put_text(&w, "pattern", out);
			}
			put_term(&w, &terms[i], out);
			terms[i].at = at;
			pattern = true;
		}
	}
	return w.full ? -CHI_ETOOBIG : CHI_OK;
}
