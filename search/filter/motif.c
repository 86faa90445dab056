/* SPDX-License-Identifier: MIT */
/*
 * A motif is compiled for each way of moving its squares (`shift`), and looked at in each way of
 * turning the position (`mirror`, `either-colour`): a variant is one of each. Cheap tests come
 * first wherever "and" or "or" leaves the choice.
 */
#include "search/filter/motif.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/endgame/endgame.h"
#include "chess/key.h"
#include "search/filter/motif_priv.h"

/* Tests in all places. */
#define TESTS_SHIFTED_MAX 1024

size_t chi_motif_size(const struct chi_motif *motif)
{
	return motif->size;
}

bool chi_motif_is_positional(const struct chi_motif *motif)
{
	return motif->positional;
}

unsigned chi_motif_cost(const struct chi_motif *motif)
{
	return motif->plain && motif->n_places == 1 ? 1 : 4;
}

/* ---- Compiling ---------------------------------------------------------------------------- */

/* What a test costs, about, against a pattern. */
static unsigned cost_of(const struct chi_term_test *test)
{
	switch (test->kind) {
	case CHI_TEST_ANY:
	case CHI_TEST_FIRST:
	case CHI_TEST_LAST:
	case CHI_TEST_PLY:
		return 0;
	case CHI_TEST_PATTERN:
		return 1;
	case CHI_TEST_MATE:
	case CHI_TEST_STALEMATE:
		return 8;
	default:
		return test->kind >= CHI_TEST_REACHED ? 100 : 2;
	}
}

/* Puts what is cheap before what is dear. Returns the cost of the node. */
static unsigned sort_node(struct chi_motif *motif, const struct chi_terms *terms, uint8_t at)
{
	struct chi_term_node *node = &motif->nodes[at];
	if (node->op == CHI_NODE_LEAF) {
		return cost_of(&terms->tests[node->left]);
	}
	unsigned left = sort_node(motif, terms, node->left);
	unsigned right = sort_node(motif, terms, node->right);
	if (left > right) {
		uint8_t swapped = node->left;
		node->left = node->right;
		node->right = swapped;
	}
	return left + right;
}

/* Counts the tests of a moment, which follow each other, and patterns among them. */
static void count_tests(struct chi_motif *motif, const struct chi_terms *terms, uint8_t at)
{
	const struct chi_term_node *node = &terms->nodes[at];
	if (node->op != CHI_NODE_LEAF) {
		count_tests(motif, terms, node->left);
		count_tests(motif, terms, node->right);
		return;
	}
	const struct chi_term_test *test = &terms->tests[node->left];
	if (motif->n_tests == 0 || node->left < motif->first_test) {
		motif->first_test = node->left;
	}
	motif->n_tests++;
	motif->n_patterns += test->kind == CHI_TEST_PATTERN;
	motif->positional = motif->positional && test->kind < CHI_TEST_FIRST;
	motif->asks_store = motif->asks_store || test->kind >= CHI_TEST_REACHED;
}

/* The parts of a motif that do not depend on places. */
static void lay_out(struct chi_motif *motif, const struct chi_terms *terms,
		    const struct chi_term *term)
{
	motif->positional = term->motif.n == 1;
	motif->n_moments = term->motif.n;
	memcpy(motif->moments, terms->moments + term->motif.first,
	       term->motif.n * sizeof(motif->moments[0]));
	memcpy(motif->nodes, terms->nodes, sizeof(motif->nodes));
	for (uint8_t i = 0; i < motif->n_moments; i++) {
		const struct chi_term_moment *moment = &motif->moments[i];
		count_tests(motif, terms, moment->root);
		sort_node(motif, terms, moment->root);
		motif->positional = motif->positional && moment->run == 1 && !moment->counted;
		motif->n_states += motif_states_of(moment);
	}
	/* A pattern knows all its turns by itself, but not which of them held at another ply. */
	const struct chi_term_node *node = &motif->nodes[motif->moments[0].root];
	motif->plain = motif->n_moments == 1 && node->op == CHI_NODE_LEAF &&
		       terms->tests[node->left].kind == CHI_TEST_PATTERN &&
		       !terms->tests[node->left].negated && motif->positional;
	bool turns = !motif->plain;
	for (int swap = 0; swap <= (turns && term->motif.either_colour); swap++) {
		for (int mirror = 0; mirror <= (turns && term->motif.mirror); mirror++) {
			motif->turns[motif->n_turns++] = (struct chi_turn){mirror == 1, swap == 1};
		}
	}
}

/* The squares of a test moved. CHI_NONE: not all stay on the board. */
static int compile_test(struct chi_motif *motif, const struct chi_terms *terms,
			const struct chi_term *term, size_t i, struct chi_shift shift,
			struct motif_test *out, struct chi_pattern **patterns)
{
	const struct chi_term_test *test = &terms->tests[motif->first_test + i];
	struct chi_pattern_spec spec;
	memset(out, 0, sizeof(*out));
	out->kind = test->kind;
	out->negated = test->negated;
	out->min = test->min;
	out->max = test->max;
	if (test->kind == CHI_TEST_PATTERN) {
		chi_term_pattern_spec(terms, &test->pattern, &spec);
		spec.shift = shift;
		spec.mirror = motif->plain && term->motif.mirror;
		spec.either_colour = motif->plain && term->motif.either_colour;
		out->family = test->pattern.family;
		out->pattern = (uint32_t)(*patterns - motif_patterns(motif));
		memset(*patterns, 0, sizeof(**patterns));
		int rc = chi_pattern_compile(&spec, (*patterns)++, NULL);
		if (rc == -CHI_EINVAL && (shift.files != 0 || shift.ranks != 0)) {
			/* Moved, a pawn would be where none can be: it never holds. */
			memset(out, 0, sizeof(*out));
			out->kind = CHI_TEST_ANY;
			out->negated = !test->negated;
			rc = CHI_OK;
		}
		return rc;
	}
	if (test->kind == CHI_TEST_PLAYED) {
		int rc = chi_played_parse(chi_term_text_of(terms, test->text), &out->played, NULL);
		return rc == CHI_OK ? chi_played_shift(&out->played, shift) : rc;
	}
	if (test->kind >= CHI_TEST_ATTACKED && test->kind <= CHI_TEST_DOUBLED) {
		int rc =
			chi_feature_parse((enum chi_feature_kind)(test->kind - CHI_TEST_ATTACKED),
					  chi_term_text_of(terms, test->text), &out->feature, NULL);
		return rc == CHI_OK ? chi_feature_shift(&out->feature, shift) : rc;
	}
	return CHI_OK;
}

/* Whether the last place is one that there is already: squares of all files do not move aside. */
static bool is_known_place(const struct chi_motif *motif)
{
	const struct motif_test *last =
		motif_tests(motif) + (size_t)motif->n_places * motif->n_tests;
	const struct chi_pattern *patterns = motif_patterns(motif);
	for (uint32_t place = 0; place < motif->n_places; place++) {
		const struct motif_test *other =
			motif_tests(motif) + (size_t)place * motif->n_tests;
		bool same = memcmp(patterns + (size_t)place * motif->n_patterns,
				   patterns + (size_t)motif->n_places * motif->n_patterns,
				   motif->n_patterns * sizeof(*patterns)) == 0;
		for (uint32_t i = 0; same && i < motif->n_tests; i++) {
			struct motif_test test = last[i];
			test.pattern = other[i].pattern;
			same = memcmp(&test, &other[i], sizeof(test)) == 0;
		}
		if (same) {
			return true;
		}
	}
	return false;
}

/* All tests in one place, if they are on the board there. */
static int add_place(struct chi_motif *motif, const struct chi_terms *terms,
		     const struct chi_term *term, struct chi_shift shift)
{
	struct motif_test *tests = motif_tests(motif) + (size_t)motif->n_places * motif->n_tests;
	struct chi_pattern *patterns =
		motif_patterns(motif) + (size_t)motif->n_places * motif->n_patterns;
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < motif->n_tests; i++) {
		rc = compile_test(motif, terms, term, i, shift, &tests[i], &patterns);
	}
	motif->n_places += rc == CHI_OK && !is_known_place(motif);
	return rc < 0 ? rc : CHI_OK;
}

int chi_motif_refuse(struct chi_fault *fault)
{
	return chi_fail(
		fault, -CHI_ETOOBIG,
		"filter: motifs with that many moments, conditions or plies cannot be turned "
		"and shifted");
}

/* So many places fit in the limits, of those that are tried. */
static size_t most_places(const struct chi_motif *plan, size_t tried, size_t patterns)
{
	size_t most = TESTS_SHIFTED_MAX / plan->n_tests;
	most = most < tried ? most : tried;
	return plan->n_patterns == 0 || patterns / plan->n_patterns > most
		       ? most
		       : patterns / plan->n_patterns;
}

/* All of them, each once. -CHI_ETOOBIG: there are more than `most`. */
static int add_places(struct chi_motif *motif, const struct chi_terms *terms,
		      const struct chi_term *term, size_t most)
{
	int files = term->motif.shift_files ? 7 : 0;
	int ranks = term->motif.shift_ranks ? 7 : 0;
	int rc = CHI_OK;
	for (int file = -files; rc == CHI_OK && file <= files; file++) {
		for (int rank = -ranks; rc == CHI_OK && rank <= ranks; rank++) {
			rc = add_place(motif, terms, term, (struct chi_shift){file, rank});
			rc = rc == CHI_OK && motif->n_places > most ? -CHI_ETOOBIG : rc;
		}
	}
	return rc;
}

int chi_motif_new(const struct chi_terms *terms, const struct chi_term *term, size_t patterns,
		  struct chi_motif **out, struct chi_fault *fault)
{
	struct chi_motif plan = {.size = 0};
	size_t tried = (term->motif.shift_files ? 15u : 1u) * (term->motif.shift_ranks ? 15u : 1u);
	lay_out(&plan, terms, term);
	size_t most = most_places(&plan, tried, patterns);
	/* One more is compiled before it is seen to be known, or too many. */
	plan.max_tests = plan.n_tests * (most + 1);
	plan.size = sizeof(plan) + plan.max_tests * sizeof(struct motif_test) +
		    plan.n_patterns * (most + 1) * sizeof(struct chi_pattern);
	if (most == 0) {
		return chi_motif_refuse(fault);
	}
	_cleanup_(chi_freep) struct chi_motif *motif = calloc(1, plan.size);
	if (motif == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	*motif = plan;
	int rc = add_places(motif, terms, term, most);
	if (rc < 0) {
		return rc == -CHI_ETOOBIG ? chi_motif_refuse(fault) : chi_fault_plain(fault, rc);
	}
	*out = motif;
	motif = NULL;
	return CHI_OK;
}

int chi_motif_parse(const char *text, struct chi_motif **out, struct chi_fault *fault)
{
	struct chi_fault why = {.text = ""};
	_cleanup_(chi_freep) struct chi_terms *terms = malloc(sizeof(*terms));
	if (terms == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = chi_terms_parse(text[0] != '\0' ? text : "any", text[0] != '\0' ? strlen(text) : 3,
				 terms, &why);
	_cleanup_(chi_freep) struct chi_motif *motif = NULL;
	bool is_motif = rc == CHI_OK && terms->n == 1 && terms->term[0].kind == CHI_TERM_MOTIF &&
			!terms->term[0].negated;
	if (is_motif) {
		rc = chi_motif_new(terms, &terms->term[0], CHI_MOTIF_PATTERNS_MAX, &motif, &why);
	}
	if (rc < 0) {
		/* It begins with "filter", which is another text here. */
		return chi_fail(fault, rc, "pattern%s", why.text + strcspn(why.text, ",:"));
	}
	if (!is_motif || !motif->positional) {
		return chi_fail(fault, -CHI_EINVAL,
				"pattern: conditions on the board of one position are possible, no "
				"terms of a filter, moves or what the store knows");
	}
	*out = motif;
	motif = NULL;
	return CHI_OK;
}

/* ---- Asking ------------------------------------------------------------------------------- */

/* `view` is turned; -CHI_ECORRUPT, -CHI_ENOMEM go to asked->rc, and the test fails. */
static bool test_fits(const struct chi_motif *motif, const struct motif_test *test,
		      struct motif_asked *asked, struct chi_moment_view *view)
{
	bool fits = false;
	switch (test->kind) {
	case CHI_TEST_PATTERN: {
		const uint8_t *key = chi_moment_view_key(view);
		return chi_pattern_matches(&motif_patterns(motif)[test->pattern], key) &&
		       (test->family == CHI_ENDGAME_NONE ||
			chi_endgame_family_of(key) == test->family);
	}
	case CHI_TEST_ANY:
		return true;
	case CHI_TEST_POINTS: {
		int points = chi_position_points(motif_position(asked, view));
		return points >= test->min && points <= test->max;
	}
	case CHI_TEST_CHECK:
		return chi_moment_check(motif_moment(asked, view));
	case CHI_TEST_MATE:
		return chi_moment_mate(motif_moment(asked, view));
	case CHI_TEST_STALEMATE:
		return chi_moment_stalemate(motif_moment(asked, view));
	case CHI_TEST_DEAD:
		return chi_position_insufficient(motif_position(asked, view));
	case CHI_TEST_FIRST:
		return asked->ply == 0;
	case CHI_TEST_LAST:
		return view->moment->move == 0;
	case CHI_TEST_PLY:
		return asked->ply >= test->min && asked->ply <= test->max;
	case CHI_TEST_PLAYED:
		return chi_played_fits(&test->played, view);
	default:
		break;
	}
	if (test->kind < CHI_TEST_REACHED) {
		return chi_feature_fits(&test->feature, motif_position(asked, view));
	}
	int rc = chi_facts_fits(asked->facts, view->moment, view->turn.swap,
				(enum chi_test_kind)test->kind, test->min, test->max, &fits);
	asked->rc = rc < 0 ? rc : asked->rc;
	return rc == CHI_OK && fits;
}

bool chi_motif_node_fits(const struct chi_motif *motif, const struct motif_test *tests, uint8_t at,
			 struct motif_asked *asked, struct chi_moment_view *view)
{
	const struct chi_term_node *node = &motif->nodes[at];
	if (node->op == CHI_NODE_LEAF) {
		const struct motif_test *test = &tests[node->left - motif->first_test];
		return test_fits(motif, test, asked, view) != test->negated;
	}
	bool left = chi_motif_node_fits(motif, tests, node->left, asked, view);
	if (left != (node->op == CHI_NODE_AND)) {
		return left;
	}
	return chi_motif_node_fits(motif, tests, node->right, asked, view);
}

/* In some turn and place. */
static bool motif_fits_somewhere(const struct chi_motif *motif, const uint8_t *key)
{
	struct chi_moment moment;
	struct chi_moment_view view;
	struct motif_asked asked = {.key = key};
	const struct motif_test *tests = motif_tests(motif);
	for (uint32_t turn = 0; turn < motif->n_turns; turn++) {
		bool turned = motif->turns[turn].mirror || motif->turns[turn].swap;
		if (turned) {
			/* It is computed once. */
			motif_decode(&asked);
		}
		moment.position = &asked.position;
		moment.after = NULL;
		moment.move = 0;
		moment.known = 0;
		chi_moment_view_init(&view, &moment, motif->turns[turn], key);
		for (uint32_t place = 0; place < motif->n_places; place++) {
			if (chi_motif_node_fits(motif, tests + (size_t)place * motif->n_tests,
						motif->moments[0].root, &asked, &view)) {
				return true;
			}
		}
	}
	return false;
}

bool chi_motif_fits(const struct chi_motif *motif, const uint8_t *key)
{
	if (motif->plain && motif->n_places == 1 &&
	    motif_tests(motif)[0].family == CHI_ENDGAME_NONE) {
		return chi_pattern_matches(&motif_patterns(motif)[0], key);
	}
	return motif_fits_somewhere(motif, key);
}
