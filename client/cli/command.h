/* SPDX-License-Identifier: MIT */
/*
 * A subcommand as data: its texts, its options and its two functions. One file per subcommand
 * ends in such a struct; the table of them all is in command.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/cli/cli.h"

struct cli_option {
	int id;		  /* from 1; 0 ends the list */
	const char *name; /* without its dashes */
	const char *arg;  /* what its value is called in the help; NULL: it takes none */
	const char *help;
};

/* What has to be opened before `run`. */
enum command_needs {
	NEEDS_NOTHING = 0,
	NEEDS_ADDRESS, /* an address; the command opens it itself */
	NEEDS_READ,    /* cli->client, for reading */
	NEEDS_WRITE,   /* cli->client, for writing too */
};

struct command {
	const char *name;
	const char *arguments; /* "[FEN...]", "" if there are none */
	const char *summary;   /* one line, for the list of commands */
	const char *help;      /* paragraphs */
	const char *example;   /* one line or more, each starting with "chistore" */
	const struct cli_option *options;
	int args_min;
	int args_max; /* -1: any number */
	enum command_needs needs;
	bool slow;	   /* may work on the whole store before it answers */
	bool measures;	   /* what a lost connection leaves unanswered is a failure, not repeated */
	size_t state_size; /* of what `option` fills in and `run` reads; zeroed at the start */
	/* Takes one of `options`; `value` lives as long as argv. NULL if there are none. Both
	 * return an exit code, having said what is wrong. */
	int (*option)(struct cli *cli, void *state, int id, const char *value);
	int (*run)(struct cli *cli, void *state, int argc, char **argv);
};

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
