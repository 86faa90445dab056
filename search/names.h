/* SPDX-License-Identifier: MIT */
/*
 * Names of the archive with the numbers of their games, counted from the columns. Steps and threads
 * as in search/games.h; one step is a chunk of columns.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/names.h"
#include "store/store.h"

struct chi_names_query;

/* -CHI_EINVAL: the spec, as chi_get_names says. */
CHI_MUSTUSE int chi_names_query_open(struct chi_read *read, const struct chi_names_spec *spec,
				     struct chi_names_query **out, struct chi_fault *fault);

/* The same for the groups of chi_get_suspects, which are all made in this call. */
CHI_MUSTUSE int chi_suspects_query_open(struct chi_read *read, uint8_t kind, uint8_t least,
					uint32_t limit, struct chi_names_query **out,
					struct chi_fault *fault);

/* NULL is fine. */
void chi_names_query_close(struct chi_names_query *query);

/* CHI_OK: call again; CHI_NONE: all games are counted. */
CHI_MUSTUSE int chi_names_query_step(struct chi_names_query *query, uint64_t steps);

/* After CHI_NONE: of the rows those from the first-th on, from 0, at most `max`; or the groups; in
 * memory of `arena`. */
CHI_MUSTUSE int chi_names_query_rows(const struct chi_names_query *query, size_t first, size_t max,
				     struct chi_arena *arena, struct chi_names *out);
CHI_MUSTUSE int chi_names_query_groups(const struct chi_names_query *query, struct chi_arena *arena,
				       struct chi_suspect_groups *out);

/* Bytes of memory that it takes. */
size_t chi_names_query_memory(const struct chi_names_query *query);
