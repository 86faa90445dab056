/* SPDX-License-Identifier: MIT */
/*
 * Conditions are judged by a trait alone: they hold, do not hold, or may. A list of games whose
 * trait decides is exact. Where the trait that nearly all games begin with leaves a moment
 * possible, lists of that kind are not read: they would leave nearly all.
 */
#include "search/filter/listed.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/endgame/endgame.h"
#include "chess/pattern/contents.h"
#include "search/filter/motif_priv.h"
#include "store/traits/traits.h"

/* Traits asked about, and games of lists, that take as long as a step. */
#define TRAITS_A_STEP 16
#define GAMES_A_STEP  512

/* So few are sooner played again than found to be fewer. */
#define FEW 64

#define ANY_EVENT UINT32_MAX

/* What is read in turn, of each moment: what is short first. */
static const uint8_t kinds[] = {CHI_TRAIT_EVENT, CHI_TRAIT_HOME, CHI_TRAIT_MATERIAL};

/* Traits from one to another, both included. Of those that conditions fit, no number of pieces is
 * less or more than that of the ends; pawns at home are those of the first, and others of the last.
 */
struct span {
	chi_trait from;
	chi_trait to;
};

#define SPANS_MAX 16 /* turns, and views of a pattern */

struct chi_listed {
	const struct chi_motif *motif;
	const struct chi_archive_view *view;
	uint32_t from;
	unsigned used; /* kinds of traits */
	bool exact;
	struct chi_numbers *games; /* NULL: all */
	/* What is being read: of a moment, of its conditions between "or", a kind of traits. */
	size_t moment;
	size_t choice;
	size_t kind;
	uint8_t node; /* of these conditions */
	bool begun;
	bool vague; /* some of `some` may not have the motif */
	bool full;  /* the steps are used up */
	uint32_t events;
	size_t n_spans;
	struct span spans[SPANS_MAX]; /* `boxes` that overlap, joined */
	size_t n_boxes;
	struct span boxes[SPANS_MAX];
	size_t span;
	chi_trait next; /* that is to be looked at */
	uint64_t *steps;
	uint64_t unpaid;	   /* traits that are not a step yet */
	struct chi_numbers *some;  /* of the kind */
	struct chi_numbers *part;  /* of the conditions; NULL: all */
	struct chi_numbers *whole; /* of the moment, so far */
	bool part_exact;
	bool whole_exact;
};

/* ---- Judging ------------------------------------------------------------------------------ */

enum judgement {
	FALSE,
	POSSIBLE,
	TRUE,
};

/* A trait, turned as a view is. */
struct seen {
	enum chi_trait_kind kind;
	uint8_t counts[2][CHI_KINDS];
	uint64_t home;
};

static enum judgement judge_pattern(const struct chi_motif *motif, const struct motif_test *test,
				    const struct seen *seen)
{
	const struct chi_pattern *pattern = &motif_patterns(motif)[test->pattern];
	if (seen->kind == CHI_TRAIT_HOME) {
		return (enum judgement)chi_pattern_by_home(pattern, seen->home);
	}
	if (test->family != CHI_ENDGAME_NONE &&
	    chi_endgame_family_by(seen->counts) != test->family) {
		return FALSE;
	}
	return (enum judgement)chi_pattern_by_counts(pattern, seen->counts, motif->n_places > 1);
}

static enum judgement judge_test(const struct chi_motif *motif, const struct motif_test *test,
				 const struct seen *seen)
{
	enum judgement answer = POSSIBLE;
	if (test->kind == CHI_TEST_PATTERN) {
		answer = judge_pattern(motif, test, seen);
	} else if (test->kind == CHI_TEST_POINTS && seen->kind == CHI_TRAIT_MATERIAL) {
		int points = chi_counts_points(seen->counts);
		answer = points >= test->min && points <= test->max ? TRUE : FALSE;
	} else if (test->kind == CHI_TEST_ANY && motif->n_places == 1) {
		answer = TRUE;
	}
	if (test->negated && answer == TRUE && motif->n_places > 1) {
		/* A pattern that holds of itself where it stands need not in another place. */
		answer = POSSIBLE;
	}
	return test->negated ? TRUE - answer : answer;
}

/* A leaf's test, in a place where it is one: what it asks of numbers must hold in all. */
static const struct motif_test *test_of(const struct chi_motif *motif, uint8_t leaf)
{
	const struct motif_test *tests = motif_tests(motif) + (leaf - motif->first_test);
	uint32_t place = 0;
	while (place < motif->n_places && tests[place * motif->n_tests].kind == CHI_TEST_ANY) {
		place++;
	}
	return &tests[(place < motif->n_places ? place : 0) * motif->n_tests];
}

static enum judgement judge_node(const struct chi_motif *motif, uint8_t at, const struct seen *seen)
{
	const struct chi_term_node *node = &motif->nodes[at];
	if (node->op == CHI_NODE_LEAF) {
		return judge_test(motif, test_of(motif, node->left), seen);
	}
	enum judgement left = judge_node(motif, node->left, seen);
	enum judgement right = judge_node(motif, node->right, seen);
	return (left < right) == (node->op == CHI_NODE_AND) ? left : right;
}

static uint64_t mirror_byte(uint64_t byte)
{
	uint64_t out = 0;
	for (int i = 0; i < 8; i++) {
		out |= (byte >> i & 1) << (7 - i);
	}
	return out;
}

/* The trait as a view that is turned has it. */
static struct seen turn_trait(chi_trait trait, struct chi_turn turn)
{
	struct seen seen = {.kind = chi_trait_kind_of(trait)};
	uint64_t value = chi_trait_value(trait);
	if (seen.kind == CHI_TRAIT_HOME) {
		uint64_t white = turn.swap ? value >> 8 : value & 255;
		uint64_t black = turn.swap ? value & 255 : value >> 8;
		seen.home = turn.mirror ? mirror_byte(white) | mirror_byte(black) << 8
					: white | black << 8;
		return seen;
	}
	chi_trait_counts(value, seen.counts);
	for (int kind = 0; turn.swap && kind < CHI_KINDS; kind++) {
		uint8_t white = seen.counts[CHI_WHITE][kind];
		seen.counts[CHI_WHITE][kind] = seen.counts[CHI_BLACK][kind];
		seen.counts[CHI_BLACK][kind] = white;
	}
	return seen;
}

/* 15 of a kind may be more. */
static bool is_crowded(chi_trait trait)
{
	uint64_t value = chi_trait_value(trait);
	uint64_t ones = value & value >> 1 & value >> 2 & value >> 3;
	return chi_trait_kind_of(trait) == CHI_TRAIT_MATERIAL &&
	       (ones & UINT64_C(0x111111111111)) != 0;
}

/* The conditions at hand, turned in any way. */
static enum judgement judge_trait(const struct chi_listed *listed, chi_trait trait)
{
	const struct chi_motif *motif = listed->motif;
	enum judgement best = FALSE;
	if (is_crowded(trait)) {
		return POSSIBLE;
	}
	for (uint32_t i = 0; best != TRUE && i < motif->n_turns; i++) {
		struct seen seen = turn_trait(trait, motif->turns[i]);
		enum judgement one = judge_node(motif, listed->node, &seen);
		best = one > best ? one : best;
	}
	return best;
}

/* ---- Events ------------------------------------------------------------------------------- */

/* One of these happens, and then the condition holds, if it is exact. */
struct asked_events {
	uint32_t events;
	bool exact;
};

static unsigned colours_of(uint32_t set, bool swap)
{
	unsigned white = (set & SET_WHITE) != 0;
	unsigned black = (set & SET_BLACK) != 0;
	return swap ? black | white << 1 : white | black << 1;
}

/* Pawns come to the last rank, whatever they take. */
static bool is_any_promotion(const struct chi_played_move *move)
{
	uint32_t white = move->piece & chi_set_of(CHI_WHITE, CHI_PAWN);
	uint32_t black = move->piece & chi_set_of(CHI_BLACK, CHI_PAWN);
	return move->from == UINT64_MAX && move->taken == SET_ALL &&
	       move->effect == CHI_PLAYED_ANY_EFFECT &&
	       (white == 0 || (~move->to & CHI_RANK_8) == 0) &&
	       (black == 0 || (~move->to & CHI_RANK_1) == 0);
}

static struct asked_events events_of_move(const struct chi_played_move *move, struct chi_turn turn)
{
	unsigned colours = colours_of(move->piece, turn.swap);
	struct asked_events asked = {0, (move->from & move->to) == UINT64_MAX};
	bool kingside = move->how == CHI_PLAYED_CASTLES ||
			move->how == (turn.mirror ? CHI_PLAYED_QUEENSIDE : CHI_PLAYED_KINGSIDE);
	if (move->how == CHI_PLAYED_EN_PASSANT) {
		asked.events = colours << CHI_TRAIT_EP;
	} else if (move->how != CHI_PLAYED_ANY) {
		asked.events = kingside ? colours << CHI_TRAIT_O_O : 0;
		asked.events |= !kingside || move->how == CHI_PLAYED_CASTLES
					? colours << CHI_TRAIT_O_O_O
					: 0;
	} else if ((move->made & CHI_PLAYED_NO_PROMOTION) == 0) {
		colours = colours_of(move->piece & SET_PAWNS, turn.swap);
		for (int kind = CHI_KNIGHT; kind <= CHI_QUEEN; kind++) {
			unsigned made = (move->made >> kind & 1) != 0 ? colours : 0;
			asked.events |= made << (CHI_TRAIT_MADE + 2 * (kind - CHI_KNIGHT));
		}
		asked.exact = is_any_promotion(move);
	} else if (move->effect == CHI_PLAYED_MATES) {
		/* Not exact: a game may begin with mate. */
		asked.events = colours_of(move->piece, !turn.swap) << CHI_TRAIT_MATED;
		asked.exact = false;
	} else {
		asked.events = ANY_EVENT;
	}
	return asked;
}

static struct asked_events events_of_test(const struct motif_test *test, struct chi_turn turn)
{
	struct asked_events asked = {ANY_EVENT, false};
	if (test->kind == CHI_TEST_ANY && test->negated) {
		return (struct asked_events){0, true};
	}
	if (test->negated) {
		return asked;
	}
	if (test->kind == CHI_TEST_PLAYED) {
		asked = (struct asked_events){0, true};
		for (size_t i = 0; i < test->played.n; i++) {
			struct asked_events one = events_of_move(&test->played.move[i], turn);
			asked.events |= one.events;
			asked.exact &= one.exact;
		}
	} else if (test->kind == CHI_TEST_MATE) {
		asked = (struct asked_events){3u << CHI_TRAIT_MATED, true};
	} else if (test->kind == CHI_TEST_STALEMATE) {
		asked = (struct asked_events){3u << CHI_TRAIT_STALEMATE, true};
	} else if (test->kind == CHI_TEST_DEAD) {
		asked = (struct asked_events){1u << CHI_TRAIT_DEAD, true};
	}
	return asked;
}

/* Of two that are both asked for, fewer. */
static struct asked_events events_of_node(const struct chi_motif *motif,
					  const struct motif_test *tests, uint8_t at,
					  struct chi_turn turn)
{
	const struct chi_term_node *node = &motif->nodes[at];
	if (node->op == CHI_NODE_LEAF) {
		return events_of_test(&tests[node->left - motif->first_test], turn);
	}
	struct asked_events left = events_of_node(motif, tests, node->left, turn);
	struct asked_events right = events_of_node(motif, tests, node->right, turn);
	if (node->op == CHI_NODE_OR) {
		return (struct asked_events){left.events | right.events, left.exact && right.exact};
	}
	bool fewer = chi_popcount(left.events) < chi_popcount(right.events);
	return (struct asked_events){fewer ? left.events : right.events, false};
}

/* Of the conditions at hand, in all variants. */
static struct asked_events events_at_hand(const struct chi_listed *listed)
{
	const struct chi_motif *motif = listed->motif;
	struct asked_events asked = {0, true};
	for (uint32_t variant = 0; variant < motif->n_turns * motif->n_places; variant++) {
		size_t place = variant % motif->n_places;
		struct asked_events one =
			events_of_node(motif, motif_tests(motif) + place * motif->n_tests,
				       listed->node, motif->turns[variant / motif->n_places]);
		asked.events |= one.events;
		asked.exact &= one.exact;
	}
	return asked;
}

/* ---- Spans -------------------------------------------------------------------------------- */

/* The value of material with these numbers, a byte each by kind, as chi_trait_material has it. */
static uint64_t pack_material(uint64_t white, uint64_t black)
{
	static const uint8_t officers[] = {CHI_QUEEN, CHI_ROOK, CHI_BISHOP, CHI_KNIGHT};
#define NIBBLE(bytes, kind)                                                                        \
	(((bytes) >> (8 * (kind)) & 127) < 15 ? (bytes) >> (8 * (kind)) & 127 : 15)
	uint64_t value = NIBBLE(white, CHI_KING) << 4 | NIBBLE(black, CHI_KING);
	for (size_t i = 0; i < 2 * CHI_COUNT(officers); i++) {
		uint64_t bytes = i < CHI_COUNT(officers) ? white : black;
		value = value << 4 | NIBBLE(bytes, officers[i % CHI_COUNT(officers)]);
	}
	return value << 8 | NIBBLE(white, CHI_PAWN) << 4 | NIBBLE(black, CHI_PAWN);
#undef NIBBLE
}

/* Where traits are that one view of a pattern fits: none is below the least of all numbers, or
 * above the most. */
static struct span span_of_view(const struct chi_listed *listed,
				const struct chi_pattern_view *view, struct chi_turn turn)
{
	const struct chi_pattern_bounds *counts =
		listed->motif->n_places > 1 ? view->counts : view->follow;
	int white = turn.swap ? CHI_BLACK : CHI_WHITE;
	if (kinds[listed->kind] == CHI_TRAIT_HOME) {
		uint64_t must = chi_trait_make(CHI_TRAIT_HOME, view->home[1]);
		uint64_t may = chi_trait_make(CHI_TRAIT_HOME, (uint16_t)~view->home[0]);
		return (struct span){chi_trait_make(CHI_TRAIT_HOME, turn_trait(must, turn).home),
				     chi_trait_make(CHI_TRAIT_HOME, turn_trait(may, turn).home)};
	}
	return (struct span){
		chi_trait_make(CHI_TRAIT_MATERIAL,
			       pack_material(counts[white].least, counts[white ^ 1].least)),
		chi_trait_make(CHI_TRAIT_MATERIAL,
			       pack_material(counts[white].most, counts[white ^ 1].most))};
}

/* The first or last of what two spans share. */
static chi_trait join_ends(enum chi_trait_kind kind, chi_trait a, chi_trait b, bool first)
{
	chi_trait out = 0;
	if (kind == CHI_TRAIT_HOME) {
		return first ? a | b : a & b;
	}
	for (unsigned i = 0; i < 64; i += 4) {
		chi_trait x = a >> i & 15;
		chi_trait y = b >> i & 15;
		out |= ((x > y) == first ? x : y) << i;
	}
	return out;
}

/* Where traits are that conditions fit, of patterns the view of that number, or their only one. */
static struct span span_of_node(const struct chi_listed *listed, uint8_t at, struct chi_turn turn,
				uint32_t view)
{
	const struct chi_motif *motif = listed->motif;
	const struct chi_term_node *node = &motif->nodes[at];
	enum chi_trait_kind kind = (enum chi_trait_kind)kinds[listed->kind];
	struct span all = {chi_trait_make(kind, 0), chi_trait_make(kind + 1, 0) - 1};
	if (node->op == CHI_NODE_OR) {
		return all;
	}
	if (node->op == CHI_NODE_LEAF) {
		const struct motif_test *test = test_of(motif, node->left);
		const struct chi_pattern *pattern = &motif_patterns(motif)[test->pattern];
		return test->kind != CHI_TEST_PATTERN || test->negated ||
				       (pattern->n_views > 1 && !motif->plain)
			       ? all
			       : span_of_view(listed, &pattern->views[view], turn);
	}
	struct span left = span_of_node(listed, node->left, turn, view);
	struct span right = span_of_node(listed, node->right, turn, view);
	return (struct span){join_ends(kind, left.from, right.from, true),
			     join_ends(kind, left.to, right.to, false)};
}

/* No number of pieces of the first is less than the second's: a bit above each stays. */
static bool has_as_many(chi_trait a, chi_trait b)
{
	const uint64_t ones = UINT64_C(0x0f0f0f0f0f0f0f0f);
	const uint64_t above = UINT64_C(0x1010101010101010);
	return ((((a & ones) | above) - (b & ones)) &
		(((a >> 4 & ones) | above) - (b >> 4 & ones)) & above) == above;
}

/* Whether some view may fit: told at once of most traits that none fits. */
static bool is_in_box(const struct chi_listed *listed, chi_trait trait)
{
	bool home = chi_trait_kind_of(trait) == CHI_TRAIT_HOME;
	for (size_t i = 0; i < listed->n_boxes; i++) {
		const struct span *box = &listed->boxes[i];
		if (home ? ((box->from & ~trait) | (trait & ~box->to)) == 0
			 : has_as_many(trait, box->from) && has_as_many(box->to, trait)) {
			return true;
		}
	}
	return false;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a;
	const struct span *right = b;
	return (left->from > right->from) - (left->from < right->from);
}

/* Ascending, apart from each other. */
static void find_spans(struct chi_listed *listed)
{
	const struct chi_motif *motif = listed->motif;
	const struct motif_test *test =
		motif->plain ? test_of(motif, motif->nodes[listed->node].left) : NULL;
	uint32_t views = test != NULL ? motif_patterns(motif)[test->pattern].n_views : 1;
	size_t n = 0;
	listed->n_spans = 0;
	listed->span = 0;
	for (uint32_t i = 0; i < motif->n_turns * views; i++) {
		listed->spans[n++] =
			span_of_node(listed, listed->node, motif->turns[i / views], i % views);
	}
	memcpy(listed->boxes, listed->spans, n * sizeof(listed->boxes[0]));
	listed->n_boxes = n;
	qsort(listed->spans, n, sizeof(listed->spans[0]), compare_spans);
	for (size_t i = 0; i < n; i++) {
		struct span *last = &listed->spans[listed->n_spans > 0 ? listed->n_spans - 1 : 0];
		if (listed->n_spans > 0 && listed->spans[i].from <= last->to) {
			last->to = listed->spans[i].to > last->to ? listed->spans[i].to : last->to;
		} else {
			listed->spans[listed->n_spans++] = listed->spans[i];
		}
	}
	listed->next = listed->spans[0].from;
}

/* ---- Reading lists ------------------------------------------------------------------------ */

/* Where the steps are used up, the list is taken for one that is wanted, which ends the walk. */
static bool wants_trait(void *context, chi_trait trait)
{
	struct chi_listed *listed = context;
	enum judgement answer = FALSE;
	listed->next = trait;
	if (++listed->unpaid == TRAITS_A_STEP) {
		*listed->steps -= *listed->steps > 0;
		listed->unpaid = 0;
	}
	listed->full = *listed->steps == 0;
	if (listed->full) {
		return true;
	}
	if (chi_trait_kind_of(trait) == CHI_TRAIT_EVENT) {
		bool asked = (listed->events >> chi_trait_value(trait) & 1) != 0;
		answer = !asked ? FALSE : listed->vague ? POSSIBLE : TRUE;
	} else if (is_in_box(listed, trait)) {
		answer = judge_trait(listed, trait);
	}
	listed->vague |= answer == POSSIBLE;
	return answer != FALSE;
}

/* Hardly any game is left out: to play them all again takes no longer. */
static bool are_too_many(const struct chi_listed *listed, const struct chi_numbers *games)
{
	return chi_numbers_count(games) > (uint64_t)listed->view->last * 7 / 8;
}

/* CHI_NONE: the walk ends, for lack of steps or since too many games may have the motif. */
static int add_listed(void *context, chi_trait trait, const struct chi_posting *games, size_t n)
{
	struct chi_listed *listed = context;
	uint64_t taken = 1 + n / GAMES_A_STEP;
	int rc = CHI_OK;
	(void)trait;
	if (listed->full) {
		return CHI_NONE;
	}
	*listed->steps -= taken < *listed->steps ? taken : *listed->steps;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		rc = games[i].game < listed->from ? CHI_OK
						  : chi_numbers_add(listed->some, games[i].game);
	}
	bool all = rc == CHI_OK && listed->vague && are_too_many(listed, listed->some);
	return all ? CHI_NONE : rc;
}

/* Whether lists of this kind help with the conditions at hand. */
static bool begin_kind(struct chi_listed *listed)
{
	const struct chi_motif *motif = listed->motif;
	enum chi_trait_kind kind = (enum chi_trait_kind)kinds[listed->kind];
	const struct chi_position *first = &chi_position_initial;
	listed->vague = motif->n_moments > 1 || motif->moments[0].run > 1 ||
			motif->moments[0].counted || motif->n_places > 1;
	if (kind == CHI_TRAIT_EVENT) {
		struct asked_events asked = events_at_hand(listed);
		listed->n_spans = 1;
		listed->span = 0;
		listed->spans[0] = (struct span){chi_trait_make(kind, 0),
						 chi_trait_make(kind, CHI_TRAIT_EVENTS)};
		listed->next = listed->spans[0].from;
		listed->events = asked.events;
		listed->vague |= !asked.exact;
		return asked.events != ANY_EVENT;
	}
	uint64_t value = kind == CHI_TRAIT_HOME ? chi_trait_home(first) : chi_trait_material(first);
	enum judgement answer = judge_trait(listed, chi_trait_make(kind, value));
	find_spans(listed);
	return (kind == CHI_TRAIT_MATERIAL || motif->n_places == 1) &&
	       (answer == FALSE || (answer == TRUE && !listed->vague));
}

/* Moves *from to *to, which has nothing, or keeps there what *from has too. */
static void keep_in(struct chi_numbers **to, struct chi_numbers **from)
{
	if (*to == NULL) {
		*to = *from;
	} else {
		chi_numbers_keep(*to, *from);
		chi_numbers_free(*from);
	}
	*from = NULL;
}

/* One kind of traits. CHI_NONE: the steps are used up. */
static int step_kind(struct chi_listed *listed)
{
	const struct chi_traits_visitor visitor = {wants_trait, add_listed, listed};
	const struct chi_archive_view *view = listed->view;
	int rc = CHI_OK;
	if (!listed->begun) {
		if (!begin_kind(listed)) {
			return CHI_OK;
		}
		rc = chi_numbers_new(&listed->some);
		listed->begun = rc == CHI_OK;
	}
	listed->full = false;
	while (rc == CHI_OK && listed->span < listed->n_spans) {
		rc = chi_traits_walk(view->txn, view->trees.traits, listed->next,
				     listed->spans[listed->span].to, &visitor);
		if (rc == CHI_OK && ++listed->span < listed->n_spans) {
			listed->next = listed->spans[listed->span].from;
		}
	}
	if (rc == CHI_OK) {
		listed->part_exact |= !listed->vague;
		listed->used |= 1u << kinds[listed->kind];
		keep_in(&listed->part, &listed->some);
	} else if (rc == CHI_NONE && !listed->full) {
		chi_numbers_free(listed->some);
		listed->some = NULL;
		rc = CHI_OK;
	}
	listed->begun = listed->begun && rc == CHI_NONE;
	return rc;
}

/* The conditions of that number between "or", from 0 on. False: there are not so many; *number is
 * less by what there are. */
static bool find_choice(const struct chi_motif *motif, uint8_t at, size_t *number, uint8_t *out)
{
	const struct chi_term_node *node = &motif->nodes[at];
	if (node->op == CHI_NODE_OR) {
		return find_choice(motif, node->left, number, out) ||
		       find_choice(motif, node->right, number, out);
	}
	*out = at;
	return (*number)-- == 0;
}

/* What has been read of a moment's conditions joins that of the others. Where of some all may fit,
 * all may. */
static int end_choice(struct chi_listed *listed)
{
	int rc = CHI_OK;
	bool all = listed->part == NULL;
	listed->kind = 0;
	listed->choice++;
	listed->whole_exact &= listed->part_exact;
	listed->part_exact = false;
	if (listed->whole == NULL) {
		listed->whole = listed->part;
	} else if (!all) {
		rc = chi_numbers_join(listed->whole, listed->part);
		chi_numbers_free(listed->part);
	}
	listed->part = NULL;
	if (all || (!listed->whole_exact && are_too_many(listed, listed->whole))) {
		chi_numbers_free(listed->whole);
		listed->whole = NULL;
		listed->choice = SIZE_MAX;
	}
	return rc;
}

static void end_moment(struct chi_listed *listed)
{
	if (listed->whole != NULL) {
		listed->exact |= listed->whole_exact;
		keep_in(&listed->games, &listed->whole);
	}
	bool few = listed->games != NULL && chi_numbers_count(listed->games) <= FEW;
	listed->moment = few ? listed->motif->n_moments : listed->moment + 1;
	listed->choice = 0;
	listed->whole_exact = true;
}

int chi_listed_step(struct chi_listed *listed, uint64_t *steps)
{
	const struct chi_motif *motif = listed->motif;
	int rc = CHI_OK;
	listed->steps = steps;
	while (rc == CHI_OK && listed->moment < motif->n_moments) {
		size_t number = listed->choice;
		bool few = listed->part != NULL && chi_numbers_count(listed->part) <= FEW;
		if (!find_choice(motif, motif->moments[listed->moment].root, &number,
				 &listed->node)) {
			end_moment(listed);
		} else if (listed->kind == CHI_COUNT(kinds) || listed->part_exact || few) {
			rc = end_choice(listed);
		} else {
			rc = *steps == 0 ? CHI_NONE : step_kind(listed);
			listed->kind += rc == CHI_OK;
		}
	}
	return rc;
}

/* ---- Making and asking one ---------------------------------------------------------------- */

int chi_listed_new(const struct chi_motif *motif, const struct chi_archive_view *view,
		   uint32_t from, struct chi_listed **out)
{
	const struct chi_term_moment *first = &motif->moments[0];
	struct chi_listed *listed = calloc(1, sizeof(*listed));
	if (listed == NULL) {
		return -CHI_ENOMEM;
	}
	*listed = (struct chi_listed){
		.motif = motif, .view = view, .from = from, .whole_exact = true};
	if (first->counted && first->least == 0) {
		/* Games fit that have no such moment. */
		listed->moment = motif->n_moments;
	}
	*out = listed;
	return CHI_OK;
}

void chi_listed_free(struct chi_listed *listed)
{
	if (listed != NULL) {
		chi_numbers_free(listed->games);
		chi_numbers_free(listed->some);
		chi_numbers_free(listed->part);
		chi_numbers_free(listed->whole);
		free(listed);
	}
}

const struct chi_numbers *chi_listed_games(const struct chi_listed *listed)
{
	return listed->games;
}

bool chi_listed_is_exact(const struct chi_listed *listed)
{
	return listed->exact;
}

unsigned chi_listed_kinds(const struct chi_listed *listed)
{
	return listed->games != NULL ? listed->used : 0;
}

size_t chi_listed_memory(const struct chi_listed *listed)
{
	const struct chi_numbers *const sets[] = {listed->games, listed->some, listed->part,
						  listed->whole};
	size_t bytes = sizeof(*listed);
	for (size_t i = 0; i < CHI_COUNT(sets); i++) {
		bytes += sets[i] != NULL ? chi_numbers_memory(sets[i]) : 0;
	}
	return bytes;
}
