/* SPDX-License-Identifier: MIT */
/*
 * Where a long text goes: standard output, or a file that is written beside its place and gets
 * its name when it is whole, so that yesterday's is not lost to a run that fails.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/cli.h"

struct target {
	FILE *file;
	const char *path; /* NULL: standard output */
	char *temporary;  /* name until it is whole; NULL: written in place (a pipe, a device) */
};

/* NULL and "-" are standard output; a file of a store is refused. Returns an exit code, as the
 * others do, and has said what was wrong. From here on SIGINT and SIGTERM only set cli_stop if
 * there is a file to remove. */
int target_open(struct target *target, const char *path);

int target_write(struct target *target, const void *bytes, size_t len);

/* Removes what has the name until now, and sees to it that it stays away after a power cut. False:
 * errno says why. */
bool target_remove_old(const struct target *target);

/* Says what is wrong with the target, by errno. */
int target_fail(const struct target *target);

/* Everything written, synced and under its name. Standard output is looked at by main. */
int target_finish(struct target *target);

/* Removes what is unfinished; harmless after target_finish and on a zeroed target. */
void target_discard(struct target *target);
