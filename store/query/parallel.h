/* SPDX-License-Identifier: MIT */
/*
 * A phase of a scan by several threads in one snapshot, under one read transaction. LMDB's calls
 * belong to one thread at a time, so that none may be made here: the threads do nothing but read
 * the mapped pages, which no one changes while the transaction lives.
 */
#pragma once

#include "store/query/scan_priv.h"

#define CHI_PARALLEL_MAX 64 /* threads */

/* About how many entries a part has. */
#define CHI_PART_ENTRIES 10000

/* The parts of so many steps: two for each thread at least. */
static inline uint64_t chi_parallel_parts(unsigned threads, uint64_t steps)
{
	uint64_t parts = steps / CHI_PART_ENTRIES;
	return parts > 2 * (uint64_t)threads ? parts : 2 * (uint64_t)threads;
}

/* Walks a part of a phase to its end, where part->range changes, and adds to *count. Called by any
 * of the threads, `thread` of them from 0 on. */
typedef int chi_part_walk(void *context, unsigned thread, struct chi_scan *part, uint64_t *count);

/* True if the phase, which has begun, has parts for several threads. */
bool chi_parallel_pays(const struct chi_scan *scan);

/* The next parts of the phase, so many at most, by up to `threads` threads, this one included. The
 * phase is left if it is over; else the scan is after the last part. */
CHI_MUSTUSE int chi_parallel_walk(struct chi_scan *scan, unsigned threads, uint64_t parts,
				  chi_part_walk *walk, void *context, uint64_t *count);
