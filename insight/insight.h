/* SPDX-License-Identifier: MIT */
/*
 * Questions whose answer is a table of findings (include/chistore/insight.h). One is asked on one
 * snapshot, some steps at a time, and can be closed between any two calls. One thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/insight.h"
#include "store/store.h"

struct chi_insight;

/* Errors as chi_game_walk_open. Copies the spec, whose numbers of 0 become what they stand for. */
CHI_MUSTUSE int chi_insight_open(struct chi_read *read, const struct chi_insight_spec *spec,
				 struct chi_insight **out, struct chi_fault *fault);
void chi_insight_close(struct chi_insight *insight); /* NULL is fine */

/* CHI_OK: call again; CHI_NONE: all is found. -CHI_ETOOBIG: WEAK, STRONG: the filter has more than
 * CHI_INSIGHT_GAMES_MAX games; -CHI_ENOMEM, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_insight_step(struct chi_insight *insight, uint64_t steps,
				 struct chi_fault *fault);

/* After CHI_NONE, which lets go of the snapshot: all rows, valid until it is closed. */
const struct chi_insight_result *chi_insight_rows(const struct chi_insight *insight);

/* Bytes that it takes, about. */
size_t chi_insight_memory(const struct chi_insight *insight);

/* As chi_game_walk_unknown. */
const char *chi_insight_unknown(const struct chi_insight *insight, size_t i);
