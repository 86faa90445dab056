/* SPDX-License-Identifier: MIT */
/*
 * The positions that a bench asks for, in memory: some of those that the store holds, drawn from
 * bands over its whole range, or those of a file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

/* Bands of equal width between the least and the greatest statistic. One that is a single value is
 * divided by its keys, in which it is ordered, into as many. */
#define SAMPLE_BANDS 64

/* Most positions, from any source: half a gigabyte. */
#define SAMPLE_MAX 16000000

struct sample_item {
	struct chi_key key;
	uint16_t chi2; /* 0: not known, or not stored */
};

struct position_sample {
	struct sample_item *items;
	size_t n;
	size_t capacity;
	size_t stored;	 /* of them, in the store */
	uint64_t out_of; /* positions of the store; of a file: 0 */
	uint16_t least;	 /* known statistic in the store; 0: not looked at, or none */
	uint16_t greatest;
};

/*
 * Up to `max` positions of the store: each band, and the positions without a statistic, give the
 * same number in the order of a scan, as far as they have so many; what is missing then comes from
 * those that have more. The scans read little more than they deliver. Says what is wrong, and that
 * a store is empty; returns an exit code.
 */
int sample_from_store(struct cli *cli, size_t max, struct position_sample *out);

/* All positions of a file of FENs ("-": standard input), in its order; a line that is none ends it
 * with a message. Looks up which are stored. */
int sample_from_file(struct cli *cli, const char *path, struct position_sample *out);

/* Frees the positions. */
void sample_deinit(struct position_sample *sample);
