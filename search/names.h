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

/* The spec is checked: its kind, its limit, its text, which may be empty as well as NULL. */
CHI_MUSTUSE int chi_names_query_open(struct chi_read *read, const struct chi_names_spec *spec,
				     struct chi_names_query **out);

/* The same for the groups of chi_suspects_list, which are all found in this call. */
CHI_MUSTUSE int chi_suspects_query_open(struct chi_read *read, uint8_t kind, uint8_t least,
					uint32_t limit, struct chi_names_query **out);

/* NULL is fine. */
void chi_names_query_close(struct chi_names_query *query);

/* CHI_OK: call again; CHI_NONE: all games are counted. */
CHI_MUSTUSE int chi_names_query_step(struct chi_names_query *query, uint64_t steps);

/* After CHI_NONE: goes on with another snapshot of the store. What was found stays. */
CHI_MUSTUSE int chi_names_query_attach(struct chi_names_query *query, struct chi_read *read);

/* After CHI_NONE: how many rows, or groups, there are, and how many without the limit. */
size_t chi_names_query_n(const struct chi_names_query *query);
uint64_t chi_names_query_total(const struct chi_names_query *query);

/* The i-th row, or group, in memory of `arena`. CHI_NONE: it has gone, as seen on a later snapshot.
 */
CHI_MUSTUSE int chi_names_query_row(const struct chi_names_query *query, size_t i,
				    struct chi_arena *arena, struct chi_name_row *out);
CHI_MUSTUSE int chi_names_query_group(const struct chi_names_query *query, size_t i,
				      struct chi_arena *arena, struct chi_name_suspects *out);

/* Bytes of memory that it takes. */
size_t chi_names_query_memory(const struct chi_names_query *query);
