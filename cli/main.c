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

#include "cli/options.h"
#include "store/store.h"

/* How many arguments there are; what they say is for the command to check. */
static int check_arguments(const struct cli *cli)
{
	const struct command *command = cli->command;
	if (cli->argc < command->args_min) {
		return cli_usage(cli, "%s needs %s", command->name, command->arguments);
	}
	if (command->args_max >= 0 && cli->argc > command->args_max) {
		return cli_usage(cli, "%s: unexpected argument '%s'", command->name,
				 cli->argv[command->args_max]);
	}
	return EXIT_DONE;
}

/* Checks the arguments, opens what the command needs, and runs it. */
static int run_command(struct cli *cli)
{
	const struct command *command = cli->command;
	int code = check_arguments(cli);
	if (code == EXIT_DONE && command->needs == NEEDS_ADDRESS && !cli_has_address(cli)) {
		code = EXIT_USAGE;
	}
	if (code == EXIT_DONE && command->needs >= NEEDS_READ) {
		code = cli_open(cli, command->needs == NEEDS_WRITE, &cli->client);
	}
	if (code == EXIT_DONE) {
		code = command->run(cli);
	}
	chi_close(cli->client);
	return code;
}

/* argv[0] is the command's name; "help" and "help COMMAND" work as people try them. */
static int dispatch(struct cli *cli, int argc, char **argv)
{
	bool help = strcmp(argv[0], "help") == 0;
	const char *name = argv[help && argc > 1 ? 1 : 0];
	if (help && argc == 1) {
		help_program();
		return EXIT_DONE;
	}
	if (strcmp(argv[0], "_complete") == 0) {
		complete_words(cli, argc - 1, argv + 1);
		return EXIT_DONE;
	}
	const struct command *command = command_find(name);
	if (command == NULL) {
		const char *near = command_nearest(name);
		return near == NULL ? cli_usage(cli, "unknown command '%s'", name)
				    : cli_usage(cli, "unknown command '%s'; did you mean '%s'?",
						name, near);
	}
	if (help) {
		help_command(command);
		return EXIT_DONE;
	}
	_cleanup_(chi_freep) void *state = calloc(1, command->state_size + 1);
	if (state == NULL) {
		return cli_no_memory();
	}
	if (command->defaults != NULL) {
		memcpy(state, command->defaults, command->state_size);
	}
	cli->command = command;
	cli->state = state;
	cli->argv = argv;
	int code = options_parse(cli, argc, argv, &cli->argc);
	return code == EXIT_DONE ? run_command(cli) : code;
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

/* For who has just installed it. */
static int say_first_steps(struct cli *cli)
{
	int code = cli_usage(cli, "no command given");
	fputs("\nFirst steps, with a file of games:\n"
	      "  chistore quickstart FILE.pgn            imports them, and shows them in a "
	      "browser\n"
	      "or by hand:\n"
	      "  chistore -a ./games import FILE.pgn     a store of the games and their positions\n"
	      "  chistore -a ./games explore             what was played, and how it ended\n"
	      "  chistore -a ./games explore e4 c5       after these moves\n"
	      "  chistore-http -a ./games                the same on a page: "
	      "http://127.0.0.1:8080/\n",
	      stderr);
	return code;
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
	int n = 0;
	hold_standard_descriptors();
	/* A full file-size limit shows as a failed write, not as the end of the process. */
	(void)signal(SIGXFSZ, SIG_IGN);
	chi_dir_guard_lock_files();
	int code = options_parse(&cli, argc, argv, &n);
	if (code == EXIT_DONE) {
		code = n > 0 ? dispatch(&cli, n, argv) : say_first_steps(&cli);
	}
	return cli_output_finish(code == PARSE_STOP ? EXIT_DONE : code);
}
