/* SPDX-License-Identifier: MIT */
/* Positions from the arguments, from standard input or from a file. */
#include "cli/in/fens.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/in/files.h"
#include "cli/out/output.h"
#include "formats/source.h"

/* A program that asks through a pipe gets each answer before the next question is waited for. */
struct input {
	struct cli *cli;
	const struct fens_user *user;
	int code; /* the worst so far */
};

static void flush_answers(void *context)
{
	struct input *input = context;
	if (input->user->flush != NULL) {
		input->code = cli_worse(input->code,
					input->user->flush(input->cli, input->user->context));
	}
	/* Only the first failure says why. */
	if (fflush(stdout) != 0) {
		cli_output_tell(errno);
	}
}

/* Blank lines and comments. */
static bool is_skipped(const char *line, size_t len)
{
	size_t i = 0;
	while (i < len && (line[i] == ' ' || line[i] == '\t')) {
		i++;
	}
	return i == len || line[i] == '#';
}

/* A file may be packed, and is bounded a line at a time like every other input. */
int fens_in_file(struct cli *cli, const char *path, const struct fens_user *user)
{
	_cleanup_(chi_source_closep) struct chi_source *source = NULL;
	struct input input = {.cli = cli, .user = user, .code = EXIT_DONE};
	struct chi_source_options options = {.before_read = flush_answers, .context = &input};
	struct chi_fault fault = {.text = ""};
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	const char *line = NULL;
	size_t len = 0;
	int status = chi_source_open(path, &options, &source, &fault);
	while (status == CHI_OK && !cli_output_failed() &&
	       (input.code == EXIT_DONE || !user->strict)) {
		char where[600];
		status = chi_source_line(source, &line, &len, &fault);
		(void)snprintf(where, sizeof(where), "%.500s:%" PRIu64, name,
			       chi_source_line_number(source));
		if (status == -CHI_ETOOBIG) {
			cli_message("%s: %s", where, fault.text);
			input.code = cli_worse(input.code, EXIT_USAGE);
			status = CHI_OK;
		} else if (status == CHI_OK && !is_skipped(line, len)) {
			/* A bad line is reported with its place, and the others are answered. */
			struct place place;
			int code = place_parse(cli, line, len, where, &place);
			code = code == EXIT_DONE ? user->each(cli, user->context, &place) : code;
			input.code = cli_worse(input.code, code);
		}
	}
	/* What was read before it failed is answered. */
	flush_answers(&input);
	if (status < 0) {
		cli_message("%s: %s", name, fault.text);
		return files_exit_of(status);
	}
	return input.code;
}

int fens_each(struct cli *cli, const struct fens_user *user)
{
	struct input input = {.cli = cli, .user = user, .code = EXIT_DONE};
	if (cli->argc == 0) {
		if (!cli->quiet && isatty(STDIN_FILENO)) {
			fprintf(stderr, "Type FENs or moves, a position a line; Ctrl-D ends.\n");
		}
		return fens_in_file(cli, "-", user);
	}
	for (int at = 0; at < cli->argc && !cli_output_failed();) {
		struct place place;
		int code = place_take(cli, cli->argc, cli->argv, &at, &place);
		code = code == EXIT_DONE ? user->each(cli, user->context, &place) : code;
		input.code = cli_worse(input.code, code);
	}
	flush_answers(&input);
	return input.code;
}
