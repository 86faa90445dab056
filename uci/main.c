/* SPDX-License-Identifier: MIT */
/* chistore-uci: a UCI engine on a store; its options are those of the protocol. */
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "chistore.h"
#include "store/store.h"
#include "uci/session.h"

#define LINE_MAX_BYTES (1u << 20)

static const char help[] =
	"Usage: chistore-uci [-a ADDRESS] [-e COMMAND]\n"
	"\n"
	"A chess engine for any program that speaks UCI. It plays from a store, asks it while it\n"
	"searches, and teaches it what it finds.\n"
	"\n"
	"  -a, --address ADDRESS  the store: a directory, unix:PATH, tcp:HOST:PORT, "
	"tls:HOST:PORT,\n"
	"                         rados:POOL/NAME (also the option Store; without: $CHISTORE)\n"
	"  -e, --engine COMMAND   another UCI engine that searches (also the option Engine)\n"
	"      --help             this text\n"
	"      --version          the version\n"
	"\n"
	"Example:\n"
	"  printf 'position startpos moves e2e4\\ngo depth 10\\n' | chistore-uci -a my-store\n";

/* The next line of stdin in `line`, of LINE_MAX_BYTES + 1. One that is too long, or has a NUL, is
 * left out. False: the end. */
static bool read_input_line(char *line)
{
	size_t n = 0;
	bool whole = true;
	int c;
	while ((c = getc(stdin)) != EOF) {
		if (c == '\n' && whole) {
			break;
		}
		if (c == '\n') {
			puts("info string a line of more than a megabyte, or with a NUL, is left "
			     "out");
			fflush(stdout);
			n = 0;
			whole = true;
			continue;
		}
		whole = whole && c != '\0' && n < LINE_MAX_BYTES;
		if (whole) {
			line[n++] = (char)c;
		}
	}
	line[n] = '\0';
	return whole && (c != EOF || n > 0);
}

static int converse(const char *store, const char *engine)
{
	struct chi_session *session;
	struct chi_fault fault;
	char *line = malloc(LINE_MAX_BYTES + 1);
	int rc = line == NULL ? chi_fault_plain(&fault, -CHI_ENOMEM)
			      : chi_session_new(store, engine, &session, &fault);
	if (rc != CHI_OK) {
		fprintf(stderr, "chistore-uci: %s\n", fault.text);
		free(line);
		return 1;
	}
	bool quits = false;
	while (!quits && read_input_line(line)) {
		quits = !chi_session_take_line(session, line);
	}
	if (!quits) {
		chi_session_wait(session);
	}
	chi_session_free(session);
	free(line);
	return ferror(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"address", required_argument, NULL, 'a'},
						{"engine", required_argument, NULL, 'e'},
						{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'v'},
						{NULL, 0, NULL, 0}};
	const char *store = getenv("CHISTORE");
	const char *engine = NULL;
	int c;
	/* A child that dies, or a GUI. */
	(void)signal(SIGPIPE, SIG_IGN);
	chi_dir_guard_lock_files();
	while ((c = getopt_long(argc, argv, "a:e:h", options, NULL)) != -1) {
		switch (c) {
		case 'a':
			store = optarg;
			break;
		case 'e':
			engine = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		case 'v':
			printf("chistore-uci %s\n", chi_version());
			return 0;
		default:
			fputs("Try 'chistore-uci --help'.\n", stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "chistore-uci: '%s' is too much\n", argv[optind]);
		return 2;
	}
	return converse(store, engine);
}
