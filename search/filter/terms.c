/* SPDX-License-Identifier: MIT */
/*
 * Reading filters. A text is cut into words; the first word of a term says what its value looks
 * like, and terms_value.c reads that. `next` is always one word ahead, since some terms go on with
 * further words or do not.
 */
#include "search/filter/terms.h"

#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/endgame/endgame.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "chistore/games.h"
#include "search/filter/terms_priv.h"

const struct chi_term_word chi_term_words[CHI_TERM_KINDS] = {
	[CHI_TERM_PLAYER] = {"player", SHAPE_PLAYER, 0, 0},
	[CHI_TERM_EVENT] = {"event", SHAPE_TEXT, 0, 0},
	[CHI_TERM_SITE] = {"site", SHAPE_TEXT, 0, 0},
	[CHI_TERM_SOURCE] = {"source", SHAPE_TEXT, 0, 0},
	[CHI_TERM_SINCE] = {"since", SHAPE_DATE, 0, 0},
	[CHI_TERM_UNTIL] = {"until", SHAPE_DATE, 0, 0},
	[CHI_TERM_YEAR] = {"year", SHAPE_RANGE, 1, 9999},
	[CHI_TERM_NUMBER] = {"number", SHAPE_RANGE, 1, UINT32_MAX},
	[CHI_TERM_RATING] = {"rating", SHAPE_RANGE, 1, CHI_GAME_ELO_MAX},
	[CHI_TERM_ELO_WHITE] = {"elo-white", SHAPE_RANGE, 1, CHI_GAME_ELO_MAX},
	[CHI_TERM_ELO_BLACK] = {"elo-black", SHAPE_RANGE, 1, CHI_GAME_ELO_MAX},
	[CHI_TERM_BOTH] = {"both", SHAPE_RANGE, 1, CHI_GAME_ELO_MAX},
	[CHI_TERM_AVERAGE] = {"average", SHAPE_RANGE, 1, CHI_GAME_ELO_MAX},
	[CHI_TERM_ECO] = {"eco", SHAPE_ECO, 1, CHI_ECO_CODES},
	[CHI_TERM_RESULT] = {"result", SHAPE_LIST, 0, 0},
	[CHI_TERM_LENGTH] = {"length", SHAPE_RANGE, 0, 32768},
	[CHI_TERM_PLIES] = {"plies", SHAPE_RANGE, 0, UINT16_MAX},
	[CHI_TERM_SPEED] = {"speed", SHAPE_LIST, 1, 0},
	[CHI_TERM_TITLE] = {"title", SHAPE_LIST, 1, 0},
	[CHI_TERM_POSITION] = {"position", SHAPE_FEN, 0, 0},
	[CHI_TERM_MOVES] = {"moves", SHAPE_LINE, 0, 0},
	[CHI_TERM_GAMESET] = {"gameset", SHAPE_GAMESET, 0, 0},
	[CHI_TERM_PATTERN] = {"pattern", SHAPE_PATTERN, 0, 0},
};

const char *const chi_condition_words[CHI_CONDITIONS] = {"has",	     "fen",	"pawns",
							 "material", "balance", "endgame"};

/* ---- Words -------------------------------------------------------------------------------- */

struct word {
	size_t at; /* in the text */
	bool quoted;
	size_t len; /* 0 and not quoted: there is none */
	char text[CHI_TERM_VALUE_MAX + 1];
};

struct parser {
	const char *text;
	size_t len;
	size_t at;
	struct word next;
	struct chi_terms *out;
	struct chi_fault *fault;
};

#define AT "filter, character %zu: "

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A failure of a value, told with its place. */
static int place_fault(const struct parser *p, size_t at, int rc, const struct chi_fault *why)
{
	return chi_fail(p->fault, rc, AT "%s", at + 1, why->text);
}

/* Between double quotes. */
static int read_quoted(struct parser *p, struct word *word)
{
	for (p->at++; p->at < p->len && p->text[p->at] != '"'; p->at++) {
		char c = p->text[p->at];
		if (c == '\\') {
			c = ++p->at < p->len ? p->text[p->at] : '\0';
			if (c != '"' && c != '\\') {
				return chi_fail(p->fault, -CHI_ESYNTAX,
						AT "after \\ only \" and \\ are possible", p->at);
			}
		}
		if (word->len == CHI_TERM_VALUE_MAX) {
			return chi_fail(p->fault, -CHI_ETOOBIG, AT "a value has at most %d bytes",
					word->at + 1, CHI_TERM_VALUE_MAX);
		}
		word->text[word->len++] = c;
	}
	if (p->at == p->len) {
		return chi_fail(p->fault, -CHI_ESYNTAX, AT "the quotation mark is not closed",
				word->at + 1);
	}
	p->at++;
	return CHI_OK;
}

/* Reads the word after the next one. */
static int advance_parser(struct parser *p)
{
	struct word *word = &p->next;
	while (p->at < p->len && is_space(p->text[p->at])) {
		p->at++;
	}
	word->at = p->at;
	word->len = 0;
	word->quoted = p->at < p->len && p->text[p->at] == '"';
	if (word->quoted) {
		int rc = read_quoted(p, word);
		if (rc < 0) {
			return rc;
		}
	}
	while (!word->quoted && p->at < p->len && !is_space(p->text[p->at]) &&
	       p->text[p->at] != '"') {
		if (word->len == CHI_TERM_VALUE_MAX) {
			return chi_fail(p->fault, -CHI_ETOOBIG, AT "a value has at most %d bytes",
					word->at + 1, CHI_TERM_VALUE_MAX);
		}
		word->text[word->len++] = p->text[p->at++];
	}
	word->text[word->len] = '\0';
	if (p->at < p->len && !is_space(p->text[p->at])) {
		return chi_fail(p->fault, -CHI_ESYNTAX,
				AT "between two words there must be a space", p->at + 1);
	}
	return CHI_OK;
}

static bool is_parsed(const struct parser *p)
{
	return p->next.len == 0 && !p->next.quoted;
}

static bool next_is(const struct parser *p, const char *word)
{
	return !p->next.quoted && strcmp(p->next.text, word) == 0;
}

/* Copies the next word, which must be a value, to the texts. Does not go on. */
static int keep_value(struct parser *p, const char *of, chi_term_text *out)
{
	struct chi_terms *terms = p->out;
	if (p->next.len == 0) {
		return chi_fail(p->fault, -CHI_ESYNTAX, AT "%s needs a value after it",
				p->next.at + 1, of);
	}
	*out = (chi_term_text)terms->used;
	memcpy(terms->texts + terms->used, p->next.text, p->next.len + 1);
	terms->used += p->next.len + 1;
	return CHI_OK;
}

/* ---- Terms -------------------------------------------------------------------------------- */

static int read_side(struct parser *p, uint8_t *out)
{
	*out = next_is(p, "white")   ? CHI_SIDE_WHITE
	       : next_is(p, "black") ? CHI_SIDE_BLACK
				     : CHI_SIDE_ANY;
	return *out != CHI_SIDE_ANY
		       ? advance_parser(p)
		       : chi_fail(p->fault, -CHI_ESYNTAX, AT "white or black is possible here",
				  p->next.at + 1);
}

/* The name, and who it is. */
static int read_player(struct parser *p, struct chi_term *term)
{
	int rc = keep_value(p, "player", &term->text);
	rc = rc == CHI_OK ? advance_parser(p) : rc;
	while (rc == CHI_OK) {
		if (next_is(p, "as") && term->side == CHI_SIDE_ANY) {
			rc = advance_parser(p);
			rc = rc == CHI_OK ? read_side(p, &term->side) : rc;
		} else if (next_is(p, "opponent") && term->opponent == 0) {
			rc = advance_parser(p);
			rc = rc == CHI_OK ? keep_value(p, "opponent", &term->opponent) : rc;
			rc = rc == CHI_OK ? advance_parser(p) : rc;
		} else {
			break;
		}
	}
	return rc;
}

static int read_position(struct parser *p, struct chi_term *term)
{
	struct chi_fault why;
	int rc = chi_key_from_fen(p->next.text, p->next.len, &term->key, &why);
	return rc < 0 ? place_fault(p, p->next.at, -CHI_ESYNTAX, &why) : advance_parser(p);
}

static int read_moves(struct parser *p, struct chi_term *term)
{
	struct chi_fault why;
	struct chi_position position[2];
	chi_move moves[CHI_LINE_MAX];
	size_t n = 0;
	int rc = keep_value(p, "moves", &term->text);
	if (rc < 0) {
		return rc;
	}
	rc = chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &position[0], &why);
	if (rc == CHI_OK) {
		rc = chi_line_parse(&position[0], p->next.text, p->next.len, moves, CHI_LINE_MAX,
				    &n, &why);
	}
	if (rc < 0) {
		return place_fault(p, p->next.at, -CHI_ESYNTAX, &why);
	}
	for (size_t i = 0; i < n; i++) {
		chi_position_play(&position[i & 1], moves[i], &position[~i & 1]);
	}
	chi_key_encode(&position[n & 1], &term->key);
	return advance_parser(p);
}

static int read_gameset(struct parser *p, struct chi_term *term)
{
	struct chi_fault why;
	int rc = chi_gameset_name_check(p->next.text, p->next.len, &why);
	if (rc < 0) {
		return place_fault(p, p->next.at, rc, &why);
	}
	rc = keep_value(p, "gameset", &term->text);
	return rc == CHI_OK ? advance_parser(p) : rc;
}

/* ---- Patterns ----------------------------------------------------------------------------- */

static enum chi_condition condition_of(const struct parser *p)
{
	int i = 0;
	while (i < CHI_CONDITIONS && !next_is(p, chi_condition_words[i])) {
		i++;
	}
	return (enum chi_condition)i;
}

/* Whether the next word goes on with a pattern, or begins one. */
static bool is_condition(const struct parser *p)
{
	return condition_of(p) != CHI_CONDITIONS || next_is(p, "to-move") || next_is(p, "mirror") ||
	       next_is(p, "either-colour");
}

static int read_text_condition(struct parser *p, struct chi_term *term, enum chi_condition which)
{
	const char *word = chi_condition_words[which];
	chi_term_text *text = &term->pattern.texts[which];
	struct chi_fault why;
	if (*text != 0) {
		return chi_fail(p->fault, -CHI_ESYNTAX,
				AT "%s is in this pattern already; pattern begins another one",
				p->next.at + 1, word);
	}
	int rc = advance_parser(p);
	rc = rc == CHI_OK ? keep_value(p, word, text) : rc;
	if (rc == CHI_OK && which == CHI_CONDITION_ENDGAME) {
		rc = chi_endgame_family_find(p->next.text, p->next.len, &term->pattern.family,
					     &why);
		if (rc < 0) {
			return place_fault(p, p->next.at, rc, &why);
		}
	}
	return rc == CHI_OK ? advance_parser(p) : rc;
}

static int read_condition(struct parser *p, struct chi_term *term)
{
	enum chi_condition which = condition_of(p);
	if (which != CHI_CONDITIONS) {
		return read_text_condition(p, term, which);
	}
	if (next_is(p, "to-move")) {
		int rc = advance_parser(p);
		return rc == CHI_OK ? read_side(p, &term->pattern.side) : rc;
	}
	if (next_is(p, "mirror")) {
		term->pattern.mirror = true;
	} else {
		term->pattern.either_colour = true;
	}
	return advance_parser(p);
}

void chi_term_pattern(const struct chi_terms *terms, const struct chi_term *term,
		      struct chi_pattern_spec *out)
{
	const char *texts[CHI_CONDITIONS] = {0};
	for (int i = 0; i < CHI_CONDITIONS; i++) {
		if (term->pattern.texts[i] != 0) {
			texts[i] = chi_term_text_of(terms, term->pattern.texts[i]);
		}
	}
	*out = (struct chi_pattern_spec){
		.has = texts[CHI_CONDITION_HAS],
		.fen = texts[CHI_CONDITION_FEN],
		.pawns = texts[CHI_CONDITION_PAWNS],
		.material = texts[CHI_CONDITION_MATERIAL],
		.balance = texts[CHI_CONDITION_BALANCE],
		.side = term->pattern.side,
		.mirror = term->pattern.mirror,
		.either_colour = term->pattern.either_colour,
	};
}

static int read_pattern(struct parser *p, struct chi_term *term)
{
	struct chi_pattern_spec spec;
	struct chi_pattern pattern;
	struct chi_fault why;
	size_t at = p->next.at;
	if (!is_condition(p)) {
		return chi_fail(p->fault, -CHI_ESYNTAX,
				AT "a pattern has has, fen, pawns, material, balance, endgame, "
				   "to-move, mirror, either-colour",
				p->next.at + 1);
	}
	while (is_condition(p)) {
		int rc = read_condition(p, term);
		if (rc < 0) {
			return rc;
		}
	}
	chi_term_pattern(p->out, term, &spec);
	int rc = chi_pattern_compile(&spec, &pattern, &why);
	return rc < 0 ? place_fault(p, at, rc, &why) : CHI_OK;
}

/* ---- Filters ------------------------------------------------------------------------------ */

/* What is after the word of a term. */
static int read_value(struct parser *p, struct chi_term *term)
{
	const char *name = chi_term_words[term->kind].name;
	enum chi_term_shape shape = chi_term_words[term->kind].shape;
	struct chi_fault why;
	int rc = CHI_OK;
	if (p->next.len == 0 && shape != SHAPE_PATTERN) {
		return chi_fail(p->fault, -CHI_ESYNTAX, AT "%s needs a value after it",
				p->next.at + 1, name);
	}
	switch (shape) {
	case SHAPE_PLAYER:
		return read_player(p, term);
	case SHAPE_FEN:
		return read_position(p, term);
	case SHAPE_LINE:
		return read_moves(p, term);
	case SHAPE_GAMESET:
		return read_gameset(p, term);
	case SHAPE_PATTERN:
		return read_pattern(p, term);
	case SHAPE_TEXT:
		rc = keep_value(p, name, &term->text);
		return rc == CHI_OK ? advance_parser(p) : rc;
	case SHAPE_DATE:
		rc = chi_term_read_date(p->next.text, term, &why);
		break;
	case SHAPE_RANGE:
		rc = chi_term_read_range(p->next.text, term, &why);
		break;
	case SHAPE_ECO:
		rc = chi_term_read_eco(p->next.text, term, &why);
		break;
	case SHAPE_LIST:
	default:
		rc = chi_term_read_list(p->next.text, term, &why);
		break;
	}
	return rc < 0 ? place_fault(p, p->next.at, rc, &why) : advance_parser(p);
}

/* Of a term's first word. */
static enum chi_term_kind kind_of(const struct parser *p, uint8_t *side)
{
	*side = next_is(p, "white")   ? CHI_SIDE_WHITE
		: next_is(p, "black") ? CHI_SIDE_BLACK
				      : CHI_SIDE_ANY;
	if (*side != CHI_SIDE_ANY) {
		return CHI_TERM_PLAYER;
	}
	if (next_is(p, "in")) {
		return CHI_TERM_GAMESET;
	}
	if (is_condition(p)) {
		return CHI_TERM_PATTERN;
	}
	int i = 0;
	while (i < CHI_TERM_KINDS && !next_is(p, chi_term_words[i].name)) {
		i++;
	}
	return (enum chi_term_kind)i;
}

static int read_term(struct parser *p)
{
	struct chi_terms *terms = p->out;
	struct chi_term term = {0};
	int rc = CHI_OK;
	if (next_is(p, "not")) {
		term.negated = true;
		rc = advance_parser(p);
	}
	enum chi_term_kind kind = kind_of(p, &term.side);
	if (rc == CHI_OK && kind == CHI_TERM_KINDS) {
		return chi_fail(p->fault, -CHI_ESYNTAX,
				AT "'%.20s' begins no term: player, white, black, event, site, "
				   "source, since, until, year, number, rating, elo-white, "
				   "elo-black, both, average, eco, result, length, plies, speed, "
				   "title, position, moves, in, pattern",
				p->next.at + 1, p->next.text);
	}
	if (rc == CHI_OK && terms->n == CHI_TERMS_MAX) {
		return chi_fail(p->fault, -CHI_ETOOBIG, AT "a filter has at most %d terms",
				p->next.at + 1, CHI_TERMS_MAX);
	}
	term.kind = (uint8_t)kind;
	/* A pattern's first word may be left out. */
	if (rc == CHI_OK && (kind != CHI_TERM_PATTERN || next_is(p, "pattern"))) {
		rc = advance_parser(p);
	}
	rc = rc == CHI_OK ? read_value(p, &term) : rc;
	if (rc == CHI_OK) {
		terms->term[terms->n++] = term;
	}
	return rc;
}

static int check_text(const char *text, size_t len, struct chi_fault *fault)
{
	if (len > CHI_TERMS_TEXT_MAX) {
		return chi_fail(fault, -CHI_ETOOBIG, "filter: it has at most %d bytes",
				CHI_TERMS_TEXT_MAX);
	}
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if ((c < 0x20 && !is_space(text[i])) || c == 0x7f) {
			return chi_fail(fault, -CHI_ESYNTAX, AT "a control character", i + 1);
		}
	}
	return chi_utf8_valid(text, len) ? CHI_OK
					 : chi_fail(fault, -CHI_EINVAL, "filter: it is no UTF-8");
}

int chi_terms_parse(const char *text, size_t len, struct chi_terms *out, struct chi_fault *fault)
{
	struct parser p = {.text = text, .len = len, .out = out, .fault = fault};
	char printed[CHI_TERMS_PRINT_SIZE];
	int rc = check_text(text, len, fault);
	memset(out, 0, sizeof(*out));
	out->used = 1;
	rc = rc == CHI_OK ? advance_parser(&p) : rc;
	while (rc == CHI_OK && !is_parsed(&p)) {
		rc = out->n > 0 && next_is(&p, "and") ? advance_parser(&p) : CHI_OK;
		rc = rc == CHI_OK ? read_term(&p) : rc;
	}
	/* What is printed must be read again. */
	if (rc == CHI_OK && chi_terms_print(out, printed) > CHI_TERMS_TEXT_MAX) {
		rc = chi_fail(fault, -CHI_ETOOBIG, "filter: written out, it has at most %d bytes",
			      CHI_TERMS_TEXT_MAX);
	}
	return rc;
}
