/* SPDX-License-Identifier: MIT */
/*
 * Reading motifs: moments, and the conditions in them. Conditions of a pattern that hold together
 * become one test, so that contradictions between them are seen and a key is looked at once.
 */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/endgame/endgame.h"
#include "chess/moment/features.h"
#include "chess/moment/played.h"
#include "search/filter/terms_priv.h"

#define POINTS_MAX  (9 * 32)
#define CENTIPAWNS  1000000
#define RANGE_GAMES INT32_MAX

const char *const chi_condition_words[CHI_CONDITIONS] = {"has",	     "fen",	"pawns",
							 "material", "balance", "endgame"};

const struct chi_test_word chi_test_words[CHI_TEST_KINDS] = {
	[CHI_TEST_PATTERN] = {NULL, TEST_PLAIN, 0, 0, 0},
	[CHI_TEST_ANY] = {"any", TEST_PLAIN, 0, 0, 0},
	[CHI_TEST_POINTS] = {"points", TEST_RANGE, 1, -POINTS_MAX, POINTS_MAX},
	[CHI_TEST_ATTACKED] = {"attacked", TEST_TEXT, 0, 0, 0},
	[CHI_TEST_OCCUPIED] = {"occupied", TEST_TEXT, 0, 0, 0},
	[CHI_TEST_PINNED] = {"pinned", TEST_TEXT, 0, 0, 0},
	[CHI_TEST_PASSED] = {"passed", TEST_TEXT, 0, 0, 0},
	[CHI_TEST_ISOLATED] = {"isolated", TEST_TEXT, 0, 0, 0},
	[CHI_TEST_DOUBLED] = {"doubled", TEST_TEXT, 0, 0, 0},
	[CHI_TEST_CHECK] = {"check", TEST_PLAIN, 0, 0, 0},
	[CHI_TEST_MATE] = {"mate", TEST_PLAIN, 0, 0, 0},
	[CHI_TEST_STALEMATE] = {"stalemate", TEST_PLAIN, 0, 0, 0},
	[CHI_TEST_DEAD] = {"dead", TEST_PLAIN, 0, 0, 0},
	[CHI_TEST_FIRST] = {"first", TEST_PLAIN, 0, 0, 0},
	[CHI_TEST_LAST] = {"last", TEST_PLAIN, 0, 0, 0},
	[CHI_TEST_PLY] = {"ply", TEST_RANGE, 1, 0, UINT16_MAX},
	[CHI_TEST_PLAYED] = {"played", TEST_TEXT, 0, 0, 0},
	[CHI_TEST_REACHED] = {"reached", TEST_RANGE, 1, 0, RANGE_GAMES},
	[CHI_TEST_SCORE] = {"score", TEST_RANGE, 100, 0, 100 * 100},
	[CHI_TEST_EVAL] = {"eval", TEST_RANGE, 100, -CENTIPAWNS, CENTIPAWNS},
	[CHI_TEST_CHI2] = {"chi2", TEST_RANGE, 100, 1, CHI_CHI2_MAX},
	[CHI_TEST_SHARE] = {"share", TEST_RANGE, 100, 0, 100 * 100},
	[CHI_TEST_LOSS] = {"loss", TEST_RANGE, 1, -2 * CENTIPAWNS, 2 * CENTIPAWNS},
};

/* What a moment is read with: the pattern that further conditions of one go to, -1: none. */
struct reading {
	struct chi_parser *p;
	struct chi_term *motif; /* NULL: inside of parentheses */
	int pattern;
	bool negated;
};

/* ---- What comes next ---------------------------------------------------------------------- */

static enum chi_condition condition_at(const struct chi_parser *p)
{
	int i = 0;
	while (i < CHI_CONDITIONS && !chi_parser_is_at(p, chi_condition_words[i])) {
		i++;
	}
	return (enum chi_condition)i;
}

static enum chi_test_kind test_at(const struct chi_parser *p)
{
	int i = CHI_TEST_ANY;
	while (i < CHI_TEST_KINDS && !chi_parser_is_at(p, chi_test_words[i].name)) {
		i++;
	}
	return (enum chi_test_kind)i;
}

static bool is_at_symmetry(const struct chi_parser *p)
{
	return chi_parser_is_at(p, "mirror") || chi_parser_is_at(p, "either-colour") ||
	       chi_parser_is_at(p, "shift");
}

static bool is_at_condition(const struct chi_parser *p)
{
	return condition_at(p) != CHI_CONDITIONS || chi_parser_is_at(p, "to-move") ||
	       test_at(p) != CHI_TEST_KINDS;
}

bool chi_motif_begins(const struct chi_parser *p)
{
	return chi_parser_is_at(p, "pattern") || is_at_condition(p) || is_at_symmetry(p);
}

/* Past one word of a group, and its value. False: it is for filters only, or none. */
static bool skip_condition(struct chi_parser *p)
{
	enum chi_test_kind kind = test_at(p);
	bool plain = chi_parser_is_at(p, "not") || chi_parser_is_at(p, "or") ||
		     (kind != CHI_TEST_KINDS && chi_test_words[kind].shape == TEST_PLAIN);
	if (!plain && !is_at_condition(p)) {
		return false;
	}
	return chi_parser_advance(p) == CHI_OK && (plain || chi_parser_advance(p) == CHI_OK);
}

static bool goes_on(struct chi_parser *p);

/* Past a group; *denies: an alternative in it begins with `not`. False: it is for filters only. */
static bool skip_group(struct chi_parser *p, bool *denies)
{
	unsigned depth = 0;
	bool begins = false;
	bool is = false;
	*denies = false;
	do {
		bool opens = chi_parser_is_at(p, "(");
		bool closes = chi_parser_is_at(p, ")");
		*denies |= begins && chi_parser_is_at(p, "not");
		begins = opens || chi_parser_is_at(p, "or");
		depth += opens;
		depth -= closes;
		is = opens || closes ? chi_parser_advance(p) == CHI_OK : skip_condition(p);
	} while (is && depth > 0);
	return is;
}

bool chi_motif_group_begins(struct chi_parser *p, bool unit)
{
	struct chi_fault *fault = p->fault;
	size_t at = p->next.at;
	bool denies = false;
	if (!chi_parser_is_at(p, "(")) {
		return false;
	}
	p->fault = NULL;
	bool is = skip_group(p, &denies);
	if (is && unit && denies) {
		is = goes_on(p) || chi_parser_is_at(p, "next") || chi_parser_is_at(p, "then") ||
		     chi_parser_is_at(p, "for") || chi_parser_is_at(p, "times");
	}
	/* What was read before is read again. */
	is = chi_parser_return(p, at) == CHI_OK && is;
	p->fault = fault;
	return is;
}

/* Whether a moment goes on: after any `not`, with a condition or a group of them. */
static bool goes_on(struct chi_parser *p)
{
	struct chi_fault *fault = p->fault;
	size_t at = p->next.at;
	int rc = CHI_OK;
	if (!chi_parser_is_at(p, "not")) {
		return is_at_condition(p) || is_at_symmetry(p) || chi_motif_group_begins(p, false);
	}
	p->fault = NULL;
	while (rc == CHI_OK && chi_parser_is_at(p, "not")) {
		rc = chi_parser_advance(p);
	}
	bool goes = rc == CHI_OK && (is_at_condition(p) || chi_motif_group_begins(p, false));
	goes = chi_parser_return(p, at) == CHI_OK && goes;
	p->fault = fault;
	return goes;
}

/* ---- Tests -------------------------------------------------------------------------------- */

static int add_test(struct reading *r, enum chi_test_kind kind, bool negated, int *node)
{
	struct chi_terms *terms = r->p->out;
	if (terms->n_tests == CHI_TESTS_MAX) {
		return chi_fail(r->p->fault, -CHI_ETOOBIG,
				AT "the moments of a filter have at most %d conditions",
				r->p->next.at + 1, CHI_TESTS_MAX);
	}
	*node = chi_parser_leaf(r->p, terms->n_tests);
	terms->tests[terms->n_tests++] =
		(struct chi_term_test){.kind = (uint8_t)kind, .negated = negated};
	return CHI_OK;
}

void chi_term_pattern_spec(const struct chi_terms *terms, const struct chi_term_pattern *pattern,
			   struct chi_pattern_spec *out)
{
	const char *texts[CHI_CONDITIONS] = {0};
	for (int i = 0; i < CHI_CONDITIONS; i++) {
		if (pattern->texts[i] != 0) {
			texts[i] = chi_term_text_of(terms, pattern->texts[i]);
		}
	}
	*out = (struct chi_pattern_spec){
		.has = texts[CHI_CONDITION_HAS],
		.fen = texts[CHI_CONDITION_FEN],
		.pawns = texts[CHI_CONDITION_PAWNS],
		.material = texts[CHI_CONDITION_MATERIAL],
		.balance = texts[CHI_CONDITION_BALANCE],
		.side = pattern->side,
	};
}

const char *chi_terms_ask_store(const struct chi_terms *terms)
{
	for (size_t i = 0; i < terms->n_tests; i++) {
		if (terms->tests[i].kind >= CHI_TEST_REACHED) {
			return chi_test_words[terms->tests[i].kind].name;
		}
	}
	return NULL;
}

/* The pattern so far can hold. */
static int check_pattern(const struct reading *r, const struct chi_term_test *test, size_t at)
{
	struct chi_pattern_spec spec;
	struct chi_pattern pattern;
	struct chi_fault why;
	chi_term_pattern_spec(r->p->out, &test->pattern, &spec);
	int rc = chi_pattern_compile(&spec, &pattern, &why);
	return rc < 0 ? chi_parser_blame(r->p, at, rc, &why) : CHI_OK;
}

/* Fills one condition of a pattern. */
static int read_pattern_value(struct reading *r, struct chi_term_test *test,
			      enum chi_condition which)
{
	struct chi_parser *p = r->p;
	struct chi_fault why;
	size_t at = p->next.at;
	int rc = chi_parser_advance(p);
	if (rc == CHI_OK && which == CHI_CONDITIONS) {
		rc = chi_parser_side(p, &test->pattern.side);
		return rc == CHI_OK ? check_pattern(r, test, at) : rc;
	}
	rc = rc == CHI_OK
		     ? chi_parser_keep(p, chi_condition_words[which], &test->pattern.texts[which])
		     : rc;
	if (rc == CHI_OK && which == CHI_CONDITION_ENDGAME) {
		rc = chi_endgame_family_find(p->next.text, p->next.len, &test->pattern.family,
					     &why);
		if (rc < 0) {
			return chi_parser_blame(p, p->next.at, rc, &why);
		}
	}
	rc = rc == CHI_OK ? check_pattern(r, test, at) : rc;
	return rc == CHI_OK ? chi_parser_advance(p) : rc;
}

/* A condition of a pattern: of the one that is being read, if it has none of its kind. */
static int read_pattern(struct reading *r, bool negated, int *node)
{
	struct chi_terms *terms = r->p->out;
	enum chi_condition which = condition_at(r->p);
	bool joins = r->pattern >= 0 && !negated && !r->negated;
	if (joins) {
		const struct chi_term_pattern *pattern = &terms->tests[r->pattern].pattern;
		joins = which == CHI_CONDITIONS ? pattern->side == CHI_SIDE_ANY
						: pattern->texts[which] == 0;
	}
	int rc = joins ? CHI_OK : add_test(r, CHI_TEST_PATTERN, negated != r->negated, node);
	if (rc < 0) {
		return rc;
	}
	int test = joins ? r->pattern : (int)terms->n_tests - 1;
	if (!joins && !negated && !r->negated) {
		r->pattern = test;
	}
	return read_pattern_value(r, &terms->tests[test], which);
}

/* The value of another kind of test. */
static int check_value(const struct chi_parser *p, struct chi_term_test *test,
		       struct chi_fault *why)
{
	struct chi_played_moves moves;
	struct chi_feature feature;
	if (chi_test_words[test->kind].shape == TEST_RANGE) {
		return chi_test_read_range(p->next.text, test, why);
	}
	if (test->kind == CHI_TEST_PLAYED) {
		return chi_played_parse(p->next.text, &moves, why);
	}
	return chi_feature_parse(
		(enum chi_feature_kind)(test->kind - CHI_TEST_ATTACKED + CHI_FEATURE_ATTACKED),
		p->next.text, &feature, why);
}

static int read_test(struct reading *r, bool negated, int *node)
{
	struct chi_parser *p = r->p;
	struct chi_terms *terms = p->out;
	struct chi_fault why;
	enum chi_test_kind kind = test_at(p);
	if (kind == CHI_TEST_KINDS) {
		return read_pattern(r, negated, node);
	}
	int rc = add_test(r, kind, negated != r->negated, node);
	rc = rc == CHI_OK ? chi_parser_advance(p) : rc;
	if (rc < 0 || chi_test_words[kind].shape == TEST_PLAIN) {
		return rc;
	}
	struct chi_term_test *test = &terms->tests[terms->n_tests - 1];
	rc = chi_parser_keep(p, chi_test_words[kind].name, &test->text);
	if (rc < 0) {
		return rc;
	}
	rc = check_value(p, test, &why);
	return rc < 0 ? chi_parser_blame(p, p->next.at, rc, &why) : chi_parser_advance(p);
}

/* ---- Moments ------------------------------------------------------------------------------ */

static int read_group(struct reading *r, bool negated, int *node);

static int refuse_condition(const struct chi_parser *p)
{
	return chi_fail(
		p->fault, -CHI_ESYNTAX,
		AT "a moment has has, fen, pawns, material, balance, endgame, to-move, "
		   "played, check, mate, stalemate, dead, first, last, ply, any, points, "
		   "attacked, occupied, pinned, passed, isolated, doubled, reached, score, eval, "
		   "chi2, share, loss, mirror, either-colour, shift, (",
		p->next.at + 1);
}

/* A condition, or a group of them; *node stays below 0 if it went to a pattern before it. */
static int read_condition(struct reading *r, int *node)
{
	struct chi_parser *p = r->p;
	bool negated = false;
	int rc = CHI_OK;
	while (rc == CHI_OK && chi_parser_is_at(p, "not")) {
		negated = !negated;
		rc = chi_parser_advance(p);
	}
	if (rc < 0) {
		return rc;
	}
	if (chi_parser_is_at(p, "(")) {
		return read_group(r, negated, node);
	}
	return is_at_condition(p) ? read_test(r, negated, node) : refuse_condition(p);
}

/* `mirror`, `either-colour` or `shift`, which are the motif's. */
static int read_symmetry(struct reading *r)
{
	struct chi_parser *p = r->p;
	struct chi_term *motif = r->motif;
	motif->motif.mirror |= chi_parser_is_at(p, "mirror");
	motif->motif.either_colour |= chi_parser_is_at(p, "either-colour");
	bool shifts = chi_parser_is_at(p, "shift");
	int rc = chi_parser_advance(p);
	if (rc < 0 || !shifts) {
		return rc;
	}
	bool files = chi_parser_is_at(p, "files");
	bool ranks = chi_parser_is_at(p, "ranks");
	motif->motif.shift_files |= files || !ranks;
	motif->motif.shift_ranks |= ranks || !files;
	return files || ranks ? chi_parser_advance(p) : CHI_OK;
}

/* Conditions side by side. */
static int read_conditions(struct reading *r, int *node)
{
	enum chi_term_join op = r->negated ? CHI_NODE_OR : CHI_NODE_AND;
	int rc = CHI_OK;
	*node = -1;
	r->pattern = -1;
	do {
		int one = -1;
		rc = is_at_symmetry(r->p) ? read_symmetry(r) : read_condition(r, &one);
		*node = rc == CHI_OK && one >= 0 ? chi_parser_join(r->p, *node, op, one) : *node;
	} while (rc == CHI_OK && goes_on(r->p));
	return rc;
}

/* Conditions in parentheses, with `or` between them. */
static int read_group(struct reading *r, bool negated, int *node)
{
	struct reading inner = {.p = r->p, .pattern = -1, .negated = r->negated != negated};
	enum chi_term_join op = inner.negated ? CHI_NODE_AND : CHI_NODE_OR;
	int rc = chi_parser_open(r->p);
	bool more = true;
	*node = -1;
	while (rc == CHI_OK && more) {
		int one = -1;
		rc = read_conditions(&inner, &one);
		if (rc == CHI_OK) {
			*node = chi_parser_join(r->p, *node, op, one);
			more = chi_parser_is_at(r->p, "or");
			rc = more ? chi_parser_advance(r->p) : CHI_OK;
		}
	}
	return rc == CHI_OK ? chi_parser_close(r->p) : rc;
}

/* A number of plies after a word. */
static int read_ply_count(struct chi_parser *p, const char *of, uint16_t *out)
{
	struct chi_fault why;
	struct chi_term_test test = {.kind = CHI_TEST_PLY};
	int rc = chi_parser_advance(p);
	if (rc == CHI_OK && chi_test_read_range(p->next.text, &test, &why) < 0) {
		test.min = 0;
	}
	if (rc == CHI_OK && (test.min < 1 || test.min != test.max)) {
		return chi_fail(p->fault, -CHI_ESYNTAX, AT "%s takes a number of plies, 1 to %d",
				p->next.at + 1, of, UINT16_MAX);
	}
	*out = (uint16_t)test.min;
	return rc == CHI_OK ? chi_parser_advance(p) : rc;
}

static int read_times(struct chi_parser *p, struct chi_term_moment *moment)
{
	struct chi_fault why;
	struct chi_term_test test = {.kind = CHI_TEST_PLY};
	int rc = chi_parser_advance(p);
	if (rc == CHI_OK && p->next.len == 0) {
		return chi_fail(p->fault, -CHI_ESYNTAX, AT "times needs a value after it",
				p->next.at + 1);
	}
	if (rc == CHI_OK) {
		rc = chi_test_read_range(p->next.text, &test, &why);
		if (rc < 0) {
			return chi_parser_blame(p, p->next.at, rc, &why);
		}
	}
	moment->counted = true;
	moment->least = (uint16_t)test.min;
	moment->most = (uint16_t)test.max;
	return rc == CHI_OK ? chi_parser_advance(p) : rc;
}

/* Conditions, and how often they hold. */
static int read_moment(struct chi_parser *p, struct chi_term *term, struct chi_term_moment *moment)
{
	struct reading r = {.p = p, .motif = term, .pattern = -1};
	int node = -1;
	int rc = chi_parser_is_at(p, "pattern") ? chi_parser_advance(p) : CHI_OK;
	if (rc < 0) {
		return rc;
	}
	if (!goes_on(p)) {
		return refuse_condition(p);
	}
	moment->run = 1;
	rc = read_conditions(&r, &node);
	if (rc == CHI_OK && node < 0) { /* of symmetry alone */
		rc = add_test(&r, CHI_TEST_ANY, false, &node);
	}
	moment->root = (uint8_t)(node < 0 ? 0 : node);
	if (rc == CHI_OK && chi_parser_is_at(p, "for")) {
		rc = read_ply_count(p, "for", &moment->run);
	}
	return rc == CHI_OK && chi_parser_is_at(p, "times") ? read_times(p, moment) : rc;
}

/* `next`, or `then` and its bound, if one of them is next. */
static int read_link(struct chi_parser *p, uint8_t *link, uint16_t *within)
{
	*link = chi_parser_is_at(p, "next")   ? CHI_LINK_NEXT
		: chi_parser_is_at(p, "then") ? CHI_LINK_THEN
					      : CHI_LINK_NONE;
	int rc = *link == CHI_LINK_NONE ? CHI_OK : chi_parser_advance(p);
	if (rc == CHI_OK && *link == CHI_LINK_THEN && chi_parser_is_at(p, "within")) {
		rc = read_ply_count(p, "within", within);
	}
	return rc;
}

int chi_motif_parse_terms(struct chi_parser *p, struct chi_term *term)
{
	struct chi_terms *terms = p->out;
	struct chi_term_moment moment = {.link = CHI_LINK_NONE};
	size_t at = p->next.at;
	bool counted = false;
	int rc = CHI_OK;
	term->motif.first = (uint8_t)terms->n_moments;
	do {
		if (terms->n_moments == CHI_MOMENTS_MAX) {
			return chi_fail(p->fault, -CHI_ETOOBIG,
					AT "the motifs of a filter have at most %d moments",
					p->next.at + 1, CHI_MOMENTS_MAX);
		}
		rc = read_moment(p, term, &moment);
		counted |= moment.counted;
		terms->moments[terms->n_moments++] = moment;
		term->motif.n++;
		moment = (struct chi_term_moment){.link = CHI_LINK_NONE};
		rc = rc == CHI_OK ? read_link(p, &moment.link, &moment.within) : rc;
	} while (rc == CHI_OK && moment.link != CHI_LINK_NONE);
	if (rc == CHI_OK && counted && term->motif.n > 1) {
		rc = chi_fail(p->fault, -CHI_EINVAL,
			      AT "times counts in all of the game: it is not possible in a motif "
				 "with next or then",
			      at + 1);
	}
	return rc;
}
