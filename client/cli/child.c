/* SPDX-License-Identifier: MIT */
/* The child does all, from opening to the printed result; the parent only says how it ended. */
#include "client/cli/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "client/cli/out/output.h"

/* Waits for the child; if it crashed, that is the news of a damaged page. */
static int outcome(pid_t child, const char *what)
{
	int status = 0;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR) {
			cli_message("cannot wait for the %s (%s)", what, strerror(errno));
			return EXIT_STORE;
		}
	}
	if (WIFEXITED(status)) {
		int code = WEXITSTATUS(status);
		if (code == EXIT_DONE || code == EXIT_USAGE || code == EXIT_STORE) {
			return code;
		}
		/* None of ours: a sanitizer, or a library that ends the process itself. */
		cli_message("damage: the %s ended by itself with code %d", what, code);
		return EXIT_STORE;
	}
	int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (signal_number == SIGINT || signal_number == SIGTERM) {
		return 128 + signal_number;
	}
	if (!chi_signal_is_crash(signal_number)) {
		cli_message("the %s was killed by signal %d (%s) before its end", what,
			    signal_number, strsignal(signal_number));
		return EXIT_STORE;
	}
	cli_message("damage: a page of the store is damaged: reading it ended the %s by signal %d "
		    "(%s)",
		    what, signal_number, strsignal(signal_number));
	return EXIT_STORE;
}

int cli_in_child(struct cli *cli, int (*work)(struct cli *cli, const void *state),
		 const void *state, const char *what)
{
	/* What stands in the buffer would be printed twice. */
	(void)fflush(stdout);
	pid_t child = fork();
	if (child < 0) {
		cli_message("cannot start the %s (%s)", what, strerror(errno));
		return EXIT_STORE;
	}
	if (child == 0) {
		int code = work(cli, state);
		if (fflush(stdout) != 0 || output_failed()) {
			cli_message("cannot write to standard output (%s)", strerror(errno));
			code = EXIT_STORE;
		}
		_exit(code);
	}
	return outcome(child, what);
}
