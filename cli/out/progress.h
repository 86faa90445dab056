/* SPDX-License-Identifier: MIT */
/* Progress of a long work on standard error: a bar on a terminal, a line every few seconds
 * elsewhere, nothing when quiet. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool quiet;
	bool terminal;
	bool shown;	  /* a bar is on the terminal's last line */
	const char *unit; /* of what is counted */
	uint64_t total;	  /* bytes of input; 0: not known, so neither bar nor ETA */
	uint64_t start;	  /* nanoseconds, as cli_clock */
	uint64_t last;	  /* when something was shown */
};

void progress_init(struct progress *progress, bool quiet, uint64_t total);

/* Shows where the work is, if it is time to. `bytes` of the input taken, `count` things done. */
void progress_update(struct progress *progress, uint64_t bytes, uint64_t count);

/* The same for a stretch of work without input: how much of it is done. `total` 0: not known. */
void progress_phase(struct progress *progress, const char *phase, uint64_t done, uint64_t total);

/* Takes the bar away, so that a message can be printed. */
void progress_clear(struct progress *progress);
