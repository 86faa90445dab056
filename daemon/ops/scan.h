/* SPDX-License-Identifier: MIT */
/* A scan or count on its way, or a list of games' identities. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "chistore/types.h"
#include "daemon/ops/run.h"

struct chi_among;
struct chi_scan;

struct chi_scan_run {
	struct chi_run run;
	struct chi_scan_spec spec; /* as asked; release brings `after` and `limit` up to date */
	struct chi_cursor sent;	   /* where the last response sent ends */
	uint64_t left;		   /* of the limit; 0 if there is none */
	struct chi_among *among;   /* NULL: no filter of games */
	struct chi_scan *scan; /* NULL: not open; with a filter its games are looked for first */
	uint64_t sequence;     /* of the first snapshot */
	bool has_sequence;
	bool mixed; /* a later snapshot showed another state */
	uint64_t count;
	char games[]; /* the spec's filter */
};
