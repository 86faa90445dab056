/* SPDX-License-Identifier: MIT */
/* FENs from the arguments or from standard input. */
#include "client/cli/fens.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/output.h"
#include "client/import/source.h"

/* A bad FEN is told where it stands, and the others are answered all the same. */
static int take(struct cli *cli, const char *text, size_t len, const char *where,
		int (*each)(struct cli *cli, const struct chi_key *key))
{
	struct chi_key key;
	int code = cli_key(cli, text, len, where, &key);
	return code == EXIT_DONE ? each(cli, &key) : code;
}

/* A program that asks through a pipe gets each answer before the next question is waited for. */
static void flush_answers(void *context)
{
	(void)context;
	(void)fflush(stdout);
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

static void source_closep(struct chi_source **source)
{
	chi_source_close(*source);
}

/* Standard input may be packed, and is bounded a line at a time like every other input. */
static int each_line(struct cli *cli, int (*each)(struct cli *cli, const struct chi_key *key))
{
	_cleanup_(source_closep) struct chi_source *source = NULL;
	struct chi_source_options options = {.before_read = flush_answers};
	struct chi_fault fault = {.text = ""};
	const char *line = NULL;
	size_t len = 0;
	int code = EXIT_DONE;
	int status = chi_source_open("-", &options, &source, &fault);
	while (status == CHI_OK && !output_failed()) {
		char where[48];
		status = chi_source_line(source, &line, &len, &fault);
		(void)snprintf(where, sizeof(where), "standard input:%" PRIu64,
			       chi_source_line_number(source));
		if (status == -CHI_ETOOBIG) {
			cli_message("%s: %s", where, fault.text);
			code = cli_worse(code, EXIT_USAGE);
			status = CHI_OK;
		} else if (status == CHI_OK && !is_skipped(line, len)) {
			code = cli_worse(code, take(cli, line, len, where, each));
		}
	}
	/* What was read before it failed has been answered. */
	if (status < 0) {
		cli_message("standard input: %s", fault.text);
		return EXIT_STORE;
	}
	return code;
}

/* `each` gives an exit code; the worst of all becomes the command's. */
int fens_each(struct cli *cli, int argc, char **argv,
	      int (*each)(struct cli *cli, const struct chi_key *key))
{
	int code = EXIT_DONE;
	if (argc == 0) {
		if (!cli->quiet && isatty(STDIN_FILENO)) {
			fprintf(stderr, "Type FENs, one a line; Ctrl-D ends.\n");
		}
		return each_line(cli, each);
	}
	for (int i = 0; i < argc && !output_failed(); i++) {
		code = cli_worse(code, take(cli, argv[i], strlen(argv[i]), NULL, each));
	}
	return code;
}
