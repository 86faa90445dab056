/* SPDX-License-Identifier: MIT */
/* Reading options: the global ones, which stand before or behind the command, and its own. */
#pragma once

#include "client/cli/command.h"

/* The global options, for the help. */
extern const struct cli_option global_options[];

#define PARSE_STOP (-1)

/*
 * Reads the options in front of the command. *n_used: how many of argv they took, the program's
 * name included. Returns an exit code, or PARSE_STOP if --help or --version was answered.
 */
int parse_global(struct cli *cli, int argc, char **argv, int *n_used);

/*
 * Reads cli->command's options, argv[0] being its name, wherever they stand; *first is where the
 * arguments left over begin in argv, which is reordered. Returns as parse_global does.
 */
int parse_command(struct cli *cli, void *state, int argc, char **argv, int *first);
