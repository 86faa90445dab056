/* SPDX-License-Identifier: MIT */
/* Input files named on the command line, looked at before anything is stored. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "formats/lines.h"
#include "formats/source.h"

/* Sees to it that every file is there and may be read; says of the first that is not. *total: their
 * bytes, 0 if one has no size. Opens none of them: a pipe can be opened only once. */
int files_check(const struct cli *cli, int n, char **paths, uint64_t *total);

/*
 * Tells a file's format by its name, else by how it begins: CHI_FORMAT_PGN, or another. A pipe or
 * standard input that had to be looked into stays open in *source, from its first byte; else
 * *source is NULL. Says why it cannot be opened.
 */
int files_format(const char *path, enum chi_format *format, struct chi_source **source);

/* Opens the one input of a command. If it cannot, says why, with `name` for it: a mistake of who
 * typed it, or trouble of the machine. */
int files_open(const struct cli *cli, const char *path, const char *name,
	       const struct chi_source_options *options, struct chi_source **out);

/* The exit code of a file that cannot be opened or read on. */
int files_exit_of(int status);
