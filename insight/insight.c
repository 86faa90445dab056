/* SPDX-License-Identifier: MIT */
/* What all questions have in common: games of a filter are found, expectations are fitted, then the
 * kind adds its rows, which are put in order. */
#include "insight/insight_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/evidence.h"
#include "base/fault.h"

static const struct insight_kind *const kinds[CHI_INSIGHTS] = {
	[CHI_INSIGHT_WEAK] = &insight_weak,
	[CHI_INSIGHT_STRONG] = &insight_weak,
	[CHI_INSIGHT_NOVELTIES] = &insight_novelties,
	[CHI_INSIGHT_TEMPO] = &insight_tempo,
	[CHI_INSIGHT_PERFORMANCE] = &insight_performance,
	[CHI_INSIGHT_DRIFT] = &insight_drift,
	[CHI_INSIGHT_GAP] = &insight_gap,
	[CHI_INSIGHT_SPREAD] = &insight_spread,
};

/* What a 0 stands for. */
static void fill_spec(struct chi_insight_spec *spec)
{
	static const uint16_t games[CHI_INSIGHTS] = {20, 20, 60, 200, 100, 100, 50};
	spec->min_games = spec->min_games == 0 ? games[spec->kind] : spec->min_games;
	spec->fdr = spec->fdr == 0 ? 50 : spec->fdr;
	spec->known = spec->known == 0 ? 20 : spec->known;
	spec->years = spec->years == 0 ? 3 : spec->years;
	spec->engines = spec->engines != 0		   ? spec->engines
			: spec->kind == CHI_INSIGHT_SPREAD ? 2
							   : 1;
}

static void insight_closep(struct chi_insight **insight)
{
	chi_insight_close(*insight);
}

int chi_insight_open(struct chi_read *read, const struct chi_insight_spec *spec,
		     struct chi_insight **out, struct chi_fault *fault)
{
	if (spec->kind >= CHI_INSIGHTS) {
		return chi_fail(fault, -CHI_EINVAL, "kind: %u is none", spec->kind);
	}
	const char *filter = spec->filter != NULL ? spec->filter : "";
	if (spec->kind == CHI_INSIGHT_TEMPO && filter[0] != '\0') {
		return chi_fail(fault, -CHI_EINVAL, "filter: tempo is asked of all games");
	}
	if (spec->kind == CHI_INSIGHT_DRIFT && spec->split == 0) {
		return chi_fail(fault, -CHI_EINVAL,
				"split: drift needs the first year of the later games");
	}
	_cleanup_(insight_closep) struct chi_insight *insight = calloc(1, kinds[spec->kind]->size);
	if (insight == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	insight->kind = kinds[spec->kind];
	insight->read = read;
	insight->spec = *spec;
	insight->spec.filter = NULL;
	if (spec->position != NULL && spec->kind != CHI_INSIGHT_PERFORMANCE) {
		return chi_fail(fault, -CHI_EINVAL, "position: goes with performance");
	}
	if (spec->position != NULL) {
		insight->position = *spec->position;
		insight->spec.position = &insight->position;
	}
	fill_spec(&insight->spec);
	if (chi_evidence_check(&spec->evidence, fault) < 0) {
		return -CHI_EINVAL;
	}
	if (spec->kind <= CHI_INSIGHT_STRONG && insight->spec.min_games < CHI_INSIGHT_FEWEST) {
		return chi_fail(fault, -CHI_EINVAL, "min_games: less than %d", CHI_INSIGHT_FEWEST);
	}
	if (spec->kind == CHI_INSIGHT_SPREAD && insight->spec.engines < 2) {
		return chi_fail(fault, -CHI_EINVAL, "engines: one alone agrees with itself");
	}
	int rc = chi_read_archive(read, &insight->view);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	/* Spread is asked of positions that no game reached, too. */
	bool of_all = spec->kind == CHI_INSIGHT_SPREAD && filter[0] == '\0';
	if (spec->kind != CHI_INSIGHT_TEMPO && !of_all) {
		rc = chi_among_open(read, filter, strlen(filter), &insight->among, fault);
		if (rc < 0) {
			return rc;
		}
	}
	/* Its own, until the snapshot ends. */
	chi_read_see(read, &insight->spec.evidence);
	*out = insight;
	insight = NULL;
	return CHI_OK;
}

void chi_insight_close(struct chi_insight *insight)
{
	if (insight != NULL) {
		insight->kind->end(insight);
		chi_among_close(insight->among);
		free(insight->rows);
		free(insight);
	}
}

int insight_add(struct chi_insight *insight, const struct chi_insight_row *row)
{
	if (chi_grow(&insight->rows, &insight->max_rows, insight->result.n + 1,
		     sizeof(*insight->rows)) < 0) {
		return -CHI_ENOMEM;
	}
	insight->rows[insight->result.n++] = *row;
	return CHI_OK;
}

uint32_t insight_score(double points, double games)
{
	double score = games > 0 ? points / games : 0;
	score = score > 0 ? (score < 1 ? score : 1) : 0;
	return (uint32_t)(score * CHI_INSIGHT_POINT + 0.5);
}

static int step_phases(struct chi_insight *insight, uint64_t *steps, struct chi_fault *fault)
{
	int rc = CHI_NONE;
	if (insight->among != NULL) {
		rc = chi_among_step(insight->among, steps);
	}
	if (rc == CHI_NONE && insight->spec.kind <= CHI_INSIGHT_STRONG &&
	    chi_among_count(insight->among) > CHI_INSIGHT_GAMES_MAX) {
		return chi_fail(fault, -CHI_ETOOBIG, "filter: has more than %u games",
				CHI_INSIGHT_GAMES_MAX);
	}
	if (rc == CHI_NONE && !insight->is_fitted) {
		rc = chi_expect_step(&insight->expect, insight->view.txn,
				     insight->view.trees.columns, steps);
		insight->is_fitted = rc == CHI_NONE;
	}
	return rc == CHI_NONE ? insight->kind->step(insight, steps) : rc;
}

/* All is found: rows in order, as many as are asked for, and no snapshot. */
static void end_insight(struct chi_insight *insight)
{
	struct chi_insight_result *result = &insight->result;
	if (result->n > 0 && insight->kind->compare != NULL) {
		qsort(insight->rows, result->n, sizeof(insight->rows[0]), insight->kind->compare);
	}
	bool cut = insight->spec.limit > 0 && insight->spec.limit < result->n;
	result->n = cut ? (size_t)insight->spec.limit : result->n;
	result->rows = insight->rows;
	if (insight->among != NULL) {
		chi_among_detach(insight->among);
	}
	insight->kind->end(insight);
	insight->read = NULL;
}

int chi_insight_step(struct chi_insight *insight, uint64_t steps, struct chi_fault *fault)
{
	if (insight->read == NULL) {
		return CHI_NONE;
	}
	int rc = step_phases(insight, &steps, fault);
	if (rc == CHI_NONE) {
		end_insight(insight);
	}
	return rc;
}

const struct chi_insight_result *chi_insight_rows(const struct chi_insight *insight)
{
	return &insight->result;
}

size_t chi_insight_memory(const struct chi_insight *insight)
{
	return insight->kind->size + insight->max_rows * sizeof(insight->rows[0]) +
	       (insight->among != NULL ? chi_among_memory(insight->among) : 0) +
	       (insight->read != NULL ? insight->kind->memory(insight) : 0);
}

const char *chi_insight_unknown(const struct chi_insight *insight, size_t i)
{
	return insight->among != NULL ? chi_among_unknown(insight->among, i) : NULL;
}
