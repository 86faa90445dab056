/* SPDX-License-Identifier: MIT */
/*
 * A filter compiled for a snapshot: which games fit, chunk of columns by chunk. What the filter
 * asks of columns is a tester's; of positions and gamesets it makes sets of numbers, or lets a
 * position's list lead; motifs are looked for last, in the moves of games that may fit, played
 * again. Private to the room; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/filter/terms.h"
#include "search/filter/tester.h"
#include "store/archive.h"
#include "store/games/columns.h"
#include "store/store.h"

/* In the time that so many positions are looked at, with a motif that costs 1, a game is played
 * again: of processors, in a store of master games. */
#define CHI_POSITIONS_A_GAME 160

struct chi_matcher;
struct chi_numbers;
struct chi_shown_games;

struct chi_matcher_spec {
	uint32_t from;	/* numbers below do not fit */
	uint64_t asked; /* games, about, that chi_matcher_test is called for; 0: chi_matcher_next is
			 */
	unsigned depth; /* of gamesets that it is the filter of; 0: of none */
	/* Of each motif the games that show it, which are found before the next question; attached
	 * while the matcher lives, which frees those that lists make needless. They may come later.
	 * NULL, or of a motif: games are played again. */
	struct chi_shown_games **shown;
};

/* `terms` must outlive it. -CHI_EINVAL: a gameset is not there; -CHI_ENOMEM, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_matcher_new(struct chi_read *read, const struct chi_terms *terms,
				const struct chi_matcher_spec *spec, struct chi_matcher **out,
				struct chi_fault *fault);
/* NULL is fine. */
void chi_matcher_free(struct chi_matcher *matcher);

/* What is to be done before the first question. *steps shrink. CHI_OK: it is ready; CHI_NONE: call
 * again with more steps. */
CHI_MUSTUSE int chi_matcher_prepare(struct chi_matcher *matcher, uint64_t *steps);

/* The rows that fit of the next chunk, which chi_matcher_chunk then gives. Prepares before, if that
 * is not done. CHI_OK: call again, also if no row fits; CHI_NONE: there are no more. */
CHI_MUSTUSE int chi_matcher_next(struct chi_matcher *matcher, uint64_t *steps,
				 struct chi_hits *hits);
const struct chi_columns_chunk *chi_matcher_chunk(const struct chi_matcher *matcher);

/* In place of the rest: how it would go on, as lines; `rest` games fit all but the motifs. *steps
 * shrink; CHI_NONE: call again. Every motif takes some 90 bytes. */
#define CHI_PLAN_SIZE 4096
CHI_MUSTUSE int chi_matcher_explain(struct chi_matcher *matcher, uint64_t rest, uint64_t *steps,
				    char out[CHI_PLAN_SIZE]);
/* The same of one at work, at any time, by what it knows so far. `rest` UINT64_MAX: it is not
 * known. */
void chi_matcher_describe(const struct chi_matcher *matcher, uint64_t rest,
			  char out[CHI_PLAN_SIZE]);

/* Adds the numbers of games that fit to a set, some steps further. CHI_OK: call again; CHI_NONE:
 * they are all in it. */
CHI_MUSTUSE int chi_matcher_collect(struct chi_matcher *matcher, uint64_t steps,
				    struct chi_numbers *numbers);

/* For those made with `asked`. Makes chi_matcher_chunk the one that has the number, and *hits its
 * rows that may fit, if the motifs do. CHI_NONE: no chunk has it, or nothing fits. */
CHI_MUSTUSE int chi_matcher_test(struct chi_matcher *matcher, uint32_t number, uint64_t *steps,
				 struct chi_hits *hits);
/* Whether a game that may fit does, with its motifs, of which there are some. CHI_NONE: it does
 * not. */
CHI_MUSTUSE int chi_matcher_look(struct chi_matcher *matcher, uint32_t number, uint64_t *steps);
bool chi_matcher_has_motifs(const struct chi_matcher *matcher);

/* Where a new one would go on: games below are looked at. */
uint32_t chi_matcher_place(const struct chi_matcher *matcher);

/* Bytes that it takes, about. */
size_t chi_matcher_memory(const struct chi_matcher *matcher);

/* How many games fit, if that is known without looking at them. */
bool chi_matcher_total(const struct chi_matcher *matcher, uint64_t *total);

/* Names in the filter that are in no game; valid for as long as the terms. */
struct chi_unknown_names {
	size_t n;
	const char *name[2 * CHI_TERMS_MAX]; /* a term has two at most */
};
void chi_matcher_unknown(const struct chi_matcher *matcher, struct chi_unknown_names *out);
