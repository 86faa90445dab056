/* SPDX-License-Identifier: MIT */
/* The `chistore` program: reads the options, runs the command, and turns its outcome, including
 * whether standard output took everything, into the exit code. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/options.h"
#include "client/cli/out/output.h"

/* Disk full and the like show when the last bytes are written. */
static int finish_output(int code)
{
	bool failed = output_failed();
	errno = 0;
	failed |= fflush(stdout) != 0;
	if (!failed) {
		return code;
	}
	if (ferror(stdout) != 0) {
		output_tell(errno);
	}
	return EXIT_STORE;
}

/* Suggests the nearest name, as typing errors are the usual reason. */
static int unknown_command(const struct cli *cli, const char *typed)
{
	const char *near = command_nearest(typed);
	if (near != NULL) {
		return cli_usage(cli, "unknown command '%s'; did you mean '%s'?", typed, near);
	}
	return cli_usage(cli, "unknown command '%s'", typed);
}

/* How many arguments there are; what they say is for the command to check. */
static int check_arguments(const struct cli *cli, int argc, char **argv)
{
	const struct command *command = cli->command;
	if (argc < command->args_min) {
		return cli_usage(cli, "%s needs %s", command->name, command->arguments);
	}
	if (command->args_max >= 0 && argc > command->args_max) {
		bool fen = strstr(command->arguments, "FEN") != NULL;
		return cli_usage(cli, "%s: unexpected argument '%s'%s", command->name,
				 argv[command->args_max],
				 fen ? "; a FEN is one argument, so put it in quotes" : "");
	}
	return EXIT_DONE;
}

/* Checks the arguments, opens what the command needs, and runs it. */
static int run_command(struct cli *cli, void *state, int argc, char **argv)
{
	const struct command *command = cli->command;
	int code = check_arguments(cli, argc, argv);
	if (code == EXIT_DONE && command->needs == NEEDS_ADDRESS && !cli_has_address(cli)) {
		code = EXIT_USAGE;
	}
	if (code == EXIT_DONE && command->needs >= NEEDS_READ) {
		code = cli_open(cli, command->needs == NEEDS_WRITE, &cli->client);
	}
	if (code == EXIT_DONE) {
		code = command->run(cli, state, argc, argv);
	}
	chi_close(cli->client);
	cli->client = NULL;
	return code;
}

/* `chistore help` and `chistore help COMMAND`, as people try them. */
static int run_help(struct cli *cli, int argc, char **argv)
{
	if (argc < 2) {
		help_program();
		return EXIT_DONE;
	}
	const struct command *command = command_find(argv[1]);
	if (command == NULL) {
		return unknown_command(cli, argv[1]);
	}
	help_command(command);
	return EXIT_DONE;
}

/* argv[0] is the command's name. */
static int dispatch(struct cli *cli, int argc, char **argv)
{
	if (strcmp(argv[0], "help") == 0) {
		return run_help(cli, argc, argv);
	}
	cli->command = command_find(argv[0]);
	if (cli->command == NULL) {
		return unknown_command(cli, argv[0]);
	}
	size_t size = cli->command->state_size;
	_cleanup_(chi_freep) void *state = calloc(1, size > 0 ? size : 1);
	if (state == NULL) {
		cli_message("out of memory");
		return EXIT_STORE;
	}
	int first = 0;
	int code = parse_command(cli, state, argc, argv, &first);
	if (code != EXIT_DONE) {
		return code == PARSE_STOP ? EXIT_DONE : code;
	}
	return run_command(cli, state, argc - first, argv + first);
}

/* A store's file must never become descriptor 1 or 2 and take what is printed there: descriptors
 * that were closed at the start are opened so that using them fails. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
		}
	}
}

int main(int argc, char **argv)
{
	struct cli cli = {
		.address = getenv("CHISTORE"),
		.token_file = getenv("CHISTORE_TOKEN_FILE"),
		.tls_ca = getenv("CHISTORE_TLS_CA"),
		.tls_cert = getenv("CHISTORE_TLS_CERT"),
		.tls_key = getenv("CHISTORE_TLS_KEY"),
	};
	int used = 0;
	hold_standard_descriptors();
	/* A full file-size limit shows as a failed write, not as the end of the process. */
	(void)signal(SIGXFSZ, SIG_IGN);
	int code = parse_global(&cli, argc, argv, &used);
	if (code == PARSE_STOP) {
		return finish_output(EXIT_DONE);
	}
	if (code == EXIT_DONE && used >= argc) {
		code = cli_usage(&cli, "no command given");
	} else if (code == EXIT_DONE) {
		code = dispatch(&cli, argc - used, argv + used);
	}
	return finish_output(code);
}
