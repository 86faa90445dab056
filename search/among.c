/* SPDX-License-Identifier: MIT */
#include "search/among.h"

#include <stdlib.h>

#include "base/attr.h"
#include "base/fault.h"
#include "search/filter/matcher.h"
#include "search/filter/numbers.h"
#include "search/filter/terms.h"

struct chi_among {
	struct chi_terms terms;
	struct chi_matcher *matcher; /* NULL: all games are found, or it is detached */
	uint32_t from;		     /* detached: games below are looked at */
	bool found;		     /* all games */
	bool looked;		     /* at a chunk, in this snapshot */
	struct chi_unknown_names unknown;
	struct chi_numbers *all;
	struct chi_numbers *ended[CHI_RESULT_OTHER]; /* by result; other games are in none */
};

void chi_among_close(struct chi_among *among)
{
	if (among == NULL) {
		return;
	}
	chi_matcher_free(among->matcher);
	chi_numbers_free(among->all);
	for (size_t i = 0; i < CHI_COUNT(among->ended); i++) {
		chi_numbers_free(among->ended[i]);
	}
	free(among);
}

static void among_closep(struct chi_among **among)
{
	chi_among_close(*among);
}

int chi_among_attach(struct chi_among *among, struct chi_read *read, struct chi_fault *fault)
{
	const struct chi_matcher_spec from = {.from = among->from};
	if (among->found) {
		return CHI_OK;
	}
	among->looked = false;
	int rc = chi_matcher_new(read, &among->terms, &from, &among->matcher, fault);
	if (rc == CHI_OK) {
		chi_matcher_unknown(among->matcher, &among->unknown);
	}
	return rc;
}

void chi_among_detach(struct chi_among *among)
{
	if (among->matcher != NULL) {
		among->from = chi_matcher_place(among->matcher);
		chi_matcher_free(among->matcher);
		among->matcher = NULL;
	}
}

bool chi_among_may_detach(const struct chi_among *among)
{
	return among->found || among->looked;
}

int chi_among_open(struct chi_read *read, const char *filter, size_t len, struct chi_among **out,
		   struct chi_fault *fault)
{
	_cleanup_(among_closep) struct chi_among *among = calloc(1, sizeof(*among));
	if (among == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	among->from = 1;
	int rc = chi_terms_parse(filter, len, &among->terms, fault);
	rc = rc == CHI_OK ? chi_among_attach(among, read, fault) : rc;
	if (rc < 0) {
		return rc;
	}
	rc = chi_numbers_new(&among->all);
	for (size_t i = 0; rc == CHI_OK && i < CHI_COUNT(among->ended); i++) {
		rc = chi_numbers_new(&among->ended[i]);
	}
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	*out = among;
	among = NULL;
	return CHI_OK;
}

size_t chi_among_memory(const struct chi_among *among)
{
	size_t bytes = sizeof(*among) + chi_numbers_memory(among->all) +
		       (among->matcher != NULL ? chi_matcher_memory(among->matcher) : 0);
	for (size_t i = 0; i < CHI_COUNT(among->ended); i++) {
		bytes += chi_numbers_memory(among->ended[i]);
	}
	return bytes;
}

const char *chi_among_unknown(const struct chi_among *among, size_t i)
{
	return i < among->unknown.n ? among->unknown.name[i] : NULL;
}

/* Games of a chunk. */
static int add_hits(struct chi_among *among, const struct chi_columns_chunk *chunk,
		    const struct chi_hits *hits)
{
	struct chi_hits some[CHI_COUNT(among->ended)] = {0};
	for (uint32_t w = 0; w < CHI_HIT_WORDS; w++) {
		for (uint64_t left = hits->words[w]; left != 0; left &= left - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(left);
			uint32_t result = chi_column_value(chunk, CHI_COLUMN_RESULT, 64 * w + bit);
			if (result < CHI_COUNT(some)) {
				some[result].words[w] |= UINT64_C(1) << bit;
			}
		}
	}
	int rc = chi_numbers_add_hits(among->all, chunk->first, hits);
	for (size_t i = 0; rc == CHI_OK && i < CHI_COUNT(some); i++) {
		rc = chi_numbers_add_hits(among->ended[i], chunk->first, &some[i]);
	}
	return rc;
}

int chi_among_step(struct chi_among *among, uint64_t *steps)
{
	struct chi_hits hits;
	int rc = CHI_OK;
	while (!among->found && rc == CHI_OK) {
		uint32_t from = chi_matcher_place(among->matcher);
		if (*steps == 0 || (rc = chi_matcher_prepare(among->matcher, steps)) == CHI_NONE) {
			return CHI_OK;
		}
		rc = rc == CHI_OK ? chi_matcher_next(among->matcher, steps, &hits) : rc;
		among->looked = among->looked || chi_matcher_place(among->matcher) != from;
		if (rc == CHI_OK) {
			rc = add_hits(among, chi_matcher_chunk(among->matcher), &hits);
		}
	}
	if (rc < 0) {
		return rc;
	}
	among->found = true;
	chi_among_detach(among);
	return CHI_NONE;
}

bool chi_among_has(const struct chi_among *among, uint32_t number)
{
	return chi_numbers_has(among->all, number);
}

uint64_t chi_among_count(const struct chi_among *among)
{
	return chi_numbers_count(among->all);
}

bool chi_among_next(const struct chi_among *among, uint32_t from, uint32_t *out)
{
	return chi_numbers_next(among->all, from, out);
}

static void count_result(const struct chi_among *among, uint32_t number, struct chi_counts *counts)
{
	bool white = chi_numbers_has(among->ended[CHI_RESULT_WHITE], number);
	bool drawn = !white && chi_numbers_has(among->ended[CHI_RESULT_DRAW], number);
	bool black = !white && !drawn && chi_numbers_has(among->ended[CHI_RESULT_BLACK], number);
	counts->white += white;
	counts->draws += drawn;
	counts->black += black;
	counts->other += !white && !drawn && !black;
}

static void count_move(const struct chi_among *among, const struct chi_posting *entry,
		       struct chi_move_stat *moves, size_t n_moves)
{
	for (size_t i = 0; i < n_moves; i++) {
		if (moves[i].move == entry->move) {
			count_result(among, entry->game, &moves[i].counts);
			return;
		}
	}
}

/* A game counts once, and once for each move that it played. */
static int judge_reached(void *context, struct chi_reached *reached, struct chi_counts *counts,
			 struct chi_move_stat *moves, size_t n_moves)
{
	const struct chi_among *among = context;
	const struct chi_posting *entries;
	uint32_t last = 0;
	bool any = false;
	size_t n;
	int rc = reached != NULL ? CHI_OK : CHI_NONE;
	*counts = (struct chi_counts){0};
	while (rc == CHI_OK && (rc = chi_reached_next(reached, &entries, &n)) == CHI_OK) {
		for (size_t i = 0; i < n; i++) {
			bool is = chi_among_has(among, entries[i].game);
			if (is && entries[i].game != last) {
				count_result(among, entries[i].game, counts);
			}
			if (is && moves != NULL) {
				count_move(among, &entries[i], moves, n_moves);
			}
			any = any || is;
			last = entries[i].game;
		}
	}
	return rc < 0 ? rc : any ? CHI_OK : CHI_NONE;
}

/* One game that fits is enough. */
int chi_among_met(void *context, unsigned thread, const struct chi_posting *entries, size_t n)
{
	const struct chi_among *among = context;
	(void)thread;
	for (size_t i = 0; i < n; i++) {
		if (chi_among_has(among, entries[i].game)) {
			return CHI_NONE;
		}
	}
	return CHI_OK;
}

/* What all games did stays. */
static int choose(void *context, struct chi_reached *reached, struct chi_counts *counts,
		  struct chi_move_stat *moves, size_t n_moves)
{
	const struct chi_posting *entries;
	size_t n;
	int rc = reached != NULL ? CHI_OK : CHI_NONE;
	int met = CHI_OK;
	(void)counts, (void)moves, (void)n_moves;
	while (met == CHI_OK && rc == CHI_OK &&
	       (rc = chi_reached_next(reached, &entries, &n)) == CHI_OK) {
		met = chi_among_met(context, 0, entries, n);
	}
	return rc < 0 ? rc : met == CHI_NONE ? CHI_OK : CHI_NONE;
}

void chi_among_judge(struct chi_among *among, struct chi_scan *scan, bool whole)
{
	chi_scan_judged(scan, whole ? choose : judge_reached, among);
}
