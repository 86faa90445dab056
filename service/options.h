/* SPDX-License-Identifier: MIT */
/*
 * The command line of a server. Options that are numbers are rows of a table, from which parsing,
 * bounds, initial values and help come, so that these cannot disagree; the others are the server's
 * own to apply.
 */
#pragma once

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "chistore/types.h"

#define CHI_OPTIONS_MAX 64 /* of both kinds together */

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

/* Of --log-level, --log-format, --sandbox, in the order of their enumerations. */
extern const char *const chi_log_levels[4];
extern const char *const chi_log_formats[2];
extern const char *const chi_sandbox_words[3];
