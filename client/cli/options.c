/* SPDX-License-Identifier: MIT */
/*
 * getopt_long on tables made from `struct cli_option`. Stricter than getopt in one point: an
 * option is spelled out. Scripts with shortened names would break on the day a second option
 * begins the same way.
 */
#include "client/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* Ids of global options: over those of any command. */
enum global_id {
	GLOBAL_ADDRESS = 1000,
	GLOBAL_STORE,
	GLOBAL_TOKEN_FILE,
	GLOBAL_TLS_CA,
	GLOBAL_TLS_CERT,
	GLOBAL_TLS_KEY,
	GLOBAL_JSON,
	GLOBAL_QUIET,
	GLOBAL_HELP,
	GLOBAL_VERSION,
};

const struct cli_option global_options[] = {
	{GLOBAL_ADDRESS, "address", "ADDRESS",
	 "-a too: a directory, unix:PATH, tcp: or tls:HOST:PORT"},
	{GLOBAL_STORE, "store", "NAME", "which of a server's stores (default: default)"},
	{GLOBAL_TOKEN_FILE, "token-file", "FILE", "holds the access token for a server"},
	{GLOBAL_TLS_CA, "tls-ca", "FILE", "who vouches for the server (default: the system's)"},
	{GLOBAL_TLS_CERT, "tls-cert", "FILE", "our certificate for the server"},
	{GLOBAL_TLS_KEY, "tls-key", "FILE", "the key of our certificate"},
	{GLOBAL_JSON, "json", NULL, "print JSON, one object a line"},
	{GLOBAL_QUIET, "quiet", NULL, "no progress, no remarks"},
	{GLOBAL_HELP, "help", NULL, "explain the program, or the command"},
	{GLOBAL_VERSION, "version", NULL, "print the version"},
	{0, NULL, NULL, NULL},
};

#define OPTIONS_MAX 40

/* Appends a list of options to getopt's table; returns the new length. */
static size_t add_options(struct option *table, size_t n, const struct cli_option *options)
{
	for (; options != NULL && options->id != 0 && n < OPTIONS_MAX; options++) {
		table[n++] = (struct option){
			.name = options->name,
			.has_arg = options->arg != NULL ? required_argument : no_argument,
			.val = options->id,
		};
	}
	return n;
}

/* The text of the option that getopt has just read, with its dashes. */
static const char *typed_option(char **argv)
{
	bool separate = optarg != NULL && optarg == argv[optind - 1];
	return argv[separate ? optind - 2 : optind - 1];
}

/* Of "name=value" the name. */
static size_t name_length(const char *typed)
{
	return strcspn(typed, "=");
}

/* True for "-a", "-h" and names spelled out. */
static bool is_spelled_out(const char *typed, int id, const struct option *table)
{
	if (strncmp(typed, "--", 2) != 0) {
		return true;
	}
	for (; table->name != NULL; table++) {
		if (table->val == id) {
			size_t len = name_length(typed + 2);
			return strlen(table->name) == len &&
			       strncmp(table->name, typed + 2, len) == 0;
		}
	}
	return false;
}

/* The option nearest to a mistyped one. */
static const char *nearest_option(const char *typed, const struct option *table)
{
	const char *best = NULL;
	size_t best_distance = 3;
	char name[64];
	(void)snprintf(name, sizeof(name), "%.*s", (int)name_length(typed), typed);
	for (; table->name != NULL; table++) {
		size_t distance = text_distance(name, table->name);
		if (distance < best_distance) {
			best = table->name;
			best_distance = distance;
		}
	}
	return best;
}

/* Says which option is meant, if one begins the same way or is spelled nearly so. */
static int unknown_option(const struct cli *cli, const char *typed, const struct option *table)
{
	/* getopt stops inside a bundle of short options, of which there are none worth bundling. */
	if (strncmp(typed, "--", 2) != 0) {
		return cli_usage(cli, "unknown option '%s'", typed);
	}
	for (const struct option *o = table; o->name != NULL; o++) {
		if (strncmp(o->name, typed + 2, name_length(typed + 2)) == 0) {
			bool whole = strlen(o->name) == name_length(typed + 2);
			return whole ? cli_usage(cli, "option '--%s' takes no value", o->name)
				     : cli_usage(cli,
						 "unknown option '%s'; did you mean '--%s'? "
						 "Options are spelled out",
						 typed, o->name);
		}
	}
	const char *near = nearest_option(typed + 2, table);
	if (near != NULL) {
		return cli_usage(cli, "unknown option '%s'; did you mean '--%s'?", typed, near);
	}
	return cli_usage(cli, "unknown option '%s'", typed);
}

/* A global option; PARSE_STOP when it has answered all that was asked. */
static int take_global(struct cli *cli, int id)
{
	switch (id) {
	case GLOBAL_ADDRESS:
		cli->address = optarg;
		return EXIT_DONE;
	case GLOBAL_STORE:
		cli->store = optarg;
		return EXIT_DONE;
	case GLOBAL_TLS_CA:
		cli->tls_ca = optarg;
		return EXIT_DONE;
	case GLOBAL_TLS_CERT:
		cli->tls_cert = optarg;
		return EXIT_DONE;
	case GLOBAL_TLS_KEY:
		cli->tls_key = optarg;
		return EXIT_DONE;
	case GLOBAL_TOKEN_FILE:
		cli->token_file = optarg;
		return EXIT_DONE;
	case GLOBAL_JSON:
		cli->json = true;
		return EXIT_DONE;
	case GLOBAL_QUIET:
		cli->quiet = true;
		return EXIT_DONE;
	case GLOBAL_VERSION:
		printf("chistore %s\n", chi_version());
		return PARSE_STOP;
	default:
		if (cli->command != NULL) {
			help_command(cli->command);
		} else {
			help_program();
		}
		return PARSE_STOP;
	}
}

static int parse(struct cli *cli, void *state, int argc, char **argv, const char *shorts)
{
	struct option table[OPTIONS_MAX + 1] = {{NULL, 0, NULL, 0}};
	size_t n = add_options(table, 0, cli->command != NULL ? cli->command->options : NULL);
	(void)add_options(table, n, global_options);
	opterr = 0;
	optind = 0; /* GNU: start anew */
	int id;
	while ((id = getopt_long(argc, argv, shorts, table, NULL)) != -1) {
		int code = EXIT_DONE;
		const char *typed = typed_option(argv);
		if (id == ':') {
			return cli_usage(cli, "option '%s' needs a value", typed);
		}
		if (id == '?' || !is_spelled_out(typed, id, table)) {
			return unknown_option(cli, typed, table);
		}
		if (id == 'a' || id == 'h' || id >= GLOBAL_ADDRESS) {
			code = take_global(cli, id == 'a'   ? GLOBAL_ADDRESS
						: id == 'h' ? GLOBAL_HELP
							    : id);
		} else {
			code = cli->command->option(cli, state, id, optarg);
		}
		if (code != EXIT_DONE) {
			return code;
		}
	}
	return EXIT_DONE;
}

int parse_global(struct cli *cli, int argc, char **argv, int *n_used)
{
	int code = parse(cli, NULL, argc, argv, "+:a:h");
	*n_used = optind;
	return code;
}

/* -o is the one short option of a command: every program that writes a file has it. */
static bool has_output(const struct command *command)
{
	for (const struct cli_option *o = command->options; o != NULL && o->id != 0; o++) {
		if (o->id == 'o') {
			return true;
		}
	}
	return false;
}

int parse_command(struct cli *cli, void *state, int argc, char **argv, int *first)
{
	int code = parse(cli, state, argc, argv, has_output(cli->command) ? ":a:ho:" : ":a:h");
	*first = optind;
	return code;
}
