/* SPDX-License-Identifier: MIT */
/*
 * chistore verify: reads and checks a whole store. A damaged page can kill the process that reads
 * it, so the reading is done by a child, forked before anything is opened; the parent only says
 * how it ended.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/command.h"
#include "client/cli/output.h"

/* Damages named; the number of all is printed at the end. */
#define REPORTS_MAX 100

/* A store that is damaged throughout would otherwise print millions of lines. */
static void report(void *context, const char *text)
{
	unsigned *reports = context;
	if (*reports < REPORTS_MAX) {
		cli_message("damage: %s", text);
	} else if (*reports == REPORTS_MAX) {
		cli_message("further damage is only counted");
	}
	if (*reports <= REPORTS_MAX) {
		(*reports)++;
	}
}

/* The child's work, from opening to the printed result. */
static int verify(struct cli *cli)
{
	struct chi_verify_result result = {0};
	unsigned reports = 0;
	int code = cli_open(cli, false, &cli->client);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_verify(cli->client, report, &reports, &result);
	if (status != CHI_OK && status != -CHI_ECORRUPT) {
		code = cli_fail(cli, status);
	} else {
		output_object(cli, json_pack("{s:b, s:o, s:o, s:o}", "sound", status == CHI_OK,
					     "positions", json_count(result.positions), "known",
					     json_count(result.known), "errors",
					     json_count(result.errors)));
		code = status == CHI_OK ? EXIT_DONE : EXIT_STORE;
	}
	chi_close(cli->client);
	cli->client = NULL;
	return code;
}

/* Waits for the child; a signal that killed it is the news of a damaged page. */
static int outcome(pid_t child)
{
	int status = 0;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR) {
			cli_message("cannot wait for the verification (%s)", strerror(errno));
			return EXIT_STORE;
		}
	}
	if (WIFEXITED(status)) {
		int code = WEXITSTATUS(status);
		if (code == EXIT_DONE || code == EXIT_USAGE || code == EXIT_STORE) {
			return code;
		}
		/* None of ours: a sanitizer, or a library that ends the process itself. */
		cli_message("damage: the verification ended by itself with code %d", code);
		return EXIT_STORE;
	}
	int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (signal_number == SIGINT || signal_number == SIGTERM) {
		return 128 + signal_number;
	}
	cli_message("damage: a page of the store is damaged: reading it ended the verification by "
		    "signal %d (%s)",
		    signal_number, strsignal(signal_number));
	return EXIT_STORE;
}

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	(void)state;
	(void)argc;
	(void)argv;
	/* What stands in the buffer would be printed twice. */
	(void)fflush(stdout);
	pid_t child = fork();
	if (child < 0) {
		cli_message("cannot start the verification (%s)", strerror(errno));
		return EXIT_STORE;
	}
	if (child == 0) {
		int code = verify(cli);
		if (fflush(stdout) != 0 || output_failed()) {
			cli_message("cannot write to standard output (%s)", strerror(errno));
			code = EXIT_STORE;
		}
		_exit(code);
	}
	return outcome(child);
}

const struct command cmd_verify = {
	.name = "verify",
	.arguments = "",
	.summary = "read and check the whole store",
	.help = "Reads everything and checks that both trees agree, that every record is whole "
		"and\n"
		"its checksum right, and that computed statistics are. Each damage is told on\n"
		"standard error; then sound (yes or no), positions, known and errors are printed.\n"
		"The exit code is 0 for a sound store and 3 for a damaged one.",
	.example = "chistore -a ./positions verify",
	.needs = NEEDS_ADDRESS,
	.slow = true,
	.run = run,
};
