/* SPDX-License-Identifier: MIT */
/*
 * A motif in a game is followed by states: a moment on N plies in a row is N of them, the others
 * one. Of each the latest ply is kept at which it, and all before it, could end: later is never
 * worse for what comes after. At a ply, states are looked at from the last to the first, so that
 * each sees what the ones before it were at earlier plies.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "search/filter/motif_priv.h"
#include "store/archive.h"

#define STEPS_A_GAME 4
#define TESTS_A_STEP 4

/* What ended at a ply. */
struct state {
	int32_t last;  /* ply; -1: never */
	int32_t begin; /* the ply of the first moment of it */
	chi_move move; /* played there */
};

/* A motif being followed, in all its variants. */
struct followed {
	struct chi_motif *motif;
	struct state *states;
	uint32_t *counted;	      /* of each variant, plies that count */
	struct chi_motif_found first; /* that counted */
};

struct chi_motifs {
	size_t n;
	struct followed followed[CHI_TERMS_MAX];
	uint64_t steps;
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

static int add_motif(struct chi_motifs *motifs, const struct chi_terms *terms,
		     const struct chi_term *term, struct chi_fault *fault)
{
	struct followed *followed = &motifs->followed[motifs->n];
	int rc = chi_motif_new(terms, term, &followed->motif, fault);
	if (rc < 0) {
		return rc;
	}
	const struct chi_motif *motif = followed->motif;
	size_t variants = variants_of(motif);
	motifs->n++;
	followed->states = calloc(variants * motif->n_states, sizeof(*followed->states));
	followed->counted = calloc(variants, sizeof(*followed->counted));
	if (followed->states == NULL || followed->counted == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	motifs->asks_store |= motif->asks_store;
	motifs->steps += STEPS_A_GAME + variants * motif->n_tests / TESTS_A_STEP;
	motifs->memory += motif->size + variants * motif->n_states * sizeof(*followed->states);
	return CHI_OK;
}

int chi_motifs_new(const struct chi_terms *terms, struct chi_motifs **out, struct chi_fault *fault)
{
	_cleanup_(motifsp) struct chi_motifs *motifs = calloc(1, sizeof(*motifs));
	if (motifs == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	motifs->memory = sizeof(*motifs);
	for (size_t i = 0; i < terms->n; i++) {
		if (terms->term[i].kind == CHI_TERM_MOTIF) {
			int rc = add_motif(motifs, terms, &terms->term[i], fault);
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

uint64_t chi_motifs_steps(const struct chi_motifs *motifs)
{
	return motifs->steps;
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

/* Whether a state may follow the one before it at this ply. */
static bool follows(const struct chi_term_moment *moment, bool runs, int32_t before, int32_t ply)
{
	if (before < 0) {
		return false;
	}
	if (runs || moment->link == CHI_LINK_NEXT) {
		return before == ply - 1;
	}
	return moment->within == 0 || before >= ply - (int32_t)moment->within;
}

/* One ply of one variant. True: the motif is complete at it. */
static bool step_variant(struct looked *looked, struct state *states, int32_t ply, chi_move move)
{
	const struct chi_motif *motif = looked->motif;
	uint32_t state = motif->n_states;
	for (int i = motif->n_moments - 1; i >= 0; i--) {
		const struct chi_term_moment *moment = &motif->moments[i];
		for (int run = moment->run - 1; run >= 0; run--) {
			state--;
			bool is_first = state == 0;
			if (!is_first && !follows(moment, run > 0, states[state - 1].last, ply)) {
				continue;
			}
			if (!moment_fits(looked, (uint8_t)i)) {
				/* Nor do the states of the run before it. */
				state -= (uint32_t)run;
				break;
			}
			states[state] = is_first ? (struct state){ply, ply, move}
						 : (struct state){ply, states[state - 1].begin,
								  states[state - 1].move};
		}
	}
	return states[motif->n_states - 1].last == ply;
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
			looked.tests = motif_tests(motif) + (size_t)place * motif->n_tests;
			memset(looked.fits, UNKNOWN, motif->n_moments);
			if (!step_variant(&looked, states, asked->ply, moment->move)) {
				continue;
			}
			const struct state *last = &states[motif->n_states - 1];
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

static void begin_motif(struct followed *followed)
{
	size_t variants = variants_of(followed->motif);
	size_t n = variants * followed->motif->n_states;
	for (size_t i = 0; i < n; i++) {
		followed->states[i].last = -1;
	}
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

int chi_motifs_search(struct chi_motifs *motifs, uint32_t number, uint32_t wanted, uint32_t *has,
		      struct chi_motif_found *found)
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
