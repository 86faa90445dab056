/* SPDX-License-Identifier: MIT */
/*
 * Verification runs in a child process: a damaged page may kill whoever reads it, and that must
 * not be the server. The child (verifier.h) does what this program does with --verify, its standard
 * output is the interface: a line for each damage, then a last one with the numbers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chistore/types.h"
#include "daemon/config.h"

/* Checks the store at config->verify_path in this process. Exit status: 0 sound, 3 not. */
int chi_verify_main(const struct chi_config *config);

/* Reads the last line ("verified positions=3 known=2 errors=0"); false if it is another one. */
bool chi_verify_parse(const char *line, size_t len, struct chi_verify_result *out);
