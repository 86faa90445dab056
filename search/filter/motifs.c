/* SPDX-License-Identifier: MIT */
/*
 * Of each moment of a motif the latest ply is kept at which it, and all before it, could end: later
 * is never worse for what comes after. At a ply, moments are looked at from the last to the first,
 * so that each sees what the ones before it were at earlier plies. One on N plies in a row goes by
 * what the one before it was N plies ago, which is kept for so long.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "search/filter/motif_priv.h"
#include "search/filter/screen.h"
#include "store/archive.h"

#define STEPS_A_GAME 4
/* Between two looks whether the rest of a game is worth playing. */
#define PLIES_A_LOOK 8
/* In one variant at one ply, that take as long as a step. */
#define TESTS_A_STEP 16

/* In all variants of all motifs of a filter: what looking at a ply may cost. */
#define TESTS_TURNED_MAX 1024
#define STATES_MAX	 65536

/* What ended at a ply. */
struct state {
	int32_t last;  /* ply; -1: never */
	int32_t begin; /* the ply of the first moment of it */
	chi_move move; /* played there */
};

/* A motif being followed, in all its variants. */
struct followed {
	struct chi_motif *motif;
	struct chi_screens screens;
	struct state *states; /* of each variant, of each moment the last, then those of its run */
	uint32_t *runs;	      /* of each variant, of each moment: it holds since so many plies */
	uint32_t *counted;    /* of each variant, plies that count */
	struct chi_motif_found first; /* that counted */
};

struct chi_motifs {
	size_t n;
	struct followed followed[CHI_TERMS_MAX];
	uint64_t weight; /* tests in all variants */
	size_t memory;
	bool asks_store;
	struct chi_archive_reader *own; /* NULL: another is used */
	struct chi_archive_reader *reader;
	struct chi_facts *facts;
};

/* ---- Making them -------------------------------------------------------------------------- */

void chi_motifs_free(struct chi_motifs *motifs)
{
	if (motifs == NULL) {
		return;
	}
	for (size_t i = 0; i < motifs->n; i++) {
		free(motifs->followed[i].motif);
		free(motifs->followed[i].states);
		free(motifs->followed[i].runs);
		free(motifs->followed[i].counted);
	}
	chi_facts_free(motifs->facts);
	chi_archive_reader_free(motifs->own);
	free(motifs);
}

static void motifsp(struct chi_motifs **motifs)
{
	chi_motifs_free(*motifs);
}

static uint32_t variants_of(const struct chi_motif *motif)
{
	return motif->n_turns * motif->n_places;
}

/* What of a filter's limits its motifs take. */
struct taken {
	size_t tests;
	size_t states;
	size_t patterns;
};

static int add_motif(struct chi_motifs *motifs, const struct chi_terms *terms,
		     const struct chi_term *term, struct taken *taken, struct chi_fault *fault)
{
	struct followed *followed = &motifs->followed[motifs->n];
	int rc = chi_motif_new(terms, term, CHI_MOTIF_PATTERNS_MAX - taken->patterns,
			       &followed->motif, fault);
	if (rc < 0) {
		return rc;
	}
	const struct chi_motif *motif = followed->motif;
	size_t variants = variants_of(motif);
	size_t states = variants * motif->n_states;
	motifs->n++;
	taken->patterns += (size_t)motif->n_places * motif->n_patterns;
	taken->tests += variants * motif->n_tests;
	taken->states += states;
	if (taken->tests > TESTS_TURNED_MAX || taken->states > STATES_MAX) {
		return chi_motif_refuse(fault);
	}
	followed->states = calloc(states, sizeof(*followed->states));
	followed->runs = calloc(variants * motif->n_moments, sizeof(*followed->runs));
	followed->counted = calloc(variants, sizeof(*followed->counted));
	if (followed->states == NULL || followed->runs == NULL || followed->counted == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	chi_screens_of(motif, &followed->screens);
	motifs->asks_store |= motif->asks_store;
	motifs->weight += variants * (motif->n_tests + (motif->asks_store ? 64 : 0));
	motifs->memory += motif->size + states * sizeof(*followed->states) +
			  variants * (motif->n_moments + 1) * sizeof(*followed->runs);
	return CHI_OK;
}

int chi_motifs_new(const struct chi_terms *terms, struct chi_motifs **out, struct chi_fault *fault)
{
	_cleanup_(motifsp) struct chi_motifs *motifs = calloc(1, sizeof(*motifs));
	if (motifs == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	struct taken taken = {0};
	motifs->memory = sizeof(*motifs);
	for (size_t i = 0; i < terms->n; i++) {
		if (terms->term[i].kind == CHI_TERM_MOTIF) {
			int rc = add_motif(motifs, terms, &terms->term[i], &taken, fault);
			if (rc < 0) {
				return rc;
			}
		}
	}
	*out = motifs;
	motifs = NULL;
	return CHI_OK;
}

size_t chi_motifs_count(const struct chi_motifs *motifs)
{
	return motifs->n;
}

const struct chi_motif *chi_motifs_at(const struct chi_motifs *motifs, size_t i)
{
	return motifs->followed[i].motif;
}

int chi_motifs_begin(struct chi_motifs *motifs, struct chi_read *read,
		     struct chi_archive_reader *reader)
{
	struct chi_archive_view view;
	int rc = chi_read_archive(read, &view);
	motifs->reader = reader;
	if (rc == CHI_OK && reader == NULL) {
		rc = motifs->own == NULL ? chi_archive_reader_new(&motifs->own) : CHI_OK;
		motifs->reader = motifs->own;
		rc = rc == CHI_OK ? chi_archive_reader_begin(motifs->own, view.txn, &view.trees)
				  : rc;
	}
	if (rc == CHI_OK && motifs->asks_store) {
		rc = chi_facts_new(read, &motifs->facts);
	}
	return rc;
}

void chi_motifs_end(struct chi_motifs *motifs)
{
	if (motifs->own != NULL) {
		chi_archive_reader_end(motifs->own);
	}
	chi_facts_free(motifs->facts);
	motifs->facts = NULL;
}

size_t chi_motifs_memory(const struct chi_motifs *motifs)
{
	return motifs->memory + (motifs->own != NULL ? CHI_ARCHIVE_READER_BYTES : 0);
}

/* ---- A ply -------------------------------------------------------------------------------- */

/* A moment of a motif, in one variant. */
struct looked {
	const struct chi_motif *motif;
	const struct motif_test *tests;
	struct motif_asked *asked;
	struct chi_moment_view *view;
	uint8_t fits[CHI_MOMENTS_MAX]; /* as asked so far: UNKNOWN, or whether it does */
};

#define UNKNOWN 2

static bool moment_fits(struct looked *looked, uint8_t moment)
{
	if (looked->fits[moment] == UNKNOWN) {
		looked->fits[moment] = chi_motif_node_fits(looked->motif, looked->tests,
							   looked->motif->moments[moment].root,
							   looked->asked, looked->view);
	}
	return looked->fits[moment] == 1;
}

/* Whether a moment that starts at a ply may follow what ended before. */
static bool follows(const struct chi_term_moment *moment, int32_t before, int32_t start)
{
	if (before < 0) {
		return false;
	}
	if (moment->link == CHI_LINK_NEXT) {
		return before == start - 1;
	}
	return moment->within == 0 || before >= start - (int32_t)moment->within;
}

/* One moment at a ply. `states` are its own, the first of them what it ended at last; `before` is
 * that of the moment before it, NULL: it is the first; *run: since how many plies it holds. */
static void step_moment(struct looked *looked, uint8_t i, struct state *states,
			const struct state *before, uint32_t *run, int32_t ply, chi_move move)
{
	const struct chi_term_moment *moment = &looked->motif->moments[i];
	/* What it goes on from, if it begins at this ply. */
	struct state from = before != NULL ? *before : (struct state){-1, ply, move};
	int32_t start = ply - moment->run + 1;
	if (moment->run > 1) {
		struct state *ring = states + 1;
		*run = moment_fits(looked, i) ? *run + 1 : 0;
		ring[ply % moment->run] = from;
		if (*run < moment->run) {
			return;
		}
		from = ring[start % moment->run];
	}
	if ((before == NULL || follows(moment, from.last, start)) && moment_fits(looked, i)) {
		states[0] = (struct state){ply, from.begin, from.move};
	}
}

/* One ply of one variant. Where it is complete, NULL: it is not at this ply. */
static const struct state *step_variant(struct looked *looked, struct state *states, uint32_t *runs,
					int32_t ply, chi_move move)
{
	const struct chi_motif *motif = looked->motif;
	struct state *own = states + motif->n_states;
	const struct state *last = NULL;
	for (int i = motif->n_moments - 1; i >= 0; i--) {
		own -= motif_states_of(&motif->moments[i]);
		last = last == NULL ? own : last;
		step_moment(looked, (uint8_t)i, own,
			    i > 0 ? own - motif_states_of(&motif->moments[i - 1]) : NULL, &runs[i],
			    ply, move);
	}
	return last != NULL && last->last == ply ? last : NULL;
}

/* A ply of a motif. True: it is found, in *out. */
static bool step_motif(struct followed *followed, struct motif_asked *asked,
		       struct chi_moment *moment, struct chi_motif_found *out)
{
	const struct chi_motif *motif = followed->motif;
	const struct chi_term_moment *first = &motif->moments[0];
	struct chi_moment_view view;
	struct looked looked = {.motif = motif, .asked = asked, .view = &view};
	for (uint32_t turn = 0; turn < motif->n_turns; turn++) {
		chi_moment_view_init(&view, moment, motif->turns[turn], NULL);
		for (uint32_t place = 0; place < motif->n_places; place++) {
			uint32_t variant = turn * motif->n_places + place;
			struct state *states = followed->states + (size_t)variant * motif->n_states;
			uint32_t *runs = followed->runs + (size_t)variant * motif->n_moments;
			looked.tests = motif_tests(motif) + (size_t)place * motif->n_tests;
			memset(looked.fits, UNKNOWN, motif->n_moments);
			const struct state *last =
				step_variant(&looked, states, runs, asked->ply, moment->move);
			if (last == NULL) {
				continue;
			}
			*out = (struct chi_motif_found){last->begin, last->move};
			if (!first->counted) {
				return true;
			}
			if (followed->counted[variant]++ == 0 && followed->first.ply < 0) {
				followed->first = *out;
			}
		}
	}
	return false;
}

/* ---- A game ------------------------------------------------------------------------------- */

/* What is in a ring is read only after it was written in this game. */
static void begin_motif(struct followed *followed)
{
	const struct chi_motif *motif = followed->motif;
	size_t variants = variants_of(motif);
	struct state *states = followed->states;
	for (size_t i = 0; i < variants * motif->n_moments; i++) {
		states->last = -1;
		states += motif_states_of(&motif->moments[i % motif->n_moments]);
	}
	memset(followed->runs, 0, variants * motif->n_moments * sizeof(*followed->runs));
	memset(followed->counted, 0, variants * sizeof(*followed->counted));
	followed->first = (struct chi_motif_found){.ply = -1};
}

/* At the end of a game, whether a motif that counts plies has as many as asked. */
static bool has_counted(const struct followed *followed)
{
	const struct chi_term_moment *first = &followed->motif->moments[0];
	for (uint32_t i = 0; first->counted && i < variants_of(followed->motif); i++) {
		if (followed->counted[i] >= first->least &&
		    (followed->counted[i] <= first->most || first->most == UINT16_MAX)) {
			return true;
		}
	}
	return false;
}

/* The motifs that are wanted and not yet found, at one ply. */
static int step_all(struct chi_motifs *motifs, struct motif_asked *asked, struct chi_moment *moment,
		    uint32_t wanted, uint32_t *has, struct chi_motif_found *found)
{
	struct chi_motif_found one;
	if (motifs->facts != NULL) {
		chi_facts_forget(motifs->facts);
	}
	for (uint32_t left = wanted & ~*has; left != 0; left &= left - 1) {
		int i = __builtin_ctz(left);
		const struct chi_screens *screens = &motifs->followed[i].screens;
		/* If no moment holds, nothing changes. */
		if (!screens->open &&
		    !chi_screen_may_hold(&screens->any, moment->position, moment->move)) {
			continue;
		}
		if (step_motif(&motifs->followed[i], asked, moment, &one)) {
			*has |= UINT32_C(1) << i;
			if (found != NULL) {
				found[i] = one;
			}
		}
	}
	return asked->rc;
}

/* Begins a game. */
static void begin_all(struct chi_motifs *motifs, uint32_t wanted, struct chi_motif_found *found)
{
	for (uint32_t left = wanted; left != 0; left &= left - 1) {
		int i = __builtin_ctz(left);
		begin_motif(&motifs->followed[i]);
		if (found != NULL) {
			found[i] = (struct chi_motif_found){.ply = -1};
		}
	}
}

/* Ends it: those that count plies are known now. */
static void end_all(struct chi_motifs *motifs, uint32_t wanted, uint32_t *has,
		    struct chi_motif_found *found)
{
	for (uint32_t left = wanted & ~*has; left != 0; left &= left - 1) {
		int i = __builtin_ctz(left);
		if (has_counted(&motifs->followed[i])) {
			*has |= UINT32_C(1) << i;
			if (found != NULL) {
				found[i] = motifs->followed[i].first;
			}
		}
	}
}

/* Whether no motif of these can be complete from here on. */
static bool are_lost(const struct chi_motifs *motifs, uint32_t left,
		     const struct chi_position *position)
{
	bool lost = true;
	for (; lost && left != 0; left &= left - 1) {
		const struct followed *followed = &motifs->followed[__builtin_ctz(left)];
		lost = chi_screen_is_lost(&followed->screens.last, position);
	}
	return lost;
}

int chi_motifs_search(struct chi_motifs *motifs, uint32_t number, uint32_t wanted, uint64_t *steps,
		      uint32_t *has, struct chi_motif_found *found)
{
	struct chi_game_moves moves;
	struct chi_replay replay;
	struct chi_moment moment;
	struct motif_asked asked = {.facts = motifs->facts};
	int rc = chi_archive_moves(motifs->reader, number, &moves);
	*has = 0;
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	begin_all(motifs, wanted, found);
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	for (; rc == CHI_OK && *has != wanted; asked.ply++) {
		const struct chi_position *position = chi_replay_position(&replay);
		chi_move move = 0;
		if (asked.ply % PLIES_A_LOOK == 0 && are_lost(motifs, wanted & ~*has, position)) {
			break;
		}
		rc = chi_replay_next(&replay, &move);
		if (rc < 0) {
			return rc;
		}
		bool last = rc == CHI_NONE;
		chi_moment_init(&moment, position, last ? 0 : move,
				last ? NULL : chi_replay_position(&replay));
		int failed = step_all(motifs, &asked, &moment, wanted, has, found);
		rc = failed < 0 ? failed : rc;
	}
	uint64_t taken = STEPS_A_GAME + (uint64_t)asked.ply * motifs->weight / TESTS_A_STEP;
	*steps -= taken < *steps ? taken : *steps;
	if (rc >= 0) {
		end_all(motifs, wanted, has, found);
	}
	return rc < 0 ? rc : CHI_OK;
}

uint32_t chi_motifs_played(struct chi_motifs *motifs, const struct chi_position *positions,
			   const chi_move *moves, size_t n)
{
	struct chi_moment moment;
	struct motif_asked asked = {.facts = NULL};
	uint32_t wanted = motifs->n == 32 ? UINT32_MAX : (UINT32_C(1) << motifs->n) - 1;
	uint32_t has = 0;
	begin_all(motifs, wanted, NULL);
	for (; (size_t)asked.ply <= n && has != wanted; asked.ply++) {
		bool last = (size_t)asked.ply == n;
		const struct chi_position *position = &positions[asked.ply];
		chi_moment_init(&moment, position, last ? 0 : moves[asked.ply],
				last ? NULL : position + 1);
		(void)step_all(motifs, &asked, &moment, wanted, &has, NULL);
	}
	end_all(motifs, wanted, &has, NULL);
	return has;
}
