/* SPDX-License-Identifier: MIT */
/* The progress bar. The rate and the time left are of the whole run so far: of files with
 * compressed stretches a shorter window would jump about. */
#include "client/cli/out/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define BAR_WIDTH 30

/* Seconds between two states shown. */
#define TERMINAL_PERIOD 0.1
#define PLAIN_PERIOD	5.0

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
	return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) / 1e9;
}

void progress_init(struct progress *progress, bool quiet, uint64_t total)
{
	*progress = (struct progress){
		.quiet = quiet,
		.terminal = isatty(STDERR_FILENO) != 0,
		.total = total,
		.unit = "positions",
	};
	(void)clock_gettime(CLOCK_MONOTONIC, &progress->start);
	progress->last = progress->start;
}

/* "1:02:03", or "0:07". */
static void print_time(double seconds)
{
	uint64_t s = (uint64_t)seconds;
	if (s >= 3600) {
		fprintf(stderr, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60,
			s % 60);
	} else {
		fprintf(stderr, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
	}
}

/* `part` is within 0 and 1. */
static void print_bar(double part)
{
	char bar[BAR_WIDTH + 1];
	int filled = (int)(part * BAR_WIDTH);
	for (int i = 0; i < BAR_WIDTH; i++) {
		bar[i] = i < filled ? '#' : '.';
	}
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "[%s] ", bar);
}

/* Without a known size there is neither a share nor a time left, only the rate. */
static void print_state(const struct progress *progress, uint64_t bytes, uint64_t count,
			double elapsed)
{
	double part = progress->total > 0 ? (double)bytes / (double)progress->total : 0;
	part = part > 1 ? 1 : part;
	if (progress->total > 0) {
		if (progress->terminal) {
			print_bar(part);
		}
		fprintf(stderr, "%3.0f%%  ", part * 100);
	}
	fprintf(stderr, "%" PRIu64 " %s, %.0f/s", count, progress->unit, (double)count / elapsed);
	if (part > 0) {
		fprintf(stderr, ", ETA ");
		print_time(elapsed / part * (1 - part) + 0.5);
	}
}

/* True if it is time to show something; then the line has been begun. */
static bool begin(struct progress *progress, struct timespec *now)
{
	if (progress->quiet) {
		return false;
	}
	(void)clock_gettime(CLOCK_MONOTONIC, now);
	double period = progress->terminal ? TERMINAL_PERIOD : PLAIN_PERIOD;
	if (seconds_between(&progress->last, now) < period) {
		return false;
	}
	progress->last = *now;
	fprintf(stderr, progress->terminal ? "\r" : "chistore: ");
	return true;
}

static void end(struct progress *progress)
{
	fprintf(stderr, progress->terminal ? "\033[K" : "\n");
	progress->shown = progress->terminal;
}

void progress_update(struct progress *progress, uint64_t bytes, uint64_t count)
{
	struct timespec now;
	if (begin(progress, &now)) {
		print_state(progress, bytes, count, seconds_between(&progress->start, &now));
		end(progress);
	}
}

void progress_phase(struct progress *progress, const char *phase, uint64_t done, uint64_t total)
{
	struct timespec now;
	if (begin(progress, &now)) {
		double part = total > 0 ? (double)done / (double)total : 0;
		part = part > 1 ? 1 : part;
		if (total > 0 && progress->terminal) {
			print_bar(part);
		}
		fprintf(stderr, "%s", phase);
		if (total > 0) {
			fprintf(stderr, " %3.0f%%", part * 100);
		}
		end(progress);
	}
}

void progress_clear(struct progress *progress)
{
	if (progress->shown) {
		fprintf(stderr, "\r\033[K");
		progress->shown = false;
	}
}
