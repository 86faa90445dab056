/* SPDX-License-Identifier: MIT */
/* Where backed-up scores are kept: with the evaluations, under an engine's name of their own. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "propagate/graph.h"
#include "chistore/types.h"

/* What such a name begins with, and the whole of it unless the caller has another. */
#define CHI_BACKUP_ENGINE "backed-up"

/* True if it begins like that, and an engine's name can be so long. */
bool chi_backup_name_ok(const char *name);

/* The evaluation of that name, or NULL. */
const struct chi_eval *chi_eval_backed(const struct chi_record *record, const char *name);

/* The deepest that is not backed up, under whatever name, or NULL. */
const struct chi_eval *chi_eval_direct(const struct chi_record *record);

/* What that is worth: its mates are claims. CHI_WORTH_NONE of NULL. */
chi_worth chi_worth_direct(const struct chi_eval *eval);

/* True if there is room for one of that name. */
bool chi_eval_fits(const struct chi_record *record, const char *name);

/* What a position is worth by its record: as backed up; mated or drawn; by its direct score; or
 * CHI_WORTH_NONE. -CHI_EKEY. */
CHI_MUSTUSE int chi_worth_stored(const struct chi_key *key, const struct chi_record *record,
				 const char *name, chi_worth *out);

/* Adds a position with its deepest evaluation; one without room for a backed-up score keeps that of
 * chi_worth_stored. What these and chi_graph_add return. */
CHI_MUSTUSE int chi_graph_add_record(struct chi_graph *graph, const struct chi_key *key,
				     const struct chi_record *record, const char *name);
