/* SPDX-License-Identifier: MIT */
/* Reading options: those of every command, and a command's own. */
#pragma once

#include "cli/command.h"

/* The options of every command, for the help. */
extern const struct cli_option global_options[];

#define PARSE_STOP (-1)

/*
 * Reads the options in argv[1] and after it: those in front of the command, or, if cli->command is
 * set, anywhere. What is left over moves to argv[0] on; *n: how many. Returns an exit code, or
 * PARSE_STOP if --help or --version was answered.
 */
int options_parse(struct cli *cli, int argc, char **argv, int *n);

/* The option that takes the argument after `text` as its value, or may; NULL: none does. */
const struct cli_option *options_waiting(struct cli *cli, const char *text);
