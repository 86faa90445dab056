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
	struct chi_matcher *matcher; /* NULL: all games are found */
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

static void closep(struct chi_among **among)
{
	chi_among_close(*among);
}

int chi_among_open(struct chi_read *read, const char *filter, size_t len, struct chi_among **out,
		   struct chi_fault *fault)
{
	const struct chi_matcher_spec from = {.from = 1};
	_cleanup_(closep) struct chi_among *among = calloc(1, sizeof(*among));
	if (among == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = chi_terms_parse(filter, len, &among->terms, fault);
	rc = rc == CHI_OK ? chi_matcher_new(read, &among->terms, &from, &among->matcher, fault)
			  : rc;
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
	while (among->matcher != NULL && rc == CHI_OK) {
		if (*steps == 0 || (rc = chi_matcher_prepare(among->matcher, steps)) == CHI_NONE) {
			return CHI_OK;
		}
		rc = rc == CHI_OK ? chi_matcher_next(among->matcher, steps, &hits) : rc;
		if (rc == CHI_OK) {
			rc = add_hits(among, chi_matcher_chunk(among->matcher), &hits);
		}
	}
	if (rc < 0) {
		return rc;
	}
	chi_matcher_free(among->matcher);
	among->matcher = NULL;
	return CHI_NONE;
}

bool chi_among_has(const struct chi_among *among, uint32_t number)
{
	return chi_numbers_has(among->all, number);
}

static void count(const struct chi_among *among, uint32_t number, struct chi_counts *counts)
{
	counts->white += chi_numbers_has(among->ended[CHI_RESULT_WHITE], number);
	counts->draws += chi_numbers_has(among->ended[CHI_RESULT_DRAW], number);
	counts->black += chi_numbers_has(among->ended[CHI_RESULT_BLACK], number);
}

/* A game counts once, however many moves it played. */
static int judge(void *context, struct chi_reached *reached, struct chi_counts *counts)
{
	const struct chi_among *among = context;
	const struct chi_posting *entries;
	uint32_t last = 0;
	uint64_t games = 0;
	size_t n;
	int rc = reached != NULL ? CHI_OK : CHI_NONE;
	*counts = (struct chi_counts){0};
	while (rc == CHI_OK && (rc = chi_reached_next(reached, &entries, &n)) == CHI_OK) {
		for (size_t i = 0; i < n; i++) {
			if (entries[i].game != last && chi_among_has(among, entries[i].game)) {
				count(among, entries[i].game, counts);
				games++;
			}
			last = entries[i].game;
		}
	}
	counts->other = games - counts->white - counts->draws - counts->black;
	return rc < 0 ? rc : games > 0 ? CHI_OK : CHI_NONE;
}

void chi_among_judge(struct chi_among *among, struct chi_scan *scan)
{
	chi_scan_judged(scan, judge, among);
}
