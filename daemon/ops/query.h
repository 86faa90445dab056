/* SPDX-License-Identifier: MIT */
/* A query on its way. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/ops/run.h"
#include "ops/query.h"

struct chi_query_run {
	struct chi_run run;
	struct chi_query *query;
	_Alignas(max_align_t) uint8_t result[CHI_RESULT_SIZE];
};
