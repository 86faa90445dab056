/* SPDX-License-Identifier: MIT */
/* A matcher, as it works (matcher.c) and as its plan is printed (plan.c). */
#pragma once

#include "search/filter/listed.h"
#include "search/filter/matcher.h"
#include "search/filter/motif.h"
#include "search/filter/numbers.h"
#include "search/filter/shown.h"

/* So many games may be played again before lists are read: some milliseconds. */
#define PLAYED_MAX 256

/* A term that names a set of games. */
struct member {
	size_t term;
	bool negated;
	struct chi_reached *reached; /* of a position: what is not yet in `numbers` */
	struct chi_numbers *numbers; /* NULL: the member leads */
	/* Of a gameset: what is not yet in `numbers`, games that came since it was made. */
	struct chi_terms *terms;
	struct chi_matcher *rest; /* NULL: all are */
};

/* What fits each term but the motifs, in one chunk. */
struct leaves {
	uint32_t first; /* of the chunk; 0: there is none */
	uint32_t n;
	struct chi_hits hits[CHI_TERMS_MAX];
};

struct chi_matcher {
	struct chi_read *read;
	struct chi_archive_view view;
	const struct chi_terms *terms;
	struct chi_tester *tester;
	struct chi_columns_reader columns;
	uint32_t from;
	unsigned depth;
	bool over;
	bool ready;
	size_t n_members;
	struct member members[CHI_TERMS_MAX];
	struct member *leader;		   /* NULL: all chunks are walked */
	const struct chi_posting *entries; /* of the leading list, the next ones */
	size_t n_entries;
	struct chi_motifs *motifs; /* NULL: there are none */
	struct chi_shown_games *
		*shown;	       /* the games that show each motif; NULL: they are played again */
	struct leaves *leaves; /* of a filter with "or" and motifs */
	struct chi_listed *listed[CHI_TERMS_MAX]; /* by motif; NULL: not begun */
	bool is_listed;				  /* all are read */
	uint64_t to_play;			  /* games of chunks so far that motifs decide */
	const struct chi_numbers *least;	  /* of these; it leads, if it is not NULL */
	/* Games of the chunk at hand that fit all but the patterns, while they are looked at. */
	bool is_looking;
	uint32_t began; /* `from` before that chunk */
	uint32_t row;	/* the next one */
	struct chi_hits hits;
};

/* Fills the sets of the terms that do not lead; CHI_NONE: the steps are used up. */
CHI_MUSTUSE int chi_matcher_fill_sets(struct chi_matcher *matcher, uint64_t *steps);
/* Reads lists, if many games would be played again without. CHI_NONE: the same. */
CHI_MUSTUSE int chi_matcher_read_lists(struct chi_matcher *matcher, uint64_t *steps);
/* So many games are played again for a motif that positions answer, before these are looked at. */
uint64_t chi_matcher_few(const struct chi_matcher *matcher, size_t motif);
/* The games that may have a motif, by lists; NULL: none were read, or they do not help. */
const struct chi_numbers *chi_matcher_listed(const struct chi_matcher *matcher, size_t motif);
