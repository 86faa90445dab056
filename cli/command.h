/* SPDX-License-Identifier: MIT */
/* The table of all subcommands, finding one by its name, and the texts of their help. */
#pragma once

#include <stddef.h>

#include "cli/cli.h"

/* All commands, in the order the help lists them; ended by NULL. */
extern const struct command *const commands[];

/* The title of the group that the command begins in the help; NULL: it is within one. */
const char *command_group(const struct command *first);

/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/* The name nearest to what was typed, or NULL if none is near. */
const char *command_nearest(const char *typed);

/* Distance in insertions, deletions, replacements and exchanges of neighbours; for hints. */
size_t text_distance(const char *a, const char *b);

/* What a command's first argument says, as "list" in "chistore name list". */
struct verb {
	const char *name;
	const char *arguments; /* "a NAME"; NULL: it takes none, or any number */
	int n;		       /* arguments after it; -1: any number */
	bool writes;
	int (*run)(struct cli *cli);
};

/* The verb of cli->argv[0], if the arguments fit. Returns an exit code. */
int verb_find(const struct cli *cli, const struct verb *verbs, size_t n, const struct verb **out);

/* The text of `chistore --help`, and of `chistore COMMAND --help`, on standard output. */
void help_program(void);
void help_command(const struct command *command);

/*
 * What the last of the words can become, for the completion of shells: words, one a line, or a
 * line ":files" or ":addresses" where it is one of these.
 */
void complete_words(struct cli *cli, int n, char **words);
