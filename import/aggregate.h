/* SPDX-License-Identifier: MIT */
/* One thread's part in making records of items. */
#pragma once

#include <stddef.h>

#include "import/session_priv.h"
#include "store/load/load.h"

struct chi_aggregator;

/* Empties a block that is full, before the part goes on. Another code than CHI_OK ends the part. */
typedef int chi_aggregate_pass(void *context, struct chi_load_block *block);

/* What it is given must outlive it. `full`: so many bytes make a block full. NULL: out of memory.
 */
struct chi_aggregator *chi_aggregator_new(struct chi_pgn_session *games,
					  const struct chi_import_limits *limits,
					  const struct chi_load_spec *spec, size_t full,
					  chi_aggregate_pass *pass, void *context);
void chi_aggregator_free(struct chi_aggregator *aggregator);

/* Packs the records of a part of the sorted positions behind what the block has. */
CHI_MUSTUSE int chi_aggregate_part(struct chi_aggregator *aggregator, size_t part,
				   struct chi_load_block *block, struct chi_fault *fault);
