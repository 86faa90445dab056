/* SPDX-License-Identifier: MIT */
/* The progress bar. The rate and the time left are of the whole run so far: of files with
 * compressed stretches a shorter window would jump about. */
#include "cli/out/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"

#define BAR_WIDTH 30

/* Nanoseconds between two states shown. */
#define TERMINAL_PERIOD UINT64_C(100000000)
#define PLAIN_PERIOD	UINT64_C(5000000000)

void progress_init(struct progress *progress, bool quiet, uint64_t total)
{
	*progress = (struct progress){
		.quiet = quiet,
		.terminal = isatty(STDERR_FILENO) != 0,
		.total = total,
		.unit = "positions",
		.start = cli_clock(),
	};
	progress->last = progress->start;
}

/* "1:02:03", or "0:07". */
static void print_time(double seconds)
{
	uint64_t s = (uint64_t)seconds;
	if (s >= 3600) {
		fprintf(stderr, "%" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60);
	} else {
		fprintf(stderr, "%" PRIu64, s / 60);
	}
	fprintf(stderr, ":%02" PRIu64, s % 60);
}

/* True if it is time to show something; then the line has been begun, with a bar if there is a
 * total. *part: how much is done, within 0 and 1. */
static bool begin_line(struct progress *progress, uint64_t done, uint64_t total, double *part)
{
	uint64_t now = cli_clock();
	if (progress->quiet ||
	    now - progress->last < (progress->terminal ? TERMINAL_PERIOD : PLAIN_PERIOD)) {
		return false;
	}
	progress->last = now;
	*part = total > 0 ? (double)done / (double)total : 0;
	*part = *part > 1 ? 1 : *part;
	fprintf(stderr, progress->terminal ? "\r" : "chistore: ");
	if (total > 0 && progress->terminal) {
		(void)putc('[', stderr);
		for (int i = 0; i < BAR_WIDTH; i++) {
			(void)putc(i < (int)(*part * BAR_WIDTH) ? '#' : '.', stderr);
		}
		fprintf(stderr, "] ");
	}
	return true;
}

static void end_line(struct progress *progress)
{
	fprintf(stderr, progress->terminal ? "\033[K" : "\n");
	progress->shown = progress->terminal;
}

/* Without a known size there is neither a share nor a time left, only the rate. */
void progress_update(struct progress *progress, uint64_t bytes, uint64_t count)
{
	double part;
	if (!begin_line(progress, bytes, progress->total, &part)) {
		return;
	}
	double elapsed = (double)(progress->last - progress->start) / 1e9;
	if (progress->total > 0) {
		fprintf(stderr, "%3.0f%%  ", part * 100);
	}
	fprintf(stderr, "%" PRIu64 " %s, %.0f/s", count, progress->unit, (double)count / elapsed);
	if (part > 0) {
		fprintf(stderr, ", ETA ");
		print_time(elapsed / part * (1 - part) + 0.5);
	}
	end_line(progress);
}

void progress_phase(struct progress *progress, const char *phase, uint64_t done, uint64_t total)
{
	double part;
	if (begin_line(progress, done, total, &part)) {
		fprintf(stderr, "%s", phase);
		if (total > 0) {
			fprintf(stderr, " %3.0f%%", part * 100);
		}
		end_line(progress);
	}
}

void progress_clear(struct progress *progress)
{
	if (progress->shown) {
		fprintf(stderr, "\r\033[K");
		progress->shown = false;
	}
}
