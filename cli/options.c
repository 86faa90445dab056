/* SPDX-License-Identifier: MIT */
/*
 * Options as getopt_long has them, but spelled out: scripts with shortened names would break on the
 * day a second option begins the same way.
 */
#include "cli/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"

/* ---- Values ------------------------------------------------------------------------------ */

int option_keep(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	(void)cli;
	if (option->arg == NULL) {
		*(bool *)out = true;
	} else {
		*(const char **)out = value;
	}
	return EXIT_DONE;
}

int option_number(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	uint64_t n = 0;
	if (chi_num_u64(value, strlen(value), option->max, &n) == CHI_OK && n >= option->min) {
		*(uint64_t *)out = n;
		return EXIT_DONE;
	}
	if (option->max == UINT64_MAX) {
		return cli_usage(cli, "--%s: '%s' is not a number from %" PRIu64, option->name,
				 value, option->min);
	}
	return cli_usage(cli, "--%s: '%s' is not a number from %" PRIu64 " to %" PRIu64,
			 option->name, value, option->min, option->max);
}

int option_word(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	char list[128] = "";
	for (size_t i = 0; i < option->max; i++) {
		const char *word = option->words[i];
		if (word != NULL && strcasecmp(word, value) == 0) {
			unsigned n = (unsigned)i;
			uint8_t byte = (uint8_t)i;
			memcpy(out, option->min == 1 ? (void *)&byte : &n, (size_t)option->min);
			return EXIT_DONE;
		}
		size_t used = strlen(list);
		if (word != NULL) {
			(void)snprintf(list + used, sizeof(list) - used, "%s%s",
				       used > 0 ? ", " : "", word);
		}
	}
	return cli_usage(cli, "--%s: '%s' is none of %s", option->name, value, list);
}

/* ---- Options of every command ------------------------------------------------------------ */

/* --version or --help. */
static int answer_option(struct cli *cli, const struct cli_option *option, const char *value,
			 void *out)
{
	(void)value;
	(void)out;
	if (strcmp(option->name, "version") == 0) {
		printf("chistore %s\n", chi_version());
	} else if (cli->command != NULL) {
		help_command(cli->command);
	} else {
		help_program();
	}
	return PARSE_STOP;
}

const struct cli_option global_options[] = {
	OPTION_TEXT(cli, address, "address", "ADDRESS",
		    "-a too: a directory, unix:PATH, tcp: or tls:HOST:PORT, rados:POOL/NAME"),
	OPTION_TEXT(cli, store, "store", "NAME", "which of a server's stores (default: default)"),
	OPTION_TEXT(cli, token_file, "token-file", "FILE",
		    "file with the access token for a server"),
	OPTION_TEXT(cli, tls_ca, "tls-ca", "FILE",
		    "authorities for the server (default: the system's)"),
	OPTION_TEXT(cli, tls_cert, "tls-cert", "FILE", "our certificate for the server"),
	OPTION_TEXT(cli, tls_key, "tls-key", "FILE", "the key of our certificate"),
	OPTION_FLAG(cli, json, "json", "print JSON, one object a line"),
	OPTION_FLAG(cli, quiet, "quiet", "no progress, no remarks"),
	OPTION(cli, command, answer_option, "help", NULL, "explain the program, or the command"),
	OPTION(cli, command, answer_option, "version", NULL, "print the version"),
	OPTIONS_END,
};

/* ---- Reading argv ------------------------------------------------------------------------ */

static const struct cli_option *own_options(const struct cli *cli)
{
	bool any = cli->command != NULL && cli->command->options != NULL;
	return any ? cli->command->options : &global_options[CHI_COUNT(global_options) - 1];
}

/* The row that ends the list if there is none of that name. */
static const struct cli_option *find_option(const struct cli_option *list, const char *name,
					    size_t len)
{
	while (list->name != NULL &&
	       (strncmp(list->name, name, len) != 0 || list->name[len] != '\0')) {
		list++;
	}
	return list;
}

bool cli_given(const struct cli *cli, const char *name)
{
	const struct cli_option *option = find_option(own_options(cli), name, strlen(name));
	return (cli->given >> (option - own_options(cli)) & 1) != 0;
}

/* Says which option is meant, if one begins the same way or is spelled nearly so. */
static int unknown_option(const struct cli *cli, const char *typed, size_t len)
{
	const struct cli_option *const lists[] = {own_options(cli), global_options};
	const char *near = NULL;
	size_t least = 3; /* two slips at most */
	char name[64];
	(void)snprintf(name, sizeof(name), "%.*s", (int)len, typed + 2);
	for (size_t i = 0; i < CHI_COUNT(lists) && typed[1] == '-' && len > 0; i++) {
		for (const struct cli_option *o = lists[i]; o->name != NULL; o++) {
			size_t distance = text_distance(name, o->name);
			if (strncmp(o->name, name, len) == 0) {
				return cli_usage(cli,
						 "unknown option '%s'; did you mean '--%s'? "
						 "Options cannot be abbreviated",
						 typed, o->name);
			}
			near = distance < least ? o->name : near;
			least = distance < least ? distance : least;
		}
	}
	return near == NULL
		       ? cli_usage(cli, "unknown option '%s'", typed)
		       : cli_usage(cli, "unknown option '%s'; did you mean '--%s'?", typed, near);
}

/* -o is the one short option of a command: every program that writes a file has it. */
static const char *long_name(char letter)
{
	return letter == 'a' ? "address" : letter == 'h' ? "help" : letter == 'o' ? "output" : "";
}

/* What an argument that is an option says. */
struct typed {
	const char *text;
	const char *name;
	size_t len;	   /* of the name */
	const char *value; /* after "=" or the letter; NULL: none */
	const struct cli_option *option;
	cli_reader *read;
	void *out;
};

static const char denial[] = "not-";

/* The command's own option, also after "not-", or one of every command; false if it is none. */
static bool find_typed(struct cli *cli, struct typed *typed)
{
	size_t denied = sizeof(denial) - 1;
	const struct cli_option *own = own_options(cli);
	const struct cli_option *option = find_option(own, typed->name, typed->len);
	void *state = cli->state;
	bool deny = option->name == NULL && typed->len > denied &&
		    memcmp(typed->name, denial, denied) == 0;
	if (deny) {
		option = find_option(own, typed->name + denied, typed->len - denied);
	}
	if (option->name != NULL) {
		cli->given |= UINT64_C(1) << (option - own);
	} else {
		option = find_option(global_options, typed->name, typed->len);
		state = cli;
		deny = false;
	}
	typed->option = option;
	typed->read = deny ? option->deny : option->read;
	typed->out = (char *)state + option->offset;
	return option->name != NULL && typed->read != NULL;
}

/* An argument that begins with a dash; false if it is no option. */
static bool read_typed(struct cli *cli, const char *text, struct typed *typed)
{
	bool is_long = text[1] == '-';
	typed->text = text;
	typed->name = is_long ? text + 2 : long_name(text[1]);
	typed->len = strcspn(typed->name, "=");
	const char *rest = is_long ? typed->name + typed->len : text + 2;
	typed->value = rest[0] == '\0' ? NULL : rest + (is_long ? 1 : 0);
	return find_typed(cli, typed);
}

const struct cli_option *options_waiting(struct cli *cli, const char *text)
{
	struct typed typed;
	bool found = text[0] == '-' && text[1] != '\0' && read_typed(cli, text, &typed);
	return found && typed.value == NULL && typed.option->arg != NULL ? typed.option : NULL;
}

/* The option argv[*at]; moves *at to its value if that is an argument of its own. */
static int take_option(struct cli *cli, int argc, char **argv, int *at)
{
	struct typed typed;
	if (!read_typed(cli, argv[*at], &typed)) {
		return unknown_option(cli, typed.text, typed.len);
	}
	const char *arg = typed.option->arg;
	if (arg == NULL && typed.value != NULL) {
		return cli_usage(cli, "option '--%s' takes no value", typed.option->name);
	}
	if (arg != NULL && arg[0] == '[' && typed.value == NULL) {
		int code = typed.read(cli, typed.option, NULL, typed.out);
		if (code != OPTION_NEEDS_VALUE) {
			return code;
		}
	}
	if (arg != NULL && typed.value == NULL) {
		if (++*at >= argc) {
			return cli_usage(cli, "option '%s' needs a value", typed.text);
		}
		typed.value = argv[*at];
	}
	return typed.read(cli, typed.option, typed.value, typed.out);
}

int options_parse(struct cli *cli, int argc, char **argv, int *n)
{
	int code = EXIT_DONE;
	int at = 1;
	*n = 0;
	for (; at < argc && code == EXIT_DONE; at++) {
		if (strcmp(argv[at], "--") == 0) {
			at++;
			break;
		}
		if (argv[at][0] == '-' && argv[at][1] != '\0') {
			code = take_option(cli, argc, argv, &at);
		} else if (cli->command != NULL) {
			argv[(*n)++] = argv[at];
		} else {
			break;
		}
	}
	while (at < argc) {
		argv[(*n)++] = argv[at++];
	}
	return code;
}
