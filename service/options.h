/* SPDX-License-Identifier: MIT */
/*
 * The command line of a server. Options that are numbers are rows of a table, from which parsing,
 * bounds, initial values and help come, so that these cannot disagree; the others are the server's
 * own to apply.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "service/listen.h"
#include "service/log.h"
#include "service/sandbox.h"
#include "service/user.h"

#define CHI_OPTIONS_MAX 64 /* of both kinds together */

/* What CHI_SERVER_OPTIONS set. */
struct chi_server_settings {
	struct chi_log_options log;
	struct chi_user user;
	enum chi_sandbox sandbox;
};

struct chi_number_option {
	const char *name;
	const char *argument; /* N, BYTES (suffixes allowed) or MS */
	size_t offset;	      /* of the uint64_t in the server's settings */
	uint64_t least;
	uint64_t most;
	uint64_t initial; /* 0: the server computes it */
	const char *help;
};

/* Applies an option that is no number, by its value in `texts`; `text` is its argument. CHI_NONE:
 * what follows is not looked at (--help). */
typedef int chi_option_apply(void *settings, int option, const char *text, struct chi_fault *fault);

struct chi_option_table {
	const struct option *texts;
	size_t n_texts;
	const struct chi_number_option *numbers;
	size_t n_numbers;
	const char *letters; /* those of one letter, as getopt has them */
	chi_option_apply *apply;
};

/* Gives numbers their initial values. */
void chi_options_init(const struct chi_option_table *table, void *settings);

/* -CHI_EINVAL, -CHI_ESYNTAX: what is wrong, with the option's name. */
CHI_MUSTUSE int chi_options_parse(const struct chi_option_table *table, void *settings, int argc,
				  char *const argv[], struct chi_fault *fault);

/* Lines about the numbers. */
void chi_options_help(const struct chi_option_table *table, FILE *out);

/* Sets an enumeration to the place of an option's argument among `words`; NULL is none. */
CHI_MUSTUSE int chi_option_choose(const char *option, const char *const words[], size_t n,
				  const char *text, unsigned *out, struct chi_fault *fault);
#define CHI_OPTION_CHOOSE(option, words, text, out, fault)                                         \
	chi_option_choose(option, words, CHI_COUNT(words), text, out, fault)

/* ---- Options that every server has --------------------------------------------------------- */

/* Rows of `texts`, with letters that are no other option's. */
#define CHI_SERVER_OPTIONS                                                                         \
	{"log-level", required_argument, NULL, 'L'}, {"log-file", required_argument, NULL, 'F'},   \
		{"log-format", required_argument, NULL, 'O'},                                      \
		{"user", required_argument, NULL, 'u'},                                            \
	{                                                                                          \
		"sandbox", required_argument, NULL, 'b'                                            \
	}

/* Applies one of these. True: it is one, and *status says how that went. */
bool chi_server_option(struct chi_server_settings *settings, int option, const char *text,
		       int *status, struct chi_fault *fault);

/* Reads one more address of --listen, which may be given several times. */
CHI_MUSTUSE int chi_server_listen(struct chi_listen listens[CHI_LISTENS_MAX], size_t *n,
				  const char *text, struct chi_fault *fault);
