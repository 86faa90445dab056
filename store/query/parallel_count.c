/* SPDX-License-Identifier: MIT */
/* Counting by several threads. */
#include "store/env/snapshot.h"
#include "store/query/parallel.h"
#include "store/store.h"

static int count_part(void *context, unsigned thread, struct chi_scan *part, uint64_t *count)
{
	enum chi_scan_range range = part->range;
	int rc = CHI_OK;
	(void)context;
	(void)thread;
	while (rc == CHI_OK && part->range == range) {
		uint64_t steps = UINT64_MAX;
		rc = chi_count_some(part, &steps, count);
	}
	return rc;
}

int chi_scan_count_all(struct chi_scan *scan, unsigned threads, uint64_t steps, uint64_t *count)
{
	uint64_t all = 0;
	int rc = chi_count_ready(scan);
	while (rc == CHI_OK && steps > 0 && (rc = chi_count_next(scan, &all)) == CHI_OK) {
		/* Before threads look for records, this one finds out where their tree is. */
		bool joins = chi_scan_joins(scan);
		bool parallel = threads > 1 && chi_parallel_pays(scan) && scan->judge == NULL &&
				(!joins || chi_read_can_descend(scan->read, 0));
		if (parallel) {
			uint64_t parts = chi_parallel_parts(threads, steps);
			rc = chi_parallel_walk(scan, threads, parts, count_part, NULL, &all);
			steps -= steps < UINT64_MAX ? steps : 0;
		} else {
			rc = chi_count_some(scan, &steps, &all);
		}
	}
	*count += all;
	if (rc != CHI_OK && rc != -CHI_EFORK) {
		scan->rc = rc;
	}
	return rc;
}
