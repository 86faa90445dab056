/* SPDX-License-Identifier: MIT */
/*
 * Verification runs in a child process: a damaged page may kill whoever reads it, and that must
 * not be the server. The child (verifier.h) does what this program does with --verify, its standard
 * output is the interface: a line for each damage, then a last one with the numbers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "daemon/config.h"

/* Checks the store at config->verify_path in this process. Exit status: 0 sound, 3 not. */
int chi_verify_main(const struct chi_config *config);

/* Room for a verdict's text. */
#define CHI_VERDICT_SIZE 128

/*
 * What a child's end means: `how` is as waitpid says it, -1 if nobody knows; `result` what it
 * printed at the end, NULL if it did not; `found` how many damages before. CHI_OK, `text` empty:
 * the store is sound; -CHI_ECORRUPT, with the places or the signal in `text`; -CHI_EINTERNAL: it
 * could not be done.
 */
CHI_MUSTUSE int chi_verify_verdict(int how, const struct chi_verify_result *result, uint64_t found,
				   char text[CHI_VERDICT_SIZE]);

/* Reads the last line ("verified positions=3 known=2 errors=0"); false if it is another one. */
bool chi_verify_parse(const char *line, size_t len, struct chi_verify_result *out);
