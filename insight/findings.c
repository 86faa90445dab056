/* SPDX-License-Identifier: MIT */
/* Lists of games are read once more, those of findings only, so that they need no memory. */
#include "insight/findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "chess/key.h"
#include "chess/movegen.h"

#define STEPS_A_GAME 3 /* that is unpacked and played */

static struct insight_survey *survey_of(struct chi_insight *insight)
{
	return (struct insight_survey *)insight;
}

bool insight_survey_is_rated(const struct insight_survey *survey, uint32_t number)
{
	return survey->walk.games[number].expected >= 0 &&
	       chi_among_has(survey->insight.among, number);
}

void insight_survey_count_rated(struct insight_survey *survey)
{
	survey->insight.result.games = 0;
	for (uint32_t number = 1; number <= survey->insight.view.last; number++) {
		survey->insight.result.games += insight_survey_is_rated(survey, number);
	}
}

int insight_survey_add(struct insight_survey *survey, struct insight_tested *tested,
		       uint64_t *steps)
{
	struct insight_findings *findings = &survey->findings;
	struct chi_insight_row *row = &tested->row;
	int rc = insight_find_ply(survey->walk.reader, row->game, &row->key, &row->ply);
	insight_spend(steps, STEPS_A_GAME);
	if (rc != CHI_OK) {
		return rc;
	}
	tested->chance.ply = row->ply;
	tested->chance.positions = 1;
	if (chi_grow(&findings->tested, &findings->max, findings->n + 1,
		     sizeof(*findings->tested)) < 0) {
		return -CHI_ENOMEM;
	}
	findings->tested[findings->n++] = *tested;
	return CHI_OK;
}

static int correct_findings(struct insight_survey *survey, const struct insight_survey_kind *kind)
{
	struct chi_insight *insight = &survey->insight;
	struct insight_findings *findings = &survey->findings;
	size_t size = sizeof(findings->tested[0]);
	if (kind->fit != NULL) {
		kind->fit(survey);
	}
	if (insight->spec.position == NULL) {
		findings->n = insight_join_equal(findings->tested, findings->n, size);
	}
	findings->found = insight_correct(findings->tested, findings->n, size, insight->spec.fdr);
	findings->is_corrected = true;
	insight->result.tested = findings->n;
	return insight_join_begin(&findings->join, (size_t)insight->view.last + 1, true);
}

struct joined {
	struct insight_survey *survey;
	const struct insight_survey_kind *kind;
};

static int join_game(void *context, uint32_t number)
{
	const struct joined *joined = context;
	return joined->kind->counts(joined->survey, number)
		       ? insight_join_game(&joined->survey->findings.join, number)
		       : CHI_OK;
}

static int join_next(struct insight_survey *survey, const struct insight_survey_kind *kind,
		     uint64_t *steps)
{
	struct insight_findings *findings = &survey->findings;
	struct insight_tested *tested = findings->tested;
	const struct insight_tested *one = &tested[findings->next++];
	struct joined joined = {survey, kind};
	size_t head;
	int rc = insight_walk_games(&survey->insight, &one->row.key, join_game, &joined, steps);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	rc = insight_join_settle(&findings->join, &head);
	if (rc == CHI_OK) {
		tested[head].chance.positions += one->chance.positions;
	} else if (rc == CHI_NONE) {
		tested[head] = *one;
		findings->heads = head + 1;
	}
	return rc < 0 ? rc : CHI_OK;
}

/* The move of spec.position that leads to the row's, which is told in its place. */
static int tell_move(const struct chi_insight *insight, struct chi_insight_row *row)
{
	struct chi_position position;
	struct chi_position next;
	struct chi_move_list list;
	struct chi_key key;
	int rc = chi_key_decode(&insight->position, &position, NULL);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_movegen_legal(&position, &list);
	for (size_t i = 0; i < list.n; i++) {
		chi_position_play(&position, list.moves[i], &next);
		chi_key_encode(&next, &key);
		if (memcmp(key.bytes, row->key.bytes, CHI_KEY_MAX) == 0) {
			row->move = list.moves[i];
		}
	}
	row->key = insight->position;
	return CHI_OK;
}

static int add_rows(const struct insight_findings *findings, struct chi_insight *insight)
{
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < findings->heads; i++) {
		const struct insight_chance *chance = &findings->tested[i].chance;
		struct chi_insight_row row = findings->tested[i].row;
		bool drift = insight->spec.kind == CHI_INSIGHT_DRIFT;
		*(drift ? &row.followed : &row.others) = chance->positions;
		row.chance = (uint32_t)(chance->chance * CHI_INSIGHT_CHANCE + 0.5);
		row.adjusted = (uint32_t)(chance->adjusted * CHI_INSIGHT_CHANCE + 0.5);
		rc = insight->spec.position != NULL ? tell_move(insight, &row) : CHI_OK;
		rc = rc == CHI_OK ? insight_add(insight, &row) : rc;
	}
	return rc;
}

static int find_some(struct insight_survey *survey, const struct insight_survey_kind *kind,
		     uint64_t *steps)
{
	struct insight_findings *findings = &survey->findings;
	int rc = findings->is_corrected ? CHI_OK : correct_findings(survey, kind);
	if (insight_wants_all(&survey->insight)) {
		findings->next = findings->heads = findings->found;
	}
	while (rc == CHI_OK && *steps > 0) {
		if (findings->next == findings->found) {
			rc = add_rows(findings, &survey->insight);
			return rc == CHI_OK ? CHI_NONE : rc;
		}
		rc = join_next(survey, kind, steps);
	}
	return rc;
}

int insight_survey_step(struct insight_survey *survey, const struct insight_survey_kind *kind,
			uint64_t *steps)
{
	int rc = CHI_NONE;
	if (!survey->is_begun) {
		rc = insight_walk_load(&survey->walk, &survey->insight, steps);
		if (rc != CHI_NONE) {
			return rc;
		}
		kind->begin(survey);
		survey->is_begun = true;
	}
	if (!survey->is_walked) {
		rc = insight_walk_step(&survey->walk, &survey->insight, kind->look, steps);
		survey->is_walked = rc == CHI_NONE;
	}
	return rc == CHI_NONE ? find_some(survey, kind, steps) : rc;
}

void insight_survey_end(struct chi_insight *insight)
{
	struct insight_survey *survey = survey_of(insight);
	insight_walk_end(&survey->walk);
	insight_join_end(&survey->findings.join);
	free(survey->findings.tested);
	survey->findings = (struct insight_findings){.tested = NULL};
}

size_t insight_survey_memory(const struct chi_insight *insight)
{
	const struct insight_survey *survey = (const struct insight_survey *)insight;
	return insight_walk_memory(&survey->walk, insight) +
	       survey->findings.max * sizeof(survey->findings.tested[0]) +
	       insight_join_memory(&survey->findings.join, (size_t)insight->view.last + 1);
}
