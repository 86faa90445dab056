/* SPDX-License-Identifier: MIT */
/*
 * The command line of a server: a table, from which parsing, bounds, initial values and help come,
 * so that these cannot disagree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "service/listen.h"
#include "service/log.h"
#include "service/notify.h"
#include "service/sandbox.h"
#include "service/user.h"

#define CHI_OPTIONS_MAX 64

/* What the command line asks the program to do. */
enum chi_action {
	CHI_ACTION_SERVE,
	CHI_ACTION_HELP,
	CHI_ACTION_VERSION,
};

/* What every server has. Texts point into argv. */
struct chi_server_settings {
	enum chi_action action;
	struct chi_listen listens[CHI_LISTENS_MAX];
	size_t n_listens;
	const char *access_path; /* NULL: without rules */
	struct chi_log_options log;
	struct chi_user user;
	enum chi_sandbox sandbox;
	struct chi_passed_list passed; /* by the service manager: not from the command line */
};

struct chi_option;

/* Applies an option to what its row places in the settings. CHI_NONE: what follows is not looked at
 * (--help). */
typedef int chi_option_apply(void *at, const struct chi_option *option, const char *text,
			     struct chi_fault *fault);

struct chi_option {
	const char *name;
	/* For the help; N, BYTES (suffixes allowed) and MS are numbers. NULL: there is none. */
	const char *argument;
	size_t offset;	/* of what it sets in the server's settings: a uint64_t for a number, an
			   unsigned for a word, else a const char *, a bool without argument */
	uint64_t least; /* these three of a number */
	uint64_t most;
	uint64_t initial; /* 0: the server computes it */
	const char *help;
	const char *const *words; /* those it may be, NULL for gaps; it sets their place */
	size_t n_words;
	chi_option_apply *apply; /* NULL: as above */
	char letter;		 /* of one letter, too */
};

struct chi_option_table {
	const struct chi_option *options;
	size_t n;
	const char *usage; /* before the options */
	const char *notes; /* after them; NULL: nothing */
};

/* Gives numbers their initial values. */
void chi_options_init(const struct chi_option_table *table, void *settings);

/* -CHI_EINVAL, -CHI_ESYNTAX: what is wrong, with the option's name. */
CHI_MUSTUSE int chi_options_parse(const struct chi_option_table *table, void *settings, int argc,
				  char *const argv[], struct chi_fault *fault);

/* The help text, with the initial values. */
void chi_options_help(const struct chi_option_table *table, FILE *out);

/* ---- Options that every server has --------------------------------------------------------- */

chi_option_apply chi_option_user, chi_option_listen, chi_option_action;

extern const char *const chi_log_levels[CHI_LOG_LEVELS];
extern const char *const chi_log_formats[CHI_LOG_FORMATS];
extern const char *const chi_sandboxes[3];

/* Rows, for settings of which a struct chi_server_settings is the member `server`. */
#define CHI_SERVER_OPTIONS(type)                                                                   \
	{"user", "NAME[:GROUP]", offsetof(type, server.user), .apply = chi_option_user,            \
	 .help = "started as root: become this user before opening stores"},                       \
		{"sandbox",                                                                        \
		 "WHICH",                                                                          \
		 offsetof(type, server.sandbox),                                                   \
		 .words = chi_sandboxes,                                                           \
		 .n_words = 3,                                                                     \
		 .help = "restrict files and system calls to what serving needs: auto (as far as " \
			 "the kernel can), require, off"},                                         \
		{"log-level",                                                                      \
		 "LEVEL",                                                                          \
		 offsetof(type, server.log.level),                                                 \
		 .words = chi_log_levels,                                                          \
		 .n_words = CHI_LOG_LEVELS,                                                        \
		 .help = "error, warning, info or debug (default: info)"},                         \
		{"log-file", "PATH", offsetof(type, server.log.path),                              \
		 .help = "append the log to a file (default: standard error); reopened by "        \
			 "SIGHUP"},                                                                \
		{"log-format",                                                                     \
		 "FORMAT",                                                                         \
		 offsetof(type, server.log.format),                                                \
		 .words = chi_log_formats,                                                         \
		 .n_words = CHI_LOG_FORMATS,                                                       \
		 .help = "text or json, an object a line (default: text)"},                        \
		{"help",                                                                           \
		 NULL,                                                                             \
		 offsetof(type, server.action),                                                    \
		 .apply = chi_option_action,                                                       \
		 .letter = 'h',                                                                    \
		 .help = "this text"},                                                             \
	{                                                                                          \
		"version", NULL, offsetof(type, server.action),                                    \
			.apply = chi_option_action, .letter = 'v', .help = "the version"           \
	}
