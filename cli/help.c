/* SPDX-License-Identifier: MIT */
/* The help texts, put together from the commands' own. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"

/* Where the second column of lists begins. */
#define COLUMN 26

/* Has the whole text written at once, at the end, where it is told why that failed. */
static void gather_output(void)
{
	static char text[32768];
	(void)setvbuf(stdout, text, _IOFBF, sizeof(text));
}

/* Two columns: the option with its value, and what it does. */
static void print_options(const struct cli_option *options)
{
	for (; options->name != NULL; options++) {
		char left[64];
		(void)snprintf(left, sizeof(left), "--%s%s%s", options->name,
			       options->arg != NULL ? " " : "",
			       options->arg != NULL ? options->arg : "");
		printf("  %-*s %s\n", COLUMN, left, options->help);
	}
}

void help_program(void)
{
	gather_output();
	printf("Usage: chistore [-a ADDRESS] COMMAND [ARGUMENT...]\n"
	       "\n"
	       "Chistore stores chess positions and what is known about them. The ADDRESS says\n"
	       "where: a directory (the store is opened in this process), unix:PATH,\n"
	       "tcp:HOST:PORT or tls:HOST:PORT (a chistored daemon answers). Without -a the\n"
	       "address is taken from the environment variable CHISTORE.\n");
	for (size_t i = 0; commands[i] != NULL; i++) {
		const char *group = command_group(commands[i]);
		if (group != NULL) {
			printf("\n%s:\n", group);
		}
		printf("  %-11s %s\n", commands[i]->name, commands[i]->summary);
	}
	printf("\nOptions, before or after the command:\n");
	print_options(global_options);
	printf("\nA first try:\n"
	       "  export CHISTORE=./positions\n"
	       "  chistore init\n"
	       "  chistore put e4 c5 --note 'the Sicilian'\n"
	       "  chistore get e4 c5 --table\n"
	       "  chistore scan --limit 10\n"
	       "\n"
	       "Exit codes: 0 done, 1 not found, 2 wrong usage, 3 the store or server failed.\n"
	       "'chistore COMMAND --help' explains a command.\n");
}

/* An example may have several lines: each is indented. */
static void print_example(const char *text)
{
	printf("\nExample:\n");
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		printf("  %.*s\n", (int)len, text);
		text += len + (text[len] == '\n' ? 1 : 0);
	}
}

void help_command(const struct command *command)
{
	gather_output();
	printf("Usage: chistore %s%s%s%s%s\n\n%s\n",
	       command->needs != NEEDS_NOTHING ? "[-a ADDRESS] " : "", command->name,
	       command->options != NULL ? " [OPTION...]" : "",
	       command->arguments[0] != '\0' ? " " : "", command->arguments, command->help);
	if (command->options != NULL) {
		printf("\nOptions:\n");
		print_options(command->options);
	}
	printf("\nOptions of every command:\n");
	print_options(global_options);
	print_example(command->example);
}
