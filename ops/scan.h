/* SPDX-License-Identifier: MIT */
/* What a scan or count has been asked, for all kinds of stores. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "ops/query.h"
#include "proto/types.h"
#include "search/filter/motif.h"

struct chi_among;
struct chi_scan;

struct chi_scan_query {
	struct chi_query query;
	struct chi_scan_spec spec; /* what is still wanted; `after` and `limit` as it was opened */
	uint64_t left;		   /* rows of the limit */
	struct chi_cursor sent;	   /* after the rows delivered */
	struct chi_scan *scan;	   /* NULL: to be opened, after spec.after */
	struct chi_among *among;   /* the games of the filter; NULL: there is none */
	struct chi_footprint *footprint; /* what these games reached; NULL: positions are walked */
	bool walks;			 /* they must be */
	const struct chi_motif *pattern; /* of spec.pattern; NULL: there is none */
	bool counts;			 /* no rows are asked for */
	bool reaches;	   /* a count of all positions, in their order, by any number of threads */
	uint64_t sequence; /* of the state that the rows so far are of */
	bool has_sequence;
	bool mixed; /* they are of several */
	uint64_t count;
};

/* The request as the spec that it stands for, whose texts stay the request's, NULL if they are
 * empty, and its pattern, in the arena; NULL: it has none. -CHI_EINVAL, -CHI_ESYNTAX: *field,
 * static, names what is wrong; "" is the request itself. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_scan_asked(const struct chi_scan_request *request, struct chi_arena *arena,
			       struct chi_scan_spec *out, const struct chi_motif **pattern,
			       const char **field, struct chi_fault *fault);

/* Whether a position fits a struct chi_motif; as chi_scan_wanted. */
bool chi_scan_shows(const void *pattern, const uint8_t *key);
