/* SPDX-License-Identifier: MIT */
/*
 * Motifs made ready to be asked: of positions alone, where that answers them, and of games, whose
 * moves are played again. Private to the room.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/masks.h"
#include "search/filter/facts.h"
#include "search/filter/terms.h"
#include "store/games/archive.h"

/* ---- One motif ---------------------------------------------------------------------------- */

/* Compiled; in one piece, without pointers. Read by any number of threads. */
struct chi_motif;

/* Patterns of all motifs of a filter, in all places that `shift` gives them: some 5 MiB. */
#define CHI_MOTIF_PATTERNS_MAX 256

/* `term` is a motif that chi_terms_parse has accepted, and has so many patterns at most; *out is to
 * be freed by free(). -CHI_ENOMEM; -CHI_ETOOBIG: `shift` makes too much of it. */
CHI_MUSTUSE int chi_motif_new(const struct chi_terms *terms, const struct chi_term *term,
			      size_t patterns, struct chi_motif **out, struct chi_fault *fault);

/* -CHI_ETOOBIG, and why. */
int chi_motif_refuse(struct chi_fault *fault);

/* A text of one moment that positions answer, as a filter has them; none fit every position. Errors
 * as chi_terms_parse and chi_motif_new; -CHI_EINVAL: it has terms, several moments, or asks for
 * moves or what the store knows. */
CHI_MUSTUSE int chi_motif_parse(const char *text, struct chi_motif **out, struct chi_fault *fault);

/* Bytes that it takes. */
size_t chi_motif_size(const struct chi_motif *motif);

/* True if a game fits as soon as one of its positions does, whatever came before or after. */
bool chi_motif_is_positional(const struct chi_motif *motif);

/* Of such a motif, what asking a stored position takes: 1, or a few times that if it has to be set
 * up for it. */
unsigned chi_motif_cost(const struct chi_motif *motif);

/* Of such a motif, whether a position fits; `key` as for chi_pattern_matches. */
bool chi_motif_fits(const struct chi_motif *motif, const uint8_t *key);

/* Of such a motif, what is asked of the masks of positions that fit. */
void chi_motif_masks_of(const struct chi_motif *motif, struct chi_mask_wants *out);

/* ---- Motifs in games ---------------------------------------------------------------------- */

/* What looks for some motifs at once in games; one thread. */
struct chi_motifs;

/* Where a motif was found: the ply at which its first moment holds, -1: it was not, and the move
 * played there, 0 if none was. Of several the one that is complete first; of a motif with `times`
 * the first moment that was counted. */
struct chi_motif_found {
	int32_t ply;
	chi_move move;
};

/* Of all motifs of `terms`, in the order of the terms. Errors as chi_motif_new. */
CHI_MUSTUSE int chi_motifs_new(const struct chi_terms *terms, struct chi_motifs **out,
			       struct chi_fault *fault);
/* NULL is fine. */
void chi_motifs_free(struct chi_motifs *motifs);

size_t chi_motifs_count(const struct chi_motifs *motifs);
const struct chi_motif *chi_motifs_at(const struct chi_motifs *motifs, size_t i);

/* Works in a snapshot until it is ended, with a reader of games that was begun in it; NULL: its
 * own. -CHI_ENOMEM, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_motifs_begin(struct chi_motifs *motifs, struct chi_read *read,
				 struct chi_archive_reader *reader);
void chi_motifs_end(struct chi_motifs *motifs);

/* Which of the motifs `wanted`, bit by bit, a game has; stops as soon as all are found. Of those,
 * found[i] says where, if it is not NULL. *steps shrink by what the plies looked at are worth.
 * -CHI_ECORRUPT: there is no such game, or it is damaged. */
CHI_MUSTUSE int chi_motifs_search(struct chi_motifs *motifs, uint32_t number, uint32_t wanted,
				  uint64_t *steps, uint32_t *has, struct chi_motif_found *found);

/* Which of all motifs a game of no store has, as bits; none of them may ask the store. `positions`
 * are n + 1, each after the move before it. */
uint32_t chi_motifs_played(struct chi_motifs *motifs, const struct chi_position *positions,
			   const chi_move *moves, size_t n);

/* Bytes that it takes, about. */
size_t chi_motifs_memory(const struct chi_motifs *motifs);
