/* SPDX-License-Identifier: MIT */
/*
 * Reading filters. A text is cut into words; the first word of a term says what its value looks
 * like, and terms_value.c reads that; terms_motif.c reads motifs. `not` before a group is put to
 * its leaves: the opposite of "a and b" is "not a or not b".
 */
#include "search/filter/terms.h"

#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
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
	[CHI_TERM_MOTIF] = {"pattern", SHAPE_MOMENTS, 0, 0},
};

/* ---- Words -------------------------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int chi_parser_blame(const struct chi_parser *p, size_t at, int rc, const struct chi_fault *why)
{
	return chi_fail(p->fault, rc, AT "%s", at + 1, why->text);
}

/* Between double quotes. */
static int read_quoted(struct chi_parser *p, struct chi_word *word)
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

static bool is_parenthesis(char c)
{
	return c == '(' || c == ')';
}

/* To the end of a word without quotes. */
static int read_bare(struct chi_parser *p, struct chi_word *word)
{
	do {
		if (word->len == CHI_TERM_VALUE_MAX) {
			return chi_fail(p->fault, -CHI_ETOOBIG, AT "a value has at most %d bytes",
					word->at + 1, CHI_TERM_VALUE_MAX);
		}
		word->text[word->len++] = p->text[p->at++];
	} while (!is_parenthesis(word->text[0]) && p->at < p->len && !is_space(p->text[p->at]) &&
		 p->text[p->at] != '"' && !is_parenthesis(p->text[p->at]));
	return CHI_OK;
}

/* Reads the word after the next one. */
int chi_parser_advance(struct chi_parser *p)
{
	struct chi_word *word = &p->next;
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
	if (!word->quoted && p->at < p->len) {
		int rc = read_bare(p, word);
		if (rc < 0) {
			return rc;
		}
	}
	word->text[word->len] = '\0';
	bool apart = word->len == 1 && !word->quoted && is_parenthesis(word->text[0]);
	if (!apart && p->at < p->len && !is_space(p->text[p->at]) &&
	    !is_parenthesis(p->text[p->at])) {
		return chi_fail(p->fault, -CHI_ESYNTAX,
				AT "between two words there must be a space", p->at + 1);
	}
	return CHI_OK;
}

int chi_parser_return(struct chi_parser *p, size_t at)
{
	p->at = at;
	return chi_parser_advance(p);
}

bool chi_parser_ended(const struct chi_parser *p)
{
	return p->next.len == 0 && !p->next.quoted;
}

bool chi_parser_is_at(const struct chi_parser *p, const char *word)
{
	return !p->next.quoted && strcmp(p->next.text, word) == 0;
}

int chi_parser_keep(struct chi_parser *p, const char *of, chi_term_text *out)
{
	struct chi_terms *terms = p->out;
	if (p->next.len == 0 || chi_parser_is_at(p, "(") || chi_parser_is_at(p, ")")) {
		return chi_fail(p->fault, -CHI_ESYNTAX, AT "%s needs a value after it",
				p->next.at + 1, of);
	}
	*out = (chi_term_text)terms->used;
	memcpy(terms->texts + terms->used, p->next.text, p->next.len + 1);
	terms->used += p->next.len + 1;
	return CHI_OK;
}

/* ---- Terms -------------------------------------------------------------------------------- */

int chi_parser_side(struct chi_parser *p, uint8_t *out)
{
	*out = chi_parser_is_at(p, "white")   ? CHI_SIDE_WHITE
	       : chi_parser_is_at(p, "black") ? CHI_SIDE_BLACK
					      : CHI_SIDE_ANY;
	return *out != CHI_SIDE_ANY
		       ? chi_parser_advance(p)
		       : chi_fail(p->fault, -CHI_ESYNTAX, AT "white or black is possible here",
				  p->next.at + 1);
}

/* The name, and who it is. */
static int read_player(struct chi_parser *p, struct chi_term *term)
{
	int rc = chi_parser_keep(p, "player", &term->text);
	rc = rc == CHI_OK ? chi_parser_advance(p) : rc;
	while (rc == CHI_OK) {
		if (chi_parser_is_at(p, "as") && term->side == CHI_SIDE_ANY) {
			rc = chi_parser_advance(p);
			rc = rc == CHI_OK ? chi_parser_side(p, &term->side) : rc;
		} else if (chi_parser_is_at(p, "opponent") && term->opponent == 0) {
			rc = chi_parser_advance(p);
			rc = rc == CHI_OK ? chi_parser_keep(p, "opponent", &term->opponent) : rc;
			rc = rc == CHI_OK ? chi_parser_advance(p) : rc;
		} else {
			break;
		}
	}
	return rc;
}

static int read_position(struct chi_parser *p, struct chi_term *term)
{
	struct chi_fault why;
	int rc = chi_key_from_fen(p->next.text, p->next.len, &term->key, &why);
	return rc < 0 ? chi_parser_blame(p, p->next.at, -CHI_ESYNTAX, &why) : chi_parser_advance(p);
}

static int read_moves(struct chi_parser *p, struct chi_term *term)
{
	struct chi_fault why;
	struct chi_position position[2];
	chi_move moves[CHI_LINE_MAX];
	size_t n = 0;
	int rc = chi_parser_keep(p, "moves", &term->text);
	if (rc < 0) {
		return rc;
	}
	rc = chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &position[0], &why);
	if (rc == CHI_OK) {
		rc = chi_line_parse(&position[0], p->next.text, p->next.len, moves, CHI_LINE_MAX,
				    &n, &why);
	}
	if (rc < 0) {
		return chi_parser_blame(p, p->next.at, -CHI_ESYNTAX, &why);
	}
	for (size_t i = 0; i < n; i++) {
		chi_position_play(&position[i & 1], moves[i], &position[~i & 1]);
	}
	chi_key_encode(&position[n & 1], &term->key);
	return chi_parser_advance(p);
}

static int read_gameset(struct chi_parser *p, struct chi_term *term)
{
	struct chi_fault why;
	int rc = chi_gameset_name_check(p->next.text, p->next.len, &why);
	if (rc < 0) {
		return chi_parser_blame(p, p->next.at, rc, &why);
	}
	rc = chi_parser_keep(p, "gameset", &term->text);
	return rc == CHI_OK ? chi_parser_advance(p) : rc;
}

/* ---- Filters ------------------------------------------------------------------------------ */

/* What is after the word of a term. */
static int read_value(struct chi_parser *p, struct chi_term *term)
{
	const char *name = chi_term_words[term->kind].name;
	enum chi_term_shape shape = chi_term_words[term->kind].shape;
	struct chi_fault why;
	int rc = CHI_OK;
	if (p->next.len == 0 && shape != SHAPE_MOMENTS) {
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
	case SHAPE_MOMENTS:
		return chi_motif_parse_terms(p, term);
	case SHAPE_TEXT:
		rc = chi_parser_keep(p, name, &term->text);
		return rc == CHI_OK ? chi_parser_advance(p) : rc;
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
	return rc < 0 ? chi_parser_blame(p, p->next.at, rc, &why) : chi_parser_advance(p);
}

/* Of a term's first word. */
static enum chi_term_kind kind_of(const struct chi_parser *p, uint8_t *side)
{
	*side = chi_parser_is_at(p, "white")   ? CHI_SIDE_WHITE
		: chi_parser_is_at(p, "black") ? CHI_SIDE_BLACK
					       : CHI_SIDE_ANY;
	if (*side != CHI_SIDE_ANY) {
		return CHI_TERM_PLAYER;
	}
	if (chi_parser_is_at(p, "in")) {
		return CHI_TERM_GAMESET;
	}
	if (chi_motif_begins(p)) {
		return CHI_TERM_MOTIF;
	}
	int i = 0;
	while (i < CHI_TERM_KINDS && !chi_parser_is_at(p, chi_term_words[i].name)) {
		i++;
	}
	return (enum chi_term_kind)i;
}

static int refuse_unit(const struct chi_parser *p)
{
	return chi_fail(p->fault, -CHI_ESYNTAX,
			AT "'%.20s' begins no term: player, white, black, event, site, source, "
			   "since, until, year, number, rating, elo-white, elo-black, both, "
			   "average, eco, result, length, plies, speed, title, position, moves, "
			   "in, pattern, has, fen, pawns, material, balance, endgame, to-move, "
			   "played, check and other conditions, not, (",
			p->next.at + 1, p->next.text);
}

static int read_term(struct chi_parser *p, bool negated, int *node)
{
	struct chi_terms *terms = p->out;
	struct chi_term term = {.negated = negated};
	enum chi_term_kind kind =
		chi_parser_is_at(p, "(") ? CHI_TERM_MOTIF : kind_of(p, &term.side);
	if (kind == CHI_TERM_KINDS) {
		return refuse_unit(p);
	}
	if (terms->n == CHI_TERMS_MAX) {
		return chi_fail(p->fault, -CHI_ETOOBIG, AT "a filter has at most %d terms",
				p->next.at + 1, CHI_TERMS_MAX);
	}
	term.kind = (uint8_t)kind;
	int rc = kind == CHI_TERM_MOTIF ? CHI_OK : chi_parser_advance(p);
	rc = rc == CHI_OK ? read_value(p, &term) : rc;
	for (size_t i = 0; i < terms->n; i++) {
		term.motif.number =
			(uint8_t)(term.motif.number + (terms->term[i].kind == CHI_TERM_MOTIF));
	}
	if (rc == CHI_OK) {
		*node = chi_parser_leaf(p, terms->n);
		terms->term[terms->n++] = term;
	}
	return rc;
}

/* ---- Joining them ------------------------------------------------------------------------- */

int chi_parser_leaf(struct chi_parser *p, size_t number)
{
	p->out->nodes[p->out->n_nodes] =
		(struct chi_term_node){.op = CHI_NODE_LEAF, .left = (uint8_t)number};
	return (int)p->out->n_nodes++;
}

int chi_parser_join(struct chi_parser *p, int node, enum chi_term_join op, int other)
{
	if (node < 0) {
		return other;
	}
	p->out->nodes[p->out->n_nodes] = (struct chi_term_node){
		.op = (uint8_t)op, .left = (uint8_t)node, .right = (uint8_t)other};
	return (int)p->out->n_nodes++;
}

int chi_parser_open(struct chi_parser *p)
{
	if (p->depth == CHI_NESTED_MAX) {
		return chi_fail(p->fault, -CHI_ETOOBIG, AT "over %d parentheses are open",
				p->next.at + 1, CHI_NESTED_MAX);
	}
	p->depth++;
	return chi_parser_advance(p);
}

int chi_parser_close(struct chi_parser *p)
{
	if (!chi_parser_is_at(p, ")")) {
		return chi_fail(p->fault, -CHI_ESYNTAX,
				AT "a ) is missing, or a term, and, or before it", p->next.at + 1);
	}
	p->depth--;
	return chi_parser_advance(p);
}

static int read_filter(struct chi_parser *p, bool negated, int *node);

/* A term, a motif or a group; `negated` from outside. */
static int read_unit(struct chi_parser *p, bool negated, int *node)
{
	int rc = CHI_OK;
	while (rc == CHI_OK && chi_parser_is_at(p, "not")) {
		negated = !negated;
		rc = chi_parser_advance(p);
	}
	if (rc < 0 || !chi_parser_is_at(p, "(") || chi_motif_group_begins(p, true)) {
		return rc < 0 ? rc : read_term(p, negated, node);
	}
	rc = chi_parser_open(p);
	rc = rc == CHI_OK ? read_filter(p, negated, node) : rc;
	return rc == CHI_OK ? chi_parser_close(p) : rc;
}

/* Units with `and` between them or nothing. */
static int read_conjunction(struct chi_parser *p, bool negated, int *node)
{
	int rc = CHI_OK;
	*node = -1;
	do {
		int unit = -1;
		rc = *node >= 0 && chi_parser_is_at(p, "and") ? chi_parser_advance(p) : CHI_OK;
		rc = rc == CHI_OK ? read_unit(p, negated, &unit) : rc;
		if (rc == CHI_OK) {
			*node = chi_parser_join(p, *node, negated ? CHI_NODE_OR : CHI_NODE_AND,
						unit);
		}
	} while (rc == CHI_OK && !chi_parser_ended(p) && !chi_parser_is_at(p, "or") &&
		 !chi_parser_is_at(p, ")"));
	return rc;
}

static int read_filter(struct chi_parser *p, bool negated, int *node)
{
	int rc = CHI_OK;
	*node = -1;
	do {
		int other = -1;
		rc = *node >= 0 ? chi_parser_advance(p) : CHI_OK;
		rc = rc == CHI_OK ? read_conjunction(p, negated, &other) : rc;
		if (rc == CHI_OK) {
			*node = chi_parser_join(p, *node, negated ? CHI_NODE_AND : CHI_NODE_OR,
						other);
		}
	} while (rc == CHI_OK && chi_parser_is_at(p, "or"));
	return rc;
}

/* Without an "or". */
static bool is_joined(const struct chi_terms *terms, uint8_t at)
{
	const struct chi_term_node *node = &terms->nodes[at];
	return node->op == CHI_NODE_LEAF ||
	       (node->op == CHI_NODE_AND && is_joined(terms, node->left) &&
		is_joined(terms, node->right));
}

/* All of the text. */
static int read_whole(struct chi_parser *p)
{
	struct chi_terms *terms = p->out;
	int root = -1;
	int rc = chi_parser_advance(p);
	if (rc < 0 || chi_parser_ended(p)) {
		terms->joined = true;
		return rc;
	}
	rc = read_filter(p, false, &root);
	if (rc == CHI_OK && !chi_parser_ended(p)) {
		rc = chi_fail(p->fault, -CHI_ESYNTAX, AT "this ) closes nothing", p->next.at + 1);
	}
	if (rc < 0) {
		return rc;
	}
	terms->root = (uint8_t)root;
	terms->joined = is_joined(terms, terms->root);
	return CHI_OK;
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

static int parse_once(const char *text, size_t len, struct chi_terms *out, struct chi_fault *fault)
{
	struct chi_parser p = {.text = text, .len = len, .out = out, .fault = fault};
	int rc = check_text(text, len, fault);
	memset(out, 0, sizeof(*out));
	out->used = 1;
	return rc == CHI_OK ? read_whole(&p) : rc;
}

/* What is printed is read again as it is, and printed the same. Conditions that stood apart in
 * parentheses are one pattern without them, so that it may take some rounds. */
static int settle_print(struct chi_terms *terms, struct chi_fault *fault)
{
	char printed[CHI_TERMS_PRINT_SIZE];
	char again[CHI_TERMS_PRINT_SIZE];
	size_t len = chi_terms_print(terms, printed);
	while (len <= CHI_TERMS_TEXT_MAX && terms->n_tests > 0) {
		int rc = parse_once(printed, len, terms, NULL);
		if (rc < 0) {
			return chi_fail(fault, -CHI_EINVAL,
					"filter: conditions in parentheses contradict those beside "
					"them");
		}
		size_t len_again = chi_terms_print(terms, again);
		if (len_again == len && memcmp(again, printed, len) == 0) {
			return CHI_OK;
		}
		memcpy(printed, again, sizeof(printed));
		len = len_again;
	}
	return len <= CHI_TERMS_TEXT_MAX ? CHI_OK
					 : chi_fail(fault, -CHI_ETOOBIG,
						    "filter: written out, it has at most %d bytes",
						    CHI_TERMS_TEXT_MAX);
}

int chi_terms_parse(const char *text, size_t len, struct chi_terms *out, struct chi_fault *fault)
{
	int rc = parse_once(text, len, out, fault);
	return rc == CHI_OK ? settle_print(out, fault) : rc;
}
