/* SPDX-License-Identifier: MIT */
/* The table of all subcommands, finding one by its name, and the texts of their help. */
#pragma once

#include <stddef.h>

#include "cli/cli.h"

/* All commands, in the order the help lists them; ended by NULL. */
extern const struct command *const commands[];

/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/* The name nearest to what was typed, or NULL if none is near. */
const char *command_nearest(const char *typed);

/* Distance in insertions, deletions, replacements and exchanges of neighbours; for hints. */
size_t text_distance(const char *a, const char *b);

/* The text of `chistore --help`, and of `chistore COMMAND --help`, on standard output. */
void help_program(void);
void help_command(const struct command *command);
