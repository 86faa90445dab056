/* SPDX-License-Identifier: MIT */
/*
 * Made once of a motif: where conditions are joined by "and" all of what they ask, where by "or",
 * and of several moments, turns and places, what is asked in common.
 */
#include "search/filter/screen.h"

#include "chess/pattern/contents.h"
#include "search/filter/motif_priv.h"

/* Asks nothing. */
static const struct chi_screen open_screen = {.from = UINT64_MAX, .to = UINT64_MAX, .colours = 3};

/* What both ask (`common`), or either. */
static struct chi_screen join_screens(const struct chi_screen *a, const struct chi_screen *b,
				      bool common)
{
	struct chi_screen out = *a;
#define LEAST(member) out.member = (a->member < b->member) == common ? a->member : b->member
	out.needs.occupied = common ? a->needs.occupied & b->needs.occupied
				    : a->needs.occupied | b->needs.occupied;
	for (int colour = 0; colour < 2; colour++) {
		out.needs.home[colour] = common ? a->needs.home[colour] & b->needs.home[colour]
						: a->needs.home[colour] | b->needs.home[colour];
		LEAST(needs.pawns[colour]);
	}
	LEAST(needs.men);
	out.from = common ? a->from | b->from : a->from & b->from;
	out.to = common ? a->to | b->to : a->to & b->to;
	out.colours = common ? a->colours | b->colours : a->colours & b->colours;
	out.takes = common ? a->takes && b->takes : a->takes || b->takes;
#undef LEAST
	return out;
}

static struct chi_screen screen_of_moves(const struct chi_played_moves *moves)
{
	struct chi_screen out = {.needs = {0}, .takes = true};
	for (size_t i = 0; i < moves->n; i++) {
		const struct chi_played_move *move = &moves->move[i];
		out.from |= move->from;
		out.to |= move->to;
		out.colours |= (uint8_t)((move->piece & SET_WHITE) != 0) |
			       (uint8_t)((move->piece & SET_BLACK) != 0) << 1;
		out.takes = out.takes && (move->taken & SET_EMPTY) == 0;
	}
	return out;
}

/* What the turned position must have, as the position must. */
static void turn_screen(struct chi_turn turn, struct chi_screen *screen)
{
	struct chi_screen from = *screen;
	screen->needs.occupied = chi_turn_squares(turn, from.needs.occupied);
	screen->from = chi_turn_squares(turn, from.from);
	screen->to = chi_turn_squares(turn, from.to);
	for (int colour = 0; colour < 2; colour++) {
		int other = turn.swap ? colour ^ 1 : colour;
		screen->needs.home[other] = chi_turn_squares(turn, from.needs.home[colour]);
		screen->needs.pawns[other] = from.needs.pawns[colour];
	}
	if (turn.swap) {
		screen->colours = (uint8_t)((from.colours & 1) << 1 | from.colours >> 1);
	}
}

static struct chi_screen screen_of_node(const struct chi_motif *motif,
					const struct motif_test *tests, uint8_t at)
{
	const struct chi_term_node *node = &motif->nodes[at];
	struct chi_screen out = open_screen;
	if (node->op != CHI_NODE_LEAF) {
		struct chi_screen left = screen_of_node(motif, tests, node->left);
		struct chi_screen right = screen_of_node(motif, tests, node->right);
		return join_screens(&left, &right, node->op == CHI_NODE_OR);
	}
	const struct motif_test *test = &tests[node->left - motif->first_test];
	if (!test->negated && test->kind == CHI_TEST_PATTERN) {
		chi_pattern_needs_of(&motif_patterns(motif)[test->pattern], &out.needs);
	} else if (!test->negated && test->kind == CHI_TEST_PLAYED) {
		out = screen_of_moves(&test->played);
	}
	return out;
}

/* Of a moment in all turns and places. One on several plies in a row is asked about at each. */
static struct chi_screen screen_of_moment(const struct chi_motif *motif, uint8_t moment)
{
	struct chi_screen out = open_screen;
	for (uint32_t i = 0; i < motif->n_turns * motif->n_places; i++) {
		const struct motif_test *tests =
			motif_tests(motif) + (size_t)(i % motif->n_places) * motif->n_tests;
		struct chi_screen one = screen_of_node(motif, tests, motif->moments[moment].root);
		turn_screen(motif->turns[i / motif->n_places], &one);
		out = i == 0 ? one : join_screens(&out, &one, true);
	}
	return out;
}

void chi_screens_of(const struct chi_motif *motif, struct chi_screens *out)
{
	for (uint8_t i = 0; i < motif->n_moments; i++) {
		out->last = screen_of_moment(motif, i);
		struct chi_screen one = motif->moments[i].run > 1 ? open_screen : out->last;
		out->any = i == 0 ? one : join_screens(&out->any, &one, true);
	}
	const struct chi_screen *any = &out->any;
	out->open = any->needs.occupied == 0 && (any->from & any->to) == UINT64_MAX &&
		    any->colours == 3 && !any->takes;
}

/* A lone pattern has its own; of others what all turns and places ask in common. */
void chi_motif_masks_of(const struct chi_motif *motif, struct chi_mask_wants *out)
{
	struct chi_screens screens;
	if (motif->plain && motif->n_places == 1) {
		chi_pattern_masks_of(&motif_patterns(motif)[0], out);
		return;
	}
	chi_screens_of(motif, &screens);
	const struct chi_pattern_needs *needs = &screens.last.needs;
	uint64_t occupied = chi_mirror_files(needs->occupied);
	*out = (struct chi_mask_wants){.n = 1,
				       .any = {{.decides = occupied,
						.occupied = occupied,
						.least = needs->men,
						.span = CHI_MASK_PIECES - needs->men}}};
}

bool chi_screen_is_lost(const struct chi_screen *screen, const struct chi_position *position)
{
	const struct chi_pattern_needs *needs = &screen->needs;
	for (int colour = 0; colour < 2; colour++) {
		uint64_t pawns = position->kind[CHI_PAWN] & position->colour[colour];
		if ((needs->home[colour] & ~pawns) != 0 ||
		    chi_popcount(pawns) < needs->pawns[colour]) {
			return true;
		}
	}
	return chi_popcount(chi_position_occupied(position)) < needs->men;
}
