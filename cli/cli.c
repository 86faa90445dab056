/* SPDX-License-Identifier: MIT */
/* Messages, exit codes and opening, shared by all subcommands. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"

/* How long a write in this process waits for another writer. Long enough for another command to
 * finish, short enough to notice that a daemon holds the store. */
#define LOCK_WAIT_MS 2000u

/* Patience for commands that read or rewrite a whole store before they answer. */
#define SLOW_CALL_MS (24u * 60 * 60 * 1000)

CHI_PRINTF(1, 0) static void message(const char *format, va_list args)
{
	char text[2048];
	(void)vsnprintf(text, sizeof(text), format, args);
	/* What a file or a server supplied must not move the cursor or forge a second line. */
	chi_text_clean(text, sizeof(text), text);
	fprintf(stderr, "chistore: %s\n", text);
}

void cli_message(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	message(format, args);
	va_end(args);
}

int cli_usage(const struct cli *cli, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	message(format, args);
	va_end(args);
	fprintf(stderr, "See 'chistore %s%s--help'.\n",
		cli->command != NULL ? cli->command->name : "", cli->command != NULL ? " " : "");
	return EXIT_USAGE;
}

/* What the caller asked for wrongly is 2, what went wrong elsewhere 3. */
int cli_exit_of(int status)
{
	switch (status) {
	case CHI_OK:
		return EXIT_DONE;
	case CHI_NONE:
		return EXIT_NOT_FOUND;
	case -CHI_EINVAL:
	case -CHI_EFEN:
	case -CHI_EKEY:
	case -CHI_EMOVE:
	case -CHI_ESYNTAX:
	case -CHI_ETOOBIG:
	case -CHI_EUNSUPPORTED:
		return EXIT_USAGE;
	default:
		return EXIT_STORE;
	}
}

/* A refusal's text without the "entry N: " in front, a number that means nothing to a person. */
static const char *reason_of(const char *text)
{
	size_t digits = strncmp(text, "entry ", 6) == 0 ? strspn(text + 6, "0123456789") : 0;
	return digits > 0 && strncmp(text + 6 + digits, ": ", 2) == 0 ? text + digits + 8 : text;
}

int cli_fail(struct chi_client *client, int status)
{
	const char *text = reason_of(chi_error(client));
	cli_message("%s", text[0] != '\0' ? text : chi_strerror(status));
	return cli_exit_of(status);
}

int cli_fault(int status, const struct chi_fault *fault)
{
	if (status == -CHI_ECANCELED && cli_stop != 0) {
		cli_message("interrupted");
		return 128 + cli_stop;
	}
	if (status != CHI_OK) {
		cli_message("%s", fault->text[0] != '\0' ? fault->text : chi_strerror(status));
	}
	return cli_exit_of(status);
}

int cli_not_found(const struct chi_key *key)
{
	char fen[CHI_FEN_SIZE];
	if (chi_key_to_fen(key, fen, NULL) == CHI_OK) {
		cli_message("position not found: %s", fen);
	}
	return EXIT_NOT_FOUND;
}

int cli_no_memory(void)
{
	cli_message("out of memory");
	return EXIT_STORE;
}

uint64_t cli_clock(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

volatile sig_atomic_t cli_stop;

/* SA_RESETHAND below: a second Ctrl-C ends a command that does not get to look. */
static void on_stop(int signal_number)
{
	cli_stop = signal_number;
}

void cli_catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND};
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
}

int cli_worse(int a, int b)
{
	return a > b ? a : b;
}

bool cli_is_remote(const struct cli *cli)
{
	return strncmp(cli->address, "unix:", 5) == 0 || strncmp(cli->address, "tcp:", 4) == 0 ||
	       strncmp(cli->address, "tls:", 4) == 0 || cli_is_rados(cli);
}

bool cli_is_rados(const struct cli *cli)
{
	return strncmp(cli->address, "rados:", 6) == 0;
}

bool cli_has_address(const struct cli *cli)
{
	if (cli->address != NULL && cli->address[0] != '\0') {
		/* Ignored it would work on another store than the one named. */
		bool rados = cli_is_rados(cli);
		if (cli->store != NULL && (rados || !cli_is_remote(cli))) {
			(void)cli_usage(cli, "--store: '%s' is %s; only servers have several",
					cli->address,
					rados ? "one store on RADOS"
					      : "a directory, which holds one store");
			return false;
		}
		return true;
	}
	(void)cli_usage(cli,
			"no address given: say -a ADDRESS, or set the environment variable "
			"CHISTORE to it (a directory, unix:PATH, tcp:HOST:PORT, tls:HOST:PORT or "
			"rados:POOL/NAME)");
	return false;
}

void cli_options(const struct cli *cli, bool writable, struct chi_options *out)
{
	*out = (struct chi_options){
		CHI_OPTIONS_INIT,
		.store = cli->store,
		.writable = writable,
		.call_ms = cli->command->slow ? SLOW_CALL_MS : cli->call_ms,
		.repeat_ms = cli->command->measures ? CHI_NO_REPEAT : 0,
		.lock_wait_ms = LOCK_WAIT_MS,
		.client_name = "chistore",
		.token_file = cli->token_file,
		.tls_ca = cli->tls_ca,
		.tls_cert = cli->tls_cert,
		.tls_key = cli->tls_key,
	};
}

int cli_open(struct cli *cli, bool writable, struct chi_client **out)
{
	struct chi_fault fault = {.text = ""};
	*out = NULL;
	if (!cli_has_address(cli)) {
		return EXIT_USAGE;
	}
	struct chi_options options;
	cli_options(cli, writable, &options);
	int status = chi_open(cli->address, &options, out, &fault);
	int code = cli_fault(status, &fault);
	if (status == -CHI_ENOSTORE && strchr(cli->address, ':') == NULL &&
	    access(cli->address, F_OK) != 0) {
		fprintf(stderr, "'chistore -a %s init' creates a store.\n", cli->address);
	}
	return code;
}

int cli_key(const struct cli *cli, const char *text, size_t len, const char *where,
	    struct chi_key *out)
{
	struct chi_fault fault = {.text = ""};
	int status = chi_key_from_fen(text, len, out, &fault);
	if (status == CHI_OK) {
		return EXIT_DONE;
	}
	int shown = len > CHI_FEN_INPUT_MAX ? CHI_FEN_INPUT_MAX : (int)len;
	if (where != NULL) {
		cli_message("%s: '%.*s': %s", where, shown, text, fault.text);
		return EXIT_USAGE;
	}
	/* The usual slip: a FEN without quotation marks arrives as four arguments or more. */
	return cli_usage(
		cli, "'%.*s': %s%s", shown, text, fault.text,
		strpbrk(text, " _+") == NULL ? "; a FEN is one argument, so put it in quotes" : "");
}

/* Output that failed for lack of memory fails the command, as a full disk does. */
static bool output_lost;

bool cli_output_failed(void)
{
	return output_lost || ferror(stdout) != 0;
}

void cli_output_lost(void)
{
	output_lost = true;
}

void cli_output_tell(int error)
{
	static bool told;
	if (!told && error != EPIPE) {
		cli_message("cannot write to standard output%s%s%s", error != 0 ? " (" : "",
			    error != 0 ? strerror(error) : "", error != 0 ? ")" : "");
	}
	told = true;
}

/* Disk full and the like show when the last bytes are written. */
int cli_output_finish(int code)
{
	bool failed = cli_output_failed();
	errno = 0;
	failed |= fflush(stdout) != 0;
	if (ferror(stdout) != 0) {
		cli_output_tell(errno);
	}
	return failed ? EXIT_STORE : code;
}
