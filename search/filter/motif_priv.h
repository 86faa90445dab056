/* SPDX-License-Identifier: MIT */
/* Compiled motifs, as motif.c makes them and motifs.c follows them through games. */
#pragma once

#include "base/fault.h"
#include "chess/key.h"
#include "chess/moment/features.h"
#include "chess/moment/moment.h"
#include "chess/moment/played.h"
#include "chess/pattern/pattern.h"
#include "search/filter/motif.h"

struct motif_test {
	uint8_t kind; /* enum chi_test_kind */
	bool negated;
	uint8_t family;	  /* of a pattern's endgame */
	uint32_t pattern; /* which of the motif's */
	int32_t min;
	int32_t max;
	union {
		struct chi_played_moves played;
		struct chi_feature feature;
	};
};

struct chi_motif {
	size_t size;
	bool positional;
	bool plain; /* one pattern, and nothing else */
	bool asks_store;
	uint8_t first_test; /* number in the terms */
	uint8_t n_moments;
	uint32_t n_tests;
	uint32_t n_patterns;
	uint32_t n_turns;
	uint32_t n_places;
	uint32_t n_states; /* of one variant */
	size_t max_tests;  /* n_tests in all places that were tried */
	struct chi_turn turns[4];
	struct chi_term_moment moments[CHI_MOMENTS_MAX];
	struct chi_term_node nodes[2 * (CHI_TERMS_MAX + CHI_TESTS_MAX)];
	/* Then the patterns, then the tests, place by place. */
	_Alignas(struct chi_pattern) unsigned char rest[];
};

static inline struct motif_test *motif_tests(const struct chi_motif *motif)
{
	return (struct motif_test *)(uintptr_t)motif->rest;
}

static inline struct chi_pattern *motif_patterns(const struct chi_motif *motif)
{
	return (struct chi_pattern *)(uintptr_t)(motif->rest +
						 motif->max_tests * sizeof(struct motif_test));
}

/* What is kept of a moment: where it ended last, and of one on N plies, where the one before it was
 * at each of the last N. */
static inline uint32_t motif_states_of(const struct chi_term_moment *moment)
{
	return 1 + (moment->run > 1 ? moment->run : 0u);
}

/* What is asked about. */
struct motif_asked {
	const uint8_t *key; /* if the position is not decoded yet */
	struct chi_position position;
	struct chi_facts *facts;
	int32_t ply;
	int rc; /* how what the store knows failed */
};

/* A key of the store, or of a scan, is of a position. */
static inline void motif_decode(struct motif_asked *asked)
{
	struct chi_key key = {.len = 0};
	if (asked->key != NULL) {
		key.len = (uint8_t)chi_key_length(asked->key);
		memcpy(key.bytes, asked->key, key.len);
		if (chi_key_decode(&key, &asked->position, NULL) != CHI_OK) {
			chi_position_clear(&asked->position);
		}
		asked->key = NULL;
	}
}

static inline const struct chi_position *motif_position(struct motif_asked *asked,
							const struct chi_moment_view *view)
{
	motif_decode(asked);
	return view->position;
}

static inline struct chi_moment *motif_moment(struct motif_asked *asked,
					      const struct chi_moment_view *view)
{
	motif_decode(asked);
	return view->moment;
}

/* Whether the conditions below a node hold, with the tests of one place. */
bool chi_motif_node_fits(const struct chi_motif *motif, const struct motif_test *tests, uint8_t at,
			 struct motif_asked *asked, struct chi_moment_view *view);
